"""Growing trees on the workers of a cluster, each of which has some of the rows.

Neither LightGBM nor XGBoost goes on without a process that it has lost. So the trees so far are
kept every few rounds; if a worker is lost, its parts are encoded elsewhere, and all processes begin
again from the trees that were kept.
"""

import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood.models.entries.streams import (
    AfterRound,
    Company,
    Grown,
    Recipe,
    Scratch,
    Streams,
)
from clearwood.models.over_parts.encoded_rows import Encoding, drawn_rows
from clearwood.parallel import LostError, State, over, together, workers_of
from clearwood.table import Part

__all__ = ["rows_on_cluster"]

#: How often the processes are started again without a round more than before.
_TRIES = 4
#: Seconds to wait for as many workers as there were, and for any worker at all.
_WAIT, _WAIT_FOR_ONE = 30.0, 300.0
#: The processes are given up if there is no round for so many times the slowest one so far, and not
#: before so many seconds; before the first round they read their rows, which takes longer.
_SLOWER, _LEAST, _LEAST_FIRST = 10.0, 60.0, 600.0


@contextmanager
def rows_on_cluster(
    client: Any, encoding: Encoding, streams: Streams, *, every: int
) -> Iterator["RowsOnCluster"]:
    """Encode all rows on the workers; their files are gone afterwards."""
    rows = RowsOnCluster(client, encoding, streams, every=every)
    try:
        rows.place()
        yield rows
    finally:
        rows.remove()


