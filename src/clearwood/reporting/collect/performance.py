"""Performance of a model: from the benchmark, on held-out rows, or on its own."""

from typing import Literal

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.benchmarking import Benchmark
from clearwood.evaluation import (
    Evaluation,
    Interval,
    calibration_of,
    holdout_interval,
    measures,
    residuals_of,
    truth_of,
)
from clearwood.losses import default_loss, find_loss
from clearwood.reporting.collect.findings import Performance
from clearwood.reporting.collect.subject import Subject
from clearwood.table import Table, Task

__all__ = ["of_benchmark", "of_rows"]

_CONFIDENCE = 0.9


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
    n_rows = context.table.n_rows if held is None else held.n_test
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
        evaluation=_beside_rival(bench, learner, threshold),
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


def of_rows(
    subject: Subject,
    table: Table,
    predicted: Floats,
    *,
    rows: Literal["test", "training"],
    threshold: float | None = None,
) -> Performance:
    """Return how well a model predicts rows whose target is known.

    Predictions are numbers, probabilities by class, or positions of classes. The baseline is that
    of the subject's own table.
    """
    task = subject.task
    assert task is not None
    codes, known = truth_of(table, subject.classes)
    if not known.any():
        raise InputError("none of the target's values is one that the model predicts")
    codes, predicted = codes[known], predicted[known]
    is_class = bool(subject.classes)
    has_probabilities = is_class and predicted.ndim == 2
    loss = default_loss(task, codes)
    if is_class and not has_probabilities:
        loss = find_loss("zero-one")
    elif task in (Task.COUNT, Task.AMOUNT) and not is_class and (predicted <= 0).any():
        loss = find_loss("squared")
    weights = None if table.weights is None else table.weights[known]
    groups = None if table.groups is None else table.groups[known]
    losses = loss.per_row(codes, predicted)
    risk = holdout_interval(losses, weights, _CONFIDENCE, groups=groups)
    flat = _baseline(subject, codes, has_probabilities=has_probabilities)
    needs = "probability" if has_probabilities else "label" if is_class else "prediction"
    what = subject.table.outcome or table.outcome or "target"
    calibration = None
    if has_probabilities or not is_class:
        calibration = calibration_of(
            codes,
            predicted,
            classes=subject.classes or None,
            target=what,
            confidence=_CONFIDENCE,
            learner=subject.name,
            weights=weights,
            groups=groups,
        )
    return Performance(
        rows=rows,
        n_rows=int(known.sum()),
        loss=loss.name,
        risk_title=loss.risk_title,
        risk=risk,
        baseline=float(np.average(loss.per_row(codes, flat), weights=weights)),
        measures=measures(
            task,
            codes,
            predicted,
            needs=needs,  # type: ignore[arg-type]
            weights=weights,
            groups=groups,
            threshold=0.5 if threshold is None else threshold,
            confidence=_CONFIDENCE,
        ),
        calibration=calibration,
        residuals=None
        if is_class
        else residuals_of(
            codes, predicted, learner=subject.name, what=str(table.outcome), weights=weights
        ),
        evaluation=Evaluation(
            learner=subject.name,
            what=what,
            task=task,
            source="new rows",
            table=table,
            rows=np.flatnonzero(known),
            truth=codes,
            predicted=predicted,
            classes=tuple(subject.classes),
            needs=needs,  # type: ignore[arg-type]
            confidence=_CONFIDENCE,
            threshold=0.5 if threshold is None else threshold,
        ),
    )


def _baseline(subject: Subject, codes: Floats, *, has_probabilities: bool) -> Floats:
    """Predict the same for every row: what is typical of the rows the model was fitted to."""
    own, weights = codes, None
    if subject.table.target is not None:
        all_codes, known = truth_of(subject.table, subject.classes)
        if known.any():
            own = all_codes[known]
            weights = None if subject.table.weights is None else subject.table.weights[known]
    if not subject.classes:
        return np.full(len(codes), np.average(own, weights=weights))
    shares = np.bincount(own.astype(np.intp), weights, minlength=len(subject.classes))
    shares = shares / shares.sum()
    if has_probabilities:
        return np.tile(shares, (len(codes), 1))
    return np.full(len(codes), float(shares.argmax()))
