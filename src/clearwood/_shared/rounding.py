"""The parts of a sum, told from what rounding leaves of nothing."""

from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats

__all__ = ["without_rounding"]

# A sum of n numbers is off by at most n units in the last place of their absolute sum. Parts are
# themselves sums, over trees or cells of a table: few have more than a thousand numbers.
_UNITS = 1024 * float(np.finfo(np.float64).eps)


def without_rounding(parts: Any, start: Any = 0.0, *, axis: int = -1) -> Floats:
    """Return the parts of sums, with zero for those that rounding alone can leave.

    A part is rounding if it is tiny beside everything that is added up: the start and all parts,
    by their absolute values. So there is no size below which every part is nothing. For what is
    shown to people; arithmetic keeps the parts as they are.

    Parameters
    ----------
    parts
        What is added to each start; the parts of one sum lie along ``axis``.
    start
        What the sums begin with, such as a mean prediction: of the shape of ``parts`` without
        ``axis``, or broadcast to it.
    axis
        Along which parts are added.

    Examples
    --------
    >>> without_rounding([2.0, -1.7e-16], 3.0)
    array([2., 0.])
    >>> without_rounding([2e-16, -1.7e-16])
    array([ 2.0e-16, -1.7e-16])
    """
    values = np.asarray(parts, np.float64)
    size = np.abs(values).sum(axis=axis) + np.abs(np.asarray(start, np.float64))
    return np.where(np.abs(values) <= _UNITS * np.expand_dims(size, axis), 0.0, values)
