"""Individual curves, centred at their start or as slopes."""

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.explanation.decomposition.grid import Grid

__all__ = ["centred_curves", "slopes"]


def centred_curves(found: Floats) -> Floats:
    """Measure every curve from its first value, so that only its shape is left.

    Examples
    --------
    >>> centred_curves(np.array([[[3.0], [5.0]], [[7.0], [8.0]]]))[..., 0]
    array([[0., 2.],
           [0., 1.]])
    """
    return found - found[:, :1]


def slopes(found: Floats, grid: Grid) -> Floats:
    """Give the slope of every curve at every value: differences to the neighbours.

    Slopes that differ between the curves show an interaction; the mean slope is what a linear
    summary would say. Dates count in days.

    Examples
    --------
    >>> values = np.array([0.0, 1.0, 3.0])
    >>> grid = Grid(values, np.arange(3), np.arange(3), np.ones(3) / 3, True)
    >>> slopes((values**2)[None, :, None], grid)[0, :, 0]
    array([1., 2., 4.])
    """
    if not grid.is_ordered:
        raise InputError("levels have no slope", hint="derivatives are for numbers and dates.")
    values = grid.values
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(np.float64) / 86_400e6
        values[np.isnat(grid.values)] = np.nan
    present = np.isfinite(values.astype(np.float64))
    if present.sum() < 2:
        raise InputError("a slope needs at least two values")
    made = np.full(found.shape, np.nan)
    # second-order differences: exact for parabolas inside, whatever the spacing
    made[:, present] = np.gradient(found[:, present], values[present].astype(np.float64), axis=1)
    return made
