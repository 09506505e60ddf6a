"""Curves of a ranking: receiver operating characteristic, precision and recall, Lorenz."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.numbers import interval, number, percent
from clearwood._shared.results import Result
from clearwood.evaluation.estimates import Allowance, bounds
from clearwood.evaluation.pairs import Pairs
from clearwood.evaluation.ranking import (
    auc,
    average_precision,
    concentration,
    gini_of_auc,
    ks,
    ranks_within,
    times_perfect,
)

__all__ = [
    "Lorenz",
    "PrecisionRecall",
    "Roc",
    "lorenz_curve",
    "precision_recall_curve",
    "roc_curve",
]

#: Points that a curve is drawn with.
_POINTS = 200


@dataclass(frozen=True, eq=False, repr=False)
class Roc(Result):
    """Members found against false alarms, for every threshold of the score.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    threshold
        Rows with a higher score count as members; shares of a fit's rows where scores come from
        several fits. The first one is infinite.
    false_positive, true_positive
        The share of non-members and of members above the threshold.
    auc, low, high
        The area under the curve with its interval.
    ks, ks_threshold
        The largest vertical distance from the diagonal, and where it is.
    confidence
        The level of the interval.
    is_weighted
        Whether rows count by their weight.
    """

    learner: str
    what: str
    threshold: Floats
    false_positive: Floats
    true_positive: Floats
    auc: float
    low: float
    high: float
    ks: float
    ks_threshold: float
    confidence: float
    is_weighted: bool = False

    def _columns(self) -> dict[str, Any]:
        names = ("threshold", "false_positive", "true_positive")
        return {name: getattr(self, name) for name in names}

    def plot(self) -> Any:
        """Draw the curve (Altair)."""
        from clearwood.plot import plot_roc

        return plot_roc(self)

    def __repr__(self) -> str:
        return (
            f"ROC curve of {self.learner!r}, {self.what}: AUC {number(self.auc)} "
            f"({interval(self.low, self.high)}, {percent(self.confidence)}), KS {number(self.ks)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecall(Result):
    """The share of members among the rows above a threshold, against the share of members found.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    threshold
        Rows with at least this score count as members; see `Roc.threshold`.
    recall, precision
        The share of members that are above, and the share of those above that are members.
    average_precision, low, high
        The mean precision over the members with its interval.
    share
        The share of members among all rows: the precision of any ranking by chance.
    confidence
        The level of the interval.
    is_weighted
        Whether rows count by their weight.
    """

    learner: str
    what: str
    threshold: Floats
    recall: Floats
    precision: Floats
    average_precision: float
    low: float
    high: float
    share: float
    confidence: float
    is_weighted: bool = False

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("threshold", "recall", "precision")}

    def plot(self) -> Any:
        """Draw the curve (Altair)."""
        from clearwood.plot import plot_precision_recall

        return plot_precision_recall(self)

    def __repr__(self) -> str:
        return (
            f"Precision and recall of {self.learner!r}, {self.what}: average precision "
            f"{number(self.average_precision)} ({interval(self.low, self.high)}, "
            f"{percent(self.confidence)}), by chance {number(self.share)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Lorenz(Result):
    """The share of the target that the rows with the smallest predictions have.

    Parameters
    ----------
    learner, what
        The learner, and what it predicts.
    share
        Of the rows by weight, such as exposure, in the order of the prediction.
    observed
        The share of the target's total that they have.
    gini, low, high
        The Gini coefficient with its interval: twice the area between the curve and the diagonal.
        Of a class it is 2 AUC - 1 times that of the perfect order, with the AUC within each fit.
    perfect
        The Gini coefficient of the order by the target itself.
    confidence
        The level of the interval.
    is_weighted
        Whether rows count by their weight.
    """

    learner: str
    what: str
    share: Floats
    observed: Floats
    gini: float
    low: float
    high: float
    perfect: float
    confidence: float
    is_weighted: bool = False
    _derived = ("normalised",)

    @property
    def normalised(self) -> float:
        """The Gini coefficient relative to that of the perfect order."""
        return self.gini / self.perfect if self.perfect else float("nan")

    def _columns(self) -> dict[str, Any]:
        return {"share": self.share, "observed": self.observed}

    def plot(self) -> Any:
        """Draw the curve (Altair)."""
        from clearwood.plot import plot_lorenz

        return plot_lorenz(self)

    def __repr__(self) -> str:
        return (
            f"Lorenz curve of {self.learner!r}, {self.what}: Gini {number(self.gini)} "
            f"({interval(self.low, self.high)}, {percent(self.confidence)}), normalised Gini "
            f"{number(self.normalised)}"
        )


def roc_curve(
    pairs: Pairs, fits: Index, confidence: float, allowance: Allowance, **about: Any
) -> Roc:
    """Return the curve of members (truth 1) and non-members (truth 0)."""
    member = pairs.truth == 1
    area = auc(member, pairs.predicted, fits, pairs.weights)
    low, high = bounds(area, pairs, confidence, allowance)
    ranked = _ranked(pairs, fits)
    distance, at = ks(ranked)
    levels, yes, no = _above(ranked)
    kept = _some(len(levels))
    return Roc(
        threshold=np.concatenate([[np.inf], levels])[kept],
        false_positive=(no / no[-1])[kept],
        true_positive=(yes / yes[-1])[kept],
        auc=area.value,
        low=low,
        high=high,
        ks=distance,
        ks_threshold=at,
        confidence=confidence,
        **about,
    )


def precision_recall_curve(
    pairs: Pairs, fits: Index, confidence: float, allowance: Allowance, **about: Any
) -> PrecisionRecall:
    """Return the curve of members (truth 1) among those above a threshold."""
    ranked = _ranked(pairs, fits)
    mean = average_precision(pairs.truth == 1, ranked.predicted, pairs.weights)
    low, high = bounds(mean, pairs, confidence, allowance)
    levels, yes, no = _above(ranked)
    kept = _some(len(levels))[1:] - 1
    yes, no = yes[1:], no[1:]
    return PrecisionRecall(
        threshold=levels[kept],
        recall=(yes / yes[-1])[kept],
        precision=(yes / (yes + no))[kept],
        average_precision=mean.value,
        low=low,
        high=high,
        share=float(yes[-1] / (yes[-1] + no[-1])),
        confidence=confidence,
        **about,
    )


def lorenz_curve(
    pairs: Pairs,
    fits: Index,
    confidence: float,
    allowance: Allowance,
    *,
    is_class: bool,
    **about: Any,
) -> Lorenz:
    """Return the curve of a target of zero or more, or of the members of a class.

    What the interval allows for is that of the Gini coefficient, of a class the normalised one.
    """
    ranked = _ranked(pairs, fits)
    perfect = concentration(pairs.truth, pairs.truth, pairs.weights)
    if is_class:
        area = auc(pairs.truth == 1, pairs.predicted, fits, pairs.weights)
        gini = times_perfect(gini_of_auc(area), perfect)
        allowance = replace(allowance, shift=allowance.shift * perfect.value)
    else:
        gini = concentration(pairs.truth, ranked.predicted, pairs.weights)
    low, high = bounds(gini, pairs, confidence, allowance)
    _, place = np.unique(ranked.predicted, return_inverse=True)
    share, observed = (
        np.concatenate([[0.0], np.cumsum(np.bincount(place, values))])
        for values in (pairs.weights, pairs.weights * pairs.truth)
    )
    kept = _some(len(share) - 1)
    return Lorenz(
        share=(share / share[-1])[kept],
        observed=(observed / observed[-1])[kept],
        gini=gini.value,
        low=low,
        high=high,
        perfect=perfect.value,
        confidence=confidence,
        **about,
    )


def _ranked(pairs: Pairs, fits: Index) -> Pairs:
    """Return pairs whose scores can be compared across fits."""
    score = ranks_within(pairs.predicted, fits, pairs.weights)
    return Pairs(pairs.truth, score, pairs.weights, pairs.units, 0)


def _above(pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    """Return scores from the largest on, and the weight of members and non-members up to each."""
    levels, place = np.unique(-pairs.predicted, return_inverse=True)
    yes, no = (
        np.concatenate([[0.0], np.cumsum(np.bincount(place, pairs.weights * own))])
        for own in (pairs.truth, 1 - pairs.truth)
    )
    return -levels, yes, no


def _some(last: int) -> Index:
    """Return positions from 0 to the last, all of them if they are few."""
    return np.unique(np.linspace(0, last, min(_POINTS, last) + 1).round().astype(np.intp))
