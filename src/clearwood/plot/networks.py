"""Figures of neural networks: training curves, attention and integrated gradients."""

from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.plot.style import (
    AXIS,
    DOWN,
    OUTPUTS,
    UP,
    bars,
    chart_of,
    cut,
    headed,
    number,
    rule,
)

if TYPE_CHECKING:
    from clearwood.explanation import Attention, IntegratedGradients, TrainingCurve

__all__ = ["plot_attention", "plot_integrated_gradients", "plot_training"]

_WIDTH = 420
#: Columns that a square of attention shows by name.
_MOST_COLUMNS = 30


def plot_training(result: "TrainingCurve") -> Any:
    """Draw the losses of training and held-out rows over the epochs."""
    import altair as alt

    kinds = {"training rows": result.training}
    if result.n_held_out:
        kinds["held-out rows"] = result.validation
    rows: list[dict[str, Any]] = [
        {"epoch": epoch + 1, "loss": float(value), "rows": kind}
        for kind, values in kinds.items()
        for epoch, value in enumerate(values)
        if np.isfinite(value)
    ]
    positive = min(row["loss"] for row in rows) > 0
    scale = alt.Scale(type="log", nice=False, padding=6) if positive else alt.Scale(zero=False)
    lines = (
        chart_of(rows)
        .mark_line(point={"size": 10})
        .encode(
            x=alt.X(
                "epoch:Q",
                title="epoch",
                axis=alt.Axis(**AXIS, tickMinStep=1),
                scale=alt.Scale(nice=False),
            ),
            y=alt.Y("loss:Q", title=result.loss, scale=scale, axis=alt.Axis(**AXIS)),
            color=alt.Color(
                "rows:N",
                title=None,
                scale=alt.Scale(domain=list(kinds), range=OUTPUTS[: len(kinds)]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[
                alt.Tooltip("rows:N"),
                alt.Tooltip("epoch:Q"),
                alt.Tooltip("loss:Q", format=".4g"),
            ],
        )
    )
    chosen = rule(result.best, "x", strokeDash=[4, 4])
    held = result.validation[result.best - 1]
    shown = number(held if np.isfinite(held) else result.training[result.best - 1])
    return headed(
        alt.layer(chosen, lines),
        f"Training of {result.model}: {result.outcome}",
        [f"dashed: the epoch whose weights are kept, {result.best}", *result.notes],
        f"Loss over {len(result.training)} epochs; {shown} at epoch {result.best}, which is kept.",
        width=_WIDTH,
        height=240,
    )


def plot_attention(result: "Attention") -> Any:
    """Draw how much each column's vector takes from each other, in a square."""
    import altair as alt

    matrix = result.matrix
    order = np.argsort(-result.of_prediction, kind="stable")[:_MOST_COLUMNS]
    # named apart from a column of the same name
    names = {int(k): cut(result.columns[k]) for k in order}
    whole = [(len(result.columns), "→ prediction"), *names.items()]
    rows = [
        {"to": to, "from": source, "share": float(matrix[i, j])}
        for i, to in whole
        for j, source in names.items()
    ]
    cells = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X("from:N", sort=list(names.values()), title="takes from"),
            y=alt.Y("to:N", sort=[name for _, name in whole], title="the vector of"),
            color=alt.Color(
                "share:Q",
                title="attention",
                scale=alt.Scale(range=["#F7F7F7", DOWN], domainMin=0, interpolate="rgb"),
                legend=alt.Legend(format=".0%"),
            ),
            tooltip=[
                alt.Tooltip("to:N"),
                alt.Tooltip("from:N"),
                alt.Tooltip("share:Q", format=".3~%"),
            ],
        )
    )
    most = cut(result.columns[int(order[0])])
    left_out = len(result.columns) - len(order)
    cut_off = [f"{left_out} columns with less attention are not shown"] if left_out > 0 else []
    size = max(160, 22 * len(names))
    return headed(
        cells,
        f"Attention of {result.model}: {result.outcome}",
        [f"mean over {result.n_rows:,} rows, layers and heads", *_wrapped(result.notes), *cut_off],
        f"The prediction's vector takes most from {most}. Attention is not an explanation.",
        width=size,
        height=size + 22,
    )


