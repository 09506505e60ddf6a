"""Comparing learners honestly: the same splits for all, everything learned inside them."""

import math
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.benchmarking.result import Benchmark, Method
from clearwood.benchmarking.running.contenders import contenders
from clearwood.benchmarking.running.design import REUSE_FROM, Design
from clearwood.benchmarking.running.run import Workers
from clearwood.benchmarking.running.session import Session, Snapshot
from clearwood.benchmarking.running.splits import interval_kind, outer_plan, outer_splits
from clearwood.benchmarking.running.work import Context
from clearwood.benchmarking.standings import (
    edge_warnings,
    failure_warnings,
    failures_of,
    note_warnings,
    standings,
    trial_warnings,
)
from clearwood.benchmarking.target import checked_table, target_codes
from clearwood.benchmarking.tuning.searches import check_search
from clearwood.benchmarking.tuning.tune import Tuning
from clearwood.losses import LOSSES, Loss, default_loss, find_loss
from clearwood.models import catalogue
from clearwood.resampling import Plan
from clearwood.table import Table

__all__ = ["benchmark"]

Search = Literal["random", "grid", "halving", "hyperband", "tpe", "gp"]


def benchmark(
    data: Table,
    learners: Any = None,
    *,
    loss: str | Loss | None = None,
    outer: int = 5,
    inner: int = 5,
    tune: int = 30,
    seed: int = 0,
    store: str | Path | None = None,
    n_jobs: int = 1,
    confidence: float = 0.9,
    plan: Plan | None = None,
    search: Search = "random",
    repeats: int | None = None,
    interval: Literal["nested", "naive", "holdout"] = "nested",
    space: Mapping[str, Mapping[str, Any]] | None = None,
    errors: Literal["rank", "raise"] = "rank",
    budget: float | None = None,
    rule: Literal["best", "one_se"] = "best",
    racing: bool = True,
    pair_tuning: Literal["auto", "inside", "reuse"] = "auto",
    watch: Callable[[Snapshot], None] | None = None,
) -> Benchmark:
    """Estimate how well learners will do on new rows, each with an interval, and rank them.

    Every learner gets the same outer splits. On the training rows of each, its settings are tuned
    by cross-validation and the chosen ones are fitted; the rows left out are predicted once. The
    risk is the mean loss of these predictions, and belongs to the whole procedure "tune, then fit"
    (Hiabu 2024, section 2.3). Encoding, imputation and selection are learned inside too.

    The interval is that of Bates, Hastie and Tibshirani (2024), which accounts for folds sharing
    their training rows; for differences between learners it uses the losses row by row.

    Parameters
    ----------
    data
        A table with a target. Group and time columns it names are respected by all splits.
    learners
        Names of the catalogue, `Learner` objects, scikit-learn estimators, pairs of a name and one
        of these, or a dict of them by name; a few usual ones when left out, from a constant to
        boosted trees (`clearwood.models.catalogue.usual`).
    loss
        What a wrong prediction costs; the task's own when left out: squared for numbers, Poisson
        deviance for counts, log for classes.
    outer, inner
        Folds for the estimate, and for tuning inside each.
    tune
        Configurations tried for each learner, its defaults among them; 0 takes the defaults.
    seed
        Fixes every random choice; the result does not depend on ``n_jobs``.
    store
        A file that keeps every finished fit, so that a run that was stopped goes on where it was
        when the same call is made again.
    n_jobs
        Processes, over learners, folds and trials. With 1, a surrounding
        ``joblib.parallel_config`` decides, which is how Dask is used.
    confidence
        Level of the intervals.
    plan
        A resampling plan instead of ``outer`` folds.
    search
        How configurations are chosen. "tpe" and "gp" need the extra ``tune``.
    repeats
        How often the outer splits are drawn anew; chosen by the number of rows when left out.
    interval
        "nested"; "naive" is several times cheaper and too short; "holdout" judges on one part.
    space
        Ranges to search instead of the catalogue's, by learner:
        ``{"knn": {"n_neighbors": Whole(1, 500)}}``.
    errors
        "rank" puts a learner that fails last and goes on, "raise" stops.
    budget
        Seconds for everything: no fit is begun after them, and each tuning gets its share.
    rule
        Which configuration tuning takes: the "best", or the simplest within "one_se" of it.
    racing
        Give up configurations that are clearly worse before all inner folds are done.
    pair_tuning
        Whether fits that leave two folds out, which the nested interval needs, tune "inside" or
        "reuse" settings tuned without the fold they are judged on; "auto" reuses from 200 rows on.
    watch
        Called after every fit with how far the run is.

    Returns
    -------
    Benchmark
        Partial, with a warning, after Ctrl-C.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> bench = cw.benchmark(data, ["baseline", "ridge"], tune=10, interval="naive")
    >>> [standing.learner for standing in bench.standings]
    ['ridge', 'baseline']
    """
    start = time.monotonic()
    table = checked_table(data)
    _check_options(
        outer, inner, tune, seed, confidence, interval, errors, rule, pair_tuning, budget
    )
    if tune > 1:
        check_search(search)
    workers = Workers(n_jobs)
    assert table.task is not None
    judged_by = loss if isinstance(loss, Loss) else _loss(loss, table)
    codes, classes = target_codes(table)
    _check_target(judged_by, codes, table)
    if learners is None:
        learners = catalogue.usual(table.task)
    taking_part = contenders(learners, table, judged_by, seed=seed, space=space)
    by_name = {contender.name: contender for contender in taking_part}
    resampling = outer_plan(
        table, plan, outer=outer, repeats=repeats, interval=interval, tuned=tune > 1
    )
    kind = interval_kind(resampling, interval)
    splits = outer_splits(table, resampling, seed=seed)
    pairs: Literal["tuned", "reused", "none"] = "none"
    if kind == "nested":
        reuse = pair_tuning == "reuse" or (pair_tuning == "auto" and table.n_rows >= REUSE_FROM)
        pairs = "reused" if reuse and tune > 1 else "tuned"
    design = Design(splits, pairs)
    tuning = None
    if tune > 1:
        seconds = None
        if budget is not None:
            count = len(design.outer(by_name)) + (
                len(design.pair(by_name)) if pairs == "tuned" else 0
            )
            seconds = 0.8 * budget * workers.count / count
        tuning = Tuning(search, tune, inner, rule, racing, seconds)
    context = Context(table, codes, classes, judged_by, by_name, tuning, seed)
    session = Session(context, design, workers, errors=errors, watch=watch)
    with session.opened(store, plan_words=resampling.words):
        session.run(deadline=None if budget is None else start + budget)
    if not session.outcomes:
        _explain_nothing(stopped=session.stopped, budget=budget)
    return _result(session, design, resampling, kind, confidence, time.monotonic() - start)


