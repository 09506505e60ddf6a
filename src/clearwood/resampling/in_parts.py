"""A hold-out of a table in parts: by a hash of the row or of its group, or by a moment in time."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import percent
from clearwood.parallel import State, over
from clearwood.resampling.time_ordered import first_of_last
from clearwood.table import Column, Kind, Parts, Role, Table, row_hashes

__all__ = ["HeldOutRows", "PartsSplit", "split_parts"]

#: Rows from which the moment that divides past and future is found.
_SAMPLE = 200_000
#: Row numbers that are hashed at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Which rows are held out, or trained on; decided row by row, whichever process reads them.

    Parameters
    ----------
    share
        Of the rows, or of the groups, how many are held out.
    seed
        Fixes the draw.
    tied
        The columns that tie rows together: rows with the same values are on one side.
    time, cut
        The column that orders the rows, and the first moment of the rows that are held out.
    tested
        Where rows are tied and ordered in time: hashes of what is held out, which is not trained
        on at earlier times either.
    is_training
        Whether the rows are those to train on.
    """

    share: float
    seed: int
    tied: tuple[str, ...] = ()
    time: str | None = None
    cut: Any = None
    tested: NDArray[np.uint64] | None = None
    is_training: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the decision depends on."""
        return self.tied if self.time is None else (*self.tied, self.time)

    def __call__(self, table: Table, first: int) -> Bools:
        """Return whether each row of a batch is one of them."""
        if self.time is not None:
            held: Bools = np.asarray(table.column(self.time).values >= self.cut)
            if not self.is_training:
                return held
            return (
                ~held if self.tested is None else ~(held | np.isin(self.units(table), self.tested))
            )
        hashes = self.units(table) if self.tied else _hashed_numbers(first, table.n_rows, self.seed)
        held = hashes < np.uint64(self.share * 2.0**64)
        return ~held if self.is_training else held

    def units(self, table: Table) -> NDArray[np.uint64]:
        """Return 64 bits for each row that are the same for rows that are tied together."""
        return row_hashes([table.column(name) for name in self.tied], seed=self.seed)

    def count(self, first: int, n_rows: int) -> int:
        """Return how many of some rows these are, where only their numbers decide."""
        total = 0
        for start in range(first, first + n_rows, _BLOCK):
            n = min(_BLOCK, first + n_rows - start)
            hashes = _hashed_numbers(start, n, self.seed)
            total += int(np.count_nonzero(hashes < np.uint64(self.share * 2.0**64)))
        return n_rows - total if self.is_training else total

    def identity(self) -> Sequence[Any]:
        """Return what the decision depends on, in plain values."""
        return [
            self.share,
            self.seed,
            list(self.columns),
            str(self.cut),
            self.is_training,
            None if self.tested is None else hashlib.sha256(self.tested.tobytes()).hexdigest(),
        ]


def _hashed_numbers(first: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    numbers = np.arange(first, first + n_rows, dtype=np.float64)
    return row_hashes([Column("row", Kind.NUMBER, numbers)], seed=seed)


@dataclass(frozen=True, eq=False)
class PartsSplit:
    """A table in parts, divided into rows to train on and rows to test on.

    Parameters
    ----------
    train, test
        The rows; they stay where they are.
    held_out
        What decides.
    """

    train: Parts
    test: Parts
    held_out: HeldOutRows

    @property
    def words(self) -> str:
        """The split in words."""
        share = percent(self.held_out.share)
        if self.held_out.time is not None:
            return f"hold-out of the last {share} of the rows in time"
        if self.held_out.tied:
            return f"hold-out of {share} of the groups, drawn by a hash"
        return f"hold-out of {share} of the rows, drawn by a hash of their number"


def split_parts(parts: Parts, share: float, *, seed: int = 0, n_jobs: int | None = 1) -> PartsSplit:
    """Hold out about this share of the rows of a table in parts.

    A row is held out by a hash of its number in the table, or of its group where rows are tied
    together; where the table names times, the last rows are. Nothing depends on how the rows are
    divided into parts, on batches or on workers.

    Parameters
    ----------
    parts
        The rows.
    share
        Of the rows, or of the groups, how many are held out.
    seed
        Fixes the draw.
    n_jobs
        Processes that count the rows, where groups or times decide.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.table import Parts
    >>> def rows(start, stop):
    ...     return {"x": np.arange(start, stop) / 7, "y": np.arange(start, stop) % 10 / 3}
    >>> split = split_parts(Parts.of(rows, 10_000, target="y"), 0.25)
    >>> split.test.n_rows, split.train.n_rows + split.test.n_rows
    (2538, 10000)
    """
    tied = _tied(parts)
    time = next((name for name, role in parts.roles.items() if role is Role.TIME), None)
    for what, name in (("group", None if parts.keeps_identical else parts.group), ("time", time)):
        if name is not None and parts.missing.get(name):
            raise InputError(
                f"{parts.missing[name]:,} rows have no {what}",
                parameter=what,
                value=name,
                hint="fill it in, or leave these rows out.",
            )
    cut = None
    if time is not None:
        times = parts.sample(_SAMPLE, seed=seed).times
        assert times is not None
        cut = first_of_last(times, share, f"a hold-out of {percent(share)}")
    test = HeldOutRows(share, seed, tied, time, cut)
    if not test.columns:
        firsts = np.cumsum([0, *(part.n_rows for part in parts.parts)]).tolist()
        counts = [
            test.count(first, part.n_rows) for first, part in zip(firsts, parts.parts, strict=False)
        ]
        others = [part.n_rows - n for part, n in zip(parts.parts, counts, strict=True)]
        train = replace(test, is_training=True)
    else:
        if time is not None and tied:
            test = replace(test, tested=_tested(parts, test, n_jobs))
        train = replace(test, is_training=True)
        counts, others = _counted(parts, test, train, n_jobs)
    _check(sum(counts), sum(others), test)
    return PartsSplit(parts.only(train, others), parts.only(test, counts), test)


def _tied(parts: Parts) -> tuple[str, ...]:
    if parts.keeps_identical:
        return parts.features
    return () if parts.group is None else (parts.group,)


def _tested(parts: Parts, test: HeldOutRows, n_jobs: int | None) -> NDArray[np.uint64]:
    run = over(parts.parts, _Units(test), _joined, title="finding groups", n_jobs=n_jobs)
    assert run.state is not None
    return np.unique(run.state.arrays["units"])


def _counted(
    parts: Parts, test: HeldOutRows, train: HeldOutRows, n_jobs: int | None
) -> tuple[list[int], list[int]]:
    run = over(parts.parts, _Counting(test, train), _listed, title="dividing rows", n_jobs=n_jobs)
    assert run.state is not None
    return run.state.values["test"], run.state.values["train"]


def _check(n_test: int, n_train: int, test: HeldOutRows) -> None:
    """Refuse a split with an empty side."""
    if n_test and n_train:
        return
    what = "groups" if test.tied else "rows"
    side = "train" if n_test else "test"
    hint: Any = words("there may be too few ", what, ": take another ", Option("seed"), ".")
    if test.time is not None:
        hint = (
            "name the groups or the time, not both." if test.tied else "name a finer time column."
        )
    raise InputError(
        f"a hold-out of {percent(test.share)} of the {what} leaves nothing to {side} on",
        parameter="outer",
        hint=hint,
    )


# In a worker


@dataclass(frozen=True, eq=False)
class _Counting:
    """Counts the rows of a part on either side."""

    test: HeldOutRows
    train: HeldOutRows

    def __call__(self, part: Any) -> State:
        n_test = n_train = 0
        for batch in part.batches(columns=self.test.columns):
            n_test += int(np.count_nonzero(self.test(batch, 0)))
            n_train += int(np.count_nonzero(self.train(batch, 0)))
        return State({"test": [n_test], "train": [n_train]})


def _listed(one: State, other: State) -> State:
    return State({key: [*value, *other.values[key]] for key, value in one.values.items()})


@dataclass(frozen=True, eq=False)
class _Units:
    """Finds what the rows of a part that are held out are tied to."""

    test: HeldOutRows

    def __call__(self, part: Any) -> State:
        units = np.empty(0, np.uint64)
        for batch in part.batches(columns=self.test.columns):
            units = np.union1d(units, self.test.units(batch)[self.test(batch, 0)])
        return State({}, {"units": units})


def _joined(one: State, other: State) -> State:
    units = np.union1d(one.arrays["units"], other.arrays["units"])
    return State({}, {"units": units})
