"""Regression on a target brought to mean zero and variance one."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats

__all__ = ["StandardisedTarget"]


class StandardisedTarget(RegressorMixin, BaseEstimator):
    """Fit a regressor to the standardised target; predict on the target's own scale.

    A penalty, a tolerance or a learning rate then means the same for prices in cents as in
    millions, so one default and one tuning range serve every table. scikit-learn's
    ``TransformedTargetRegressor`` does the same but takes no row weights by name.

    Parameters
    ----------
    regressor
        The regressor to fit; it has to take row weights.

    Attributes
    ----------
    regressor_ : object
        The fitted regressor, on the standardised scale.
    mean_, scale_ : float
        Mean and standard deviation of the target.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> X = np.arange(6.0)[:, None]
    >>> euros = StandardisedTarget(Lasso(alpha=0.1)).fit(X, X.ravel())
    >>> cents = StandardisedTarget(Lasso(alpha=0.1)).fit(X, 100 * X.ravel())
    >>> bool(np.allclose(cents.predict(X), 100 * euros.predict(X)))
    True
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the scale of the target, then the regressor."""
        target = np.asarray(y, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.mean_ = float(np.average(target, weights=weights))
        spread = float(np.sqrt(np.average((target - self.mean_) ** 2, weights=weights)))
        self.scale_ = spread if spread > 0 else 1.0
        self.regressor_ = clone(self.regressor)
        self.regressor_.fit(X, (target - self.mean_) / self.scale_, sample_weight=weights)
        self.n_features_in_ = self.regressor_.n_features_in_
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict on the target's own scale."""
        check_is_fitted(self)
        predicted: Floats = np.ravel(self.regressor_.predict(X))
        return predicted * self.scale_ + self.mean_

    @property
    def coef_(self) -> Floats:
        """Coefficients on the target's own scale, where the regressor is linear."""
        coefficients: Floats = np.ravel(self.regressor_.coef_)
        return coefficients * self.scale_

    @property
    def intercept_(self) -> float:
        """Intercept on the target's own scale, where the regressor is linear."""
        return float(np.ravel(self.regressor_.intercept_)[0] * self.scale_ + self.mean_)
