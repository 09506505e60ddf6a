"""Assembly of the trees that an importer reads into the arrays of a forest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.forest import Forest

__all__ = ["CategorySets", "Trees", "assemble", "levels", "no_trees", "spans"]


@dataclass(frozen=True, eq=False)
class CategorySets:
    """Bit sets of categorical nodes, one after another."""

    node: NDArray[Any]  # the node of each set, counted over all trees
    size: NDArray[Any]  # words of each set
    words: NDArray[np.uint32]  # bit c % 32 of word c // 32 of a set is category c

    @classmethod
    def of_categories(
        cls, node: NDArray[Any], count: NDArray[Any], categories: NDArray[Any]
    ) -> "CategorySets":
        """Pack lists of categories, one after another, into as few words as hold the largest.

        Examples
        --------
        >>> node, count, categories = np.array([4, 7]), np.array([1, 2]), np.array([2, 0, 33])
        >>> sets = CategorySets.of_categories(node, count, categories)
        >>> sets.size, sets.words
        (array([1, 2]), array([4, 1, 2], dtype=uint32))
        """
        owner = np.repeat(np.arange(len(node)), count)
        size = np.zeros(len(node), np.int64)
        np.maximum.at(size, owner, categories // 32 + 1)
        words = np.zeros(size.sum(), np.uint32)
        at = (np.cumsum(size) - size)[owner] + categories // 32
        np.bitwise_or.at(words, at, np.uint32(1) << (categories % 32).astype(np.uint32))
        return cls(node, size, words)

    def at(self, kept: NDArray[np.bool_], node: NDArray[Any]) -> "CategorySets":
        """Return some of the sets, with new numbers of their nodes."""
        return CategorySets(node[kept], self.size[kept], self.words[np.repeat(kept, self.size)])


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as a library numbers their nodes, one tree after another, each root first.

    Fields are as in `Forest`. Children are counted from the root of their tree, and nodes may come
    in any order; unreachable ones are dropped. Leaves may hold anything but a value.
    """

    sizes: Sequence[int] | NDArray[Any]  # nodes of each tree, in the order the trees are added
    left: NDArray[Any]  # negative at leaves
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: NDArray[Any]
    default_left: NDArray[Any]
    value: NDArray[Any]  # of shape (nodes,) or (nodes, columns)
    cover: NDArray[Any]
    sets: CategorySets | None = None
    unseen_left: NDArray[Any] | None = None  # False everywhere where None
    zero_missing: NDArray[Any] | None = None
    output: int | Sequence[int] | NDArray[Any] = -1  # the output each tree adds to, -1 for all
    weight: float | Sequence[float] | NDArray[Any] = 1.0  # the factor of each tree's values

    @classmethod
    def of(cls, parts: "Sequence[Trees]") -> "Trees":
        """Join trees that were read one by one."""
        if not parts:
            raise no_trees()

        def joined(name: str) -> NDArray[Any]:
            given = [getattr(part, name) for part in parts]
            return np.concatenate(
                [
                    np.zeros(len(part.left), bool) if values is None else np.asarray(values)
                    for part, values in zip(parts, given, strict=True)
                ]
            )

        starts = np.cumsum([0, *(len(part.left) for part in parts)])
        none = CategorySets(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint32))
        sets = [part.sets or none for part in parts]
        return cls(
            sizes=np.concatenate([part.sizes for part in parts]),
            sets=CategorySets(
                np.concatenate([own.node + at for own, at in zip(sets, starts, strict=False)]),
                np.concatenate([own.size for own in sets]),
                np.concatenate([own.words for own in sets]),
            ),
            output=np.concatenate([np.full(len(part.sizes), part.output) for part in parts]),
            weight=np.concatenate([np.full(len(part.sizes), part.weight) for part in parts]),
            **{name: joined(name) for name in _PER_NODE},
        )

    def first(self, n_trees: int | None) -> "Trees":
        """Return the first trees; all of them if None."""
        if n_trees is None or n_trees >= len(self.sizes):
            return self
        sizes = np.asarray(self.sizes)[:n_trees]
        end = int(sizes.sum())
        kept: dict[str, Any] = {"sizes": sizes}
        for name in _PER_NODE:
            values = getattr(self, name)
            kept[name] = None if values is None else values[:end]
        for name in ("output", "weight"):
            values = np.asarray(getattr(self, name))
            kept[name] = values if values.ndim == 0 else values[:n_trees]
        return replace(
            self,
            sets=None if self.sets is None else self.sets.at(self.sets.node < end, self.sets.node),
            **kept,
        )


_PER_NODE = (
    "left",
    "right",
    "feature",
    "threshold",
    "default_left",
    "value",
    "cover",
    "unseen_left",
    "zero_missing",
)


