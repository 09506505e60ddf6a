"""Weighted means of predictions, the weights non-negative and summing to one."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats

__all__ = ["SimplexClassifier", "SimplexRegressor"]

Objective = Callable[[Floats], tuple[float, Floats]]

# a held-out probability of zero would make every weight but zero infinitely bad
_SMALLEST = 1e-12


class SimplexRegressor(RegressorMixin, BaseEstimator):
    """The weighted mean of its columns with the smallest squared error.

    Attributes
    ----------
    weights_ : ndarray of shape (n_columns,)
        At least zero, summing to one.
    factor_ : float
        What the weighted mean is multiplied by, where the columns are in another unit.

    References
    ----------
    Rosso, notes on The Elements of Statistical Learning, section 5, equation (55).

    Examples
    --------
    >>> predictions = np.array([[0.0, 2.0], [2.0, 4.0], [4.0, 6.0]])
    >>> SimplexRegressor().fit(predictions, [0.5, 2.5, 4.5]).weights_.round(6)
    array([0.75, 0.25])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the weights of the columns; rows may have weights of their own."""
        columns, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        # centred and scaled by the target, so that the solver's tolerance suits every scale
        shares = _shares(sample_weight, len(target))
        centre = shares @ target
        scale = float(np.sqrt(shares @ (target - centre) ** 2)) or 1.0
        columns, target = (columns - centre) / scale, (target - centre) / scale

        def squared_error(weights: Floats) -> tuple[float, Floats]:
            residual = columns @ weights - target
            return float(shares @ residual**2), 2 * columns.T @ (shares * residual)

        self.weights_ = _on_simplex(squared_error, columns.shape[1])
        self.factor_ = 1.0
        self.n_features_in_ = columns.shape[1]
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Weighted mean of the columns."""
        check_is_fitted(self)
        mean: Floats = np.asarray(X, dtype=np.float64) @ self.weights_
        return mean * self.factor_


class SimplexClassifier(ClassifierMixin, BaseEstimator):
    """The weighted mean of members' probabilities with the smallest log loss.

    Columns are the members' probabilities side by side, as scikit-learn's ``StackingClassifier``
    gives them: of every class, or for two classes of the second only.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        At least zero, summing to one.

    Examples
    --------
    >>> probabilities = np.array([[0.9, 0.5], [0.2, 0.5], [0.8, 0.5]])
    >>> SimplexClassifier().fit(probabilities, [1, 0, 1]).weights_.round(6)
    array([1., 0.])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the weights of the members; rows may have weights of their own."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        members = self._members(X)
        of_truth = members[np.arange(len(codes)), :, codes]
        shares = _shares(sample_weight, len(codes))

        def log_loss(weights: Floats) -> tuple[float, Floats]:
            mixed = np.maximum(of_truth @ weights, _SMALLEST)
            return float(-shares @ np.log(mixed)), -shares @ (of_truth / mixed[:, None])

        self.weights_ = _on_simplex(log_loss, members.shape[1])
        self.n_features_in_ = np.shape(X)[1]
        return self

    def _members(self, X: ArrayLike) -> Floats:
        """Rows by members by classes."""
        columns = np.asarray(X, dtype=np.float64)
        if len(self.classes_) == 2:
            return np.stack([1 - columns, columns], axis=2)
        return columns.reshape(len(columns), -1, len(self.classes_))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Weighted mean of the members' probabilities."""
        check_is_fitted(self)
        mixed: Floats = np.einsum("rmk,m->rk", self._members(X), self.weights_)
        mixed /= mixed.sum(axis=1, keepdims=True)
        return mixed

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class."""
        likeliest: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return likeliest


def _shares(sample_weight: ArrayLike | None, n: int) -> Floats:
    """Return the share that each row has in a mean."""
    if sample_weight is None:
        return np.full(n, 1 / n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def _on_simplex(objective: Objective, n: int) -> Floats:
    """Minimise a convex function over the weights that are non-negative and sum to one."""
    optimum = minimize(
        objective,
        np.full(n, 1 / n),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"maxiter": 1_000, "ftol": 1e-12},
    )
    weights: Floats = np.clip(optimum.x, 0.0, 1.0)
    weights /= weights.sum()
    return weights
