"""How far a tree is pruned: weakest links, and their risk on held-out rows.

A full tree has a sequence of pruned trees, one for each range of the penalty per leaf. Each is
evaluated on held-out folds (Hiabu 2024, section 5.2).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.models.catalogue.trees.tree import CartTree

__all__ = ["HeldOut", "choose", "geometric_middles", "held_out", "risks", "sizes"]


@dataclass(frozen=True)
class HeldOut:
    """Weighted sums over held-out rows of the loss and its square, one for each penalty."""

    total: Floats
    squares: Floats
    weight: float


def geometric_middles(levels: Floats) -> Floats:
    """One penalty inside each range over which the pruned tree stays the same.

    These are β_j = √(α_j α_{j+1}) of Hiabu (2024), section 5.2, from the full tree to the root;
    the last range has no upper end, so twice its lower end stands for it.

    Examples
    --------
    >>> geometric_middles(np.array([4.0, -np.inf, 1.0, np.inf]))
    array([0., 2., 8.])
    """
    steps = np.unique(levels[np.isfinite(levels) & (levels > 0)])
    steps = np.concatenate([[0.0], steps, steps[-1:] * 4 if steps.size else [1.0]])
    # the product itself could be too small, or too large, for a number
    return np.asarray(np.sqrt(steps[:-1]) * np.sqrt(steps[1:]))


def held_out(
    tree: CartTree,
    leaves: NDArray[np.int32],
    losses: Callable[[Index, Index], Floats],
    weights: Floats,
    penalties: Floats,
) -> HeldOut:
    """Add up the loss of the tree pruned at each of many penalties, all in one walk.

    A row stops at the first node on its path that is a leaf at the penalty. The penalties that
    stop it at a node form a range, so each node of its path adds the row's loss to one range.

    Parameters
    ----------
    tree
        The full tree of a fold.
    leaves
        The leaf of each held-out row.
    losses
        Loss of rows that stop at nodes, from nodes and rows.
    weights
        Weights of the rows.
    penalties
        In rising order.
    """
    start, stop = _ranges(tree, penalties)
    parent = tree.parent
    counts = start < stop
    nodes, rows = [], []
    at, row = leaves.astype(np.intp), np.arange(len(leaves))
    while len(at):
        kept = counts[at]
        nodes.append(at[kept])
        rows.append(row[kept])
        at = parent[at]
        row, at = row[at >= 0], at[at >= 0]
    ends, row = np.concatenate(nodes), np.concatenate(rows)
    loss = losses(ends, row)
    return HeldOut(
        total=_added_over_ranges(weights[row] * loss, start[ends], stop[ends], len(penalties)),
        squares=_added_over_ranges(weights[row] * loss**2, start[ends], stop[ends], len(penalties)),
        weight=float(weights.sum()),
    )


def _ranges(tree: CartTree, penalties: Floats) -> tuple[Index, Index]:
    """Return the penalties, from the first to before the second, at which each node is a leaf."""
    start = np.searchsorted(penalties, tree.levels())
    stop = np.full(tree.n_nodes, len(penalties))
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            stop[node] = min(stop[above], start[above])
    return start, stop


def sizes(tree: CartTree, penalties: Floats) -> Index:
    """Return the number of leaves of the tree pruned at each penalty."""
    start, stop = _ranges(tree, penalties)
    ends = start < stop
    counts = _added_over_ranges(np.ones(ends.sum()), start[ends], stop[ends], len(penalties))
    return counts.astype(np.intp)


def _added_over_ranges(values: Floats, start: Index, stop: Index, n: int) -> Floats:
    """Add each value to a range of places."""
    ends = np.bincount(start, values, n + 1) - np.bincount(stop, values, n + 1)
    return np.cumsum(ends)[:n]


def risks(folds: Iterable[HeldOut]) -> tuple[Floats, Floats]:
    """Return the mean loss over all held-out rows, and its standard error, for every penalty."""
    folds = list(folds)
    weight = sum(fold.weight for fold in folds)
    mean = sum((fold.total for fold in folds), np.zeros(1)) / weight
    second = sum((fold.squares for fold in folds), np.zeros(1)) / weight
    return mean, np.sqrt(np.maximum(second - mean**2, 0.0) / weight)


def choose(penalties: Floats, risk: Floats, error: Floats, *, one_se: bool) -> float:
    """Return the largest penalty whose risk is the smallest, or within one error of it.

    Examples
    --------
    >>> risk, error = np.array([3.0, 2.0, 2.5]), np.full(3, 0.6)
    >>> choose(np.array([0.0, 1.0, 9.0]), risk, error, one_se=True)
    9.0
    """
    best = int(np.argmin(risk))
    allowed = risk[best] + (error[best] if one_se else 0.0)
    return float(penalties[np.flatnonzero(risk <= allowed)[-1]])
