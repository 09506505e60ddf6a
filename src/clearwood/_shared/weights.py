"""Weights of rows: whole weights give the results of repeated rows, and rows of weight 0 none."""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError

__all__ = ["checked_weights", "counted", "effective", "quantiles"]


@overload
def checked_weights(weights: None, n_rows: int, *, may_be_zero: bool = ...) -> None: ...
@overload
def checked_weights(weights: ArrayLike, n_rows: int, *, may_be_zero: bool = ...) -> Floats: ...
def checked_weights(
    weights: ArrayLike | None, n_rows: int, *, may_be_zero: bool = False
) -> Floats | None:
    """Return the weights of rows: one of each, finite, not negative and not all 0.

    Parameters
    ----------
    weights
        Of the rows; None stays None.
    n_rows
        How many rows there are.
    may_be_zero
        Whether all weights may be 0, as in one of several parts.

    Examples
    --------
    >>> checked_weights([1, -2], 2)
    Traceback (most recent call last):
    ...
    clearwood.InputError: the weight of row 1 is -2. Hint: weights must be finite and not negative.
    """
    if weights is None:
        return None
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_rows,):
        raise InputError(
            f"the weights have the shape {checked.shape}; there are {n_rows:,} rows",
            parameter="weights",
            hint="give one weight per row.",
        )
    bad = np.flatnonzero(~(checked >= 0) | ~np.isfinite(checked))
    if len(bad):
        raise InputError(
            f"the weight of row {bad[0]} is {checked[bad[0]]:g}",
            parameter="weights",
            value=float(checked[bad[0]]),
            hint="weights must be finite and not negative.",
        )
    if not may_be_zero and not checked.any():
        raise InputError(
            "every row has the weight 0",
            parameter="weights",
            hint="give at least one row a positive weight.",
        )
    return checked


def counted(weights: ArrayLike | None, n: int) -> tuple[Index, Floats]:
    """Return the positions of rows with a weight above 0, and these weights.

    Parameters
    ----------
    weights
        Of the rows; None counts every row once.
    n
        How many rows there are.

    Examples
    --------
    >>> counted([2.0, 0.0, 1.0], 3)
    (array([0, 2]), array([2., 1.]))
    """
    if weights is None:
        return np.arange(n), np.ones(n)
    checked = checked_weights(weights, n)
    rows = np.flatnonzero(checked)
    return rows, checked[rows]


def effective(weights: Floats, units: NDArray[Any] | None = None) -> float:
    """Return how many observations of equal weight would be as exact as these (Kish 1965).

    Parameters
    ----------
    weights
        Of the rows.
    units
        The observation that each row belongs to, as a code from 0 on; by default each is its own.

    Examples
    --------
    >>> effective(np.array([1.0, 1.0, 2.0])), effective(np.ones(4), np.array([0, 0, 1, 1]))
    (2.6666666666666665, 2.0)
    """
    totals = weights if units is None else np.bincount(units, weights)
    return float(totals.sum() ** 2 / (totals**2).sum())


def quantiles(values: ArrayLike, levels: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return quantiles: for each level, the smallest value with that share of the weight up to it.

    Where a value has exactly that share, it is the middle between it and the next one, so that the
    median of an even number of rows is the usual one.

    Examples
    --------
    >>> quantiles([1.0, 2.0, 4.0, 5.0], [0.5, 0.9])
    array([3., 5.])
    >>> quantiles([1.0, 4.0], [0.5], weights=[3, 1])
    array([1.])
    """
    numbers = np.asarray(values, dtype=np.float64)
    rows, shares = counted(weights, len(numbers))
    order = np.argsort(numbers[rows], kind="stable")
    ordered, up_to = numbers[rows][order], np.cumsum(shares[order])
    wanted = np.asarray(levels, dtype=np.float64) * up_to[-1]
    # sums of weights are exact only up to rounding
    below = np.searchsorted(up_to, wanted * (1 - 1e-12))
    above = np.searchsorted(up_to, wanted * (1 + 1e-12), side="right")
    last = len(ordered) - 1
    return np.asarray((ordered[np.minimum(below, last)] + ordered[np.minimum(above, last)]) / 2)
