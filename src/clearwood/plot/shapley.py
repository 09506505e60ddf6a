"""Figures of Shapley values: beeswarm, bars and, for one row, a waterfall."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import cell
from clearwood.plot.style import (
    AXIS,
    DOWN,
    GREY,
    UP,
    bars,
    chart_of,
    cut,
    number,
    rule,
    titled,
)

if TYPE_CHECKING:
    from clearwood.explanation import Shapley

__all__ = ["plot_shapley"]

_KINDS = ("beeswarm", "bar", "waterfall")
_WIDTH = 420
_ROW_HEIGHT = 34
# More points than this hide each other and make the figure slow to open.
_MOST_POINTS = 4000
_BINS = 70


def plot_shapley(
    result: "Shapley",
    kind: str | None = None,
    *,
    row: Any = None,
    output: str | None = None,
    most: int = 12,
) -> Any:
    """Draw Shapley values.

    Parameters
    ----------
    result
        The values.
    kind
        "beeswarm" (every row), "bar" (mean absolute values) or "waterfall" (one row); by default a
        waterfall where one row is given, else a beeswarm.
    row
        The label of the row to draw as a waterfall.
    output
        The output to draw; by default the last, for a waterfall the largest.
    most
        How many columns to draw; a waterfall adds the others up.
    """
    if kind is None:
        kind = "waterfall" if row is not None or len(result) == 1 else "beeswarm"
    if kind not in _KINDS:
        raise InputError(f"there is no figure {kind!r}", hint=did_you_mean(kind, _KINDS))
    if not len(result):
        raise InputError("there are no rows to draw")
    result = result.without_rounding()
    if kind == "waterfall":
        return _waterfall(result, _position(result, row), output, most)
    several = len(result.outputs) > 1
    one = result.output(result.outputs[-1] if output is None else output)
    notes = [f"output: {one.outputs[0]}"] if several else []
    return _beeswarm(one, most, notes) if kind == "beeswarm" else _bars(one, most, notes)


def _position(result: "Shapley", row: Any) -> int:
    labels = result.rows.tolist()
    if row is None:
        return 0
    if row not in labels:
        raise InputError(
            f"there is no row {row!r}", hint=did_you_mean(str(row), map(str, labels[:1000]))
        )
    return int(labels.index(row))


def _largest(values: NDArray[np.float64], most: int) -> list[int]:
    size = np.abs(values).mean(axis=0)
    return [int(k) for k in np.argsort(-size, kind="stable")[:most]]


def _bars(result: "Shapley", most: int, notes: list[str]) -> Any:
    import altair as alt

    size = np.abs(result.values).mean(axis=0)
    rows = [
        {"column": cut(result.columns[k]), "size": float(size[k])}
        for k in _largest(result.values, most)
    ]
    title = f"mean absolute Shapley value ({result.about.quantity})"
    chart = bars(rows, "column", "size", title, color=DOWN)
    words = ", ".join(f"{row['column']} {number(row['size'])}" for row in rows[:8])
    return _titled(chart, result, most, notes, words, alt.Step(20))


def _titled(
    chart: Any, result: "Shapley", most: int, notes: list[str], words: str, height: Any
) -> Any:
    if len(result.columns) > most:
        notes = [*notes, f"the first {most} of {len(result.columns)} columns"]
    title, described = f"Shapley values of {len(result):,} rows", "Mean absolute Shapley values: "
    size = {"width": _WIDTH, "height": height}
    return titled(chart, title, result.about, notes, described + words, **size)


def _beeswarm(result: "Shapley", most: int, notes: list[str]) -> Any:
    import altair as alt

    order = _largest(result.values, most)
    names = [cut(result.columns[k]) for k in order]
    every = max(1, -(-len(result) * len(order) // _MOST_POINTS))
    if every > 1:
        notes = [*notes, f"every {every}th of {len(result):,} rows is drawn"]
    rows = []
    for name, k in zip(names, order, strict=True):
        values = result.values[::every, k]
        ranks, written = _ranks(result, k)
        offsets = _swarm(values, result.values)
        for value, offset, rank, text, label in zip(
            values,
            offsets,
            ranks[::every],
            written[::every],
            result.rows[::every].tolist(),
            strict=True,
        ):
            rows.append(
                {
                    "column": name,
                    "value": float(value),
                    "offset": float(offset),
                    "rank": -1.0 if np.isnan(rank) else float(rank),
                    "data": text,
                    "row": str(label),
                }
            )
    colour = alt.Color(
        "rank:Q",
        title=["value of", "the column"],
        scale=alt.Scale(domain=[0, 1], range=[DOWN, "#B9B9B9", UP], interpolate="rgb"),
        legend=alt.Legend(
            values=[0, 1], labelExpr="datum.value == 0 ? 'low' : 'high'", gradientLength=90
        ),
    )
    points = (
        chart_of(rows)
        .mark_circle(size=16, opacity=0.8)
        .encode(
            y=alt.Y("column:N", sort=names, title=None),
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-1, 1])),
            x=alt.X(
                "value:Q", title=f"Shapley value ({result.about.quantity})", axis=alt.Axis(**AXIS)
            ),
            color=alt.condition("datum.rank >= 0", colour, alt.value("#8C8C8C")),
            tooltip=[
                alt.Tooltip("row:N"),
                alt.Tooltip("column:N"),
                alt.Tooltip("data:N", title="its value"),
                alt.Tooltip("value:Q"),
            ],
        )
    )
    size = np.abs(result.values).mean(axis=0)
    words = ", ".join(f"{n} {number(size[k])}" for n, k in zip(names[:8], order[:8], strict=True))
    return _titled(rule(0, "x") + points, result, most, notes, words, alt.Step(_ROW_HEIGHT))


def _ranks(result: "Shapley", k: int) -> tuple[NDArray[np.float64], list[str]]:
    """Return each row's rank in a column, 0 to 1, NaN where values have no order; and its value."""
    column = result.data[k]
    written = [cut(cell(value)) for value in column.labels()]
    if column.is_coded or column.values.dtype.kind not in "fM":
        ordered = column.is_coded and column.kind.value in ("ordered category", "yes/no")
        codes = column.values.astype(np.float64) if ordered else np.full(len(column), np.nan)
        top = max(len(column.levels) - 1, 1)
        return np.where(codes < 0, np.nan, codes / top), written
    distinct, place = np.unique(column.values, return_inverse=True)
    ranks = place / max(len(distinct) - 1, 1)
    return np.where(column.missing, np.nan, ranks), written


