"""Means over independent units whose rows are read in blocks."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats

__all__ = ["MeanOfUnits", "summed_by_unit"]


@dataclass(frozen=True)
class MeanOfUnits:
    """A weighted mean over units that were added up; what `Mean` is of arrays.

    Parameters
    ----------
    n
        Units with positive weight.
    total, weight_squares
        The sum of the weights of units, and that of their squares.
    mean
        The weighted mean.
    squares, fourths
        Sums of the second and of the fourth powers of what units add to the error of the mean: the
        unit's total of weight × value less the mean times its weight.
    """

    n: int
    total: float
    weight_squares: float
    mean: float
    squares: float
    fourths: float

    @property
    def size(self) -> float:
        """The number of units of equal weight that would be as exact."""
        return self.total**2 / self.weight_squares

    @property
    def variance(self) -> float:
        """Estimated variance of the mean; NaN for fewer than two units."""
        return self.n / (self.n - 1) / self.total**2 * self.squares if self.n > 1 else float("nan")

    @property
    def degrees(self) -> float:
        """Degrees of freedom of `variance` (Satterthwaite), as those of `Mean`."""
        most = float(max(self.n - 1, 1))
        # where rounding matters in this difference, the degrees are the most there can be
        noise = self.fourths - self.squares**2 / self.n
        return min(2 * self.squares**2 / noise, most) if noise > 0 else most


def summed_by_unit(pieces: Iterable[tuple[NDArray[np.uint64], Floats]], n_columns: int) -> Floats:
    """Add up rows by their unit, which may be in several pieces.

    Parameters
    ----------
    pieces
        Of some rows, the unit of each, and its values in columns.
    n_columns
        How many columns there are.

    Returns
    -------
    ndarray of shape (n_units, n_columns)

    Examples
    --------
    >>> units = np.array([7, 3, 7], np.uint64)
    >>> summed_by_unit([(units, np.array([[1.0], [2.0], [3.0]])), (units[:1], np.ones((1, 1)))], 1)
    array([[2.],
           [5.]])
    """
    units = np.empty(0, np.uint64)
    sums = np.empty((0, n_columns))
    waiting: list[tuple[NDArray[np.uint64], Floats]] = []

    def merged() -> tuple[NDArray[np.uint64], Floats]:
        every = np.concatenate([units, *(one for one, _ in waiting)])
        values = np.concatenate([sums, *(one for _, one in waiting)])
        found, places = np.unique(every, return_inverse=True)
        columns = [np.bincount(places, values[:, k], len(found)) for k in range(n_columns)]
        return found, np.column_stack(columns).astype(np.float64)

    for own, values in pieces:
        waiting.append((own, values))
        if sum(len(one) for one, _ in waiting) > max(len(units), 1 << 20):
            units, sums = merged()
            waiting.clear()
    return merged()[1]
