"""Where the nodes and arrows of a causal graph are drawn: causes on the left, effects on the right.

The layered drawing of Sugiyama, Tagawa and Toda (1981): every node has a layer to the right of its
causes; long arrows have a place in the layers that they pass, so that they cross no node; layers
are ordered by the mean place of their neighbours as long as crossings become fewer.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from sklearn.isotonic import isotonic_regression

from clearwood.causal import Graph
from clearwood.plot.style import cut

__all__ = ["Box", "Layout", "Line", "layout_of"]

#: Sizes in pixels: of a letter, of a box, and between boxes and layers.
LETTER, HEIGHT, PADDING, BETWEEN, APART, MARGIN = 7.4, 26.0, 16.0, 16.0, 64.0, 14.0
#: Room for an arrow that passes a layer.
PASSAGE = 10.0
LONGEST_NAME = 28
SWEEPS = 24


@dataclass(frozen=True)
class Box:
    """A node: its name, the label that is drawn, its centre and its width."""

    name: str
    label: str
    x: float
    y: float
    width: float
    is_hidden: bool

    @property
    def left(self) -> float:
        """Where its left side is."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """Where its right side is."""
        return self.x + self.width / 2


@dataclass(frozen=True)
class Line:
    """An arrow from one node to another, and the points that it passes."""

    cause: str
    effect: str
    points: tuple[tuple[float, float], ...]
    is_shared: bool = False


@dataclass(frozen=True)
class Layout:
    """A drawing of a graph."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


@dataclass(eq=False)
class _Item:
    """A node in its layer, or the place where a long arrow passes it."""

    layer: int
    name: str = ""
    label: str = ""
    left: list["_Item"] = field(default_factory=list)
    right: list["_Item"] = field(default_factory=list)
    y: float = 0.0
    place: int = 0

    @property
    def height(self) -> float:
        """How much room it needs, with half of the gaps around it."""
        return HEIGHT + BETWEEN if self.name else PASSAGE

    @property
    def width(self) -> float:
        """How wide it is drawn."""
        return _text_width(self.label) + PADDING if self.name else 0.0


def layout_of(graph: Graph) -> Layout:
    """Lay out a graph; nodes that stand for `<->` are drawn as one dashed line.

    Examples
    --------
    >>> layout = layout_of(Graph("z -> x -> y <- z"))
    >>> [box.name for box in sorted(layout.boxes, key=lambda box: box.x)]
    ['z', 'x', 'y']
    """
    shared = graph.shared_causes
    layers, routes = _layers(graph, set(shared))
    _reduce_crossings(layers)
    _put_lone_nodes_last(layers, {name for pair in shared.values() for name in pair})
    centres = _centres(layers)
    _align(layers)
    items = {item.name: item for layer in layers for item in layer if item.name}
    top = min(item.y - item.height / 2 for layer in layers for item in layer)
    for layer in layers:
        for item in layer:
            item.y += MARGIN - top
    boxes = {
        name: Box(name, item.label, centres[item.layer], item.y, item.width, name in graph.hidden)
        for name, item in items.items()
    }
    lines = [_line(edge, route, boxes, centres) for edge, route in routes.items()]
    lines += [_shared_line(boxes, one, other) for one, other in shared.values()]
    ends = [x for line in lines for x, _ in line.points] + [box.right for box in boxes.values()]
    bottom = max(item.y + item.height / 2 for layer in layers for item in layer)
    return Layout(tuple(boxes.values()), tuple(lines), max(ends) + MARGIN, bottom + MARGIN)


def _layers(
    graph: Graph, left_out: set[str]
) -> tuple[list[list[_Item]], dict[tuple[str, str], list[_Item]]]:
    """Give every node a layer right of its causes, and long arrows a place in between."""
    items: dict[str, _Item] = {}
    for name in graph.order:
        if name in left_out:
            continue
        causes = [items[cause] for cause in graph.parents(name) if cause not in left_out]
        layer = max((cause.layer + 1 for cause in causes), default=0)
        items[name] = _Item(layer, name, _label(name))
    for name in reversed(graph.order):
        # roots move next to their effects, which makes arrows short
        if name in left_out or any(cause not in left_out for cause in graph.parents(name)):
            continue
        effects = [items[effect].layer for effect in graph.children(name)]
        items[name].layer = min(effects) - 1 if effects else 0
    layers: list[list[_Item]] = [[] for _ in range(1 + max(one.layer for one in items.values()))]
    for item in items.values():
        layers[item.layer].append(item)
    routes = {}
    for cause, effect in graph.edges:
        if cause in left_out:
            continue
        start, end = items[cause], items[effect]
        passed = [_Item(layer) for layer in range(start.layer + 1, end.layer)]
        for item in passed:
            layers[item.layer].append(item)
        route = [start, *passed, end]
        for one, other in pairwise(route):
            one.right.append(other)
            other.left.append(one)
        routes[cause, effect] = route
    return layers, routes


