"""Figures of importance, of interactions, and of how far methods agree."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import count, percent
from clearwood.plot.style import (
    DOWN,
    PERCENT_AXIS,
    UP,
    bars,
    chart_of,
    cut,
    headed,
    number,
    rule,
    titled,
)

if TYPE_CHECKING:
    from clearwood.explanation import Agreement, Importance, Interactions

__all__ = ["plot_agreement", "plot_importance", "plot_interactions"]


_WIDTH = 380


_SHARES = "share of the components' variance"


def plot_importance(importance: "Importance", *, most: int = 20) -> Any:
    """Draw a bar for each column: with its interval, or divided into main effect and interactions.

    Parameters
    ----------
    importance
        The importance, by any method.
    most
        How many columns, the most important first.
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
    chart = bars(rows, "column", "share", _SHARES, axis=PERCENT_AXIS).encode(
        color=alt.Color("part:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")),
        order=alt.Order("rank:Q"),
        tooltip=[
            alt.Tooltip("column:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    if importance.is_sampled:
        notes.append(f"thin line: {percent(importance.confidence)} interval of the whole bar")
        chart = alt.layer(chart, _intervals(importance, names, order))
    words = ", ".join(
        f"{name} {percent(total[k])}" for name, k in zip(names[:8], order[:8], strict=True)
    )
    assert importance.about is not None
    described = f"Shares of variance: {words}"
    return titled(chart, "Feature importance", importance.about, notes, described, **_size())


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
    chart = bars(rows, "column", "value", importance.measure, color=DOWN, opacity=0.75).encode(
        tooltip=[
            alt.Tooltip("column:N"),
            alt.Tooltip("value:Q", format=".4g", title=importance.measure),
            alt.Tooltip("low:Q", format=".4g"),
            alt.Tooltip("high:Q", format=".4g"),
        ],
    )
    layers = [chart]
    if any(row["low"] is not None for row in rows):
        whiskers = chart.mark_rule(color="black", strokeWidth=1.5)
        layers.append(whiskers.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")))
    rows_used = count(importance.n_rows, "row")
    shown = f"{percent(importance.confidence)} intervals"
    subtitle = [f"{rows_used}, {shown}; {importance.model}"]
    if len(importance.columns) > most:
        subtitle.append(f"the first {most} of {len(importance.columns)} columns")
    words = ", ".join(f"{row['column']} {number(row['value'])}" for row in rows[:8])
    described = f"{importance.title}: {words}"
    return headed(alt.layer(*layers), importance.title, subtitle, described, **_size())


def _size() -> dict[str, Any]:
    import altair as alt

    return {"width": _WIDTH, "height": alt.Step(20)}


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _intervals(importance: "Importance", names: list[str], order: list[int]) -> Any:
    import altair as alt

    rows = [
        {"column": name, "low": float(importance.low[k]), "high": float(importance.high[k])}
        for name, k in zip(names, order, strict=True)
    ]
    whiskers = chart_of(rows).mark_rule(color="black", strokeWidth=1.5)
    return whiskers.encode(y=alt.Y("column:N", sort=names), x=alt.X("low:Q"), x2=alt.X2("high:Q"))


def plot_interactions(interactions: "Interactions", *, most: int = 20) -> Any:
    """Draw the largest interactions as bars.

    Parameters
    ----------
    interactions
        The interactions of a decomposition.
    most
        How many, the largest first.
    """
    shown = interactions.components[:most]
    names = [cut(" × ".join(names), 40) for names in shown]
    rows = [
        {"component": name, "share": float(share)}
        for name, share in zip(names, interactions.share, strict=False)
    ]
    hidden = len(interactions) - len(shown)
    notes = [f"the largest {most} of {len(interactions)}"] if hidden else []
    look: dict[str, Any] = {"axis": PERCENT_AXIS, "written": ".2%", "color": UP}
    chart = bars(rows, "component", "share", _SHARES, **look)
    words = ", ".join(f"{row['component']} {percent(float(str(row['share'])))}" for row in rows[:8])
    described = f"Interactions: {words or 'none'}"
    return titled(chart, "Interactions", interactions.about, notes, described, **_size())


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
