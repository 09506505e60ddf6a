"""Where work runs: in this process, in threads or processes, or on a Dask cluster."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from clearwood.kernels import threads

__all__ = ["LOOK_EVERY", "Pool", "end_with", "pool_of"]

#: Seconds between two looks at whether another process lives.
LOOK_EVERY = 0.5
#: Seconds after which an idle process ends, as in joblib. A process that ends just as it is given
#: work makes loky warn in a thread of its own, which does not survive where warnings are errors.
_IDLE = 300


class Pool:
    """Workers that take calls; this one is the process itself, which works when it is called.

    Parameters
    ----------
    count
        How many calls run at a time.
    """

    #: Where the work runs, in words.
    place = "in this process"
    #: Whether a worker that dies ends the calls of all others too.
    shares_losses = False

    def __init__(self, count: int = 1) -> None:
        self.count = count

    def shared(self, value: Any) -> Any:
        """Return what stands for a value that many calls take, so that it is sent few times."""
        return value

    def submit(self, call: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Begin a call."""
        future: Future[Any] = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def mend(self) -> None:
        """Replace workers that have died."""

    def stop(self) -> None:
        """End the calls under way, as far as that is possible."""


class _Executing(Pool):
    """Workers behind one of Python's executors."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._executor = self._made()

    def _made(self) -> Executor:
        raise NotImplementedError

    def submit(self, call: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        return self._executor.submit(call, *arguments)


class _Threads(_Executing):
    """Threads of this process."""

    place = "in threads"

    def _made(self) -> Executor:
        return ThreadPoolExecutor(self.count)

    def stop(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


class _Processes(_Executing):
    """Processes of this machine."""

    place = "in processes"
    shares_losses = True

    def _made(self) -> Executor:
        from joblib.externals.loky import get_reusable_executor

        with _interrupts_later():
            executor: Executor = get_reusable_executor(
                self.count, timeout=_IDLE, kill_workers=False
            )
        return executor

    def submit(self, call: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        with _interrupts_later():
            return super().submit(call, *arguments)

    def mend(self) -> None:
        self._executor = self._made()

    def stop(self) -> None:
        executor: Any = self._executor
        executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, and never reach processes that begin in it.

    A terminal sends it to them too. Those that are still starting would print where they were;
    the main process, which is interrupted as soon as the block ends, ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    # it would be started in the block, which lets signals through again (up to Python 3.12)
    ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Dask(_Executing):
    """The workers of a Dask cluster.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    """

    place = "on a Dask cluster"

    def __init__(self, client: Any, count: int) -> None:
        self._client = client
        super().__init__(count)

    def _made(self) -> Executor:
        executor: Executor = self._client.get_executor(pure=False)
        return executor

    def shared(self, value: Any) -> Any:
        # a call rather than scattered data: if the worker that holds it dies, it is made again
        return self._client.submit(_itself, value, pure=False)

    def stop(self) -> None:
        self._executor.shutdown(wait=False)


def _itself(value: Any) -> Any:
    return value


def pool_of(n_jobs: int | None) -> Pool:
    """Choose workers: ``n_jobs`` processes, or those of a surrounding ``joblib.parallel_config``.

    Examples
    --------
    >>> pool_of(1).submit(max, 2, 3).result()
    3
    """
    backend, _ = get_active_backend()
    name = type(backend).__name__.lower()
    if "dask" in name:
        client: Any = getattr(backend, "client", None)
        return _Dask(client, max(1, int(effective_n_jobs(None))))
    count = threads(n_jobs)
    if count == 1:
        # what a surrounding configuration asks for
        count = max(1, int(effective_n_jobs(None)))
    if count == 1:
        return Pool()
    return _Threads(count) if "thread" in name else _Processes(count)


@cache
def end_with(main: int) -> None:
    """End this process when the main one, which started it, has been killed.

    A worker that is not its child, a thread say or one of a cluster, is left alone.
    """
    if os.name == "nt" or os.getppid() != main:
        return

    def look() -> None:
        while os.getppid() == main:
            time.sleep(LOOK_EVERY)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
