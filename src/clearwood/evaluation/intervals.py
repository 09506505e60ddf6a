"""Intervals for a risk, or for the difference of two risks, from the losses of rows.

Every function takes losses (one learner) or differences of losses on the same rows (two learners)
and returns an `Interval`. Rows may have weights; rows of one group count as one observation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_confidence
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import interval, number, percent
from clearwood._shared.results import Result
from clearwood._shared.weights import effective

__all__ = [
    "Average",
    "Interval",
    "Kind",
    "Mean",
    "around",
    "corrected_interval",
    "holdout_interval",
    "joint_level",
    "make_interval",
    "naive_interval",
    "origin_interval",
    "positive_ends",
    "simultaneous_level",
]


#: What a mean is taken of: 0 and 1, or numbers.
Kind = Literal["probability", "number"]


@dataclass(frozen=True)
class Interval(Result):
    """An estimate with its standard error and interval.

    Parameters
    ----------
    estimate
        The risk, or the difference of two.
    se
        Its standard error (for "nested": as an estimate of the risk of the fit to all rows).
    low, high
        The ends of the interval.
    kind
        "nested", "naive", "hold-out", "corrected" or "per-origin": how it is computed, and so what
        it covers (`target`).
    n
        How many independent observations it is based on: rows, groups, splits or spans of time.
    inflation
        The standard error as a multiple of the naive one; below 1 where learners differ less with
        all rows than in the fits that were judged.
    bias
        What was subtracted from the mean loss because fits had fewer rows than the table.
    confidence
        The level of the interval.
    """

    estimate: float
    se: float
    low: float
    high: float
    kind: str
    n: int
    inflation: float = 1.0
    bias: float = 0.0
    confidence: float = 0.9

    @property
    def target(self) -> str:
        """What the interval is for, in words."""
        return _TARGETS[self.kind]

    def __repr__(self) -> str:
        return (
            f"Interval({number(self.estimate, 4)}, {percent(self.confidence)} {self.kind} from "
            f"{interval(self.low, self.high, 4)})"
        )


_TARGETS = {
    "nested": "the risk of the procedure fitted to all rows of this table",
    "naive": "the average risk of fits to the training folds, as if these were independent: too "
    "short for the risk of the fit to all rows",
    "hold-out": "the risk of the one fit to the training rows",
    "corrected": "the average risk of fits to as many rows as were trained on",
    "per-origin": "the average risk of the fits, each on the span of time that follows its rows",
}


def naive_interval(
    losses: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.9,
    *,
    groups: ArrayLike | None = None,
) -> Interval:
    """Return the mean of cross-validated losses, as if the fits were independent.

    Losses of different folds are correlated, as their fits share rows; this interval ignores that
    and covers far less often than its level (Bates, Hastie and Tibshirani, 2024, section 4).

    Parameters
    ----------
    losses
        One for every test row.
    weights
        Of the rows.
    confidence
        The level.
    groups
        The group of each row, or the row itself where rows are tested more than once. The interval
        is then the cluster-robust one, with Student's quantile.

    Examples
    --------
    >>> naive_interval([0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    Interval(0.75, 90 % naive from 0.4808 to 1.019)
    """
    return _plain("naive", losses, weights, confidence, groups)


def holdout_interval(
    losses: ArrayLike,
    weights: ArrayLike | None = None,
    confidence: float = 0.9,
    *,
    groups: ArrayLike | None = None,
) -> Interval:
    """Return the mean loss of one fit on held-out rows.

    Given the training rows, the losses are independent and this is the textbook interval for a
    mean. It is for the fit to the training rows, not for a fit to all rows.

    Parameters
    ----------
    losses, weights, confidence, groups
        As for `naive_interval`.

    Examples
    --------
    >>> holdout_interval([1.0, 2.0, 3.0], confidence=0.95)
    Interval(2, 95 % hold-out from 0.8684 to 3.132)
    """
    return _plain("hold-out", losses, weights, confidence, groups)


def corrected_interval(
    losses: Sequence[ArrayLike],
    trained: Sequence[float],
    confidence: float = 0.9,
    *,
    weights: Sequence[ArrayLike] | None = None,
) -> Interval:
    """Return the mean over random hold-outs, with a variance that allows for shared training rows.

    The variance of the mean over J splits is taken as (1/J + n_test/n_train) times the variance
    between splits, with Student's quantile of J - 1 degrees of freedom (Nadeau and Bengio, 2003).

    Parameters
    ----------
    losses
        For every split, the losses of its test rows.
    trained
        For every split, how many rows were trained on; with weights, their total weight.
    confidence
        The level.
    weights
        For every split, the weights of its test rows.

    Examples
    --------
    >>> corrected_interval([[1.0, 2.0], [2.0, 4.0], [1.0, 1.0]], [8, 8, 8])
    Interval(1.833, 90 % corrected from -0.4879 to 4.155)
    """
    by_split = [np.asarray(part, dtype=np.float64) for part in losses]
    if len(by_split) < 2:
        raise InputError(
            "the corrected interval needs two splits or more",
            parameter="losses",
            hint="use more repeats.",
        )
    shares = [np.ones(len(part)) for part in by_split]
    if weights is not None:
        shares = [np.asarray(part, dtype=np.float64) for part in weights]
    means = np.array(
        [np.average(part, weights=own) for part, own in zip(by_split, shares, strict=True)]
    )
    between = float(means.var(ddof=1))
    ratio = sum(float(own.sum()) for own in shares) / sum(trained)
    plain = np.sqrt(between / len(means))
    se = float(np.sqrt((1 / len(means) + ratio) * between))
    return make_interval(
        float(means.mean()),
        se,
        "corrected",
        len(means),
        confidence,
        degrees=len(means) - 1,
        inflation=se / plain if plain > 0 else 1.0,
    )


def origin_interval(
    losses: Sequence[ArrayLike],
    confidence: float = 0.9,
    *,
    weights: Sequence[ArrayLike] | None = None,
) -> Interval:
    """Return the mean loss over spans of time, each span one observation.

    Losses that follow each other in time are correlated, so spans, not rows, are the observations:
    a cluster-robust interval over spans with Student's quantile. It is for forecasts from fits to
    ever longer pasts, and does not cover a future that differs from them.

    Parameters
    ----------
    losses
        For every span, the losses of its rows.
    confidence
        The level.
    weights
        For every span, the weights of its rows.

    Examples
    --------
    >>> origin_interval([[1.0, 2.0], [2.0, 4.0], [1.0, 1.0]])
    Interval(1.833, 90 % per-origin from 0.07864 to 3.588)
    """
    parts = [np.asarray(part, dtype=np.float64) for part in losses]
    spans = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    shares = None if weights is None else np.concatenate([np.asarray(own) for own in weights])
    return _plain("per-origin", np.concatenate(parts), shares, confidence, spans)


def simultaneous_level(confidence: float, learners: int) -> float:
    """Return the level of each difference for the differences of all learners to hold together.

    Bonferroni: the error level is divided among all pairs. That is enough for differences to the
    best learner, whichever it is.

    Examples
    --------
    >>> round(simultaneous_level(0.9, 2), 4), round(simultaneous_level(0.9, 5), 4)
    (0.9, 0.99)
    """
    return joint_level(confidence, learners * (learners - 1) // 2)


def joint_level(confidence: float, several: int) -> float:
    """Return the level of each of several intervals for all of them to hold together (Bonferroni).

    Examples
    --------
    >>> round(joint_level(0.9, 10), 4)
    0.99
    """
    return 1 - (1 - confidence) / max(several, 1)


class Average(Protocol):
    """A weighted mean over independent units, from whatever it was summed up."""

    @property
    def n(self) -> int:
        """Number of units with positive weight."""

    @property
    def total(self) -> float:
        """The weight of all units."""

    @property
    def size(self) -> float:
        """The number of units of equal weight that would be as exact (`effective`)."""

    @property
    def mean(self) -> float:
        """The weighted mean."""

    @property
    def variance(self) -> float:
        """Estimated variance of the mean; NaN for fewer than two units."""

    @property
    def degrees(self) -> float:
        """Degrees of freedom of `variance`."""


@dataclass(frozen=True, eq=False)
class Mean:
    """A weighted mean of losses as a ratio of totals over independent units.

    With rows as units and equal weights, `variance` is the usual s² / n; with units of several rows
    it is the cluster-robust variance of the ratio.
    """

    losses: Floats  # total of weight × loss, by unit
    weights: Floats  # total weight, by unit

    @classmethod
    def of(cls, losses: ArrayLike, weights: ArrayLike | None, groups: ArrayLike | None) -> "Mean":
        """Sum the losses of rows by unit: the row itself, or its group."""
        values = np.asarray(losses, dtype=np.float64)
        shares = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
        if groups is None:
            return cls(shares * values, shares)
        units = np.unique(np.asarray(groups), return_inverse=True)[1]
        totals = (np.bincount(units, counted) for counted in (shares * values, shares))
        return cls(*(total.astype(np.float64) for total in totals))

    @classmethod
    def together(cls, parts: Sequence["Mean"]) -> "Mean":
        """Pool the units of several means."""
        return cls(
            np.concatenate([part.losses for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    @property
    def n(self) -> int:
        """Number of units with positive weight."""
        return int(np.count_nonzero(self.weights))

    @property
    def total(self) -> float:
        """The weight of all units."""
        return float(self.weights.sum())

    @property
    def size(self) -> float:
        """The number of units of equal weight that would be as exact (`effective`)."""
        return effective(self.weights)

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return float(self.losses.sum() / self.weights.sum())

    @property
    def variance(self) -> float:
        """Estimated variance of the mean; NaN for fewer than two units."""
        if self.n < 2:
            return float("nan")
        residuals = self.losses - self.mean * self.weights
        scale = self.n / (self.n - 1) / self.weights.sum() ** 2
        return float(scale * (residuals**2).sum())

    @property
    def degrees(self) -> float:
        """Degrees of freedom of `variance`: few where few units make up most of it.

        Those of the multiple of a chi-square with the same mean and variance (Satterthwaite), at
        most one less than there are units, which is about what normal losses have.
        """
        most = float(max(self.n - 1, 1))
        squares = (self.losses - self.mean * self.weights)[self.weights > 0] ** 2
        noise = float(((squares - squares.mean()) ** 2).sum())
        return min(2 * float(squares.sum()) ** 2 / noise, most) if noise > 0 else most


def around(
    mean: Average,
    kind: Kind,
    confidence: float,
    *,
    inflation: float = 1.0,
    dispersion: float = float("nan"),
) -> tuple[float, float]:
    """Return the interval of an observed mean: Wilson's, or Student's; NaN for one number.

    The standard error is multiplied by `inflation`. The mean of a number that is never negative,
    which has a `dispersion` over all rows (`Pairs.dispersion`), has the interval of
    `positive_ends`. Where nothing was observed, that ends where none is just plausible.
    """
    tail = 0.5 + confidence / 2
    if kind == "number":
        quantile = float(stats.t.ppf(tail, max(mean.n - 1, 1))) * inflation
        if not np.isfinite(dispersion):
            half = quantile * float(np.sqrt(mean.variance))
            return mean.mean - half, mean.mean + half
        per_unit = mean.variance / mean.mean if mean.mean > 0 else dispersion / mean.total
        return positive_ends(mean.mean, per_unit, quantile)
    share, n = mean.mean, mean.n
    # the number of independent rows of weight one that would have the same variance
    variance = mean.variance * inflation**2 * (n - 1) / n
    alone = mean.size / inflation**2
    size = share * (1 - share) / variance if variance > 1e-12 else alone
    z = float(stats.norm.ppf(tail))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    # by rounding, an end that is 0 or 1 may be next to it
    low, high = float(centre - half), float(centre + half)
    return (low if low > 1e-12 else 0.0), (high if high < 1 - 1e-12 else 1.0)


def positive_ends(value: float, per_unit: float, quantile: float) -> tuple[float, float]:
    """Return the interval of a mean or a ratio that is never negative.

    The variance is taken as `per_unit` times the true value, as that of a count is proportional to
    its mean, which keeps the interval above zero and asymmetric.
    """
    spread = quantile**2 * per_unit
    half = float(np.sqrt(value * spread + spread**2 / 4))
    return max(value + spread / 2 - half, 0.0), value + spread / 2 + half


def _plain(
    kind: str,
    losses: ArrayLike,
    weights: ArrayLike | None,
    confidence: float,
    groups: ArrayLike | None,
) -> Interval:
    mean = Mean.of(losses, weights, groups)
    if mean.n == 0:
        raise InputError("there are no losses to average", parameter="losses")
    # one observation has a mean, but no standard error
    se = float(np.sqrt(mean.variance))
    degrees = None if groups is None else max(mean.n - 1, 1)
    return make_interval(mean.mean, se, kind, mean.n, confidence, degrees=degrees)


def make_interval(
    estimate: float,
    se: float,
    kind: str,
    n: int,
    confidence: float,
    *,
    degrees: float | None = None,
    inflation: float = 1.0,
    bias: float = 0.0,
) -> Interval:
    """Put the interval around the estimate, with Student's quantile if there are `degrees`."""
    check_confidence(confidence)
    tail = 0.5 + confidence / 2
    quantile = float(stats.norm.ppf(tail) if degrees is None else stats.t.ppf(tail, degrees))
    low, high = estimate - quantile * se, estimate + quantile * se
    return Interval(estimate, se, low, high, kind, n, inflation, bias, confidence)
