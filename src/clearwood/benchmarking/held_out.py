"""The evaluation of held-out predictions of a benchmark's learner, beside another prediction."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.benchmarking.fitting.work import Outcome, Rows, Unit
from clearwood.benchmarking.intervals.of_measures import Estimator, allowances
from clearwood.checks import Level
from clearwood.evaluation import (
    Allowance,
    Estimate,
    Evaluation,
    Interval,
    level_estimate,
    other_of,
    smooth_estimates,
)

if TYPE_CHECKING:
    from clearwood.benchmarking.result import Benchmark

__all__ = [
    "allowances_of",
    "held_out_evaluation",
    "held_out_level",
    "held_out_rows",
    "inflation_of",
    "no_fold",
    "outer_of",
    "units_of",
    "weights_of",
]


def held_out_evaluation(
    bench: "Benchmark",
    learner: str,
    against: Any,
    threshold: float | None,
    allowed: Mapping[str, Allowance] | None = None,
) -> Evaluation:
    """Return the evaluation of a learner, see `Benchmark.evaluation`.

    ``allowed`` has what the intervals of measures allow for; by default all of them are found.
    """
    if allowed is None:
        allowed = allowances_of(bench, learner, threshold)
    rows, predicted, fits = held_out_rows(bench, learner)
    context, one = bench.context, bench[learner]
    assert context.table.task is not None
    classes = () if context.classes is None else tuple(map(str, context.classes))
    name, others = _others(bench, learner, against, rows, classes)
    result = Evaluation(
        learner=learner,
        what=str(context.table.outcome),
        task=context.table.task,
        source="out of fold",
        table=context.table,
        rows=rows,
        truth=context.codes[rows].astype(np.float64),
        predicted=predicted,
        classes=classes,
        needs=context.loss.needs if context.classes is not None else "prediction",
        fits=fits,
        confidence=bench.method.confidence,
        threshold=bench.method.threshold if threshold is None else threshold,
        inflation=inflation_of(bench, learner),
        allowances=allowed,
        against=name,
        others=others,
        compared={against: _gap(bench, against, learner)} if _is_judged(bench, against) else {},
        judged_by=context.loss,
        judged=Interval(
            one.risk,
            one.se,
            one.low,
            one.high,
            one.interval,
            context.table.n_rows,
            one.inflation,
            confidence=bench.method.confidence,
        ),
    )
    if name is not None:
        result.lift(against=name)  # refuses what cannot be compared with
    return result


def held_out_level(bench: "Benchmark", learner: str) -> Level | None:
    """Return observed / expected of the held-out rows; None where it is not defined."""

    def estimator(rows: Rows, predicted: Floats, _: Rows) -> Mapping[str, Estimate]:
        truth = bench.context.codes[rows]
        return level_estimate(truth, predicted, weights_of(bench, rows), units_of(bench, rows))

    allowed = _allowances(bench, learner, estimator)
    return held_out_evaluation(bench, learner, None, None, allowed).level


def _is_judged(bench: "Benchmark", against: Any) -> bool:
    """Return whether another prediction is that of a learner of the benchmark."""
    ranked = (*bench.standings, bench.reference)
    return isinstance(against, str) and any(one and one.learner == against for one in ranked)


def _gap(bench: "Benchmark", other: str, learner: str) -> Interval:
    """Return the risk of another learner less that of this one, as the benchmark compares them."""
    gap = bench.compare(other, learner)
    n_rows, level = bench.context.table.n_rows, gap.confidence
    return Interval(
        gap.difference, gap.se, gap.low, gap.high, gap.interval, n_rows, confidence=level
    )


def _others(
    bench: "Benchmark", learner: str, against: Any, rows: Rows, classes: tuple[str, ...]
) -> tuple[str | None, Mapping[str, Floats]]:
    """Return the name of another prediction, and its values unless it is a column."""
    if against is None:
        return None, {}
    table = bench.context.table
    if _is_judged(bench, against):
        theirs = {unit.split: outcome for unit, outcome in outer_of(bench, against)}
        own = [unit.split for unit, one in outer_of(bench, learner) if one.predictions is not None]
        parts = [theirs[split].predictions for split in own if split in theirs]
        known = [part for part in parts if part is not None]
        if len(known) < len(own):
            raise InputError(
                f"{learner!r} and {against!r} were not judged on the same rows, as fits failed",
                parameter="against",
                value=against,
            )
        return against, {against: np.concatenate(known)}
    if isinstance(against, str) and (against in table.names or not Path(against).is_file()):
        return against, {}
    other = other_of(against, table, classes, own=learner)
    return other.name, {other.name: other.predicted[rows]}


def allowances_of(
    bench: "Benchmark", learner: str, threshold: float | None
) -> Mapping[str, Allowance]:
    """Return what the interval of each measure allows for, where the fits show it."""
    task = bench.context.table.task
    assert task is not None

    def estimator(rows: Rows, predicted: Floats, fits: Rows) -> Mapping[str, Estimate]:
        return smooth_estimates(
            task,
            bench.context.codes[rows],
            predicted,
            needs=bench.context.loss.needs,
            splits=fits,
            weights=weights_of(bench, rows),
            groups=units_of(bench, rows),
            threshold=bench.method.threshold if threshold is None else threshold,
        )

    return _allowances(bench, learner, estimator)


def _allowances(bench: "Benchmark", learner: str, estimator: Estimator) -> Mapping[str, Allowance]:
    """Return what the intervals of some measures allow for."""
    if bench.method.interval != "nested":
        return {}
    outcomes = (
        (bench.units[key], outcome)
        for key, outcome in bench.outcomes.items()
        if bench.units[key].learner == learner
    )
    folds = bench.method.splits // bench.method.repeats
    least = inflation_of(bench, learner)
    return allowances(outcomes, bench.context.table, estimator, folds=folds, least=least)


def inflation_of(bench: "Benchmark", learner: str) -> float:
    """Return by how much standard errors are larger than those of independent rows."""
    return max(bench[learner].inflation, 1.0)


def units_of(bench: "Benchmark", rows: Rows) -> NDArray[Any]:
    """Return the observation of each row: a row of several repeats is still one."""
    groups = bench.context.table.groups
    return rows if groups is None else groups[rows]


def weights_of(bench: "Benchmark", rows: Rows) -> Floats | None:
    """Return the weight of each row; None without weights."""
    weights = bench.context.table.weights
    return None if weights is None else weights[rows]


def held_out_rows(bench: "Benchmark", learner: str) -> tuple[Rows, Floats, Rows]:
    """Return the held-out rows, their predictions, and the number of the fit of each."""
    tested = [
        (unit.test, outcome.predictions)
        for unit, outcome in outer_of(bench, learner)
        if outcome.predictions is not None
    ]
    if not tested:
        raise no_fold(learner)
    rows, predicted = zip(*tested, strict=True)
    fits = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    return np.concatenate(rows), np.concatenate(predicted), fits


def outer_of(bench: "Benchmark", learner: str) -> list[tuple[Unit, Outcome]]:
    """Return the fits of a learner that leave out one fold."""
    bench[learner]  # refuses one that was not compared
    return [
        (bench.units[key], outcome)
        for key, outcome in bench.outcomes.items()
        if bench.units[key].learner == learner and bench.units[key].purpose == "outer"
    ]


def no_fold(learner: str) -> InputError:
    """Return the error for a learner without any result."""
    return InputError(f"no fold of {learner!r} succeeded", parameter="learner", value=learner)
