"""The cells of a column: levels and all others, or stretches of numbers, each a polynomial."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.explanation.games.game import Game, Players
from clearwood.explanation.games.products import ProductGame
from clearwood.explanation.games.sums import SumGame
from clearwood.explanation.games.terms import TermsGame
from clearwood.explanation.games.trees import TreeGame
from clearwood.table import Column

__all__ = [
    "CHECKED",
    "NODES",
    "ColumnSteps",
    "FactorAxis",
    "coefficients",
    "constant_of",
    "evaluated",
    "is_polynomial",
    "knots_of",
    "least_squares_bands",
    "middles",
    "shifted",
    "steps_of",
    "thinned",
    "trimmed",
    "user_cuts",
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


#: Cuts are searched for between numbers of this size.
_FAR = 1e300


@dataclass(frozen=True, eq=False)
class FactorAxis:
    """The cells of one column; the last one is for missing values.

    Of a category, the one before it is for levels that are not listed.

    Parameters
    ----------
    column
        The user's column.
    levels
        The levels of a category, a cell each; None for numbers.
    cuts
        Of numbers, rising: a cell ends at its cut, which belongs to it.
    header
        The name of the column in the data, where a label gives it another.

    Examples
    --------
    >>> from clearwood.table import Kind
    >>> age = Column("age", Kind.NUMBER, np.array([20.0, 25.0, 26.0, np.nan]))
    >>> FactorAxis("age", None, np.array([25.0])).places(age)
    array([0, 0, 1, 2])
    """

    column: str
    levels: tuple[str, ...] | None
    cuts: Floats
    header: str = ""

    @property
    def n_known(self) -> int:
        """How many cells there are apart from the one of missing values."""
        return len(self.cuts) + 1 if self.levels is None else len(self.levels) + 1

    def places(self, column: Column) -> Index:
        """Return the cell of each row."""
        if self.levels is None:
            known = np.searchsorted(self.cuts, column.values)
        else:
            known = np.minimum(column.values, len(self.levels))
        return np.where(column.missing, self.n_known, known).astype(np.intp)

    def ends(self, cell: int) -> tuple[float, float]:
        """Return between what a cell of numbers lies: above the first, up to the second."""
        ends = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        return float(ends[cell]), float(ends[cell + 1])


@dataclass(frozen=True)
class ColumnSteps:
    """Where a model steps and bends, and in which columns it may be a curve.

    Parameters
    ----------
    thresholds
        By column of the game's codes: where trees and tables step.
    bends
        By the players of a term and the column of the codes: where polynomials end.
    smooth
        The players in which the model is not piecewise constant.
    """

    thresholds: Mapping[int, Floats]
    smooth: frozenset[int]
    bends: Mapping[Players, Mapping[int, Floats]] = field(default_factory=dict)

    def __add__(self, other: "ColumnSteps") -> "ColumnSteps":
        bends = {players: dict(own) for players, own in self.bends.items()}
        for players, own in other.bends.items():
            bends[players] = _united(bends.get(players, {}), own)
        thresholds = _united(self.thresholds, other.thresholds)
        return ColumnSteps(thresholds, self.smooth | other.smooth, bends)


def _united(one: Mapping[int, Floats], other: Mapping[int, Floats]) -> dict[int, Floats]:
    """Join the numbers of each column."""
    return dict(one) | {k: np.union1d(one.get(k, own), own) for k, own in other.items()}


def steps_of(game: Game) -> ColumnSteps:
    """Read the thresholds of trees and tables, and the knots of curves that have some."""
    if isinstance(game, SumGame):
        return reduce(ColumnSteps.__add__, map(steps_of, game.games))
    if isinstance(game, TreeGame):
        forest = game.forest
        inner = ~forest.is_leaf & ~forest.is_categorical
        used = np.unique(forest.feature[inner]).tolist()
        split = {j: np.unique(forest.threshold[inner & (forest.feature == j)]) for j in used}
        return ColumnSteps(split, frozenset())
    if isinstance(game, TermsGame):
        sizes = {
            at: size
            for term in game.terms
            for at, size in zip(term.at, term.table.shape, strict=False)
        }
        return ColumnSteps({at: np.arange(size) + 0.5 for at, size in sizes.items()}, frozenset())
    smooth = frozenset(k for players in game.sets(2) for k in players)
    bends: dict[Players, dict[int, Floats]] = {}
    if isinstance(game, ProductGame):
        for term in game.terms:
            own = bends.setdefault(term.players, {})
            for factor in term.factors.values():
                for column, basis in zip(factor.columns, factor.bases, strict=True):
                    own |= _united(own, {column: knots_of(basis)})
    return ColumnSteps({}, smooth, bends)


def user_cuts(
    wanted: Mapping[int, tuple[Index, Floats]], codes_of: Callable[[Mapping[int, Floats]], Floats]
) -> dict[int, Floats]:
    """Find the numbers of the user's columns at which codes pass thresholds, to the last digit.

    NaN where no number does.

    Parameters
    ----------
    wanted
        By player: columns of the codes, and a threshold for each.
    codes_of
        Encodes numbers of players, row by row; shorter ones are repeated.
    """

    def above(numbers: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.bool_]]:
        with np.errstate(over="ignore"):  # of encoders to single precision, far out
            codes = codes_of({k: _number(own) for k, own in numbers.items()})
        return {k: codes[np.arange(len(at)), at] > cut for k, (at, cut) in wanted.items()}

    if not wanted:
        return {}
    low = {k: np.full(len(at), _position(-_FAR)) for k, (at, _) in wanted.items()}
    high = {k: np.full(len(at), _position(_FAR)) for k, (at, _) in wanted.items()}
    first, last = above(low), above(high)
    while any((high[k] - low[k] != 1).any() for k in wanted):
        # halved before they are added, as the sum may not fit
        middle = {k: (low[k] >> 1) + (high[k] >> 1) + (low[k] & high[k] & 1) for k in wanted}
        passed = above(middle)
        for k, own in passed.items():
            before = own == first[k]
            low[k] = np.where(before, middle[k], low[k])
            high[k] = np.where(before, high[k], middle[k])
    return {k: np.where(first[k] != last[k], _number(low[k]), np.nan) for k in wanted}


def _position(number: float) -> np.int64:
    """Return the place of a double among all doubles."""
    bits = np.float64(number).view(np.int64)
    return np.int64(bits if bits >= 0 else np.int64(-(2**63)) - bits)


def _number(position: NDArray[np.int64]) -> Floats:
    """Return the doubles at places among all doubles."""
    bits = np.where(position >= 0, position, np.int64(-(2**63)) - position)
    return bits.astype(np.int64).view(np.float64)


def middles(values: Floats) -> Floats:
    """Return cuts that part all distinct values, halfway between them."""
    distinct = np.unique(values[~np.isnan(values)])
    return np.asarray(distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2)


def thinned(cuts: Floats, values: Floats, weights: Floats, most: int) -> Floats:
    """Keep cuts so that there are at most ``most`` cells, of about equal weight.

    Examples
    --------
    >>> values = np.arange(8.0)
    >>> thinned(middles(values), values, np.ones(8), 4)
    array([1.5, 3.5, 5.5])
    """
    if len(cuts) < most:
        return cuts
    known = ~np.isnan(values)
    weight = np.bincount(
        np.searchsorted(cuts, values[known]), weights[known], minlength=len(cuts) + 1
    )
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    band = np.minimum((middle * most).astype(np.intp), most - 1)
    return np.asarray(cuts[band[1:] > band[:-1]])


def least_squares_bands(curves: Floats, weights: Floats, most: int) -> list[int]:
    """Return the first row of each of ``most`` bands or fewer, by least squares about their means.

    The weighted sum of squared differences of the curves from their mean in the band is as small as
    it can be (Fisher 1958), by dynamic programming over where the last band begins.

    Parameters
    ----------
    curves
        Of shape (rows, curves), the rows in order.
    weights
        Of the rows, positive.
    most
        Bands.

    Examples
    --------
    >>> least_squares_bands(np.array([[0.0], [0.1], [5.0], [5.1], [9.0]]), np.ones(5), 3)
    [0, 2, 4]
    """
    n = len(curves)
    most = min(most, n)
    centred = curves - np.average(curves, axis=0, weights=weights)
    total = np.concatenate([[0.0], np.cumsum(weights)])
    first = np.vstack([np.zeros(curves.shape[1]), np.cumsum(weights[:, None] * centred, axis=0)])
    second = np.concatenate([[0.0], np.cumsum(weights * (centred**2).sum(axis=1))])

    def costs(end: int) -> Floats:
        """Return the cost of a band from each start up to an end."""
        mean = ((first[end] - first[:end]) ** 2).sum(axis=1) / (total[end] - total[:end])
        return np.asarray(np.maximum(second[end] - second[:end] - mean, 0.0))

    best = np.full((most + 1, n + 1), np.inf)
    start = np.zeros((most + 1, n + 1), np.intp)
    best[0, 0] = 0.0
    for end in range(1, n + 1):
        tried = best[:-1, :end] + costs(end)
        start[1:, end] = np.argmin(tried, axis=1)
        best[1:, end] = np.min(tried, axis=1)
    # more bands never cost more, so rounding alone may prefer fewer
    count, end, starts = int(np.argmin(best[:, n])), n, []
    while count:
        end = int(start[count, end])
        starts.append(end)
        count -= 1
    return starts[::-1]
