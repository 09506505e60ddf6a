"""Ranking: from the outcomes of all units to one standing per learner, and to warnings."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clearwood._shared.messages import tell
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.contenders import Contender
from clearwood.benchmarking.fitting.work import Context, Outcome, Unit
from clearwood.benchmarking.intervals.estimates import Risks
from clearwood.benchmarking.running.findings import Finding, off_level
from clearwood.benchmarking.text import settings_text
from clearwood.benchmarking.tuning.searches import position
from clearwood.evaluation import Interval
from clearwood.models import Choice, Real, Whole

if TYPE_CHECKING:
    from clearwood.benchmarking.result import Benchmark

__all__ = ["Method", "Standing", "by_learner", "findings_of", "standings", "with_warnings"]


@dataclass(frozen=True)
class Standing(Result):
    """The result of one learner.

    Parameters
    ----------
    learner
        Its name.
    loss
        What the risk is the mean of.
    risk, se, low, high
        The estimate, its standard error and its interval; NaN where every fold failed.
    difference, difference_low, difference_high
        Risk above that of the best learner, with an interval from paired differences.
    fit_seconds
        Seconds of tuning, fitting and predicting, on average over the outer folds.
    failures
        How many fits failed.
    settings
        Typical settings of the outer folds: the median of numbers, the most frequent choice.
    interval
        The kind of the interval, see `Interval`; "none" where every fold failed.
    inflation
        How many times wider than the naive interval it is.
    folds
        How many outer folds the estimate is based on.
    is_reference
        Whether it is the baseline of a benchmark whose learners were chosen without one.
    sampled_rows
        Of a table in parts, how many of the training rows it was fitted to, if it needs them in
        memory; None where it was fitted to all of them.
    """

    learner: str
    loss: str
    risk: float
    se: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    fit_seconds: float
    failures: int
    settings: Mapping[str, Any]
    interval: str = "naive"
    inflation: float = 1.0
    folds: int = 0
    is_reference: bool = False
    sampled_rows: int | None = None

    @property
    def settings_text(self) -> str:
        """The settings as one would type them."""
        return settings_text(self.settings)


@dataclass(frozen=True)
class Method:
    """How the risks of a benchmark are estimated.

    Parameters
    ----------
    plan
        The resampling plan, in words.
    splits, repeats
        How many outer splits there are, over how many repeats.
    interval
        The kind of the intervals, see `Interval`.
    confidence
        Their level.
    tuning
        How settings were chosen, in words.
    pairs
        How the settings of the fits that leave two folds out were chosen: "tuned", "reused",
        "defaults", or "none" where there are no such fits.
    seed
        Fixes every random choice.
    is_simultaneous
        Whether the intervals of all differences hold together: see `Benchmark.simultaneous`.
    threshold
        Of two classes, the second is predicted where its probability is above this, in measures
        that need a class.
    is_weighted
        Whether rows count by their weight in risks and measures.
    n_zero_weight
        How many rows have the weight 0: they neither train nor test.
    """

    plan: str
    splits: int
    repeats: int
    interval: str
    confidence: float
    tuning: str
    pairs: Literal["tuned", "reused", "defaults", "none"]
    seed: int
    is_simultaneous: bool = False
    threshold: float = 0.5
    is_weighted: bool = False
    n_zero_weight: int = 0


#: Units with their outcomes, by learner.
Outcomes = Mapping[str, Sequence[tuple[Unit, Outcome]]]

#: The risk of a learner all of whose folds failed.
_NONE = Interval(np.nan, np.nan, np.nan, np.nan, "none", 0, inflation=np.nan)


def standings(
    context: Context,
    outcomes: Outcomes,
    confidence: float,
    reference: str | None,
    estimates: Risks,
    *,
    sampled: Mapping[str, int] | None = None,
) -> tuple[tuple[Standing, ...], Standing | None]:
    """Rank the learners by risk, those with failures last; the reference is not ranked.

    ``sampled`` has the learners that were fitted to some of the training rows, with their number.
    """
    risks = {name: estimates.risk(name, confidence) for name in outcomes}
    failures = {
        name: sum(outcome.failure is not None for _, outcome in one)
        for name, one in outcomes.items()
    }

    def rank(name: str) -> tuple[bool, int, float]:
        risk = risks[name]
        return risk is None, failures[name], np.inf if risk is None else risk.estimate

    order = sorted((name for name in outcomes if name != reference), key=rank)
    best = order[0]
    if reference is not None:
        order.append(reference)
    ranked = []
    for name in order:
        risk = risks[name] or _NONE
        gap = (0.0, 0.0, 0.0)
        if name != best:
            found = estimates.gap(name, best, confidence)
            gap = (np.nan,) * 3 if found is None else (found.estimate, found.low, found.high)
        outer = [outcome for unit, outcome in outcomes[name] if unit.purpose == "outer"]
        ranked.append(
            Standing(
                learner=name,
                loss=context.loss.name,
                risk=risk.estimate,
                se=risk.se,
                low=risk.low,
                high=risk.high,
                difference=gap[0],
                difference_low=gap[1],
                difference_high=gap[2],
                fit_seconds=float(np.mean([one.seconds for one in outer])) if outer else np.nan,
                failures=failures[name],
                settings=_typical([one.settings for one in outer if one.failure is None]),
                interval=risk.kind,
                inflation=risk.inflation,
                folds=sum(one.losses is not None for one in outer),
                is_reference=name == reference,
                sampled_rows=(sampled or {}).get(name),
            )
        )
    return (tuple(ranked), None) if reference is None else (tuple(ranked[:-1]), ranked[-1])


def _typical(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the median of each number and the most frequent value of each choice."""
    if not several:
        return {}
    typical: dict[str, Any] = {}
    for key in several[0]:
        values = [settings[key] for settings in several if key in settings]
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            typical[key] = statistics.median_low(values)
        else:
            most_frequent = Counter(map(repr, values)).most_common(1)[0][0]
            typical[key] = next(value for value in values if repr(value) == most_frequent)
    return typical


