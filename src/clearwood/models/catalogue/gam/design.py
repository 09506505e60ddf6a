"""The terms of a model over the training rows, and sums over these rows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np
from scipy.optimize import nnls

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import Setting, words
from clearwood._shared.messages import tell
from clearwood.models.catalogue.gam.bases import (
    DEGREE,
    Extrapolate,
    SplineBasis,
    level_basis,
    spline_basis,
)
from clearwood.models.shared.response import FAMILIES, FamilyName
from clearwood.models.shared.score import Basis
from clearwood.models.shared.thin_ends import supported_range

__all__ = [
    "DENSE_CELLS",
    "Design",
    "Projection",
    "Term",
    "build_design",
    "constraint_rows",
    "warn_of_certain_levels",
]


#: Up to this many cells the matrix of all functions at all rows is held.
DENSE_CELLS = 8_000_000
#: Above it, a column of numbers is replaced by the means of this many bins.
BINS = 256
#: B-splines of a column are fewer than set where all columns together had more than this multiple
#: of the rows, but not fewer than the least number.
MOST_FUNCTIONS, FEWEST = 1.5, 6
#: Rows of a pair's products that are made at a time.
BLOCK = 8_192

Kind = Literal["curve", "line", "levels", "missing", "pair"]


@dataclass(frozen=True, eq=False)
class Term:
    """One term: its functions, penalties and values at the training rows.

    Parameters
    ----------
    kind
        A curve, a line, levels, only an indicator of missing values, or a pair of columns.
    columns
        Positions in the matrix.
    bases
        The functions of each column.
    penalties
        Diagonals of its penalties, of shape (penalties, functions).
    table, codes
        For a single column: the functions at distinct values, and each row's position among them.
    parts, leading
        For a pair: the positions of its two terms in the design, and which of their functions.
    """

    kind: Kind
    columns: tuple[int, ...]
    bases: tuple[Basis, ...]
    penalties: Floats
    table: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    codes: Index = field(default_factory=lambda: np.zeros(0, np.intp))
    parts: tuple[int, ...] = ()
    leading: tuple[Index, ...] = ()

    @property
    def width(self) -> int:
        """Number of coefficients."""
        return int(self.penalties.shape[1])


@dataclass(frozen=True, eq=False)
class Design:
    """All terms over the training rows; the intercept is the first coefficient.

    Parameters
    ----------
    terms
        Single columns first, then pairs.
    n_rows
        Rows.
    matrix
        Every function at every row, the constant first; None where that is too large.
    at_thin_ends
        Positions of the rows that lie beyond the range in which some curve changes.
    """

    terms: tuple[Term, ...]
    n_rows: int
    matrix: Floats | None
    at_thin_ends: Index = field(default_factory=lambda: np.zeros(0, np.intp))

    @property
    def at(self) -> tuple[slice, ...]:
        """The coefficients of each term."""
        ends = accumulate((term.width for term in self.terms), initial=1)
        return tuple(slice(first, end) for first, end in pairwise(ends))

    @property
    def width(self) -> int:
        """Number of coefficients, the intercept included."""
        return 1 + sum(term.width for term in self.terms)

    @property
    def penalties(self) -> Floats:
        """The diagonals as columns, of shape (coefficients, penalties)."""
        columns = []
        for term, at in zip(self.terms, self.at, strict=True):
            for diagonal in term.penalties:
                column = np.zeros(self.width)
                column[at] = diagonal
                columns.append(column)
        return np.reshape(columns, (len(columns), self.width)).T.copy()

    @property
    def of_levels(self) -> Index:
        """Positions of the penalties of levels and of missing values."""
        found: list[int] = []
        start = 0
        for term in self.terms:
            n = len(term.penalties)
            if term.kind in ("levels", "missing"):
                found += range(start, start + n)
            elif n and term.kind != "pair" and getattr(term.bases[0], "has_missing", False):
                found += [start + k for k in range(n) if not term.penalties[k, :-1].any()]
            start += n
        return np.array(found, np.intp)

    def take(self, rows: Index) -> "Design":
        """Keep some of the rows; the functions stay those of all rows."""
        if self.matrix is not None:
            return replace(self, n_rows=len(rows), matrix=self.matrix[rows])
        kept = tuple(
            term if term.kind == "pair" else replace(term, codes=term.codes[rows])
            for term in self.terms
        )
        return Design(kept, len(rows), None)

    def functions(self) -> Floats:
        """Return every function at every row, the constant first."""
        if self.matrix is not None:
            return self.matrix
        columns = [self.rows_of(term) for term in self.terms]
        return np.hstack([np.ones((self.n_rows, 1)), *columns])

    def with_pairs(self, pairs: Sequence[Term]) -> "Design":
        """Add pairs."""
        return _held(
            replace(self, terms=(*self.terms, *pairs), matrix=None), dense=self.matrix is not None
        )

    def score(self, beta: Floats) -> Floats:
        """Return the score of every row."""
        if self.matrix is not None:
            return np.asarray(self.matrix @ beta)
        total = np.full(self.n_rows, beta[0])
        for one in range(len(self.terms)):
            total += self.term_values(one, beta)
        return total

    def term_values(self, one: int, beta: Floats) -> Floats:
        """Return what one term adds to every row."""
        term, at = self.terms[one], self.at[one]
        if self.matrix is not None:
            return np.asarray(self.matrix[:, at] @ beta[at])
        beta = beta[at]
        if term.kind != "pair":
            return np.asarray((term.table @ beta)[term.codes])
        first, second = (self.terms[part] for part in term.parts)
        mine, other = term.leading
        square = beta.reshape(len(mine), len(other))
        grid = first.table[:, mine] @ square @ second.table[:, other].T
        return np.asarray(grid[first.codes, second.codes])

    def rows_of(self, term: Term, rows: slice | Index = slice(None)) -> Floats:
        """Return the functions of one term at rows."""
        if term.kind != "pair":
            return np.asarray(term.table[term.codes[rows]])
        left, right = (
            self.terms[part].table[:, leading][self.terms[part].codes[rows]]
            for part, leading in zip(term.parts, term.leading, strict=True)
        )
        return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))

    def moment(self, values: Floats) -> Floats:
        """Return Xᵀv."""
        if self.matrix is not None:
            return np.asarray(values @ self.matrix)
        out = np.zeros(self.width)
        out[0] = values.sum()
        for term, at in zip(self.terms, self.at, strict=True):
            if term.kind == "pair":
                first, second = (self.terms[part] for part in term.parts)
                sums = _cross_table(first, second, values)
                mine, other = term.leading
                out[at] = (first.table[:, mine].T @ sums @ second.table[:, other]).ravel()
            else:
                out[at] = np.bincount(term.codes, values, len(term.table)) @ term.table
        return out

    def gram(self, weights: Floats) -> Floats:
        """Return XᵀWX."""
        if self.matrix is not None:
            scaled = self.matrix * np.sqrt(weights)[:, None]
            return np.asarray(scaled.T @ scaled)
        gram = np.zeros((self.width, self.width))
        gram[0, 0] = weights.sum()
        singles = [
            (term, at) for term, at in zip(self.terms, self.at, strict=True) if term.kind != "pair"
        ]
        for i, (term, at) in enumerate(singles):
            sums = np.bincount(term.codes, weights, len(term.table))
            gram[at, 0] = sums @ term.table
            gram[at, at] = term.table.T @ (sums[:, None] * term.table)
            for other, there in singles[:i]:
                table = _cross_table(term, other, weights)
                gram[at, there] = term.table.T @ (table @ other.table)
        if len(singles) < len(self.terms):
            self._add_pairs(gram, weights)
        lower = np.tril(gram)
        return np.asarray(lower + np.tril(lower, -1).T)

    def _add_pairs(self, gram: Floats, weights: Floats) -> None:
        """Fill the lower triangle of the rows that belong to pairs."""
        singles = [term for term in self.terms if term.kind != "pair"]
        start = self.at[len(singles)].start
        for first in range(0, self.n_rows, BLOCK):
            rows = slice(first, min(first + BLOCK, self.n_rows))
            block = np.hstack([self.rows_of(term, rows) for term in self.terms])
            of_pairs = block[:, start - 1 :] * weights[rows, None]
            gram[start:, 0] += of_pairs.sum(axis=0)
            gram[start:, 1:] += of_pairs.T @ block


def _cross_table(first: Term, second: Term, weights: Floats) -> Floats:
    """Add up weights by the positions of rows in two terms."""
    n, m = len(first.table), len(second.table)
    return _sums(first.codes * m + second.codes, weights, n * m).reshape(n, m)


def _sums(codes: Index, weights: Floats, n: int) -> Floats:
    """Add up weights by code."""
    sums: Floats = np.bincount(codes, weights, n).astype(np.float64, copy=False)
    return sums


def build_design(
    matrix: Floats,
    *,
    categorical: Sequence[int] = (),
    weights: Floats | None = None,
    n_splines: int = 20,
    shrink: bool = True,
    parametric: Collection[int] = (),
    extrapolate: Extrapolate = "constant",
    unwarped: Collection[int] = (),
    bins: int | None = None,
    exposure: Floats | None = None,
    ends: Floats | None = None,
) -> Design:
    """Build the functions of every column from all rows; columns without any are left out.

    Parameters
    ----------
    matrix
        Rows, with NaN where a value is missing.
    categorical
        Positions of columns of category codes.
    weights
        Of rows; those of weight zero have no part in the functions.
    n_splines, shrink, parametric, extrapolate
        As in `GamRegressor`.
    unwarped
        Columns that keep their own scale even if their tails are heavy.
    bins
        Replace the values of a column by the means of this many bins; None decides by the size of
        the matrix of all functions.
    exposure
        The part of the weights that does not count rows; None where there is none.
    ends
        The values between which the curve of each column changes, of shape (2, columns); where
        rows support it when None.
    """
    weights = np.ones(len(matrix)) if weights is None else weights
    rows = max(float(weights.sum()), float((weights > 0).sum()))
    repeats = weights if exposure is None else weights / np.maximum(exposure, 1e-300)
    # of weights below one only the ratios matter
    repeats = repeats * max(1.0, (weights > 0).sum() / max(float(repeats.sum()), 1e-300))
    n_numbers = matrix.shape[1] - len(categorical)
    # detail that so few rows cannot show only takes time
    n_splines = min(n_splines, max(FEWEST, int(MOST_FUNCTIONS * rows / max(n_numbers, 1))))
    if bins is None and len(matrix) * (matrix.shape[1] * (n_splines - 1) + 1) > DENSE_CELLS:
        bins = BINS
    terms = []
    for column in range(matrix.shape[1]):
        values = np.ascontiguousarray(matrix[:, column], np.float64)
        if column in categorical:
            term = _level_term(column, values, weights, shrink=shrink and column not in parametric)
        else:
            term = _number_term(
                column, values, weights, bins, n_splines=n_splines, shrink=shrink,
                parametric=column in parametric, extrapolate=extrapolate,
                warp=column not in unwarped, repeats=repeats,
                ends=None if ends is None else ends[:, column],
            )  # fmt: skip
        if term is not None:
            terms.append(term)
    design = Design(tuple(terms), len(matrix), None, _beyond(terms, matrix, weights))
    is_dense = len(matrix) * design.width <= DENSE_CELLS
    if not is_dense and bins is None:
        # many levels: tables of sums by pairs of distinct values would be too large
        return build_design(
            matrix, categorical=categorical, weights=weights, n_splines=n_splines, shrink=shrink,
            parametric=parametric, extrapolate=extrapolate, unwarped=unwarped, bins=BINS,
            exposure=exposure, ends=ends,
        )  # fmt: skip
    return _held(design, dense=is_dense)


def _beyond(terms: Sequence[Term], matrix: Floats, weights: Floats) -> Index:
    """Return the rows with weight beyond the range in which some curve changes."""
    outside = np.zeros(len(matrix), bool)
    for term in terms:
        basis = term.bases[0]
        if isinstance(basis, SplineBasis):
            values = matrix[:, term.columns[0]]
            outside |= (values < basis.low) | (values > basis.high)  # False where missing
    return np.flatnonzero(outside & (weights > 0))


def _held(design: Design, *, dense: bool) -> Design:
    """Hold the whole matrix where that is wanted."""
    if not dense:
        return design
    return replace(design, matrix=design.functions())


def _level_term(column: int, values: Floats, weights: Floats, *, shrink: bool) -> Term | None:
    used = weights > 0
    levels, first = np.unique(values[used], return_inverse=True)
    counts = _sums(first, weights[used], len(levels))
    if len(levels) < 2:
        return None
    basis, penalties = level_basis(levels, counts, shrink=shrink)
    # rows of weight zero may have a level of their own, which is zero in every function
    table = np.vstack([basis(levels), np.zeros(penalties.shape[1])])
    codes = basis.codes(values)
    return Term("levels", (column,), (basis,), penalties, table, codes % len(table))


def _number_term(
    column: int,
    values: Floats,
    weights: Floats,
    bins: int | None,
    *,
    n_splines: int,
    shrink: bool,
    parametric: bool,
    extrapolate: Extrapolate,
    warp: bool,
    repeats: Floats,
    ends: Floats | None,
) -> Term | None:
    missing = np.isnan(values)
    distinct, codes = np.unique(values[~missing], return_inverse=True)
    counts = _sums(codes, weights[~missing], len(distinct))
    rows = _sums(codes, np.where(weights > 0, repeats, 0.0)[~missing], len(distinct))
    supported = (-np.inf, np.inf)
    # beyond its end a curve is constant, which is not convex; and a line has no end
    bends = warp and not parametric
    if bends and ends is not None:
        supported = (float(ends[0]), float(ends[1]))
    elif bends and rows.any():
        supported = supported_range(distinct[rows > 0], rows[rows > 0])
    if bins is not None and len(distinct) > bins:
        distinct, counts, codes = _binned(distinct, counts, codes, bins)
    used = counts > 0
    if not used.any():
        return None
    basis, penalties = spline_basis(
        distinct[used],
        counts[used],
        missing=float(weights[missing].sum()),
        n_splines=n_splines,
        shrink=shrink,
        parametric=parametric,
        extrapolate=extrapolate,
        warp=warp,
        supported=supported,
    )
    if not penalties.shape[1]:
        return None
    # rows beyond the ends do not pull at the line that goes on there
    table = basis(np.append(np.clip(distinct, basis.low, basis.high), np.nan))
    all_codes = np.full(len(values), len(distinct), np.intp)
    all_codes[~missing] = codes
    kind: Kind = "curve" if len(basis.knots) else "line" if used.sum() > 1 else "missing"
    return Term(kind, (column,), (basis,), penalties, table, all_codes)


def _binned(
    distinct: Floats, counts: Floats, codes: Index, bins: int
) -> tuple[Floats, Floats, Index]:
    """Join neighbouring values to bins, at their means.

    Half the bins have about equal weight, half are equally wide: tails keep their detail. The least
    and the greatest value have bins of their own, so that the range stays.
    """
    half = (bins - 2) // 2
    share = (np.cumsum(counts) - counts / 2) / max(float(counts.sum()), 1e-300)
    position = (distinct - distinct[0]) / (distinct[-1] - distinct[0])
    # both grow with the value, so that their sum changes where one of them does
    by_weight, by_width = (
        np.minimum((part * half).astype(np.intp), half - 1) for part in (share, position)
    )
    bin_of = by_weight + by_width
    bin_of[0], bin_of[-1] = -1, 2 * half
    bin_of = np.unique(bin_of, return_inverse=True)[1]
    n = int(bin_of[-1]) + 1
    total = _sums(bin_of, counts, n)
    # a bin of rows without weight has its plain mean
    plain = _sums(bin_of, distinct, n) / np.bincount(bin_of)
    heavy = _sums(bin_of, counts * distinct, n) / np.maximum(total, 1e-300)
    return np.where(total > 0, heavy, plain), total, bin_of[codes]


def warn_of_certain_levels(
    design: Design, y: Floats, weights: Floats, family: FamilyName, names: Sequence[str] = ()
) -> None:
    """Warn of unpenalised levels whose rows have no event, or only events: no effect fits best.

    Parameters
    ----------
    design, y, weights, family
        The terms, the target, the weights of rows and the distribution of the target.
    names
        Names of columns.
    """
    if FAMILIES[family].link == "identity":
        return
    for term in design.terms:
        if term.kind != "levels" or len(term.penalties):
            continue
        rows = np.bincount(term.codes, weights)
        certain = np.bincount(term.codes, weights * y) == 0
        if family == "binomial":
            certain |= np.bincount(term.codes, weights * (1 - y)) == 0
        if n_certain := int(np.count_nonzero(certain & (rows > 0))):
            column = term.columns[0]
            who = f"column {names[column]!r}" if len(names) else f"column {column}"
            tell(
                words(
                    f"{n_certain} of {int(np.count_nonzero(rows))} levels of {who} have no event, "
                    "or only events: without shrinkage their effects have no finite value and are "
                    "where the fit stopped. Join levels, or leave the column to shrinkage (",
                    Setting("shrink", True),  # noqa: FBT003
                    ", and not in ",
                    Setting("parametric"),
                    ").",
                )
            )


# Curves that must rise, fall or bend one way: linear constraints on B-spline coefficients.
#
# A cubic spline rises where its B-spline coefficients do, and bends upwards where the
# coefficients of its derivative rise. With the smoothing parameters kept, the constrained fit is
# a quadratic program with few constraints, whose dual is a non-negative least-squares problem.


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
