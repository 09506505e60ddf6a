"""How much predictions depend on protected columns: two shares of their variance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from clearwood._shared.arrays import Floats
from clearwood._shared.results import Result
from clearwood.fairness.gaps.pieces import Pieces

__all__ = ["Dependence", "dependence_of", "proxy_discrimination", "unfairness"]


@dataclass(frozen=True)
class Dependence(Result):
    """Proxy discrimination and unfairness of predictions, as shares of their variance.

    Parameters
    ----------
    proxy_discrimination
        PD: the share of the variance of the predictions that no weighted mean over groups of a
        model of the world explains; 0 for a discrimination-free price.
    unfairness
        UF: the share of the variance of the predictions that lies between the groups.
    """

    proxy_discrimination: float
    unfairness: float


def unfairness(predicted: Floats, pieces: Pieces) -> float:
    """Return the share of the variance of predictions that lies between groups.

    Constant predictions have none.
    """
    spread = _variance(predicted, pieces.weights)
    between = pieces.means(predicted)[pieces.groups.which]
    return 0.0 if spread <= 0 else _variance(between, pieces.weights) / spread


def proxy_discrimination(predicted: Floats, members: Floats, weights: Floats) -> float:
    """Return how far predictions are from every mean over groups of the model of the world.

    With ``μ_d(x)`` the prediction of a row as a member of group ``d``, it is the least value of
    ``Var(π - Σ_d v_d μ_d) / Var π`` over weights ``v`` of 0 or more whose sum is at most 1
    (Lindholm, Richman, Tsanakas and Wüthrich 2026).

    Parameters
    ----------
    predicted
        The predictions ``π``.
    members
        The predictions ``μ_d`` of a model that has the protected columns: (rows, groups).
    weights
        How much each row counts.

    Examples
    --------
    >>> members = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.5]])
    >>> even, price = np.ones(3) / 3, members @ [0.5, 0.5]
    >>> round(proxy_discrimination(price, members, even), 12)
    0.0
    """
    spread = _variance(predicted, weights)
    if spread <= 0:
        return 0.0
    share = weights / weights.sum()
    centred = members - share @ members
    left = (predicted - share @ predicted) / np.sqrt(spread)
    scaled = centred / np.sqrt(spread)
    cross = scaled.T @ (share[:, None] * scaled)
    with_left = scaled.T @ (share * left)

    def value(v: Any) -> float:
        return float(1 - 2 * v @ with_left + v @ cross @ v)

    def slope(v: Any) -> Any:
        return 2 * (cross @ v - with_left)

    groups = members.shape[1]
    starts = [np.full(groups, 1 / groups), *np.eye(groups), np.zeros(groups)]
    best = min(map(value, starts))
    first = min(starts, key=value)
    result = minimize(
        value,
        first,
        jac=slope,
        bounds=[(0, 1)] * groups,
        constraints={
            "type": "ineq",
            "fun": lambda v: 1 - v.sum(),
            "jac": lambda v: -np.ones_like(v),
        },
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return float(np.clip(min(best, result.fun), 0, 1))


def dependence_of(predicted: Floats, members: Floats, pieces: Pieces) -> Dependence:
    """Return proxy discrimination and unfairness of predictions."""
    size = float(np.abs(predicted).max()) or 1.0
    predicted, members = predicted / size, members / size  # squares of the least numbers are 0
    return Dependence(
        proxy_discrimination(predicted, members, pieces.weights), unfairness(predicted, pieces)
    )


def _variance(values: Floats, weights: Floats) -> float:
    """Return the weighted variance, 0 where it is nothing but rounding."""
    mean = float(np.average(values, weights=weights))
    spread = float(np.average((values - mean) ** 2, weights=weights))
    return 0.0 if spread <= 1e-24 * max(mean**2, 1e-300) else spread
