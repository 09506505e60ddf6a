"""Linear regression in steps, one more feature at a time."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LassoLars, OrthogonalMatchingPursuit
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood.models.shared.independent import independent_columns

__all__ = ["StepwiseLars", "StepwiseOMP"]


class _Stepwise(RegressorMixin, BaseEstimator):
    """What the two stepwise regressions share.

    Steps are chosen by correlations, so every column is brought to the same spread first. Columns
    that depend on others are left out: they add nothing, and with them scikit-learn's path can run
    away (on one table to an R² of −2,000).
    """

    def __init__(self, *, n_nonzero_coefs: int = 10) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Take the wanted number of steps, or as many as there are columns."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self.n_features_in_ = X.shape[1]
        kept = independent_columns(X)
        self.coef_ = np.zeros(X.shape[1])
        if len(kept) and np.ptp(y) > 0:
            spread = X[:, kept].std(axis=0)
            steps = min(self.n_nonzero_coefs, len(kept), max(1, len(y) - 1))
            model = self._model(steps).fit((X[:, kept] - X[:, kept].mean(axis=0)) / spread, y)
            self.coef_[kept] = np.ravel(model.coef_) / spread
        self.intercept_ = float(y.mean() - X.mean(axis=0) @ self.coef_)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        check_is_fitted(self)
        predicted: Floats = np.asarray(X, dtype=np.float64) @ self.coef_
        return predicted + self.intercept_

    def _model(self, steps: int) -> Any:
        raise NotImplementedError


class StepwiseLars(_Stepwise):
    """Least angle regression with the lasso's modification, stopped after some steps.

    A coefficient that reaches zero leaves again, which keeps the path exact: without it,
    scikit-learn's ``Lars`` does not end at least squares on every table.

    Parameters
    ----------
    n_nonzero_coefs
        Number of steps; at most as many coefficients are not zero.

    Attributes
    ----------
    coef_ : ndarray
    intercept_ : float

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> StepwiseLars(n_nonzero_coefs=1).fit(X, [3.0, -3.0, 1.0, -1.0]).coef_
    array([2., 0.])
    """

    def _model(self, steps: int) -> Any:
        return LassoLars(alpha=0.0, max_iter=steps)


class StepwiseOMP(_Stepwise):
    """Orthogonal matching pursuit, stopped after some steps.

    Parameters
    ----------
    n_nonzero_coefs
        Number of steps, which is the number of coefficients that are not zero.

    Attributes
    ----------
    coef_ : ndarray
    intercept_ : float

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> StepwiseOMP(n_nonzero_coefs=1).fit(X, [3.0, -3.0, 1.0, -1.0]).coef_
    array([3., 0.])
    """

    def _model(self, steps: int) -> Any:
        return OrthogonalMatchingPursuit(n_nonzero_coefs=steps)
