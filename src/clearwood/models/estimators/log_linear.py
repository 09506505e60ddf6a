"""Generalised linear models with a log link, with the distribution inferred from the target."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import TweedieRegressor
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Setting, words

__all__ = ["DISTRIBUTIONS", "LogLinear"]

DISTRIBUTIONS = ("poisson", "gamma", "tweedie")


class LogLinear(RegressorMixin, BaseEstimator):
    """A generalised linear model whose coefficients multiply the mean.

    Parameters
    ----------
    distribution
        "poisson" for counts, "gamma" for positive amounts, "tweedie" for amounts with zeros;
        "auto" takes the gamma distribution where every target is positive, else Tweedie's.
    power
        Variance power of Tweedie's distribution, between 1 and 2.
    alpha
        Weight of the squared penalty.

    Attributes
    ----------
    model_ : TweedieRegressor
    distribution_ : str
    coef_ : ndarray
    intercept_ : float

    Examples
    --------
    >>> X = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> model = LogLinear(distribution="poisson", alpha=0.0).fit(X, [1, 3, 5, 3])
    >>> model.predict([[0.0], [1.0]]).round(3)
    array([2., 4.])
    """

    def __init__(
        self, *, distribution: str = "auto", power: float = 1.5, alpha: float = 1e-4
    ) -> None:
        self.distribution = distribution
        self.power = power
        self.alpha = alpha

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Check that the target suits the distribution, then fit."""
        target = np.asarray(y, dtype=np.float64)
        self.distribution_ = self._distribution(target)
        power = {"poisson": 1.0, "gamma": 2.0}.get(self.distribution_, self.power)
        self.model_ = TweedieRegressor(
            power=power, link="log", alpha=self.alpha, max_iter=2_000, tol=1e-6
        )
        self.model_.fit(X, target, sample_weight=sample_weight)
        self.coef_, self.intercept_ = self.model_.coef_, self.model_.intercept_
        self.n_features_in_ = self.model_.n_features_in_
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        check_is_fitted(self)
        predicted: Floats = self.model_.predict(X)
        return predicted

    def _distribution(self, target: Floats) -> str:
        chosen = self.distribution
        if chosen == "auto":
            chosen = "gamma" if target.min() > 0 else "tweedie"
        if chosen == "tweedie" and not 1 < self.power < 2:
            raise InputError(
                words(Setting("power", self.power), " is not between 1 and 2"),
                parameter="power",
                value=self.power,
                hint=words(
                    "use ",
                    Setting("distribution", "poisson"),
                    " for power 1 and ",
                    Setting("distribution", "gamma"),
                    " for power 2.",
                ),
            )
        if target.min() < 0:
            raise InputError(
                f"the log link needs targets of at least zero, and the smallest is "
                f"{target.min():g}",
                parameter="target",
                value=float(target.min()),
                hint="use 'ols' or 'ridge' for targets of either sign.",
            )
        if chosen == "gamma" and target.min() == 0:
            raise InputError(
                f"the gamma distribution needs positive targets, and "
                f"{np.count_nonzero(target == 0)} are zero",
                parameter="distribution",
                value="gamma",
                hint=words("use ", Setting("distribution", "tweedie"), ", which allows zeros."),
            )
        if not target.any():
            raise InputError(
                "every target is zero", parameter="target", hint="there is nothing to learn."
            )
        return chosen
