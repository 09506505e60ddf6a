"""Weakest-link pruning of a fitted scikit-learn tree, and its risk on held-out rows."""

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index

__all__ = ["HeldOut", "collapse_levels", "geometric_middles", "held_out_losses"]


def collapse_levels(tree: Any) -> Floats:
    """Penalty per leaf from which each node of a tree is a leaf of the pruned tree.

    Repeatedly the node whose subtree gains least per leaf is turned into a leaf (Hiabu 2024,
    section 5.2, the weakest-link algorithm). scikit-learn prunes the same way but only for one
    penalty per fitted tree; with the levels one tree serves all penalties.

    Parameters
    ----------
    tree
        The ``tree_`` of a fitted scikit-learn tree.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Minus infinity for the leaves, infinity for nodes that vanish with a node above them.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = np.arange(4.0)[:, None], np.array([0.0, 0.0, 2.0, 6.0])
    >>> collapse_levels(DecisionTreeRegressor().fit(X, y).tree_).round(3)
    array([5.333, 0.667, -inf, -inf, -inf])
    """
    left, right = tree.children_left, tree.children_right
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    inner = left >= 0
    parent = np.full(tree.node_count, -1)
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)

    # a child always has a larger number than its parent, so backwards means bottom-up
    subtree_risk, leaves = risk.copy(), np.ones(tree.node_count, dtype=np.intp)
    for node in np.flatnonzero(inner)[::-1]:
        subtree_risk[node] = subtree_risk[left[node]] + subtree_risk[right[node]]
        leaves[node] = leaves[left[node]] + leaves[right[node]]

    def gain_per_leaf(node: int) -> float:
        return float((risk[node] - subtree_risk[node]) / (leaves[node] - 1))

    levels = np.where(inner, np.inf, -np.inf)
    is_leaf = ~inner
    gains = {int(node): gain_per_leaf(int(node)) for node in np.flatnonzero(inner)}
    queue = [(gain, node) for node, gain in gains.items()]
    heapq.heapify(queue)
    penalty = 0.0
    while not is_leaf[0]:
        gain, node = heapq.heappop(queue)
        if is_leaf[node] or gain != gains[node] or _vanished(node, parent, is_leaf):
            continue
        # in exact arithmetic gains never fall along the sequence; rounding must not make them
        penalty = max(penalty, gain)
        levels[node], is_leaf[node] = penalty, True
        more_risk, fewer_leaves = risk[node] - subtree_risk[node], leaves[node] - 1
        above = parent[node]
        while above >= 0:
            subtree_risk[above] += more_risk
            leaves[above] -= fewer_leaves
            gains[int(above)] = gain_per_leaf(int(above))
            heapq.heappush(queue, (gains[int(above)], int(above)))
            above = parent[above]
    return levels


def _vanished(node: int, parent: Index, is_leaf: Bools) -> bool:
    above = parent[node]
    while above >= 0:
        if is_leaf[above]:
            return True
        above = parent[above]
    return False


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
    return np.sqrt(steps[:-1] * steps[1:])


@dataclass(frozen=True)
class HeldOut:
    """Losses of every pruned tree on held-out rows, added up.

    Parameters
    ----------
    total, squares
        Weighted sums over rows of the loss and of its square, one for each penalty.
    weight
        Sum of the rows' weights.
    """

    total: Floats
    squares: Floats
    weight: float


def held_out_losses(
    tree: Any,
    X: NDArray[Any],
    losses: Any,
    weights: Floats,
    penalties: Floats,
) -> HeldOut:
    """Loss of the tree pruned at each of many penalties, all in one walk down the tree.

    A row stops at the first node on its path that is a leaf at the penalty. Going down, the
    penalties that stop there form a range, so each visit adds the row's loss to one range.

    Parameters
    ----------
    tree
        The ``tree_`` of a fitted scikit-learn tree.
    X
        The held-out rows.
    losses
        Called with node numbers and row numbers; the loss of predicting each row's target by
        the value of the node.
    weights
        One for each row.
    penalties
        In increasing order.
    """
    levels = collapse_levels(tree)
    first = np.searchsorted(penalties, levels)  # from here on the node is a leaf
    path = tree.decision_path(np.asarray(X, dtype=np.float32)).tocsr()
    rows = np.repeat(np.arange(path.shape[0]), np.diff(path.indptr))
    # columns of a path are in increasing order, which is the order of depth
    nodes = path.indices
    start = first[nodes]
    stop = np.empty_like(start)
    lowest = np.full(path.shape[0], len(penalties))
    order = np.arange(len(nodes)) - path.indptr[rows]
    for depth in range(int(order.max()) + 1):
        here = order == depth
        stop[here] = lowest[rows[here]]
        lowest[rows[here]] = np.minimum(lowest[rows[here]], start[here])
    counted = start < stop
    nodes, rows, start, stop = nodes[counted], rows[counted], start[counted], stop[counted]
    loss = losses(nodes, rows)
    return HeldOut(
        total=_added_over_ranges(weights[rows] * loss, start, stop, len(penalties)),
        squares=_added_over_ranges(weights[rows] * loss**2, start, stop, len(penalties)),
        weight=float(weights.sum()),
    )


def _added_over_ranges(values: Floats, start: Index, stop: Index, n: int) -> Floats:
    ends = np.bincount(start, values, n + 1) - np.bincount(stop, values, n + 1)
    return np.cumsum(ends)[:n]
