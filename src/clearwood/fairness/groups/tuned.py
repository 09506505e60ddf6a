"""Whether the fits that were audited are like the model: their settings and their predictions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.benchmarking import Benchmark
from clearwood.fairness.groups.rows import Audited
from clearwood.models import Choice, Learner

__all__ = ["Tuning", "tuning_of"]

#: Settings that are searched by magnitude differ strongly from this factor on, others from this
#: share of their range on.
_FACTOR, _RANGE = 10.0, 0.5
#: Predictions differ strongly where their spreads differ by this factor.
_SPREAD = 1.2


@dataclass(frozen=True)
class Tuning(Result):
    """The settings of the folds' fits next to those of the model, and how their predictions vary.

    Parameters
    ----------
    folds
        By tuned setting, what was chosen in each outer fold.
    model
        By tuned setting, what the model has.
    differing
        The settings that differ strongly: by a factor of 10 or more if they are searched by
        magnitude, by half of their range otherwise.
    spread
        The standard deviation of the model's predictions divided by that of the folds' fits, on the
        log odds of probabilities and the logarithm of rates. Above 1, the folds' fits shrink more.
    """

    folds: Mapping[str, tuple[Any, ...]]
    model: Mapping[str, Any]
    differing: tuple[str, ...]
    spread: float

    _derived = ("is_unstable",)

    @property
    def is_unstable(self) -> bool:
        """Whether settings differ strongly and predictions vary by another amount."""
        return bool(self.differing) and not 1 / _SPREAD < self.spread < _SPREAD

    def __str__(self) -> str:
        settings = "; ".join(
            f"{key} = {_ends(self.folds[key])} in the folds and {_text(self.model[key])} in the "
            "model"
            for key in self.differing
        )
        return (
            f"tuning is unstable: {settings}; the model's predictions vary "
            f"{number(self.spread)} times as much as those of the folds, so measures and risks of "
            "the folds are not those of the model; tune with more trials or repeats, or fix the "
            "settings"
        )


def tuning_of(bench: Benchmark, learner: str, model: Any, folds: Audited, own: Audited) -> Tuning:
    """Compare the fits of a benchmark's folds with the model.

    Parameters
    ----------
    bench, learner
        The benchmark and the learner.
    model
        The fitted model.
    folds, own
        The predictions of the folds' fits, and those of the model.
    """
    space = bench.context.contenders[learner].space
    chosen = bench.fold_settings(learner)
    own_settings = model.all_settings if isinstance(model, Learner) else {}
    keys = [
        key for key in space if key in own_settings and chosen and all(key in one for one in chosen)
    ]
    by_fold = {key: tuple(one[key] for one in chosen) for key in keys}
    of_model = {key: own_settings[key] for key in keys}
    differing = tuple(key for key in keys if _differ(space[key], [*by_fold[key], of_model[key]]))
    return Tuning(by_fold, of_model, differing, _spread(own) / max(_spread(folds), 1e-300))


def _differ(dimension: Any, values: Sequence[Any]) -> bool:
    """Whether values of one setting are far apart on the scale that is searched."""
    if isinstance(dimension, Choice) or not all(map(_is_number, values)):
        return False  # other values of a choice need not be other models
    low, high = min(values), max(values)
    if dimension.log:
        return bool(low > 0 and high / low >= _FACTOR)
    return bool(high - low >= _RANGE * (dimension.high - dimension.low))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _spread(audited: Audited) -> float:
    """Return the weighted standard deviation of predictions, before the link."""
    margin = _margin(audited)
    mean = np.average(margin, axis=0, weights=audited.weights)
    return float(np.sqrt(np.average((margin - mean) ** 2, axis=0, weights=audited.weights).mean()))


def _margin(audited: Audited) -> Floats:
    """Return predictions as log odds or logarithms; numbers of either sign as they are."""
    predicted = audited.predicted
    if audited.classes and audited.total == 1:
        return np.asarray(logit(np.clip(predicted, 1e-6, 1 - 1e-6)))
    if not audited.classes and predicted.min() > 0:
        return np.log(predicted)
    return predicted


def _ends(values: Sequence[Any]) -> str:
    low, high = min(values), max(values)
    return _text(low) if low == high else f"{_text(low)} to {_text(high)}"


def _text(value: Any) -> str:
    return number(value) if _is_number(value) else repr(value)
