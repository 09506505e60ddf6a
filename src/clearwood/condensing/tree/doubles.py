"""Thresholds of models that compare in float32, as thresholds for doubles."""

from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.forest import Precision

__all__ = ["just_below", "last_double"]


def last_double(threshold: Floats, precision: Precision) -> Floats:
    """Return the largest double that is not above a threshold once it is rounded.

    A double goes left at the threshold exactly if it is not above this number, and no rounding is
    needed. A model that rounds to float32 moves its thresholds by up to half a unit.

    Examples
    --------
    >>> last_double(np.array([0.5]), "float64")
    array([0.5])
    >>> (last_double(np.array([0.5]), "float32") - 0.5).item()
    2.9802322387695312e-08
    """
    threshold = np.asarray(threshold, np.float64)
    if precision == "float64":
        return threshold
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
        # the largest float32 that is not above the threshold
        above = single.astype(np.float64) > threshold
        single = np.where(above, np.nextafter(single, np.float32(-np.inf)), single)
        following = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    this = single.astype(np.float64)
    # rounding to float32 overflows where a float32 of 2**128 would be the nearer
    following = np.where(np.isinf(following) & (following > 0), 2.0**128, following)
    # from -infinity, the last double that rounds to it mirrors the first that rounds to infinity
    this = np.where(np.isneginf(this), -(2.0**128), this)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (this + following) / 2
        tie = middle.astype(np.float32) > single
    last = np.where(tie, np.nextafter(middle, -np.inf), middle)
    return np.where(np.isposinf(single), np.inf, last)


def just_below(values: Floats, precision: Precision) -> Floats:
    """Return the largest double that is below each value once it is rounded."""
    dtype: Any = np.float32 if precision == "float32" else np.float64
    below = np.nextafter(np.asarray(values).astype(dtype), dtype(-np.inf)).astype(np.float64)
    return last_double(below, precision)