def _reduce_crossings(layers: list[list[_Item]]) -> None:
    """Order layers by the mean place of their neighbours, and keep the best order."""
    _number(layers)
    best = [list(layer) for layer in layers]
    least = _crossings(layers)
    for sweep in range(SWEEPS):
        if not least:
            break
        is_forward = sweep % 2 == 0
        for layer in layers if is_forward else reversed(layers):
            means = {
                id(item): float(np.mean([other.place for other in near])) if near else item.place
                for item in layer
                for near in [item.left if is_forward else item.right]
            }
            layer.sort(key=lambda item, means=means: means[id(item)])  # type: ignore[misc]
            for place, item in enumerate(layer):
                item.place = place
        crossings = _crossings(layers)
        if crossings < least:
            least, best = crossings, [list(layer) for layer in layers]
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order
    _number(layers)


def _put_lone_nodes_last(layers: Sequence[list[_Item]], joined: set[str]) -> None:
    """Move nodes without arrows to the end of their layer, so that the others are near each other.

    Parameters
    ----------
    layers
        The items of each layer, in order.
    joined
        Nodes that share a hidden cause with others.
    """
    for layer in layers:
        layer.sort(key=lambda item: not (item.left or item.right or item.name in joined))
    _number(layers)


def _number(layers: Sequence[Sequence[_Item]]) -> None:
    """Write down the place of every item in its layer."""
    for layer in layers:
        for place, item in enumerate(layer):
            item.place = place


def _crossings(layers: Sequence[Sequence[_Item]]) -> int:
    """Count the pairs of arrows that cross between two layers."""
    total = 0
    for layer in layers:
        ends = np.array([to.place for item in layer for to in sorted(item.right, key=_place)])
        total += int(np.count_nonzero(np.triu(ends[:, None] > ends[None, :], 1)))
    return total


def _place(item: _Item) -> int:
    """Return the place of an item in its layer."""
    return item.place


def _centres(layers: Sequence[Sequence[_Item]]) -> list[float]:
    """Return where the middle of every layer is: layers are as wide as their widest name."""
    centres, x = [], MARGIN
    for layer in layers:
        width = max((item.width for item in layer), default=0.0)
        centres.append(x + width / 2)
        x += width + APART
    return centres


def _align(layers: Sequence[Sequence[_Item]]) -> None:
    """Move items towards their neighbours as far as the room and the order of a layer allow."""
    for layer in layers:
        _settle(layer, [0.0] * len(layer))
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = []
            for item in layer:
                near = [*item.left, *item.right]
                wanted.append(float(np.mean([other.y for other in near])) if near else item.y)
            _settle(layer, wanted)


def _settle(layer: Sequence[_Item], wanted: Sequence[float]) -> None:
    """Place the items of a layer as near as possible to where they are wanted, without overlap."""
    if not layer:
        return
    gaps = [(one.height + other.height) / 2 for one, other in pairwise(layer)]
    shifts = np.concatenate([[0.0], np.cumsum(gaps)])
    # distances of at least the gaps are an increasing sequence once the gaps are taken off
    for item, y in zip(layer, isotonic_regression(np.array(wanted) - shifts) + shifts, strict=True):
        item.y = float(y)


def _line(
    edge: tuple[str, str], route: Sequence[_Item], boxes: dict[str, Box], centres: Sequence[float]
) -> Line:
    """Return the points of an arrow, from the right side of its cause to its effect's left."""
    start, end = boxes[edge[0]], boxes[edge[1]]
    passed = [(centres[item.layer], item.y) for item in route[1:-1]]
    return Line(*edge, ((start.right, start.y), *passed, (end.left, end.y)))


def _shared_line(boxes: dict[str, Box], one: str, other: str) -> Line:
    """Return the points of the dashed line between two nodes with a hidden common cause."""
    first, second = sorted((boxes[one], boxes[other]), key=lambda box: (box.x, box.y))
    if first.x == second.x:  # beside the layer, so that it passes no box in between
        passed = (b.right for b in boxes.values() if b.x == first.x and first.y <= b.y <= second.y)
        side = max(passed) + 24
        points = (
            (first.right, first.y),
            (side, (first.y + second.y) / 2),
            (second.right, second.y),
        )
    else:
        below = max(first.y, second.y) + HEIGHT / 2 + BETWEEN / 2 - 2
        middle = ((first.x + second.x) / 2, below)
        points = ((first.x, first.y + HEIGHT / 2), middle, (second.x, second.y + HEIGHT / 2))
    return Line(first.name, second.name, points, is_shared=True)


def _label(name: str) -> str:
    """Return a name on one line, without signs that cannot be drawn."""
    drawn = "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in name
    )
    return cut(drawn, LONGEST_NAME)


def _text_width(text: str) -> float:
    """Estimate the width of a text: letters of East Asian scripts are twice as wide."""
    wide = sum(unicodedata.east_asian_width(letter) in {"W", "F"} for letter in text)
    return LETTER * (len(text) + wide)
