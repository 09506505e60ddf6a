"""Priors of coefficients: normal, independent, in the units of the columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Bools, Floats

__all__ = ["Prior", "Stated", "default_units", "least_scale"]

#: Position of a column, mean and standard deviation of its coefficient.
Stated = tuple[int, float, float]


@dataclass(frozen=True, eq=False)
class Prior:
    """Normal priors of the coefficients; the constant has a flat one.

    Parameters
    ----------
    mean, spread
        Of the coefficient of each column, for one unit of it.
    is_stated
        Whether they were stated by the user.
    """

    mean: Floats
    spread: Floats
    is_stated: Bools

    @classmethod
    def of(cls, units: Floats, stated: Sequence[Stated], scale: float) -> "Prior":
        """Put priors together: those stated, else zero give or take so many default units.

        Examples
        --------
        >>> Prior.of(np.array([0.5, 4.0]), [(1, 3.0, 1.0)], scale=2.0).spread
        array([1., 1.])
        """
        mean, spread = np.zeros(len(units)), scale * units
        is_stated = np.zeros(len(units), bool)
        for position, centre, deviation in stated:
            mean[position], spread[position] = centre, deviation
            is_stated[position] = True
        return cls(mean, spread, is_stated)


def least_scale(information: float, n_columns: int) -> float:
    """Return the least scale of default priors that the evidence may choose, in standard units.

    The evidence takes all effects together: a single strong one among small ones has too narrow a
    prior then, and an interval that covers it too rarely. With ten rows for each column or more,
    the least scale costs next to nothing; with fewer it is lower, since there a wide prior makes
    predictions worse.

    Parameters
    ----------
    information
        Of the constant, in rows whose noise is that of the unit.
    n_columns
        Columns with a default prior.

    Examples
    --------
    >>> least_scale(60, 4), least_scale(40, 16)
    (1.0, 0.5)
    """
    return float(min(1.0, np.sqrt(information / (10 * max(n_columns, 1)))))


def default_units(X: Floats, weight: Floats, unit: float) -> Floats:
    """Return what a coefficient is when a column moves the score by one unit.

    A column of numbers moves by its standard deviation, one of zeros and ones from one to the
    other.

    Examples
    --------
    >>> default_units(np.array([[0.0, 4.0], [1.0, 8.0]]), np.ones(2), 3.0)
    array([3. , 1.5])
    """
    share = weight / weight.sum()
    spread = np.sqrt(share @ (X - share @ X) ** 2)
    is_sign = ((X == 0) | (X == 1)).all(axis=0)
    return np.asarray(unit / np.where(is_sign | (spread <= 0), 1.0, spread))