class RowsOnCluster:
    """Encoded rows in files of the workers of a Dask cluster.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    encoding
        All rows, and how they become numbers.
    streams
        The library that grows trees.
    every
        Rounds between two times that the trees are kept.
    """

    def __init__(self, client: Any, encoding: Encoding, streams: Streams, *, every: int) -> None:
        self._client, self._encoding, self._streams = client, encoding, streams
        self._every = every
        self._token = f"clearwood-{uuid.uuid4().hex}"
        starts = np.cumsum([0, *(part.n_rows for part in encoding.parts.parts)])
        self._placed = [
            _Placed(k, part, int(start))
            for k, (part, start) in enumerate(zip(encoding.parts.parts, starts, strict=False))
            if part.n_rows
        ]
        self._where: dict[int, str] = {}
        self._ranges: dict[int, Floats] = {}
        self._sample: dict[int, Floats] = {}
        self._n_workers = 0
        self._n_restarts = 0
        self._seconds = 0.0
        self.n_zeros = 0

    @property
    def note(self) -> str:
        """Workers, and how often they had to begin again."""
        facts = [count(self._n_workers, "worker")]
        if self._n_restarts:
            facts.append(count(self._n_restarts, "restart"))
        return ", ".join(facts)

    @property
    def can_choose(self) -> bool:
        """Whether both held-out and other rows have targets that differ."""
        ends = np.array(list(self._ranges.values()))  # least and greatest: of held-out, of others
        low, high = np.fmin.reduce(ends[:, 0]), np.fmax.reduce(ends[:, 1])
        return bool((low < high).all())

    def place(self) -> None:
        """Encode the parts that no worker has, and those whose worker is gone."""
        started = time.monotonic()
        while True:
            there = self._workers()
            absent = [one for one in self._placed if self._where.get(one.number) not in there]
            if not absent:
                break
            one_in = self._encoding.parts.n_rows // max(1, self._streams.bin_rows)
            bin_rows = max(1, one_in) if self._streams.bin_rows else 0
            work = _Encode(self._encoding.without_rows(), self._token, bin_rows)
            state = over(absent, work, _both, title="encoding rows").state
            assert state is not None
            for number, address, n_zeros in state.values["parts"]:
                if number not in self._where:
                    self.n_zeros += n_zeros
                self._where[number] = address
                self._ranges[number] = state.arrays[f"range {number}"]
                self._sample[number] = state.arrays[f"sample {number}"]
        self._n_workers = len(set(self._where.values()))
        self._seconds += time.monotonic() - started

    def _workers(self) -> dict[str, int]:
        """Return the workers, waiting for as many as there were."""
        started = time.monotonic()
        while True:
            there = workers_of(self._client)
            waited = time.monotonic() - started
            if len(there) >= max(1, self._n_workers) or (there and waited > _WAIT):
                return there
            if waited > _WAIT_FOR_ONE:
                raise InputError(
                    f"the cluster has had no worker for {waited:.0f} seconds",
                    parameter="workers",
                    hint="start workers and call fit again; with a checkpoint it goes on from the "
                    "trees that are kept.",
                )
            time.sleep(0.5)

    def held_out_losses(self, recipe: Recipe, rounds: int, patience: int) -> Floats:
        """Return the loss on held-out rows after each round of a fit to the others."""
        held: list[float] = []

        def begun() -> tuple["_Growing", Callable[[int, dict[str, Any]], bool]]:
            reports: dict[int, list[list[float]]] = {}
            held.clear()

            def on_event(rank: int, event: dict[str, Any]) -> bool:
                reports.setdefault(rank, []).append([event["loss"], event["weight"]])
                if len(reports) < self._n_workers:
                    return False
                for k in range(len(held), min(map(len, reports.values()))):
                    losses, weights = np.transpose([of_rank[k] for of_rank in reports.values()])
                    held.append(float(np.average(losses, weights=weights)))
                return len(held) - 1 - int(np.argmin(held)) >= patience if held else False

            return _Growing(
                self._streams, recipe, rounds, None, self._every, chooses=True
            ), on_event

        self._until_done(begun, lambda: 0)
        return np.array(held)

    def fit(
        self, recipe: Recipe, rounds: int, *, grown: Grown | None, after_round: AfterRound
    ) -> Any:
        """Return the library's model of all rows."""
        kept = grown
        model = ""

        def begun() -> tuple["_Growing", Callable[[int, dict[str, Any]], bool]]:
            def on_event(rank: int, event: dict[str, Any]) -> bool:
                nonlocal kept, model
                if rank != 0:
                    return False
                if "model" in event:
                    model = event["model"]
                    if event["is_done"]:
                        return True
                    kept = Grown(event["round"], model)
                text = model
                after_round(event["round"], lambda: text)
                return False

            return _Growing(self._streams, recipe, rounds, kept, self._every), on_event

        self._until_done(begun, lambda: 0 if kept is None else kept.rounds)
        return self._streams.read(model)

    def _until_done(
        self,
        begun: Callable[[], tuple["_Growing", Callable[[int, dict[str, Any]], bool]]],
        so_far: Callable[[], int],
    ) -> None:
        """Run the processes, again and again where one is lost, from the trees that are kept."""
        n_failures, before = 0, so_far()
        while True:
            growing, on_event = begun()
            try:
                self._run(growing, on_event)
            except LostError as error:
                n_failures = n_failures + 1 if so_far() == before else 1
                before = so_far()
                if n_failures >= _TRIES:
                    raise InputError(
                        f"growing trees on {count(self._n_workers, 'worker')} failed "
                        f"{count(n_failures, 'time')} in a row: {error}",
                        parameter="workers",
                        hint="a worker may have too little memory: start more of them, or workers "
                        "with fewer threads. With a checkpoint the same call goes on from the "
                        "trees that are kept.",
                    ) from error
                self._n_restarts += 1
                self.place()
            else:
                return

    def _run(self, growing: "_Growing", on_event: Callable[[int, dict[str, Any]], bool]) -> None:
        """Start a process on each worker that has rows, and follow them to their end."""
        threads = workers_of(self._client)
        addresses = sorted(set(self._where.values()))
        if any(address not in threads for address in addresses):
            raise LostError("a worker is gone")
        bins = None
        if self._streams.bin_rows and len(addresses) > 1:
            sample = [self._sample[number] for number in sorted(self._sample)]
            bins = self._streams.bins(growing.recipe, np.concatenate(sample))

        def arguments(
            rank: int, ends: tuple[tuple[str, int], ...], folders: Sequence[Any]
        ) -> "_Member":
            address, folder = addresses[rank], Path(folders[rank])
            recipe = replace(growing.recipe, n_jobs=threads[address])
            return _Member(
                replace(growing, recipe=recipe),
                [str(folder / str(k)) for k in sorted(self._where) if self._where[k] == address],
                self._encoding.n_columns,
                rank,
                Company(rank, ends, bins) if len(ends) > 1 else None,
            )

        pace = _Pace(max(_LEAST_FIRST, _SLOWER * self._seconds))

        def heard(rank: int, event: dict[str, Any]) -> bool:
            if rank == 0:
                pace.beat()
            return on_event(rank, event)

        together(
            self._client,
            addresses,
            _grow,
            arguments,
            ask=(_folder_of, self._token),
            on_event=heard,
            patience=pace.patience,
        )

    def remove(self) -> None:
        """Remove the files of all workers that can be reached."""
        # of the others Dask removes them; whatever ended the fit is not hidden by this
        with suppress(OSError, RuntimeError):
            there = set(self._where.values()) & set(self._client.nthreads())
            if there:
                self._client.run(_remove, self._token, workers=list(there), on_error="ignore")


class _Pace:
    """How long rounds take, and so how long a silence may last."""

    def __init__(self, first: float) -> None:
        self._first = first
        self._last: float | None = None
        self._slowest: float | None = None

    def beat(self) -> None:
        """Note that a round is done."""
        now = time.monotonic()
        if self._last is not None:
            self._slowest = max(self._slowest or 0.0, now - self._last)
        self._last = now

    def patience(self) -> float:
        """Return how many seconds without a round mean that something is lost."""
        if self._slowest is None:
            return self._first
        return max(_LEAST, _SLOWER * self._slowest)


# In the workers


