"""Figures of benchmarks: risks with intervals, and risk against the values tuned."""

from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import interval, number, percent
from clearwood.models import Choice
from clearwood.plot.style import chart_of, rule

if TYPE_CHECKING:
    from clearwood.benchmarking import Benchmark, TuningCurve

__all__ = ["plot_benchmark", "plot_curve"]

_BAR: dict[str, Any] = {"height": 2, "opacity": 0.9}
_POINT: dict[str, Any] = {"filled": True, "size": 70, "opacity": 1.0}


def plot_benchmark(bench: "Benchmark") -> Any:
    """Draw the risk of each learner and its difference to the best, with their intervals."""
    import altair as alt

    drawn = ("difference", "difference_low", "difference_high", "high", "learner", "low", "risk")
    shown = (*bench.standings, bench.reference)
    rows = [{name: getattr(one, name) for name in drawn} for one in shown if one and one.folds]
    order = [str(row["learner"]) for row in rows]
    weighted = "weighted " if bench.method.is_weighted else ""
    level = f"{percent(bench.method.confidence)} interval"
    risk = _intervals(
        rows, order, ("risk", "low", "high"), f"{weighted}{bench.context.loss.risk_title}, {level}"
    )
    gap = _intervals(
        rows,
        order,
        ("difference", "difference_low", "difference_high"),
        f"difference to {order[0] if order else 'the best'}, {level}",
        names=False,
    )
    figure = alt.hconcat(risk, rule(0, "x", strokeDash=[4, 4]) + gap)
    words = (
        f"{row['learner']} {number(row['risk'])} ({interval(row['low'], row['high'])})"
        for row in rows
    )
    return figure.properties(
        title=f"{bench.context.table.outcome}: {bench.method.plan}", description="; ".join(words)
    )


def _intervals(
    rows: list[dict[str, Any]],
    order: list[str],
    fields: tuple[str, str, str],
    title: str,
    *,
    names: bool = True,
) -> Any:
    import altair as alt

    middle, low, high = fields
    axis = alt.Axis(title=None) if names else alt.Axis(title=None, labels=False, ticks=False)
    base = chart_of(rows).encode(y=alt.Y("learner:N", sort=order, axis=axis))
    # few ticks, none of whose labels is dropped: that of zero least of all
    along: dict[str, Any] = {
        "title": title,
        "scale": alt.Scale(zero=False),
        "axis": alt.Axis(tickCount=4, labelOverlap=False),
    }
    tooltip = [alt.Tooltip("learner:N")]
    tooltip += [alt.Tooltip(f"{field}:Q", format=".4g") for field in fields]
    bar = base.mark_bar(**_BAR).encode(
        x=alt.X(f"{low}:Q", **along), x2=alt.X2(f"{high}:Q"), tooltip=tooltip
    )
    point = base.mark_point(**_POINT).encode(x=alt.X(f"{middle}:Q", **along), tooltip=tooltip)
    return (bar + point).properties(width=260, height=alt.Step(26))


def plot_curve(curve: "TuningCurve", setting: str | None = None) -> Any:
    """Draw inner risk against one tuned setting.

    Parameters
    ----------
    curve
        The curve.
    setting
        The setting to draw against; by default the first that is a number.
    """
    import altair as alt

    setting = curve.along(setting)
    dimension = curve.space[setting]
    rows = [
        {"value": settings[setting], "risk": risk, "low": risk - se, "high": risk + se}
        for settings, risk, se in zip(curve.settings, curve.risk, curve.se, strict=True)
        if isinstance(dimension, Choice) or isinstance(settings[setting], int | float)
    ]
    if isinstance(dimension, Choice):
        x = alt.X("value:N", title=setting)
    else:
        scale = alt.Scale(type="log") if dimension.log else alt.Scale(zero=False)
        x = alt.X("value:Q", title=setting, scale=scale)
    y = alt.Y("risk:Q", title="inner risk ± one standard error", scale=alt.Scale(zero=False))
    base = chart_of(rows).encode(x=x)
    # with a single setting the points are on a line; if others vary too, they scatter
    marks = base.mark_point(filled=True, size=30).encode(
        y=y, tooltip=[alt.Tooltip("value:N"), alt.Tooltip("risk:Q")]
    )
    figure = (
        base.mark_rule(opacity=0.25).encode(
            y=alt.Y("low:Q", scale=alt.Scale(zero=False)), y2=alt.Y2("high:Q")
        )
        + marks
    )
    if len(curve.space) == 1 and not isinstance(dimension, Choice):
        figure = base.mark_line().encode(y=y) + figure
    best = min(rows, key=lambda row: float(row["risk"]))
    return figure.properties(
        width=420,
        height=260,
        title=f"{curve.learner}: risk while tuning",
        description=f"smallest inner risk {number(best['risk'])} at {setting} = {best['value']}",
    )
