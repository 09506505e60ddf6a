"""Summaries of training rows in which a row of weight 2 counts as two rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats

__all__ = ["Weight", "center_and_spread", "centers_and_spreads", "lower_median", "median"]

Weight = Floats | None


def median(values: Floats, weight: Weight) -> float:
    """Return the median; between two middle values, their mean.

    Examples
    --------
    >>> median(np.array([1.0, 2.0, 9.0]), None)
    2.0
    >>> median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 2.0]))
    5.5
    """
    if weight is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    half = reached[-1] / 2
    lower = np.searchsorted(reached, half, side="left")
    upper = np.searchsorted(reached, half, side="right")
    # with huge values, the mean of two halves does not overflow where half of a sum would
    return float(values[order[lower]] / 2 + values[order[upper]] / 2)


def lower_median(values: NDArray[Any], weight: Weight) -> Any:
    """Return the median or, between two middle values, the smaller: always one of the values.

    Examples
    --------
    >>> int(lower_median(np.array([3, 1, 2, 4]), None))
    2
    """
    if weight is None:
        middle = (len(values) - 1) // 2
        return np.partition(values, middle)[middle]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return values[order[np.searchsorted(reached, reached[-1] / 2, side="left")]]


def center_and_spread(values: Floats, weight: Weight) -> tuple[float, float]:
    """Return mean and standard deviation of the values that are known.

    The spread of a constant is infinite: dividing by it gives 0, and keeps NaN.

    Examples
    --------
    >>> center_and_spread(np.array([1.0, 3.0, np.nan]), None)
    (2.0, 1.0)
    """
    known = ~np.isnan(values)
    if not known.any():
        return 0.0, 1.0
    values = values[known]
    if values.min() == values.max():
        return float(values[0]), math.inf
    # in units of the largest value, so that squares of huge numbers do not overflow
    unit = float(np.abs(values).max())
    scaled = values / unit
    share = None if weight is None else weight[known]
    center = float(np.average(scaled, weights=share))
    spread = math.sqrt(float(np.average((scaled - center) ** 2, weights=share)))
    return unit * center, unit * spread if spread > 0 else math.inf


def centers_and_spreads(rows: Floats) -> tuple[Floats, Floats]:
    """Return what `center_and_spread` returns for each row of a matrix, to the last bit.

    Examples
    --------
    >>> centers_and_spreads(np.array([[1.0, 3.0], [2.0, 2.0]]))
    (array([2., 2.]), array([ 1., inf]))
    """
    rows = np.ascontiguousarray(rows)
    unit = np.abs(rows).max(axis=1)
    simple = (rows.min(axis=1) < rows.max(axis=1)) & np.isfinite(unit)
    unit = np.where(simple, unit, 1.0)
    scaled = rows / unit[:, None]
    center = scaled.mean(axis=1)
    spread = np.sqrt(((scaled - center[:, None]) ** 2).mean(axis=1))
    centers, spreads = unit * center, np.where(spread > 0, unit * spread, math.inf)
    for j in np.flatnonzero(~simple):
        centers[j], spreads[j] = center_and_spread(rows[j], None)
    return centers, spreads
