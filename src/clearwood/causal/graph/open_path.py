"""One open path between two sets of nodes, to show why they are not separated."""

from collections import deque

from clearwood.causal.graph.arrays import Arrays, Mask

__all__ = ["open_path"]


def open_path(arrays: Arrays, start: Mask, end: Mask, given: Mask) -> list[int]:
    """Return the nodes of a shortest open path, without loops; none if all are blocked.

    A state of the search is a node and whether the walk came to it along an arrow.
    """
    above = arrays.above(given)
    came: dict[tuple[int, bool], tuple[int, bool] | None] = {}
    queue: deque[tuple[int, bool]] = deque()
    for node in start.nonzero()[0].tolist():
        came[node, False] = None
        queue.append((node, False))
    while queue:
        state = queue.popleft()
        node, is_along = state
        if end[node]:
            return _without_loops(_walk(came, state))
        further: list[tuple[int, bool]] = []
        if not given[node]:
            further += ((effect, True) for effect in arrays.effects_of(node))
        if above[node] if is_along else not given[node]:
            further += ((cause, False) for cause in arrays.causes_of(node))
        for following in further:
            if following not in came:
                came[following] = state
                queue.append(following)
    return []


def _walk(
    came: dict[tuple[int, bool], tuple[int, bool] | None], state: tuple[int, bool]
) -> list[int]:
    """Return the nodes of the walk that came to a state."""
    walk: list[int] = []
    at: tuple[int, bool] | None = state
    while at is not None:
        walk.append(at[0])
        at = came[at]
    return walk[::-1]


def _without_loops(walk: list[int]) -> list[int]:
    """Cut out what lies between two visits of a node; an open walk remains open."""
    last = {node: place for place, node in enumerate(walk)}
    path, at = [], 0
    while at < len(walk):
        path.append(walk[at])
        at = last[walk[at]] + 1
    return path
