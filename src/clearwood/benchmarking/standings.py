"""Ranking: from the outcomes of all units to one line a learner, and what to warn of."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearwood.benchmarking.intervals.estimates import LossesOf, interval_of, losses_of, possible
from clearwood.benchmarking.result import Method, Standing
from clearwood.benchmarking.running.contenders import Contender
from clearwood.benchmarking.running.work import Context, Outcome, Unit
from clearwood.benchmarking.tuning.searches import position
from clearwood.benchmarking.tuning.tree_path import GROWING_ENDED
from clearwood.models import Choice, Real, Whole

__all__ = ["edge_warnings", "failures_of", "note_warnings", "standings", "trial_warnings"]

Found = Mapping[str, Sequence[tuple[Unit, Outcome]]]


def standings(context: Context, found: Found, method: Method) -> tuple[Standing, ...]:
    """One standing per learner, by risk; those with failures last.

    Parameters
    ----------
    context
        What the run shared.
    found
        Units with their outcomes, by learner.
    method
        How the benchmark was made.
    """
    options: dict[str, Any] = {
        "kind": method.interval,
        "confidence": method.confidence,
        "folds": method.splits // method.repeats,
        "context": context,
    }
    losses = {name: losses_of(one) for name, one in found.items()}
    risks = {name: possible(interval_of(one, **options), one) for name, one in losses.items()}
    failures = {
        name: sum(outcome.failure is not None for _, outcome in one) for name, one in found.items()
    }

    def rank(name: str) -> tuple[bool, int, float]:
        risk = risks[name]
        return risk is None, failures[name], np.inf if risk is None else risk.estimate

    order = sorted(found, key=rank)
    best = order[0]
    made = []
    for name in order:
        risk = risks[name]
        behind = _behind(losses[name], losses[best], options) if name != best else (0.0, 0.0, 0.0)
        outer = [outcome for unit, outcome in found[name] if unit.purpose == "outer"]
        made.append(
            Standing(
                learner=name,
                loss=context.loss.name,
                risk=np.nan if risk is None else risk.estimate,
                se=np.nan if risk is None else risk.se,
                low=np.nan if risk is None else risk.low,
                high=np.nan if risk is None else risk.high,
                difference=behind[0],
                difference_low=behind[1],
                difference_high=behind[2],
                fit_seconds=float(np.mean([one.seconds for one in outer])) if outer else np.nan,
                failures=failures[name],
                settings=_typical([one.settings for one in outer if one.failure is None]),
                interval="none" if risk is None else risk.kind,
                inflation=np.nan if risk is None else risk.inflation,
                folds=len(losses[name].outer),
            )
        )
    return tuple(made)


def _behind(
    mine: LossesOf, best: LossesOf, options: Mapping[str, Any]
) -> tuple[float, float, float]:
    found = interval_of(mine - best, **options)
    return (np.nan,) * 3 if found is None else (found.estimate, found.low, found.high)


def _typical(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The median of each number and the most frequent of each choice."""
    if not several:
        return {}
    found: dict[str, Any] = {}
    for key in several[0]:
        values = [settings[key] for settings in several if key in settings]
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            found[key] = statistics.median_low(values)
        else:
            counted = Counter(map(repr, values)).most_common(1)[0][0]
            found[key] = next(value for value in values if repr(value) == counted)
    return found


def failures_of(found: Found) -> dict[str, tuple[str, ...]]:
    """What went wrong, by learner, each with its split."""
    told = {
        name: tuple(f"{unit.split}: {outcome.failure}" for unit, outcome in one if outcome.failure)
        for name, one in found.items()
    }
    return {name: texts for name, texts in told.items() if texts}


def failure_warnings(found: Found) -> list[str]:
    """One sentence a learner that failed somewhere."""
    told = []
    for name, one in found.items():
        texts = [outcome.failure for _, outcome in one if outcome.failure]
        if texts:
            reason, _ = Counter(texts).most_common(1)[0]
            told.append(f"{name} failed in {len(texts)} of {len(one)} fits: {reason}")
    return told


