"""Figures of what single learners hold: boxes, likelihoods, discriminants, boundaries."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.frames import plain
from clearwood._shared.numbers import count, number, percent, share_of
from clearwood.plot.style import (
    AXIS,
    DOWN,
    GREY,
    OUTPUTS,
    PERCENT_AXIS,
    chart_of,
    cut,
    headed,
    rule,
)

if TYPE_CHECKING:
    from clearwood.explanation import Boundaries, Discriminants
    from clearwood.models import BoxList, ExpertTable

__all__ = ["plot_boundaries", "plot_boxes", "plot_discriminants", "plot_likelihood"]


_FOUND, _OTHER = "rows that found the box", "other rows"

_MOST_POINTS = 2_000
_MOST_RUG_ROWS = 1_000


def plot_boxes(result: "BoxList") -> Any:
    """Draw the mean in the first box against its support, and the chosen boxes as points."""
    import altair as alt

    points = [
        {"support": support, "mean": mean, "rows": name}
        for support, found, other in plain(result.trajectory)
        for name, mean in ((_FOUND, found), (_OTHER, other))
        if mean is not None
    ]
    share = f"share of {result.counted_by} in the box"
    x = alt.X("support:Q", title=share, axis=alt.Axis(**PERCENT_AXIS))
    y = alt.Y("mean:Q", title="mean in the box", axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False))
    colour = alt.Color(
        "rows:N", scale=alt.Scale(domain=[_FOUND, _OTHER], range=[GREY, DOWN]), title=None
    )
    lines = chart_of(points).mark_line(point={"size": 14}).encode(x=x, y=y, color=colour)
    chosen = [
        {"support": row.support, "mean": row.mean, "box": f"box {k + 1}: {row.rule}"}
        for k, row in enumerate(result.rows)
    ]
    marks = (
        chart_of(chosen)
        .mark_point(filled=True, size=110, color=DOWN, opacity=1)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("box:N"), alt.Tooltip("mean:Q", format=".4g")])
    )
    written = "; ".join(
        f"box {k + 1}, {share_of(row.support, result.counted_by)}, mean {number(row.mean)}"
        for k, row in enumerate(result.rows)
    )
    return headed(
        alt.layer(rule(result.mean, "y", strokeDash=[4, 4]), lines, marks),
        f"Boxes of {result.direction} mean",
        ["lines: the first box as it shrinks; dots: boxes, by rows held out; dashed: outside"],
        written or "no box differs from the rest",
        width=400,
        height=260,
    )


def plot_likelihood(result: "ExpertTable") -> Any:
    """Draw the penalised log-likelihood by step; it never falls."""
    import altair as alt

    path = result.log_likelihood
    rows = [{"step": k, "log-likelihood": float(value)} for k, value in enumerate(path)]
    chart = (
        chart_of(rows)
        .mark_line(point=alt.OverlayMarkDef(size=16))
        .encode(
            x=alt.X("step:Q", title="step of EM", axis=alt.Axis(**AXIS)),
            y=alt.Y("log-likelihood:Q", scale=alt.Scale(zero=False)),
            tooltip=[alt.Tooltip("step:Q"), alt.Tooltip("log-likelihood:Q", format=".6g")],
        )
    )
    steps = count(len(path) - 1, "step")
    written = f"from {number(path[0])} to {number(path[-1])} in {steps}"
    heading = f"Log-likelihood of {len(result.experts)} experts"
    return headed(chart, heading, ["penalised, of the best start"], written, width=420, height=240)


def plot_discriminants(result: "Discriminants") -> Any:
    """Draw rows by class, those that the model puts elsewhere as crosses, and the class means."""
    import altair as alt

    n_axes = result.scores.shape[1]
    known = result.truth if (result.truth >= 0).any() else result.predicted
    shown = np.unique(np.linspace(0, len(known) - 1, min(len(known), _MOST_POINTS)).astype(int))
    # with one coordinate, classes are drawn side by side
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(known))
    second = result.scores[:, 1] if n_axes > 1 else known + jitter
    names = [cut(name) for name in result.classes]
    rows = [
        {
            "x": float(result.scores[k, 0]),
            "y": float(second[k]),
            "class": names[known[k]],
            "fit": "right" if known[k] == result.predicted[k] else "predicted as another class",
        }
        for k in shown
        if known[k] >= 0
    ]
    titles = [f"coordinate {k + 1}, {percent(share)}" for k, share in enumerate(result.shares)]
    colour = alt.Color(
        "class:N", scale=alt.Scale(domain=names, range=OUTPUTS * (1 + len(names) // 7)), title=None
    )
    y_title = titles[1] if n_axes > 1 else "class, with a random shift"
    points = (
        chart_of(rows)
        .mark_point(size=28, opacity=0.6)
        .encode(
            x=alt.X("x:Q", title=titles[0], axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", title=y_title, axis=alt.Axis(**AXIS), scale=alt.Scale(zero=False)),
            color=colour,
            shape=alt.Shape(
                "fit:N",
                scale=alt.Scale(
                    domain=["right", "predicted as another class"], range=["circle", "cross"]
                ),
                title=None,
            ),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("fit:N")],
        )
    )
    means = [
        {
            "x": float(mean[0]),
            "y": float(mean[1]) if n_axes > 1 else float(k),
            "class": names[k],
        }
        for k, mean in enumerate(result.means)
    ]
    centres = (
        chart_of(means)
        .mark_point(filled=True, size=220, stroke="white", strokeWidth=2, opacity=1)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), color=colour)
    )
    wrong = int((known[shown] != result.predicted[shown]).sum())
    return headed(
        alt.layer(points, centres),
        f"Discriminant coordinates of {result.model}: {result.outcome}",
        ["share of the variance between class means; large dots: class means"],
        f"{len(rows)} rows of {len(names)} classes; the model puts {wrong} of them into another "
        "class.",
        width=420,
        height=320,
    )


def plot_boundaries(result: "Boundaries") -> Any:
    """Draw the predicted class as colour, paler where it is less certain, and the rows on top."""
    import altair as alt

    names = [cut(name) for name in result.classes]
    domain = alt.Scale(domain=names, range=OUTPUTS * (1 + len(names) // 7))
    half_x, half_y = (0.5 * (grid[1] - grid[0]) for grid in (result.x, result.y))
    certain = np.nan_to_num(result.certainty, nan=1.0)
    cells = [
        {
            "x0": float(x - half_x),
            "x1": float(x + half_x),
            "y0": float(y - half_y),
            "y1": float(y + half_y),
            "class": names[result.predicted[i, j]],
            "certainty": round(float(certain[i, j]), 3),
        }
        for i, y in enumerate(result.y)
        for j, x in enumerate(result.x)
    ]
    x_scale = alt.Scale(domain=[float(result.x[0]), float(result.x[-1])], nice=False)
    y_scale = alt.Scale(domain=[float(result.y[0]), float(result.y[-1])], nice=False)
    plane = (
        chart_of(cells)
        .mark_rect(clip=True)
        .encode(
            x=alt.X("x0:Q", title=result.columns[0], scale=x_scale, axis=alt.Axis(**AXIS)),
            x2=alt.X2("x1:Q"),
            y=alt.Y("y0:Q", title=result.columns[1], scale=y_scale, axis=alt.Axis(**AXIS)),
            y2=alt.Y2("y1:Q"),
            color=alt.Color("class:N", scale=domain, title=None),
            opacity=alt.Opacity(
                "certainty:Q",
                scale=alt.Scale(domain=[1 / len(names), 1], range=[0.08, 0.45]),
                legend=None,
            ),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("certainty:Q")],
        )
    )
    known = result.rows[np.isfinite(result.rows).all(axis=1) & (result.rows[:, 2] >= 0)]
    if len(known) > _MOST_RUG_ROWS:
        known = known[np.linspace(0, len(known) - 1, _MOST_RUG_ROWS).astype(int)]
    rows = [{"x": float(x), "y": float(y), "class": names[int(k)]} for x, y, k in known]
    points = (
        chart_of(rows)
        .mark_point(filled=True, size=24, opacity=0.9, stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("x:Q"), y=alt.Y("y:Q"), color=alt.Color("class:N", scale=domain, title=None)
        )
    )
    held = ", ".join(f"{name} = {value}" for name, value in list(result.held.items())[:3])
    rest = f" and {len(result.held) - 3} more columns" if len(result.held) > 3 else ""
    shares = ", ".join(
        f"{name} {percent(share)}" for name, share in zip(names, result.shares(), strict=True)
    )
    return headed(
        alt.layer(plane, points) if rows else plane,
        f"Decision boundaries of {result.model}: {result.outcome}",
        [f"held: {held}{rest}" if held else "the model has these two columns only"],
        f"Share of the plane by predicted class: {shares}.",
        width=400,
        height=340,
    )
