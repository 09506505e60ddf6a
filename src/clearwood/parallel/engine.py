"""Work over parts of a table: anywhere, in any order, with the same result."""

import atexit
import hashlib
import os
import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, Literal, Protocol

from joblib import wrap_non_picklable_objects

from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count
from clearwood._shared.progress import progress
from clearwood.kernels import limited
from clearwood.parallel.ledger import Ledger, Page, State
from clearwood.parallel.pools import Pool, end_with, pool_of

__all__ = ["VERSION", "Payload", "Run", "Work", "n_recorded", "over"]

#: Driver and workers must have the same.
VERSION = version_of("clearwood")
#: Parts whose results may wait for an earlier one, for each worker.
_WAITING = 8
#: Seconds that a part waits before it is begun again, times the number of tries.
_PAUSE = 0.1


class Named(Protocol):
    """A part: small, sent to the worker that reads its rows."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...


#: Does the work on one part.
Work = Callable[[Any], State]
Merge = Callable[[State, State], State]


@dataclass(frozen=True, eq=False)
class Run:
    """How work over parts went.

    Parameters
    ----------
    state
        The merged result; None where there was no part, or every part was skipped.
    n_parts
        All parts.
    n_workers, place
        How many workers there were, and where they were.
    n_retries
        How often a part was begun again, because of an error or a worker that died.
    n_resumed
        Parts that a ledger had from an earlier run.
    skipped
        Parts that were left out, each with its error.
    seconds
        The time it took.
    """

    state: State | None
    n_parts: int
    n_workers: int = 1
    place: str = Pool.place
    n_retries: int = 0
    n_resumed: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0

    @property
    def described(self) -> str:
        """How it went, in words: parts, workers, retries, and what was left out."""
        facts = [count(self.n_parts, "part"), f"{count(self.n_workers, 'worker')} {self.place}"]
        if self.n_resumed:
            facts.append(f"{self.n_resumed:,} from the ledger")
        facts.append(count(self.n_retries, "retry", "retries"))
        if self.skipped:
            facts.append(f"{len(self.skipped):,} left out")
        return ", ".join(facts)

    def to_json(self) -> dict[str, Any]:
        """Return how it went as plain JSON values."""
        return {
            "parts": self.n_parts,
            "workers": self.n_workers,
            "place": self.place,
            "retries": self.n_retries,
            "resumed": self.n_resumed,
            "skipped": [{"part": name, "error": error} for name, error in self.skipped],
            "seconds": self.seconds,
        }


def over(
    parts: Sequence[Named],
    work: Work,
    merge: Merge,
    *,
    title: str,
    identity: Mapping[str, Any] | None = None,
    ledger: str | Path | Ledger | None = None,
    holds: Callable[[State], bool] | None = None,
    retries: int = 3,
    on_error: Literal["raise", "skip"] = "raise",
    n_jobs: int | None = 1,
) -> Run:
    """Do some work on every part and merge the results, always in the order of the parts.

    The result therefore does not depend on how many workers there are, on which of them is first
    or on whether one of them died. Where a surrounding ``joblib.parallel_config`` chooses a
    backend, Dask's say, the work runs there.

    Parameters
    ----------
    parts
        What the work is done on; each has a ``name``.
    work
        Called with one part, perhaps in another process.
    merge
        Called with the result of the parts so far and that of the next.
    title
        What is being done, for the display of progress: "counting".
    identity
        What determines the numbers beside the versions, in JSON values: fingerprints of the model
        and of the parts, settings. Needed with a ledger.
    ledger
        A file in which finished parts are recorded as they arrive. The same call goes on from
        there, whatever ended it.
    holds
        Whether what an earlier run recorded is still there; all of it when None.
    retries
        How often a part is begun again before it counts as failed.
    on_error
        "raise" ends the run with the name of a failed part and its error; "skip" leaves the part
        out, warns, and lists it in the result.
    n_jobs
        Processes, -1 for one per core.

    Returns
    -------
    Run

    Examples
    --------
    >>> from pathlib import PurePath
    >>> def letters(part):
    ...     return State({"letters": len(part.name)})
    >>> def added(one, other):
    ...     return State({"letters": one.values["letters"] + other.values["letters"]})
    >>> over([PurePath("a"), PurePath("bc")], letters, added, title="counting").state.values
    {'letters': 3}
    """
    started = time.perf_counter()
    with _opened(ledger, identity) as page:
        if page is not None and holds is not None:
            page.finished.difference_update(
                [k for k in sorted(page.finished) if not holds(page.state(k))]
            )
        pool = pool_of(n_jobs)
        session = _Session(parts, work, merge, pool, page, retries=retries, on_error=on_error)
        try:
            session.run(title)
        except BaseException:
            pool.stop()
            raise
    return Run(
        session.merged,
        len(parts),
        pool.count,
        pool.place,
        session.n_retries,
        session.n_resumed,
        tuple(session.skipped.items()),
        time.perf_counter() - started,
    )


def n_recorded(ledger: str | Path | None, identity: Mapping[str, Any] | None) -> int:
    """Return how many parts of some work a ledger has."""
    with _opened(ledger, identity) as page:
        return 0 if page is None else len(page.finished)


@contextmanager
def _opened(
    ledger: str | Path | Ledger | None, identity: Mapping[str, Any] | None
) -> Iterator[Page | None]:
    """Open the page of the ledger that belongs to this work."""
    if ledger is None:
        yield None
        return
    assert identity is not None, "a ledger needs to know what it records"
    own = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    with own.page({**identity, "clearwood": VERSION}) as page:
        yield page


class _Session:
    """Parts begun, finished, recorded, merged and shown."""

    def __init__(
        self,
        parts: Sequence[Named],
        work: Work,
        merge: Merge,
        pool: Pool,
        page: Page | None,
        *,
        retries: int,
        on_error: Literal["raise", "skip"],
    ) -> None:
        self.parts, self.merge, self.pool, self.page = parts, merge, pool, page
        self.retries, self.on_error = retries, on_error
        self.payload = Payload.of(work)
        self.merged: State | None = None
        self.n_retries = 0
        self.skipped: dict[str, str] = {}
        self._tries: Counter[int] = Counter()
        self._waiting: dict[int, State] = {}
        self._left_out: set[int] = set()
        self._next = 0  # the first part that is not merged yet
        recorded = set() if page is None else page.finished & set(range(len(parts)))
        self.n_resumed = len(recorded)
        self._todo = deque(k for k in range(len(parts)) if k not in recorded)
        self._under_way: dict[Future[Any], int] = {}
        # Where one dead worker ends all calls, the part that killed it is one of these: each is
        # begun with nothing beside it.
        self._suspects: set[int] = set()

    def run(self, title: str) -> None:
        """Work on all parts that the ledger does not have."""
        with progress(title, total=len(self.parts)) as step:
            step(self.n_resumed, note=self._note())
            self._merge_ready()
            shared = self.pool.shared(self.payload)
            while self._todo or self._under_way:
                self._begin(shared)
                done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
                lost = [future for future in done if self._is_lost(future)]
                for future in [*done.difference(lost), *lost]:
                    step(self._finish(future), note=self._note())
                if lost:
                    self.pool.mend()

    def _begin(self, shared: Any) -> None:
        """Give out parts, few more than there are workers, and none far ahead of the first."""
        most = self._next + _WAITING * max(2, self.pool.count)
        while self._todo and len(self._under_way) < self.pool.count + (self.pool.count > 1):
            among = {self._todo[0], *self._under_way.values()}
            if self._under_way and (self._todo[0] >= most or among & self._suspects):
                return
            k = self._todo.popleft()
            part = Payload.of(self.parts[k])
            call = (shared, part, VERSION, os.getpid(), _PAUSE * self._tries[k])
            try:
                future = self.pool.submit(_attempt, *call)
            except (RuntimeError, OSError) as error:  # the last worker has died just now
                future = Future()
                future.set_exception(error)
            self._under_way[future] = k

    @staticmethod
    def _is_lost(future: "Future[Any]") -> bool:
        """Whether a call ended without a result: its worker has died."""
        return future.cancelled() or future.exception() is not None

    def _finish(self, future: "Future[Any]") -> int:
        """Record what a call gave; return how many parts are done now that were not before."""
        k = self._under_way.pop(future)
        if self._is_lost(future):
            error = None if future.cancelled() else future.exception()
            if isinstance(error, KeyboardInterrupt):
                raise error
            if self.pool.shares_losses and k not in self._suspects:
                self._suspects.add(k)
                self.n_retries += 1
                self._todo.appendleft(k)
                return 0
            reason = f"its worker died ({type(error).__name__})"
            hint = "it may have run out of memory; use fewer workers, or smaller parts."
            return self._again(k, reason, hint)
        self._suspects.discard(k)
        attempt: _Attempt = future.result()
        if attempt.refusal:
            raise InputError(
                attempt.refusal,
                parameter="workers",
                hint="install the same version of Clearwood on every worker.",
            )
        if attempt.state is None:
            return self._again(k, attempt.error, attempt.hint)
        if self.page is not None:
            self.page.add(k, self.parts[k].name, attempt.state, seconds=attempt.seconds)
        else:
            self._waiting[k] = attempt.state
        self._merge_ready()
        return 1

    def _again(self, k: int, reason: str, hint: str) -> int:
        """Begin a part again, or give it up."""
        self._tries[k] += 1
        name = self.parts[k].name
        if self._tries[k] <= self.retries:
            self.n_retries += 1
            self._todo.appendleft(k)
            return 0
        if self.on_error == "raise":
            kept = "" if self.page is None else "; the ledger keeps the parts that are done"
            raise InputError(
                f"part {k + 1} of {len(self.parts)}, {name!r}, failed "
                f"{count(self._tries[k], 'time')}: {reason}{kept}",
                parameter="data",
                value=name,
                hint=hint
                or words("repair it, or leave it out with ", Option("on_error", "skip"), "."),
            )
        tell(f"part {k + 1} of {len(self.parts)}, {name!r}, was left out: {reason}")
        self.skipped[name] = reason
        self._left_out.add(k)
        self._merge_ready()
        return 1

    def _merge_ready(self) -> None:
        """Merge the results that all earlier ones have been merged with."""
        while self._next < len(self.parts):
            k = self._next
            if k in self._waiting:
                state = self._waiting.pop(k)
            elif self.page is not None and k in self.page.finished:
                state = self.page.state(k)
            elif k not in self._left_out:
                return
            else:
                self._next += 1
                continue
            self.merged = state if self.merged is None else self.merge(self.merged, state)
            self._next += 1

    def _note(self) -> str:
        """Say how the work goes."""
        facts = [count(self.pool.count, "worker")]
        if self.n_resumed:
            facts.append(f"{self.n_resumed} from the ledger")
        if self.n_retries:
            facts.append(count(self.n_retries, "retry", "retries"))
        if self.skipped:
            facts.append(f"{len(self.skipped)} left out")
        return ", ".join(facts)


# In the worker


@dataclass(frozen=True)
class Payload:
    """Work or a part, pickled by the process that gives it out.

    A worker that cannot unpack it reports why, which it could not if it were sent as it is.
    """

    token: str
    data: bytes

    @classmethod
    def of(cls, value: Any) -> "Payload":
        """Pickle a value."""
        # it may hold functions of the user's own program, which plain pickle does not take
        wrapped = wrap_non_picklable_objects(value, keep_wrapper=False)
        data = pickle.dumps(wrapped, protocol=pickle.HIGHEST_PROTOCOL)
        return cls(hashlib.sha256(data).hexdigest(), data)

    def unpacked(self) -> Any:
        """Unpickle what the driver of this run has sent; nothing is ever unpickled from a file."""
        return pickle.loads(self.data)  # noqa: S301 - see above

    def __hash__(self) -> int:
        return hash(self.token)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Payload) and self.token == other.token

    def __sizeof__(self) -> int:
        """Return the bytes of the work, by which schedulers decide to send an object once."""
        return object.__sizeof__(self) + len(self.data)


@lru_cache(maxsize=2)
def _unpacked(payload: Payload) -> Work:
    """Unpack work; the last ones are kept, with the tables that they have built."""
    work: Work = payload.unpacked()
    return work


# compiled tables are released while their module is still there
atexit.register(_unpacked.cache_clear)


@dataclass(frozen=True, eq=False)
class _Attempt:
    """What came of one try: a result, an error, or the refusal to work at all."""

    state: State | None = None
    seconds: float = 0.0
    error: str = ""
    hint: Any = ""
    refusal: str = ""


def _attempt(work: Payload, part: Payload, version: str, main: int, pause: float = 0.0) -> _Attempt:
    """Work on a part, in a worker, on one core; an error is returned, not raised."""
    if version != VERSION:
        here = os.uname().nodename if hasattr(os, "uname") else "a worker"
        return _Attempt(
            refusal=f"the worker on {here!r} has Clearwood {VERSION}, the driver {version}"
        )
    end_with(main)
    time.sleep(pause)
    started = time.perf_counter()
    try:
        with limited(1):
            state = _unpacked(work)(part.unpacked())
    except InputError as error:
        return _Attempt(error=str(error.message), hint=error.hint)
    except Exception as error:
        return _Attempt(error=f"{type(error).__name__}: {error}")
    return _Attempt(state, time.perf_counter() - started)
