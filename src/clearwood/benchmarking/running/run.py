"""Running units of work: on one core or many, stopped and resumed."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, effective_n_jobs

from clearwood.benchmarking.running.work import Context, Outcome, Spread, Unit, in_turn, run_unit
from clearwood.kernels import limited, threads

if TYPE_CHECKING:
    from clearwood.benchmarking.running.store import Store

__all__ = ["Workers", "run_units"]

# Arrays above this size are shared with worker processes through files rather than copied.
_SHARED_FROM = "256K"

#: Seconds between two looks at units that another process is working on, or at whether it lives.
_LOOK_EVERY = 0.5


class Workers:
    """Where fits run: in this process, or in those of joblib's backend.

    Parameters
    ----------
    n_jobs
        As in joblib. With 1, a surrounding ``joblib.parallel_config`` decides.
    """

    def __init__(self, n_jobs: int | None) -> None:
        count = threads(n_jobs)
        self.asked: int | None = count
        if count == 1:
            # a backend that the user has chosen, Dask's say, brings its own number of workers
            count, self.asked = int(effective_n_jobs(None)), None
        self.count = max(1, count)

    @property
    def shares_files(self) -> bool:
        """Whether workers see the files of this machine, the store among them."""
        return self.count == 1 or "dask" not in type(self._backend).__name__.lower()

    @property
    def _backend(self) -> Any:
        return Parallel(self.asked)._backend  # noqa: SLF001 - joblib offers no other way to ask

    def unordered(
        self, call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Give results as they are finished; arguments are drawn no earlier than needed."""
        options = {"batch_size": 1, "max_nbytes": _SHARED_FROM}
        if not getattr(self._backend, "supports_return_generator", False):
            return self._in_rounds(call, arguments, options)
        parallel = Parallel(
            self.asked, return_as="generator_unordered", pre_dispatch="n_jobs", **options
        )
        found: Iterator[Any] = parallel(delayed(call)(*given) for given in arguments)
        return found

    def _in_rounds(
        self,
        call: Callable[..., Any],
        arguments: Iterable[tuple[Any, ...]],
        options: Mapping[str, Any],
    ) -> Iterator[Any]:
        """Results of a backend that gives them all at once: so many calls at a time."""
        waiting = iter(arguments)
        with Parallel(self.asked, **options) as parallel:
            while batch := list(islice(waiting, self.count)):
                yield from parallel(delayed(call)(*given) for given in batch)

    @contextmanager
    def spread(self) -> Iterator[Spread]:
        """A way to run many small calls, their results in order."""
        if self.count == 1:
            yield in_turn
            return
        with Parallel(self.asked, max_nbytes=_SHARED_FROM) as parallel:
            yield lambda call, arguments: parallel(
                delayed(_on_one_core)(os.getpid(), call, *given) for given in arguments
            )


def run_units(
    context: Context,
    units: Sequence[Unit],
    *,
    workers: Workers,
    store: "Store | None" = None,
    deadline: float | None = None,
) -> Iterator[tuple[Unit, Outcome]]:
    """Run units and give each with its outcome as soon as it is known.

    What the store holds comes first. Units that another process has claimed are left to it; their
    outcomes are read from the store, or the units run here should that process have died.

    Parameters
    ----------
    context
        What the units share.
    units
        In the order to begin them.
    workers
        Where they run.
    store
        Keeps every finished fit.
    deadline
        The value of ``time.monotonic`` after which no unit is begun.
    """
    waiting = deque(units)
    if store is not None:
        known = store.outcomes()
        for unit in units:
            if unit.key in known:
                yield unit, known[unit.key]
        waiting = deque(unit for unit in units if unit.key not in known)
    while waiting:
        elsewhere: list[Unit] = []
        yield from _run_here(context, waiting, elsewhere, workers, store, deadline)
        if not elsewhere or (deadline is not None and time.monotonic() > deadline):
            return
        assert store is not None
        found = store.outcomes([unit.key for unit in elsewhere])
        for unit in elsewhere:
            if unit.key in found:
                yield unit, found[unit.key]
        waiting = deque(unit for unit in elsewhere if unit.key not in found)
        if len(found) == 0:
            time.sleep(_LOOK_EVERY)


def _run_here(
    context: Context,
    waiting: "deque[Unit]",
    elsewhere: list[Unit],
    workers: Workers,
    store: "Store | None",
    deadline: float | None,
) -> Iterator[tuple[Unit, Outcome]]:
    def claimed() -> Iterator[Unit]:
        while waiting:
            if deadline is not None and time.monotonic() > deadline:
                return
            unit = waiting.popleft()
            if store is None or store.claim(unit.key):
                yield unit
            else:
                elsewhere.append(unit)

    if workers.count == 1 or len(waiting) < workers.count:
        # fewer units than cores: one unit at a time, its trials spread over the cores
        with workers.spread() as spread, limited(1):
            for unit in claimed():
                outcome = run_unit(context, unit, store, spread)
                yield unit, _kept(unit, outcome, store)
        return
    shared = store if store is not None and workers.shares_files else None
    arguments = ((context, unit, shared, os.getpid()) for unit in claimed())
    with closing(workers.unordered(_in_worker, arguments)) as results:  # type: ignore[type-var]
        for unit, outcome in results:
            yield unit, _kept(unit, outcome, store)


def _kept(unit: Unit, outcome: Outcome, store: "Store | None") -> Outcome:
    if store is not None:
        store.add(unit.key, outcome)
    return outcome


def _in_worker(
    context: Context, unit: Unit, store: "Store | None", main: int
) -> tuple[Unit, Outcome]:
    _end_with(main)
    with limited(1):
        return unit, run_unit(context, unit, store)


@cache
def _end_with(main: int) -> None:
    """End this process when the one that started it has been killed, rather than work for nobody.

    Parameters
    ----------
    main
        The process of the run; a worker that is not its child, a thread say or one of a cluster,
        is left alone.
    """
    if os.name == "nt" or os.getppid() != main:
        return

    def look() -> None:
        while os.getppid() == main:
            time.sleep(_LOOK_EVERY)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def _on_one_core(main: int, call: Callable[..., Any], *arguments: Any) -> Any:
    _end_with(main)
    with limited(1):
        return call(*arguments)
