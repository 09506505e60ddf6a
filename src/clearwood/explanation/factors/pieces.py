"""Pieces of polynomials: what a curve is between its knots, exactly.

Splines, hinges and lines are polynomials between the knots of their bases. Values at four points of
a stretch determine a cubic one; the simplest that meets further points is kept, as noise in a
coefficient that should be zero would grow far from the data.
"""

from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats

__all__ = [
    "CHECKED",
    "NODES",
    "coefficients",
    "constant_of",
    "evaluated",
    "is_polynomial",
    "knots_of",
    "shifted",
    "trimmed",
]

_DEGREE = 3
#: Points of a stretch from -1 to 1 that determine a polynomial, and others that it has to meet.
NODES = np.cos(np.pi * (np.arange(_DEGREE, -1, -1) + 0.5) / (_DEGREE + 1))
CHECKED = np.concatenate([NODES, np.linspace(-1, 1, 13)])
_SOLVE = {n: np.linalg.pinv(np.vander(NODES, n, increasing=True)) for n in range(1, _DEGREE + 2)}
#: Attributes of the bases of readable models that say where their functions bend or step.
_BENDS = ("knots", "knot", "edges", "low", "high", "warp_from")


def knots_of(basis: Any) -> Floats:
    """Return where the functions of one column bend or step, as far as they have such places.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> knots_of(SimpleNamespace(knot=2.0, low=0.0, high=5.0))
    array([0., 2., 5.])
    """
    known = [np.ravel(getattr(basis, name, ())).astype(np.float64) for name in _BENDS]
    if len(getattr(basis, "warp_from", ())):
        # knots are on another scale then, where it is one
        known[0] = np.interp(known[0], basis.warp_to, basis.warp_from)
    known += [knots_of(part) for part in getattr(basis, "functions", ())]
    joined = np.unique(np.concatenate(known))
    return joined[np.isfinite(joined)]


def coefficients(values: Floats, tolerance: float) -> Floats:
    """Return coefficients of the simplest polynomials through values at the nodes.

    Parameters
    ----------
    values
        Of shape (stretches, nodes, others).
    tolerance
        By how much a polynomial may miss a value.

    Returns
    -------
    ndarray of shape (stretches, degree + 1, others)
        In the coordinate of the stretch, from -1 to 1.
    """
    result = np.einsum("in,cn...->ci...", _SOLVE[_DEGREE + 1], values)
    chosen = np.zeros(len(values), bool)
    for n in range(1, _DEGREE + 1):
        simple = np.einsum("in,cn...->ci...", _SOLVE[n], values)
        met = np.einsum("ni,ci...->cn...", np.vander(NODES, n, increasing=True), simple)
        off = np.abs(met - values).reshape(len(values), -1).max(axis=1)
        good = ~chosen & (off <= tolerance)
        result[good] = 0.0
        result[good, :n] = simple[good]
        chosen |= good
    return np.asarray(result)


def is_polynomial(values: Floats, tolerance: float) -> Bools:
    """Return for which stretches a polynomial meets values at the nodes and all points checked.

    ``values`` has the shape (stretches, points of `CHECKED`, others).
    """
    # at the ends of a stretch, a polynomial misses by more than at the nodes
    fitted = coefficients(values[:, : len(NODES)], tolerance / 8)
    met = np.einsum("ni,ci...->cn...", np.vander(CHECKED, _DEGREE + 1, increasing=True), fitted)
    off = np.abs(met - values).reshape(len(values), -1).max(axis=1)
    return np.asarray(off <= tolerance)


def shifted(coefficients: Floats, origin: Floats, scale: Floats) -> Floats:
    """Return polynomials in another coordinate u, where the old one is origin + scale · u.

    Parameters
    ----------
    coefficients
        Of shape (stretches, powers, others).
    origin, scale
        Of each stretch.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0, 1.0]])
    >>> shifted(square, np.array([1.0]), np.array([2.0]))  # (1 + 2u)²
    array([[1., 4., 4.]])
    """
    result = np.array(coefficients)
    n = result.shape[1]
    wide = (slice(None), *(None,) * (result.ndim - 2))
    for first in range(n - 1):  # by repeated synthetic division
        for k in range(n - 2, first - 1, -1):
            result[:, k] += origin[wide] * result[:, k + 1]
    for k in range(1, n):
        result[:, k] *= (scale**k)[wide]
    return result


def evaluated(coefficients: Floats, values: Floats) -> Floats:
    """Evaluate polynomials, whose powers are the last axis, row by row."""
    total = coefficients[..., -1]
    wide = (slice(None), *(None,) * (total.ndim - 1))
    for k in range(coefficients.shape[-1] - 2, -1, -1):
        total = total * values[wide] + coefficients[..., k]
    return np.asarray(total)


def trimmed(powers: Floats, n: int) -> Floats:
    """Leave out the highest powers, the last n axes, that no cell, the first n, has."""
    for at in range(n):
        own = np.moveaxis(powers, n + at, 0)
        used = [k for k in range(len(own)) if np.nanmax(np.abs(own[k]), initial=0.0) > 0]
        powers = np.take(powers, range(max(used, default=0) + 1), axis=n + at)
    return powers


def constant_of(n: int) -> tuple[Any, ...]:
    """Return the index of the coefficients of power 0, where the last n axes are of powers."""
    return (..., *(0,) * n)