def spans(first: NDArray[Any], count: NDArray[Any]) -> NDArray[np.int64]:
    """Return the whole numbers of several spans, one span after another.

    Examples
    --------
    >>> spans(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    begin = np.cumsum(count) - count
    return np.asarray(np.arange(count.sum()) + np.repeat(first - begin, count))


def no_trees() -> InputError:
    """Make the error for a model without trees."""
    return InputError("the model has no trees", hint="fit it with at least one iteration.")


def assemble(trees: Trees | Sequence[Trees], **settings: Any) -> Forest:
    """Build a forest; children are put after their parent and unreachable nodes are dropped.

    ``settings`` are the other fields of `Forest`.
    """
    if not isinstance(trees, Trees):
        trees = Trees.of(trees)
    sizes = np.asarray(trees.sizes, np.int64)
    if len(sizes) == 0:
        raise no_trees()
    if sizes.min() < 1:
        raise InputError(f"tree {int(sizes.argmin())} of the model has no nodes")
    roots = np.cumsum(sizes) - sizes
    leaf = np.asarray(trees.left) < 0
    # a forest has fewer than 2**31 nodes
    start, none = np.repeat(roots.astype(np.int32), sizes), np.int32(-1)
    left = np.where(leaf, none, trees.left + start)
    right = np.where(leaf, none, trees.right + start)
    order, place = _order(left, right, roots, sizes)
    if order is not None and place is not None:
        roots, leaf = place[roots], leaf[order]
        left = np.where(leaf, none, place[left[order]])
        right = np.where(leaf, none, place[right[order]])
    inner = ~leaf

    def at(values: NDArray[Any]) -> NDArray[Any]:
        return values if order is None else values[order]

    def flag(values: NDArray[Any] | None) -> NDArray[np.bool_]:
        return np.zeros(len(leaf), bool) if values is None else at(values).astype(bool) & inner

    value, zero = at(trees.value), np.float64(0)
    value = np.where(leaf if value.ndim == 1 else leaf[:, None], value, zero)
    arrays: dict[str, Any] = {
        "roots": roots.astype(np.int32),
        "left": left.astype(np.int32, copy=False),
        "right": right.astype(np.int32, copy=False),
        "feature": np.where(leaf, none, at(trees.feature)).astype(np.int32, copy=False),
        "threshold": np.where(leaf, zero, at(trees.threshold)),
        "value": value.reshape(len(leaf), -1),
        "cover": at(trees.cover).astype(np.float64),
        "default_left": flag(trees.default_left),
        "unseen_left": flag(trees.unseen_left),
        "zero_missing": flag(trees.zero_missing),
        "tree_output": np.full(len(sizes), trees.output, np.int32),
        "tree_weight": np.full(len(sizes), trees.weight, np.float64),
        **_category_arrays(trees.sets, place, len(leaf)),
    }
    for array in arrays.values():
        array.flags.writeable = False  # the forest need not copy what nobody else can write to
    return Forest(**arrays, **settings)


def _category_arrays(
    sets: CategorySets | None, place: NDArray[Any] | None, n_nodes: int
) -> dict[str, NDArray[Any]]:
    start, size = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
    words = np.empty(0, np.uint32)
    if sets is not None:
        node = sets.node if place is None else place[sets.node]
        sets = sets.at(node >= 0, node)
        size[sets.node], start[sets.node] = sets.size, np.cumsum(sets.size) - sets.size
        words = sets.words.astype(np.uint32)
    return {"category_start": start, "category_size": size, "category_words": words}


def _order(
    left: NDArray[Any], right: NDArray[Any], roots: NDArray[Any], sizes: NDArray[Any]
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return the reachable nodes so that children follow parents, and the new place of each node.

    Trees whose children follow already and that have no unreachable nodes keep their order; the
    others are put into depth-first order, left before right. None if nothing has to move.
    """
    node = np.arange(len(left), dtype=left.dtype)
    inner = left >= 0
    falls = inner & ((left <= node) | (right <= node))
    if 2 * np.count_nonzero(inner) == len(left) - len(roots) and not falls.any():
        return None, None
    n_inner = np.add.reduceat(inner, roots, dtype=np.int64)
    moved = np.logical_or.reduceat(falls, roots) | (sizes != 2 * n_inner + 1)
    _check_children(left, right, roots, sizes)
    by_level = levels(left, right, roots[moved])
    below = np.ones(len(left), np.int64)  # nodes of the subtree, itself included
    for level in reversed(by_level):
        above = level[left[level] >= 0]
        below[above] += below[left[above]] + below[right[above]]
    kept = np.where(moved, below[roots], sizes)
    new_roots = np.cumsum(kept) - kept
    place = np.where(np.repeat(moved, sizes), -1, node + np.repeat(new_roots - roots, sizes))
    place[roots] = new_roots
    for level in by_level:
        above = level[left[level] >= 0]
        place[left[above]] = place[above] + 1
        place[right[above]] = place[above] + 1 + below[left[above]]
    order = np.empty(kept.sum(), np.int64)
    reached = np.flatnonzero(place >= 0)
    order[place[reached]] = reached
    return order, place


def _check_children(
    left: NDArray[Any], right: NDArray[Any], roots: NDArray[Any], sizes: NDArray[Any]
) -> None:
    first, last = np.repeat(roots, sizes), np.repeat(roots + sizes, sizes)
    inner = left >= 0
    for child in (left, right):
        wrong = inner & ((child < first) | (child >= last))
        if wrong.any():
            tree = int(np.searchsorted(roots, np.flatnonzero(wrong)[0], side="right")) - 1
            raise InputError(f"tree {tree} of the model has a node whose child is not in the tree")


def levels(left: NDArray[Any], right: NDArray[Any], roots: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Return the nodes of trees level by level, each level from left to right."""
    result: list[NDArray[np.int64]] = []
    met = np.zeros(len(left), bool)
    level, n_met = np.asarray(roots, np.int64), 0
    while len(level):
        met[level] = True
        n_met += len(level)
        if n_met > len(left):
            break
        result.append(level)
        inner = level[left[level] >= 0]
        level = np.column_stack([left[inner], right[inner]]).ravel().astype(np.int64)
    if n_met != np.count_nonzero(met):
        raise InputError("a tree of the model has a node with several parents")
    return result
