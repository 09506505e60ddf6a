"""Performance of a model: from the benchmark, on held-out rows, or on its own."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Literal

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError
from clearwood._shared.results import Result
from clearwood.benchmarking import Benchmark, Difference
from clearwood.evaluation import (
    ByColumn,
    Evaluation,
    Interval,
    Mean,
    calibration_of,
    holdout_interval,
    make_interval,
    measures,
    residuals_of,
    truth_of,
)
from clearwood.fitted import FittedModel
from clearwood.losses import Loss, Needs, loss_of_predictions
from clearwood.reporting.collect.findings import EvaluationFindings, Performance, Step
from clearwood.reporting.collect.inputs import ReportInput
from clearwood.reporting.collect.stages import Stages
from clearwood.table import Table

__all__ = [
    "by_columns",
    "diagnostics_of",
    "evaluation_findings",
    "gap_between",
    "misfit",
    "of_benchmark",
    "of_rows",
]

_CONFIDENCE = 0.9
#: Of 20 models that predict test rows as well as held-out ones, one is said not to.
_CONFIDENCE_OF_GAP = 0.95
#: Columns and pairs of columns that the page of an evaluation shows.
_MOST_COLUMNS, _PAIRED, _MOST_PAIRS = 40, 7, 6
#: Losses of positive predictions alone.
_POSITIVE_ONLY = ("poisson", "gamma", "tweedie")


def of_benchmark(bench: Benchmark, learner: str, threshold: float | None = None) -> Performance:
    """Return how well one learner of a benchmark predicted rows it had not seen."""
    one = bench[learner]
    if not np.isfinite(one.risk):
        raise InputError(f"no fold of {learner!r} has succeeded")
    context = bench.context
    is_number = context.classes is None
    calibration = None
    if is_number or context.loss.needs == "probability":
        calibration = bench.calibration(learner)
    residuals = None
    if is_number:
        predicted = bench.predictions(learner)
        known = np.isfinite(predicted)
        weights = None if context.table.weights is None else context.table.weights[known]
        residuals = residuals_of(
            context.codes[known],
            predicted[known],
            learner=learner,
            what=str(context.table.outcome),
            weights=weights,
        )
    held = bench.in_parts
    evaluation = _beside_rival(bench, learner, threshold)
    n_rows = evaluation.n_rows if held is None else held.n_test
    baseline = bench.baseline
    has_baseline = baseline is not None and bool(np.isfinite(baseline.risk))
    return Performance(
        rows="out-of-fold",
        n_rows=n_rows,
        sampled_of=n_rows if held is not None and held.n_kept < n_rows else None,
        loss=bench.loss,
        risk_title=context.loss.risk_title,
        risk=Interval(
            estimate=one.risk,
            se=one.se,
            low=one.low,
            high=one.high,
            kind=one.interval,
            n=n_rows if held is None else held.n_units,
            inflation=one.inflation,
            confidence=bench.method.confidence,
        ),
        baseline=baseline.risk if baseline is not None and has_baseline else None,
        against_baseline=bench.compare(learner, baseline.learner)
        if baseline is not None and has_baseline and learner != baseline.learner
        else None,
        measures=bench.measures(learner, threshold=threshold),
        calibration=calibration,
        residuals=residuals,
        evaluation=evaluation,
    )


def _beside_rival(bench: Benchmark, learner: str, threshold: float | None) -> Evaluation:
    """Evaluate a learner against the best of the others, where a double lift can compare them."""
    plain = bench.evaluation(learner, threshold=threshold)
    constant = None if bench.baseline is None else bench.baseline.learner
    rivals = [
        one.learner
        for one in bench.standings
        if one.learner not in (learner, constant) and np.isfinite(one.risk)
    ]
    if not rivals or len(plain.classes) > 2:
        return plain
    try:
        return bench.evaluation(learner, against=rivals[0], threshold=threshold)
    except InputError:  # predictions without a ratio, or not of the same rows
        return plain


def diagnostics_of(evaluation: Evaluation, seconds: float | None) -> dict[str, Result]:
    """Return calibration and rankings of predictions, as far as they have them."""
    clock = Clock(seconds)
    found: dict[str, Result] = {}
    for name in ("smooth_calibration", "lift", "roc", "lorenz"):
        # numbers have no thresholds, negative ones no Lorenz curve, which classes do without
        if (name == "smooth_calibration" and len(evaluation.classes) > 2) or clock.is_over:
            continue
        if name == "lorenz" and evaluation.classes:
            continue
        with suppress(InputError):
            found[name] = getattr(evaluation, name)()
        if name == "lift" and name in found and evaluation.against is not None:
            found["double_lift"] = evaluation.lift(against=evaluation.against)
    return found


def evaluation_findings(evaluation: Evaluation) -> EvaluationFindings:
    """Compute what the page of an evaluation shows."""
    stages = Stages((Step.DIAGNOSTICS, Step.OBSERVED, Step.PAIRS))
    with stages.shown("evaluation"):
        parts = stages.run(Step.DIAGNOSTICS, evaluation.parts)
        names = list(evaluation.table.features)[:_MOST_COLUMNS]
        columns = stages.run(Step.OBSERVED, lambda: _worst_first(evaluation, zip(names))) or []
        chosen = [part.columns[0] for part in columns[:_PAIRED]]
        pairs = stages.run(Step.PAIRS, lambda: _worst_first(evaluation, combinations(chosen, 2)))
    return EvaluationFindings(
        evaluation=evaluation,
        parts=parts or {},
        columns=tuple(columns),
        pairs=tuple(pairs or ())[:_MOST_PAIRS],
        failures=stages.failures,
    )


def _worst_first(evaluation: Evaluation, several: Iterable[tuple[str, ...]]) -> list[ByColumn]:
    return sorted(by_columns(evaluation, several), key=misfit, reverse=True)


def by_columns(
    evaluation: Evaluation, several: Iterable[tuple[str, ...]], clock: Clock | None = None
) -> Iterator[ByColumn]:
    """Compare observed and expected means in the bands of columns, or pairs, that have some."""
    for names in several:
        if clock is not None and clock.is_over:
            return
        with suppress(InputError):  # a column without values, or a model without probabilities
            part = evaluation.by(*names)
            if len(part.rows) > 1:
                yield part


def misfit(part: ByColumn) -> tuple[int, float]:
    """Return how many bands are clearly off, and how far bands are off relative to chance."""
    equal = 1.0 if part.compared == "ratio" else 0.0
    half = (part.high - part.low) / 2
    known = half > 0
    off = ((part.value - equal)[known] / half[known]) ** 2
    return int(part.misses.sum()), float(np.mean(off)) if known.any() else 0.0


def of_rows(
    given: ReportInput,
    table: Table,
    predicted: Floats,
    *,
    rows: Literal["test", "training"],
    threshold: float | None = None,
    loss: Loss | None = None,
) -> Performance:
    """Return how well a model predicts rows whose target is known.

    Predictions are numbers, probabilities by class, or positions of classes. The baseline is that
    of the input's own table. A loss that the predictions do not have is replaced by the usual
    one.
    """
    task = given.task
    assert task is not None
    codes, known = truth_of(table, given.classes)
    if not known.any():
        raise InputError("none of the target's values is one that the model predicts")
    codes, predicted = codes[known], predicted[known]
    is_class = bool(given.classes)
    has_probabilities = is_class and predicted.ndim == 2
    needs: Needs = "probability" if has_probabilities else "label" if is_class else "prediction"
    if loss is None or not _can_judge(loss, needs, predicted):
        loss = loss_of_predictions(task, needs, codes, predicted)
    weights = None if table.weights is None else table.weights[known]
    # as in an evaluation, a row without a group is a unit of its own
    groups = np.flatnonzero(known) if table.groups is None else table.groups[known]
    losses = loss.per_row(codes, _as_judged(predicted, loss, needs))
    flat = _baseline(given, codes, has_probabilities=has_probabilities)
    of_baseline = loss.per_row(codes, _as_judged(flat, loss, needs))
    what = given.table.outcome or table.outcome or "target"
    calibration = None
    if has_probabilities or not is_class:
        calibration = calibration_of(
            codes,
            predicted,
            classes=given.classes or None,
            target=what,
            confidence=_CONFIDENCE,
            learner=given.name,
            weights=weights,
            groups=groups,
        )
    return Performance(
        rows=rows,
        n_rows=int(known.sum()),
        sampled_of=given.test_sampled_of if rows == "test" else None,
        loss=loss.name,
        risk_title=loss.risk_title,
        risk=holdout_interval(losses, weights, _CONFIDENCE, groups=groups),
        baseline=float(np.average(of_baseline, weights=weights)),
        against_baseline=_against_baseline(
            given.name,
            loss,
            holdout_interval(losses - of_baseline, weights, _CONFIDENCE, groups=groups),
        )
        if rows == "test"
        else None,
        measures=measures(
            task,
            codes,
            predicted,
            needs=needs,
            weights=weights,
            groups=groups,
            threshold=0.5 if threshold is None else threshold,
            confidence=_CONFIDENCE,
        ),
        calibration=calibration,
        residuals=None
        if is_class
        else residuals_of(
            codes, predicted, learner=given.name, what=str(table.outcome), weights=weights
        ),
        evaluation=Evaluation(
            learner=given.name,
            what=what,
            task=task,
            source="new rows",
            table=table,
            rows=np.flatnonzero(known),
            truth=codes,
            predicted=predicted,
            classes=tuple(given.classes),
            needs=needs,
            confidence=_CONFIDENCE,
            threshold=0.5 if threshold is None else threshold,
            judged_by=loss if loss.needs == needs else None,
            fitted=FittedModel(given.model).level,
        ),
    )


def _can_judge(loss: Loss, needs: Needs, predicted: Floats) -> bool:
    """Whether predictions have a loss: labels follow from probabilities, nothing from labels."""
    if loss.name.partition(":")[0] in _POSITIVE_ONLY and (predicted <= 0).any():
        return False
    return loss.needs == needs or (loss.needs == "label" and needs == "probability")


def _as_judged(predicted: Floats, loss: Loss, needs: Needs) -> Floats:
    """Return what a loss takes: of probabilities, the predicted class where it takes labels."""
    if loss.needs == needs:
        return predicted
    if predicted.shape[1] == 2:
        return np.asarray(predicted[:, 1] > loss.threshold, np.float64)
    return np.asarray(predicted.argmax(axis=1), np.float64)


def _against_baseline(learner: str, loss: Loss, gap: Interval) -> Difference:
    """Return the risk less that of a constant prediction, from differences row by row."""
    return Difference(
        first=learner,
        second="baseline",
        difference=gap.estimate,
        se=gap.se,
        low=gap.low,
        high=gap.high,
        confidence=gap.confidence,
        interval=gap.kind,
        loss=loss.name,
    )


def gap_between(test: Performance, held_out: Performance) -> Interval | None:
    """Return the risk on test rows less that on the held-out ones, with its 95 % interval.

    The two are of different rows, so that their variances add up. If both are of one population,
    their losses vary alike: that of the test rows is taken from all of them, as few test rows that
    happen to miss the large losses would look too certain. None where the two are means of
    different losses, or one has no standard error.
    """
    if test.loss != held_out.loss or test.evaluation is None or held_out.evaluation is None:
        return None
    means = [
        Mean.of(one.losses, one.weights, one.units)
        for one in (test.evaluation, held_out.evaluation)
    ]
    sizes = np.array([mean.size for mean in means])
    pooled = float(sizes @ [mean.variance * mean.size for mean in means] / sizes.sum())
    variances = np.array([pooled / sizes[0], held_out.risk.se**2])
    if not np.isfinite(variances).all() or not variances.any():
        return None
    return make_interval(
        test.risk.estimate - held_out.risk.estimate,
        float(np.sqrt(variances.sum())),
        "hold-out",
        test.risk.n,
        _CONFIDENCE_OF_GAP,
        degrees=max(sum(mean.n for mean in means) - 2, 1),
    )


def _baseline(given: ReportInput, codes: Floats, *, has_probabilities: bool) -> Floats:
    """Predict the same for every row: what is typical of the rows the model was fitted to."""
    own, weights = codes, None
    if given.table.target is not None:
        all_codes, known = truth_of(given.table, given.classes)
        if known.any():
            own = all_codes[known]
            weights = None if given.table.weights is None else given.table.weights[known]
    if not given.classes:
        return np.full(len(codes), np.average(own, weights=weights))
    shares = np.bincount(own.astype(np.intp), weights, minlength=len(given.classes))
    shares = shares / shares.sum()
    if has_probabilities:
        return np.tile(shares, (len(codes), 1))
    return np.full(len(codes), float(shares.argmax()))
