"""A graph as arrays: the effects and the causes of every node, one after another."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools
from clearwood.kernels import Neighbours, closure, reach

__all__ = ["Arrays", "Ints", "Mask"]

Ints = NDArray[np.int32]
#: Ones at some nodes, zeros elsewhere.
Mask = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arrows of a graph whose nodes are numbers.

    Parameters
    ----------
    n
        The number of nodes.
    causes, effects
        The two ends of every arrow.
    """

    n: int
    causes: Ints
    effects: Ints

    @cached_property
    def down(self) -> Neighbours:
        """The effects of every node."""
        return _neighbours(self.n, self.causes, self.effects)

    @cached_property
    def up(self) -> Neighbours:
        """The causes of every node."""
        return _neighbours(self.n, self.effects, self.causes)

    def effects_of(self, node: int) -> list[int]:
        """Return the effects of a node, in increasing order."""
        return _of(self.down, node)

    def causes_of(self, node: int) -> list[int]:
        """Return the causes of a node, in increasing order."""
        return _of(self.up, node)

    def only(self, kept: Bools) -> "Arrays":
        """Return the graph with some of its arrows."""
        return Arrays(self.n, self.causes[kept], self.effects[kept])

    def mask(self, members: Iterable[int]) -> Mask:
        """Return ones at some nodes and zeros elsewhere."""
        made = np.zeros(self.n, dtype=np.uint8)
        made[list(members)] = 1
        return made

    def above(self, start: Mask) -> Mask:
        """Return some nodes and their ancestors."""
        return closure(self.up, start)

    def below(self, start: Mask) -> Mask:
        """Return some nodes and their descendants."""
        return closure(self.down, start)

    def is_separated(self, start: Mask, end: Mask, given: Mask) -> bool:
        """Whether a set d-separates two others."""
        found = reach(
            self.down,
            self.up,
            start,
            blocked=given,
            opened=self.above(given),
            inside=np.ones(self.n, dtype=np.uint8),
            wanted=end,
        )
        return not np.any(found[end > 0])

    def reached_in_moral(self, start: Mask, blocked: Mask, inside: Mask) -> Mask:
        """Return what is reached in the moral graph of an ancestral set."""
        return reach(self.down, self.up, start, blocked=blocked, opened=inside, inside=inside)


def _of(neighbours: Neighbours, node: int) -> list[int]:
    """Return the neighbours of a node."""
    offsets, targets = neighbours
    found: list[int] = targets[offsets[node] : offsets[node + 1]].tolist()
    return found


def _neighbours(n: int, starts: Ints, ends: Ints) -> Neighbours:
    """Sort arrows by their start."""
    order = np.lexsort((ends, starts))
    offsets = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(starts, minlength=n), out=offsets[1:])
    return Neighbours(offsets, np.ascontiguousarray(ends[order]))
