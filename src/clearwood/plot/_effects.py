"""Figures of effects: curves and steps over the data's density, bars by level, heat maps."""

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._errors import InputError, did_you_mean
from clearwood.plot._style import (
    AXIS,
    DOWN,
    GREY,
    OUTPUTS,
    UP,
    cut,
    diverging,
    number,
    records,
    titled,
)

if TYPE_CHECKING:
    from clearwood.decompose import Effect

__all__ = ["plot_effect"]

_WIDTH, _HEIGHT = 420, 240
_BINS = 40
_MISSING = "missing"


def plot_effect(effect: "Effect", *, output: str | None = None) -> Any:
    """Draw the effect of one column, or of two.

    Parameters
    ----------
    effect
        What a decomposition gave.
    output
        The output to draw, where there are several; all of them for one column, the last for two.

    Returns
    -------
    altair.TopLevelMixin
        A chart.
    """
    effect = _of_output(effect, output)
    if len(effect.columns) == 2:
        return _heat_map(effect)
    return _curve(effect) if effect.is_ordered[0] else _levels(effect)


def _of_output(effect: "Effect", output: str | None) -> "Effect":
    names = effect.about.outputs
    if output is not None and str(output) not in names:
        raise InputError(f"there is no output {output!r}", hint=did_you_mean(str(output), names))
    if len(names) == 1 or (output is None and len(effect.columns) == 1 and len(names) != 2):
        return effect
    # two outputs are two classes, and what one gains the other loses
    k = len(names) - 1 if output is None else names.index(str(output))
    return replace(
        effect,
        values=effect.values[..., k],
        baseline=np.reshape(effect.baseline, -1)[k],
        about=replace(effect.about, outputs=(names[k],)),
    )


def _axis_title(effect: "Effect") -> str:
    quantity = "effect on" if effect.quantity == "effect" else "mean"
    outputs = effect.about.outputs
    of = "" if outputs == ("prediction",) or len(outputs) > 1 else f" of {outputs[0]}"
    return f"{quantity} {effect.about.unit}{of}"


def _table(effect: "Effect") -> list[dict[str, Any]]:
    """Give one record per value and output."""
    outputs = effect.about.outputs
    values = effect.values.reshape(len(effect.grid[0]), len(outputs))
    return [
        {
            "x": _plain(x),
            "effect": float(value),
            "output": name,
            "share": float(share),
        }
        for x, line, share in zip(effect.grid[0], values, effect.shares, strict=True)
        for value, name in zip(line, outputs, strict=True)
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value.astype("datetime64[s]"))
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return value


def _colour(effect: "Effect") -> Any:
    import altair as alt

    if len(effect.about.outputs) == 1:
        return alt.value(DOWN)
    return alt.Color("output:N", title="output", scale=alt.Scale(range=OUTPUTS))


def _curve(effect: "Effect") -> Any:
    """Draw steps or a line over the density of the data; a missing value stands apart."""
    import altair as alt

    rows = _table(effect)
    name = effect.columns[0]
    kind = "T" if effect.grid[0].dtype.kind == "M" else "Q"
    present = [row for row in rows if row["x"] is not None]
    y = alt.Y("effect:Q", title=_axis_title(effect), scale=alt.Scale(zero=False))
    x = alt.X(
        f"x:{kind}",
        title=None,
        axis=alt.Axis(labels=False, ticks=False, grid=False),
        scale=alt.Scale(zero=False, nice=False),
    )
    tooltip = [
        alt.Tooltip(f"x:{kind}", title=name),
        alt.Tooltip("effect:Q", format=".4g"),
        alt.Tooltip("share:Q", format=".1%", title="share of rows"),
    ]
    base = alt.Chart(records(present)).encode(x=x, y=y, tooltip=tooltip)
    shape: Any = "step" if effect.is_step else "linear"
    line = base.mark_line(interpolate=shape, strokeWidth=2).encode(color=_colour(effect))
    zero = _reference(effect)
    main = alt.layer(*zero, line).properties(width=_WIDTH, height=_HEIGHT)
    figure = alt.vconcat(main, _density(effect, kind), spacing=4)
    absent = [row for row in rows if row["x"] is None]
    if absent:
        figure = alt.hconcat(figure, _missing(effect, absent)).resolve_scale(y="shared")
    return titled(figure, effect.title, effect.about).properties(description=_words(effect))


def _reference(effect: "Effect") -> list[Any]:
    """Draw where the effect is none, or where the mean prediction is."""
    import altair as alt

    if np.ndim(effect.baseline) and np.size(effect.baseline) > 1 and effect.quantity != "effect":
        return []
    at = 0.0 if effect.quantity == "effect" else float(np.reshape(effect.baseline, -1)[0])
    rule = alt.Chart(records([{"at": at}])).mark_rule(color=GREY, strokeDash=[4, 4])
    return [rule.encode(y=alt.Y("at:Q"))]


