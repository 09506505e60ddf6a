"""Columns as bytes: numbers in bins, categories by their codes and in an order for each fold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError

__all__ = ["MOST_BINS", "Binned", "bin_columns", "category_orders"]

#: A byte has 256 values: one is for missing values, one stays free for the kernel.
MOST_BINS = 254
#: A level counts as if it had this many more rows with the mean of the target.
SMOOTH = 10.0


@dataclass(frozen=True, eq=False)
class Binned:
    """Columns in bins.

    Parameters
    ----------
    bins
        Columns by rows: 0 where missing, else the bin from 1 on; for categories, code + 1.
    n_bins
        The largest bin of each column.
    edges
        For numbers, the thresholds between bins: a value up to ``edges[b - 1]`` is in bin b or
        below. Empty for categories.
    """

    bins: NDArray[np.uint8]
    n_bins: NDArray[np.int32]
    edges: tuple[Floats, ...]


def bin_columns(matrix: Floats, categorical: Sequence[int] = ()) -> Binned:
    """Put the values of each column into at most 254 bins of similar numbers of rows.

    Examples
    --------
    >>> binned = bin_columns(np.array([[1.0], [5.0], [np.nan], [9.0]]))
    >>> binned.bins.ravel(), binned.edges[0]
    (array([1, 2, 0, 3], dtype=uint8), array([3., 7.]))
    """
    n_rows, n_columns = matrix.shape
    bins = np.zeros((n_columns, n_rows), np.uint8)
    n_bins = np.zeros(n_columns, np.int32)
    edges = []
    for column in range(n_columns):
        values = np.ascontiguousarray(matrix[:, column])
        known = ~np.isnan(values)
        if column in categorical:
            codes = values[known].astype(np.intp)
            if len(codes) and (codes.min() < 0 or codes.max() >= MOST_BINS):
                raise InputError(
                    f"column {column} has category codes outside 0 to {MOST_BINS - 1}",
                    parameter="X",
                    hint="encode categories with many levels as numbers.",
                )
            bins[column, known] = codes + 1
            cuts = np.zeros(0)
            n_bins[column] = codes.max(initial=-1) + 1
        else:
            cuts = _edges(values[known])
            bins[column, known] = np.searchsorted(cuts, values[known], side="left") + 1
            n_bins[column] = len(cuts) + 1
        edges.append(cuts)
    return Binned(bins, n_bins, tuple(edges))


def _edges(values: Floats) -> Floats:
    """Place thresholds halfway between neighbouring values, at quantiles if there are many."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) > MOST_BINS:
        reached = np.cumsum(counts)[:-1]
        wanted = np.linspace(0, len(values), MOST_BINS + 1)[1:-1]
        after = np.unique(np.clip(np.searchsorted(reached, wanted), 0, len(distinct) - 2))
    else:
        after = np.arange(len(distinct) - 1)
    below, above = distinct[after], distinct[after + 1]
    middle = below + (above - below) / 2
    # halfway between neighbouring floating-point numbers may round up to the upper one
    return np.asarray(np.where(middle < above, middle, below))


def category_orders(
    binned: Binned,
    targets: Floats,
    weights: Floats,
    fold_of_row: Index,
    n_folds: int,
    categorical: Sequence[int],
) -> NDArray[np.uint8]:
    """Order the levels of each category by their mean target among the rows each fold keeps.

    Means are smoothed towards the overall mean, so that levels with few rows stand in the middle.

    Parameters
    ----------
    binned
        The columns.
    targets
        Outputs by rows.
    weights, fold_of_row
        Of rows; the fold is the one that holds the row out.
    n_folds, categorical
        Number of folds, and positions of the categories.

    Returns
    -------
    ndarray of shape (folds, outputs, categories, 256)
        The place of each bin, from 1 on; bin 0 (missing) stays 0.
    """
    orders = np.zeros((n_folds, len(targets), len(categorical), 256), np.uint8)
    for place, column in enumerate(categorical):
        cell = fold_of_row * 256 + binned.bins[column]
        total = np.bincount(cell, weights, n_folds * 256).reshape(n_folds, 256)
        for output, target in enumerate(targets):
            mean = float(np.average(target, weights=weights))
            sums = np.bincount(cell, weights * (target - mean), n_folds * 256)
            sums = sums.reshape(n_folds, 256)
            # a fold keeps the rows that all others hold out
            smoothed = (sums.sum(axis=0) - sums) / (total.sum(axis=0) - total + SMOOTH)
            n_bins = int(binned.n_bins[column])
            ranks = np.argsort(np.argsort(smoothed[:, 1 : n_bins + 1], axis=1, kind="stable"))
            orders[:, output, place, 1 : n_bins + 1] = ranks + 1
    return orders
