"""Heat maps of two columns, and the values of a column as positions and cells of a figure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.frames import plain
from clearwood._shared.numbers import IN_TABLES, number
from clearwood.plot.style import chart_of, cut

__all__ = ["MISSING", "edges", "heat_map", "near_shares"]

MISSING = "missing"

_WIDTH, _HEIGHT = 340, 300
_PALE = 0.3


def edges(values: NDArray[Any]) -> list[tuple[Any, Any]]:
    """Return the ends of the cell of each value: half-way to its neighbours, and no farther.

    The first and the last cell end at their value, so that nothing is drawn beyond the data.
    Missing values have no cell: (None, None).

    Examples
    --------
    >>> edges(np.array([0.0, 1.0, 4.0, np.nan]))
    [(0.0, 0.5), (0.5, 2.5), (2.5, 4.0), (None, None)]
    """
    dates = values.dtype.kind == "M"
    absent = np.isnat(values) if dates else np.isnan(values)
    numbers = values[~absent]
    numbers = numbers.astype("datetime64[us]").astype(np.float64) if dates else numbers
    if len(numbers) == 1:
        inner = np.array([numbers[0] - 0.5, numbers[0] + 0.5])
    else:
        middle = (numbers[1:] + numbers[:-1]) / 2
        inner = np.concatenate([numbers[:1], middle, numbers[-1:]])
    ends = [plain(np.datetime64(int(end), "us")) if dates else float(end) for end in inner]
    cells: list[tuple[Any, Any]] = list(pairwise(ends))
    return cells + [(None, None)] * int(absent.sum())


def near_shares(shares: NDArray[np.float64], is_ordered: Sequence[bool]) -> NDArray[np.float64]:
    """Return the share of rows in each cell and its neighbours along ordered axes."""
    reach = [1 if ordered else 0 for ordered in is_ordered]
    padded = np.pad(shares, [(step, step) for step in reach])
    windows = np.lib.stride_tricks.sliding_window_view(padded, [2 * step + 1 for step in reach])
    return np.asarray(windows.sum(axis=(-2, -1)))


def heat_map(
    *,
    columns: Sequence[str],
    grid: Sequence[NDArray[Any]],
    is_ordered: Sequence[bool],
    values: NDArray[np.float64],
    shares: NDArray[np.float64],
    dotted: NDArray[np.bool_],
    colour: Any,
    title: Sequence[str],
) -> Any:
    """Draw two columns against each other in cells of equal size, pale where no rows are near.

    Parameters
    ----------
    columns, grid, is_ordered
        The two columns, their values, and whether these have an order.
    values, shares
        At each pair of values, what is shown and the share of the rows.
    dotted
        Pairs that are marked with a dot: there the values rely on rows outside the data.
    colour
        The colour scale.
    title
        Of the legend, line by line.
    """
    import altair as alt

    labels = [_labels(own) for own in grid]
    near = near_shares(shares, is_ordered)
    rows = [
        {
            "a": first,
            "b": second,
            "value": plain(float(values[i, j])),
            "share": float(shares[i, j]),
            "near": float(near[i, j]),
            "dotted": bool(dotted[i, j]),
        }
        for i, first in enumerate(labels[0])
        for j, second in enumerate(labels[1])
    ]
    # numbers rise to the right and upwards, levels are read from left and top
    upwards = labels[1][::-1] if is_ordered[1] else labels[1]
    x = alt.X("a:O", sort=labels[0], title=columns[0], axis=alt.Axis(labelOverlap="greedy"))
    y = alt.Y("b:O", sort=upwards, title=columns[1], axis=alt.Axis(labelOverlap="greedy"))
    cells = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=x,
            y=y,
            color=alt.Color("value:Q", title=list(title), scale=colour),
            opacity=alt.condition("datum.near > 0", alt.value(1.0), alt.value(_PALE)),
            tooltip=[
                alt.Tooltip("a:N", title=columns[0]),
                alt.Tooltip("b:N", title=columns[1]),
                alt.Tooltip("value:Q", format=".4g"),
                alt.Tooltip("share:Q", format=".2%", title="share of the data"),
            ],
        )
    )
    layers = [cells]
    if marked := [row for row in rows if row["dotted"]]:
        dots = chart_of(marked).mark_point(size=6, filled=True, color="black", opacity=0.7)
        layers.append(dots.encode(x=x, y=y))
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _labels(values: NDArray[Any]) -> list[str]:
    """Write values with as many digits as tell them apart; no two are the same."""
    if values.dtype.kind == "M":
        return [MISSING if np.isnat(value) else str(value)[:10] for value in values]
    if values.dtype.kind != "f":
        return [MISSING if value is None else cut(str(value)) for value in values]
    for digits in (IN_TABLES, 6, 9):
        labels = [MISSING if np.isnan(value) else number(value, digits) for value in values]
        if len(set(labels)) == len(labels):
            return labels
    return [MISSING if np.isnan(value) else repr(float(value)) for value in values]
