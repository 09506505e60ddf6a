"""How strongly two columns are associated, whatever their kinds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.progress import Step, silent
from clearwood.table import Column, Kind

__all__ = [
    "SAME",
    "Comparable",
    "all_strengths",
    "bins_of",
    "comparable",
    "coordinates",
    "effective_rows",
    "have_one_order",
    "is_ordered",
    "ranks",
    "related",
    "strength",
    "strengths",
]

#: Columns are the same from this strength or rank correlation on.
SAME = 0.999

_BINS = 20
_ROWS_PER_BIN = 20
# Rows by which two columns are compared.
_ROWS_COMPARED = 5000
# Fewer rows have one order by chance.
_FEWEST_IN_ORDER = 12
# Standard deviations above chance that an association must reach to count.
_BEYOND_CHANCE = 3
_MOST_RELATED = 3
# Below this, the distance of the pair adds nothing to the distances of the single columns.
_LEAST_STRENGTH = 0.1
_MOST_LEVELS = 20
# Pairs of levels that are counted in an array; of more, only those that occur.
_MOST_CELLS = 20_000


def ranks(column: Column, weights: Floats | None = None) -> Floats:
    """Return numbers and dates as ranks in [0, 1]; ties share their middle, missing is NaN.

    A row counts as often as its weight.

    Examples
    --------
    >>> ranks(Column("a", Kind.NUMBER, np.array([10.0, 30.0, 20.0, np.nan])))
    array([0.16666667, 0.83333333, 0.5       ,        nan])
    """
    ranked = np.full(len(column), np.nan)
    present = ~column.missing
    _, inverse = np.unique(column.values[present], return_inverse=True)
    counts = np.bincount(inverse, None if weights is None else weights[present])
    middle = np.cumsum(counts) - 0.5 * counts
    ranked[present] = (middle / max(counts.sum(), 1e-300))[inverse]
    return ranked


def have_one_order(one: Column, other: Column) -> bool:
    """Whether one column rises, or falls, with the other wherever both have a value.

    Examples
    --------
    >>> x = np.linspace(1, 5, 20)
    >>> a, b = (Column(name, Kind.NUMBER, v) for name, v in (("a", x), ("b", 1 / x)))
    >>> have_one_order(a, b)
    True
    """
    ranked = np.stack([ranks(column) for column in (one, other)]) - 0.5
    ranked = ranked[:, ~np.isnan(ranked).any(axis=0)]
    if ranked.shape[1] < _FEWEST_IN_ORDER:
        return False
    product, (first, second) = float(ranked[0] @ ranked[1]), (ranked**2).sum(axis=1).tolist()
    return abs(product) >= SAME * math.sqrt(first * second) > 0


def is_ordered(column: Column) -> bool:
    """Whether the values of a column have an order: numbers, dates and ordered categories."""
    return column.kind in (Kind.NUMBER, Kind.WHOLE, Kind.DATE, Kind.ORDERED)


def bins_of(column: Column, weights: Floats | None = None) -> Index:
    """Return the bin of each row: quantiles, or frequent levels; missing is a bin of its own."""
    if is_ordered(column) and column.kind is not Kind.ORDERED:
        place = ranks(column, weights)
        size = int(np.clip(effective_rows(len(column), weights) // _ROWS_PER_BIN, 3, _BINS))
        return np.where(np.isnan(place), _BINS, np.minimum(place * size, size - 1)).astype(np.intp)
    values = _levels(column)
    frequent = np.argsort(-np.bincount(values + 1, weights), kind="stable")[:_BINS] - 1
    bins = np.full(len(column), _BINS)
    for k, level in enumerate(frequent):
        bins[values == level] = k
    return bins


def _levels(column: Column) -> Index:
    """Return the number of the level of each row; -1, or an empty text, is missing."""
    if column.is_coded:
        return column.values.astype(np.intp)
    texts = np.where(column.missing, "", column.values).astype(str)
    return np.unique(texts, return_inverse=True)[1]


def effective_rows(n_rows: int, weights: Floats | None) -> float:
    """Return the number of rows that chance is judged by.

    Weights that are whole numbers count repeated rows; others are worth as many equally weighted
    rows as give the same precision (Kish's effective number).
    """
    if weights is None:
        return n_rows
    total = float(weights.sum())
    if bool((weights == np.round(weights)).all()):
        return total
    return total**2 / float((weights**2).sum())


@dataclass(frozen=True, eq=False)
class Comparable:
    """A column prepared for comparison with others.

    Parameters
    ----------
    bins
        The bin of each row: quantiles of numbers and dates, otherwise all levels.
    ranks
        Its ranks, if its values have an order; None for levels, which are compared by their
        indicators.
    weights
        Of the rows; None where all count alike.
    """

    bins: Index
    ranks: Floats | None
    weights: Floats | None = None

    @cached_property
    def n_rows(self) -> float:
        """The number of rows that chance is judged by."""
        return effective_rows(len(self.bins), self.weights)

    @cached_property
    def mass(self) -> Floats:
        """The weight of each bin."""
        return np.asarray(np.bincount(self.bins, self.weights), np.float64)

    @cached_property
    def _centred(self) -> Floats:
        assert self.ranks is not None
        return self.ranks - np.average(self.ranks, weights=self.weights)

    @cached_property
    def moved(self) -> Floats:
        """The ranks less their mean, times the weights of the rows."""
        return self._centred if self.weights is None else self._centred * self.weights

    @cached_property
    def variation(self) -> float:
        """The sum of squares about the mean, of ranks or of the indicators of all levels."""
        if self.ranks is None:
            return float(self.mass.sum() - (self.mass**2).sum() / self.mass.sum())
        return float(self.moved @ self._centred)

    def between(self, by: "Comparable") -> float:
        """Return the part of the variation that lies between the bins of another column."""
        mass = np.where(by.mass > 0, by.mass, np.inf)
        if self.ranks is not None:
            sums = np.bincount(by.bins, self.moved, len(mass))
            return float((sums * sums / mass).sum())
        # of an indicator: the sum over bins of (rows of the level)^2 / rows, less that of all rows
        cells = by.bins * len(self.mass) + self.bins
        bins = np.repeat(np.arange(len(mass)), len(self.mass))
        if len(bins) > _MOST_CELLS:
            present, cells = np.unique(cells, return_inverse=True)
            bins = present // len(self.mass)
        sums = np.bincount(cells, self.weights, len(bins))
        return float((sums * sums / mass[bins]).sum() - (self.mass**2).sum() / self.mass.sum())


def comparable(column: Column, weights: Floats | None = None) -> Comparable:
    """Prepare a column for comparison: at most 5,000 of its rows, evenly spread."""
    if len(column) > _ROWS_COMPARED:
        chosen = np.linspace(0, len(column) - 1, _ROWS_COMPARED).round().astype(np.intp)
        column = column.take(chosen)
        weights = None if weights is None else weights[chosen]
    has_bins = is_ordered(column) and column.kind is not Kind.ORDERED
    # a bin for each level, however many there are: a first name may tell what 20 of them do not
    bins = bins_of(column, weights) if has_bins else _levels(column)
    place = np.nan_to_num(ranks(column, weights), nan=0.5) if is_ordered(column) else None
    return Comparable(np.unique(bins, return_inverse=True)[1], place, weights)


def strength(column: Comparable, other: Comparable) -> float:
    """Compute the strength of association of two columns, from 0 (none) to 1.

    It is the larger of two correlation ratios: the root of the share of the variance of one
    column's ranks (or of its levels' indicators) that lies between bins of the other. Unlike a
    correlation it detects any shape of dependence, such as a parabola. It is adjusted for chance.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> line, parabola = (Column(n, Kind.NUMBER, v) for n, v in (("a", x), ("b", x**2)))
    >>> strength(comparable(line), comparable(parabola)) > 0.9
    True
    """
    both = (column, other), (other, column)
    return max(float(_correlation_ratios(one, [two])[0]) for one, two in both)


def strengths(columns: Sequence[Comparable], position: int) -> Floats:
    """Compute the strength of association of one column with each; 1 with itself."""
    own = columns[position]
    by_others = [_correlation_ratios(other, [own])[0] for other in columns]
    result = np.maximum(_correlation_ratios(own, columns), by_others)
    result[position] = 1.0
    return result


def all_strengths(columns: Sequence[Comparable], *, step: Step = silent) -> Floats:
    """Compute the strength of association of all pairs of columns, 1 on the diagonal."""
    ratios = np.empty((len(columns), len(columns)))
    for k, column in enumerate(columns):
        ratios[k] = _correlation_ratios(column, columns)
        step(1)
    result = np.maximum(ratios, ratios.T)
    np.fill_diagonal(result, 1.0)
    return result


def _correlation_ratios(by: Comparable, others: Sequence[Comparable]) -> Floats:
    """Return the root of the share of each column's variance between bins of one, less chance."""
    n_rows, n_bins = by.n_rows, int((by.mass > 0).sum())
    if n_bins < 2 or n_rows <= n_bins:
        return np.zeros(len(others))
    between = np.array([other.between(by) for other in others])
    total = np.array([other.variation for other in others])
    varies = total > 0
    # adjusted as R2 is: bins of noise explain (bins - 1) / (rows - 1) of anything
    missed = 1 - np.divide(between, total, out=np.zeros_like(total), where=varies)
    explained = 1 - missed * (n_rows - 1) / (n_rows - n_bins)
    chance = np.sqrt(2 * (n_bins - 1)) / (n_rows - n_bins)
    counts = varies & (explained > _BEYOND_CHANCE * chance)
    return np.sqrt(np.where(counts, explained, 0.0))


def related(columns: Sequence[Comparable], positions: Sequence[int]) -> list[int]:
    """Return the columns that are most associated with some columns, at most three."""
    strongest = np.stack([strengths(columns, k) for k in positions]).max(axis=0)
    strongest[list(positions)] = 0
    best = np.argsort(-strongest, kind="stable")[:_MOST_RELATED]
    return [int(k) for k in best if strongest[k] > _LEAST_STRENGTH]


def coordinates(column: Column, weights: Floats | None = None) -> Floats:
    """Return coordinates for distances between rows, of about the same spread in most columns."""
    if is_ordered(column):
        place = ranks(column, weights)
        present = np.where(np.isnan(place), 0.5, place) * np.sqrt(12)
        return np.column_stack([present, np.isnan(place)])
    bins = bins_of(column, weights)
    levels = np.unique(bins)[:_MOST_LEVELS]
    # two different levels are one apart
    return np.asarray((bins[:, None] == levels[None, :]) / np.sqrt(2))
