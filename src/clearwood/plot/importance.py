"""Figures of importance: bars with their intervals, or of shares of variance."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import count, percent
from clearwood.plot.style import (
    AXIS,
    DOWN,
    GREY,
    PERCENT_AXIS,
    UP,
    cut,
    number,
    records,
    titled,
)

if TYPE_CHECKING:
    from clearwood.explanation import Importance, Interactions

__all__ = ["plot_importance", "plot_interactions"]

_WIDTH = 380


def plot_importance(importance: "Importance", *, most: int = 20) -> Any:
    """Draw a bar for each column: with its interval, or divided into main effect and interactions.

    Parameters
    ----------
    importance
        The importance, by any method.
    most
        How many columns, the most important first.

    Returns
    -------
    altair.TopLevelMixin
        A chart.
    """
    if importance.variances is None:
        return _with_intervals(importance, most)
    return _of_components(importance, most)


def _of_components(importance: "Importance", most: int) -> Any:
    """Draw the share of each column: its main effect, and the interactions it takes part in."""
    import altair as alt

    total = importance.total
    order = [int(k) for k in np.argsort(-total, kind="stable")[:most]]
    names = [cut(importance.columns[k]) for k in order]
    parts = {"main effect": importance.main, "interactions": importance.interaction}
    rows = [
        {"column": name, "part": part, "share": float(shares[k]), "rank": rank}
        for name, k in zip(names, order, strict=True)
        for rank, (part, shares) in enumerate(parts.items())
    ]
    notes = []
    if len(importance.columns) > most:
        notes.append(f"the first {most} of {len(importance.columns)} columns")
    if importance.remainder_share > 0:
        notes.append(f"beyond the order of the components: {percent(importance.remainder_share)}")
    colours = alt.Scale(domain=list(parts), range=[DOWN, UP])
    chart = (
        alt.Chart(records(rows))
        .mark_bar()
        .encode(
            y=alt.Y("column:N", sort=names, title=None),
            x=alt.X(
                "share:Q",
                title="share of the components' variance",
                axis=alt.Axis(**PERCENT_AXIS),
            ),
            color=alt.Color(
                "part:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")
            ),
            order=alt.Order("rank:Q"),
            tooltip=["column:N", "part:N", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=_WIDTH, height=alt.Step(20))
    )
    if importance.is_sampled:
        notes.append(f"black: {percent(importance.confidence)} interval of the whole bar")
        chart = alt.layer(chart, _intervals(importance, names, order)).properties(
            width=_WIDTH, height=alt.Step(20)
        )
    words = ", ".join(
        f"{name} {percent(total[k])}" for name, k in zip(names[:8], order[:8], strict=True)
    )
    assert importance.about is not None
    figure = titled(chart, "Feature importance", importance.about, notes)
    return figure.properties(description=f"Shares of variance: {words}")


def _with_intervals(importance: "Importance", most: int) -> Any:
    """Draw a bar for each column, with its interval."""
    import altair as alt

    order = [int(k) for k in importance.order[:most]]
    rows = [
        {
            "column": cut(importance.columns[k]),
            "value": float(importance.values[k]),
            "low": _known(importance.low[k]),
            "high": _known(importance.high[k]),
        }
        for k in order
    ]
    data: Any = alt.Data  # which ships no types
    base: Any = alt.Chart(data(values=rows)).encode(
        y=alt.Y("column:N", sort=[str(row["column"]) for row in rows], title=None),
        tooltip=[
            "column:N",
            alt.Tooltip("value:Q", format=".4g", title=importance.measure),
            alt.Tooltip("low:Q", format=".4g"),
            alt.Tooltip("high:Q", format=".4g"),
        ],
    )
    x = alt.X("value:Q", title=importance.measure, axis=alt.Axis(**AXIS))
    layers = [base.mark_bar(color=DOWN, opacity=0.75).encode(x=x)]
    if any(row["low"] is not None for row in rows):
        layers.append(base.mark_rule(color="black", strokeWidth=1.5).encode(x="low:Q", x2="high:Q"))
    rows_used = count(importance.n_rows, "row")
    shown = f"{percent(importance.confidence)} intervals"
    subtitle = [f"{rows_used}, {shown}; {importance.model}"]
    if len(importance.columns) > most:
        subtitle.append(f"the first {most} of {len(importance.columns)} columns")
    title = alt.TitleParams(importance.title, subtitle=subtitle, anchor="start", subtitleColor=GREY)
    words = ", ".join(f"{row['column']} {number(row['value'])}" for row in rows[:8])
    chart = alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(20), title=title)
    return chart.properties(description=f"{importance.title}: {words}")


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _intervals(importance: "Importance", names: list[str], order: list[int]) -> Any:
    import altair as alt

    rows = [
        {"column": name, "low": float(importance.low[k]), "high": float(importance.high[k])}
        for name, k in zip(names, order, strict=True)
    ]
    rule = alt.Chart(records(rows)).mark_rule(color="black", strokeWidth=1.5)
    return rule.encode(y=alt.Y("column:N", sort=names), x="low:Q", x2="high:Q")


def plot_interactions(interactions: "Interactions", *, most: int = 20) -> Any:
    """Draw the largest interactions as bars.

    Parameters
    ----------
    interactions
        The interactions of a decomposition.
    most
        How many, the largest first.

    Returns
    -------
    altair.Chart
    """
    import altair as alt

    shown = interactions.components[:most]
    names = [cut(" × ".join(names), 40) for names in shown]
    rows = [
        {"component": name, "share": float(share)}
        for name, share in zip(names, interactions.share, strict=False)
    ]
    hidden = len(interactions) - len(shown)
    notes = [f"the largest {most} of {len(interactions)}"] if hidden else []
    chart = (
        alt.Chart(records(rows))
        .mark_bar(color=UP)
        .encode(
            y=alt.Y("component:N", sort=names, title=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X(
                "share:Q",
                title="share of the components' variance",
                axis=alt.Axis(**PERCENT_AXIS),
            ),
            tooltip=["component:N", alt.Tooltip("share:Q", format=".2%")],
        )
        .properties(width=_WIDTH, height=alt.Step(20))
    )
    words = ", ".join(f"{row['component']} {percent(float(str(row['share'])))}" for row in rows[:8])
    return titled(chart, "Interactions", interactions.about, notes).properties(
        description=f"Interactions: {words or 'none'}"
    )
