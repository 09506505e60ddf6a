"""Sets of nodes that d-separate two others: one, all minimal ones, a cheapest one, all.

Within the ancestors of both ends and of the nodes that must be in the set, d-separation is
separation in the moral graph (Lauritzen et al. 1990). All searches here are on that graph, which
is never built: a walk that passes every collider is one in the moral graph.

References
----------
van der Zander, Liśkiewicz and Textor (2019), "Separators and adjustment sets in causal graphs:
complete criteria and an algorithmic framework"; van der Zander and Liśkiewicz (2020), "Finding
minimal d-separators in linear time and applications"; Takata (2010), "Space-optimal, backtracking
algorithms to list the minimal vertex separators of a graph".
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.causal.graph.arrays import Arrays, Mask
from clearwood.kernels import minimum_cut

__all__ = ["Separators"]


@dataclass(frozen=True, eq=False)
class Separators:
    """The sets that d-separate two sets of nodes, out of some nodes and with others in them.

    Parameters
    ----------
    arrays
        The graph.
    start, end
        The nodes to separate.
    allowed
        Nodes that may be in a separator.
    needed
        Nodes that must be in it.
    """

    arrays: Arrays
    start: Mask
    end: Mask
    allowed: Mask
    needed: Mask

    @cached_property
    def inside(self) -> Mask:
        """The ancestors of the ends and of what must be in the separator, and these themselves."""
        return self.arrays.above(self.start | self.end | self.needed)

    @cached_property
    def free(self) -> Mask:
        """What a minimal separator is chosen from."""
        ends = self.start | self.end | self.needed
        return self.allowed & self.inside & (1 - ends)

    @property
    def exist(self) -> bool:
        """Whether there is a separator at all: then the largest within the ancestors is one."""
        return self.is_separated(self.free | self.needed)

    def is_separated(self, given: Mask) -> bool:
        """Whether a set d-separates the ends."""
        return self.arrays.is_separated(self.start, self.end, given)

    def one(self) -> Mask | None:
        """Return the minimal separator nearest to the start, in linear time; None without one."""
        found = self._nearest(self.start)
        return None if found is None else found[0] | self.needed

    def minimal(self) -> Iterator[Mask]:
        """Give all minimal separators, with polynomial delay.

        The side of the start grows. At each step one node of the nearest separator either joins
        that side or never does, and both cases are followed only where they lead to a separator.
        """
        # sides of the start to grow from, with nodes that must not join them
        stack = [(self.start, np.zeros_like(self.start))]
        while stack:
            side, kept_out = stack.pop()
            found = self._nearest(side)
            if found is None or np.any(found[1] & kept_out):
                continue
            separator, side = found
            undecided = np.flatnonzero(separator & (1 - kept_out))
            for node in undecided.tolist():
                grown = side.copy()
                grown[node] = 1
                stack.append((grown, kept_out))
                kept_out = kept_out.copy()
                kept_out[node] = 1
            yield separator | self.needed

    def cheapest(self, costs: Floats) -> Mask | None:
        """Return a separator with the least sum of costs, and minimal; None without one."""
        if not self.exist:
            return None
        cut = self._cut(self.free, self.needed, costs)
        return Separators(self.arrays, self.start, self.end, cut, self.needed).one()

    def all(self) -> Iterator[Mask]:
        """Give all separators, small ones first, with polynomial delay.

        Each step decides on one node. What is open is kept by the size of the least separator
        that it leads to.
        """
        ones = np.ones(self.arrays.n)
        order = np.flatnonzero(self.allowed & (1 - (self.start | self.end | self.needed)))

        def least(needed: Mask, allowed: Mask) -> int | None:
            inner = Separators(self.arrays, self.start, self.end, allowed, needed)
            found = inner.cheapest(ones)
            return None if found is None else int(found.sum())

        size = least(self.needed, self.allowed)
        heap: list[tuple[int, int, int, Mask, Mask]] = []
        if size is not None:
            heap = [(size, 0, 0, self.needed, self.allowed)]
        made = 0
        while heap:
            size, decided, _, needed, allowed = heapq.heappop(heap)
            if -decided == len(order):
                yield needed
                continue
            node = order[-decided]
            without, within = allowed.copy(), needed.copy()
            without[node], within[node] = 0, 1
            for some, most in ((needed, without), (within, allowed)):
                smallest = least(some, most)
                if smallest is not None:
                    made += 1
                    heapq.heappush(heap, (smallest, decided - 1, made, some, most))

    def _nearest(self, side: Mask) -> tuple[Mask, Mask] | None:
        """Return the minimal separator nearest to a side of the start, and the side it cuts off."""
        candidates = self.free & (1 - side)
        near = self._walk(side, candidates)
        if np.any(near & self.end):
            return None
        frontier = near & candidates
        separator = self._walk(self.end, frontier) & frontier
        return separator, self._walk(side, separator) & (1 - separator)

    def _walk(self, start: Mask, blocked: Mask) -> Mask:
        """Return what the moral graph reaches, apart from nodes that must be in the separator."""
        found = self.arrays.reached_in_moral(start, blocked | self.needed, self.inside)
        return (found > 0).astype(np.uint8) & (1 - self.needed)

    def _cut(self, free: Mask, needed: Mask, costs: Floats) -> Mask:
        """Return a cheapest vertex cut of the moral graph.

        Every node becomes an arrow from its entrance to its exit, with its cost as capacity. A
        node and its causes, which the moral graph joins pairwise, are joined through a hub.
        """
        n = self.arrays.n
        inside = self.inside > 0
        largest = costs[free > 0].max(initial=0.0)
        scaled = np.where(free > 0, costs / (largest or 1.0), 0.0)
        uncut = 2.0 * scaled.sum() + 1.0
        capacity = np.where(needed > 0, 0.0, np.where(free > 0, scaled, uncut))
        nodes = np.flatnonzero(inside).astype(np.int32)
        kept = inside[self.arrays.causes] & inside[self.arrays.effects]
        # members of a family: the node itself, and its causes
        members = np.concatenate([nodes, self.arrays.causes[kept]])
        hubs = np.concatenate([nodes, self.arrays.effects[kept]]) + np.int32(2 * n)
        source, sink = 3 * n, 3 * n + 1
        begin = np.flatnonzero(self.start).astype(np.int32)
        finish = np.flatnonzero(self.end).astype(np.int32)
        entrance, leave = np.int32(0), np.int32(n)
        starts = [
            nodes + entrance,
            members + leave,
            hubs,
            np.full_like(begin, source),
            finish + leave,
        ]
        ends = [
            nodes + leave,
            hubs,
            members + entrance,
            begin + entrance,
            np.full_like(finish, sink),
        ]
        sizes = [len(members), len(members), len(begin), len(finish)]
        capacities = [capacity[nodes], *(np.full(size, uncut) for size in sizes)]
        side = minimum_cut(
            3 * n + 2,
            np.concatenate(starts).astype(np.int32),
            np.concatenate(ends).astype(np.int32),
            np.concatenate(capacities),
            source=source,
            sink=sink,
        )
        return side[:n] & (1 - side[n : 2 * n]) & free
