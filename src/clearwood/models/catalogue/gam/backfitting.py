"""Backfitting and local scoring: the same fit, one term at a time.

Each term is replaced by the penalised smooth of the residuals that the others leave, in turn, until
nothing changes; for other families than the gaussian, that is done for every working model
(Hastie & Tibshirani 1990). Slower than the direct solution, and equal to it.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.gam.design import Design
from clearwood.models.shared.response import FAMILIES, FamilyName

__all__ = ["backfit"]

MAX_ROUNDS, MAX_SCORINGS = 500, 50
TOLERANCE = 1e-9


def backfit(
    design: Design, y: Floats, weights: Floats, family: FamilyName, penalty: Floats
) -> tuple[Floats, int]:
    """Fit coefficients at known penalties.

    Parameters
    ----------
    design
        The terms.
    y, weights, family
        As in `fit_score`.
    penalty
        The penalty of each coefficient, Σ λ_k d_k.

    Returns
    -------
    coefficients, rounds
        The coefficients, and rounds over the terms in all.
    """
    kind = FAMILIES[family]
    beta, rounds = np.zeros(design.width), 0
    beta[0] = kind.score(float(np.average(y, weights=weights)))
    for _ in range(1 if kind.is_quadratic else MAX_SCORINGS):
        score = design.score(beta)
        residual, weight = kind.working(y, score)
        new, used = _additive(design, residual, weight * weights, penalty, beta)
        rounds += used
        moved = float(np.abs(design.score(new) - score).max())
        beta = new
        if moved < 1e-7:
            break
    return beta, rounds


def _additive(
    design: Design, residual: Floats, weight: Floats, penalty: Floats, start: Floats
) -> tuple[Floats, int]:
    """Smooth partial residuals term by term; ``residual`` is what ``start`` leaves."""
    beta, residual = start.copy(), residual.copy()
    columns = [design.rows_of(term) for term in design.terms]
    factors = []
    for matrix, at in zip(columns, design.at, strict=True):
        gram = matrix.T @ (matrix * weight[:, None])
        # a term without rows of any weight has nothing but its penalty
        factors.append(cho_factor(gram + np.diag(penalty[at] + 1e-12), lower=True))
    size = float(np.sqrt(np.average(residual**2, weights=weight))) or 1.0
    rounds, largest = 0, np.inf
    while rounds < MAX_ROUNDS and largest > TOLERANCE * size:
        rounds += 1
        step = float(np.average(residual, weights=weight))
        beta[0] += step
        residual -= step
        largest = abs(step)
        for matrix, at, factor in zip(columns, design.at, factors, strict=True):
            # the smooth of partial residuals, as a change of the term's last coefficients
            gradient = matrix.T @ (weight * residual) - penalty[at] * beta[at]
            change = cho_solve(factor, gradient)
            beta[at] += change
            moved = matrix @ change
            residual -= moved
            largest = max(largest, float(np.abs(moved).max(initial=0.0)))
    return beta, rounds
