"""Functions of one column: penalised cubic B-splines, and levels.

A spline basis is in Demmler-Reinsch form: over the training rows its functions have mean zero, unit
mean square and no correlation, and their curvature penalty is diagonal. Every penalty of a whole
model is then diagonal, which is what makes the choice of smoothness cheap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import eigh, helmert

from clearwood._shared.arrays import Floats, Index
from clearwood.models.shared.score import Basis

__all__ = [
    "Beyond",
    "Extrapolate",
    "LevelBasis",
    "SplineBasis",
    "deviating_bases",
    "level_basis",
    "spline_basis",
]

Extrapolate = Literal["constant", "linear"]
DEGREE = 3
#: A range this many times as wide as that of the middle 90 % of rows has heavy tails.
HEAVY = 2.5
#: Points that hold the scale on which a column with heavy tails is penalised.
WARP_POINTS = 400


@dataclass(frozen=True, eq=False, kw_only=True)
class SplineBasis:
    """Curves of one column of numbers, and an indicator of missing values.

    Parameters
    ----------
    knots
        All knots of the cubic B-splines, outer ones four times; none for a straight line.
    centre, transform
        Mean of the B-splines over the training rows, and the matrix to Demmler-Reinsch form.
    low, high
        The range in which the curves change: where training rows support them.
    has_missing
        Whether the last function is one where the value is missing.
    extrapolate
        How curves go on beyond the range.
    warp_from, warp_to
        A monotone scale for columns with heavy tails; empty for the column's own.
    least, greatest
        The range of the training rows. Few of them lie outside ``low`` and ``high``.
    furthest
        How far beyond the range straight lines go on.
    """

    knots: Floats
    centre: Floats
    transform: Floats
    low: float
    high: float
    has_missing: bool = False
    extrapolate: Extrapolate = "constant"
    warp_from: Floats
    warp_to: Floats
    least: float = -np.inf
    greatest: float = np.inf
    furthest: float = np.inf

    def __call__(self, values: Floats) -> Floats:
        """Evaluate every function, of shape (rows, functions)."""
        values = np.asarray(values, np.float64)
        missing = np.isnan(values)
        width = self.transform.shape[1]
        out = np.zeros((len(values), width + self.has_missing))
        if width and not missing.all():
            out[~missing, :width] = self.curves(values[~missing])
        if self.has_missing:
            out[missing, -1] = 1.0
        return out

    def breaks(self) -> Floats:
        """Return the values between which every function is a polynomial."""
        inner = self.knots
        if len(self.warp_from):
            inner = np.concatenate([np.interp(inner, self.warp_to, self.warp_from), self.warp_from])
        return np.unique(np.clip([self.low, *inner.tolist(), self.high], self.low, self.high))

    def curves(self, values: Floats) -> Floats:
        """Evaluate the curves at values that are not missing."""
        return np.asarray((self.splines(self.scaled(values)) - self.centre) @ self.transform)

    def scaled(self, values: Floats) -> Floats:
        """Return values on the scale of the knots."""
        inside = np.clip(values, self.low, self.high)
        furthest = self.furthest if self.extrapolate == "linear" else 0.0
        beyond = np.clip(values - inside, -furthest, furthest)
        if not len(self.warp_from):
            return inside + beyond
        # beyond the range, the slope of the scale at its end
        slopes = np.diff(self.warp_to)[[0, -1]] / np.diff(self.warp_from)[[0, -1]]
        further = beyond * np.where(beyond < 0, slopes[0], slopes[1])
        return np.asarray(np.interp(inside, self.warp_from, self.warp_to) + further)

    def splines(self, scaled: Floats) -> Floats:
        """Evaluate the B-splines, straight beyond the outer knots; or the line itself."""
        if not len(self.knots):
            return scaled[:, None]
        low, high = self.knots[0], self.knots[-1]
        inside = np.clip(scaled, low, high)
        splines: Floats = BSpline.design_matrix(inside, self.knots, DEGREE).toarray()
        beyond = scaled - inside
        if beyond.any():
            first = DEGREE / (self.knots[DEGREE + 1] - low) * np.minimum(beyond, 0)
            last = DEGREE / (high - self.knots[-DEGREE - 2]) * np.maximum(beyond, 0)
            splines[:, 0] -= first
            splines[:, 1] += first
            splines[:, -2] -= last
            splines[:, -1] += last
        return splines

    def leading(self, chosen: Index) -> "SplineBasis":
        """Keep a few of the curves; missing values have zero."""
        return replace(self, transform=self.transform[:, chosen], has_missing=False)


@dataclass(frozen=True, eq=False)
class LevelBasis:
    """Indicators of the levels of a column of category codes, less their shares.

    A level that the training rows do not have is zero in every function.

    Parameters
    ----------
    levels
        The codes, ascending; a last NaN where missing values are a level.
    shares
        Share of each level among the training rows.
    contrasts
        Orthonormal contrasts of the levels, as columns, where nothing is penalised: the indicators
        themselves add up to zero. None for the indicators.
    """

    levels: Floats
    shares: Floats
    contrasts: Floats | None = None

    def __call__(self, values: Floats) -> Floats:
        """Evaluate every function, of shape (rows, functions)."""
        codes = self.codes(np.asarray(values, np.float64))
        out = np.zeros((len(codes), len(self.levels)))
        known = codes >= 0
        out[known] = -self.shares
        out[known, codes[known]] += 1.0
        return out if self.contrasts is None else np.asarray(out @ self.contrasts)

    def codes_of_levels(self) -> Floats:
        """Return a code of each level, and one of a level that the training rows do not have."""
        known = self.levels[~np.isnan(self.levels)]
        return np.append(known, -1.0)

    def codes(self, values: Floats) -> Index:
        """Return the position of each value among the levels; -1 where it is not one of them."""
        missing = np.isnan(values)
        has_missing = bool(len(self.levels)) and bool(np.isnan(self.levels[-1]))
        known = self.levels[: len(self.levels) - has_missing]
        codes = np.full(len(values), -1, np.intp)
        if len(known):
            near = np.minimum(np.searchsorted(known, values[~missing]), len(known) - 1)
            codes[~missing] = np.where(known[near] == values[~missing], near, -1)
        if has_missing:
            codes[missing] = len(known)
        return codes


@dataclass(frozen=True, eq=False)
class Beyond:
    """How far values are below and above a range, at most some distance; zero where missing.

    Examples
    --------
    >>> Beyond(0.0, 1.0, 2.0)(np.array([-1.0, 0.5, 9.0]))
    array([[1., 0.],
           [0., 0.],
           [0., 2.]])
    """

    low: float
    high: float
    furthest: float

    def __call__(self, values: Floats) -> Floats:
        """Evaluate both functions, of shape (rows, 2)."""
        both = np.stack([self.low - values, values - self.high], axis=1)
        return np.asarray(np.clip(np.nan_to_num(both, nan=0.0), 0.0, self.furthest))


def deviating_bases(bases: Sequence[Basis]) -> tuple[Basis, ...]:
    """Return functions that deviations of coefficients say the uncertainty with.

    A curve that is constant beyond its range is as uncertain there as one that goes on straight
    would be, up to as far again as the range is wide.
    """
    return tuple(
        replace(basis, extrapolate="linear", furthest=basis.high - basis.low)
        if isinstance(basis, SplineBasis) and basis.extrapolate == "constant"
        else basis
        for basis in bases
    )


def spline_basis(
    distinct: Floats,
    counts: Floats,
    *,
    missing: float = 0.0,
    n_splines: int = 20,
    shrink: bool = True,
    parametric: bool = False,
    extrapolate: Extrapolate = "constant",
    warp: bool = True,
    supported: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[SplineBasis, Floats]:
    """Make the basis of a column of numbers, and its penalties.

    Parameters
    ----------
    distinct, counts
        Distinct values, ascending, and the weight of the rows that have them.
    missing
        Weight of the rows whose value is missing.
    n_splines
        B-splines; fewer where there are fewer distinct values, a line below five.
    shrink
        Whether straight lines and the missing level are penalised as well, so that a term can
        vanish.
    parametric
        Whether it is a straight line without any penalty.
    extrapolate
        How curves go on beyond the range.
    warp
        Whether heavy tails are penalised on a scale between values and ranks.
    supported
        The values between which curves change; values beyond count as these.

    Returns
    -------
    basis : SplineBasis
    penalties : ndarray of shape (penalties, functions)
        The diagonals: curvature, the functions without curvature, the missing level; those that
        apply.
    """
    least, greatest = (distinct[0], distinct[-1]) if len(distinct) else (0.0, 0.0)
    low, high = np.clip([least, greatest], *supported)
    distinct, first = np.unique(np.clip(distinct, low, high), return_inverse=True)
    counts = np.bincount(first, counts, len(distinct)).astype(np.float64, copy=False)
    empty = np.zeros(0)
    warp, shrink = warp and not parametric, shrink and not parametric
    warp_from, warp_to = _warp(distinct, counts) if warp and len(distinct) > 1 else (empty, empty)
    basis = SplineBasis(
        knots=empty,
        centre=empty,
        transform=np.zeros((1, 0)),
        low=float(low),
        high=float(high),
        has_missing=missing > 0,
        extrapolate=extrapolate,
        warp_from=warp_from,
        warp_to=warp_to,
        least=float(least),
        greatest=float(greatest),
    )
    if len(distinct) < 2:
        width = int(missing > 0)
        return basis, np.ones((width if shrink else 0, width))
    scaled = basis.scaled(distinct)
    if len(distinct) >= 5 and not parametric:
        basis = replace(basis, knots=_knots(scaled, counts, min(n_splines, len(distinct))))
    splines = basis.splines(scaled)
    centre = counts @ splines / counts.sum()
    centred = splines - centre
    gram = centred.T @ (counts[:, None] * centred) / (counts.sum() + missing)
    if len(basis.knots):
        transform, curvature = _demmler_reinsch(gram, _curvature(basis.knots))
        straight = curvature == 0
    else:
        transform, curvature = 1 / np.sqrt(gram), np.zeros(1)
        straight = np.ones(1, bool)
    penalties = [straight.astype(float)] if shrink else []
    if not straight.all():
        bent = np.where(straight, 0.0, curvature)
        penalties.insert(0, bent / np.exp(np.mean(np.log(bent[~straight]))))
    if missing > 0:
        penalties = [np.append(penalty, 0.0) for penalty in penalties]
        if shrink:
            penalties.append(np.append(np.zeros(len(curvature)), 1.0))
    basis = replace(basis, centre=centre, transform=transform)
    penalties = [penalty for penalty in penalties if penalty.any()]
    return basis, np.reshape(penalties, (len(penalties), len(curvature) + (missing > 0)))


def _demmler_reinsch(gram: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Diagonalise both matrices at once, the first to ones.

    Combinations of splines that are zero at all rows are left out. What remains is orthogonal to
    them in the second matrix, so that between the rows its functions bend as little as they can.

    Returns
    -------
    transform : ndarray of shape (splines, functions)
    bends : ndarray of shape (functions,)
        The diagonal of the second matrix, ascending; the first is that of a line, exactly zero.
    """
    scaled = curvature * (np.trace(gram) / np.trace(curvature))
    values, vectors = eigh(gram + 1e-7 * scaled)
    # the constant, which centring has removed, is zero in both
    keep = values > 1e-13 * values[-1]
    whitened = vectors[:, keep] / np.sqrt(values[keep])
    seen, rotation = eigh(whitened.T @ gram @ whitened)
    seen, rotation = seen[::-1], rotation[:, ::-1]
    keep = seen > 1e-4
    transform = whitened @ (rotation[:, keep] / np.sqrt(seen[keep]))
    # in the first matrix functions that hardly bend are alike: only the second tells them apart
    bends, turned = eigh(transform.T @ scaled @ transform)
    bends[0] = 0.0
    return transform @ turned, bends


