"""Least angle regression and matching pursuit that stop where no column is left."""

import warnings
from typing import Self

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lars, OrthogonalMatchingPursuit

__all__ = ["StepwiseLars", "StepwiseOMP"]

# The indicator columns of a category add up to one, so the last of them always depends on the
# others: leaving it out loses nothing, and the reader can do nothing about it.
_PATH_ENDED = (
    "Regressors nearly degenerate",
    "Regressors in active set degenerate",
    "Early stopping the lars path",  # the residuals are as small as rounding
)


class StepwiseLars(Lars):
    """Least angle regression that leaves dependent columns out without a warning."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the path up to the wanted number of features."""
        with warnings.catch_warnings():
            for remark in _PATH_ENDED:
                warnings.filterwarnings("ignore", remark, ConvergenceWarning)
            super().fit(X, y)
        return self


class StepwiseOMP(OrthogonalMatchingPursuit):
    """Matching pursuit that stops at dependent columns without a warning."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Take the wanted number of steps, or fewer where the columns run out."""
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", r"\s*Orthogonal matching pursuit ended prematurely", RuntimeWarning
            )
            super().fit(X, y)
        return self
