"""One run of a benchmark: units begun, finished, counted and shown."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.progress import progress
from clearwood.benchmarking.running.design import Design
from clearwood.benchmarking.running.run import Workers, run_units
from clearwood.benchmarking.running.store import Store, identity_of
from clearwood.benchmarking.running.work import Context, Outcome, Unit

__all__ = ["Session", "Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """How far a run is.

    Parameters
    ----------
    done, total
        Units finished, and all of them.
    by_learner
        For each learner: units finished, all of them, and the risk so far (NaN before the first).
    seconds
        Since the start.
    left
        A guess of the seconds to go; None before there is anything to guess from.
    """

    done: int
    total: int
    by_learner: Mapping[str, tuple[int, int, float]]
    seconds: float
    left: float | None


class Session:
    """A run under way.

    Parameters
    ----------
    context, design
        What is run.
    workers
        Where.
    errors
        "raise" stops at the first failure.
    watch
        Called after every unit.
    """

    def __init__(
        self,
        context: Context,
        design: Design,
        workers: Workers,
        *,
        errors: Literal["rank", "raise"],
        watch: Callable[[Snapshot], None] | None,
    ) -> None:
        self.context, self.design, self.workers = context, design, workers
        self.errors, self.watch = errors, watch
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
        self.out_of_time = False
        self.start = time.monotonic()

    @contextmanager
    def opened(self, store: str | Path | None, *, plan_words: str) -> Iterator[None]:
        """Open the store, if there is one, for as long as the run takes."""
        if store is None:
            yield
            return
        identity = identity_of(self.context, self.design, plan_words)
        with Store(store).opened(identity, self.context.contenders) as self.store:
            yield

    def run(self, *, deadline: float | None = None) -> None:
        """Run all units; Ctrl-C ends it with what is done."""
        # whoever watches shows the progress; two displays would fight over the terminal
        shown = progress("benchmark", total=len(self.units))
        with nullcontext(_quiet) if self.watch is not None else shown as step:
            try:
                for unit, outcome in self._all(deadline):
                    self._count(unit, outcome)
                    if outcome.failure is not None and self.errors == "raise":
                        raise InputError(
                            f"learner {unit.learner!r} failed in {unit.split}: {outcome.failure}",
                            hint="errors='rank' ranks it last and goes on.",
                        )
                    step(1, note=self._note(unit.learner))
                    if self.watch is not None:
                        self.watch(self.snapshot())
            except KeyboardInterrupt:
                self.stopped = True
        self.out_of_time = not self.stopped and len(self.outcomes) < len(self.units)

    def _all(self, deadline: float | None) -> Iterator[tuple[Unit, Outcome]]:
        options: dict[str, Any] = {
            "workers": self.workers,
            "store": self.store,
            "deadline": deadline,
        }
        outer = self.design.outer(self.names)
        if self.design.pairs != "reused":
            yield from run_units(self.context, [*outer, *self.design.pair(self.names)], **options)
            return
        yield from run_units(self.context, outer, **options)
        pairs = self.design.pair(self.names, self.outcomes)
        for key in set(self.units) - {unit.key for unit in (*outer, *pairs)}:
            self.tallies[self.units[key].learner].total["pair"] -= 1
            del self.units[key]  # there are no settings to reuse where an outer fit failed
        yield from run_units(self.context, pairs, **options)

    def warnings(self) -> list[str]:
        """What to say of a run that ended early."""
        count = f"{len(self.outcomes)} of {len(self.units)} fits are done"
        kept = "" if self.store is None else "; the same call goes on from here"
        if self.stopped:
            return [f"stopped: {count}, the result is partial{kept}"]
        if self.out_of_time:
            return [f"the budget is spent: {count}, the result is partial{kept}"]
        return []

    def _count(self, unit: Unit, outcome: Outcome) -> None:
        self.outcomes[unit.key] = outcome
        tally = self.tallies[unit.learner]
        tally.done[unit.purpose] += 1
        tally.seconds[unit.purpose] += outcome.seconds
        tally.fit_seconds += outcome.fit_seconds if unit.purpose == "outer" else 0.0
        if unit.purpose == "outer" and outcome.losses is not None:
            tally.loss += float(outcome.losses.sum())
            tally.rows += len(outcome.losses)

    def _note(self, learner: str) -> str:
        risk = self.tallies[learner].risk
        return learner if np.isnan(risk) else f"{learner}: risk {risk:.4g} so far"

    def snapshot(self) -> Snapshot:
        """How far the run is now."""
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
            time.monotonic() - self.start,
            left,
        )


def _quiet(n: int = 0, *, note: str = "") -> None:
    """Show nothing."""


@dataclass
class _Tally:
    """What a learner has done so far, by purpose of the unit.

    Parameters
    ----------
    fits_of_a_pair
        How many plain fits a unit that leaves two folds out is, at most; None where it tunes too.
    """

    fits_of_a_pair: float | None
    total: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    fit_seconds: float = 0.0
    loss: float = 0.0
    rows: int = 0

    @property
    def risk(self) -> float:
        return self.loss / self.rows if self.rows else np.nan

    def left(self, otherwise: float) -> float:
        """Guess the seconds to go, from its own units or else from those of all learners."""
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
