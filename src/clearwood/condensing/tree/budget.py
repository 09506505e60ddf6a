"""What condensing may spend, and the errors and the warning where that does not suffice."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clearwood._shared.clock import Clock
from clearwood._shared.errors import ClearwoodWarning, InputError, Option, bad_value, words
from clearwood._shared.numbers import count, duration, number, percent, size

__all__ = [
    "Budget",
    "DoesNotFitError",
    "Limit",
    "LittleProvedWarning",
    "ProofTooLargeError",
    "checked_memory",
]

#: The memory that is used where the user sets no limit: a fixed one, and not a share of what is
#: free, so that the same call gives the same tree on every machine.
_MOST_BYTES = 4 * 10**9
_BOXES_OF_LEAF = 20


class Limit(StrEnum):
    """The option of `clearwood.condense` that ended the work."""

    LEAVES = "leaves"
    NODES = "nodes"
    TIME = "time_limit"
    MEMORY = "memory"

    @property
    def noun(self) -> str:
        """What the limit is on, in a sentence."""
        return {Limit.TIME: "time"}.get(self, self.value)

    def amount(self, limit: float) -> str:
        """Write how much was allowed.

        Examples
        --------
        >>> Limit.LEAVES.amount(300), Limit.TIME.amount(60), Limit.MEMORY.amount(4e9)
        ('300 leaves', '1 min', '4 GB of memory')
        """
        if self is Limit.TIME:
            return duration(limit)
        if self is Limit.MEMORY:
            return f"{size(limit)} of memory"
        return count(int(limit), *{"leaves": ("leaf", "leaves")}.get(self.value, ("node",)))


@dataclass(frozen=True)
class Budget:
    """What may be spent.

    Examples
    --------
    >>> budget = Budget.checked(leaves=100, nodes=None, time_limit=None, memory=2e9)
    >>> budget.is_set, budget.memory, budget.seconds_left
    (True, 2000000000, None)
    """

    leaves: int | None  # of the tree
    nodes: int | None  # made while composing
    clock: Clock
    memory: int  # bytes; there is always a limit
    is_set: bool  # whether the user set a limit; work then ends there, instead of failing

    @classmethod
    def checked(cls, *, leaves: Any, nodes: Any, time_limit: Any, memory: Any) -> "Budget":
        """Check the limits that a user set, and start the clock."""
        clock = Clock.started_now(time_limit)
        for name, limit in (("leaves", leaves), ("nodes", nodes)):
            if limit is not None and not (_is_number(limit) and limit >= 1 and limit == int(limit)):
                raise bad_value(name, limit, "it is a whole number from 1, or None")
        is_set = any(limit is not None for limit in (leaves, nodes, time_limit, memory))
        return cls(leaves, nodes, clock, checked_memory(memory), is_set)

    @property
    def leaves_within(self) -> int | None:
        """Leaves of the tree that is composed where most rows are.

        Twenty boxes are looked at for each leaf before that work ends, which counts them without a
        limit of its own.
        """
        if self.nodes is None:
            return self.leaves
        allowed = max(self.nodes // _BOXES_OF_LEAF, 1)
        return allowed if self.leaves is None else min(allowed, self.leaves)

    def amount(self, limit: Limit) -> float | None:
        """How much of something may be spent; None for any amount."""
        return {
            Limit.LEAVES: self.leaves,
            Limit.NODES: self.nodes,
            Limit.TIME: self.seconds,
            Limit.MEMORY: self.memory,
        }[limit]

    @property
    def seconds(self) -> float | None:
        """The whole time limit."""
        return self.clock.time_limit

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time limit, at least a moment."""
        return None if self.seconds is None else max(self.clock.left, 1e-3)


def checked_memory(memory: Any) -> int:
    """Return the bytes that may be used: as the user set them, else 4 GB.

    Examples
    --------
    >>> checked_memory(2e9), checked_memory(None)
    (2000000000, 4000000000)
    """
    if memory is None:
        return _MOST_BYTES
    if not (_is_number(memory) and memory > 0):
        raise bad_value("memory", memory, "it is a number of bytes above 0, or None")
    return int(memory)


def _is_number(value: Any) -> bool:
    # NumPy's numbers too, but nothing that is not finite
    try:
        return not isinstance(value, bool | str) and math.isfinite(value)
    except TypeError:
        return False


class DoesNotFitError(InputError):
    """The exact tree needs more memory than may be used.

    Parameters
    ----------
    n_nodes
        How many nodes were composed.
    share
        What share of the space they cover.
    estimate
        About how many nodes the whole tree has.
    memory
        Bytes that may be used.
    """

    def __init__(self, *, n_nodes: int, share: float, estimate: float, memory: int) -> None:
        self.n_nodes = n_nodes
        self.share = share
        self.estimate = estimate
        self.memory = memory
        super().__init__(
            f"the exact tree does not fit into {size(memory)} of memory: "
            f"{count(n_nodes, 'node')} cover {percent(share)} of the space, and the whole tree "
            f"would have about {number(estimate, 2)}",
            parameter="memory",
            value=memory,
            hint=words(
                "allow more bytes with ",
                Option("memory"),
                ", or set another limit, such as ",
                Option("leaves", 1000),
                ", and pass the rows that matter as ",
                Option("data"),
                ": the tree is then exact at its certified leaves, and the ensemble predicts the "
                "rest. Or accept a distance from the raw prediction, with ",
                Option("equal", "value"),
                " and ",
                Option("tolerance"),
                ".",
            ),
        )


class ProofTooLargeError(InputError):
    """Proving the smallest tree needs more memory than may be used.

    Parameters
    ----------
    n_bytes
        What the proof needs; infinity where no machine has it.
    memory
        Bytes that may be used.
    """

    def __init__(self, *, n_bytes: float, memory: int) -> None:
        self.n_bytes = n_bytes
        self.memory = memory
        needed = f"about {size(n_bytes)}" if n_bytes < 1e18 else "more memory than any machine has"
        super().__init__(
            f"proving the smallest tree needs {needed}; {size(memory)} may be used",
            parameter="effort",
            value="optimal",
            hint=words(
                "use ",
                Option("effort", "good"),
                ", which comes within a few per cent of the smallest, or allow more bytes with ",
                Option("memory"),
                ".",
            ),
        )


class LittleProvedWarning(ClearwoodWarning):
    """Within the limits so little was proved that the tree hardly matters."""
