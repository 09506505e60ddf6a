"""Parts of a forest: some of its nodes or trees."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.nodes import SPLIT_ARRAYS

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["arrays_at", "select"]


def arrays_at(forest: "Forest", nodes: NDArray[Any]) -> dict[str, Any]:
    """Return the fields of some nodes, except their children, whose numbers change."""
    return {name: getattr(forest, name)[nodes] for name in (*SPLIT_ARRAYS, "value", "cover")}


def select(forest: "Forest", trees: Sequence[int]) -> "Forest":
    """Return the forest of some trees, in the given order."""
    chosen = np.asarray(trees, np.int64)
    if len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= forest.n_trees:
        raise InputError(
            f"trees are numbered 0 to {forest.n_trees - 1}; got {list(trees)}",
            parameter="trees",
            value=list(trees),
        )
    ends = np.append(forest.roots[1:], forest.n_nodes)
    sizes = (ends - forest.roots)[chosen]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    nodes = np.concatenate([np.arange(forest.roots[t], ends[t]) for t in chosen])
    shift = np.repeat(roots - forest.roots[chosen], sizes)

    def moved(child: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(child[nodes] < 0, -1, child[nodes] + shift).astype(np.int32)

    return replace(
        forest,
        roots=roots,
        left=moved(forest.left),
        right=moved(forest.right),
        tree_output=forest.tree_output[chosen],
        divisor=np.empty(0),
        tree_weight=forest.tree_weight[chosen],
        **arrays_at(forest, nodes),
    )
