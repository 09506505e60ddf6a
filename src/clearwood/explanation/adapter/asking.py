"""Asking a model about rows a block at a time, so that what is done can be had at any time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.compose import Index

__all__ = ["Answers", "Patience", "asked_in_blocks", "patience_of"]

T = TypeVar("T")

#: Evaluations of the first block, and seconds that a block should take: Ctrl-C waits for one.
_FIRST = 20_000
_SECONDS = 0.5
#: Without this many rows there is no answer, however short the time is.
_FEWEST = 20


@dataclass(frozen=True)
class Patience:
    """Until when the user waits.

    Parameters
    ----------
    budget
        Seconds; None for as long as it takes.
    deadline
        When they are over, on the monotonic clock.
    """

    budget: float | None = None
    deadline: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def words(self) -> str:
        """Why work ended."""
        return f"the time of {self.budget:g} s was over"


def patience_of(budget: float | None) -> Patience:
    """Start the clock."""
    if budget is None:
        return Patience()
    if not budget > 0:
        raise InputError(f"time_budget is {budget!r} seconds; it must be above 0")
    return Patience(budget, time.monotonic() + budget)


@dataclass(frozen=True)
class Answers(Generic[T]):
    """What was found, block by block.

    Parameters
    ----------
    rows
        The rows that were asked about, block after block.
    blocks
        What each block gave.
    sizes
        How many rows each block has.
    stopped
        Why not all rows are there; None where they are.
    """

    rows: Index
    blocks: Sequence[T]
    sizes: Sequence[int]
    stopped: str | None = None


def asked_in_blocks(
    rows: Index,
    ask: Callable[[Index], T],
    *,
    per_row: int,
    seed: int,
    patience: Patience = Patience(),  # noqa: B008 - it is frozen
) -> Answers[T]:
    """Ask about rows in random order until all are done, the time is over or the user stops it.

    Since the order is random, the rows that are done are a sample of all of them, and what is said
    about sampling error holds for them.

    Parameters
    ----------
    rows
        Positions of rows.
    ask
        From some of them to what is wanted of them.
    per_row
        Evaluations that a row takes.
    seed
        Fixes the order.
    patience
        Until when.

    Examples
    --------
    >>> found = asked_in_blocks(np.arange(5), lambda rows: rows**2, per_row=1, seed=0)
    >>> sorted(np.concatenate(found.blocks).tolist())
    [0, 1, 4, 9, 16]
    """
    order = np.random.default_rng(seed).permutation(rows)
    first = 1 if patience.deadline is not None else 10
    size = max(_FEWEST, first * _FIRST // (10 * max(per_row, 1)))
    found: list[tuple[Index, T]] = []
    done, stopped = 0, None
    started = time.monotonic()
    with progress("asking the model", total=len(rows)) as step:
        try:
            while done < len(order):
                # in their own order: rows that are alike often lie together, and go faster so
                part = np.sort(order[done : done + size])
                found.append((part, ask(part)))
                done += len(part)
                speed = done / max(time.monotonic() - started, 1e-6)
                step(len(part), note=f"{speed * per_row:,.0f} evaluations/s")
                size = max(_FEWEST, int(_SECONDS * speed))
                if patience.is_over and done < len(order):
                    stopped = f"{patience.words} after {done:,} of {len(order):,} rows"
                    break
        except KeyboardInterrupt:
            done = sum(len(part) for part, _ in found)
            if done < _FEWEST:
                raise
            stopped = f"interrupted after {done:,} of {len(order):,} rows"
    parts = [part for part, _ in found]
    return Answers(
        np.concatenate(parts), [answer for _, answer in found], [len(p) for p in parts], stopped
    )
