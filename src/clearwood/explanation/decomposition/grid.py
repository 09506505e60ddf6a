"""The values of a column at which its effect is shown, and how many rows lie there."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.table import Column, Kind

__all__ = ["Grid", "grid_of"]


@dataclass(frozen=True, eq=False)
class Grid:
    """Chosen values of one column, each with a background row that has it.

    Only values that occur are shown: nothing is evaluated where there are no data in this
    column.

    Parameters
    ----------
    values
        Numbers, dates or, for categories, levels as written; the last one is None where values
        are missing (NaN and NaT for numbers and dates).
    rows
        A background row with that value.
    nearest
        For each background row, the position of the grid value it is nearest to.
    shares
        The share of the background's weight that is nearest to each value.
    is_ordered
        Whether the values lie on an axis (numbers and dates) rather than in a list.
    """

    values: NDArray[Any]
    rows: NDArray[np.intp]
    nearest: NDArray[np.intp]
    shares: Floats
    is_ordered: bool

    def __len__(self) -> int:
        return len(self.values)


def grid_of(column: Column, weights: Floats | None, most: int) -> Grid:
    """Choose values of a column: all of them, or quantiles where there are more than ``most``.

    Examples
    --------
    >>> age = Column("age", Kind.NUMBER, np.array([40.0, np.nan, 20.0, 40.0]))
    >>> grid = grid_of(age, None, 10)
    >>> grid.values, grid.shares
    (array([20., 40., nan]), array([0.25, 0.5 , 0.25]))
    """
    weight = np.ones(len(column)) if weights is None else weights
    counts = weight > 0  # a value that only rows of weight zero have does not occur
    missing = column.missing & counts
    present = np.flatnonzero(~column.missing & counts)
    ordered = not column.is_coded and column.kind is not Kind.TEXT
    values = column.values[present]
    if column.kind is Kind.TEXT:
        values = values.astype(str)
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    chosen = np.arange(len(distinct))
    if ordered and len(distinct) > most:
        chosen = _quantiles(np.bincount(inverse, weight[present]).astype(np.float64), most)
    nearest = np.zeros(len(column), np.intp)
    nearest[present] = _nearest(distinct, chosen)[inverse]
    nearest[missing] = len(chosen)
    rows = present[first[chosen]]
    if missing.any():
        rows = np.append(rows, np.flatnonzero(missing)[0])
    shares = np.bincount(nearest, weight, minlength=len(rows)) / weight.sum()
    return Grid(column.labels()[rows], rows, nearest, shares, ordered)


def _quantiles(weight: Floats, most: int) -> NDArray[np.intp]:
    """Return positions of distinct values at equal steps of rank, the smallest and largest too."""
    middle = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    wanted = np.linspace(0, 1, most)
    at = np.searchsorted(middle, wanted).clip(0, len(weight) - 1)
    return np.unique(np.concatenate([[0], at, [len(weight) - 1]]))


def _nearest(distinct: NDArray[Any], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each distinct value the position of the nearest chosen one."""
    if len(chosen) == len(distinct):
        return np.arange(len(distinct))
    kept = distinct[chosen]
    right = np.searchsorted(kept, distinct).clip(1, len(kept) - 1)
    left_is_nearer = distinct - kept[right - 1] <= kept[right] - distinct
    return np.asarray(right - left_is_nearer, np.intp)
