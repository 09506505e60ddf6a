"""Figures of whether explanations agree: how far methods differ for each column."""

from typing import TYPE_CHECKING, Any

from clearwood.plot.style import AXIS, DOWN, GREY, UP, cut

if TYPE_CHECKING:
    from clearwood.explanation import Agreement

__all__ = ["plot_agreement"]

_WIDTH = 380


def plot_agreement(agreement: "Agreement", *, most: int = 15) -> Any:
    """Draw how far methods differ for each column.

    Parameters
    ----------
    agreement
        The agreement of an explanation's methods.
    most
        How many columns, the largest difference first.

    Returns
    -------
    altair.TopLevelMixin
        A chart.
    """
    import altair as alt

    shown = agreement.columns[:most]
    parts = {
        "pdp against ale": [entry.pdp_ale for entry in shown],
        "interventional against observational": [
            entry.interventional_observational for entry in shown
        ],
    }
    rows = [
        {"column": cut(entry.column), "pair": pair, "value": values[k], "words": entry.words}
        for pair, values in parts.items()
        for k, entry in enumerate(shown)
    ]
    data: Any = alt.Data  # which ships no types
    chart: Any = alt.Chart(data(values=rows))
    colours = alt.Scale(domain=list(parts), range=[DOWN, UP])
    bars = chart.mark_bar().encode(
        y=alt.Y("column:N", sort=[cut(entry.column) for entry in shown], title=None),
        yOffset=alt.YOffset("pair:N", sort=list(parts)),
        x=alt.X("value:Q", title="standard deviations of the prediction", axis=alt.Axis(**AXIS)),
        color=alt.Color("pair:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")),
        tooltip=["column:N", "pair:N", alt.Tooltip("value:Q", format=".2f"), "words:N"],
    )
    limit: Any = alt.Chart(data(values=[{"at": 0.1}]))
    line = limit.mark_rule(color=GREY, strokeDash=[6, 4]).encode(x="at:Q")
    subtitle = [f"{agreement.n_rows:,} rows; dashed: smaller differences do not matter"]
    title = alt.TitleParams(
        "Where methods disagree",
        subtitle=subtitle,
        anchor="start",
        subtitleColor=GREY,
    )
    words = "; ".join(entry.words for entry in shown[:5])
    layered = alt.layer(bars, line).properties(width=_WIDTH, height=alt.Step(12), title=title)
    return layered.properties(description=f"Where methods disagree: {words}")
