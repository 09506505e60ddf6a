"""Figures of whether explanations agree: how far methods differ for each column."""

from typing import TYPE_CHECKING, Any

from clearwood.plot.style import DOWN, UP, bars, cut, headed, rule

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
    colours = alt.Scale(domain=list(parts), range=[DOWN, UP])
    chart = bars(rows, "column", "value", "standard deviations of the prediction").encode(
        yOffset=alt.YOffset("pair:N", sort=list(parts)),
        color=alt.Color("pair:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("column:N"),
            alt.Tooltip("pair:N"),
            alt.Tooltip("value:Q", format=".2f"),
            alt.Tooltip("words:N"),
        ],
    )
    return headed(
        alt.layer(chart, rule(0.1, "x", strokeDash=[6, 4])),
        "Where methods disagree",
        [f"{agreement.n_rows:,} rows; dashed: smaller differences do not matter"],
        f"Where methods disagree: {'; '.join(entry.words for entry in shown[:5])}",
        width=_WIDTH,
        height=alt.Step(12),
    )
