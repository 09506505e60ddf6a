"""Rows as sets, for distances between sets."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from clearwood._shared.arrays import Bools

__all__ = ["Membership"]


class Membership(TransformerMixin, BaseEstimator):
    """Represent each row by the set of its columns that are positive.

    It is for encoded tables: standardised numbers and indicators of 0 and 1. A row's set then holds
    its levels, and the numbers in which it is above average.

    Examples
    --------
    >>> Membership().fit_transform([[0.3, 0.0], [-0.3, 1.0]])
    array([[ True, False],
           [False,  True]])
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Remember the number of columns."""
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X: ArrayLike) -> Bools:
        """Return which columns are positive."""
        return np.asarray(X) > 0
