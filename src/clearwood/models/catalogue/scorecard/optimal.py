"""Bands of one column with the greatest information value, by dynamic programming.

The information value of bands is Σ (p_b − q_b) log(p_b / q_b), where p_b and q_b are the shares of
the events and of the other rows in band b (Jeffreys' divergence). It is a sum over bands, and that
rates rise from band to band concerns neighbours only. So the best division that ends with a band
from cut i to cut j is that band and the best division up to i whose last rate is not above it.
Sorted by rate, "not above it" is a prefix: all cuts take O(bands · cuts² · log cuts).
"""

from typing import Literal, get_args

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index

__all__ = ["TRENDS", "Trend", "best_cuts", "information", "thinned_groups"]

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
