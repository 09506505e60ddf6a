"""Linear models that grow step by step: forward stagewise, least angles, matching pursuit."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LassoLars, OrthogonalMatchingPursuit
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Setting, bad_value
from clearwood._shared.weights import counted
from clearwood.models.shared.folds import Folds
from clearwood.models.shared.rows import check_real, check_size, check_whole, independent_columns

__all__ = ["StagewiseRegressor", "StepwiseLars", "StepwiseOMP"]


# Forward stagewise regression: many small steps, each along the column that fits best.


#: Points of the path that are kept and, in choosing the number of steps, compared.
_MOST_POINTS = 200


class StagewiseRegressor(RegressorMixin, BaseEstimator):
    """Linear regression by small steps (Hastie, Tibshirani and Friedman 2009, section 3.3.3).

    Columns and target are standardised. Each step adds ``epsilon`` to the size of the coefficient
    whose column correlates most with the residuals. For small steps the path is nearly the lasso's
    where coefficients do not turn back.

    Parameters
    ----------
    epsilon
        The size of a step: standard deviations of the target for one of the column.
    steps
        How many; the number with the least error in 10 folds when None.
    max_steps
        The most steps; the path also ends where a step lowers the error no more.
    random_state
        Fixes the folds.

    Attributes
    ----------
    coef_ : ndarray
    intercept_ : float
    steps_ : int
        The steps taken.
    path_ : dict
        Points of the path: ``steps``, ``coefficients``, ``intercept``, ``rss``, and with
        cross-validation ``cv`` and ``cv_error``, its standard error.
    chosen_ : int
        The position of the chosen number of steps in the path.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 3 * X[:, 2] + rng.normal(size=100)
    >>> StagewiseRegressor(steps=50).fit(X, y).coef_.round(1)
    array([0. , 0. , 1.6, 0. , 0. ])
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.01,
        steps: int | None = None,
        max_steps: int = 5_000,
        random_state: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.steps = steps
        self.max_steps = max_steps
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take the steps."""
        matrix, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self._check_settings()
        rows, weight = counted(sample_weight, len(target))
        matrix, target = matrix[rows], target[rows]
        check_size(target, weight)
        self.n_features_in_ = matrix.shape[1]
        last = self.max_steps if self.steps is None else self.steps
        every = max(1, -(-last // _MOST_POINTS))
        path = self._path(matrix, target, weight, last, every)
        if self.steps is None:
            path["cv"], path["cv_error"] = self._held_out(
                matrix, target, weight, every, len(path["steps"])
            )
            self.chosen_ = int(np.argmin(path["cv"]))
        else:
            self.chosen_ = len(path["steps"]) - 1
        self.path_ = path
        self.steps_ = int(path["steps"][self.chosen_])
        self.coef_ = path["coefficients"][self.chosen_].copy()
        self.intercept_ = float(path["intercept"][self.chosen_])
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        check_is_fitted(self)
        predicted: Floats = np.asarray(X, dtype=np.float64) @ self.coef_
        return predicted + self.intercept_

    def _check_settings(self) -> None:
        """Refuse settings that mean nothing."""
        if not check_real("epsilon", self.epsilon, 0.0, strict=True) < 1:
            raise bad_value("epsilon", self.epsilon, "it must lie between 0 and 1", kind=Setting)
        for name, value in (("steps", self.steps), ("max_steps", self.max_steps)):
            if value is not None:
                check_whole(name, value, 1)

    def _path(
        self, matrix: Floats, target: Floats, weight: Floats, last: int, every: int
    ) -> dict[str, Floats]:
        """Take steps and keep a point of the path after every few of them."""
        share = weight / weight.sum()
        centre, level = share @ matrix, float(share @ target)
        spread = np.sqrt(share @ (matrix - centre) ** 2)
        varies = spread > 1e-12 * np.maximum(1.0, np.abs(matrix).max(axis=0, initial=0.0))
        unit = np.sqrt(float(share @ (target - level) ** 2))
        scaled = np.where(varies, (matrix - centre) / np.where(varies, spread, 1.0), 0.0)
        correlations = (scaled * share[:, None]).T @ ((target - level) / (unit or 1.0))
        products = (scaled * share[:, None]).T @ scaled
        beta = np.zeros(matrix.shape[1])
        points, kept = [0], [beta.copy()]
        for step in range(1, last + 1):
            best = int(np.argmax(np.abs(correlations))) if len(beta) else 0
            # a step lowers the squared error by ε (2 |c| - ε)
            if not len(beta) or 2 * abs(correlations[best]) <= self.epsilon:
                break
            change = np.copysign(self.epsilon, correlations[best])
            beta[best] += change
            correlations -= change * products[:, best]
            if step % every == 0 or step == last:
                points.append(step)
                kept.append(beta.copy())
        else:
            step = last + 1
        if points[-1] != step - 1:  # the path ended between two points
            points.append(step - 1)
            kept.append(beta.copy())
        back = np.where(varies, unit / np.where(varies, spread, 1.0), 0.0)
        coefficients = np.stack(kept) * back
        residuals = (target - level)[:, None] - (matrix - centre) @ coefficients.T
        return {
            "steps": np.array(points),
            "coefficients": coefficients,
            "intercept": level - coefficients @ centre,
            "rss": weight @ residuals**2,
        }

    def _held_out(
        self, matrix: Floats, target: Floats, weight: Floats, every: int, n_points: int
    ) -> tuple[Floats, Floats]:
        """Return the mean squared error of held-out rows at each point, and its standard error."""
        squares = np.empty((len(target), n_points))
        for train, test in Folds(10, seed=self.random_state).split(matrix, target):
            path = self._path(matrix[train], target[train], weight[train], self.max_steps, every)
            point = np.minimum(np.arange(n_points), len(path["steps"]) - 1)
            fitted = matrix[test] @ path["coefficients"][point].T + path["intercept"][point]
            squares[test] = (target[test, None] - fitted) ** 2
        share = weight / weight.sum()
        mean = share @ squares
        return mean, np.sqrt((share**2) @ (squares - mean) ** 2)


# Linear regression in steps, one more feature at a time.


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