@dataclass(frozen=True)
class _Placed:
    """A part, its number, and the number of its first row."""

    number: int
    part: Part
    start: int

    @property
    def name(self) -> str:
        return self.part.name


@dataclass(frozen=True, eq=False)
class _Encode:
    """Encodes one part into a file of the worker, which the result names."""

    encoding: Encoding
    token: str
    one_in: int

    def __call__(self, placed: _Placed) -> State:
        from distributed import get_worker

        folder = Path(_folder_of(self.token))
        folder.mkdir(parents=True, exist_ok=True)
        part, seed = placed.part, self.encoding.seed
        drawn = np.zeros(part.n_rows, bool)
        if self.one_in:
            drawn = drawn_rows(placed.start, part.n_rows, seed, self.one_in)
        sample = [np.zeros((0, self.encoding.n_columns))]

        def see(start: int, block: Floats) -> None:
            sample.append(block[drawn[start : start + len(block)]])

        path = folder / str(placed.number)
        y, weight = self.encoding.write(path, part, see=see)
        held_out = self.encoding.held_out(part, placed.start)
        with path.with_suffix(".npz").open("wb") as file:
            beside: dict[str, Any] = {} if weight is None else {"weight": weight}
            np.savez(file, y=y, held_out=held_out, **beside)
        address = get_worker().address
        return State(
            {"parts": [[placed.number, address, int(np.count_nonzero(y == 0))]]},
            {
                f"range {placed.number}": _ends([y[held_out], y[~held_out]]),
                f"sample {placed.number}": np.concatenate(sample),
            },
        )


def _ends(sides: Sequence[Any]) -> Floats:
    """Return the least and the greatest target of each side, NaN where it has none."""
    none = (np.nan, np.nan)
    return np.array([(side.min(), side.max()) if len(side) else none for side in sides]).T


def _both(one: State, other: State) -> State:
    parts = [*one.values["parts"], *other.values["parts"]]
    return State({"parts": parts}, {**one.arrays, **other.arrays})


def _folder_of(token: str, dask_worker: Any = None) -> str:
    """Return the folder for the files of a fit, among those that Dask removes with its worker."""
    from distributed import get_worker

    worker = get_worker() if dask_worker is None else dask_worker
    return str(Path(worker.local_directory) / token)


def _remove(token: str, dask_worker: Any = None) -> None:
    shutil.rmtree(_folder_of(token, dask_worker), ignore_errors=True)


# In the processes


@dataclass(frozen=True)
class _Growing:
    """Which trees to grow.

    Parameters
    ----------
    streams
        The library.
    recipe
        Its parameters.
    rounds
        The number of rounds in all.
    grown
        Trees that there are already.
    every
        Rounds between two times that the trees are reported.
    chooses
        Whether to report the loss on held-out rows instead.
    """

    streams: Streams
    recipe: Recipe
    rounds: int
    grown: Grown | None
    every: int
    chooses: bool = False


@dataclass(frozen=True)
class _Member:
    """What one of the processes needs to know."""

    growing: _Growing
    files: list[str]
    n_columns: int
    rank: int
    company: Company | None


def _grow(member: _Member, report: Callable[[dict[str, Any]], None]) -> None:
    """Grow trees in one of the processes, together with the others."""
    growing = member.growing
    with ExitStack() as stack:
        scratch, held_out = _opened(member, stack)
        if growing.chooses:
            weight = scratch.total(held_out)
            growing.streams.held_out_losses(
                growing.recipe,
                scratch,
                held_out,
                growing.rounds,
                patience=None,
                company=member.company,
                after_loss=lambda loss: report({"loss": loss, "weight": weight}),
            )
            return

        def after_round(done: int, written: Callable[[], str]) -> None:
            event: dict[str, Any] = {"round": done}
            if member.rank == 0 and done % growing.every == 0 and done < growing.rounds:
                event |= {"model": written(), "is_done": False}
            report(event)

        booster = growing.streams.fit(
            growing.recipe,
            scratch,
            growing.rounds,
            grown=growing.grown,
            after_round=after_round,
            company=member.company,
        )
    if member.rank == 0:
        model = growing.streams.written(booster)
        report({"round": growing.rounds, "model": model, "is_done": True})


def _opened(member: _Member, stack: ExitStack) -> tuple[Scratch, Bools]:
    """Open the files of this process."""
    paths = [Path(file) for file in member.files]
    beside = []
    for path in paths:
        with np.load(path.with_suffix(".npz"), allow_pickle=False) as held:
            beside.append({name: held[name] for name in held.files})
    y, held_out = (np.concatenate([one[name] for one in beside]) for name in ("y", "held_out"))
    weight = np.concatenate([one["weight"] for one in beside]) if "weight" in beside[0] else None
    files = tuple(stack.enter_context(path.open("rb", buffering=0)) for path in paths)
    return Scratch(files, member.n_columns, y, weight), held_out
