"""Logistic regression whose coefficients are not negative."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from clearwood._shared.arrays import Floats

__all__ = ["nonnegative_logistic"]

_NEWTON_STEPS = 25


def nonnegative_logistic(
    X: Floats, y: Floats, weight: Floats, *, l2: float
) -> tuple[float, Floats]:
    """Minimise the log loss plus l2/2 · Σ β² over an intercept and coefficients β ≥ 0.

    Parameters
    ----------
    X, y, weight
        Rows, 1 for events and 0 for others, and how many rows each stands for.
    l2
        The penalty, in rows.

    Returns
    -------
    intercept : float
    coefficients : ndarray

    Examples
    --------
    >>> X = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]])
    >>> intercept, beta = nonnegative_logistic(X, np.array([0.0, 1, 0, 1]), np.ones(4), l2=1.0)
    >>> beta.round(3)
    array([0.453, 0.   ])
    """
    design = np.column_stack([np.ones(len(X)), X])
    ridge = np.concatenate([[0.0], np.full(X.shape[1], l2)])

    def loss(beta: Floats) -> tuple[float, Floats]:
        score = design @ beta
        value = weight @ (np.logaddexp(0.0, score) - y * score) + ridge @ beta**2 / 2
        return float(value), design.T @ (weight * (expit(score) - y)) + ridge * beta

    share = weight @ y / weight.sum()
    start = np.concatenate([[np.log(share / (1 - share))], np.full(X.shape[1], 0.5)])
    bounds = [(None, None)] + [(0.0, None)] * X.shape[1]
    options = {"maxiter": 1_000, "ftol": 1e-13, "gtol": 1e-8}
    beta = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    beta = _polished(design, y, weight, ridge, beta)
    return float(beta[0]), beta[1:]


def _polished(design: Floats, y: Floats, weight: Floats, ridge: Floats, beta: Floats) -> Floats:
    """Take Newton steps with the coefficients that are not at their bound, as far as they hold."""
    free = np.concatenate([[True], beta[1:] > 0])
    own, penalty = design[:, free], ridge[free]
    current = beta[free]
    for _ in range(_NEWTON_STEPS):
        p = expit(own @ current)
        slope = own.T @ (weight * (p - y)) + penalty * current
        bend = own.T @ ((weight * p * (1 - p))[:, None] * own) + np.diag(penalty)
        try:
            step = np.linalg.solve(bend, slope)
        except np.linalg.LinAlgError:
            break
        nearer = current - step
        if not np.isfinite(nearer).all() or (nearer[1:] < 0).any() or np.abs(step).max() > 1.0:
            break
        current = nearer
        if np.abs(step).max() < 1e-13:
            break
    result = beta.copy()
    result[free] = current
    return result