def trial_warnings(found: Found) -> list[str]:
    """Learners most of whose configurations could not be fitted: their space is at fault."""
    told = []
    for name, one in found.items():
        trials = [trial for _, outcome in one if not outcome.failure for trial in outcome.archive]
        reasons = [
            trial.failure
            for trial in trials
            if trial.failure and not trial.failure.startswith(GROWING_ENDED)
        ]
        if 2 * len(reasons) >= max(len(trials), 1):
            reason, _ = Counter(reasons).most_common(1)[0]
            told.append(
                f"{len(reasons)} of {len(trials)} configurations of {name} could not be fitted, so "
                f"that tuning had little to choose from: {reason}"
            )
    return told


def edge_warnings(contenders: Mapping[str, Contender], found: Found) -> list[str]:
    """Settings whose best value sits on the edge of its range in most folds.

    An edge that no value can lie beyond, such as one neighbour or all of the features, is none,
    and neither is one that values well inside the range do as well as.
    """
    told = []
    for name, one in found.items():
        tuned = [o for u, o in one if u.purpose == "outer" and o.archive and not o.failure]
        for key, dimension in contenders[name].space.items():
            if isinstance(dimension, Choice) or not tuned:
                continue
            # a value that pays no better than those inside its range counts as one of them
            where = [
                _place(dimension, o.settings.get(key)) if _pays(o, key, dimension) else 0.5
                for o in tuned
            ]
            low = sum(place <= _EDGE for place in where)
            high = sum(place >= 1 - _EDGE for place in where)
            side = "lower" if low >= high else "upper"
            if 2 * max(low, high) > len(tuned) and not _natural(key, dimension, side):
                bound = dimension.low if side == "lower" else dimension.high
                told.append(
                    f"the best {key} of {name} sits at the {side} edge of its range ({bound:g}) in "
                    f"{max(low, high)} of {len(tuned)} folds; a wider range may do better: "
                    f"space={{{name!r}: {{{key!r}: ...}}}}"
                )
    return told


#: How near to an end of its range, on the range's scale, a value counts as on the edge.
_EDGE = 0.01

#: Values at least this far from both ends are well inside; doing better than all of them by less
#: than this share of the risk is no reason to go on beyond an end.
_INSIDE = 0.1
_WORTH = 0.001


def _pays(outcome: Outcome, key: str, dimension: Real | Whole) -> bool:
    """Whether the value chosen does better than those well inside its range."""
    risks = [
        (trial.risk, _INSIDE <= _place(dimension, trial.settings.get(key)) <= 1 - _INSIDE)
        for trial in outcome.archive
        if trial.failure is None and trial.share == 1.0
    ]
    inside = min((risk for risk, well_inside in risks if well_inside), default=np.inf)
    least = min((risk for risk, _ in risks), default=np.inf)
    return bool(inside > least + _WORTH * abs(least))


def _place(dimension: Real | Whole, value: Any) -> float:
    """Where a value lies; a default beyond an end counts as on that end.

    No number, and zero below a range by magnitude, which switches something off, count as inside.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.5
    if value == 0 < dimension.low:
        return 0.5
    return position(dimension, min(max(value, dimension.low), dimension.high)) or 0.0


#: Fewer leaves than these make no tree.
_FEWEST = {"max_leaves": 2, "max_leaf_nodes": 2, "num_leaves": 2}


def _natural(key: str, dimension: Real | Whole, side: str) -> bool:
    """Whether no value can lie beyond an end of the range."""
    if side == "lower" and dimension.low <= _FEWEST.get(key.rpartition("__")[2], -np.inf):
        return True
    if side == "lower":
        return (dimension.low in (0, 1) and isinstance(dimension, Whole)) or dimension.low == 0
    return isinstance(dimension, Real) and dimension.high == 1.0 and not dimension.log


def note_warnings(found: Found) -> list[str]:
    """Warnings raised in fits, each once, with how many fits raised it."""
    told = []
    for name, one in found.items():
        counts = Counter(note for _, outcome in one for note in outcome.notes)
        for note, count in counts.items():
            prefix = "" if name in note else f"{name}: "
            times = "" if len(one) == 1 else f" ({count} of {len(one)} fits)"
            told.append(f"{prefix}{note}{times}")
    return told