def level_basis(
    levels: Floats, counts: Floats, *, shrink: bool = True
) -> tuple[LevelBasis, Floats]:
    """Make the basis of a column of codes, with the ridge penalty of a random effect or none.

    Examples
    --------
    >>> basis, penalties = level_basis(np.array([0.0, 1.0, 2.0]), np.ones(3), shrink=False)
    >>> basis(np.array([0.0])).shape, penalties.shape
    ((1, 2), (0, 2))
    """
    shares = counts / counts.sum()
    if shrink:
        return LevelBasis(levels, shares), np.ones((1, len(levels)))
    return LevelBasis(levels, shares, helmert(len(levels)).T), np.zeros((0, len(levels) - 1))


def _ranks(counts: Floats) -> Floats:
    return np.asarray((np.cumsum(counts) - counts / 2) / counts.sum())


def _warp(distinct: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the scale of a column with heavy tails, halfway between values and ranks."""
    ranks = _ranks(counts)
    low, high = np.interp([0.05, 0.95], ranks, distinct)
    span = distinct[-1] - distinct[0]
    if len(distinct) < 5 or span <= HEAVY * max(high - low, 1e-12 * span):
        return np.zeros(0), np.zeros(0)
    if len(distinct) > WARP_POINTS:
        kept = np.unique(np.linspace(0, len(distinct) - 1, WARP_POINTS).astype(np.intp))
        distinct, ranks = distinct[kept], ranks[kept]
    scaled_ranks = (ranks - ranks[0]) / (ranks[-1] - ranks[0])
    return distinct, 0.5 * scaled_ranks + 0.5 * (distinct - distinct[0]) / span


def _knots(distinct: Floats, counts: Floats, n_splines: int) -> Floats:
    """Place clamped cubic knots at quantiles of half the rows, half the distinct values."""
    inner = max(n_splines - DEGREE - 1, 0)
    positions = (np.arange(len(distinct)) + 0.5) / len(distinct)
    shares = np.linspace(0, 1, inner + 2)[1:-1]
    knots = np.unique(np.interp(shares, (_ranks(counts) + positions) / 2, distinct))
    knots = knots[(knots > distinct[0]) & (knots < distinct[-1])]
    outer = np.ones(DEGREE + 1)
    return np.concatenate([outer * distinct[0], knots, outer * distinct[-1]])


def _curvature(knots: Floats) -> Floats:
    """Integrate products of second derivatives, exactly: two Gauss points for each interval."""
    breaks = np.unique(knots)
    half = np.diff(breaks) / 2
    middle = breaks[:-1] + half
    points = np.concatenate([middle - half / np.sqrt(3), middle + half / np.sqrt(3)])
    second = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE).derivative(2)(points)
    return np.asarray(second.T @ (np.tile(half, 2)[:, None] * second))
