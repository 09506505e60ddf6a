"""Comparing learners on a table in parts: one hold-out, all of whose rows are judged."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.numbers import count, duration
from clearwood._shared.progress import progress
from clearwood.benchmarking.fitting.contenders import BASELINE, Contender, contenders
from clearwood.benchmarking.fitting.target import checked_table, loss_for
from clearwood.benchmarking.fitting.work import (
    Context,
    Outcome,
    Tuning,
    Unit,
    collected,
    in_words,
    judge,
)
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.benchmarking.options import (
    check_counts,
    check_target,
    tuning_words,
    usual_learners,
    with_threshold,
)
from clearwood.benchmarking.over_parts.fitting import (
    classes_of,
    codes_of,
    fit_to_parts,
    is_of_rows,
    may_stream,
)
from clearwood.benchmarking.over_parts.held_out import HeldOutParts
from clearwood.benchmarking.over_parts.judging import Judging, LossFile, digest_of
from clearwood.benchmarking.result import Benchmark
from clearwood.benchmarking.running.findings import ended_early
from clearwood.benchmarking.running.unit import selected_of
from clearwood.benchmarking.standings import (
    Method,
    by_learner,
    findings_of,
    standings,
    with_warnings,
)
from clearwood.benchmarking.tuning.searches import check_search
from clearwood.losses import Loss
from clearwood.parallel import State
from clearwood.resampling import PartsSplit, split_parts
from clearwood.table import Parts, Table

__all__ = ["benchmark_parts"]


def benchmark_parts(
    parts: Parts,
    learners: Any,
    *,
    share: float,
    loss: str | Loss | None,
    tuning: Tuning | None,
    seed: int,
    store: str | Path | None,
    n_jobs: int,
    confidence: float,
    space: Mapping[str, Mapping[str, Any]] | None,
    on_error: Literal["rank", "raise"],
    clock: Clock,
    threshold: float,
    sample: int,
) -> Benchmark:
    """Compare learners on a table in parts; see `clearwood.benchmark`."""
    checked_table(parts.empty)
    assert parts.task is not None
    check_counts(sample=(sample, 2))
    if tuning is not None:
        check_search(tuning.search)
    workers = Workers(n_jobs)
    # the least and the greatest value of the target are among those shown
    ends = replace(parts.empty, columns=parts.shown)
    judged_by, threshold = with_threshold(loss_for(ends, loss), threshold, parts.task)
    classes = classes_of(parts)
    check_target(judged_by, codes_of(ends, classes), ends)
    split = split_parts(parts, share, seed=seed, n_jobs=n_jobs)
    with progress("drawing rows"):
        drawn = split.train.sample(int(sample), seed=seed)
        kept = split.test.sample(int(sample), seed=seed)
    if learners is None:
        learners = usual_learners(drawn, in_parts=True)
    several = contenders(learners, drawn, judged_by, seed=seed, space=space)
    reference = None
    if not any(contender.is_baseline for contender in several):
        reference = BASELINE
        several = (*contenders(BASELINE, drawn, judged_by, seed=seed), *several)
    by_name = {contender.name: contender for contender in several}
    _check_sample(drawn, classes, by_name)
    context = Context(kept, codes_of(kept, classes), classes, judged_by, by_name, tuning, seed)
    with _loss_file(store) as file:
        judging = Judging(split, context, file, _identity(parts, split, context, sample), n_jobs)
        run = _Session(
            judging, drawn, workers, clock, on_error=on_error, is_stored=store is not None
        )
        run.all()
        if all(run.units[key].learner == reference for key in run.outcomes):
            if run.stopped:
                raise KeyboardInterrupt
            assert clock.time_limit is not None
            raise bad_value(
                "time_limit",
                clock.time_limit,
                f"{duration(clock.time_limit)} are not enough for a single fit",
                hint="allow more time, or compare fewer or faster learners.",
            )
        with progress("averaging losses"):
            able = [run.units[key].learner for key, o in run.outcomes.items() if not o.failure]
            risks = judging.risks(able)
            zeros = judging.n_without_weight()
    held_out = HeldOutParts(
        n_rows=parts.n_rows,
        n_parts=len(parts.parts),
        n_train=split.train.n_rows,
        n_test=split.test.n_rows,
        n_units=risks.n_units,
        is_grouped=risks.is_grouped,
        n_kept=kept.n_rows,
        seed=seed,
        sample=int(sample),
        sampled=run.sampled,
        source=parts.source,
        fingerprint=parts.fingerprint(),
        risks=risks,
        runs=dict(judging.runs),
    )
    rows = count(drawn.n_rows, "training row")
    method = Method(
        plan=split.words,
        splits=1,
        repeats=1,
        interval="hold-out",
        confidence=confidence,
        tuning=tuning_words(replace(context, table=drawn), where=f"on a sample of {rows}"),
        pairs="none",
        seed=seed,
        threshold=threshold,
        is_weighted=kept.weights is not None,
        n_zero_weight=zeros,
    )
    return run.result(method, reference, held_out)


def _check_sample(
    drawn: Table, classes: NDArray[Any] | None, by_name: Mapping[str, Contender]
) -> None:
    """Refuse a sample without a row of some class, if a learner is to be fitted to it."""
    if classes is None:
        return
    needed = [name for name, one in by_name.items() if not may_stream(one)]
    absent = np.setdiff1d(classes, drawn.y)
    if needed and len(absent):
        raise InputError(
            f"a sample of {count(drawn.n_rows, 'training row')} has no row of class "
            f"{str(absent[0])!r}, and {', '.join(needed)} would be fitted to it",
            parameter="sample",
            value=drawn.n_rows,
            hint=words("take more rows with ", Option("sample"), ", or leave rare classes out."),
        )


def _identity(parts: Parts, split: PartsSplit, context: Context, sample: int) -> dict[str, Any]:
    """Return what the losses of every learner depend on, in plain values."""
    tuning = context.tuning
    return {
        "work": "",
        "parts": parts.fingerprint(),
        "held out": list(split.held_out.identity()),
        "sample": int(sample),
        "loss": context.loss.name,
        "seed": context.seed,
        "tuning": None if tuning is None else vars(tuning),
        "clearwood": version("clearwood"),
        "scikit-learn": version("scikit-learn"),
    }


@contextmanager
def _loss_file(store: str | Path | None) -> Iterator[LossFile]:
    """Open the user's file, or one that is gone afterwards."""
    if store is not None:
        yield LossFile(store)
        return
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        yield LossFile(Path(folder) / "losses")


