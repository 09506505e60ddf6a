"""The bands of a column: where they end, or which levels they hold, and their evidence."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.models.catalogue.scorecard.optimal import (
    Trend,
    best_cuts,
    information,
    thinned_groups,
)

__all__ = ["BandRules", "Bands", "OneBand", "bands_of"]

#: Why a column has one band beside that of missing values.
OneBand = Literal["no value", "one value", "max_bands", "too few", "trend", "equal", "min_gain"]


@dataclass(frozen=True)
class BandRules:
    """What bands must satisfy.

    Parameters
    ----------
    most
        Bands of a column at most, that of missing values not counted.
    least
        Share of the rows that a band has at least, that of missing values excepted.
    price
        What a band must add to the information value.
    candidates
        Groups of rows that bands are made of, at most.
    """

    most: int
    least: float
    price: float
    candidates: int


@dataclass(frozen=True, eq=False)
class Bands:
    """The bands of one column; the last entry of every array is for missing values.

    Parameters
    ----------
    column
        Position in the encoded matrix.
    cuts
        Of numbers, rising: a band ends at its cut, which belongs to it.
    groups
        Of categories: the band of each code; None for numbers.
    events, others
        Weight of the rows of the second class and of the first in each band.
    evidence
        Weight of evidence: the log of the ratio of the shares that both classes have in the band;
        zero where there are no rows.
    information
        What each band adds to the information value.
    one_band
        Why there is one band only; None where there are more.
    """

    column: int
    cuts: Floats
    groups: Index | None
    events: Floats
    others: Floats
    evidence: Floats
    information: Floats
    one_band: OneBand | None = None

    @property
    def n_bands(self) -> int:
        """How many bands there are beside that of missing values."""
        return len(self.evidence) - 1

    @property
    def is_empty(self) -> bool:
        """Whether all rows have the same evidence, so that the column has no part in the card."""
        used = self.evidence[self.events + self.others > 0]
        return not len(used) or bool(np.ptp(used) == 0)

    def places(self, values: Floats) -> Index:
        """Return the band of each value; the last one for missing values and unknown codes."""
        missing = np.isnan(values)
        if self.groups is None:
            place = np.searchsorted(self.cuts, values)
        else:
            known = ~missing & (values >= 0) & (values < len(self.groups))
            place = self.groups[np.where(known, values, 0).astype(np.intp)]
            missing = ~known
        return np.where(missing, self.n_bands, place).astype(np.intp)


def bands_of(
    column: int,
    values: Floats,
    is_event: NDArray[np.bool_],
    weight: Floats,
    *,
    is_category: bool,
    trend: Trend,
    rules: BandRules,
) -> Bands:
    """Divide one column into the bands of the greatest information value.

    Levels of a category are sorted by their share of events, and neighbours are joined.
    """
    totals = float(weight[is_event].sum()), float(weight[~is_event].sum())
    known = ~np.isnan(values)
    distinct, code = np.unique(values[known], return_inverse=True)
    events = _sums(code, weight[known] * is_event[known], len(distinct))
    both = _sums(code, weight[known], len(distinct))
    order = np.argsort(events / both, kind="stable") if is_category else np.arange(len(distinct))
    starts = thinned_groups(both[order], rules.candidates)
    if len(distinct):
        grouped = np.add.reduceat(events[order], starts)
        rest = np.maximum(np.add.reduceat(both[order], starts) - grouped, 0.0)
    else:
        grouped = rest = np.empty(0)
    trend = "up" if is_category else trend
    chosen = best_cuts(
        grouped,
        rest,
        totals=totals,
        most=rules.most,
        least=rules.least * sum(totals),
        trend=trend,
        price=rules.price,
    )
    one_band = None if len(chosen) else _why_one_band(grouped, rest, totals, trend, rules)
    cuts = starts[chosen]
    band = np.empty(len(distinct), np.intp)
    band[order] = np.searchsorted(cuts, np.arange(len(distinct)), side="right")
    n_bands = len(cuts) + 1
    place = np.full(len(values), n_bands)
    place[known] = band[code]
    counts: dict[str, Any] = {
        "events": _sums(place, weight * is_event, n_bands + 1),
        "others": _sums(place, weight * ~is_event, n_bands + 1),
    }
    evidence = _evidence(**counts, totals=totals)
    rising = _slope(evidence[:-1]) if not is_category and trend != "free" else 0
    if rising:  # rates that are equal up to rounding must not step against the trend
        evidence[:-1] = rising * np.maximum.accumulate(rising * evidence[:-1])
    groups = None
    if is_category:
        # a code between those that occur is as unknown as one beyond them
        groups = np.full(int(distinct[-1]) + 1 if len(distinct) else 1, n_bands, np.intp)
        groups[distinct.astype(np.intp)] = band
    return Bands(
        column,
        _between(distinct, cuts) if not is_category else np.empty(0),
        groups,
        **counts,
        evidence=evidence,
        information=_finite_information(**counts, totals=totals),
        one_band=one_band,
    )


def _why_one_band(
    events: Floats, others: Floats, totals: tuple[float, float], trend: Trend, rules: BandRules
) -> OneBand:
    """Find the rule without which the groups of a column would make two bands."""
    if len(events) < 2:
        return "one value" if len(events) else "no value"
    if rules.most == 1:
        return "max_bands"

    def makes_two(trend: Trend, price: float) -> bool:
        least = rules.least * sum(totals)
        two = best_cuts(
            events, others, totals=totals, most=2, least=least, trend=trend, price=price
        )
        return len(two) > 0

    if makes_two(trend, 0.0):
        return "min_gain"
    if makes_two("free", 0.0):
        return "trend"
    # with a reward for a second band, bands of equal rates are made as well
    return "equal" if makes_two("free", -1.0) else "too few"


def _sums(place: Index, weight: Floats, size: int) -> Floats:
    """Add up the weights of each place."""
    return np.bincount(place, weight, size).astype(np.float64)


def _slope(evidence: Floats) -> int:
    """Return 1 where the last value is above the first, -1 where it is below."""
    return int(np.sign(evidence[-1] - evidence[0]))


def _smoothed(events: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Add half a row to both classes of bands that have rows of one class only."""
    half = 0.5 * ((events == 0) | (others == 0)) * ((events > 0) | (others > 0))
    return events + half, others + half


def _evidence(events: Floats, others: Floats, *, totals: tuple[float, float]) -> Floats:
    """Return the weight of evidence of bands; zero where there are no rows."""
    events, others = _smoothed(events, others)
    with np.errstate(divide="ignore", invalid="ignore"):
        evidence = np.log(events / totals[0]) - np.log(others / totals[1])
    return np.asarray(np.where(events + others > 0, evidence, 0.0))


def _finite_information(events: Floats, others: Floats, *, totals: tuple[float, float]) -> Floats:
    """Return what bands add to the information value, after smoothing."""
    return information(*_smoothed(events, others), totals)


def _between(distinct: Floats, starts: Index) -> Floats:
    """Return cuts between distinct values, with as few digits as they can have."""
    return np.array([_short(distinct[k - 1], distinct[k]) for k in starts.tolist()], np.float64)


def _short(low: float, high: float) -> float:
    """Return a number of few digits from low up to below high, near the middle.

    Examples
    --------
    >>> _short(3913.0, 3931.0), _short(1.0, 2.0)
    (3920.0, 1.5)
    """
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        cut = float(f"{middle:.{digits}g}")
        if low <= cut < high:
            return cut
    return float(low)
