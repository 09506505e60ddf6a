"""How far predictions of numbers are off, and whether that depends on what was predicted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.frames import frame
from clearwood.benchmarking.diagnostics.calibration import _bins, _checked

__all__ = ["Residuals", "residuals_of"]

Array = NDArray[np.float64]
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False, repr=False)
class Residuals:
    """Quantiles of truth less prediction, in bins of about equally many rows.

    Parameters
    ----------
    learner, what
        Whose predictions, and of what.
    predicted
        The mean prediction in each bin, in increasing order.
    quantiles
        Of the residuals in each bin, of shape (bins, levels).
    levels
        Which quantiles.
    rows
        How many rows each bin holds.
    typical, large
        Half and nine tenths of all predictions are off by no more than this.
    bias
        The mean of truth less prediction.
    """

    learner: str
    what: str
    predicted: Array
    quantiles: Array
    levels: tuple[float, ...]
    rows: NDArray[np.int64]
    typical: float
    large: float
    bias: float

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row a bin, as a data frame."""
        columns: dict[str, list[Any]] = {"predicted": self.predicted.tolist()}
        for k, level in enumerate(self.levels):
            columns[f"quantile_{level:g}"] = self.quantiles[:, k].tolist()
        columns["rows"] = self.rows.tolist()
        return frame(columns, library)

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values."""
        numbers = {"typical": self.typical, "large": self.large, "bias": self.bias}
        return {"learner": self.learner, "what": self.what, **numbers, **self.to_frame("dict")}

    def plot(self) -> Any:
        """Draw the spread of the residuals against the prediction (Altair)."""
        from clearwood.plot.curves import plot_residuals

        return plot_residuals(self)

    def __repr__(self) -> str:
        return (
            f"Residuals of {self.learner!r}, {self.what}: half within {self.typical:.4g}, nine "
            f"tenths within {self.large:.4g}, mean {self.bias:.4g}"
        )


def residuals_of(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    bins: int = 12,
    learner: str = "",
    what: str = "target",
) -> Residuals:
    """Say how far predictions are off.

    Parameters
    ----------
    y
        The truth.
    predicted
        What was predicted, of rows that the learner had not seen.
    bins
        How many bins of the prediction, at most; rows of the same prediction stay together.
    learner, what
        For the result's words.

    Examples
    --------
    >>> residuals_of([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], bins=1)
    Residuals of '', target: half within 0.5, nine tenths within 0.9, mean 0.1667
    """
    truth, told = _checked(y, predicted)
    left = truth - told
    which = _bins(told, bins)
    rows = np.bincount(which)
    quantiles = np.array([np.quantile(left[which == k], _LEVELS) for k in range(len(rows))])
    return Residuals(
        learner=learner,
        what=what,
        predicted=np.bincount(which, told) / rows,
        quantiles=quantiles,
        levels=_LEVELS,
        rows=rows,
        typical=float(np.quantile(np.abs(left), 0.5)),
        large=float(np.quantile(np.abs(left), 0.9)),
        bias=float(left.mean()),
    )
