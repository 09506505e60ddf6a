"""Small weighted regressions of the truth on functions of the prediction."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from clearwood._shared.arrays import Floats
from clearwood.evaluation.pairs import Pairs
from clearwood.table import Task

__all__ = ["EDGE", "Fit", "Link", "fit_link", "link_of", "linked", "n_moved", "unlinked"]

Link = Literal["identity", "log", "logit"]

#: Probabilities of 0 and 1 have no finite log-odds, and zero no logarithm; they are moved by this.
EDGE = 1e-12
_STEPS = 50
_LONGEST_STEP = 5.0
_MOST_LEVERAGE = 0.9


def link_of(task: Task, predicted: Floats) -> Link:
    """Return the scale on which predictions of a task are compared with the truth.

    Log-odds for classes, numbers as they are for regression, and logarithms for counts and amounts,
    unless a prediction is not positive.

    Examples
    --------
    >>> link_of(Task.COUNT, np.array([0.5, 2.0])), link_of(Task.COUNT, np.array([-1.0, 2.0]))
    ('log', 'identity')
    """
    if task.is_classification:
        return "logit"
    return "identity" if task is Task.REGRESSION or bool((predicted <= 0).any()) else "log"


def linked(values: Floats, link: Link) -> Floats:
    """Return predictions on the scale of a link."""
    if link == "logit":
        return np.asarray(special.logit(np.clip(values, EDGE, 1 - EDGE)), dtype=np.float64)
    return np.log(np.maximum(values, EDGE)) if link == "log" else values


def n_moved(values: Floats, link: Link) -> int:
    """Return how many predictions have no finite value on the scale of a link and are moved.

    Examples
    --------
    >>> n_moved(np.array([0.0, 0.5, 1.0]), "logit"), n_moved(np.array([0.0, 1.0]), "identity")
    (2, 0)
    """
    if link == "identity":
        return 0
    return int(((values < EDGE) | ((values > 1 - EDGE) & (link == "logit"))).sum())


def unlinked(values: Floats, link: Link) -> Floats:
    """Return predictions on their own scale."""
    if link == "logit":
        return np.asarray(special.expit(values), dtype=np.float64)
    return np.exp(np.minimum(values, 700.0)) if link == "log" else values


@dataclass(frozen=True, eq=False)
class Fit:
    """A regression with its robust covariance.

    Parameters
    ----------
    coefficients
        Of the columns of the design.
    fitted
        The mean of each row.
    covariance
        By the sandwich formula over independent units, each left out in turn to first order; NaN
        where units are too few.
    influence
        Of each row on each coefficient, see `Estimate`; one column a coefficient.
    """

    coefficients: Floats
    fitted: Floats
    covariance: Floats
    influence: Floats


def fit_link(design: Floats, pairs: Pairs, link: Link, offset: Floats | float = 0.0) -> Fit | None:
    """Fit the truth by quasi-likelihood: squares, Poisson or binomial; None without a maximum.

    The first column of the design is constant.
    """
    weights = pairs.weights / pairs.weights.mean()
    line = _newton(design, pairs.truth, weights, link, offset)
    if line is None:
        return None
    fitted = unlinked(design @ line + offset, link)
    n, k = int(pairs.units.max()) + 1, design.shape[1]
    if n <= k:
        return Fit(line, fitted, np.full((k, k), np.nan), np.full(design.shape, np.nan))
    scores = (weights * (pairs.truth - fitted))[:, None] * design
    by_unit = np.column_stack([np.bincount(pairs.units, score) for score in scores.T])
    information = weights * _variance(fitted, link)
    bread = np.linalg.inv((design.T * information) @ design)
    # a unit that draws the curve to itself has a residual that is too small
    leverage = np.bincount(pairs.units, information * ((design @ bread) * design).sum(axis=1))
    by_unit = by_unit / (1 - np.minimum(leverage, _MOST_LEVERAGE))[:, None]
    influence = len(weights) * ((pairs.truth - fitted)[:, None] * design) @ bread
    return Fit(line, fitted, bread @ (by_unit.T @ by_unit) @ bread, influence)


def _variance(fitted: Floats, link: Link) -> Floats:
    """Return the variance that the quasi-likelihood gives a mean."""
    if link == "logit":
        return fitted * (1 - fitted)
    return fitted if link == "log" else np.ones(len(fitted))


def _newton(
    design: Floats, y: Floats, weights: Floats, link: Link, offset: Floats | float
) -> Floats | None:
    """Return the coefficients of largest quasi-likelihood; None where there are none."""
    mean = float(np.average(y, weights=weights))
    if (link != "identity" and mean <= 0) or (link == "logit" and mean >= 1):
        return None
    line = np.zeros(design.shape[1])
    line[0] = linked(np.array([mean]), link)[0] - np.average(offset + np.zeros(len(y)))
    for _ in range(_STEPS):
        fitted = unlinked(design @ line + offset, link)
        information = (design.T * (weights * _variance(fitted, link))) @ design
        if not np.isfinite(information).all() or np.linalg.cond(information) > 1e12:
            return None
        step = np.linalg.solve(information, design.T @ (weights * (y - fitted)))
        longest = float(np.abs(step).max())
        if link == "identity":
            return np.asarray(line + step)
        # steps from the constant fit can overshoot when predictions are far too extreme
        line = line + step * (_LONGEST_STEP / max(longest, _LONGEST_STEP))
        if longest < 1e-9:
            return np.asarray(line)
    return None
