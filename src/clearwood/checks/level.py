"""The level of predictions: whether they add up to what was observed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import ClearwoodWarning, Option, Text, words
from clearwood._shared.numbers import interval, number, percent
from clearwood._shared.results import Result

__all__ = ["REBALANCE", "Level", "LevelWarning", "level_of"]


class LevelWarning(ClearwoodWarning):
    """Predictions for the training rows do not add up to what was observed."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Level(Result):
    """The sum of what was observed over the sum of what was expected, with its interval.

    Parameters
    ----------
    ratio
        Observed / expected; 1 where predictions add up to what was observed.
    low, high
        The ends of its interval; NaN where it is not known.
    confidence
        The level of the interval.

    Examples
    --------
    >>> Level(ratio=1.09, low=1.05, high=1.13)
    observed / expected 1.09 (90 % interval 1.05 to 1.13)
    """

    ratio: float
    low: float
    high: float
    confidence: float = 0.9
    _derived: ClassVar[tuple[str, ...]] = ("is_off", "text")

    @property
    def is_off(self) -> bool:
        """Whether the interval excludes 1."""
        return self.low > 1 or self.high < 1

    @property
    def text(self) -> str:
        """The ratio and its interval in words."""
        text = f"observed / expected {number(self.ratio)}"
        if not np.isfinite([self.low, self.high]).all():
            return text
        return f"{text} ({percent(self.confidence)} interval {interval(self.low, self.high)})"

    @property
    def verdict(self) -> str:
        """What the interval says about the predictions."""
        if not self.is_off:
            return f"the predictions agree in level with what was observed: {self.text}"
        return f"the predictions are too {'low' if self.ratio > 1 else 'high'}: {self.text}"

    @property
    def advice(self) -> Text:
        """The verdict, and what restores the total where it is off."""
        return words(self.verdict, REBALANCE if self.is_off else None)

    def __repr__(self) -> str:
        return self.text


#: How a level that is off is mended.
REBALANCE = words(
    "; ",
    Option("rebalance", value=True),
    " multiplies the predictions so that they add up to the total of the training rows",
)


def level_of(
    observed: Floats,
    expected: Floats,
    weights: Floats | None = None,
    groups: NDArray[Any] | None = None,
    confidence: float = 0.9,
) -> Level | None:
    """Compare the sum of what was observed with the sum of what was expected.

    The interval is that of a ratio of totals over independent rows, or groups of rows, on the
    logarithmic scale, with the degrees of freedom of its variance (Satterthwaite).

    Parameters
    ----------
    observed, expected
        Of each row: means or rates, whose totals are by weight.
    weights
        Of the rows; by default all count the same.
    groups
        The group of each row, where rows of one group depend on each other.
    confidence
        The level of the interval.

    Returns
    -------
    Level or None
        None where a total is not positive, or a value is negative.

    Examples
    --------
    >>> rows = np.arange(1.0, 101.0)
    >>> level_of(1.2 * rows, rows).is_off
    True
    """
    shares = np.ones(len(observed)) if weights is None else weights
    if (observed < 0).any() or (expected < 0).any():
        return None
    total, predicted = float(shares @ observed), float(shares @ expected)
    if not (np.isfinite([total, predicted]).all() and min(total, predicted) > 0):
        return None
    ratio = total / predicted
    off = shares * (observed - ratio * expected)
    if groups is None:
        off = off[shares > 0]
    else:
        units = np.unique(groups[shares > 0], return_inverse=True)[1]
        off = np.bincount(units, off[shares > 0]).astype(np.float64)
    n = len(off)
    if n < 2:
        return Level(ratio=ratio, low=np.nan, high=np.nan, confidence=confidence)
    squares = off**2
    noise = float(((squares - squares.mean()) ** 2).sum())
    freedom = n - 1.0
    if noise > 0:
        freedom = min(2 * float(squares.sum()) ** 2 / noise, freedom)
    error = np.sqrt(n / (n - 1) * squares.sum()) / total
    half = float(stats.t.ppf(0.5 + confidence / 2, freedom) * error)
    return Level(
        ratio=ratio,
        low=float(ratio * np.exp(-half)),
        high=float(ratio * np.exp(half)),
        confidence=confidence,
    )