@dataclass(eq=False)
class _Session:
    """A run under way: learners are fitted and judged one after the other."""

    judging: Judging
    drawn: Table
    workers: Workers
    clock: Clock
    on_error: Literal["rank", "raise"]
    is_stored: bool
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    sampled: dict[str, int] = field(default_factory=dict)
    stopped: bool = False

    def __post_init__(self) -> None:
        self.context = self.judging.context
        none, every = np.empty(0, np.int64), np.arange(self.context.table.n_rows, dtype=np.int64)
        listed = [Unit(name, "outer", 0, 0, none, every) for name in self.context.contenders]
        self.units = {unit.key: unit for unit in listed}

    def all(self) -> None:
        """Fit and judge all learners; Ctrl-C or the time limit ends it with what is done."""
        with progress("benchmark", total=len(self.units)) as step:
            try:
                for unit in self.units.values():
                    if self.clock.is_over:
                        return
                    step(note=unit.learner)
                    outcome = self._outcome(unit)
                    self.outcomes[unit.key] = outcome
                    if outcome.failure is not None and self.on_error == "raise":
                        raise InputError(
                            f"learner {unit.learner!r} failed: {outcome.failure}",
                            hint=words(Option("on_error", "rank"), " ranks it last and goes on."),
                        )
                    step(1, note=unit.learner)
            except KeyboardInterrupt:
                self.stopped = True

    def _outcome(self, unit: Unit) -> Outcome:
        """Return what the file has of a learner, or fit and judge it."""
        contender = self.context.contenders[unit.learner]
        identity = {**self.judging.identity, "learner": contender.identity()}
        with self.judging.file.page({**identity, "work": "learner"}) as page:
            known = page.state(0) if 0 in page.finished else None
        if known is not None:
            self.judging.known(unit.learner, {**_about(contender), "model": known.values["model"]})
            if known.values["sampled"] is not None:
                self.sampled[unit.learner] = known.values["sampled"]
            return _restored(known, contender)
        start = time.perf_counter()
        with collected() as notes:
            try:
                outcome, model = self._fitted(unit)
            except InputError as error:
                if is_of_rows(error):
                    raise
                outcome, model = Outcome(None, failure=in_words(error)), None
            except Exception as error:  # one learner's failure is a result, not the end
                outcome, model = Outcome(None, failure=in_words(error)), None
        if model is not None:
            assert outcome.losses is not None
            assert outcome.predictions is not None
            digest = digest_of(outcome.losses, outcome.predictions)
            about = {**_about(contender), "model": digest}
            failure, more = self.judging.judge(unit.learner, model, about)
            notes += [note for note in more if note not in notes]
            if failure is not None:
                outcome = replace(outcome, losses=None, predictions=None, failure=failure)
        seconds = time.perf_counter() - start
        outcome = replace(outcome, seconds=seconds, notes=tuple(notes))
        if outcome.failure is None:
            with self.judging.file.page({**identity, "work": "learner"}) as page:
                state = _stored(
                    outcome, contender, model=digest, sampled=self.sampled.get(unit.learner)
                )
                page.add(0, unit.learner, state, seconds=seconds)
        return outcome

    def _fitted(self, unit: Unit) -> tuple[Outcome, Any]:
        """Fit a learner to the training rows and predict the held-out rows in memory."""
        start = time.perf_counter()
        fitted = fit_to_parts(
            self.context,
            unit.learner,
            self.judging.split.train,
            lambda: self.drawn,
            split=unit.split,
            workers=self.workers,
        )
        if fitted.n_drawn is not None:
            self.sampled[unit.learner] = fitted.n_drawn
        context = self.context
        losses, predictions = judge(
            fitted.model, context.table, context.codes, context.loss, context.classes
        )
        outcome = Outcome(
            losses,
            predictions,
            settings=fitted.settings,
            fit_seconds=time.perf_counter() - start,
            archive=fitted.trials,
            selected=selected_of(fitted.model),
        )
        return outcome, fitted.model

    def result(self, method: Method, reference: str | None, held_out: HeldOutParts) -> Benchmark:
        """Put the result together."""
        context = self.context
        outcomes = by_learner(context.contenders, self.units, self.outcomes)
        findings = [
            *ended_early(
                len(self.outcomes),
                len(self.units),
                is_stopped=self.stopped,
                is_stored=self.is_stored,
            ),
            *findings_of(context.contenders, outcomes),
        ]
        ranked, baseline = standings(
            context,
            outcomes,
            method.confidence,
            reference,
            held_out.risks,
            sampled=held_out.sampled,
        )
        bench = Benchmark(
            ranked,
            method,
            context,
            self.units,
            self.outcomes,
            tuple(findings),
            self.clock.passed,
            reference=baseline,
            in_parts=held_out,
        )
        return with_warnings(bench)


def _about(contender: Contender) -> dict[str, Any]:
    return {"learner": contender.identity()}


def _stored(outcome: Outcome, contender: Contender, *, model: str, sampled: int | None) -> State:
    """Return what a finished learner leaves in the file; its losses are there already."""
    assert outcome.losses is not None
    assert outcome.predictions is not None
    values = {
        "settings": contender.encoded(outcome.settings),
        "seconds": outcome.seconds,
        "fit_seconds": outcome.fit_seconds,
        "notes": list(outcome.notes),
        "selected": None if outcome.selected is None else list(outcome.selected),
        "model": model,
        "sampled": sampled,
    }
    return State(values, {"losses": outcome.losses, "predictions": outcome.predictions})


def _restored(state: State, contender: Contender) -> Outcome:
    values = state.values
    return Outcome(
        state.arrays["losses"],
        state.arrays["predictions"],
        settings=contender.decoded(values["settings"]),
        seconds=values["seconds"],
        fit_seconds=values["fit_seconds"],
        notes=tuple(values["notes"]),
        selected=None if values["selected"] is None else tuple(values["selected"]),
    )
