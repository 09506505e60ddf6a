"""Where fits run: in this process, or in worker processes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from clearwood.benchmarking.fitting.work import Spread, in_turn
from clearwood.kernels import limited, threads
from clearwood.parallel import end_with

__all__ = ["Workers"]

# Arrays above this size are shared with worker processes through files rather than copied.
_SHARED_FROM = "256K"


class Workers:
    """Where fits run: in this process, or in those of joblib's backend.

    Parameters
    ----------
    n_jobs
        As in joblib. With 1, a surrounding ``joblib.parallel_config`` decides.
    """

    def __init__(self, n_jobs: int | None) -> None:
        count = threads(n_jobs)
        self.n_jobs: int | None = count
        if count == 1:
            # a backend that the user has chosen, Dask's say, brings its own number of workers
            count, self.n_jobs = int(effective_n_jobs(None)), None
        self.count = max(1, count)

    @property
    def shares_files(self) -> bool:
        """Whether workers see the files of this machine, the store among them."""
        return self.count == 1 or "dask" not in type(self._backend).__name__.lower()

    @property
    def _backend(self) -> Any:
        return Parallel(self.n_jobs)._backend  # noqa: SLF001 - joblib offers no other way to ask

    def unordered(
        self, call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Yield results as they finish; arguments are drawn no earlier than needed."""
        options = {"batch_size": 1, "max_nbytes": _SHARED_FROM}
        if not getattr(self._backend, "supports_return_generator", False):
            return self._in_rounds(call, arguments, options)
        parallel = Parallel(
            self.n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs", **options
        )
        results: Iterator[Any] = parallel(delayed(call)(*each) for each in arguments)
        return results

    def _in_rounds(
        self,
        call: Callable[..., Any],
        arguments: Iterable[tuple[Any, ...]],
        options: Mapping[str, Any],
    ) -> Iterator[Any]:
        """Yield results of a backend that returns them all at once, `count` calls at a time."""
        waiting = iter(arguments)
        with Parallel(self.n_jobs, **options) as parallel:
            while batch := list(islice(waiting, self.count)):
                yield from parallel(delayed(call)(*each) for each in batch)

    @contextmanager
    def spread(self) -> Iterator[Spread]:
        """Open a way to run many small calls, with their results in order."""
        if self.count == 1:
            yield in_turn
            return
        with Parallel(self.n_jobs, max_nbytes=_SHARED_FROM) as parallel:
            yield lambda call, arguments: parallel(
                delayed(_on_one_core)(os.getpid(), call, *each) for each in arguments
            )


def _on_one_core(main: int, call: Callable[..., Any], *arguments: Any) -> Any:
    end_with(main)
    with limited(1):
        return call(*arguments)
