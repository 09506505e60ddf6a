"""Processes on the workers of a cluster that work together: all of them, or none.

Libraries that fit one model on several machines need all of their processes from beginning to end;
if one is lost, the others raise or wait for ever. So each worker starts a process of its own, which
can be ended whatever it waits for. The driver looks at all of them about twice a second. If one is
gone or nothing happens for too long, it ends the others and raises `LostError`: the caller,
who knows how far the work has come, begins again from there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from joblib.parallel import get_active_backend

from clearwood._shared.errors import InputError
from clearwood.parallel.engine import VERSION, Payload
from clearwood.parallel.pools import LOOK_EVERY

__all__ = ["LostError", "cluster", "together", "workers_of"]

#: A worker that answers nothing for so many seconds is lost. A process ends if nobody has looked at
#: it for as long, because the driver was killed.
_SILENT = 180.0

#: What a process reports: JSON values.
Event = dict[str, Any]
#: Work of one process: called with its arguments and a function that reports.
WorkTogether = Callable[[Any, Callable[[Event], None]], None]


class LostError(Exception):
    """One of the processes was lost, or all of them were silent for too long."""


def cluster() -> Any:
    """Return the client of the Dask cluster that a surrounding joblib configuration chose, or None.

    Examples
    --------
    >>> cluster() is None
    True
    """
    backend, _ = get_active_backend()
    if "dask" not in type(backend).__name__.lower():
        return None
    return getattr(backend, "client", None)


def workers_of(client: Any) -> dict[str, int]:
    """Return the address of each worker that answers, and its threads.

    Raises
    ------
    InputError
        If one of them has another version of Clearwood.
    """
    threads = {str(address): int(n) for address, n in client.nthreads().items()}
    found = client.run(_version, workers=list(threads), on_error="return") if threads else {}
    for address, version in found.items():
        # one that lacks this very function is older
        is_older = isinstance(version, ImportError | AttributeError)
        if is_older or (isinstance(version, str) and version != VERSION):
            there = "another version of Clearwood" if is_older else f"Clearwood {version}"
            raise InputError(
                f"the worker on {address!r} has {there}, the driver {VERSION}",
                parameter="workers",
                hint="install the same version of Clearwood on every worker.",
            )
    return {address: n for address, n in threads.items() if found.get(address) == VERSION}


def together(
    client: Any,
    addresses: Sequence[str],
    work: WorkTogether,
    arguments: Callable[[int, tuple[tuple[str, int], ...], Sequence[Any]], Any],
    *,
    ask: tuple[Any, ...],
    on_event: Callable[[int, Event], bool],
    patience: Callable[[], float],
) -> None:
    """Run one process on each of some workers until all have ended.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    addresses
        The workers.
    work
        A function of a module, called in each process with its arguments and a function that
        reports JSON values to the driver.
    arguments
        Makes the arguments of a process, from its number, the host and a free port of each, and
        what each worker answered.
    ask
        A function, and its arguments, to call on each worker before the processes are started.
    on_event
        Called in the driver with the number of a process and what it reported. True ends all.
    patience
        Seconds without a report after which the processes count as lost.

    Raises
    ------
    LostError
        If a process or its worker ended early, or nothing happened for too long. No process runs
        any more, as far as its worker can be reached.
    """
    session = uuid.uuid4().hex
    futures: list[Any] = []
    watch = _Watch(client, addresses, session)
    try:
        places = watch.call(_free_port)
        ends = tuple((_host(address), int(places[address])) for address in addresses)
        by_worker = watch.call(*ask)
        answers = [by_worker[address] for address in addresses]
        futures += [
            client.submit(
                _run_member,
                f"{session}.{rank}",
                Payload.of((work, arguments(rank, ends, answers))),
                workers=[address],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            for rank, address in enumerate(addresses)
        ]
        for rank, event in watch.events(patience):
            if on_event(rank, event):
                break
    finally:
        watch.stop()
        client.cancel(futures)


def _host(address: str) -> str:
    """Return the host of a worker's address.

    Examples
    --------
    >>> _host("tcp://10.0.0.3:40123"), _host("tcp://[::1]:40123"), _host("inproc://10.0.0.3/8/1")
    ('10.0.0.3', '::1', '10.0.0.3')
    """
    place = address.rsplit("://", maxsplit=1)[-1].split("/", maxsplit=1)[0]
    return re.sub(r":\d+$", "", place).strip("[]")


class _Watch:
    """Looks at the processes of a session, and ends them."""

    def __init__(self, client: Any, addresses: Sequence[str], session: str) -> None:
        self.client, self.addresses, self.session = client, list(addresses), session

    def call(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Call a function on all workers; a worker that does not answer is lost."""
        there = self._within(self.client.nthreads)
        gone = [address for address in self.addresses if address not in there]
        if gone:
            raise LostError(f"the worker {gone[0]} is gone")
        answers: dict[str, Any] = self._within(
            lambda: self.client.run(function, *arguments, workers=self.addresses, on_error="return")
        )
        for address, answer in answers.items():
            if isinstance(answer, Exception):
                raise LostError(f"the worker {address} does not answer ({answer})")
        return answers

    @staticmethod
    def _within(call: Callable[[], Any]) -> Any:
        """Call in a thread that may wait for ever without keeping the program alive."""
        answer: Future[Any] = Future()

        def ask() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        try:
            return answer.result(_SILENT)
        except OSError as error:  # TimeoutError is one
            if not answer.done():
                message = f"a worker has not answered for {_SILENT:g} seconds"
                raise LostError(message) from None
            raise LostError(f"the scheduler does not answer ({error})") from error

    def events(self, patience: Callable[[], float]) -> Iterator[tuple[int, Event]]:
        """Report what happens until all processes have ended."""
        seen = dict.fromkeys(range(len(self.addresses)), 0)
        last = time.monotonic()
        while True:
            answers = self.call(_look, self.session, seen)
            looks = {rank: look for answer in answers.values() for rank, look in answer.items()}
            for rank, look in sorted(looks.items()):
                seen[rank] += len(look.events)
                for event in look.events:
                    last = time.monotonic()
                    yield rank, event
            for rank, look in sorted(looks.items()):
                if look.code not in (None, 0):
                    address = self.addresses[rank]
                    raise LostError(f"the process on {address} ended early: {look.error}")
            if len(looks) == len(self.addresses) and all(k.code == 0 for k in looks.values()):
                return
            if len(looks) < len(self.addresses):
                last = time.monotonic()  # a worker is busy with something else
            elif time.monotonic() - last > patience():
                raise LostError(f"nothing has happened for {time.monotonic() - last:.0f} seconds")
            time.sleep(LOOK_EVERY)

    def stop(self) -> None:
        """End the processes on the workers that can be reached."""
        try:
            there = set(self._within(self.client.nthreads))
            reached = [address for address in self.addresses if address in there]
            if reached:
                stop = lambda: self.client.run(  # noqa: E731
                    _stop, self.session, workers=reached, on_error="ignore"
                )
                self._within(stop)
        except (LostError, RuntimeError):
            pass  # they end by themselves when nobody looks at them


