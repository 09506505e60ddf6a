"""Figures of chosen columns: how often, and coefficients along a penalty or a number of columns."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import count, number, percent
from clearwood.plot import style
from clearwood.plot.style import (
    AXIS,
    DOWN,
    GREY,
    PERCENT_AXIS,
    bars,
    chart_of,
    cut,
    diverging,
    headed,
    rule,
)

if TYPE_CHECKING:
    from clearwood.benchmarking import SelectionFrequency
    from clearwood.explanation import CoefficientPath
    from clearwood.models import Selection

__all__ = ["plot_components", "plot_path", "plot_selection", "plot_selection_frequency"]


_WIDTH = 380

#: Columns with a colour and a name of their own: those with the largest coefficients.
_MOST_NAMED = 10


def plot_selection(selection: "Selection", *, most: int = 25) -> Any:
    """Draw the score of each column, from the highest down; those not selected in grey.

    Parameters
    ----------
    selection
        The selection of a fitted learner.
    most
        How many columns, those with the highest scores.
    """
    import altair as alt

    scores = dict(zip(selection.columns, selection.scores, strict=True))
    known = [name for name in selection.order if np.isfinite(scores[name])]
    rows = [
        {
            "column": cut(name),
            "score": float(scores[name]),
            "choice": "selected" if name in selection.selected else "not selected",
        }
        for name in known[:most]
    ]
    colours = alt.Scale(domain=["selected", "not selected"], range=[DOWN, GREY])
    chart = bars(rows, "column", "score", selection.score).encode(
        color=alt.Color("choice:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    )
    notes = [f"{selection.method}, {count(selection.n_rows, 'row')}, seed {selection.seed}"]
    if len(known) > most:
        notes.append(f"the first {most} of {len(known)} columns")
    title = f"{len(selection.selected)} of {count(len(selection.columns), 'column')} selected"
    words = ", ".join(f"{row['column']} {style.number(row['score'])}" for row in rows[:8])
    return headed(chart, title, notes, f"{title}: {words}", **_size())


def plot_selection_frequency(frequency: "SelectionFrequency", *, most: int = 25) -> Any:
    """Draw the share of draws in which each column was chosen; those of all rows in colour.

    Parameters
    ----------
    frequency
        The selections of a learner over folds or other draws.
    most
        How many columns, those chosen most often.
    """
    import altair as alt

    shares, from_all = frequency.shares, frequency.from_all
    rows: list[dict[str, Any]] = [
        {
            "column": cut(name),
            "share": float(share),
            "choice": "chosen" if from_all is None or name in from_all else "not chosen",
        }
        for (name, _), share in zip(frequency.chosen, shares, strict=False)
    ]
    chart = bars(
        rows[:most],
        "column",
        "share",
        f"share of {frequency.draws_name}",
        axis=PERCENT_AXIS,
        written=".0%",
        color=DOWN,
    )
    if from_all is not None:
        colours = alt.Scale(domain=["chosen", "not chosen"], range=[DOWN, GREY])
        legend = alt.Legend(orient="bottom")
        chart = chart.encode(
            color=alt.Color("choice:N", title="from all rows", scale=colours, legend=legend)
        )
    notes = [frequency.headline, *frequency.notes[1:]]
    if len(rows) > most:
        notes.append(f"the first {most} of {len(rows)} columns that were chosen")
    words = ", ".join(f"{row['column']} {percent(row['share'])}" for row in rows[:8])
    title = f"Selected columns over {frequency.draws_name}"
    return headed(chart, title, notes, words or "none", **_size())


def _size() -> dict[str, Any]:
    import altair as alt

    return {"width": _WIDTH, "height": alt.Step(20)}


def plot_path(result: "CoefficientPath", *, along: str = "auto") -> Any:
    """Draw the coefficients, and below them the error of cross-validation or BIC.

    Parameters
    ----------
    result
        The path.
    along
        The horizontal axis: "setting", "freedom", "shrinkage" or "auto".
    """
    import altair as alt

    largest = np.argsort(-np.abs(result.coefficients).max(axis=0), kind="stable")
    named = [cut(result.names[j]) for j in largest[:_MOST_NAMED]]
    positions, title = _axis(result, along)
    at_points = [float(v) for v in positions]
    rows = [
        {
            "x": at_points[k],
            "coefficient": float(result.coefficients[k, j]),
            "column": cut(result.names[j]),
            "point": number(result.points[k]),
        }
        for j in largest
        for k in range(len(result.points))
    ]
    scale = alt.Scale(domain=[at_points[0], at_points[-1]], nice=False, padding=4)
    if positions is result.points and result.setting == "alpha" and min(at_points) > 0:
        scale.type = "log"
    x = alt.X("x:Q", title=title, axis=alt.Axis(**AXIS, format="~g"), scale=scale)
    lines = (
        chart_of(rows)
        .mark_line(interpolate="linear", point={"size": 12})
        .encode(
            x=x,
            y=alt.Y("coefficient:Q", title="coefficient"),
            detail=alt.Detail("column:N"),
            color=alt.Color(
                "column:N", scale=alt.Scale(domain=named, scheme="tableau10"), title=None
            ),
            tooltip=[
                alt.Tooltip("column:N"),
                alt.Tooltip("point:N"),
                alt.Tooltip("coefficient:Q", format=".4g"),
            ],
        )
    )
    chosen = rule(at_points[result.chosen], "x", strokeDash=[4, 4])
    upper = alt.layer(rule(0, "y"), lines, chosen).properties(width=420, height=240)
    has_cv = bool(np.isfinite(result.cv).any())
    values, spread = (result.cv, result.cv_error) if has_cv else (result.bic, 0 * result.bic)
    points = [
        {"x": at, "value": float(v), "low": float(v - s), "high": float(v + s)}
        for at, v, s in zip(at_points, values, spread, strict=True)
        if np.isfinite(v)
    ]
    judged = "held-out squared error" if has_cv else "BIC"
    base = chart_of(points).encode(x=x)
    y = alt.Y("value:Q", title=judged, scale=alt.Scale(zero=False))
    layers = [base.mark_line(point={"size": 12}, color=GREY).encode(y=y), chosen]
    if has_cv:
        ends = alt.Y("low:Q", title=judged, scale=alt.Scale(zero=False))
        layers.insert(
            0, base.mark_rule(color=GREY, opacity=0.4).encode(y=ends, y2=alt.Y2("high:Q"))
        )
    lower = alt.layer(*layers).properties(width=420, height=120)
    at = f"{result.setting} {number(result.points[result.chosen])}"
    columns = ", ".join(result.members(result.chosen)[:20]) or "no column"
    error = "; below: squared error of held-out rows, ± one standard error" if has_cv else ""
    return headed(
        alt.vconcat(upper, lower),
        f"Path of {result.model}: {result.outcome}",
        [f"dashed: the fitted model, {at}{error}", *result.notes],
        f"At {at}, {number(result.freedom[result.chosen])} degrees of freedom, the model has "
        f"{columns}.",
    )


def _axis(result: "CoefficientPath", along: str) -> tuple[Any, str]:
    """Return the positions of the points on the horizontal axis, and its title."""
    if along == "auto":
        # degrees of freedom of the lasso stand still while coefficients change
        by_setting = result.setting == "alpha" and result.model != "ridge"
        along = "setting" if by_setting or result.loadings is not None else "freedom"
    if along == "freedom":
        return result.freedom, "degrees of freedom"
    if along == "shrinkage":
        return result.shrinkage, "sum of the sizes of coefficients, share of the largest"
    title = "components" if result.loadings is not None else result.setting
    return result.points, f"{title}, from the simplest model on"


def plot_components(result: "CoefficientPath", *, most: int = 8) -> Any:
    """Draw the weights of the columns in the first components.

    Parameters
    ----------
    result
        The path of "pcr" or "pls".
    most
        How many components.
    """
    import altair as alt

    assert result.loadings is not None
    assert result.variance is not None
    shown = result.loadings[:most]
    labels = [f"{k + 1} ({percent(result.variance[k])})" for k in range(len(shown))]
    rows = [
        {"component": labels[k], "column": cut(name), "weight": float(shown[k, j])}
        for k in range(len(shown))
        for j, name in enumerate(result.names)
    ]
    columns = [cut(name) for name in result.names]
    chart = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X("component:O", sort=labels, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("column:N", sort=columns, title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("weight:Q", title="weight", scale=diverging(shown)),
            tooltip=[
                alt.Tooltip("component:O"),
                alt.Tooltip("column:N"),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )
    strongest = ", ".join(
        f"{k + 1}: {result.names[int(np.abs(line).argmax())]}" for k, line in enumerate(shown)
    )
    return headed(
        chart,
        f"Components of {result.model}: {result.outcome}",
        ["in brackets: share of the variance of the columns"],
        f"Columns with the largest weight, by component: {strongest}.",
        width=alt.Step(72),
        height=alt.Step(20),
    )
