"""The bands of a column: where they end, or which levels they hold, and their evidence."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index

__all__ = [
    "TRENDS",
    "BandRules",
    "Bands",
    "OneBand",
    "Trend",
    "bands_of",
    "best_cuts",
    "information",
    "thinned_groups",
]


# Bands of one column with the greatest information value, by dynamic programming.
#
# The information value of bands is Σ (p_b − q_b) log(p_b / q_b), where p_b and q_b are the shares
# of the events and of the other rows in band b (Jeffreys' divergence). It is a sum over bands,
# and that rates rise from band to band concerns neighbours only. So the best division that ends
# with a band from cut i to cut j is that band and the best division up to i whose last rate is
# not above it. Sorted by rate, "not above it" is a prefix: all cuts take O(bands · cuts² · log
# cuts).


#: How rates go from band to band: "auto" is the better of up and down.
Trend = Literal["auto", "up", "down", "free"]
TRENDS: tuple[str, ...] = get_args(Trend)


def information(events: Floats, others: Floats, totals: tuple[float, float]) -> Floats:
    """Return what bands add to the information value; infinite where one count alone is zero.

    Examples
    --------
    >>> information(np.array([30.0]), np.array([10.0]), (60.0, 40.0)).round(4)
    array([0.1733])
    """
    p, q = events / totals[0], others / totals[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (p - q) * (np.log(p) - np.log(q))
    return np.asarray(np.where((p == 0) & (q == 0), 0.0, value))


def best_cuts(
    events: Floats,
    others: Floats,
    *,
    totals: tuple[float, float],
    most: int,
    least: float,
    trend: Trend = "auto",
    price: float = 0.0,
) -> Index:
    """Join neighbouring groups of rows to bands of the greatest information value.

    Parameters
    ----------
    events, others
        Weight of both classes in each group, in the order of the column.
    totals
        Weight of both classes in the whole table, rows whose value is missing included.
    most
        Bands at most.
    least
        Weight that a band has at least. It also has rows of both classes, as long as the column
        has: otherwise its evidence would be infinite.
    trend
        Whether the share of events rises, falls, or does either ("free") from band to band;
        "auto" is the better of the first two.
    price
        What a band must add to the information value.

    Returns
    -------
    ndarray
        The first group of each band but the first; empty where one band is best.

    Examples
    --------
    >>> events, others = np.array([1.0, 2, 8, 9, 3]), np.array([9.0, 8, 2, 1, 7])
    >>> best_cuts(events, others, totals=(23, 27), most=3, least=5, trend="up")
    array([1, 2])
    >>> best_cuts(events, others, totals=(23, 27), most=3, least=5, trend="free")
    array([2, 4])
    """
    n = len(events)
    if n < 2:
        return np.empty(0, np.intp)
    first = np.concatenate([[0.0], np.cumsum(events)])
    second = np.concatenate([[0.0], np.cumsum(others)])
    events_of = first[None, :] - first[:, None]
    others_of = second[None, :] - second[:, None]
    # sums of weights are compared beyond their rounding
    enough = events_of + others_of >= least - 1e-9 * (first[-1] + second[-1])
    allowed = np.triu(enough & _some(events_of, first) & _some(others_of, second), 1)
    gain = np.full((n + 1, n + 1), -np.inf)
    gain[allowed] = information(events_of[allowed], others_of[allowed], totals)
    rate = np.zeros((n + 1, n + 1))
    rate[allowed] = events_of[allowed] / (events_of[allowed] + others_of[allowed])
    signs = {"up": (1.0,), "down": (-1.0,), "free": (0.0,), "auto": (1.0, -1.0)}[trend]
    results = [_divided(gain, sign * rate, min(most, n), price) for sign in signs]
    return max(results, key=lambda one: one[0])[1]


def _some(sums: Floats, running: Floats) -> Bools:
    """Return where there are rows of a class, differences of sums being rounded."""
    return np.asarray(sums > 1e-12 * running[-1])


def _divided(gain: Floats, rate: Floats, most: int, price: float) -> tuple[float, Index]:
    """Return the value, less the price of bands, and the cuts of the best division.

    Of divisions of the same value the one of fewest bands is taken; -inf and no cuts where no
    division is allowed.
    """
    n = len(gain) - 1
    # best[k, i, j]: k + 1 bands up to j, the last one from i
    best = np.full((most, n + 1, n + 1), -np.inf)
    best[0, 0] = gain[0]
    for i in range(1, n):
        order = np.argsort(rate[:i, i], kind="stable")
        until = np.maximum.accumulate(best[:-1, order, i], axis=1)
        place = np.searchsorted(rate[order, i], rate[i, i + 1 :], side="right")
        before = np.where(place > 0, until[:, np.maximum(place - 1, 0)], -np.inf)
        best[1:, i, i + 1 :] = gain[i, i + 1 :] + before
    ends = best[:, :, n].max(axis=1) - price * np.arange(1, most + 1)
    # bands that differ by rounding only are no better
    good = ends >= ends.max() - 1e-12 * max(1.0, abs(float(ends.max())))
    k = int(np.argmax(good))
    if not np.isfinite(ends[k]):
        return -np.inf, np.empty(0, np.intp)
    i, j, cuts = int(np.argmax(best[k, :, n])), n, []
    while k > 0:
        cuts.append(i)
        k -= 1
        candidates = np.where(rate[:i, i] <= rate[i, j], best[k, :i, i], -np.inf)
        i, j = int(np.argmax(candidates)), i
    return float(ends[good][0]), np.array(cuts[::-1], np.intp)


def thinned_groups(weight: Floats, most: int) -> Index:
    """Return the first group of each of at most so many runs of groups, of about equal weight.

    Examples
    --------
    >>> thinned_groups(np.ones(8), 4)
    array([0, 2, 4, 6])
    """
    if len(weight) <= most:
        return np.arange(len(weight))
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    run = np.minimum((middle * most).astype(np.intp), most - 1)
    return np.flatnonzero(np.concatenate([[True], run[1:] > run[:-1]]))


#: Why a column has one band in addition to the one of missing values.
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
        """The number of bands without the one of missing values."""
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
