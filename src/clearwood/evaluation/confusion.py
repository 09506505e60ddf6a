"""Confusion: how often each class is predicted where each is true."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.numbers import number, percent
from clearwood._shared.results import Result, document
from clearwood.evaluation.intervals import Mean, around

__all__ = ["Confusion", "confusion_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Result):
    """True and predicted classes, with the rates that follow.

    Parameters
    ----------
    learner, what
        The learner, and the target.
    classes
        The labels.
    threshold
        Of two classes, the second is predicted where its probability is above this; None for
        several, of which the most probable is predicted.
    weight
        The weight of the rows of each true class (lines) and predicted class (columns).
    rates, low, high
        By name, with intervals: the share of each class that is predicted ("recall") and the share
        of its predictions that are correct ("precision"); of two classes "sensitivity",
        "specificity", "precision" and "negative predictive value"; and "accuracy".
    confidence
        The level of the intervals.
    is_weighted
        Whether rows count by their weight.
    """

    learner: str
    what: str
    classes: tuple[str, ...]
    threshold: float | None
    weight: Floats
    rates: Mapping[str, float] = field(default_factory=dict)
    low: Mapping[str, float] = field(default_factory=dict)
    high: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.9
    is_weighted: bool = False

    def __getitem__(self, name: str) -> float:
        return self.rates[name]

    def _columns(self) -> dict[str, Any]:
        return {
            "truth": [label for label in self.classes for _ in self.classes],
            "predicted": [label for _ in self.classes for label in self.classes],
            "weight": self.weight.ravel(),
        }

    def with_rate(self, name: str, value: float, low: float, high: float) -> "Confusion":
        """Return the result with a rate and its interval from elsewhere."""
        return replace(
            self,
            rates={**self.rates, name: value},
            low={**self.low, name: low},
            high={**self.high, name: high},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the table, and the rates with their intervals."""
        rates = {
            name: {"value": value, "low": self.low[name], "high": self.high[name]}
            for name, value in self.rates.items()
        }
        names = ("learner", "what", "classes", "threshold", "weight", "confidence", "is_weighted")
        return document({**{name: getattr(self, name) for name in names}, "rates": rates})

    def plot(self) -> Any:
        """Draw the table as a heat map (Altair)."""
        from clearwood.plot import plot_confusion

        return plot_confusion(self)

    def __repr__(self) -> str:
        at = "" if self.threshold is None else f" at p > {number(self.threshold)}"
        head = f"Confusion of {self.learner!r}, {self.what}{at}"
        lines = [
            f"  {name}: {percent(value)} ({percent(self.low[name])} to {percent(self.high[name])})"
            for name, value in self.rates.items()
        ]
        return "\n".join([f"{head}, {percent(self.confidence)} intervals:", *lines])


def confusion_of(
    truth: NDArray[Any],
    chosen: NDArray[Any],
    weights: Floats,
    units: Index,
    *,
    classes: tuple[str, ...],
    threshold: float | None,
    confidence: float,
    inflation: float,
    **about: Any,
) -> Confusion:
    """Return the confusion of true and predicted classes, as positions in `classes`."""
    k = len(classes)
    cells = truth.astype(np.intp) * k + chosen.astype(np.intp)
    right = truth == chosen
    values: dict[str, tuple[float, float, float]] = {}

    def add(name: str, of: Bools, hit: Bools) -> None:
        mean = Mean.of(hit[of].astype(np.float64), weights[of], units[of]) if of.any() else None
        ends = (np.nan, np.nan)
        if mean is not None:
            ends = around(mean, "probability", confidence, inflation=inflation)
        values[name] = (np.nan if mean is None else mean.mean, *ends)

    if k == 2:
        add("sensitivity", truth == 1, right)
        add("specificity", truth == 0, right)
        add("precision", chosen == 1, right)
        add("negative predictive value", chosen == 0, right)
    else:
        for place, label in enumerate(classes):
            add(f"recall of {label}", truth == place, right)
            add(f"precision of {label}", chosen == place, right)
    add("accuracy", np.ones(len(truth), dtype=bool), right)
    rates, low, high = ({name: ends[part] for name, ends in values.items()} for part in range(3))
    return Confusion(
        classes=classes,
        threshold=threshold,
        weight=np.bincount(cells, weights, k * k).astype(np.float64).reshape(k, k),
        rates=rates,
        low=low,
        high=high,
        confidence=confidence,
        **about,
    )