def _wrapped(notes: tuple[str, ...]) -> list[str]:
    """Return notes in lines that fit above a figure."""
    import textwrap

    return [line for note in notes for line in textwrap.wrap(note, 80)]


def plot_integrated_gradients(result: "IntegratedGradients", *, most: int = 15) -> Any:
    """Draw what each column adds to the prediction of the baseline, cells of a grid in place."""
    import altair as alt

    if result.grid is not None:
        return _plot_grid(result)
    order = np.argsort(-np.abs(result.values), kind="stable")
    rows = [
        {
            "column": cut(f"{result.columns[k]} = {result.row_values[k]}", 40),
            "adds": float(result.values[k]),
            "sign": "raises" if result.values[k] >= 0 else "lowers",
            "baseline": result.baseline_values[k],
        }
        for k in order[:most]
    ]
    rest = order[most:]
    if len(rest):
        total = float(result.values[rest].sum())
        sign = "raises" if total >= 0 else "lowers"
        name = f"{len(rest)} other columns"
        rows.append({"column": name, "adds": total, "sign": sign, "baseline": ""})
    colour = alt.Color(
        "sign:N",
        title=None,
        scale=alt.Scale(domain=["raises", "lowers"], range=[UP, DOWN]),
        legend=alt.Legend(orient="bottom"),
    )
    chart = bars(rows, "column", "adds", f"adds to the {result.unit}", height={"band": 0.7}).encode(
        color=colour,
        tooltip=[
            alt.Tooltip("column:N"),
            alt.Tooltip("baseline:N"),
            alt.Tooltip("adds:Q", format=".4g"),
        ],
    )
    words = "; ".join(f"{row['column']} {number(row['adds'])}" for row in rows[:6])
    return headed(
        chart,
        f"From {number(result.baseline)} at the baseline to {number(result.prediction)}",
        [f"integrated gradients of {result.model}, {result.unit}", *result.notes],
        f"What each column adds: {words}",
        width=_WIDTH,
        height=alt.Step(26),
    )


def _plot_grid(result: "IntegratedGradients") -> Any:
    """Draw what each cell of a grid adds, where it lies."""
    import altair as alt

    assert result.grid is not None
    height, across = result.grid
    rows = [
        {
            "row": cell // across + 1,
            "column": cell % across + 1,
            "cell": cut(result.columns[k]),
            "value": result.row_values[k],
            "baseline": result.baseline_values[k],
            "adds": float(result.values[k]),
        }
        for k, cell in enumerate(result.cells)
    ]
    far = max(float(np.abs(result.values).max(initial=0.0)), 1e-300)
    colour = alt.Color(
        "adds:Q",
        title=f"adds to the {result.unit}",
        scale=alt.Scale(domain=[-far, 0, far], range=[DOWN, "#F7F7F7", UP], interpolate="rgb"),
    )
    cells = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X(
                "column:O",
                title="column of the grid",
                axis=alt.Axis(labelAngle=0),
                scale=alt.Scale(domain=list(range(1, across + 1))),
            ),
            y=alt.Y(
                "row:O", title="row of the grid", scale=alt.Scale(domain=list(range(1, height + 1)))
            ),
            color=colour,
            tooltip=[
                alt.Tooltip("cell:N"),
                alt.Tooltip("value:N"),
                alt.Tooltip("baseline:N"),
                alt.Tooltip("adds:Q", format=".4g"),
            ],
        )
    )
    most = int(np.argmax(np.abs(result.values)))
    place = f"row {result.cells[most] // across + 1}, column {result.cells[most] % across + 1}"
    name = "" if result.output == "prediction" else f" of {result.output}"
    size = max(16, min(40, 320 // max(height, across)))
    return headed(
        cells,
        f"From {number(result.baseline)} at the baseline to {number(result.prediction)}{name}",
        [f"integrated gradients of {result.model}, {result.unit}", *result.notes],
        f"What each cell adds; most in {place}: {number(float(result.values[most]))}.",
        width=size * across,
        height=size * height,
    )
