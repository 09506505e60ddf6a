"""Comparing learners: the same splits for all, everything learned inside them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from clearwood._shared.calls import remembers_options
from clearwood._shared.checks import check_confidence
from clearwood._shared.choices import Interval, Search
from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError, Option, Scan, bad_value, words
from clearwood._shared.numbers import duration
from clearwood.benchmarking.diagnostics.identical_rows import IdenticalRows, gain_of_identical_rows
from clearwood.benchmarking.diagnostics.two_ways import TwoWays, gain_in_time, gain_of_units
from clearwood.benchmarking.fitting.contenders import BASELINE, contenders
from clearwood.benchmarking.fitting.target import checked_table, loss_for, target_codes
from clearwood.benchmarking.fitting.work import Context, Tuning
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.benchmarking.intervals.estimates import RowRisks, losses_of
from clearwood.benchmarking.options import (
    check_choices,
    check_counts,
    check_target,
    tuning_words,
    usual_learners,
    with_threshold,
)
from clearwood.benchmarking.over_parts.fitting import SAMPLE
from clearwood.benchmarking.parts import benchmark_parts
from clearwood.benchmarking.result import Benchmark
from clearwood.benchmarking.running.design import (
    REUSE_FROM,
    Design,
    hold_out_share,
    interval_kind,
    outer_plan,
)
from clearwood.benchmarking.running.findings import Finding
from clearwood.benchmarking.running.run import Session
from clearwood.benchmarking.standings import (
    Method,
    Standing,
    by_learner,
    findings_of,
    standings,
    with_warnings,
)
from clearwood.benchmarking.tuning.searches import check_search
from clearwood.checks import Twins, repeated_units, trend, twins
from clearwood.losses import Loss
from clearwood.resampling import Plan, splits_of
from clearwood.table import Parts, Table

__all__ = ["benchmark"]

# For the comparison of identical rows that are kept together or not.
_FOLDS = 5

Errors = Literal["rank", "raise"]
Rule = Literal["best", "one_se"]
PairTuning = Literal["auto", "inside", "reuse"]

#: Configurations tried for each learner by default; on many rows each takes long and gains little.
_TRIALS = 30
_TRIALS_ON_MANY_ROWS = 15
_MANY_ROWS = 1_000


@remembers_options
def benchmark(
    data: Table | Parts,
    learners: Any = None,
    *,
    loss: str | Loss | None = None,
    outer: int = 5,
    inner: int = 5,
    tune: int | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    n_jobs: int = 1,
    confidence: float = 0.9,
    plan: Plan | None = None,
    search: Search = "random",
    repeats: int | None = None,
    interval: Interval | None = None,
    space: Mapping[str, Mapping[str, Any]] | None = None,
    on_error: Errors = "rank",
    time_limit: float | None = None,
    rule: Rule = "best",
    racing: bool = True,
    pair_tuning: PairTuning = "auto",
    threshold: float = 0.5,
    sample: int | None = None,
) -> Benchmark:
    """Estimate the risk of learners on new rows, each with an interval, and rank them.

    Every learner gets the same outer splits. On the training rows of each, its settings are tuned
    by cross-validation and the best ones are fitted; the test rows are predicted once. The risk is
    the mean loss of these predictions. It is that of the whole procedure "tune, then fit" (Hiabu
    2024, section 2.3); encoding, imputation and selection are learned inside too.

    The interval accounts for folds that share training rows. It is based on the fits of Bates,
    Hastie and Tibshirani (2024); its width is Clearwood's own rule (`nested_interval`). Intervals
    for differences between learners use paired differences of row losses.

    A table in parts is judged on one hold-out, by a hash of each row or of its group, or the last
    rows in time. Learners that can are fitted to all training rows, the others to a sample of them;
    all are judged on all held-out rows. The interval is that of the mean loss of these rows given
    the fits; it is not nested.

    Parameters
    ----------
    data
        A table with a target, or one in parts. Its group and time columns are respected by all
        splits.
    learners
        Names of the catalogue, `Learner` objects, scikit-learn estimators, pairs of a name and one
        of these, or a dict of them by name. By default a few usual ones, from a constant to
        boosted trees (`clearwood.models.catalogue.usual`), of these the ones that can keep to the
        directions that the table was read with. The baseline is always computed; if it
        is not among them, it is the `Benchmark.reference`.
    loss
        The loss to judge by. By default that of the task: squared for numbers, Poisson deviance
        for counts, gamma deviance for positive amounts, Tweedie deviance for amounts that can be
        zero, log for classes.
    outer, inner
        Folds for the estimate, and for tuning inside each.
    tune
        Configurations tried for each learner, its defaults among them; 0 takes the defaults. By
        default 30, and 15 from 1,000 rows on. For a table in parts 0 by default; settings are
        tuned on ``sample`` training rows.
    seed
        Fixes every random choice; the result does not depend on ``n_jobs``.
    store
        A file in which every finished fit is stored; repeating the call resumes a run that was
        stopped. For a table in parts it also has the losses of all held-out rows.
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
        How often the outer splits are repeated; by default depends on the number of rows.
    interval
        "nested", the default; "naive" is several times cheaper and too short; "hold-out" tests on
        one part of the rows, as is done for a table in parts.
    space
        Ranges to search instead of the catalogue's, by learner:
        ``{"knn": {"n_neighbors": Whole(1, 500)}}``.
    on_error
        "rank" puts a learner that fails last and goes on, "raise" stops.
    time_limit
        Seconds after which no further fit is begun; each tuning gets its share of them.
    rule
        Which configuration tuning takes: the "best", or the simplest within "one_se" of it.
    racing
        Give up configurations that are clearly worse, and the worse half after each inner fold,
        before all inner folds are done.
    pair_tuning
        Whether fits that leave two folds out, which the nested interval needs, tune "inside" or
        "reuse" settings tuned without the fold they are judged on; "auto" reuses from 200 rows on.
    threshold
        Of two classes, the second is predicted where its probability is above this, in the
        zero-one loss and in measures that need a class.
    sample
        For a table in parts: training rows that are drawn for tuning and for learners that need
        them in memory, and held-out rows that are drawn for measures and calibration. By default
        200,000.

    Returns
    -------
    Benchmark
        Partial, with a warning, after Ctrl-C or at the time limit.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> bench = cw.benchmark(data, ["baseline", "ridge"], tune=10, interval="naive")
    >>> [standing.learner for standing in bench.standings]
    ['ridge', 'baseline']
    """
    clock = Clock.started_now(time_limit)
    if isinstance(data, Parts):
        check_counts(outer=(outer, 2), inner=(inner, 2), tune=(tune or 0, 0), seed=(seed, 0))
        check_choices(
            interval=("hold-out" if interval is None else interval, Interval),
            on_error=(on_error, Errors),
            rule=(rule, Rule),
        )
        check_confidence(confidence)
        return benchmark_parts(
            data,
            learners,
            share=hold_out_share(
                plan, outer, interval=interval, repeats=repeats, pair_tuning=pair_tuning
            ),
            loss=loss,
            tuning=Tuning(search, tune, inner, rule, racing) if tune and tune > 1 else None,
            seed=seed,
            store=store,
            n_jobs=n_jobs,
            confidence=confidence,
            space=space,
            on_error=on_error,
            clock=clock,
            threshold=threshold,
            sample=SAMPLE if sample is None else sample,
        )
    table = checked_table(data)
    if sample is not None:
        raise InputError(
            words(Option("sample"), " is for tables in parts"),
            parameter="sample",
            value=sample,
            hint=words("leave it out, or read the table with ", Scan(), "."),
        )
    interval = "nested" if interval is None else interval
    if tune is None:
        tune = _TRIALS if table.n_rows < _MANY_ROWS else _TRIALS_ON_MANY_ROWS
    check_counts(outer=(outer, 2), inner=(inner, 2), tune=(tune, 0), seed=(seed, 0))
    check_choices(
        interval=(interval, Interval),
        on_error=(on_error, Errors),
        rule=(rule, Rule),
        pair_tuning=(pair_tuning, PairTuning),
    )
    check_confidence(confidence)
    if tune > 1:
        check_search(search)
    workers = Workers(n_jobs)
    assert table.task is not None
    judged_by, threshold = with_threshold(loss_for(table, loss), threshold, table.task)
    codes, classes = target_codes(table)
    check_target(judged_by, codes, table)
    if learners is None:
        learners = usual_learners(table)
    several = contenders(learners, table, judged_by, seed=seed, space=space)
    reference = None
    if not any(contender.is_baseline for contender in several):
        reference = BASELINE
        # first, so that a run which is stopped early has it
        several = (*contenders(BASELINE, table, judged_by, seed=seed), *several)
    by_name = {contender.name: contender for contender in several}
    resampling = outer_plan(
        table, plan, outer=outer, repeats=repeats, interval=interval, tuned=tune > 1
    )
    kind = interval_kind(resampling, interval)
    pairs: Literal["tuned", "reused", "none"] = "none"
    if kind == "nested":
        reuse = pair_tuning == "reuse" or (pair_tuning == "auto" and table.n_rows >= REUSE_FROM)
        pairs = "reused" if reuse and tune > 1 else "tuned"
    design = Design(splits_of(table, resampling, seed=seed), pairs)
    tuning = None
    if tune > 1:
        share = None
        if clock.time_limit is not None:
            tuned = [*design.outer(by_name), *(design.pair(by_name) if pairs == "tuned" else [])]
            share = 0.8 * clock.time_limit * workers.count / len(tuned)
        tuning = Tuning(search, tune, inner, rule, racing, share)
    context = Context(table, codes, classes, judged_by, by_name, tuning, seed)
    session = Session(context, design, workers, clock, on_error=on_error)
    with session.opened(store, plan=resampling):
        session.run()
    is_empty = all(session.units[key].learner == reference for key in session.outcomes)
    if session.stopped and is_empty:
        raise KeyboardInterrupt
    if is_empty:
        assert clock.time_limit is not None
        raise bad_value(
            "time_limit",
            time_limit,
            f"{duration(clock.time_limit)} are not enough for a single fit",
            hint="allow more time, or compare fewer or faster learners.",
        )
    weights = table.weights
    method = Method(
        plan=resampling.words,
        splits=len(design.splits),
        repeats=len(design.repeats),
        interval=kind,
        confidence=confidence,
        tuning=tuning_words(context),
        pairs="defaults" if context.tuning is None and kind == "nested" else design.pairs,
        seed=seed,
        threshold=threshold,
        is_weighted=weights is not None,
        n_zero_weight=0 if weights is None else int((weights == 0).sum()),
    )
    return _result(session, method, reference)


def _result(session: Session, method: Method, reference: str | None) -> Benchmark:
    context = session.context
    outcomes = by_learner(context.contenders, session.units, session.outcomes)
    findings = [*session.findings(), *findings_of(context.contenders, outcomes)]
    risks = RowRisks(
        {name: losses_of(one) for name, one in outcomes.items()},
        method.interval,
        method.splits // method.repeats,
        context.table,
    )
    ranked, baseline = standings(context, outcomes, method.confidence, reference, risks)
    same, compared = _identical_rows(session, ranked)
    if compared is not None and compared.matters:
        findings.append(
            Finding(
                "identical rows",
                compared.twins.n_twins,
                compared.twins.n_rows,
                learner=compared.learner,
                gain=compared.gain,
                gain_together=compared.gain_together,
            )
        )
    several = _two_ways(session, ranked, same)
    for one in several:
        if one.matters:
            n_rows = context.table.n_rows
            findings.append(
                Finding(
                    "repeated units" if one.kind == "units" else "trend",
                    n_rows,
                    n_rows,
                    learner=one.learner,
                    gain=one.gain,
                    gain_together=one.gain_other,
                    two_ways=one,
                )
            )
    bench = Benchmark(
        ranked,
        method,
        context,
        session.units,
        session.outcomes,
        tuple(findings),
        session.clock.passed,
        same,
        compared,
        several,
        baseline,
    )
    return with_warnings(bench)


def _identical_rows(
    session: Session, ranked: Sequence[Standing]
) -> tuple[Twins | None, IdenticalRows | None]:
    """Look for rows with identical features, and for what they do to the best learner's risk."""
    context, table = session.context, session.context.table
    if table.groups is not None or table.times is not None:
        return None, None
    same = twins(table, seed=context.seed)
    able = [one for one in ranked if np.isfinite(one.risk) and not one.failures]
    if not (same.agree and able) or session.findings():
        return same, None
    best = able[0]
    if 2 * _FOLDS * best.fit_seconds > session.clock.left:  # of tuning and fit, so it takes less
        return same, None
    try:
        compared = gain_of_identical_rows(
            context,
            best.learner,
            best.settings,
            same,
            folds=_FOLDS,
            n_jobs=session.workers.count,
        )
    except InputError:  # such as a class that is in one set of rows only
        return same, None
    return same, compared


def _two_ways(
    session: Session, ranked: Sequence[Standing], same: Twins | None
) -> tuple[TwoWays, ...]:
    """Look for repeated units and for a trend, and for what they do to the best learner's risk."""
    context, table = session.context, session.context.table
    able = [one for one in ranked if np.isfinite(one.risk) and not one.failures]
    if not able or session.findings() or table.times is not None:
        return ()
    best = able[0]
    if context.contenders[best.learner].is_baseline:
        return ()

    def has_time(fits: int) -> bool:
        return fits * best.fit_seconds <= session.clock.left

    found: list[TwoWays] = []
    how = {"folds": _FOLDS, "n_jobs": session.workers.count}
    try:
        if table.groups is None and not (same is not None and same.agree) and has_time(2 * _FOLDS):
            units = repeated_units(table, seed=context.seed)
            if units.agree:
                found.append(
                    gain_of_units(context, best.learner, best.settings, units.columns, **how)
                )
        if has_time(2 * _FOLDS):
            along = trend(table, seed=context.seed)
            if along.is_clear:
                found.append(
                    gain_in_time(context, best.learner, best.settings, along.column, **how)
                )
    except InputError:  # such as a class that is in one unit, or one time, only
        pass
    return tuple(found)
