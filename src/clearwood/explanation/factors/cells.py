"""The cells of a column: its levels, or stretches of its numbers, and missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.sums import SumGame
from clearwood.explanation.games.terms import TermsGame
from clearwood.explanation.games.trees import TreeGame
from clearwood.table import Column

__all__ = ["Axis", "Steps", "levelled", "middles", "steps_of", "thinned", "user_cuts"]

#: Cuts are searched for between numbers of this size.
_FAR = 1e30


@dataclass(frozen=True, eq=False)
class Axis:
    """The cells of one column; the last one is for missing values.

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
    >>> Axis("age", None, np.array([25.0])).places(age)
    array([0, 0, 1, 2])
    """

    column: str
    levels: tuple[str, ...] | None
    cuts: Floats
    header: str = ""

    @property
    def n_known(self) -> int:
        """How many cells there are beside that of missing values."""
        return len(self.cuts) + 1 if self.levels is None else len(self.levels)

    def places(self, column: Column) -> Index:
        """Return the cell of each row."""
        known = np.searchsorted(self.cuts, column.values) if self.levels is None else column.values
        return np.where(column.missing, self.n_known, known).astype(np.intp)

    def ends(self, cell: int) -> tuple[float, float]:
        """Return between what a cell of numbers lies: above the first, up to the second."""
        ends = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        return float(ends[cell]), float(ends[cell + 1])

    def merged(self, effects: Floats, tolerance: float) -> tuple["Axis", Floats]:
        """Join neighbouring cells of numbers whose effects, along the first axis, are equal."""
        if self.levels is not None:
            return self, effects
        kept = [0]
        for cell in range(1, self.n_known):
            if np.nanmax(np.abs(effects[cell] - effects[kept[-1]])) > tolerance:
                kept.append(cell)
        cuts = self.cuts[np.array(kept[1:], np.intp) - 1]
        return replace(self, cuts=cuts), effects[[*kept, self.n_known]]


@dataclass(frozen=True)
class Steps:
    """Where a model that is constant between thresholds has them, and which columns are not so.

    Parameters
    ----------
    thresholds
        By column of the game's codes.
    smooth
        The players in which the model is not piecewise constant.
    """

    thresholds: Mapping[int, Floats]
    smooth: frozenset[int]

    def __add__(self, other: "Steps") -> "Steps":
        both = dict(self.thresholds)
        for code, own in other.thresholds.items():
            both[code] = np.union1d(both.get(code, own), own)
        return Steps(both, self.smooth | other.smooth)


def steps_of(game: Game) -> Steps:
    """Read the thresholds of trees and tables; curves have none."""
    if isinstance(game, SumGame):
        return reduce(Steps.__add__, map(steps_of, game.games))
    if isinstance(game, TreeGame):
        forest = game.forest
        inner = ~forest.is_leaf & ~forest.is_categorical
        used = np.unique(forest.feature[inner]).tolist()
        split = {j: np.unique(forest.threshold[inner & (forest.feature == j)]) for j in used}
        return Steps(split, frozenset())
    if isinstance(game, TermsGame):
        sizes = {
            at: size
            for term in game.terms
            for at, size in zip(term.at, term.table.shape, strict=False)
        }
        return Steps({at: np.arange(size) + 0.5 for at, size in sizes.items()}, frozenset())
    return Steps({}, frozenset(k for players in game.sets(2) for k in players))


def user_cuts(
    wanted: Mapping[int, tuple[Index, Floats]], codes_of: Callable[[Mapping[int, Floats]], Floats]
) -> dict[int, Floats]:
    """Find the numbers of the user's columns at which codes pass thresholds, to the last digit.

    Parameters
    ----------
    wanted
        By player: columns of the codes, and a threshold for each.
    codes_of
        Encodes numbers of players, row by row; shorter ones are repeated.
    """

    def above(numbers: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.bool_]]:
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
    return {k: np.unique(_number(low[k])[first[k] != last[k]]) for k in wanted}


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
    """Keep cuts so that there are at most so many cells, of about equal weight.

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


def levelled(curves: Floats, most: int) -> list[int]:
    """Return the first row of each band of rows, at most so many, in which curves vary least.

    The largest range of a curve within a band is as small as it can be, up to one part in a
    million: bands are as long as a limit allows, and the limit is halved.

    Examples
    --------
    >>> levelled(np.array([[0.0], [0.1], [5.0], [5.1], [9.0]]), 3)
    [0, 2, 4]
    """
    low, high = 0.0, float(np.ptp(curves, axis=0).max(initial=0.0))
    best = _bands(curves, high)
    for _ in range(20):
        middle = (low + high) / 2
        starts = _bands(curves, middle)
        if len(starts) <= most:
            best, high = starts, middle
        else:
            low = middle
    return best


def _bands(curves: Floats, limit: float) -> list[int]:
    """Make bands from the first row on, each as long as no curve ranges over more than a limit."""
    starts = [0]
    least, largest = curves[0], curves[0]
    for k in range(1, len(curves)):
        down, up = np.minimum(least, curves[k]), np.maximum(largest, curves[k])
        if (up - down).max() > limit:
            starts.append(k)
            down = up = curves[k]
        least, largest = down, up
    return starts
