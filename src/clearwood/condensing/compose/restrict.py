"""A forest cut down to a part of the space."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Index
from clearwood.condensing.compose.atoms import Atoms
from clearwood.condensing.compose.kernel import Box
from clearwood.forest import Forest, arrays_at

__all__ = ["restricted"]


def restricted(forest: Forest, atoms: Atoms, box: Box) -> Forest:
    """Drop the branches that no row of a box takes; predictions inside the box stay the same."""
    goes_to = _followed(forest, atoms, box)
    keep = np.zeros(forest.n_nodes, bool)
    keep[goes_to[forest.roots]] = True
    inner = np.flatnonzero(~forest.is_leaf)
    for node in inner:  # parents come before their children
        if keep[node] and goes_to[node] == node:
            keep[goes_to[forest.left[node]]] = True
            keep[goes_to[forest.right[node]]] = True
    kept = np.flatnonzero(keep)
    number = np.full(forest.n_nodes, -1, np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)

    def child(side: NDArray[np.int32]) -> NDArray[np.int32]:
        below = side[kept]
        return np.where(below < 0, np.int32(-1), number[goes_to[below]])

    return replace(
        forest,
        roots=number[goes_to[forest.roots]],
        left=child(forest.left),
        right=child(forest.right),
        **arrays_at(forest, kept),
    )


def _followed(forest: Forest, atoms: Atoms, box: Box) -> Index:
    """Return the node that every node stands for: itself, or where its one open side leads."""
    low, high, missing = box.low, box.high, box.missing
    goes_to = np.arange(forest.n_nodes)
    for node in np.flatnonzero(~forest.is_leaf)[::-1]:
        j = forest.feature[node]
        if atoms.columns[j].is_set:
            continue
        cut, nan_left = atoms.cut[node], bool(atoms.default_left[node])
        nan = bool(missing[j])
        left = low[j] <= min(high[j], cut) or (nan and nan_left)
        right = max(low[j], cut + 1) <= high[j] or (nan and not nan_left)
        if left and not right:
            goes_to[node] = goes_to[forest.left[node]]
        elif right and not left:
            goes_to[node] = goes_to[forest.right[node]]
    return goes_to
