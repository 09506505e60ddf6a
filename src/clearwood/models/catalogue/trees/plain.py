"""A tree with surrogates as a tree of ordinary splits, with the same prediction for every row.

A split with surrogates is a chain of ordinary ones: is the value known? If it is, the split itself;
if not, is the value of the first surrogate known? And so on. Each end of the chain needs its own
copy of the subtree below, but a copy leaves out what the chain has settled: a column known to be
missing is not tested again, nor a threshold that an earlier one implies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood.models.shared.score import TreeArrays

if TYPE_CHECKING:
    from clearwood.models.catalogue.trees.tree import CartTree

__all__ = ["MOST_NODES", "bit_set", "plain_tree"]

#: Trees that would have more ordinary nodes than this stay as they are.
MOST_NODES = 20_000

#: What is known about a column on a path: "missing", or the range or set its value is in.
_Range = tuple[float, float]
_Known = str | _Range | frozenset[int]


@dataclass(frozen=True)
class _Question:
    """The column a split or surrogate tests, and what goes left."""

    column: int
    threshold: float
    categories: frozenset[int] | None
    n_words: int
    flipped: bool

    def sides(self, known: _Known) -> tuple[_Known | None, _Known | None]:
        """Return what is known left and right of it where there is a value; None: no value."""
        if self.categories is not None:
            inside: Any = frozenset(range(32 * self.n_words)) if isinstance(known, tuple) else known
            parts: list[Any] = [inside & self.categories, inside - self.categories]
            left, right = (part or None for part in parts)
        else:
            assert isinstance(known, tuple)
            low, high = known
            left = (
                (low, min(high, self.threshold))
                if low < self.threshold or np.isneginf(low)
                else None
            )
            right = (max(low, self.threshold), high) if high > self.threshold else None
        return (right, left) if self.flipped else (left, right)


#: A number about which nothing is known but that it is there. The lower end of a range does not
#: belong to it, except for minus infinity.
_ANYTHING: _Range = (-np.inf, np.inf)


@dataclass
class _Plain:
    """Arrays of the ordinary nodes, as they are added."""

    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    default_left: list[bool] = field(default_factory=list)
    sets: list[tuple[frozenset[int], int] | None] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    origin: list[int] = field(default_factory=list)

    def add(
        self,
        origin: int,
        column: int = -1,
        threshold: float = 0.0,
        categories: tuple[frozenset[int], int] | None = None,
        *,
        missing_left: bool = False,
    ) -> int:
        """Add a node and return its number."""
        self.origin.append(origin)
        self.feature.append(column)
        self.threshold.append(threshold)
        self.sets.append(categories)
        self.default_left.append(missing_left)
        self.left.append(-1)
        self.right.append(-1)
        return len(self.left) - 1


def plain_tree(tree: "CartTree", *, most_nodes: int = MOST_NODES) -> TreeArrays | None:
    """Return the tree as ordinary splits; None where they would be more than ``most_nodes``.

    The weight of the training rows is known for trees without surrogates only.
    """
    nodes = tree.nodes
    questions = [_questions(tree, node) for node in range(tree.n_nodes)]
    made = _Plain()
    # the node of the tree, the first question that is still open, what is known, and where the
    # result is a child
    tasks: list[tuple[int, int, Mapping[int, _Known], int, bool]] = [(0, 0, {}, -1, False)]
    while tasks:
        node, first, known, parent, is_left = tasks.pop()
        while True:  # down to a question that is not settled yet
            settled = _settled(
                questions[node], first, known, missing_left=bool(nodes["missing_left"][node])
            )
            if nodes["left"][node] < 0 or not isinstance(settled, bool):
                break
            node, first = int(nodes["left" if settled else "right"][node]), 0
        if nodes["left"][node] < 0:
            at = made.add(node)
        else:
            assert not isinstance(settled, bool)
            at = _add_split(made, tasks, tree, node, questions[node], settled, known)
        if parent >= 0:
            (made.left if is_left else made.right)[parent] = at
        if len(made.left) > most_nodes:
            return None
    return _arrays(made, tree)


def _questions(tree: "CartTree", node: int) -> list[_Question]:
    """Return the split of a node and its surrogates, in the order they are tried."""
    if tree.nodes["left"][node] < 0:
        return []
    first, count = (int(tree.nodes[key][node]) for key in ("first_surrogate", "n_surrogates"))
    held = [(tree.nodes, node)] + [(tree.surrogates, at) for at in range(first, first + count)]
    return [
        _Question(
            int(source["column"][at]),
            float(source["threshold"][at]),
            frozenset(tree.category_set(source, at)) if source["first_word"][at] >= 0 else None,
            int(source["n_words"][at]),
            bool(source["flipped"][at]) if "flipped" in source else False,
        )
        for source, at in held
    ]


def _settled(
    questions: list[_Question], first: int, known: Mapping[int, _Known], *, missing_left: bool
) -> bool | int:
    """Return the side that is certain (True: left), or the number of the first open question."""
    for at in range(first, len(questions)):
        of_column = known.get(questions[at].column)
        if of_column is None:
            return at
        if isinstance(of_column, str):
            continue
        left, right = questions[at].sides(of_column)
        if left is not None and right is not None:
            return at
        return left is not None
    return missing_left


def _add_split(
    made: _Plain,
    tasks: list[tuple[int, int, Mapping[int, _Known], int, bool]],
    tree: "CartTree",
    node: int,
    questions: list[_Question],
    at: int,
    known: Mapping[int, _Known],
) -> int:
    """Add the node of an open question; its children are put on the list of tasks."""
    question = questions[at]
    column, is_number = question.column, question.categories is None
    all_levels = None if is_number else frozenset(range(32 * question.n_words))
    missing_left = bool(tree.nodes["missing_left"][node])
    children = (int(tree.nodes["left"][node]), int(tree.nodes["right"][node]))
    of_column = known.get(column)
    if of_column is None:
        rest = _settled(questions, at + 1, {**known, column: "missing"}, missing_left=missing_left)
        anything: _Known = _ANYTHING if all_levels is None else all_levels
        if not isinstance(rest, bool):
            # where the value is missing other questions follow: ask for that first
            sets = None if all_levels is None else (all_levels, question.n_words)
            new = made.add(node, column, np.inf, sets, missing_left=False)
            tasks.append((node, at + 1, {**known, column: "missing"}, new, False))
            tasks.append((node, at, {**known, column: anything}, new, True))
            return new
        left, right = question.sides(anything)
        goes_left = rest
    else:
        left, right = question.sides(of_column)
        goes_left = None
    new = made.add(
        node,
        column,
        question.threshold,
        None if question.categories is None else (question.categories, question.n_words),
        missing_left=bool(goes_left) != question.flipped,
    )
    for child, of_side, is_left in ((children[1], right, False), (children[0], left, True)):
        # where missing values go too, nothing is known of the column
        stays_open = goes_left is is_left
        below = dict(known)
        if not stays_open and of_side is not None:
            below[column] = of_side
        tasks.append((child, 0, below, new, is_left != question.flipped))
    return new


def _arrays(made: _Plain, tree: "CartTree") -> TreeArrays:
    """Return the arrays of a single tree that adds to all outputs."""
    n_nodes = len(made.left)
    start, size = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
    words: list[NDArray[np.uint32]] = []
    used = 0
    for node, held in enumerate(made.sets):
        if held is not None:
            start[node], size[node] = used, held[1]
            words.append(bit_set(*held))
            used += held[1]
    has_surrogates = bool(tree.nodes["n_surrogates"].any())
    origin = np.array(made.origin)
    cover = np.full(n_nodes, np.nan) if has_surrogates else tree.nodes["cover"][origin]
    default_left = np.array(made.default_left)
    return TreeArrays(
        roots=np.zeros(1, np.int32),
        left=np.array(made.left, np.int32),
        right=np.array(made.right, np.int32),
        feature=np.array(made.feature, np.int32),
        threshold=np.array(made.threshold),
        default_left=default_left,
        value=tree.value[origin],
        cover=cover,
        tree_output=np.full(1, -1, np.int32),
        n_features=tree.n_features,
        n_outputs=tree.value.shape[1],
        category_start=start,
        category_size=size,
        category_words=np.concatenate(words) if words else np.empty(0, np.uint32),
        unseen_left=default_left & (start >= 0),
    )


def bit_set(categories: Iterable[int], n_words: int) -> NDArray[np.uint32]:
    """Return a set of categories as bits.

    Examples
    --------
    >>> bit_set({1, 33}, 2)
    array([2, 2], dtype=uint32)
    """
    words = np.zeros(n_words, np.uint32)
    for category in categories:
        words[category // 32] |= np.uint32(1) << np.uint32(category % 32)
    return words
