"""Discriminant analysis of scikit-learn where a class has a single row."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from clearwood._shared.errors import InputError

__all__ = ["LinearDiscriminant", "QuadraticDiscriminant"]

# the covariance that is shrunk is that of all classes, in which one row counts for little
_REMARK = "Only one sample available"


class LinearDiscriminant(LinearDiscriminantAnalysis):
    """Linear discriminant analysis, without scikit-learn's remark on a class with one row."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, without the remark."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _REMARK, UserWarning)
            super().fit(X, y)
        return self


class QuadraticDiscriminant(QuadraticDiscriminantAnalysis):
    """Quadratic discriminant analysis that says what to do about a class with one row."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, if each class has a covariance of its own."""
        if np.unique(y, return_counts=True)[1].min() == 1:
            raise InputError(
                "the rarest class has a single row, and thus no covariance of its own",
                parameter="target",
                hint="leave that class out, merge it with another, or take learner 'rda' or 'lda'.",
            )
        super().fit(X, y)
        return self
