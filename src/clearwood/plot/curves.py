"""Figures of diagnostics: learning curves, calibration, residuals, bias and variance."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import number, percent
from clearwood.plot.style import AXIS, DOWN, GREY, UP, records

if TYPE_CHECKING:
    from clearwood.benchmarking import (
        BiasVariance,
        CalibrationCurve,
        ExcessRisk,
        LearningCurve,
        Residuals,
    )

__all__ = [
    "plot_bias_variance",
    "plot_calibration",
    "plot_excess_risk",
    "plot_learning",
    "plot_residuals",
]

_SIZE = {"width": 380, "height": 260}


def plot_learning(curve: "LearningCurve") -> Any:
    """Draw risk with its interval, and training loss, against the number of training rows.

    Parameters
    ----------
    curve
        The curve.

    Returns
    -------
    altair.LayerChart
    """
    import altair as alt

    rows = [
        {"rows": size, "risk": risk, "low": low, "high": high, "training": training}
        for size, risk, low, high, training in zip(
            curve.sizes.tolist(),
            curve.risk.tolist(),
            curve.low.tolist(),
            curve.high.tolist(),
            curve.training.tolist(),
            strict=True,
        )
    ]
    base = alt.Chart(records(rows)).encode(
        x=alt.X("rows:Q", title="training rows", axis=alt.Axis(**AXIS))
    )
    scale = alt.Scale(zero=False)
    level = f"{percent(curve.confidence)} {curve.interval} interval"
    band = base.mark_area(opacity=0.2, color=DOWN).encode(
        y=alt.Y("low:Q", title=f"{curve.loss} loss", scale=scale), y2="high:Q"
    )
    tooltip = [alt.Tooltip(f"{name}:Q", format=".4g") for name in rows[0]]
    lines = [
        base.mark_line(point=True, color=colour, strokeDash=dash).encode(
            y=alt.Y(f"{name}:Q", scale=scale), tooltip=tooltip
        )
        for name, colour, dash in (("risk", DOWN, [1, 0]), ("training", GREY, [4, 3]))
    ]
    last = rows[-1]
    words = (
        f"The risk of {curve.learner} is {number(rows[0]['risk'])} with {rows[0]['rows']} training "
        f"rows and {number(last['risk'])} with {last['rows']}"
    )
    return _titled(
        alt.layer(band, *lines),
        f"Learning curve of {curve.learner}",
        f"solid: risk on test rows, {level}; dashed: loss on training rows",
        words,
    )


def plot_calibration(curve: "CalibrationCurve") -> Any:
    """Draw observed means against predictions, with the line of perfect calibration.

    Parameters
    ----------
    curve
        The curve.

    Returns
    -------
    altair.LayerChart
    """
    import altair as alt

    rows = curve.to_frame("dict")
    points = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    for point in points:
        # a bin of one row has no interval
        if point["low"] is None:
            point["low"] = point["high"] = point["observed"]
    ends = [float(min(rows["predicted"])), float(max(rows["predicted"]))]
    diagonal = (
        alt.Chart(records([{"x": end} for end in ends]))
        .mark_line(strokeDash=[4, 4], color=GREY)
        .encode(x="x:Q", y="x:Q")
    )
    base = alt.Chart(records(points)).encode(
        x=alt.X(
            "predicted:Q",
            title=f"predicted {curve.what}",
            scale=alt.Scale(zero=False),
            axis=alt.Axis(**AXIS),
        )
    )
    tooltip = [alt.Tooltip(f"{name}:Q", format=".4g") for name in rows]
    span = base.mark_rule(color=DOWN).encode(
        y=alt.Y("low:Q", title="observed", scale=alt.Scale(zero=False)), y2="high:Q"
    )
    dots = base.mark_point(filled=True, size=60, color=DOWN, opacity=1).encode(
        y="observed:Q", tooltip=tooltip
    )
    line = f"slope {number(curve.slope)}, intercept {number(curve.intercept)}, "
    note = (
        f"{line if np.isfinite(curve.slope) else ''}expected calibration error "
        f"{number(curve.error)}; {percent(curve.confidence)} intervals"
    )
    return _titled(alt.layer(diagonal, span, dots), f"Calibration of {curve.learner}", note, note)


def plot_residuals(residuals: "Residuals") -> Any:
    """Draw quantiles of the residuals against the prediction.

    Parameters
    ----------
    residuals
        The residuals.

    Returns
    -------
    altair.LayerChart
    """
    import altair as alt

    names = ("q05", "q25", "q50", "q75", "q95")
    rows = [
        {"predicted": at, **dict(zip(names, line, strict=True)), "rows": count}
        for at, line, count in zip(
            residuals.predicted.tolist(),
            residuals.quantiles.tolist(),
            residuals.rows.tolist(),
            strict=True,
        )
    ]
    x = alt.X(
        "predicted:Q",
        title=f"predicted {residuals.what}",
        scale=alt.Scale(zero=False),
        axis=alt.Axis(**AXIS),
    )
    base = alt.Chart(records(rows)).encode(x=x)
    y = alt.Y("q05:Q", title="truth minus prediction")
    tooltip = [alt.Tooltip(f"{name}:Q", format=".4g") for name in rows[0]]
    zero = alt.Chart(records([{"at": 0}])).mark_rule(color=GREY, strokeDash=[4, 4])
    layers = [
        base.mark_area(opacity=0.18, color=DOWN).encode(y=y, y2="q95:Q"),
        base.mark_area(opacity=0.3, color=DOWN).encode(y="q25:Q", y2="q75:Q"),
        zero.encode(y="at:Q"),
        base.mark_line(point=True, color=DOWN).encode(y="q50:Q", tooltip=tooltip),
    ]
    words = (
        f"half of the residuals are at most {number(residuals.typical)} in size, nine tenths at "
        f"most {number(residuals.large)}"
    )
    note = "line: median; darker: half of the rows; lighter: nine tenths"
    return _titled(alt.layer(*layers), f"Residuals of {residuals.learner}", note, words)


def plot_bias_variance(parts: "BiasVariance") -> Any:
    """Draw the parts of the expected squared error as bars.

    Parameters
    ----------
    parts
        The decomposition.

    Returns
    -------
    altair.Chart
    """
    import altair as alt

    known = not np.isnan(parts.noise)
    values = {
        **({"noise": parts.noise} if known else {}),
        ("bias²" if known else "bias² and noise"): parts.bias,
        "variance": parts.variance,
    }
    rows = [{"part": name, "error": value} for name, value in values.items()]
    chart = (
        alt.Chart(records(rows))
        .mark_bar(color=DOWN)
        .encode(
            y=alt.Y("part:N", sort=list(values), title=None),
            x=alt.X("error:Q", title="mean squared error", axis=alt.Axis(**AXIS)),
            tooltip=["part:N", alt.Tooltip("error:Q", format=".4g")],
        )
    )
    words = ", ".join(f"{name} {number(value)}" for name, value in values.items())
    note = f"{parts.samples} fits, {parts.rows} test rows; risk {number(parts.risk)}"
    figure = _titled(chart, f"Bias and variance of {parts.learner}", note, words)
    return figure.properties(height=alt.Step(30))


def plot_excess_risk(excess: "ExcessRisk") -> Any:
    """Draw approximation and estimation error against the number of training rows.

    Parameters
    ----------
    excess
        The excess risk.

    Returns
    -------
    altair.Chart
    """
    import altair as alt

    rows = [
        {"rows": str(size), "part": part, "error": value, "rank": rank}
        for size, estimation in zip(excess.sizes.tolist(), excess.estimation.tolist(), strict=True)
        for rank, (part, value) in enumerate(
            (("approximation", excess.approximation), ("estimation", estimation))
        )
    ]
    colours = alt.Scale(domain=["approximation", "estimation"], range=[DOWN, UP])
    chart = (
        alt.Chart(records(rows))
        .mark_bar()
        .encode(
            x=alt.X("rows:N", sort=None, title="training rows", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("error:Q", title=f"{excess.loss} risk above the least possible"),
            color=alt.Color("part:N", scale=colours, title=None),
            order=alt.Order("rank:Q"),
            tooltip=["rows:N", "part:N", alt.Tooltip("error:Q", format=".4g")],
        )
    )
    words = (
        f"Approximation error {number(excess.approximation)}; estimation error "
        f"{number(excess.estimation[0])} with {excess.sizes[0]} rows"
    )
    note = f"{excess.tables} tables per size; {excess.large:,} rows represent infinitely many"
    return _titled(chart, f"Excess risk of {excess.learner}", note, words)


def _titled(chart: Any, title: str, note: str, description: str) -> Any:
    import altair as alt

    words = alt.TitleParams(title, subtitle=[note], anchor="start", subtitleColor=GREY)
    return chart.properties(title=words, description=description, **_SIZE)
