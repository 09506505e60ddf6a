"""Lift: what is observed where predictions are low and where they are high."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import bad_value
from clearwood._shared.numbers import count, interval, number, percent
from clearwood._shared.results import Result
from clearwood.evaluation.intervals import Kind, Mean, around
from clearwood.evaluation.pairs import Pairs, bins_of
from clearwood.losses import Loss, find_loss

__all__ = ["Advantage", "Lift", "double_lift_of", "lift_of"]


@dataclass(frozen=True)
class Advantage(Result):
    """How much smaller the mean loss of a model is than that of another prediction.

    Both are first multiplied by a factor so that their total is the observed one.

    Parameters
    ----------
    difference, low, high
        Mean loss of the other less that of the model, with its interval; above zero the model is
        better.
    loss
        The loss.
    """

    difference: float
    low: float
    high: float
    loss: str
    _derived = ("clear",)

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, eq=False, repr=False)
class Lift(Result):
    """Means of what is observed and predicted, in bins of about equal weight.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    against
        The name of another prediction; None for a plain lift. With another one, bins are those of
        the ratio of the two, and both have the observed total.
    start, end
        The smallest and the largest value in each bin, of the prediction or of the ratio.
    rows, weight
        How many rows each bin holds, and their weight, such as exposure.
    predicted, observed, low, high
        The mean prediction and the mean target, with its interval.
    other
        The mean of the other prediction; None without one.
    advantage
        What is gained over the other prediction; None without one.
    confidence
        The level of the intervals.
    is_weighted
        Whether rows count by their weight.
    """

    learner: str
    what: str
    against: str | None
    start: Floats
    end: Floats
    rows: NDArray[np.int64]
    weight: Floats
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    other: Floats | None
    advantage: Advantage | None
    confidence: float
    is_weighted: bool = False
    _derived = ("ratio",)

    @property
    def ratio(self) -> float:
        """The observed mean of the last bin as a multiple of that of the first."""
        first = float(self.observed[0])
        return float(self.observed[-1]) / first if first else float("nan")

    def _columns(self) -> dict[str, Any]:
        names = ["start", "end", "rows", "weight", "predicted", "observed", "low", "high"]
        names += [] if self.other is None else ["other"]
        return {name: getattr(self, name) for name in names}

    def plot(self) -> Any:
        """Draw observed and predicted means bin by bin (Altair)."""
        from clearwood.plot import plot_lift

        return plot_lift(self)

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        gain = self.advantage
        text = (
            f"{'Lift' if gain is None else 'Double lift'} of {self.learner!r}, "
            f"{self.what}{weighted}, {count(len(self.rows), 'bin')}: observed "
            f"{number(self.observed[0])} in the first and {number(self.observed[-1])} in the last"
        )
        if gain is None:
            return text
        side = "smaller" if gain.difference >= 0 else "larger"
        low, high = sorted((abs(gain.low), abs(gain.high))) if gain.clear else (gain.low, gain.high)
        return (
            f"{text}. The {find_loss(gain.loss).risk_title} is {number(abs(gain.difference))} "
            f"({interval(low, high)}, {percent(self.confidence)}) {side} than that of "
            f"{self.against!r}"
        )


def lift_of(
    pairs: Pairs,
    *,
    kind: Kind,
    bins: int | Sequence[float] = 10,
    confidence: float = 0.9,
    inflation: float = 1.0,
    copies: int = 1,
    order: Floats | None = None,
    **about: Any,
) -> Lift:
    """Return the means in bins of the prediction, or of another order of the rows.

    Parameters
    ----------
    pairs
        Truth and predictions.
    kind
        Whether the truth is 0 and 1 or a number.
    bins
        How many bins of about equal weight, ties together; or the values between bins.
    confidence, inflation
        Of the intervals.
    copies
        How many predictions there are of each row.
    order
        What bins are made of; by default the prediction.
    **about
        Names and further parts of the result.
    """
    values = pairs.predicted if order is None else order
    if isinstance(bins, int | np.integer):
        which = bins_of(values, int(bins), pairs.weights)
    else:
        cuts = _cuts(bins)
        which = np.unique(np.searchsorted(cuts, values, side="right"), return_inverse=True)[1]
    groups = [np.flatnonzero(which == k) for k in range(int(which.max()) + 1)]
    inside = [Mean.of(pairs.truth[own], pairs.weights[own], pairs.units[own]) for own in groups]
    options = {"inflation": inflation, "dispersion": pairs.dispersion}
    ends = [around(mean, kind, confidence, **options) for mean in inside]
    return Lift(
        start=np.array([values[own].min() for own in groups]),
        end=np.array([values[own].max() for own in groups]),
        rows=np.array([round(len(own) / copies) for own in groups]),
        weight=np.array([pairs.weights[own].sum() for own in groups]),
        predicted=_means(pairs.predicted, pairs.weights, groups),
        observed=np.array([mean.mean for mean in inside]),
        low=np.array([low for low, _ in ends]),
        high=np.array([high for _, high in ends]),
        confidence=confidence,
        **{"against": None, "other": None, "advantage": None, **about},
    )


def _cuts(bins: Any) -> Floats:
    """Return the values between bins, checked."""
    try:
        cuts = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.zeros(0)
    if cuts.ndim != 1 or not len(cuts) or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
        raise bad_value("bins", bins, "it must be a number of bins, or increasing values")
    return cuts


def double_lift_of(
    pairs: Pairs,
    other: Floats,
    *,
    kind: Kind,
    loss: Loss,
    bins: int | Sequence[float] = 10,
    confidence: float = 0.9,
    inflation: float = 1.0,
    **about: Any,
) -> Lift:
    """Return the means of two predictions and the truth, in bins of the ratio of the two.

    Both predictions are multiplied by a factor that gives them the observed total.
    """
    total = float((pairs.weights * pairs.truth).sum())
    own = pairs.predicted * (total / float((pairs.weights * pairs.predicted).sum()))
    theirs = other * (total / float((pairs.weights * other).sum()))
    gaps = _losses(loss, kind, pairs.truth, theirs) - _losses(loss, kind, pairs.truth, own)
    mean = Mean.of(gaps, pairs.weights, pairs.units)
    low, high = around(mean, "number", confidence, inflation=inflation)
    lifted = lift_of(
        Pairs(pairs.truth, own, pairs.weights, pairs.units, pairs.zero_weights),
        kind=kind,
        bins=bins,
        confidence=confidence,
        inflation=inflation,
        order=own / theirs,
        advantage=Advantage(mean.mean, low, high, loss.name),
        **about,
    )
    which = np.searchsorted(lifted.end, own / theirs)
    groups = [np.flatnonzero(which == k) for k in range(len(lifted.end))]
    return _with_other(lifted, _means(theirs, pairs.weights, groups))


def _with_other(lifted: Lift, other: Floats) -> Lift:
    return Lift(**{**vars(lifted), "other": other})


def _losses(loss: Loss, kind: Kind, truth: Floats, predicted: Floats) -> Floats:
    """Return the loss of each row; probabilities that a factor lifts above 1 count as 1."""
    if kind == "number":
        return loss.per_row(truth, predicted)
    p = np.clip(predicted, 0.0, 1.0)
    return loss.per_row(truth, np.column_stack([1 - p, p]))


def _means(values: Floats, weights: Floats, groups: Sequence[NDArray[Any]]) -> Floats:
    return np.array([np.average(values[own], weights=weights[own]) for own in groups])
