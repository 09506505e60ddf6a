"""Which pairs of columns to combine: the best table of two by two cells on what curves leave.

For every pair, residuals and second derivatives are added up on a grid of bins. The statistic is
how much four cells gain over the better of two halves, at the best two thresholds (Lou and others
2013, the FAST screen).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.models.shared.binning import Binned

__all__ = ["chosen_pairs"]

#: Bins of a column on the grid.
GRID = 32


def chosen_pairs(
    binned: Binned, residuals: Floats, curvature: Floats, count: int, categorical: Sequence[int]
) -> Bools:
    """Return which pairs to keep, of shape (columns, columns), symmetric.

    Parameters
    ----------
    binned
        The columns.
    residuals, curvature
        Negative first and second derivatives of the loss, of shape (outputs, rows).
    count
        How many pairs to keep.
    categorical
        Positions of categories; their levels are ordered by their mean residual.
    """
    n_columns = len(binned.n_bins)
    gains = np.zeros((n_columns, n_columns))
    for g, h in zip(residuals, curvature, strict=True):
        codes = [
            _coarse(binned, column, g, h, is_category=column in categorical)
            for column in range(n_columns)
        ]
        for first, second in combinations(range(n_columns), 2):
            gains[first, second] += _gain(codes[first], codes[second], g, h)
    order = np.argsort(-gains, axis=None, kind="stable")[:count]
    kept = np.zeros((n_columns, n_columns), bool)
    kept.flat[order[gains.flat[order] > 0]] = True
    return kept | kept.T


def _coarse(
    binned: Binned, column: int, g: Floats, h: Floats, *, is_category: bool
) -> tuple[Index, int]:
    """Return the grid cell of each row, and how many there are; missing values have their own."""
    bins = binned.bins[column].astype(np.intp)
    counts = np.bincount(bins, minlength=256)
    if is_category:
        means = np.bincount(bins, g, 256) / (np.bincount(bins, h, 256) + 1.0)
        order = np.argsort(means, kind="stable")
    else:
        order = np.append(np.arange(1, 256), 0)
    reached = np.cumsum(counts[order])
    cell = np.empty(256, np.intp)
    cell[order] = np.minimum((reached - counts[order] / 2) * GRID / len(bins), GRID - 1)
    if not is_category and counts[0]:
        cell[0] = GRID
    used, compact = np.unique(cell[bins], return_inverse=True)
    return compact, len(used)


def _gain(first: tuple[Index, int], second: tuple[Index, int], g: Floats, h: Floats) -> float:
    """Return the largest gain of four cells over two halves."""
    (a, n_first), (b, n_second) = first, second
    if n_first < 2 or n_second < 2:
        return 0.0
    cell = a * n_second + b
    sums_g, sums_h = (
        np.bincount(cell, values, n_first * n_second)
        .reshape(n_first, n_second)
        .cumsum(axis=0)
        .cumsum(axis=1)
        for values in (g, h)
    )
    least = h.mean()
    corners_g, corners_h = _corners(sums_g), _corners(sums_h)
    four = sum(_score(x, y, least) for x, y in zip(corners_g, corners_h, strict=True))
    rows = _score(corners_g[0] + corners_g[1], corners_h[0] + corners_h[1], least) + _score(
        corners_g[2] + corners_g[3], corners_h[2] + corners_h[3], least
    )
    columns = _score(corners_g[0] + corners_g[2], corners_h[0] + corners_h[2], least) + _score(
        corners_g[1] + corners_g[3], corners_h[1] + corners_h[3], least
    )
    filled = np.min(corners_h, axis=0) > least
    return float(np.max(np.where(filled, four - np.maximum(rows, columns), 0.0)))


def _corners(sums: Floats) -> list[Floats]:
    """Return the four sums beside every pair of thresholds, from sums up to each cell."""
    upper_left = sums[:-1, :-1]
    upper_right = sums[:-1, -1:] - upper_left
    lower_left = sums[-1:, :-1] - upper_left
    return [
        upper_left,
        upper_right,
        lower_left,
        sums[-1, -1] - upper_left - upper_right - lower_left,
    ]


def _score(g: Floats, h: Floats, least: float) -> Floats:
    return np.asarray(g**2 / (h + 1e-3 * least))
