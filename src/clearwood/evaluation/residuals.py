"""Residuals of predicted numbers, and whether they depend on the prediction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import number
from clearwood._shared.results import Result, document
from clearwood._shared.weights import quantiles
from clearwood.evaluation.pairs import Pairs, bins_of

__all__ = ["Residuals", "residuals_of"]

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(Result):
    """Quantiles of the residuals (truth minus prediction), in bins of about equal weight.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    predicted
        The mean prediction in each bin, in increasing order.
    quantiles
        Of the residuals in each bin, of shape (bins, levels).
    levels
        Which quantiles.
    rows
        How many rows each bin holds.
    typical, large
        Half and nine tenths of all residuals are at most this large.
    bias
        The mean residual.
    is_weighted
        Whether rows count by their weight in means, quantiles and bins.
    n_zero_weight
        How many rows have the weight 0 and do not count.
    """

    learner: str
    what: str
    predicted: Floats
    quantiles: Floats
    levels: tuple[float, ...]
    rows: NDArray[np.int64]
    typical: float
    large: float
    bias: float
    is_weighted: bool = False
    n_zero_weight: int = 0

    def _columns(self) -> dict[str, Any]:
        quantiles = {
            f"quantile_{level:g}": self.quantiles[:, k] for k, level in enumerate(self.levels)
        }
        return {"predicted": self.predicted, **quantiles, "rows": self.rows}

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, with a list for every column of the frame."""
        names = ("learner", "what", "typical", "large", "bias", "is_weighted", "n_zero_weight")
        return document({**{name: getattr(self, name) for name in names}, **self._columns()})

    def plot(self) -> Any:
        """Draw the spread of the residuals against the prediction (Altair)."""
        from clearwood.plot import plot_residuals

        return plot_residuals(self)

    def __repr__(self) -> str:
        weighted = " (weighted)" if self.is_weighted else ""
        return (
            f"Residuals of {self.learner!r}, {self.what}{weighted}: half within "
            f"{number(self.typical)}, nine tenths within {number(self.large)}, mean "
            f"{number(self.bias)}"
        )


def residuals_of(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    bins: int = 12,
    learner: str = "",
    what: str = "target",
    weights: ArrayLike | None = None,
) -> Residuals:
    """Summarise the residuals of predictions.

    Parameters
    ----------
    y
        The truth.
    predicted
        Predictions of held-out rows.
    bins
        How many bins of the prediction, at most; rows with the same prediction stay together.
    learner, what
        Names for the result.
    weights
        Of the rows.

    Examples
    --------
    >>> residuals_of([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], bins=1)
    Residuals of '', target: half within 0.5, nine tenths within 1, mean 0.167
    """
    pairs = Pairs.of(y, predicted, weights)
    residuals, shares = pairs.truth - pairs.predicted, pairs.weights
    which = bins_of(pairs.predicted, bins, shares)
    rows = np.bincount(which)
    by_bin = [
        quantiles(residuals[own], _LEVELS, shares[own])
        for own in (which == k for k in range(len(rows)))
    ]
    typical, large = quantiles(np.abs(residuals), [0.5, 0.9], shares)
    return Residuals(
        learner=learner,
        what=what,
        predicted=np.bincount(which, shares * pairs.predicted) / np.bincount(which, shares),
        quantiles=np.array(by_bin),
        levels=_LEVELS,
        rows=rows,
        typical=float(typical),
        large=float(large),
        bias=float(np.average(residuals, weights=shares)),
        is_weighted=weights is not None,
        n_zero_weight=pairs.n_zero_weight,
    )
