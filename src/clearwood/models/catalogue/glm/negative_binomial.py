"""Negative binomial regression: counts whose variance grows with the square of their mean.

A count Y with exposure e has the mean m = e exp(η) and the variance m + θ m². The coefficients and
θ are those of the largest likelihood (NB2; Cameron and Trivedi 2013, section 3.3), found in turn:
they are orthogonal, so that few rounds are enough.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlogy

from clearwood._shared.arrays import Floats
from clearwood._shared.messages import tell

__all__ = ["NegativeBinomial", "fit_negative_binomial"]

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
        What half the squared coefficients are multiplied by, beside the log-likelihood divided by
        the number of events.
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
