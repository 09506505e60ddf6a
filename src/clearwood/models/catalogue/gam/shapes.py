"""Curves that must rise, fall or bend one way: linear constraints on B-spline coefficients.

A cubic spline rises where its B-spline coefficients do, and bends upwards where the coefficients of
its derivative rise. With the smoothing parameters kept, the constrained fit is a quadratic program
with few constraints, whose dual is a non-negative least-squares problem.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.gam.bases import DEGREE, SplineBasis
from clearwood.models.catalogue.gam.design import Design

__all__ = ["Projection", "constraint_rows"]


def constraint_rows(
    design: Design, *, monotone: Sequence[int] = (), bend: Sequence[int] = ()
) -> Floats:
    """Return the rows C of the constraints Cβ ≥ 0.

    Parameters
    ----------
    design
        The terms.
    monotone
        For each column of the matrix 1 (rising), -1 (falling) or 0; or nothing.
    bend
        For each column 1 (convex), -1 (concave) or 0; or nothing.
    """
    blocks = [np.zeros((0, design.width))]
    for term, at in zip(design.terms, design.at, strict=True):
        (column, *others), basis = term.columns, term.bases[0]
        if others or not isinstance(basis, SplineBasis) or not basis.transform.shape[1]:
            continue
        width = basis.transform.shape[1]
        rows = []
        if len(monotone) and monotone[column]:
            rows.append(monotone[column] * _rises(basis))
        if len(bend) and bend[column] and len(basis.knots):
            rows.append(bend[column] * _bends(basis))
        for some in rows:
            block = np.zeros((len(some), design.width))
            # rows of one length, so that no constraint weighs more than another
            size = np.linalg.norm(some, axis=1, keepdims=True)
            block[:, at.start : at.start + width] = some / np.maximum(size, 1e-300)
            blocks.append(block)
    return np.vstack(blocks)


def _rises(basis: SplineBasis) -> Floats:
    """Return differences of neighbouring B-spline coefficients, or the slope of a line."""
    return np.diff(basis.transform, axis=0) if len(basis.knots) else basis.transform


def _bends(basis: SplineBasis) -> Floats:
    """Return differences of neighbouring coefficients of the derivative."""
    gaps = basis.knots[DEGREE + 1 : -1] - basis.knots[1 : -DEGREE - 1]
    return np.diff(np.diff(basis.transform, axis=0) / gaps[:, None], axis=0)


class Projection:
    """The nearest coefficients that keep the constraints, in the metric of the fit.

    Parameters
    ----------
    rows
        C of the constraints Cβ ≥ 0.
    inverse
        Inverse of the penalised Gram matrix.
    """

    def __init__(self, rows: Floats, inverse: Floats) -> None:
        self.rows = rows
        self.back = inverse @ rows.T
        dual = rows @ self.back
        ridge = 1e-12 * max(float(np.trace(dual)), 1e-300)
        self.factor = np.linalg.cholesky(dual + ridge * np.eye(len(rows)))

    def __call__(self, beta: Floats) -> Floats:
        """Project coefficients."""
        slack = self.rows @ beta
        if not len(slack) or slack.min() >= 0:
            return beta
        # a hair above zero, so that rounding of the curve cannot turn it round
        margin = 1e-8 * float(np.abs(slack).max())
        target = -np.linalg.solve(self.factor, slack - margin)
        multipliers = nnls(self.factor.T, target)[0]
        return np.asarray(beta + self.back @ multipliers)
