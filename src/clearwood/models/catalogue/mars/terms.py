"""Terms of MARS: functions of a column, their selection, and how far they vary."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.numbers import number
from clearwood.kernels import HINGE_KINDS, HingeSearch, search_hinges
from clearwood.models.shared.rows import in_levels
from clearwood.models.shared.score import ProductTerm, ScoreParts, Spread, SumOfProducts

__all__ = [
    "Draw",
    "Factor",
    "Hinge",
    "InLevels",
    "IsMissing",
    "Product",
    "Search",
    "Stacked",
    "TermSelection",
    "generalised_error",
    "prune",
    "spread_of_draws",
]


# The functions of one column that MARS multiplies.


@dataclass(frozen=True)
class Hinge:
    """A hinge max(0, x - knot) or max(0, knot - x), or the line x - knot; 0 where missing.

    Parameters
    ----------
    knot
        Where it is zero.
    shape
        "up", "down" or "line".
    low, high
        The range beyond which it is constant.

    Examples
    --------
    >>> Hinge(2.0, "up", 0.0, 5.0)(np.array([1.0, 3.0, 9.0, np.nan])).ravel()
    array([0., 1., 3., 0.])
    """

    knot: float
    shape: Literal["up", "down", "line"]
    low: float
    high: float

    def __call__(self, values: Floats) -> Floats:
        """Compute the function, of shape (rows, 1)."""
        from_knot = np.clip(values, self.low, self.high) - self.knot
        if self.shape == "down":
            from_knot = -from_knot
        if self.shape != "line":
            from_knot = np.maximum(from_knot, 0.0)
        return np.where(np.isnan(values), 0.0, from_knot)[:, None]

    def breaks(self) -> Floats:
        """Return the values between which the function is a straight line."""
        return np.unique([self.low, min(max(self.knot, self.low), self.high), self.high])

    def written(self, name: str, levels: tuple[str, ...] = ()) -> str:  # noqa: ARG002
        """Write the function of a column of this name."""
        knot = number(abs(self.knot), 4)
        if self.shape == "line":
            if knot == "0":
                return name
            return f"({name} {'−' if self.knot > 0 else '+'} {knot})"
        if self.shape == "up":
            inner = name if knot == "0" else f"{name} {'−' if self.knot > 0 else '+'} {knot}"
        else:
            inner = f"{'−' if self.knot < 0 and knot != '0' else ''}{knot} − {name}"
        return f"max(0, {inner})"


@dataclass(frozen=True, eq=False)
class InLevels:
    """One where a category is in a set of levels, else zero.

    Parameters
    ----------
    member
        For each code, and last for missing values and unseen levels, whether it is in the set.

    Examples
    --------
    >>> InLevels(np.array([True, False, True]))(np.array([0.0, 1.0, np.nan])).ravel()
    array([1., 0., 1.])
    """

    member: Bools

    def __call__(self, values: Floats) -> Floats:
        """Compute the indicator, of shape (rows, 1)."""
        return in_levels(self.member, values).astype(np.float64)[:, None]

    def codes_of_levels(self) -> Floats:
        """Return a code of each level, and one that is none of them."""
        return np.arange(len(self.member), dtype=np.float64)

    def written(self, name: str, levels: tuple[str, ...] = ()) -> str:
        """Write the indicator for a column of this name, with the names of its levels."""
        codes = np.flatnonzero(self.member[:-1])
        names = [levels[code] if code < len(levels) else str(code) for code in codes]
        if self.member[-1]:
            names.append("missing")
        return f"[{name} is {' or '.join(names)}]"


@dataclass(frozen=True)
class IsMissing:
    """One where the value is missing, else zero."""

    def __call__(self, values: Floats) -> Floats:
        """Compute the indicator, of shape (rows, 1)."""
        return np.isnan(values).astype(np.float64)[:, None]

    def breaks(self) -> Floats:
        """Return a value around which the function is constant, as it is for all that are known."""
        return np.zeros(1)

    def written(self, name: str, levels: tuple[str, ...] = ()) -> str:  # noqa: ARG002
        """Write the indicator for a column of this name."""
        return f"[{name} is missing]"


Factor = Hinge | InLevels | IsMissing


@dataclass(frozen=True, eq=False)
class Stacked:
    """Several functions of one column, side by side."""

    functions: tuple[Factor, ...]

    def __call__(self, values: Floats) -> Floats:
        """Compute the functions, of shape (rows, functions)."""
        return np.hstack([function(values) for function in self.functions])

    def breaks(self) -> Floats | None:
        """Return the values between which all functions are straight lines; None for levels."""
        every = [one.breaks() for one in self.functions if not isinstance(one, InLevels)]
        return np.unique(np.concatenate(every)) if len(every) == len(self.functions) else None


# Which terms of a forward pass stay: the backward pass with generalised cross-validation.


#: Columns, ascending, and the function of each.
Product = tuple[tuple[int, ...], tuple[Factor, ...]]


@dataclass(frozen=True, eq=False)
class TermSelection:
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

    def __call__(self, X: Floats, response: Floats, weight: Floats) -> TermSelection:
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
        return TermSelection(
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


# Bands around the effects of MARS: how far repeated searches differ.


#: Products, constants (one per output) and coefficients, of shape (products, outputs).
Draw = tuple[Sequence[Product], Floats, Floats]


def spread_of_draws(draws: Sequence[Draw]) -> Spread:
    """Describe how far models of bootstrap samples are from their mean.

    Parameters
    ----------
    draws
        The model of each sample.
    """
    count, n_outputs = len(draws), len(draws[0][1])
    # deviation d is (f_d - mean of all f) / sqrt(count - 1)
    centre = (np.eye(count) - 1 / count) / np.sqrt(count - 1)
    constant = np.zeros((n_outputs, count))
    curves: dict[int, list[tuple[Factor, Floats]]] = defaultdict(list)
    terms = []
    for draw, (products, constants, coefficients) in enumerate(draws):
        constant += np.outer(constants, centre[draw])
        for (columns, factors), beta in zip(products, coefficients, strict=True):
            parts = np.outer(beta, centre[draw]).ravel()
            if len(columns) == 1:
                curves[columns[0]].append((factors[0], parts))
            else:
                shape = (1,) * len(columns) + (-1,)
                terms.append(ProductTerm(columns, factors, parts.reshape(shape)))
    for column, functions in sorted(curves.items()):
        basis = Stacked(tuple(factor for factor, _ in functions))
        terms.append(ProductTerm((column,), (basis,), np.array([part for _, part in functions])))
    parts_ = ScoreParts(SumOfProducts(constant.ravel(), tuple(terms)))
    return Spread(parts_, count=count, freedom=count - 1.0, source="bootstrap")
