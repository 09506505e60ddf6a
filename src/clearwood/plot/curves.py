"""Figures of diagnostics: learning curves, calibration, residuals, bias and variance."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import interval, number, percent
from clearwood.losses import find_loss
from clearwood.plot.style import AXIS, DOWN, GREY, UP, bars, chart_of, headed, rule

if TYPE_CHECKING:
    from clearwood.benchmarking import BiasVariance, ExcessRisk, LearningCurve
    from clearwood.evaluation import CalibrationCurve, Residuals, SmoothCalibration

__all__ = [
    "plot_bias_variance",
    "plot_calibration",
    "plot_excess_risk",
    "plot_learning",
    "plot_residuals",
    "plot_smooth_calibration",
]

_SIZE = {"width": 380, "height": 260}


def plot_learning(curve: "LearningCurve") -> Any:
    """Draw risk with its interval, and training loss, against the number of training rows."""
    import altair as alt

    rows = _points(curve)
    base = chart_of(rows).encode(x=alt.X("sizes:Q", title="training rows", axis=alt.Axis(**AXIS)))
    scale = alt.Scale(zero=False)
    level = f"{percent(curve.confidence)} {curve.interval} interval"
    band = base.mark_area(opacity=0.2, color=DOWN).encode(
        y=alt.Y("low:Q", title=_weighted(curve, find_loss(curve.loss).risk_title), scale=scale),
        y2=alt.Y2("high:Q"),
    )
    lines = [
        base.mark_line(point=True, color=colour, strokeDash=dash).encode(
            y=alt.Y(f"{name}:Q", scale=scale), tooltip=_tooltip(rows)
        )
        for name, colour, dash in (("risk", DOWN, [1, 0]), ("training", GREY, [4, 3]))
    ]
    words = (
        f"The risk of {curve.learner} is {number(curve.risk[0])} with {curve.sizes[0]} training "
        f"rows and {number(curve.risk[-1])} with {curve.sizes[-1]}"
    )
    return _titled(
        alt.layer(band, *lines),
        f"Learning curve of {curve.learner}",
        f"solid: risk on test rows, {level}; dashed: loss on training rows",
        words,
    )


def plot_calibration(curve: "CalibrationCurve") -> Any:
    """Draw observed means against predictions, with the line of perfect calibration."""
    import altair as alt

    points = _points(curve)
    for point in points:
        # a bin of one row has no interval
        if point["low"] is None:
            point["low"] = point["high"] = point["observed"]
    ends = [{"x": float(end)} for end in (curve.predicted.min(), curve.predicted.max())]
    reached = [value for point in points for value in (point["low"], point["high"])]
    reached += [end["x"] for end in ends]
    margin = 0.03 * (max(reached) - min(reached)) or 0.5
    # no interval is cut off at the edge
    scale = alt.Scale(domain=[min(reached) - margin, max(reached) + margin])
    diagonal = (
        chart_of(ends)
        .mark_line(strokeDash=[4, 4], color=GREY)
        .encode(x=alt.X("x:Q"), y=alt.Y("x:Q"))
    )
    base = chart_of(points).encode(x=_predicted(curve.what))
    span = base.mark_rule(color=DOWN).encode(
        y=alt.Y("low:Q", title=_weighted(curve, "observed"), scale=scale),
        y2=alt.Y2("high:Q"),
    )
    dots = base.mark_point(filled=True, size=60, color=DOWN, opacity=1).encode(
        y=alt.Y("observed:Q"), tooltip=_tooltip(points)
    )
    line = f"{curve.line}; " if np.isfinite(curve.slope) else ""
    note = (
        f"{line}expected calibration error {number(curve.error)}; {percent(curve.confidence)} "
        "intervals, of all bins together"
    )
    return _titled(alt.layer(diagonal, span, dots), f"Calibration of {curve.learner}", note, note)


def plot_smooth_calibration(curve: "SmoothCalibration") -> Any:
    """Draw what is observed as a smooth curve of the prediction, with its band."""
    import altair as alt

    rows = _points(curve)
    ends = [float(curve.predicted[0]), float(curve.predicted[-1])]
    diagonal = (
        chart_of([{"predicted": end, "observed": end} for end in ends])
        .mark_line(strokeDash=[4, 4], color=GREY)
        .encode(x=_predicted(curve.what), y=alt.Y("observed:Q"))
    )
    base = chart_of(rows).encode(x=_predicted(curve.what))
    band = base.mark_area(opacity=0.2, color=DOWN).encode(
        y=alt.Y("low:Q", title=_weighted(curve, "observed")), y2=alt.Y2("high:Q")
    )
    line = base.mark_line(color=DOWN).encode(y=alt.Y("observed:Q"), tooltip=_tooltip(rows))
    note = (
        f"mean distance from the predictions {number(curve.ici)} "
        f"({interval(curve.ici_low, curve.ici_high)}); {percent(curve.confidence)} band"
    )
    figure = alt.layer(diagonal, band, line)
    return _titled(figure, f"Smooth calibration of {curve.learner}", note, note)


def plot_residuals(residuals: "Residuals") -> Any:
    """Draw quantiles of the residuals against the prediction."""
    import altair as alt

    names = ["q05", "q25", "q50", "q75", "q95"]
    rows = [
        dict(zip(["predicted", *names, "rows"], line.values(), strict=True))
        for line in _points(residuals)
    ]
    base = chart_of(rows).encode(x=_predicted(residuals.what))
    y = alt.Y("q05:Q", title=_weighted(residuals, "truth minus prediction"))
    layers = [
        base.mark_area(opacity=0.18, color=DOWN).encode(y=y, y2=alt.Y2("q95:Q")),
        base.mark_area(opacity=0.3, color=DOWN).encode(y=alt.Y("q25:Q"), y2=alt.Y2("q75:Q")),
        rule(0, "y", strokeDash=[4, 4]),
        base.mark_line(point=True, color=DOWN).encode(y=alt.Y("q50:Q"), tooltip=_tooltip(rows)),
    ]
    words = (
        f"half of the residuals are at most {number(residuals.typical)} in size, nine tenths at "
        f"most {number(residuals.large)}"
    )
    note = "line: median; darker: half of the rows; lighter: nine tenths"
    return _titled(alt.layer(*layers), f"Residuals of {residuals.learner}", note, words)


def plot_bias_variance(parts: "BiasVariance") -> Any:
    """Draw the parts of the expected squared error as bars."""
    import altair as alt

    known = not np.isnan(parts.noise)
    values = {
        **({"noise": parts.noise} if known else {}),
        ("bias²" if known else "bias² and noise"): parts.bias,
        "variance": parts.variance,
    }
    rows = [{"part": name, "error": value} for name, value in values.items()]
    chart = bars(rows, "part", "error", _weighted(parts, "mean squared error"), color=DOWN)
    words = ", ".join(f"{name} {number(value)}" for name, value in values.items())
    note = f"{parts.samples} fits, {parts.rows} test rows; risk {number(parts.risk)}"
    figure = _titled(chart, f"Bias and variance of {parts.learner}", note, words)
    return figure.properties(height=alt.Step(30))


def plot_excess_risk(excess: "ExcessRisk") -> Any:
    """Draw approximation and estimation error against the number of training rows."""
    import altair as alt

    rows = [
        {"rows": str(size), "part": part, "error": value, "rank": rank}
        for size, estimation in zip(excess.sizes.tolist(), excess.estimation.tolist(), strict=True)
        for rank, (part, value) in enumerate(
            (("approximation", excess.approximation), ("estimation", estimation))
        )
    ]
    title = find_loss(excess.loss).risk_title
    colours = alt.Scale(domain=["approximation", "estimation"], range=[DOWN, UP])
    chart = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X("rows:N", sort=None, title="training rows", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("error:Q", title=f"{title} above the least possible"),
            color=alt.Color("part:N", scale=colours, title=None),
            order=alt.Order("rank:Q"),
            tooltip=[
                alt.Tooltip("rows:N"),
                alt.Tooltip("part:N"),
                alt.Tooltip("error:Q", format=".4g"),
            ],
        )
    )
    words = (
        f"Approximation error {number(excess.approximation)}; estimation error "
        f"{number(excess.estimation[0])} with {excess.sizes[0]} rows"
    )
    note = f"{excess.tables} tables per size; {excess.large:,} rows represent infinitely many"
    return _titled(chart, f"Excess risk of {excess.learner}", note, words)


def _weighted(result: Any, title: str) -> str:
    return f"{title} (weighted)" if result.is_weighted else title


def _points(result: Any) -> list[dict[str, Any]]:
    """Return the rows of a result's frame."""
    columns = result.to_frame("dict")
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


def _predicted(what: str) -> Any:
    import altair as alt

    axis, scale = alt.Axis(**AXIS), alt.Scale(zero=False)
    return alt.X("predicted:Q", title=f"predicted {what}", scale=scale, axis=axis)


def _tooltip(rows: list[dict[str, Any]]) -> list[Any]:
    import altair as alt

    return [alt.Tooltip(f"{name}:Q", format=".4g") for name in rows[0]]


def _titled(chart: Any, title: str, note: str, description: str) -> Any:
    return headed(chart, title, [note], description, **_SIZE)
