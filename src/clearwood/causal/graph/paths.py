"""The paths between two nodes, each open, or blocked where and by which rule."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any, Literal

from clearwood._shared.checks import check_whole
from clearwood._shared.numbers import count
from clearwood._shared.results import Result, html_table
from clearwood.causal.graph.arrays import Arrays, Mask
from clearwood.causal.graph.numbered import Names, NumberedGraph

__all__ = ["Block", "Path", "Paths", "paths_between"]

#: The two ways in which a node blocks a path (Hiabu 2024, definition 8.0.2).
Rule = Literal["a", "b"]
RULES: dict[Rule, str] = {
    "a": "is given and no collider",
    "b": "is a collider, and neither it nor an effect of it is given",
}


@dataclass(frozen=True)
class Block(Result):
    """A node that blocks a path.

    Parameters
    ----------
    node
        Its name.
    rule
        "a": it is given, and not a collider on the path. "b": it is a collider, and neither it
        nor any of its descendants is given.
    """

    node: str
    rule: Rule

    _derived = ("reason",)

    @property
    def reason(self) -> str:
        """The rule in words."""
        return RULES[self.rule]

    def __str__(self) -> str:
        return f"{self.node} {self.reason} ({self.rule})"


@dataclass(frozen=True)
class Path(Result):
    """A path between two nodes.

    Parameters
    ----------
    steps
        Nodes and arrows in turn: ("x", "<-", "z", "->", "y").
    blocks
        The nodes that block it; none if it is open.
    is_causal
        Whether all arrows lead from its first node to its last.
    """

    steps: tuple[str, ...]
    blocks: tuple[Block, ...]
    is_causal: bool

    _derived = ("is_open",)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on the path."""
        return self.steps[::2]

    @property
    def is_open(self) -> bool:
        """Whether no node blocks it."""
        return not self.blocks

    def __str__(self) -> str:
        state = f"blocked: {'; '.join(map(str, self.blocks))}" if self.blocks else "open"
        return f"{' '.join(self.steps)}  {state}{', causal' if self.is_causal else ''}"


