"""Generalised linear models with a log link, with the distribution inferred from the target."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlogy
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import TweedieRegressor
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.messages import tell
from clearwood.models.shared.newton import RowLoss, minimum, sums_over

__all__ = ["DISTRIBUTIONS", "LogLinear", "NegativeBinomial", "fit_negative_binomial"]


# Negative binomial regression: counts whose variance grows with the square of their mean.
#
# A count Y with exposure e has the mean m = e exp(η) and the variance m + θ m². The coefficients
# and θ are those of the largest likelihood (NB2; Cameron and Trivedi 2013, section 3.3), found in
# turn: they are orthogonal, so that few rounds are enough.


#: Ends of the search for the logarithm of θ; at the lower one the distribution is Poisson's.
_ENDS = (-14.0, 7.0)
_MOST_ROUNDS = 100
_MOST_STEPS = 100
_MOST_HALVINGS = 30
_CONVERGED = 1e-10


@dataclass(frozen=True, eq=False)
class NegativeBinomial:
    """A fitted model: coefficients of the columns, the constant, θ and the log-likelihood."""

    coefficients: Floats
    intercept: float
    overdispersion: float
    log_likelihood: float


def fit_negative_binomial(
    X: Floats,
    y: Floats,
    weights: Floats,
    exposure: Floats,
    *,
    alpha: float = 0.0,
    name: str = "glm",
) -> NegativeBinomial:
    """Fit coefficients and θ by maximum likelihood.

    Parameters
    ----------
    X, y
        Columns, and counts or rates.
    weights
        How many times each row counts, times its exposure.
    exposure
        Of each row.
    alpha
        What half the squared coefficients are multiplied by, in addition to the log-likelihood
        divided by the number of events.
    name
        Of the learner, for a warning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ones = np.ones(2_000)
    >>> y = rng.poisson(2 * rng.gamma(2.0, 0.5, 2_000)).astype(float)
    >>> fit = fit_negative_binomial(np.zeros((2_000, 0)), y, ones, ones)
    >>> round(float(np.exp(fit.intercept)), 1), round(fit.overdispersion, 1)
    (2.0, 0.5)
    """
    used = weights > 0
    X, y, weights, exposure = X[used], y[used], weights[used], exposure[used]
    counts, times = y * exposure, weights / exposure
    events = float(times @ counts)
    penalty = np.full(X.shape[1] + 1, alpha * events)
    penalty[0] = 0.0
    # columns about their mean: the constant is then all but orthogonal to them
    centre = times @ X / times.sum()
    matrix = np.column_stack([np.ones(len(X)), X - centre])
    offset = np.log(exposure)
    beta = np.zeros(matrix.shape[1])
    beta[0] = np.log(events / float(weights.sum()))
    theta, last, is_done = 0.0, -np.inf, False
    for _ in range(_MOST_ROUNDS):
        beta = _coefficients(matrix, offset, counts, times, theta, penalty, beta)
        mean = np.exp(matrix @ beta + offset)
        best = minimize_scalar(
            lambda at, m=mean: -_log_likelihood(counts, m, times, float(np.exp(at))),
            bounds=_ENDS,
            method="bounded",
            options={"xatol": 1e-9},
        )
        theta = float(np.exp(best.x))
        now = -float(best.fun) - 0.5 * float(penalty @ beta**2)
        if abs(now - last) <= _CONVERGED * (1 + abs(now)):
            is_done = True
            break
        last = now
    if not is_done:
        tell(f"learner {name!r} did not converge to the largest likelihood of counts")
    beta = _coefficients(matrix, offset, counts, times, theta, penalty, beta)
    return NegativeBinomial(beta[1:], float(beta[0] - centre @ beta[1:]), theta, float(-best.fun))


def _log_likelihood(counts: Floats, mean: Floats, times: Floats, theta: float) -> float:
    if theta == 0:
        each = xlogy(counts, mean) - mean - gammaln(counts + 1)
    else:
        each = (
            gammaln(counts + 1 / theta)
            - gammaln(1 / theta)
            - gammaln(counts + 1)
            + xlogy(counts, theta * mean / (1 + theta * mean))
            - np.log1p(theta * mean) / theta
        )
    return float(times @ each)


def _coefficients(
    matrix: Floats,
    offset: Floats,
    counts: Floats,
    times: Floats,
    theta: float,
    penalty: Floats,
    beta: Floats,
) -> Floats:
    """Return the coefficients of the largest penalised likelihood at θ, by scoring."""

    def value(at: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.exp(matrix @ at + offset)
            fit = _log_likelihood(counts, mean, times, theta)
        return fit - 0.5 * float(penalty @ at**2)

    now = value(beta)
    for _ in range(_MOST_STEPS):
        mean = np.exp(matrix @ beta + offset)
        shrunk = times / (1 + theta * mean)
        gradient = matrix.T @ (shrunk * (counts - mean)) - penalty * beta
        information = matrix.T @ ((shrunk * mean)[:, None] * matrix) + np.diag(penalty)
        # columns that add up to the constant have no coefficients of their own
        ridge = 1e-11 * np.diag(information) + 1e-300
        step = cho_solve(cho_factor(information + np.diag(ridge)), gradient)
        gain = float(gradient @ step)
        if gain <= 1e-16 * (1 + abs(now)):
            break
        for _ in range(_MOST_HALVINGS):
            new = value(beta + step)
            if new >= now - 1e-13 * abs(now):
                break
            step = step / 2
        else:
            break
        beta, now = beta + step, new
    return beta


#: With more columns, second derivatives take longer than many steps without them.
_MOST_COLUMNS = 1_500

DISTRIBUTIONS = ("poisson", "negative-binomial", "gamma", "tweedie")


class LogLinear(RegressorMixin, BaseEstimator):
    """A generalised linear model whose coefficients multiply the mean.

    Parameters
    ----------
    distribution
        "poisson" for counts, "negative-binomial" for counts whose variance m + θ m² grows with the
        square of their mean m, "gamma" for positive amounts, "tweedie" for amounts with zeros;
        "auto" takes the gamma distribution where every target is positive, else Tweedie's.
    power
        Variance power of Tweedie's distribution, between 1 and 2.
    alpha
        Weight of the squared penalty, in addition to the mean deviance of the target divided by its
        mean: the unit of the target changes the intercept and nothing else.

    Attributes
    ----------
    model_ : TweedieRegressor
    distribution_ : str
    overdispersion_ : float
        θ of the negative binomial distribution, by maximum likelihood; zero for others.
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

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Check that the target suits the distribution, then fit.

        ``exposure`` is the part of the weights that is exposure, all of them when None: the
        variance of negative binomial counts depends on it.
        """
        matrix, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        target = np.asarray(target, dtype=np.float64)
        weight: Floats = _check_sample_weight(sample_weight, matrix, dtype=np.float64)
        self.distribution_ = self._distribution(target)
        self.overdispersion_ = 0.0
        if self.distribution_ == "negative-binomial":
            return self._fit_negative_binomial(matrix, target, weight, exposure)
        power = {"poisson": 1.0, "gamma": 2.0}.get(self.distribution_, self.power)
        # penalty and tolerance then mean the same in every unit
        mean = float(np.average(target, weights=weight))
        target = target / mean
        self.model_ = TweedieRegressor(
            power=power, link="log", alpha=self.alpha, max_iter=5_000, tol=1e-9
        )
        if matrix.shape[1] > _MOST_COLUMNS:
            self.model_.fit(matrix, target, sample_weight=weight)
        else:
            # the library's own solvers stop short of the minimum
            self.model_.fit(np.zeros((2, matrix.shape[1])), np.ones(2))
            curve = RowLoss("log", power)
            found = minimum(
                lambda coefficients, _: sums_over(matrix, target, weight, curve, coefficients),
                np.zeros(matrix.shape[1] + 1),
                float(self.alpha),
                name="glm",
            )
            self.model_.coef_, self.model_.intercept_ = found[:-1], float(found[-1])
        self.model_.intercept_ += np.log(mean)
        self.coef_, self.intercept_ = self.model_.coef_, self.model_.intercept_
        return self

    #: Targets are divided by their mean, and negative binomial counts need exposures as they are.
    takes_any_unit = True
    has_log_link = True

    def multiply(self, factor: float) -> None:
        """Multiply all predictions by a factor."""
        self.model_.intercept_ += np.log(factor)
        self.intercept_ = self.model_.intercept_

    def _fit_negative_binomial(
        self, matrix: Floats, target: Floats, weight: Floats, exposure: ArrayLike | None
    ) -> Self:
        shares = weight if exposure is None else np.asarray(exposure, np.float64)
        found = fit_negative_binomial(
            matrix, target, weight, np.where(weight > 0, shares, 1.0), alpha=float(self.alpha)
        )
        # predicts like a Poisson regression: the link is the same
        self.model_ = TweedieRegressor(power=1.0, link="log", alpha=self.alpha)
        self.model_.fit(np.zeros((2, matrix.shape[1])), np.ones(2))
        self.model_.coef_, self.model_.intercept_ = found.coefficients, found.intercept
        self.coef_, self.intercept_ = found.coefficients, found.intercept
        self.overdispersion_ = found.overdispersion
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
