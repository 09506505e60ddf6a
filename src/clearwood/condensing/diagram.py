"""A decision diagram: a decision tree whose equal branches are kept once."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.forest import Precision
from clearwood.forest.predict import goes_left, rounded

__all__ = ["Diagram"]

_NODE_ARRAYS: dict[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "default_left": np.bool_,
    "zero_missing": np.bool_,
    "category_start": np.int32,
    "category_size": np.int32,
    "unseen_left": np.bool_,
    "left": np.int32,
    "right": np.int32,
    "outcome": np.int32,
    "certified": np.bool_,
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Diagram:
    """Questions and answers as plain arrays, one entry a node.

    Node 0 is the root and children come after their parents, so one pass backwards sees children
    first. A node may have several parents: unfolded, it stands for as many branches of a tree.
    Every node can be reached from the root. All arrays are read-only.

    A row goes left by the rule of `clearwood.forest.Forest`, whose array names these are: rounded
    to ``precision``, where ``x <= threshold``; a missing value (NaN, and values around zero where
    ``zero_missing``) where ``default_left``; a category where it is in the bit set, and where
    ``unseen_left`` if it lies outside the set's range. A threshold of infinity that sends missing
    values right asks "is it missing?".

    Parameters
    ----------
    feature
        The model's column each node asks about; -1 at leaves.
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
    lower, upper
        As ``value``: what the ensemble's raw prediction lies between in the leaf; equal to
        ``value`` where that is exact.
    certified
        At leaves: whether the outcome is proved for every row that gets there. Leaves that are
        not certified are answered by the ensemble. True at inner nodes.
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
    threshold: NDArray[np.float64]
    default_left: NDArray[np.bool_]
    zero_missing: NDArray[np.bool_]
    category_start: NDArray[np.int32]
    category_size: NDArray[np.int32]
    category_words: NDArray[np.uint32]
    unseen_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    outcome: NDArray[np.int32]
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    certified: NDArray[np.bool_]
    precision: Precision
    n_features: int

    def __post_init__(self) -> None:
        for name, dtype in _NODE_ARRAYS.items():
            self._freeze(name, dtype)
        self._freeze("category_words", np.uint32)
        for name in ("value", "lower", "upper"):
            self._freeze(name, np.float64)
        self._check()

    def _freeze(self, name: str, dtype: type) -> None:
        given = getattr(self, name)
        array: NDArray[Any] = np.ascontiguousarray(given, dtype=dtype)
        if array is given and array.flags.writeable:
            array = array.copy()  # the caller may go on writing to its own array
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check(self) -> None:
        n = len(self.feature)
        for name in (*_NODE_ARRAYS, "value", "lower", "upper"):
            if len(getattr(self, name)) != n:
                raise InputError(
                    f"diagram array {name!r} has {len(getattr(self, name))} entries; expected {n}"
                )
        if n == 0:
            raise InputError("the diagram has no nodes")
        if self.value.ndim != 2 or not self.value.shape == self.lower.shape == self.upper.shape:
            raise InputError("value, lower and upper must be (nodes, outputs)")
        inner = np.flatnonzero(self.feature >= 0)
        if (self.feature >= self.n_features).any():
            raise InputError(
                f"a node asks about column {int(self.feature.max())}; "
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
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.feature < 0)

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which nodes ask for a category."""
        return np.asarray(self.category_start >= 0)

    @cached_property
    def n_leaves(self) -> int:
        """How many leaves it has as a tree, counted without unfolding it."""
        count = [1] * self.n_nodes
        left, right = self.left.tolist(), self.right.tolist()
        for node in range(self.n_nodes - 1, -1, -1):
            if left[node] >= 0:
                count[node] = count[left[node]] + count[right[node]]
        return count[0]

    @cached_property
    def depth(self) -> int:
        """The most questions any row is asked."""
        depth = [0] * self.n_nodes
        left, right = self.left.tolist(), self.right.tolist()
        for node in range(self.n_nodes - 1, -1, -1):
            if left[node] >= 0:
                depth[node] = 1 + max(depth[left[node]], depth[right[node]])
        return depth[0]

    def category_set(self, node: int) -> tuple[int, ...]:
        """Give the categories that go left at a categorical node."""
        start, size = self.category_start[node], self.category_size[node]
        words = self.category_words[start : start + size] if start >= 0 else np.empty(0, np.uint32)
        bits = np.unpackbits(np.ascontiguousarray(words, "<u4").view(np.uint8), bitorder="little")
        return tuple(int(category) for category in np.flatnonzero(bits))

    def goes_left(self, nodes: NDArray[np.intp], x: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Say for pairs of an inner node and a value of its column whether it goes left."""
        # the rule reads arrays that both have, under the same names
        like: Any = self
        return goes_left(like, nodes, rounded(like, x))

    def apply(self, X: NDArray[np.float64]) -> NDArray[np.int32]:
        """Give the leaf each row of a matrix of the model's columns reaches."""
        node = np.zeros(len(X), np.intp)
        rows = np.flatnonzero(~self.is_leaf[node])
        while len(rows):
            at = node[rows]
            left = self.goes_left(at, X[rows, self.feature[at]])
            node[rows] = np.where(left, self.left[at], self.right[at])
            rows = rows[~self.is_leaf[node[rows]]]
        return node.astype(np.int32)

    def questions(self, X: NDArray[np.float64]) -> NDArray[np.int32]:
        """Give how many questions each row of a matrix of the model's columns is asked."""
        node = np.zeros(len(X), np.intp)
        asked = np.zeros(len(X), np.int32)
        rows = np.flatnonzero(~self.is_leaf[node])
        while len(rows):
            at = node[rows]
            asked[rows] += 1
            left = self.goes_left(at, X[rows, self.feature[at]])
            node[rows] = np.where(left, self.left[at], self.right[at])
            rows = rows[~self.is_leaf[node[rows]]]
        return asked

    def equals(self, other: "Diagram") -> bool:
        """Whether two diagrams hold the same arrays."""
        for item in fields(self):
            mine, theirs = getattr(self, item.name), getattr(other, item.name)
            if isinstance(mine, np.ndarray):
                if not np.array_equal(mine, theirs, equal_nan=mine.dtype.kind == "f"):
                    return False
            elif mine != theirs:
                return False
        return True

    def __repr__(self) -> str:
        nodes = f"{self.n_nodes} node{'s' * (self.n_nodes != 1)}"
        leaves = f"{self.n_leaves} {'leaf' if self.n_leaves == 1 else 'leaves'}"
        return f"Diagram of {nodes}: as a tree {leaves}, depth {self.depth}"