def _swarm(values: NDArray[np.float64], everything: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return offsets that put points with nearly the same value beside each other."""
    low, high = float(everything.min()), float(everything.max())
    width = (high - low) / _BINS or 1.0
    place = np.floor((values - low) / width).astype(np.int64)
    order = np.argsort(place, kind="stable")
    first = np.concatenate([[True], place[order][1:] != place[order][:-1]])
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    nth = np.empty(len(order), np.int64)
    nth[order] = np.arange(len(order)) - start
    level = np.where(nth % 2 == 1, (nth + 1) // 2, -(nth // 2)).astype(np.float64)
    return np.asarray(level / max(np.abs(level).max(initial=0.0), 8.0) * 0.9)


def _sign(value: float) -> str:
    return "" if value == 0 else "+" if value > 0 else "−"


def _waterfall(result: "Shapley", at: int, output: str | None, most: int) -> Any:
    import altair as alt

    several = len(result.outputs) > 1
    if several and output is None:
        output = result.outputs[int(np.argmax(result.prediction[at]))]
    one = result.output(result.outputs[0] if output is None else output)
    values, baseline = one.values[at], float(one.baseline)
    order = [int(k) for k in np.argsort(-np.abs(values), kind="stable")]
    most = most if len(order) > most + 1 else len(order)
    shown, others = order[:most], order[most:]
    steps = [
        (
            f"{cut(one.columns[k])} = {cut(cell(one.data[k].labels()[at]))}",
            float(values[k]),
        )
        for k in shown
    ]
    if others:
        steps.append((f"{len(others)} others", float(values[others].sum())))
    rows: list[dict[str, Any]] = []
    level = baseline
    for name, value in steps:
        rows.append(
            {
                "column": name,
                "from": level,
                "to": level + value,
                "end": max(level, level + value),
                "value": f"{_sign(value)}{number(abs(value))}",
                "sign": "raises" if value >= 0 else "lowers",
            }
        )
        level += value
    names = [row["column"] for row in rows]
    signs = alt.Scale(domain=["raises", "lowers"], range=[UP, DOWN])
    ends = [baseline, *(row["to"] for row in rows)]
    pad = 0.08 * (max(ends) - min(ends)) or 0.5
    scale = alt.Scale(domain=[min(ends) - pad, max(ends) + 2 * pad], nice=False)
    base = chart_of(rows).encode(
        y=alt.Y("column:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    )
    steps_drawn = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("from:Q", title=one.about.quantity, scale=scale, axis=alt.Axis(**AXIS)),
        x2=alt.X2("to:Q"),
        color=alt.Color("sign:N", title=None, scale=signs, legend=alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("column:N"),
            alt.Tooltip("value:N"),
            alt.Tooltip("from:Q"),
            alt.Tooltip("to:Q"),
        ],
    )
    labels = base.mark_text(align="left", dx=4, color=GREY).encode(
        x=alt.X("end:Q", scale=scale), text=alt.Text("value:N")
    )
    marks: list[dict[str, Any]] = [
        {"at": baseline, "what": f"baseline {number(baseline)}"},
        {"at": level, "what": f"this row {number(level)}"},
    ]
    rules = (
        chart_of(marks)
        .mark_rule(color=GREY)
        .encode(
            x=alt.X("at:Q", scale=scale),
            strokeDash=alt.StrokeDash(
                "what:N",
                title=None,
                sort=[mark["what"] for mark in marks],
                legend=alt.Legend(orient="bottom", symbolType="stroke"),
            ),
        )
    )
    notes = [f"output: {one.outputs[0]}"] if several else []
    title = f"Row {one.rows[at]}: from {number(baseline)} to {number(level)}"
    words = "; ".join(f"{row['column']} {row['value']}" for row in rows)
    size = {"width": _WIDTH, "height": alt.Step(26)}
    chart = rules + steps_drawn + labels
    return titled(chart, title, one.about, notes, f"{title}. {words}", **size)
