"""Putting the trees of a library together into the arrays of a forest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.forest import Forest

__all__ = ["Tree", "assemble", "bit_words"]


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree as a library numbers its nodes, root first.

    Parameters
    ----------
    left, right
        Children; negative at leaves. Nodes may come in any order; unreachable ones are dropped.
    feature, threshold, default_left, value, cover
        As in `Forest`, ``value`` of shape (nodes, columns).
    categories
        Bit sets of the categorical nodes.
    unseen_left, zero_missing
        As in `Forest`; False everywhere where None.
    output
        The output it adds to, -1 for all.
    weight
        What its values are multiplied with.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: NDArray[Any]
    default_left: NDArray[Any]
    value: NDArray[Any]
    cover: NDArray[Any]
    categories: dict[int, NDArray[np.uint32]] | None = None
    unseen_left: NDArray[Any] | None = None
    zero_missing: NDArray[Any] | None = None
    output: int = -1
    weight: float = 1.0


def bit_words(categories: Sequence[int] | NDArray[Any], n_bits: int) -> NDArray[np.uint32]:
    """Pack a set of categories into 32-bit words that cover ``n_bits`` categories.

    Examples
    --------
    >>> bit_words([0, 2, 33], 40)
    array([5, 2], dtype=uint32)
    """
    bits = np.zeros(-(-n_bits // 32) * 32, np.uint8)
    bits[np.asarray(categories, np.int64)] = 1
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def assemble(trees: Sequence[Tree], **settings: Any) -> Forest:
    """Concatenate trees; children end up after their parent and unreachable nodes are dropped.

    Parameters
    ----------
    trees
        In the order in which the library adds them.
    **settings
        The other fields of `Forest`.
    """
    if not trees:
        raise InputError("the model has no trees", hint="fit it with at least one iteration.")
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _PER_NODE}
    words: list[NDArray[np.uint32]] = []
    roots, start, n_words = [], 0, 0
    for tree in trees:
        order = _order(tree.left, tree.right)
        new = np.full(len(tree.left) + 1, -1, np.int64)  # the last entry answers child -1
        new[order] = np.arange(len(order)) + start
        leaf = np.asarray(tree.left)[order] < 0
        parts["left"].append(np.where(leaf, -1, new[np.asarray(tree.left)[order]]))
        parts["right"].append(np.where(leaf, -1, new[np.asarray(tree.right)[order]]))
        parts["feature"].append(np.where(leaf, -1, np.asarray(tree.feature)[order]))
        threshold = np.asarray(tree.threshold, np.float64)[order]
        parts["threshold"].append(np.where(leaf, 0.0, threshold))
        parts["value"].append(np.where(leaf[:, None], np.asarray(tree.value)[order], 0.0))
        parts["cover"].append(np.asarray(tree.cover, np.float64)[order])
        for name, flags in (
            ("default_left", tree.default_left),
            ("unseen_left", tree.unseen_left),
            ("zero_missing", tree.zero_missing),
        ):
            flag = np.zeros(len(order), bool) if flags is None else np.asarray(flags, bool)[order]
            parts[name].append(flag & ~leaf)
        set_start = np.full(len(order), -1, np.int64)
        set_size = np.zeros(len(order), np.int64)
        for node, bits in (tree.categories or {}).items():
            if new[node] < 0:
                continue
            set_start[new[node] - start], set_size[new[node] - start] = n_words, len(bits)
            words.append(bits)
            n_words += len(bits)
        parts["category_start"].append(set_start)
        parts["category_size"].append(set_size)
        roots.append(start)
        start += len(order)
    settings.setdefault("tree_weight", [tree.weight for tree in trees])
    per_node: dict[str, Any] = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return Forest(
        roots=np.array(roots, np.int32),
        tree_output=np.array([tree.output for tree in trees], np.int32),
        category_words=np.concatenate([*words, np.empty(0, np.uint32)]),
        **per_node,
        **settings,
    )


_PER_NODE = (
    "left",
    "right",
    "feature",
    "threshold",
    "value",
    "cover",
    "default_left",
    "unseen_left",
    "zero_missing",
    "category_start",
    "category_size",
)


def _order(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.intp]:
    """Give reachable nodes so that children follow parents: the library's order where it does."""
    left, right = np.asarray(left), np.asarray(right)
    inner = np.flatnonzero(left >= 0)
    rises = (left[inner] > inner).all() and (right[inner] > inner).all()
    if rises and len(left) == 2 * len(inner) + 1:
        return np.arange(len(left))
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if left[node] >= 0:
            stack += [int(right[node]), int(left[node])]
    return np.array(order, np.intp)
