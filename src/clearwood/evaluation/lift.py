"""Lift: what is observed where predictions are low and where they are high."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, bad_value
from clearwood._shared.numbers import count, interval, number, percent
from clearwood._shared.results import Result
from clearwood.evaluation.intervals import Interval, Kind, Mean, around, joint_level
from clearwood.evaluation.link_regression import fit_link, linked
from clearwood.evaluation.pairs import Pairs, bins_of
from clearwood.losses import Loss, find_loss

__all__ = ["Advantage", "Lift", "double_lift_of", "lift_of"]


@dataclass(frozen=True)
class Advantage(Result):
    """How much smaller the mean loss of a model is than that of another prediction.

    Parameters
    ----------
    difference, low, high
        Mean loss of the other less that of the model, with its interval; above zero the model is
        better.
    loss
        The loss.
    is_rescaled
        Whether both have the observed mean, as was asked for; the loss is otherwise that of the
        predictions as they are.
    """

    difference: float
    low: float
    high: float
    loss: str
    is_rescaled: bool = False
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
        the ratio of the two.
    start, end
        The smallest and the largest value in each bin, of the prediction or of the ratio.
    rows, weight
        How many rows each bin holds, and their weight, such as exposure.
    predicted, observed, low, high
        The mean prediction and the mean target, with its interval. The intervals of all bins hold
        together (Bonferroni).
    other
        The mean of the other prediction; None without one.
    advantage
        What is gained over the other prediction; None without one.
    confidence
        The level of the intervals: of the bins, of all together.
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
            f"{self.what}{weighted}, {count(len(self.rows), 'bin')}, {percent(self.confidence)} "
            f"intervals of all bins together: observed {number(self.observed[0])} in the first and "
            f"{number(self.observed[-1])} in the last"
        )
        if gain is None:
            return text
        side = "smaller" if gain.difference >= 0 else "larger"
        low, high = sorted((abs(gain.low), abs(gain.high))) if gain.clear else (gain.low, gain.high)
        scaled = ", both rescaled to the observed mean" if gain.is_rescaled else ""
        return (
            f"{text}. The {find_loss(gain.loss).risk_title} is {number(abs(gain.difference))} "
            f"({interval(low, high)}, {percent(self.confidence)}) {side} than that of "
            f"{self.against!r}{scaled}"
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
    together = joint_level(confidence, len(inside))
    ends = [around(mean, kind, together, **options) for mean in inside]
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
    rescale: bool = False,
    compared: Interval | None = None,
    bins: int | Sequence[float] = 10,
    confidence: float = 0.9,
    inflation: float = 1.0,
    **about: Any,
) -> Lift:
    """Return the means of two predictions and the truth, in bins of the ratio of the two.

    Parameters
    ----------
    pairs, other
        Truth and predictions, and the other prediction of each row.
    kind
        Whether the truth is 0 and 1 or a number.
    loss
        What the two are compared by.
    rescale
        Whether both get the observed mean first: positive numbers by a factor, probabilities by a
        constant that is added to their log-odds.
    compared
        The difference of the two mean losses with its interval, where it is known already.
    bins, confidence, inflation, **about
        As for `lift_of`.
    """
    own = pairs.predicted
    if rescale:
        own, other = (_rescaled(of, pairs, kind) for of in (own, other))
    if compared is not None and not rescale:
        gain = Advantage(compared.estimate, compared.low, compared.high, loss.name)
    else:
        gaps = _losses(loss, kind, pairs.truth, other) - _losses(loss, kind, pairs.truth, own)
        mean = Mean.of(gaps, pairs.weights, pairs.units)
        low, high = around(mean, "number", confidence, inflation=inflation)
        gain = Advantage(mean.mean, low, high, loss.name, rescale)
    lifted = lift_of(
        Pairs(pairs.truth, own, pairs.weights, pairs.units, pairs.n_zero_weight),
        kind=kind,
        bins=bins,
        confidence=confidence,
        inflation=inflation,
        order=own / other,
        advantage=gain,
        **about,
    )
    which = np.searchsorted(lifted.end, own / other)
    groups = [np.flatnonzero(which == k) for k in range(len(lifted.end))]
    return replace(lifted, other=_means(other, pairs.weights, groups))


def _rescaled(predicted: Floats, pairs: Pairs, kind: Kind) -> Floats:
    """Return predictions moved by a constant on the scale of the link to the observed mean."""
    if kind == "number":
        total, own = ((pairs.weights * of).sum() for of in (pairs.truth, predicted))
        return np.asarray(predicted * (total / own))
    start = linked(predicted, "logit")
    fit = fit_link(np.ones((len(predicted), 1)), pairs, "logit", start)
    if fit is None:
        raise InputError(
            "the rows have one class only, and no probabilities have that mean",
            parameter="rescale",
            value=True,
        )
    return fit.fitted


def _losses(loss: Loss, kind: Kind, truth: Floats, predicted: Floats) -> Floats:
    """Return the loss of each row."""
    if kind == "number":
        return loss.per_row(truth, predicted)
    return loss.per_row(truth, np.column_stack([1 - predicted, predicted]))


def _means(values: Floats, weights: Floats, groups: Sequence[NDArray[Any]]) -> Floats:
    return np.array([np.average(values[own], weights=weights[own]) for own in groups])
