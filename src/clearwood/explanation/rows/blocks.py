"""Evaluating a model a block of rows at a time, so that work can stop early with a result."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from clearwood._shared.arrays import Index
from clearwood._shared.clock import Clock
from clearwood._shared.numbers import duration
from clearwood._shared.progress import progress

__all__ = ["Evaluated", "evaluated_in_blocks", "limit_words"]

T = TypeVar("T")

#: Evaluations of a block: Ctrl-C waits for one. The same on every machine, as some models predict
#: a row a little differently with other rows beside it.
_EVALUATIONS = 100_000
#: With a time limit, evaluations of the first block, and seconds that the others should take.
_FIRST = 2_000
_SECONDS = 0.5
#: Without this many rows there is no result, however short the time is.
_FEWEST = 20


@dataclass(frozen=True)
class Evaluated(Generic[T]):
    """What was computed, block by block: the rows, what each block gave and its size.

    ``stopped`` says why not all rows are there; None where they are.
    """

    rows: Index
    blocks: Sequence[T]
    sizes: Sequence[int]
    stopped: str | None = None


def evaluated_in_blocks(
    rows: Index,
    evaluate: Callable[[Index], T],
    *,
    per_row: int,
    seed: int,
    clock: Clock,
) -> Evaluated[T]:
    """Evaluate rows in random order until all are done, the time is over or the user stops it.

    Since the order is random, the rows that are done are a sample of all of them, so their sampling
    error can be stated. A row takes ``per_row`` evaluations.

    Examples
    --------
    >>> result = evaluated_in_blocks(
    ...     np.arange(5), lambda rows: rows**2, per_row=1, seed=0, clock=Clock()
    ... )
    >>> sorted(np.concatenate(result.blocks).tolist())
    [0, 1, 4, 9, 16]
    """
    order = np.random.default_rng(seed).permutation(rows)
    is_limited = clock.time_limit is not None
    size = max(_FEWEST, (_FIRST if is_limited else _EVALUATIONS) // max(per_row, 1))
    blocks: list[tuple[Index, T]] = []
    done, stopped = 0, None
    started = time.monotonic()
    with progress("predicting", total=len(rows)) as step:
        try:
            while done < len(order):
                # in their own order: rows that are alike often lie together, and go faster so
                part = np.sort(order[done : done + size])
                blocks.append((part, evaluate(part)))
                done += len(part)
                speed = done / max(time.monotonic() - started, 1e-6)
                step(len(part), note=f"{speed * per_row:,.0f} evaluations/s")
                if is_limited:
                    size = max(_FEWEST, int(_SECONDS * speed))
                if clock.is_over and done < len(order):
                    stopped = f"{limit_words(clock)} after {done:,} of {len(order):,} rows"
                    break
        except KeyboardInterrupt:
            done = sum(len(part) for part, _ in blocks)
            if done < _FEWEST:
                raise
            stopped = f"interrupted after {done:,} of {len(order):,} rows"
    parts = [part for part, _ in blocks]
    return Evaluated(
        np.concatenate(parts), [block for _, block in blocks], [len(p) for p in parts], stopped
    )


def limit_words(clock: Clock) -> str:
    """Say why work ended early."""
    assert clock.time_limit is not None
    return f"the time limit of {duration(clock.time_limit)} was reached"