@dataclass(frozen=True, repr=False)
class Paths(Result):
    """All paths between two nodes, short ones first.

    Parameters
    ----------
    a, b
        The two ends.
    given
        What is conditioned on.
    paths
        The paths.
    is_complete
        Whether these are all, or as many as `limit` allows.

    Examples
    --------
    >>> from clearwood.causal import Graph
    >>> print(Graph("x3 -> x1 -> x2 -> x4 <- x3").paths("x1", "x4", given="x3"))
    2 paths between x1 and x4, 1 open, given x3
      x1 <- x3 -> x4  blocked: x3 is given and no collider (a)
      x1 -> x2 -> x4  open, causal
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    given: tuple[str, ...]
    paths: tuple[Path, ...]
    is_complete: bool = True

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[Path]:
        return iter(self.paths)

    def __getitem__(self, at: int) -> Path:
        return self.paths[at]

    @property
    def open(self) -> tuple[Path, ...]:
        """The open ones."""
        return tuple(path for path in self.paths if path.is_open)

    @property
    def blocked(self) -> tuple[Path, ...]:
        """The blocked ones."""
        return tuple(path for path in self.paths if not path.is_open)

    def _heading(self) -> str:
        """Return how many paths there are, in a sentence."""
        number = count(len(self.paths), "path")
        more = "" if self.is_complete else "; there are more"
        given = f", given {', '.join(self.given)}" if self.given else ""
        ends = f"{', '.join(self.a)} and {', '.join(self.b)}"
        return f"{number} between {ends}, {len(self.open)} open{given}{more}"

    def __str__(self) -> str:
        return "\n".join([self._heading(), *(f"  {path}" for path in self.paths)])

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "path": [" ".join(path.steps) for path in self.paths],
            "open": [path.is_open for path in self.paths],
            "causal": [path.is_causal for path in self.paths],
            "blocked at": [", ".join(one.node for one in path.blocks) for path in self.paths],
            "rule": [", ".join(one.rule for one in path.blocks) for path in self.paths],
        }

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = [
            [path, "open" if is_open else "blocked", at, rule]
            for path, is_open, at, rule in zip(
                columns["path"],
                columns["open"],
                columns["blocked at"],
                columns["rule"],
                strict=True,
            )
        ]
        return html_table(self._heading(), ["path", "", "blocked at", "rule"], rows)


def paths_between(graph: NumberedGraph, a: Names, b: Names, given: Names, limit: int) -> Paths:
    """List the paths between two sets of nodes, and what blocks each."""
    check_whole("limit", limit, 1)
    start, end, blocked = graph.disjoint(a=a, b=b, given=given)
    above = graph.arrays.above(blocked)
    found = _shortest(graph.arrays, start, end, limit + 1)
    made = tuple(_judged(graph, places, blocked, above) for places in found[:limit])
    return Paths(
        graph.named(start), graph.named(end), graph.named(blocked), made, len(found) <= limit
    )


def _judged(graph: NumberedGraph, places: list[int], given: Mask, above: Mask) -> Path:
    """Look for the nodes that block a path."""
    arrays = graph.arrays
    along = [right in arrays.effects_of(left) for left, right in pairwise(places)]
    blocks = []
    for place, into, onward in zip(places[1:-1], along, along[1:], strict=False):
        is_collider = into and not onward
        if is_collider and not above[place]:
            blocks.append(Block(graph.nodes[place], "b"))
        elif not is_collider and given[place]:
            blocks.append(Block(graph.nodes[place], "a"))
    return Path(graph.path(places), tuple(blocks), all(along))


def _shortest(arrays: Arrays, start: Mask, end: Mask, limit: int) -> list[list[int]]:
    """Return the shortest paths from one set to another; none passes a third member of either."""
    near = [sorted({*arrays.effects_of(node), *arrays.causes_of(node)}) for node in range(arrays.n)]
    starts = start.nonzero()[0].tolist()

    def up_to(length: int) -> Iterator[list[int]]:
        """Give the paths that are not longer than a length."""
        return chain.from_iterable(_paths_of(near, one, start, end, length) for one in starts)

    found = sorted(islice(up_to(arrays.n - 1), limit), key=len)
    if len(found) < limit:
        return found
    # there are more: short ones first, up to each length in turn
    found = []
    for length in range(1, arrays.n):
        found += (path for path in up_to(length) if len(path) == length + 1)
        if len(found) >= limit:
            break
    return found[:limit]


def _paths_of(
    near: list[list[int]], first: int, start: Mask, end: Mask, length: int
) -> Iterator[list[int]]:
    """Give the paths from one node that are not longer than a length.

    The search goes only where the end can still be reached within the length, so that the time
    between two paths is polynomial.
    """
    path = [first]
    on_path = {first}
    stack = [iter(_ways(near, path, on_path, start, end, length))]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            on_path.discard(path.pop())
            continue
        if end[node]:
            yield [*path, node]
            continue
        path.append(node)
        on_path.add(node)
        stack.append(iter(_ways(near, path, on_path, start, end, length)))


def _ways(
    near: list[list[int]], path: list[int], on_path: set[int], start: Mask, end: Mask, length: int
) -> list[int]:
    """Return the next nodes from which the end can be reached within the length."""
    left = length - len(path)
    queue = deque(end.nonzero()[0].tolist())
    distance = dict.fromkeys(queue, 0)
    while queue:
        node = queue.popleft()
        if distance[node] >= left:
            continue
        for other in near[node]:
            if other in distance or other in on_path or start[other] or end[other]:
                continue
            distance[other] = distance[node] + 1
            queue.append(other)
    return [node for node in near[path[-1]] if distance.get(node, left + 1) <= left]
