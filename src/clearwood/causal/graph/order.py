"""The order of causes before effects, and the cycle that stands in its way."""

import heapq

from clearwood.causal.graph.arrays import Arrays

__all__ = ["causes_first", "cycle_in"]


def causes_first(arrays: Arrays) -> list[int]:
    """Order nodes so that causes come before effects, the first named first.

    Nodes on a cycle and their descendants are left out.
    """
    waiting = [len(arrays.causes_of(node)) for node in range(arrays.n)]
    ready = [node for node in range(arrays.n) if not waiting[node]]
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for effect in arrays.effects_of(node):
            waiting[effect] -= 1
            if not waiting[effect]:
                heapq.heappush(ready, effect)
    return order


def cycle_in(arrays: Arrays, order: list[int]) -> list[int]:
    """Return the nodes of a cycle, among the nodes that have no place in the order."""
    left = set(range(arrays.n)).difference(order)
    # every node left has a cause that is left: going up must come back to a node
    node = min(left)
    seen: dict[int, int] = {}
    trail: list[int] = []
    while node not in seen:
        seen[node] = len(trail)
        trail.append(node)
        node = next(cause for cause in arrays.causes_of(node) if cause in left)
    cycle = trail[seen[node] :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