def _density(effect: "Effect", kind: str) -> Any:
    """Draw how many rows lie where, below the curve."""
    import altair as alt

    values = effect.grid[0]
    numbers = values.astype("datetime64[us]").astype(np.int64) if kind == "T" else values
    present = ~np.isnat(values) if kind == "T" else ~np.isnan(values)
    counts, edges = np.histogram(numbers[present], _BINS, weights=effect.shares[present])
    ends = [_end(edge, kind) for edge in edges]
    rows = [
        {"low": low, "high": high, "share": float(count)}
        for low, high, count in zip(ends[:-1], ends[1:], counts, strict=True)
    ]
    return (
        alt.Chart(records(rows))
        .mark_rect(color=GREY, opacity=0.6, stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X(
                f"low:{kind}",
                title=effect.columns[0],
                axis=alt.Axis(**AXIS),
                scale=alt.Scale(zero=False, nice=False),
            ),
            x2="high",
            y=alt.Y("share:Q", title="rows", axis=alt.Axis(labels=False, ticks=False, grid=False)),
            y2=alt.Y2Datum(0),
            tooltip=[alt.Tooltip("share:Q", format=".1%", title="share of rows")],
        )
        .properties(width=_WIDTH, height=36)
    )


def _end(edge: float, kind: str) -> Any:
    return _plain(np.datetime64(int(edge), "us")) if kind == "T" else float(edge)


