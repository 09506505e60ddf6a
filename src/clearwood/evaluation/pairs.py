"""Truth and predictions side by side: what every measure and curve is computed from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, bad_value
from clearwood._shared.weights import counted

__all__ = ["Pairs", "bins_of"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Truth and prediction of the rows that count, with their weights.

    Parameters
    ----------
    truth, predicted, weights
        Of each row with a weight above 0.
    units
        The independent observation that the row belongs to: its group, or itself.
    n_zero_weight
        How many rows were left out.
    """

    truth: Floats
    predicted: Floats
    weights: Floats
    units: Index
    n_zero_weight: int

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        predicted: ArrayLike,
        weights: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "Pairs":
        """Check that there are as many predictions as targets, and leave out rows of weight 0."""
        truth = np.asarray(y, dtype=np.float64).ravel()
        values = np.asarray(predicted, dtype=np.float64).ravel()
        if len(truth) != len(values) or not len(truth):
            raise InputError(
                f"there are {len(truth)} values of y, but {len(values)} predictions",
                parameter="predicted",
            )
        rows, shares = counted(weights, len(truth))
        units = np.arange(len(rows))
        if groups is not None:
            units = np.unique(np.asarray(groups)[rows], return_inverse=True)[1].astype(np.intp)
        return cls(truth[rows], values[rows], shares, units, len(truth) - len(rows))

    @property
    def dispersion(self) -> float:
        """The variance of observed totals as a multiple of what is expected, over all rows.

        It is about 1 for counts, and has the unit of the target: amounts vary by their size. NaN
        where the truth is negative somewhere or nowhere positive.
        """
        observed, expected = (
            float((self.weights * of).sum()) for of in (self.truth, self.predicted)
        )
        if (self.truth < 0).any() or not (observed > 0 and expected > 0):
            return float("nan")
        # in shares of the total, since the least numbers have no ratio
        gaps = self.weights * (self.truth - observed * (self.predicted / expected))
        return float((np.bincount(self.units, gaps) ** 2).sum() / observed)


def bins_of(predicted: Floats, bins: int, weights: Floats) -> NDArray[np.int64]:
    """Return bins of about equal weight; ties stay together, so there may be fewer."""
    if bins < 1:
        raise bad_value("bins", bins, "it must be 1 or more; 10 is usual")
    _, position = np.unique(predicted, return_inverse=True)
    of_value = np.bincount(position, weights)
    middle = np.cumsum(of_value) - of_value / 2
    # rounding must not move a value that lies exactly between two bins
    which = (middle / weights.sum() * bins + 1e-9).astype(np.int64)
    # numbered without gaps
    codes: NDArray[np.int64] = np.unique(np.minimum(which, bins - 1), return_inverse=True)[1]
    return codes[position].astype(np.int64)
