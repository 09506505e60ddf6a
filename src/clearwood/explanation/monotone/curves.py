"""Whether a sum of curves and products of curves rises along one column, by bounds of derivatives.

Between the breaks of its bases a term is a polynomial of degree 3 at most in each column, so four
values along each axis determine it. In Bernstein's form, the coefficients of the derivative are
bounds of it; where they are not sharp enough, the stretch is halved.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.models import ProductTerm

__all__ = ["rises", "slope_terms"]

_DEPTH = 12
_NODES = np.array([0.0, 1 / 3, 2 / 3, 1.0])
#: From values at the four nodes to the coefficients of Bernstein's form of degree 3.
_TO_BERNSTEIN = np.linalg.inv(
    np.array([[(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s**2 * (1 - s), s**3] for s in _NODES])
)


@dataclass(frozen=True, eq=False)
class _Term:
    """One term along the column: its values on a grid, and stretches of the other column."""

    of: Callable[[Floats, Floats | None], Floats]
    stretches: tuple[tuple[float, float], ...] | None


def breaks_of(basis: Any) -> Floats | None:
    """Return the points between which the functions of a basis are polynomials; None if unknown."""
    method = getattr(basis, "breaks", None)
    breaks = None if method is None else method()
    return None if breaks is None else np.asarray(breaks, np.float64)


def slope_terms(
    terms: Sequence[ProductTerm], at: int, coefficients: Callable[[Floats], Floats]
) -> tuple[list[_Term], Floats] | None:
    """Return the terms of a column, and the breaks of their bases; None where they are not known.

    Parameters
    ----------
    terms
        Those in which the column occurs.
    at
        The column of the codes.
    coefficients
        From coefficients with an axis of outputs to those of the output that is looked at.
    """
    result, breaks = [], [np.empty(0)]
    for term in terms:
        place = term.columns.index(at)
        own = breaks_of(term.bases[place])
        if own is None or len(term.columns) > 2 or not len(own):
            return None
        breaks.append(own)
        matrix = coefficients(np.asarray(term.coefficients))
        if len(term.columns) == 1:
            result.append(_Term(_curve(term.bases[0], matrix), None))
            continue
        other = term.bases[1 - place]
        stretches = _stretches(other)
        if stretches is None:
            return None
        table = matrix if place == 0 else matrix.T
        result.append(_Term(_product(term.bases[place], other, table), stretches))
    return result, np.unique(np.concatenate(breaks))


def _curve(basis: Any, coefficients: Floats) -> Callable[[Floats, Floats | None], Floats]:
    return lambda values, _: np.asarray(basis(values) @ coefficients)[:, None]


def _product(basis: Any, other: Any, table: Floats) -> Callable[[Floats, Floats | None], Floats]:
    return lambda values, others: np.asarray(basis(values) @ table @ other(others).T)


def _stretches(basis: Any) -> tuple[tuple[float, float], ...] | None:
    """Return stretches of the other column, one of no length for a missing value or a level."""
    points = getattr(basis, "codes_of_levels", None)
    gap = ((np.nan, np.nan),)
    if points is not None:
        return (*((float(code), float(code)) for code in points()), *gap)
    breaks = breaks_of(basis)
    if breaks is None or not len(breaks):
        return None
    return (*pairwise(_outer(breaks).tolist()), *gap)


def _outer(breaks: Floats) -> Floats:
    """Add a stretch on either side; a straight line that goes on is seen there."""
    span = max(float(np.ptp(breaks)), 1e-3 * float(np.abs(breaks).max()), 1e-6)
    return np.concatenate([[breaks[0] - span], breaks, [breaks[-1] + span]])


def rises(terms: Sequence[_Term], breaks: Floats, *, tolerance: float) -> bool | None:
    """Return whether the sum of terms rises everywhere; None where that cannot be decided."""
    outer = _outer(breaks)
    for low, high in pairwise(outer.tolist()):
        if not _rises_between(terms, low, high, tolerance, _DEPTH):
            return None
    return True


def _rises_between(
    terms: Sequence[_Term], low: float, high: float, tolerance: float, depth: int
) -> bool:
    """Return whether the bounds of derivatives prove that the sum rises on a stretch."""
    values = low + (high - low) * _NODES
    # a break belongs to both sides: functions are continuous
    bound = sum(_least_slope(term, values) for term in terms)
    if bound >= -tolerance:
        return True
    middle = low / 2 + high / 2
    if depth == 0 or not low < middle < high:
        return False
    return all(
        _rises_between(terms, *ends, tolerance, depth - 1)
        for ends in ((low, middle), (middle, high))
    )


def _least_slope(term: _Term, values: Floats) -> float:
    """Return a lower bound of what a term changes by along the stretch of four values."""
    if term.stretches is None:
        return float(_slopes(term.of(values, None)).min())
    least = np.inf
    for low, high in term.stretches:
        if low == high or np.isnan(low):
            slopes = _slopes(term.of(values, np.array([low])))
        else:
            grid = term.of(values, low + (high - low) * _NODES)
            slopes = _slopes(grid) @ _TO_BERNSTEIN.T
        least = min(least, float(slopes.min()))
    return least


def _slopes(values: Floats) -> Floats:
    """Return the derivative's coefficients along the first axis, from values at the nodes."""
    return np.asarray(3 * np.diff(_TO_BERNSTEIN @ values, axis=0))
