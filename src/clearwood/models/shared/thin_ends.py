"""Thin ends: how far a column's rows support a curve.

A single row far beyond all others would decide where a curve ends. Where few rows lie behind a wide
gap, a curve is therefore constant beyond the gap: it goes a little way into it, the further the
more rows are behind.
"""

import numpy as np

from clearwood._shared.arrays import Floats

__all__ = ["REACH", "supported_range", "supported_ranges"]

#: How far a curve goes into a gap for each row behind it, as a share of the middle 90 % of rows.
REACH = 0.2
#: A column with fewer distinct values has no curve, and so no end of one.
FEWEST = 5


def supported_range(distinct: Floats, rows: Floats) -> tuple[float, float]:
    """Return the least and the greatest value at which a curve still changes.

    Parameters
    ----------
    distinct
        Distinct values, ascending, at least one.
    rows
        How many rows have each of them.

    Examples
    --------
    A row at 30 is far beyond the others, ten rows there would not be:

    >>> values = np.append(np.arange(20.0), 30.0)
    >>> supported_range(values, np.ones(21))
    (0.0, 23.68)
    >>> supported_range(values, np.append(np.ones(20), 10.0))
    (0.0, 30.0)
    """
    low, high = float(distinct[0]), float(distinct[-1])
    if len(distinct) < FEWEST:
        return low, high
    middle = (np.cumsum(rows) - rows / 2) / rows.sum()
    first, last = np.interp([0.05, 0.95], middle, distinct)
    span = float(last - first)
    if span <= 0:
        centre = np.average(distinct, weights=rows)
        span = float(np.sqrt(np.average((distinct - centre) ** 2, weights=rows)))
    below = np.cumsum(rows)[:-1]
    above = rows.sum() - below
    room = REACH * span * np.minimum(below, above)
    wide = np.diff(distinct) > room * (1 + 1e-9)
    upper, lower = np.flatnonzero(wide & (above <= below)), np.flatnonzero(wide & (below < above))
    if len(upper):
        high = float(distinct[upper[0]] + room[upper[0]])
    if len(lower):
        low = float(distinct[lower[-1] + 1] - room[lower[-1]])
    return low, high


def supported_ranges(matrix: Floats, rows: Floats | None = None) -> Floats:
    """Return the supported range of every column, of shape (2, columns).

    Parameters
    ----------
    matrix
        Rows by columns; missing values are left out, and a column without any value has the range
        from infinity to minus infinity.
    rows
        How many rows each row stands for.
    """
    rows = np.ones(len(matrix)) if rows is None else rows
    ranges = np.array([[np.inf], [-np.inf]]) * np.ones(matrix.shape[1])
    for column, values in enumerate(matrix.T):
        known = ~np.isnan(values) & (rows > 0)
        if known.any():
            distinct, codes = np.unique(values[known], return_inverse=True)
            ranges[:, column] = supported_range(
                distinct, np.bincount(codes, rows[known]).astype(np.float64)
            )
    return ranges
