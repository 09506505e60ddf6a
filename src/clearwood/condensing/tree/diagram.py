"""A decision diagram: a decision tree whose equal branches are kept once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood.forest import SPLIT_ARRAYS, NodeArrays, Precision, goes_left, rounded

__all__ = ["Diagram", "leaf_counts"]

_NODE_ARRAYS: dict[str, type] = {
    **SPLIT_ARRAYS,
    "left": np.int32,
    "right": np.int32,
    "outcome": np.int32,
    "value": np.float64,
    "low": np.float64,
    "high": np.float64,
    "certified": np.bool_,
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Diagram(NodeArrays):
    """Questions and outcomes as plain arrays, one entry a node.

    Node 0 is the root and children come after their parents, so one pass backwards sees children
    first. A node may have several parents: unfolded, it stands for as many branches of a tree.
    Every node can be reached from the root. All arrays are read-only.

    A row goes left by the rule of `clearwood.forest.Forest`, whose array names these are: rounded
    to ``precision``, where ``x <= threshold``; a missing value (NaN, and values around zero where
    ``zero_missing``) where ``default_left``; a category where it is in the bit set, and where
    ``unseen_left`` if it lies outside the set's range. A threshold of infinity that sends missing
    values right separates missing values from all numbers.

    Parameters
    ----------
    feature
        The model's column of each node's question; -1 at leaves.
    threshold, default_left, zero_missing
        The question of a numeric node.
    category_start, category_size, category_words, unseen_left
        The question of a categorical node; -1 and 0 at others.
    left, right
        Children; -1 at leaves.
    outcome
        At certified leaves of a diagram for the class: the position of the class among the
        ensemble's classes. -1 elsewhere.
    value
        One row a node, one column an output, in a diagram for the value: the raw prediction at
        certified leaves, NaN elsewhere. No columns in a diagram for the class.
    low, high
        As ``value``: bounds on the ensemble's raw prediction in the leaf; equal to ``value`` where
        that is exact.
    certified
        At leaves: whether the outcome is proved for every row that reaches them. The ensemble
        predicts the rows of the other leaves. True at inner nodes.
    precision
        Values are rounded to this before they are compared.
    n_features
        How many columns the model has.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> diagram = cw.condense(tree).diagram
    >>> diagram
    Diagram of 4 nodes: as a tree 3 leaves, depth 2
    >>> diagram.threshold[~diagram.is_leaf]
    array([0.5, 1.5])
    """

    feature: NDArray[np.int32]
    threshold: Floats
    default_left: Bools
    zero_missing: Bools
    category_start: NDArray[np.int32]
    category_size: NDArray[np.int32]
    category_words: NDArray[np.uint32]
    unseen_left: Bools
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    outcome: NDArray[np.int32]
    value: Floats
    low: Floats
    high: Floats
    certified: Bools
    precision: Precision
    n_features: int

    def __post_init__(self) -> None:
        self._freeze({**_NODE_ARRAYS, "category_words": np.uint32})
        self._check()

    def _check(self) -> None:
        n = len(self.feature)
        for name in _NODE_ARRAYS:
            if len(getattr(self, name)) != n:
                raise InputError(
                    f"diagram array {name!r} has {len(getattr(self, name))} entries; expected {n}"
                )
        if n == 0:
            raise InputError("the diagram has no nodes")
        if self.value.ndim != 2 or not self.value.shape == self.low.shape == self.high.shape:
            raise InputError(
                "value, low and high must have one row a node and one column an output"
            )
        inner = np.flatnonzero(self.feature >= 0)
        if (self.feature >= self.n_features).any():
            raise InputError(
                f"a node splits on column {int(self.feature.max())}; "
                f"the model has {self.n_features} columns"
            )
        reached = np.zeros(n, bool)
        reached[0] = True
        for child in (self.left, self.right):
            if (child[self.feature < 0] != -1).any():
                raise InputError("a leaf has a child")
            if (child[inner] <= inner).any() or (child[inner] >= n).any():
                raise InputError("children must come after their parents")
            reached[child[inner]] = True
        if not reached.all():
            raise InputError(f"node {int(np.argmin(reached))} is the child of no node")
        sets = inner[self.category_start[inner] >= 0]
        ends = self.category_start[sets].astype(np.int64) + self.category_size[sets]
        if (self.category_size[sets] < 0).any() or (ends > len(self.category_words)).any():
            raise InputError("a node's category set reaches past the category words")
        if np.isnan(self.threshold[inner[self.category_start[inner] < 0]]).any():
            raise InputError("a threshold is NaN")

    @property
    def n_nodes(self) -> int:
        """How many nodes it has, leaves included, each kept once."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        """How many numbers a leaf's value has; 0 in a diagram for the class."""
        return int(self.value.shape[1])

    @cached_property
    def is_leaf(self) -> Bools:
        """Which nodes are leaves."""
        return np.asarray(self.feature < 0)

    @cached_property
    def leaf_counts(self) -> list[int]:
        """How many leaves each node has below it as a tree, itself included."""
        return leaf_counts(self.left, self.right)

    @property
    def n_leaves(self) -> int:
        """How many leaves it has as a tree, counted without unfolding it."""
        return self.leaf_counts[0]

    @cached_property
    def depth(self) -> int:
        """The number of questions on the longest path."""
        depth = [0] * self.n_nodes
        left, right = self.left.tolist(), self.right.tolist()
        for node in range(self.n_nodes - 1, -1, -1):
            if left[node] >= 0:
                depth[node] = 1 + max(depth[left[node]], depth[right[node]])
        return depth[0]

    def goes_left(self, nodes: Index, x: Floats) -> Bools:
        """Return, for pairs of an inner node and a value of its column, whether it goes left."""
        # the rule reads arrays that both have, under the same names
        like: Any = self
        return goes_left(like, nodes, rounded(like, x))

    def apply(self, X: Floats) -> NDArray[np.int32]:
        """Return the leaf each row of a matrix of the model's columns reaches."""
        return self._walked(X)

    def questions(self, X: Floats) -> NDArray[np.int32]:
        """Return the number of questions on the path of each row of a matrix."""
        counts = np.zeros(len(X), np.int32)
        self._walked(X, counts)
        return counts

    def _walked(self, X: Floats, counts: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Return the leaf each row reaches, and add up questions on the way."""
        node = np.zeros(len(X), np.intp)
        rows = np.flatnonzero(~self.is_leaf[node])
        while len(rows):
            if counts is not None:
                counts[rows] += 1
            at = node[rows]
            left = self.goes_left(at, X[rows, self.feature[at]])
            node[rows] = np.where(left, self.left[at], self.right[at])
            rows = rows[~self.is_leaf[node[rows]]]
        return node.astype(np.int32)

    def __repr__(self) -> str:
        leaves = count(self.n_leaves, "leaf", "leaves")
        return f"Diagram of {count(self.n_nodes, 'node')}: as a tree {leaves}, depth {self.depth}"


def leaf_counts(left: NDArray[np.int32], right: NDArray[np.int32]) -> list[int]:
    """Count the leaves below each node of a diagram whose children come after their parents.

    Counts are Python's whole numbers: unfolded, a diagram can have more leaves than 64 bits hold.
    """
    lefts, rights = left.tolist(), right.tolist()
    counts = [1] * len(lefts)
    for node in range(len(lefts) - 1, -1, -1):
        if lefts[node] >= 0:
            counts[node] = counts[lefts[node]] + counts[rights[node]]
    return counts
