"""Measures as estimates: a value, what each row adds to its error, and the interval from both."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.weights import effective
from clearwood.evaluation.intervals import Average, Mean
from clearwood.evaluation.pairs import Pairs

__all__ = [
    "ATANH",
    "GAIN",
    "LOG",
    "LOGIT",
    "PLAIN",
    "Allowance",
    "Estimate",
    "Scale",
    "bounds",
    "ends_of",
    "moved",
    "without_rounding",
]

#: Values below this share of the width of their interval are 0.
_ROUNDING = 1e-9

Change = Callable[[float], float]


@dataclass(frozen=True, eq=False)
class Scale:
    """A scale on which the error of an estimate is about normal.

    Parameters
    ----------
    to, slope, back
        From a value to the scale, the derivative there, and from the scale to the value.
    least, most
        Between which values it is defined, both excluded.
    range_at_end
        How far apart the ends of what is measured are, where they can be reached; 0 where a value
        at an end is exact.
    """

    to: Change
    slope: Change
    back: Change
    least: float = -np.inf
    most: float = np.inf
    range_at_end: float = 0.0


#: Numbers as they are.
PLAIN = Scale(float, lambda _: 1.0, float)
#: Ratios.
LOG = Scale(lambda v: float(np.log(v)), lambda v: 1 / v, lambda s: float(np.exp(s)), least=0.0)
#: Shares.
LOGIT = Scale(
    lambda v: float(np.log(v / (1 - v))),
    lambda v: 1 / (v * (1 - v)),
    lambda s: float(1 / (1 + np.exp(-s))),
    least=0.0,
    most=1.0,
    range_at_end=1.0,
)
#: What lies between -1 and 1.
ATANH = Scale(
    lambda v: float(np.arctanh(v)),
    lambda v: 1 / (1 - v**2),
    lambda s: float(np.tanh(s)),
    least=-1.0,
    most=1.0,
    range_at_end=2.0,
)
#: One minus a ratio.
GAIN = Scale(
    lambda v: float(np.log1p(-v)),
    lambda v: -1 / (1 - v),
    lambda s: float(-np.expm1(s)),
    most=1.0,
)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A measure of predictions, with the influence of each row on it.

    Parameters
    ----------
    value
        The estimate.
    influence
        By how much the measure changes when the weight of a row does, relative to all weight:
        its weighted mean is zero and its variance that of the measure, to first order.
    scale
        Where its error is about normal.
    """

    value: float
    influence: Floats
    scale: Scale = PLAIN


@dataclass(frozen=True)
class Allowance:
    """What an interval allows for where predictions come from several fits that share rows.

    Parameters
    ----------
    inflation
        By how much the standard error is larger than that of independent rows.
    shift
        By how much the measure of the fit to all rows is expected to be larger than that of fits
        to fewer rows.
    """

    inflation: float = 1.0
    shift: float = 0.0


def bounds(
    estimate: Estimate, pairs: Pairs, confidence: float, allowance: Allowance | None = None
) -> tuple[float, float]:
    """Return the interval of an estimate.

    Rows of one unit count as one observation, and the quantile is Student's with the degrees of
    freedom that the variance has. At the end of a bounded scale, where no row changes the measure
    to first order, the interval is that of a share of all or none of as many rows (Wilson). The
    interval holds the estimate, also where it is moved away from it.

    Parameters
    ----------
    estimate
        Value and influence of the rows.
    pairs
        Weights and units of the rows.
    confidence
        The level.
    allowance
        What fits that share rows add to the error; nothing by default.
    """
    value, scale = estimate.value, estimate.scale
    mean = Mean.of(estimate.influence, pairs.weights, pairs.units)
    is_known = np.isfinite(value) and mean.n >= 2
    if is_known and scale.range_at_end and not scale.least < value < scale.most:
        return _at_the_end(value, scale, pairs, 0.5 + confidence / 2)
    return ends_of(value, scale, mean, confidence, allowance)


def ends_of(
    value: float,
    scale: Scale,
    influence: Average,
    confidence: float,
    allowance: Allowance | None = None,
) -> tuple[float, float]:
    """Return the interval of an estimate, from the mean of the influence of the rows.

    A value at the end of its scale is exact.
    """
    if not np.isfinite(value) or influence.n < 2:
        return np.nan, np.nan
    if not scale.least < value < scale.most:
        return value, value
    extra = allowance or Allowance()
    slope = scale.slope(value)
    error = extra.inflation * float(np.sqrt(influence.variance)) * abs(slope)
    half = float(stats.t.ppf(0.5 + confidence / 2, influence.degrees)) * error
    centre = scale.to(value) + extra.shift * slope
    ends = [scale.back(centre + side) for side in (-half, half)]
    return min(*ends, value), max(*ends, value)


def moved(value: float, ends: tuple[float, float], shift: float) -> tuple[float, float]:
    """Return the ends of an interval moved by a shift, so that they still hold the value."""
    return min(ends[0] + shift, value), max(ends[1] + shift, value)


def without_rounding(value: float, low: float, high: float) -> float:
    """Return 0 for a value that is 0 but for rounding: far smaller than the interval around it.

    Examples
    --------
    >>> without_rounding(4.9e-15, -0.5, 0.5), without_rounding(0.2, -0.5, 0.5)
    (0.0, 0.2)
    """
    width = high - low
    return 0.0 if np.isfinite(width) and abs(value) < _ROUNDING * width else value


def _at_the_end(value: float, scale: Scale, pairs: Pairs, tail: float) -> tuple[float, float]:
    """Return the interval of a share or a correlation that is all or none."""
    # the rarer class is what limits how much can be known about a ranking
    classes = [pairs.truth == label for label in np.unique(pairs.truth)]
    if len(classes) == 2:
        sizes = [effective(pairs.weights[own], pairs.units[own]) for own in classes]
    else:
        sizes = [effective(pairs.weights, pairs.units)]
    z = float(stats.norm.ppf(tail))
    width = scale.range_at_end * z**2 / (min(sizes) + z**2)
    return (value - width, value) if value > 0.5 else (value, value + width)