def by_learner(
    contenders: Iterable[str], units: Mapping[str, Unit], outcomes: Mapping[str, Outcome]
) -> dict[str, list[tuple[Unit, Outcome]]]:
    """Return the fits of each learner, and their outcomes."""
    result: dict[str, list[tuple[Unit, Outcome]]] = {name: [] for name in contenders}
    for key, outcome in outcomes.items():
        result[units[key].learner].append((units[key], outcome))
    return result


def findings_of(contenders: Mapping[str, Contender], outcomes: Outcomes) -> list[Finding]:
    """Return what to warn of: failed fits and trials, edges of ranges, warnings of learners."""
    return [
        *_failed_fits(outcomes),
        *_failed_trials(outcomes),
        *_edges(contenders, outcomes),
        *_raised(outcomes),
    ]


def with_warnings(bench: "Benchmark") -> "Benchmark":
    """Add the learners whose level is off to the warnings of a benchmark, and warn of all."""
    result = replace(bench, warnings=(*bench.warnings, *off_level(bench.levels)))
    for finding in result.warnings:
        tell(finding.message)
    return result


def _failed_fits(outcomes: Outcomes) -> Iterator[Finding]:
    for name, one in outcomes.items():
        reasons = [outcome.failure for _, outcome in one if outcome.failure]
        if reasons:
            reason, _ = Counter(reasons).most_common(1)[0]
            yield Finding("failed fits", len(reasons), len(one), learner=name, reason=reason)


def _failed_trials(outcomes: Outcomes) -> Iterator[Finding]:
    """Yield learners at least half of whose configurations failed: their space is at fault."""
    for name, one in outcomes.items():
        trials = [trial for _, outcome in one if not outcome.failure for trial in outcome.archive]
        reasons = [t.failure for t in trials if t.failure and not t.is_past_best]
        if 2 * len(reasons) >= max(len(trials), 1):
            reason, _ = Counter(reasons).most_common(1)[0]
            yield Finding("failed trials", len(reasons), len(trials), learner=name, reason=reason)


def _edges(contenders: Mapping[str, Contender], outcomes: Outcomes) -> Iterator[Finding]:
    """Yield settings whose best value is at an end of its range in most folds.

    Ends that no value can lie beyond, such as one neighbour or all of the features, do not count,
    and neither do those that values well inside the range do as well as.
    """
    for name, one in outcomes.items():
        tuned = [o for u, o in one if u.purpose == "outer" and o.archive and not o.failure]
        for key, dimension in contenders[name].space.items():
            if isinstance(dimension, Choice) or not tuned:
                continue
            # a value that does no better than those inside its range counts as one of them
            where = [
                _place(dimension, o.settings.get(key)) if _beats_inside(o, key, dimension) else 0.5
                for o in tuned
            ]
            low = sum(place <= _EDGE for place in where)
            high = sum(place >= 1 - _EDGE for place in where)
            side: Literal["low", "high"] = "low" if low >= high else "high"
            count = max(low, high)
            if 2 * count > len(tuned) and not _is_natural(key, dimension, side):
                bound = dimension.low if side == "low" else dimension.high
                yield Finding(
                    "edge", count, len(tuned), learner=name, setting=key, side=side, bound=bound
                )


def _raised(outcomes: Outcomes) -> Iterator[Finding]:
    for name, one in outcomes.items():
        counts = Counter(note for _, outcome in one for note in outcome.notes)
        for note, count in counts.items():
            yield Finding("raised", count, len(one), learner=name, reason=note)


#: How near to an end of its range, on the range's scale, a value counts as at the edge.
_EDGE = 0.01

#: Values at least this far from both ends are well inside; doing better than all of them by less
#: than this share of the risk is no reason to search beyond an end.
_INSIDE = 0.1
_RELEVANT = 0.001


def _beats_inside(outcome: Outcome, key: str, dimension: Real | Whole) -> bool:
    """Return whether the best value does better than those well inside its range."""
    risks = [
        (trial.risk, _INSIDE <= _place(dimension, trial.settings.get(key)) <= 1 - _INSIDE)
        for trial in outcome.archive
        if trial.failure is None and trial.share == 1.0
    ]
    inside = min((risk for risk, well_inside in risks if well_inside), default=np.inf)
    least = min((risk for risk, _ in risks), default=np.inf)
    return bool(inside > least + _RELEVANT * abs(least))


def _place(dimension: Real | Whole, value: Any) -> float:
    """Return where a value lies in its range; a default beyond an end counts as at that end.

    What is not a number counts as inside, and so does zero below a positive range: it switches
    something off.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.5
    if value == 0 < dimension.low:
        return 0.5
    return position(dimension, min(max(value, dimension.low), dimension.high)) or 0.0


#: Fewer leaves than these make no tree.
_FEWEST = {"max_leaves": 2, "max_leaf_nodes": 2, "num_leaves": 2}


def _is_natural(key: str, dimension: Real | Whole, side: Literal["low", "high"]) -> bool:
    """Return whether no value can lie beyond an end of the range."""
    if side == "low" and dimension.low <= _FEWEST.get(key.rpartition("__")[2], -np.inf):
        return True
    if side == "low":
        return (dimension.low in (0, 1) and isinstance(dimension, Whole)) or dimension.low == 0
    return isinstance(dimension, Real) and dimension.high == 1.0 and not dimension.log
