"""A decision diagram in ranks: what the composer builds, before thresholds are filled in."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.condensing.compose.atoms import Atoms
from clearwood.condensing.tree.diagram import Diagram, leaf_counts
from clearwood.forest import Forest, links, raw_of_leaves

__all__ = ["Composed", "composed_of_tree"]

_VALUES = ("value", "low", "high")


@dataclass(frozen=True, eq=False, kw_only=True)
class Composed:
    """A diagram whose questions are ranks of `Atoms`; children come after their parents."""

    feature: NDArray[np.int32]  # the model's column at each node; -1 at leaves
    cut: NDArray[np.int32]  # rank of the threshold, or the number of the set of places
    # interval columns: whether missing values go left; set columns: whether the sides of the set
    # are exchanged
    default_left: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    outcome: NDArray[np.int32]  # position of the class at certified leaves of a diagram of classes
    # one row a node: the raw prediction and its bounds; no columns in a diagram of classes
    value: Floats
    low: Floats
    high: Floats
    certified: Bools  # whether the outcome or value of a leaf is proved

    @cached_property
    def n_leaves(self) -> int:
        """How many leaves it has as a tree."""
        return leaf_counts(self.left, self.right)[0]

    def of_classes(self) -> "Composed":
        """Turn a diagram of scores into one of classes.

        The class of a leaf is that of its largest score, the first among equals, as `predict`
        has it.
        """
        scores = np.nan_to_num(self.value, nan=-np.inf)
        decided = (self.left < 0) & self.certified
        nothing = np.empty((len(self.left), 0))
        outcome = np.where(decided, np.argmax(scores, axis=1), -1).astype(np.int32)
        return replace(self, outcome=outcome, value=nothing, low=nothing, high=nothing).merged()

    def merged(self) -> "Composed":
        """Keep equal branches once, and drop questions between equal branches."""
        left, right = self.left.tolist(), self.right.tolist()
        at_leaf = [
            *(getattr(self, name).tolist() for name in ("outcome", "certified")),
            *([row.tobytes() for row in getattr(self, name)] for name in _VALUES),
        ]
        question = [getattr(self, name).tolist() for name in ("feature", "cut", "default_left")]
        # the last of equal nodes stands for all: it comes after the parents of every one of them
        stands_for = list(range(len(left)))
        known: dict[tuple[Any, ...], int] = {}
        for node in range(len(left) - 1, -1, -1):
            if left[node] < 0:
                key = tuple(part[node] for part in at_leaf)
            else:
                children = stands_for[left[node]], stands_for[right[node]]
                if children[0] == children[1]:
                    stands_for[node] = children[0]
                    continue
                key = (*(part[node] for part in question), *children)
            stands_for[node] = known.setdefault(key, node)
        kept = _reached(stands_for, left, right)
        number = {node: k for k, node in enumerate(kept)}

        def renumbered(side: list[int]) -> NDArray[np.int32]:
            below = [-1 if side[node] < 0 else number[stands_for[side[node]]] for node in kept]
            return np.array(below, np.int32)

        unchanged = ("feature", "cut", "default_left", "certified", "outcome", *_VALUES)
        return Composed(
            **{name: getattr(self, name)[kept] for name in unchanged},
            left=renumbered(left),
            right=renumbered(right),
        )

    def diagram(self, forest: Forest, atoms: Atoms) -> Diagram:
        """Write ranks as the thresholds and sets of categories of the forest."""
        feature, cut = self.feature, self.cut
        n = len(feature)
        default_left = self.default_left.astype(bool)
        left, right = self.left.copy(), self.right.copy()
        split: dict[str, NDArray[Any]] = {
            "threshold": np.zeros(n),
            "zero_missing": np.zeros(n, bool),
            "unseen_left": np.zeros(n, bool),
            "category_start": np.full(n, -1, np.int32),
            "category_size": np.zeros(n, np.int32),
        }
        for j in np.unique(feature[feature >= 0]):
            column = atoms.columns[j]
            at = np.flatnonzero(feature == j)
            if column.is_set:
                # written as the forest has it; the kernel may have exchanged the sides
                node = atoms.set_node[cut[at]]
                exchanged = at[default_left[at]]
                left[exchanged], right[exchanged] = right[exchanged], left[exchanged]
                for name, values in split.items():
                    values[at] = getattr(forest, name)[node]
                default_left[at] = forest.default_left[node]
            else:
                split["threshold"][at] = np.append(column.cuts, np.inf)[cut[at]]
                if column.missing_rank >= 0:
                    default_left[at] = column.missing_rank <= cut[at]
        held = {name: getattr(self, name) for name in ("feature", "outcome", "certified", *_VALUES)}
        return Diagram(
            **held,
            **split,
            default_left=default_left & (feature >= 0),
            category_words=forest.category_words,
            left=left,
            right=right,
            precision=forest.precision,
            n_features=forest.n_features,
        )


def _reached(stands_for: list[int], left: list[int], right: list[int]) -> list[int]:
    waiting, seen = [stands_for[0]], {stands_for[0]}
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            continue
        for child in (stands_for[left[node]], stands_for[right[node]]):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return sorted(seen)


def composed_of_tree(forest: Forest, atoms: Atoms, *, values: bool) -> Composed:
    """Return the one tree of a forest in ranks, with equal branches kept once.

    The composer splits where most is decided at once. For a tree grown deep that can give more
    leaves than the tree has. With ``values`` leaves hold the raw prediction, else the class.
    """
    n = forest.n_nodes
    leaf = forest.is_leaf
    raw = raw_of_leaves(forest, np.arange(n, dtype=np.int32)[:, None])
    outcome = np.full(n, -1)
    if not values:
        assert forest.classes is not None
        position = {label: k for k, label in enumerate(forest.classes.tolist())}
        labels = links.predict(forest, raw[:, 0] if forest.n_outputs == 1 else raw)
        outcome = np.where(leaf, [position[label] for label in labels.tolist()], -1)
    is_set = np.array([column.is_set for column in atoms.columns], bool)
    of_set = ~leaf & is_set[np.where(leaf, 0, forest.feature)]
    value = np.where(leaf[:, None], raw, np.nan) if values else np.empty((n, 0))
    return Composed(
        feature=np.where(leaf, -1, forest.feature).astype(np.int32),
        cut=atoms.cut,
        # in a set column this would mean that the sides are exchanged
        default_left=np.where(of_set, 0, atoms.default_left).astype(np.int32),
        left=forest.left,
        right=forest.right,
        outcome=outcome.astype(np.int32),
        value=value,
        low=value,
        high=value,
        certified=np.ones(n, bool),
    ).merged()
