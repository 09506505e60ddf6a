"""Where the data lie along a column, drawn below its effect."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.frames import plain
from clearwood.plot.heat_map import edges
from clearwood.plot.style import AXIS, GREY, chart_of

__all__ = ["density"]

_WIDTH, _HEIGHT = 420, 36
#: Of more values than this a histogram is drawn: cells of few rows each would be ragged.
_MOST_CELLS = 60
_BINS = 40


def density(column: str, grid: NDArray[Any], shares: NDArray[np.float64]) -> Any:
    """Draw the share of the rows per width, which values at quantiles need.

    The grid has rising values of the column, missing ones last; the shares are those of the rows
    nearest to each.
    """
    import altair as alt

    kind = "T" if grid.dtype.kind == "M" else "Q"
    cells = [pair for pair in edges(grid) if pair[0] is not None]
    present = len(cells)
    numbers = grid[:present]
    numbers = numbers.astype("datetime64[us]").astype(np.float64) if kind == "T" else numbers
    if present <= _MOST_CELLS:
        result, widths = shares[:present], _widths(numbers)
    else:
        result, ends = np.histogram(numbers, _BINS, weights=shares[:present])
        widths = np.diff(ends)
        marks = [plain(np.datetime64(int(e), "us")) if kind == "T" else float(e) for e in ends]
        cells = list(pairwise(marks))
    rows = [
        {"low": low, "high": high, "density": float(share / width), "share": float(share)}
        for (low, high), share, width in zip(cells, result, widths, strict=True)
    ]
    return (
        chart_of(rows)
        .mark_rect(color=GREY, opacity=0.6)
        .encode(
            x=alt.X(
                f"low:{kind}",
                title=column,
                axis=alt.Axis(**AXIS),
                scale=alt.Scale(zero=False, nice=False),
            ),
            x2=alt.X2("high"),
            y=alt.Y(
                "density:Q",
                title="density",
                axis=alt.Axis(labels=False, ticks=False, grid=False),
            ),
            y2=alt.Y2Datum(0),
            tooltip=[alt.Tooltip("share:Q", format=".1%", title="share of the data")],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )


def _widths(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(numbers) == 1:
        return np.ones(1)
    middle = (numbers[1:] + numbers[:-1]) / 2
    return np.diff(np.concatenate([numbers[:1], middle, numbers[-1:]]))
