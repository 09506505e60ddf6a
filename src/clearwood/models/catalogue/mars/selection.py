"""Which terms of a forward pass stay: the backward pass with generalised cross-validation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.kernels import HINGE_KINDS, HingeSearch, search_hinges
from clearwood.models.catalogue.mars.bases import Factor, Hinge, InLevels, IsMissing

__all__ = ["Product", "Search", "Selection", "generalised_error", "prune"]

#: Columns, ascending, and the function of each.
Product = tuple[tuple[int, ...], tuple[Factor, ...]]


@dataclass(frozen=True, eq=False)
class Selection:
    """The terms that stay, their least-squares fit and its error.

    Parameters
    ----------
    products
        The terms but the constant.
    constant
        Of each response.
    coefficients
        Of shape (terms, responses).
    values
        The terms at the training rows, of shape (rows, terms).
    gcv, rss
        Generalised cross-validation error and residual sum of squares, over all responses.
    freedom
        Effective number of parameters.
    """

    products: tuple[Product, ...]
    constant: Floats
    coefficients: Floats
    values: Floats
    gcv: float
    rss: float
    freedom: float


def generalised_error(rss: float, n: float, terms: int, penalty: float) -> tuple[float, float]:
    """Return the GCV error RSS / n / (1 - C / n)² and C, the effective number of parameters.

    C counts the terms and, for each but the constant, half the ``penalty`` for choosing a knot.

    Examples
    --------
    >>> generalised_error(200.0, 100.0, 5, 3.0)
    (2.5249..., 11.0)
    """
    freedom = terms + penalty * (terms - 1) / 2
    if freedom >= n:
        return float("inf"), freedom
    return rss / n / (1 - freedom / n) ** 2, freedom


def prune(basis: Floats, response: Floats, n: float, penalty: float) -> Index:
    """Drop terms one at a time, the cheapest first, and return those of the least GCV error.

    Parameters
    ----------
    basis, response
        Of shape (terms, rows) and (rows, responses), times the root of the weight, responses less
        their means; the first term is the constant, which stays.
    n
        Number of rows that the weights stand for.
    penalty
        See `generalised_error`.
    """
    norms = np.sqrt(np.einsum("mn,mn->m", basis, basis))
    scaled = basis / norms[:, None]
    moments = scaled @ response
    total = float(np.sum(response**2))
    active = np.arange(len(basis))
    inverse = np.linalg.inv(scaled @ scaled.T + 1e-12 * np.eye(len(basis)))
    best, kept = np.inf, active[:1]
    while True:
        beta = inverse @ moments[active]
        rss = max(total - float(np.sum(beta * moments[active])), 0.0)
        error, _ = generalised_error(rss, n, len(active), penalty)
        if error < best:
            best, kept = error, active
        if len(active) == 1:
            return kept
        # removing term j raises the sum of squares by β_j² / (G⁻¹)_jj
        cost = np.sum(beta[1:] ** 2, axis=1) / np.diag(inverse)[1:]
        worst = int(np.argmin(cost)) + 1
        stay = np.arange(len(active)) != worst
        column = inverse[stay, worst]
        inverse = inverse[np.ix_(stay, stay)] - np.outer(column, column) / inverse[worst, worst]
        active = active[stay]


@dataclass(frozen=True, kw_only=True)
class Search:
    """The options of a search, forward and backward."""

    degree: int
    max_terms: int
    penalty: float
    threshold: float
    min_span: int
    end_span: int
    max_knots: int
    n_parents: int
    levels: NDArray[np.int32]
    ranges: Floats
    n_jobs: int = 1

    def __call__(self, X: Floats, response: Floats, weight: Floats) -> Selection:
        """Search for products and choose among them.

        Parameters
        ----------
        X
            Rows by columns; NaN is missing.
        response
            Of shape (rows, responses).
        weight
            How many rows each row stands for.
        """
        found = search_hinges(
            X,
            response,
            weight,
            levels=self.levels,
            max_terms=self.max_terms,
            degree=self.degree,
            threshold=self.threshold,
            min_span=self.min_span,
            end_span=self.end_span,
            max_knots=self.max_knots,
            n_parents=self.n_parents,
            n_jobs=self.n_jobs,
        )
        n, root = float(weight.sum()), np.sqrt(weight)[:, None]
        mean = np.average(response, axis=0, weights=weight)
        centred = root * (response - mean)
        kept = prune(found.basis, centred, n, self.penalty)
        design = found.basis[kept].T
        norms = np.sqrt(np.einsum("nm,nm->m", design, design))
        beta = np.linalg.lstsq(design / norms, centred, rcond=None)[0] / norms[:, None]
        rss = float(np.sum((centred - design @ beta) ** 2))
        gcv, freedom = generalised_error(rss, n, len(kept), self.penalty)
        return Selection(
            products=tuple(self._product(found, term) for term in kept[1:]),
            constant=beta[0] + mean,
            coefficients=beta[1:],
            values=design[:, 1:] / root,
            gcv=gcv,
            rss=rss,
            freedom=freedom,
        )

    def _product(self, found: HingeSearch, term: int) -> Product:
        """Collect a term's own function and those of the terms that it multiplies."""
        factors: dict[int, Factor] = {}
        while found.parent[term] >= 0:
            column = int(found.column[term])
            factors[column] = self._factor(found, term, column)
            term = found.parent[term]
        columns = tuple(sorted(factors))
        return columns, tuple(factors[column] for column in columns)

    def _factor(self, found: HingeSearch, term: int, column: int) -> Factor:
        """Describe the function that a term multiplies its parent by."""
        kind = HINGE_KINDS[found.kind[term]]
        if kind == "levels":
            return InLevels(found.subset[term, : self.levels[column] + 1].copy())
        if kind == "missing":
            return IsMissing()
        low, high = self.ranges[:, column]
        return Hinge(float(found.knot[term]), kind, float(low), float(high))  # type: ignore[arg-type]
