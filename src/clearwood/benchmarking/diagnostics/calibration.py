"""Calibration of a learner, from predictions of rows that it was not fitted to."""

from typing import Any

import numpy as np

from clearwood.benchmarking.fitting.fits import candidate, judge_all
from clearwood.evaluation import CalibrationCurve, calibration_of
from clearwood.resampling import Plan, default_plan, splits_of

__all__ = ["calibration_curve"]


def calibration_curve(
    learner: Any,
    data: Any,
    *,
    outer: int | str | Plan = 5,
    bins: int = 10,
    label: str | None = None,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> CalibrationCurve:
    """Compare predictions of a learner for held-out rows with what is observed.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    data
        A table with a target.
    outer
        How many folds, or a plan; see `default_plan`.
    bins
        How many bins of about equally many rows.
    label
        The class whose probability to compare; by default the last class of two, and of several
        the predicted class, row by row.
    confidence
        The level of the intervals.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> curve = calibration_curve("ols", cw.datasets.load("diabetes"), bins=4)
    >>> curve.rows.tolist()
    [110, 111, 110, 111]
    """
    one = candidate(learner, data, seed=seed)
    splits = splits_of(one.table, default_plan(one.table, outer), seed=seed)
    work = [(split.train, [split.test]) for split in splits]
    fits = judge_all(one, work, title="calibration", n_jobs=n_jobs)
    rows = np.concatenate([split.test for split in splits])
    predicted = np.concatenate([judged.predictions for (judged,) in fits])
    weights, groups = one.table.weights, one.table.groups
    return calibration_of(
        one.codes[rows],
        predicted,
        classes=one.classes,
        target=str(one.table.outcome),
        label=label,
        bins=bins,
        confidence=confidence,
        learner=one.contender.name,
        weights=None if weights is None else weights[rows],
        # a row that is tested more than once is still one observation
        groups=rows if groups is None else groups[rows],
    )
