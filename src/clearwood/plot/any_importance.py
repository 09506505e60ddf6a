"""Figures of importance by any method: bars with their intervals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.plot.style import AXIS, DOWN, GREY, UP, cut, number

if TYPE_CHECKING:
    from clearwood.explanation import Agreement, ModelImportance

__all__ = ["plot_agreement", "plot_model_importance"]

_WIDTH = 380


def plot_model_importance(importance: "ModelImportance", *, most: int = 20) -> Any:
    """Draw a bar for each column, with its interval.

    Parameters
    ----------
    importance
        What `clearwood.importance` gave.
    most
        How many columns, the most important first.

    Returns
    -------
    altair.TopLevelMixin
        A chart.
    """
    import altair as alt

    order = [int(k) for k in importance.order[:most]]
    rows = [
        {
            "column": cut(importance.columns[k]),
            "value": float(importance.values[k]),
            "lower": _known(importance.lower[k]),
            "upper": _known(importance.upper[k]),
        }
        for k in order
    ]
    data: Any = alt.Data  # which ships no types
    base: Any = alt.Chart(data(values=rows)).encode(
        y=alt.Y("column:N", sort=[str(row["column"]) for row in rows], title=None),
        tooltip=[
            "column:N",
            alt.Tooltip("value:Q", format=".4g", title=importance.measure),
            alt.Tooltip("lower:Q", format=".4g"),
            alt.Tooltip("upper:Q", format=".4g"),
        ],
    )
    x = alt.X("value:Q", title=importance.measure, axis=alt.Axis(**AXIS))
    layers = [base.mark_bar(color=DOWN, opacity=0.75).encode(x=x)]
    if any(row["lower"] is not None for row in rows):
        layers.append(
            base.mark_rule(color="black", strokeWidth=1.5).encode(x="lower:Q", x2="upper:Q")
        )
    subtitle = [f"{importance.n_rows:,} rows, {importance.level:.0%} intervals; {importance.model}"]
    if len(importance.columns) > most:
        subtitle.append(f"the first {most} of {len(importance.columns)} columns")
    title = alt.TitleParams(importance.title, subtitle=subtitle, anchor="start", subtitleColor=GREY)
    words = ", ".join(f"{row['column']} {number(row['value'])}" for row in rows[:8])
    chart = alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(20), title=title)
    return chart.properties(description=f"{importance.title}: {words}")


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def plot_agreement(agreement: "Agreement", *, most: int = 15) -> Any:
    """Draw how far methods differ for each column.

    Parameters
    ----------
    agreement
        What `clearwood.agreement` gave.
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
    subtitle = [f"{agreement.n_rows:,} rows; dashed: smaller differences change no story"]
    title = alt.TitleParams(
        "Where methods tell different stories",
        subtitle=subtitle,
        anchor="start",
        subtitleColor=GREY,
    )
    words = "; ".join(entry.words for entry in shown[:5])
    layered = alt.layer(bars, line).properties(width=_WIDTH, height=alt.Step(12), title=title)
    return layered.properties(description=f"Where methods tell different stories: {words}")