# In the worker


@dataclass(eq=False)
class _Process:
    """A process of this worker, and what it has reported."""

    process: "subprocess.Popen[bytes]"
    events: list[Event] = field(default_factory=list)
    code: int | None = None
    error: str = ""
    looked: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class _Look:
    """What is new of a process."""

    events: list[Event]
    code: int | None
    error: str


_processes: dict[str, _Process] = {}


def _version() -> str:
    return VERSION


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("", 0))
        return int(found.getsockname()[1])


def _look(session: str, seen: dict[int, int]) -> dict[int, _Look]:
    """Return what is new of the processes of a session that this worker has."""
    found = {}
    for rank, known in seen.items():
        one = _processes.get(f"{session}.{rank}")
        if one is not None:
            one.looked = time.monotonic()
            code = one.code  # before the events: those of an ended process are complete
            found[rank] = _Look(one.events[known:], code, one.error)
    return found


def _stop(session: str) -> None:
    """End the processes of a session, and forget them."""
    for key in [key for key in _processes if key.startswith(f"{session}.")]:
        _processes.pop(key).process.kill()


def _run_member(key: str, payload: Payload) -> None:
    """Run a process to its end, as a task of a worker."""
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "clearwood.parallel.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        one = _processes[key] = _Process(process)
        reader = threading.Thread(target=_read_events, args=(one,), daemon=True)
        reader.start()
        assert process.stdin is not None
        try:
            with process.stdin:
                process.stdin.write(payload.data)
        except OSError:
            pass  # it has ended already, and says why
        while process.poll() is None:
            time.sleep(LOOK_EVERY / 2)
            if time.monotonic() - one.looked > _SILENT:
                process.kill()
        reader.join()
        stderr.seek(0)
        lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    one.error = lines[-1][-500:] if lines else f"exit code {process.returncode}"
    one.code = process.returncode


def _read_events(one: _Process) -> None:
    assert one.process.stdout is not None
    for line in one.process.stdout:
        one.events.append(json.loads(line))


# In the process


def run(payload: bytes, main: int) -> None:
    """Do the work of one process, whose worker has sent it."""
    from clearwood.parallel.pools import end_with

    end_with(main)
    # what libraries print must not be mistaken for a report
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def report(event: Event) -> None:
        reports.write(json.dumps(event) + "\n")
        reports.flush()

    work, arguments = Payload("", payload).unpacked()
    work(arguments, report)