def _result(
    session: Session, design: Design, plan: Plan, kind: str, confidence: float, seconds: float
) -> Benchmark:
    context = session.context
    method = Method(
        plan=plan.words,
        splits=len(design.splits),
        repeats=len(design.repeats),
        interval=kind,
        confidence=confidence,
        tuning=_tuning_words(context),
        pairs="defaults" if context.tuning is None and kind == "nested" else design.pairs,
        seed=context.seed,
    )
    found: dict[str, list[Any]] = {name: [] for name in context.contenders}
    for key, outcome in session.outcomes.items():
        unit = session.units[key]
        found[unit.learner].append((unit, outcome))
    told = [
        *session.warnings(),
        *failure_warnings(found),
        *trial_warnings(found),
        *edge_warnings(context.contenders, found),
        *note_warnings(found),
    ]
    for text in told:
        warnings.warn(text, ClearwoodWarning, stacklevel=3)
    return Benchmark(
        standings(context, found, method),
        method,
        context,
        session.units,
        session.outcomes,
        tuple(told),
        seconds,
        failures_of(found),
    )


def _loss(name: str | None, table: Table) -> Loss:
    assert table.task is not None
    return default_loss(table.task) if name is None else find_loss(name, task=table.task)


def _check_target(loss: Loss, codes: NDArray[Any], table: Table) -> None:
    """Refuse a target that the loss has no value for, whatever is predicted."""
    if loss.name not in LOSSES or loss.needs != "prediction":
        return
    try:
        loss.per_row(codes, np.ones(len(codes)))
    except InputError as error:
        raise InputError(f"column {table.target!r}: {error.message}", hint=error.hint) from None


def _tuning_words(context: Context) -> str:
    tuning = context.tuning
    if tuning is None:
        return "settings not tuned"
    rule = ", simplest within one standard error" if tuning.rule == "one_se" else ""
    ordered = context.table.times is not None
    judged = f"testing {tuning.inner} spans of time"
    return (
        "settings tuned inside each fold by "
        f"{judged if ordered else f'{tuning.inner}-fold cross-validation'} "
        f"({tuning.search} search, {tuning.trials} trials{rule})"
    )


def _explain_nothing(*, stopped: bool, budget: float | None) -> None:
    if stopped:
        raise KeyboardInterrupt
    assert budget is not None
    raise InputError(
        f"a budget of {budget:g} seconds is too small for a single fit",
        hint="give more time, fewer learners or quicker ones.",
    )


def _check_options(
    outer: Any,
    inner: Any,
    tune: Any,
    seed: Any,
    confidence: Any,
    interval: Any,
    errors: Any,
    rule: Any,
    pair_tuning: Any,
    budget: Any,
) -> None:
    for name, value, least in (
        ("outer", outer, 2),
        ("inner", inner, 2),
        ("tune", tune, 0),
        ("seed", seed, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(
                f"{name}={value!r} is not possible", hint=f"a whole number from {least} on."
            )
    if not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r} is no level", hint="0.9 means 90 %.")
    for name, value, known in (
        ("interval", interval, ("nested", "naive", "holdout")),
        ("errors", errors, ("rank", "raise")),
        ("rule", rule, ("best", "one_se")),
        ("pair_tuning", pair_tuning, ("auto", "inside", "reuse")),
    ):
        if value not in known:
            raise InputError(
                f"{name}={value!r} is not known", hint=f"one of {', '.join(map(repr, known))}."
            )
    if budget is not None and (not math.isfinite(budget) or budget <= 0):
        raise InputError(f"budget={budget!r} is no number of seconds", hint="more than zero.")
