"""One run of a benchmark: units begun, finished, stored, counted and shown."""

import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import number
from clearwood._shared.progress import display, progress
from clearwood.benchmarking.fitting.work import Context, Outcome, Unit
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.benchmarking.running.design import Design
from clearwood.benchmarking.running.findings import Finding, ended_early
from clearwood.benchmarking.running.store import Store, identity_of
from clearwood.benchmarking.running.unit import run_unit
from clearwood.kernels import limited
from clearwood.parallel import LOOK_EVERY, end_with
from clearwood.resampling import Plan

__all__ = ["Session", "Snapshot", "run_units"]


@dataclass(frozen=True)
class Snapshot:
    """Progress of a run.

    Parameters
    ----------
    done, total
        Fits finished, and all of them.
    by_learner
        For each learner: fits finished, all of them, and the risk so far (NaN before the first).
    seconds
        Seconds since the start.
    left
        An estimate of the seconds left; None before the first fit is finished.
    """

    done: int
    total: int
    by_learner: Mapping[str, tuple[int, int, float]]
    seconds: float
    left: float | None


class Session:
    """A run under way; when the clock is over, no further unit is begun."""

    def __init__(
        self,
        context: Context,
        design: Design,
        workers: Workers,
        clock: Clock,
        *,
        on_error: Literal["rank", "raise"],
    ) -> None:
        self.context, self.design, self.workers, self.clock = context, design, workers, clock
        self.on_error = on_error
        self.store: Store | None = None
        self.names = list(context.contenders)
        if workers.count > 1:
            # the slow ones first, so that the end of a run is not one core waiting for a forest
            self.names.sort(key=lambda name: -context.contenders[name].complexity)
        self.units: dict[str, Unit] = {
            unit.key: unit for unit in (*design.outer(self.names), *design.pair(self.names))
        }
        # settings that are reused leave a pair nothing but to be fitted, for each of them
        again = 2.0 if design.pairs == "reused" else None
        self.tallies = {name: _Tally(again) for name in context.contenders}
        for unit in self.units.values():
            self.tallies[unit.learner].total[unit.purpose] += 1
        self.outcomes: dict[str, Outcome] = {}
        self.stopped = False

    @contextmanager
    def opened(self, store: str | Path | None, *, plan: Plan) -> Iterator[None]:
        """Open the store, if there is one, for as long as the run takes."""
        if store is None:
            yield
            return
        identity = identity_of(self.context, self.design, plan)
        with Store(store).opened(identity, self.context.contenders) as self.store:
            yield

    def run(self) -> None:
        """Run all units; Ctrl-C or the time limit ends it with what is done."""
        with self._progress() as count:
            try:
                for unit, outcome in self._all():
                    self._count(unit, outcome)
                    if outcome.failure is not None and self.on_error == "raise":
                        raise InputError(
                            f"learner {unit.learner!r} failed in {unit.split}: {outcome.failure}",
                            hint=words(Option("on_error", "rank"), " ranks it last and goes on."),
                        )
                    count(unit)
            except KeyboardInterrupt:
                self.stopped = True

    @contextmanager
    def _progress(self) -> Iterator[Callable[[Unit], None]]:
        """Show the progress: in the display of one's own if there is one, or else as a bar."""
        own = display()
        if own is not None:
            with own() as show:
                yield lambda _: show(self.snapshot())
        else:
            with progress("benchmark", total=len(self.units)) as step:
                yield lambda unit: step(1, note=self._note(unit.learner))

    def _all(self) -> Iterator[tuple[Unit, Outcome]]:
        run = partial(
            run_units, self.context, workers=self.workers, store=self.store, clock=self.clock
        )
        outer = self.design.outer(self.names)
        if self.design.pairs != "reused":
            yield from run([*outer, *self.design.pair(self.names)])
            return
        yield from run(outer)
        pairs = self.design.pair(self.names, self.outcomes)
        for key in set(self.units) - {unit.key for unit in (*outer, *pairs)}:
            self.tallies[self.units[key].learner].total["pair"] -= 1
            del self.units[key]  # there are no settings to reuse where an outer fit failed
        yield from run(pairs)

    def findings(self) -> list[Finding]:
        """Report that the run ended early."""
        return ended_early(
            len(self.outcomes),
            len(self.units),
            is_stopped=self.stopped,
            is_stored=self.store is not None,
        )

    def _count(self, unit: Unit, outcome: Outcome) -> None:
        self.outcomes[unit.key] = outcome
        tally = self.tallies[unit.learner]
        tally.done[unit.purpose] += 1
        tally.seconds[unit.purpose] += outcome.seconds
        tally.fit_seconds += outcome.fit_seconds if unit.purpose == "outer" else 0.0
        if unit.purpose == "outer" and outcome.losses is not None:
            weights = self.context.table.weights
            own = np.ones(len(unit.test)) if weights is None else weights[unit.test]
            tally.loss += float(own @ outcome.losses)
            tally.weight += float(own.sum())

    def _note(self, learner: str) -> str:
        risk = self.tallies[learner].risk
        return learner if np.isnan(risk) else f"{learner}: risk {number(risk)} so far"

    def snapshot(self) -> Snapshot:
        """Return the progress of the run."""
        done = len(self.outcomes)
        left = None
        if done:
            mean = sum(sum(tally.seconds.values()) for tally in self.tallies.values()) / done
            left = sum(tally.left(mean) for tally in self.tallies.values()) / self.workers.count
        return Snapshot(
            done,
            len(self.units),
            {
                name: (tally.done.total(), tally.total.total(), tally.risk)
                for name, tally in self.tallies.items()
            },
            self.clock.passed,
            left,
        )


