"""Intervals of shares, means and of their differences and ratios, which cover in small groups too.

At a nominal 90 % the least exact coverage over groups of 10 to 1,000 rows and shares from 0.3 to
50 % is 87.2 % for single shares; that of ratios and differences is at least 87 %.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.weights import effective
from clearwood.evaluation import Mean

__all__ = ["Spread", "difference", "mean_of", "observed_over_expected", "ratio", "share_of"]

#: Events up to which the lower end of a share is one-sided, up to which both ends are Poisson's,
#: and below which the dispersion of all rows counts where it is larger than that of a group.
_NEXT_TO_NONE, _FEW_EVENTS, _SOME_EVENTS = 2.5, 6.5, 60.0


@dataclass(frozen=True)
class Spread:
    """An estimate between the ends of its interval.

    Examples
    --------
    >>> ratio(Spread(0.4, 0.3, 0.5), Spread(0.5, 0.4, 0.6)).value
    0.8
    """

    value: float
    low: float
    high: float

    @property
    def inverse(self) -> "Spread":
        """One minus the share."""
        return Spread(1 - self.value, 1 - self.high, 1 - self.low)


UNKNOWN = Spread(np.nan, np.nan, np.nan)


def share_of(mean: Mean, confidence: float, *, inflation: float = 1.0) -> Spread:
    """Return a share with Wilson's interval, widened where next to none or nearly all are selected.

    Student's quantile stands for the normal one. With up to six events the ends are no nearer than
    those of a Poisson count, with one or two the lower one as Brown, Cai and DasGupta (2001)
    propose, and with none the upper end is exact.

    Parameters
    ----------
    mean
        Of zeros and ones, by independent unit.
    confidence
        The level.
    inflation
        By how much the standard error is larger than that of independent units.

    Examples
    --------
    >>> none = share_of(Mean.of(np.zeros(30), None, None), 0.9)
    >>> none.low, round(none.high, 3)
    (0.0, 0.095)
    """
    n = mean.n
    if not n:
        return UNKNOWN
    share = min(max(mean.mean, 0.0), 1.0)
    variance = mean.variance * inflation**2 * (n - 1) / n if n > 1 else 0.0
    known = mean.weights[mean.weights > 0]
    size = effective(known) / inflation**2
    if variance > 1e-12:
        size = share * (1 - share) / variance
    tail = (1 - confidence) / 2
    z = float(stats.t.ppf(1 - tail, max(n - 1, 1)))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    low, high = max(float(centre - half), 0.0), min(float(centre + half), 1.0)
    for_events, against = share * size, (1 - share) * size
    low = min(low, _least(for_events, size, tail), 1 - _most(against, size, tail))
    high = max(high, _most(for_events, size, tail), 1 - _least(against, size, tail))
    low, high = max(low, 0.0), min(high, 1.0)
    if share <= 0:
        low, high = 0.0, max(high, float(1 - tail ** (1 / size)))
    if share >= 1:
        low, high = min(low, float(tail ** (1 / size))), 1.0
    return Spread(share, low, high)


def _least(events: float, size: float, tail: float) -> float:
    """Return the lower end of few Poisson events; infinity where they are not few."""
    if not 0 < events <= _FEW_EVENTS:
        return np.inf
    # with one or two the whole error is on this side
    below = 2 * tail if events <= _NEXT_TO_NONE else tail
    return float(stats.chi2.ppf(below, 2 * events) / 2 / size)


def _most(events: float, size: float, tail: float) -> float:
    """Return the upper end of few Poisson events; 0 where they are not few."""
    if not 0 < events <= _FEW_EVENTS:
        return 0.0
    return float(stats.chi2.ppf(1 - tail, 2 * (events + 1)) / 2 / size)


def mean_of(
    values: Floats, weights: Floats, units: Index | None, confidence: float, *, inflation: float = 1
) -> Spread:
    """Return a mean with Student's interval, on the logarithmic scale where none is negative.

    Rates of rare events and amounts with zeros then miss the truth as often on either side, and no
    end is below 0. Where nothing at all was observed, the interval is not known: its ends are NaN.
    The degrees of freedom are those that the variance has (Satterthwaite): few where a few large
    values make up most of it.

    Examples
    --------
    >>> mean_of(np.array([1.0, 2.0, 3.0]), np.ones(3), None, 0.9).value
    2.0
    """
    largest = float(np.abs(values).max(initial=0.0))
    # squares of the largest numbers would overflow; by a power of two nothing is rounded
    unit = 2.0 ** np.floor(np.log2(largest)) if largest > 0 else 1.0
    scaled = _mean_of(values / unit, weights, units, confidence, inflation)
    return Spread(*(float(end * unit) for end in (scaled.value, scaled.low, scaled.high)))


def _mean_of(
    values: Floats, weights: Floats, units: Index | None, confidence: float, inflation: float
) -> Spread:
    """Return the mean of numbers of about one."""
    mean = Mean.of(values, weights, units)
    if not mean.n:
        return UNKNOWN
    value = mean.mean
    if mean.n < 2 or not values.any():
        return Spread(value, np.nan, np.nan)
    error = float(stats.t.ppf(0.5 + confidence / 2, mean.degrees))
    error *= inflation * float(np.sqrt(mean.variance))
    if value > 0 and bool((values >= 0).all()):
        factor = float(np.exp(min(error / value, 700.0)))
        return Spread(value, value / factor, value * factor)
    return Spread(value, value - error, value + error)


def difference(first: Spread, second: Spread) -> Spread:
    """Return a difference of independent estimates from their intervals (Newcombe 1998).

    Examples
    --------
    >>> difference(Spread(0.5, 0.25, 0.75), Spread(0.25, 0.25, 0.25))
    Spread(value=0.25, low=0.0, high=0.5)
    """
    value = first.value - second.value
    down = float(np.hypot(first.value - first.low, second.high - second.value))
    up = float(np.hypot(first.high - first.value, second.value - second.low))
    return Spread(value, value - down, value + up)


def ratio(first: Spread, second: Spread) -> Spread:
    """Return a ratio of independent estimates from their intervals (Donner and Zou 2012, MOVER).

    The estimates must not be negative. Where the second may be zero, there is no upper end.

    Examples
    --------
    >>> both = Spread(0.5, 0.4, 0.6)
    >>> result = ratio(both, both)
    >>> round(result.low * result.high, 6)
    1.0
    """
    if not (first.value >= 0 and second.value >= 0):
        return UNKNOWN
    # products of the largest and of the smallest numbers leave the range of numbers
    units = [spread.value or spread.high or 1.0 for spread in (first, second)]
    scaled = _ratio(*(_scaled(one, unit) for one, unit in zip((first, second), units, strict=True)))
    return _scaled(scaled, units[1] / units[0])


def _scaled(spread: Spread, unit: float) -> Spread:
    """Return an estimate in another unit."""
    return Spread(*(float(end) / unit for end in (spread.value, spread.low, spread.high)))


def _ratio(first: Spread, second: Spread) -> Spread:
    """Return the ratio of estimates of about one."""
    a, b = first.value, second.value
    product = a * b
    value = a / b if b > 0 else np.nan
    with np.errstate(over="ignore", invalid="ignore"):
        above = second.high * (2 * b - second.high)
        below = max(first.low, 0.0) * (2 * a - max(first.low, 0.0))
        # the root of the quadratic in the form that does not cancel
        root = np.sqrt(max(product**2 - below * above, 0.0))
        low = below / (product + root) if below > 0 else 0.0
        above = first.high * (2 * a - first.high)
        below = second.low * (2 * b - second.low)
        root = np.sqrt(max(product**2 - above * below, 0.0))
        high = (product + root) / below if second.low > 0 and below > 0 else np.inf
    return Spread(float(value), float(low), float(high))


def observed_over_expected(
    observed: Floats,
    expected: Floats,
    weights: Floats,
    units: Index | None,
    confidence: float,
    *,
    dispersion: float,
    inflation: float = 1.0,
) -> Spread:
    """Return observed / expected with the interval of a quasi-score.

    The variance is taken as proportional to the ratio, as that of a count is to its mean, which
    keeps the interval above zero and asymmetric. In groups with few events the dispersion of all
    rows counts where it is larger than their own.

    Parameters
    ----------
    observed, expected, weights, units
        Of the rows of the group.
    confidence
        The level.
    dispersion
        The variance of observed totals as a multiple of what is expected, over all rows.
    inflation
        By how much the standard error is larger than that of independent units.

    Examples
    --------
    >>> y, p = np.array([0.0, 1.0, 0.0, 1.0]), np.full(4, 0.5)
    >>> observed_over_expected(y, p, np.ones(4), None, 0.9, dispersion=1.0).value
    1.0
    """
    total = float(weights.sum())
    mean_expected = float(np.average(expected, weights=weights))
    if not mean_expected > 0 or (observed < 0).any():
        return UNKNOWN
    value = float(np.average(observed, weights=weights)) / mean_expected
    mean = Mean.of(observed - value * expected, weights, units)
    pooled = dispersion / (mean_expected * total)
    per_unit = mean.variance / mean_expected**2 / value if value > 0 and mean.n > 1 else pooled
    if not np.isfinite(per_unit):
        per_unit = pooled
    if np.isfinite(pooled) and not value > _SOME_EVENTS * per_unit:
        per_unit = max(per_unit, pooled)
    tail = (1 - confidence) / 2
    z = float(stats.t.ppf(1 - tail, max(mean.n - 1, 1)))
    spread = (z * inflation) ** 2 * per_unit
    half = float(np.sqrt(value * spread + spread**2 / 4))
    low, high = max(value + spread / 2 - half, 0.0), value + spread / 2 + half
    if not per_unit > 0:  # all predictions are exact
        return Spread(value, value, value)
    low = min(low, _least(value / per_unit, 1 / per_unit, confidence))
    if value <= 0:
        high = max(high, float(-np.log(tail)) * inflation**2 * per_unit)
    return Spread(value, low, high)
