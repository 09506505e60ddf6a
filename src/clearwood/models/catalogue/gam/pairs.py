"""Pairs of columns: products of their leading functions, and the search for those that matter."""

from collections.abc import Collection, Sequence
from itertools import combinations, pairwise

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.models.catalogue.gam.bases import SplineBasis
from clearwood.models.catalogue.gam.design import Design, Term
from clearwood.models.catalogue.gam.fitting import Fit
from clearwood.models.catalogue.gam.smoothness import RHO_LIMIT, criterion
from clearwood.models.shared.response import FAMILIES, FamilyName

__all__ = ["pair_term", "screen", "weak_pairs"]

#: Functions of each column in a pair, and in the search for pairs.
LEADING, SCREENED = 6, 4
#: Categories with more levels are not searched.
MOST_LEVELS = 12
#: Level of the test over all pairs together.
LEVEL = 0.01
#: A pair whose removal raises the criterion by less is removed.
LEAST_GAIN = 2.0


def _leading(term: Term, most: int) -> tuple[Index, Floats, Bools]:
    """Return the smoothest functions of a term, their penalties, and which are straight."""
    basis = term.bases[0]
    if not isinstance(basis, SplineBasis):
        return np.arange(term.width), np.ones(term.width), np.zeros(term.width, bool)
    width = basis.transform.shape[1]
    # functions are in the order of their curvature
    kept = np.arange(min(width, most))
    bent = term.penalties[0][kept] if len(basis.knots) else np.zeros(len(kept))
    return kept, bent, bent == 0


def pair_term(design: Design, first: int, second: int) -> Term:
    """Make the term of a pair from the positions of its two terms in a design."""
    parts = design.terms[first], design.terms[second]
    (mine, bent, straight), (other, other_bent, other_straight) = (
        _leading(part, LEADING) for part in parts
    )
    diagonals = [
        np.repeat(bent, len(other)),
        np.tile(other_bent, len(mine)),
        np.outer(straight, other_straight).ravel().astype(float),
    ]
    penalties = [
        diagonal / np.exp(np.mean(np.log(diagonal[diagonal > 0])))
        for diagonal in diagonals
        if diagonal.any()
    ]
    bases = tuple(
        part.bases[0].leading(kept) if isinstance(part.bases[0], SplineBasis) else part.bases[0]
        for part, kept in zip(parts, (mine, other), strict=True)
    )
    return Term(
        "pair",
        (parts[0].columns[0], parts[1].columns[0]),
        bases,
        np.array(penalties),
        parts=(first, second),
        leading=(mine, other),
    )


def screen(
    design: Design,
    fit: Fit,
    y: Floats,
    weights: Floats,
    family: FamilyName,
    *,
    phi: float,
    most: int,
    left_out: Collection[int] = (),
) -> list[tuple[int, int]]:
    """Return the pairs that a model without pairs misses most, the strongest first.

    For every pair, the score statistic of the products of four functions of each side on the
    working residuals, compared with χ² at a level divided by the number of pairs.

    Parameters
    ----------
    design, fit, y, weights, family, phi
        The model without pairs.
    most
        Pairs to return at most.
    left_out
        Columns that may not be in a pair.
    """
    residual, weight = FAMILIES[family].working(y, design.score(fit.coefficients))
    weight = weight * weights
    candidates = [
        (i, design.rows_of(term)[:, _leading(term, SCREENED)[0]])
        for i, term in enumerate(design.terms)
        if term.kind in ("curve", "line", "levels")
        and term.columns[0] not in left_out
        and (term.kind != "levels" or term.width <= MOST_LEVELS)
    ]
    scored = []
    pairs = list(combinations(candidates, 2))
    for (i, left), (j, right) in pairs:
        score = (left * (weight * residual)[:, None]).T @ right
        variance = (left**2 * weight[:, None]).T @ right**2
        used = variance > 1e-8 * float(variance.max())
        statistic = float((score[used] ** 2 / variance[used]).sum()) / phi
        # indicators of levels add up to a constant, which takes one degree of freedom
        freedom = np.prod(
            [
                part.shape[1] - (term.kind == "levels" and len(term.penalties) > 0)
                for term, part in ((design.terms[i], left), (design.terms[j], right))
            ]
        )
        p = float(stats.chi2.sf(statistic, freedom))
        if p * len(pairs) < LEVEL:
            scored.append(((statistic - freedom) / np.sqrt(2 * freedom), (i, j)))
    return [pair for _, pair in sorted(scored, reverse=True)[:most]]


def weak_pairs(design: Design, fit: Fit, chosen: Sequence[Term]) -> list[Term]:
    """Return the pairs without which the criterion is hardly worse."""
    best = criterion(fit.working, fit.rho)
    weak = []
    ends = np.cumsum([0, *(len(term.penalties) for term in design.terms)])
    for term, (first, end) in zip(design.terms, pairwise(ends), strict=True):
        if term not in chosen:
            continue
        without = fit.rho.copy()
        without[first:end] = RHO_LIMIT
        if criterion(fit.working, without) - best < LEAST_GAIN:
            weak.append(term)
    return weak