@dataclass
class _Tally:
    """Units of a learner that are done, by purpose."""

    #: How many plain fits a unit that leaves two folds out is, at most; None where it tunes too.
    fits_of_a_pair: float | None
    total: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    fit_seconds: float = 0.0
    loss: float = 0.0
    weight: float = 0.0

    @property
    def risk(self) -> float:
        return self.loss / self.weight if self.weight else np.nan

    def left(self, otherwise: float) -> float:
        """Estimate the seconds left, from its own units or else from those of all learners."""
        outer = self._each("outer", otherwise)
        pair = outer
        if self.fits_of_a_pair is not None and self.done["outer"]:
            pair = self.fits_of_a_pair * self.fit_seconds / self.done["outer"]
        return (self.total["outer"] - self.done["outer"]) * outer + (
            self.total["pair"] - self.done["pair"]
        ) * self._each("pair", pair)

    def _each(self, purpose: str, otherwise: float) -> float:
        done = self.done[purpose]
        return self.seconds[purpose] / done if done else otherwise


def run_units(
    context: Context,
    units: Sequence[Unit],
    *,
    workers: Workers,
    store: Store | None = None,
    clock: Clock,
) -> Iterator[tuple[Unit, Outcome]]:
    """Run units and yield each with its outcome as soon as it is known.

    They begin in this order, and none after the clock is over. What the store holds comes first.
    Units that another process has claimed are left to it; their outcomes are read from the store,
    or the units run here if that process has died.
    """
    known = {} if store is None else store.outcomes()
    waiting = deque(units)
    while waiting:
        for unit in waiting:
            if unit.key in known:
                yield unit, known[unit.key]
        waiting = deque(unit for unit in waiting if unit.key not in known)
        elsewhere: list[Unit] = []
        yield from _run_here(context, waiting, elsewhere, workers, store, clock)
        if not elsewhere or clock.is_over:
            return
        assert store is not None
        waiting = deque(elsewhere)
        known = store.outcomes([unit.key for unit in elsewhere])
        if not known:
            time.sleep(LOOK_EVERY)


def _run_here(
    context: Context,
    waiting: deque[Unit],
    elsewhere: list[Unit],
    workers: Workers,
    store: Store | None,
    clock: Clock,
) -> Iterator[tuple[Unit, Outcome]]:
    def claimed() -> Iterator[Unit]:
        while waiting:
            if clock.is_over:
                return
            unit = waiting.popleft()
            if store is None or store.claim(unit.key):
                yield unit
            else:
                elsewhere.append(unit)

    def kept(unit: Unit, outcome: Outcome) -> tuple[Unit, Outcome]:
        if store is not None:
            store.add(unit, outcome)
        return unit, outcome

    if workers.count == 1 or len(waiting) < workers.count:
        # fewer units than cores: one unit at a time, its trials spread over the cores
        with workers.spread() as spread, limited(1):
            for unit in claimed():
                yield kept(unit, run_unit(context, unit, store, spread))
        return
    shared = store if store is not None and workers.shares_files else None
    arguments = ((context, unit, shared, os.getpid()) for unit in claimed())
    with closing(workers.unordered(_in_worker, arguments)) as results:  # type: ignore[type-var]
        for unit, outcome in results:
            yield kept(unit, outcome)


def _in_worker(
    context: Context, unit: Unit, store: Store | None, main: int
) -> tuple[Unit, Outcome]:
    end_with(main)
    with limited(1):
        return unit, run_unit(context, unit, store)