def _missing(effect: "Effect", rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    marked = [{**row, "x": _MISSING} for row in rows]
    return (
        alt.Chart(records(marked))
        .mark_point(filled=True, size=80, shape="diamond", opacity=1)
        .encode(
            x=alt.X("x:N", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "effect:Q",
                title=None,
                axis=alt.Axis(labels=False, ticks=False),
                scale=alt.Scale(zero=False),
            ),
            color=_colour(effect),
            tooltip=[
                alt.Tooltip("effect:Q", format=".4g"),
                alt.Tooltip("share:Q", format=".1%", title="share of rows"),
            ],
        )
        .properties(width=50, height=_HEIGHT)
    )


def _levels(effect: "Effect") -> Any:
    """Draw a bar for each level, with how many rows have it."""
    import altair as alt

    rows = _table(effect)
    for row in rows:
        row["level"] = _MISSING if row["x"] is None else cut(str(row["x"]))
        row["rows"] = f"{row['share']:.0%} of rows" if row["share"] >= 0.005 else "< 1% of rows"
        row["sign"] = "raises" if row["effect"] > 0 else "lowers"
    order = list(dict.fromkeys(row["level"] for row in rows))
    several = len(effect.about.outputs) > 1
    y = alt.Y("level:N", sort=order, title=effect.columns[0])
    tooltip = [
        alt.Tooltip("level:N", title=effect.columns[0]),
        alt.Tooltip("effect:Q", format=".4g"),
        alt.Tooltip("share:Q", format=".1%", title="share of rows"),
    ]
    x = alt.X("effect:Q", title=_axis_title(effect), axis=alt.Axis(**AXIS))
    base = alt.Chart(records(rows)).encode(y=y, tooltip=tooltip)
    if effect.quantity == "effect":
        bars = base.mark_bar(height={"band": 0.7}).encode(x=x)
    else:
        x = alt.X("effect:Q", title=_axis_title(effect), scale=alt.Scale(zero=False))
        bars = base.mark_point(filled=True, size=90, opacity=1).encode(x=x)
    if several:
        bars = bars.encode(color=_colour(effect), yOffset="output:N")
    elif effect.quantity == "effect":
        signs = alt.Scale(domain=["raises", "lowers"], range=[UP, DOWN])
        bars = bars.encode(color=alt.Color("sign:N", title="prediction", scale=signs, legend=None))
    else:
        bars = bars.encode(color=alt.value(DOWN))
    sizes = (
        alt.Chart(
            records(rows[:: len(effect.about.outputs)]),
            view=alt.ViewBackground(stroke=None),
        )
        .mark_text(align="left", color=GREY, fontSize=10)
        .encode(
            y=alt.Y("level:N", sort=order, title=None, axis=None), x=alt.value(0), text="rows:N"
        )
        .properties(width=80)
    )
    step = alt.Step(24 if not several else 24 * len(effect.about.outputs))
    figure = alt.hconcat(
        bars.properties(width=_WIDTH - 80, height=step), sizes.properties(height=step), spacing=6
    ).resolve_scale(y="shared")
    return titled(figure, effect.title, effect.about).properties(description=_words(effect))


def _heat_map(effect: "Effect") -> Any:
    """Draw two columns against each other; cells where no rows are stay pale."""
    import altair as alt

    (first, second), (rows, axes) = effect.columns, _cells(effect)
    colour = (
        diverging(effect.values) if effect.quantity == "effect" else alt.Scale(scheme="viridis")
    )
    notes = ["pale: no rows near"] if any(row["near"] == 0 for row in rows) else []
    if _has_missing(effect):
        notes.append("missing values are not shown")
    chart = (
        alt.Chart(records(rows))
        .mark_rect()
        .encode(
            x=axes[0],
            y=axes[1],
            color=alt.Color("effect:Q", title=_axis_title(effect).rsplit(" ", 1), scale=colour),
            opacity=alt.condition("datum.near > 0", alt.value(1.0), alt.value(0.3)),
            tooltip=[
                alt.Tooltip("a:N", title=first),
                alt.Tooltip("b:N", title=second),
                alt.Tooltip("effect:Q", format=".4g"),
                alt.Tooltip("share:Q", format=".2%", title="share of rows"),
            ],
        )
    )
    if effect.is_ordered[0]:
        chart = chart.encode(x2="x2")
    if effect.is_ordered[1]:
        chart = chart.encode(y2="y2")
    chart = chart.properties(width=_WIDTH - 80, height=_WIDTH - 120)
    return titled(chart, effect.title, effect.about, notes).properties(description=_words(effect))


def _has_missing(effect: "Effect") -> bool:
    return any(
        _plain(values[-1]) is None
        for values, ordered in zip(effect.grid, effect.is_ordered, strict=True)
        if ordered
    )


def _cells(effect: "Effect") -> tuple[list[dict[str, Any]], list[Any]]:
    import altair as alt

    axes, ends = [], []
    for letter, name, values, ordered in zip(
        "xy", effect.columns, effect.grid, effect.is_ordered, strict=True
    ):
        channel = alt.X if letter == "x" else alt.Y
        if ordered:
            kind = "T" if values.dtype.kind == "M" else "Q"
            scale = alt.Scale(zero=False, nice=False)
            axes.append(channel(f"{letter}:{kind}", title=name, scale=scale, axis=alt.Axis(**AXIS)))
            ends.append(_edges(values))
        else:
            labels = [_MISSING if v is None else cut(str(v)) for v in values]
            axes.append(channel(f"{letter}:N", title=name, sort=labels))
            ends.append([(label, label) for label in labels])
    near = _near(effect)
    rows = [
        {
            "x": x,
            "x2": x2,
            "y": y,
            "y2": y2,
            "a": str(effect.grid[0][i]),
            "b": str(effect.grid[1][j]),
            "effect": float(effect.values[i, j]),
            "share": float(effect.shares[i, j]),
            "near": float(near[i, j]),
        }
        for i, (x, x2) in enumerate(ends[0])
        for j, (y, y2) in enumerate(ends[1])
        if x is not None and y is not None
    ]
    return rows, axes


def _near(effect: "Effect") -> NDArray[np.float64]:
    """Give the share of rows in each cell and its neighbours along ordered axes."""
    reach = [1 if ordered else 0 for ordered in effect.is_ordered]
    padded = np.pad(effect.shares, [(step, step) for step in reach])
    windows = np.lib.stride_tricks.sliding_window_view(padded, [2 * step + 1 for step in reach])
    return np.asarray(windows.sum(axis=(-2, -1)))


def _edges(values: NDArray[Any]) -> list[tuple[Any, Any]]:
    """Give the ends of the cell of each value: half-way to its neighbours."""
    dates = values.dtype.kind == "M"
    absent = np.isnat(values) if dates else np.isnan(values)
    numbers = values[~absent]
    numbers = numbers.astype("datetime64[us]").astype(np.float64) if dates else numbers
    if len(numbers) == 1:
        inner = np.array([numbers[0] - 0.5, numbers[0] + 0.5])
    else:
        middle = (numbers[1:] + numbers[:-1]) / 2
        inner = np.concatenate(
            [[1.5 * numbers[0] - 0.5 * numbers[1]], middle, [1.5 * numbers[-1] - 0.5 * numbers[-2]]]
        )
    kind = "T" if dates else "Q"
    ends = [_end(edge, kind) for edge in inner]
    cells: list[tuple[Any, Any]] = list(pairwise(ends))
    return cells + [(None, None)] * int(absent.sum())


def _words(effect: "Effect") -> str:
    """Say what the figure shows, for those who cannot see it."""
    low, high = float(effect.values.min()), float(effect.values.max())
    return f"{effect.title}: from {number(low)} to {number(high)}; {effect.about}"
