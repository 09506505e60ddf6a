"""Decision trees pruned by cross-validation.

A full tree is grown and its sequence of pruned trees computed by the weakest-link algorithm. Each
is evaluated on held-out folds, and the tree is pruned at the penalty with the smallest risk (Hiabu
2024, section 5.2).
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import Setting, unknown_choice
from clearwood.models.estimators.folds import Folds

__all__ = [
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "collapse_levels",
    "geometric_middles",
]

PRUNINGS = (True, False, "one-se")


class _Pruned:
    """What the two pruned trees share; mixed in before scikit-learn's tree."""

    prune: bool | str
    folds: int
    random_state: int

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        if self.prune not in PRUNINGS:
            raise unknown_choice("prune", self.prune, map(str, PRUNINGS), kind=Setting)
        self.ccp_alpha = 0.0
        self.penalties_ = self.risks_ = np.zeros(0)
        if self.prune and len(y) > 1:
            self._choose_penalty(X, y, weights)
        super().fit(X, y, sample_weight=weights)  # type: ignore[misc] # the tree's, mixed in

    def _choose_penalty(self, X: Floats, y: NDArray[Any], weights: Floats) -> None:
        full = clone(self).set_params(prune=False)
        self.penalties_ = geometric_middles(
            collapse_levels(full.fit(X, y, sample_weight=weights).tree_)
        )
        stratify = isinstance(self, DecisionTreeClassifier) and _every_class_twice(y)
        folds = []
        for train, test in Folds(self.folds, stratify=stratify, seed=self.random_state).split(X, y):
            full.fit(X[train], y[train], sample_weight=weights[train])
            losses = self._losses(full, y[test])
            folds.append(
                _held_out_losses(full.tree_, X[test], losses, weights[test], self.penalties_)
            )
        self.risks_, errors = _risks(folds)
        best = int(np.argmin(self.risks_))
        # among equals, and with one-se within an error of the best, the smallest tree
        allowed = self.risks_[best] + (errors[best] if self.prune == "one-se" else 0.0)
        self.ccp_alpha = float(self.penalties_[np.flatnonzero(self.risks_ <= allowed)[-1]])

    def _losses(self, fitted: Any, y: NDArray[Any]) -> Any:
        raise NotImplementedError


class PrunedTreeRegressor(_Pruned, DecisionTreeRegressor):
    """A regression tree pruned to the size that predicts held-out rows best.

    Parameters
    ----------
    prune
        True takes the penalty with the smallest cross-validated squared error, "one-se" the
        smallest tree within one standard error of it, False keeps the full tree.
    folds
        Number of folds.
    criterion, max_depth, min_samples_leaf, random_state, monotonic_cst
        As in scikit-learn's ``DecisionTreeRegressor``.

    Attributes
    ----------
    ccp_alpha : float
        The penalty per leaf that was chosen.
    penalties_, risks_ : ndarray
        The penalties tried and the cross-validated squared error of each.

    Examples
    --------
    >>> X = np.arange(40.0)[:, None]
    >>> y = (X.ravel() > 19).astype(float)
    >>> int(PrunedTreeRegressor().fit(X, y).get_n_leaves())
    2
    """

    def __init__(
        self,
        *,
        prune: bool | str = True,
        folds: int = 5,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int = 0,
        monotonic_cst: Sequence[int] | None = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
            monotonic_cst=monotonic_cst,
        )
        self.prune = prune
        self.folds = folds

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        self._fit(X, np.asarray(y, dtype=np.float64), sample_weight)
        return self

    def _losses(self, fitted: Any, y: NDArray[Any]) -> Any:
        value = fitted.tree_.value[:, 0, 0]
        return lambda nodes, rows: (y[rows] - value[nodes]) ** 2


class PrunedTreeClassifier(_Pruned, DecisionTreeClassifier):
    """A classification tree pruned to the size that predicts held-out rows best.

    The held-out loss is the Brier score, which corresponds to the Gini criterion: unlike the error
    rate it responds to every change of a probability, and unlike the log loss it is finite for
    leaves with a single class.

    Parameters
    ----------
    prune
        True takes the penalty with the smallest cross-validated Brier score, "one-se" the
        smallest tree within one standard error of it, False keeps the full tree.
    folds
        Number of folds.
    criterion, max_depth, min_samples_leaf, random_state, monotonic_cst
        As in scikit-learn's ``DecisionTreeClassifier``.

    Attributes
    ----------
    ccp_alpha : float
        The penalty per leaf that was chosen.
    penalties_, risks_ : ndarray
        The penalties tried and the cross-validated Brier score of each.
    """

    def __init__(
        self,
        *,
        prune: bool | str = True,
        folds: int = 5,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int = 0,
        monotonic_cst: Sequence[int] | None = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
            monotonic_cst=monotonic_cst,
        )
        self.prune = prune
        self.folds = folds

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        self._fit(X, y, sample_weight)
        return self

    def _losses(self, fitted: Any, y: NDArray[Any]) -> Any:
        shares = fitted.tree_.value[:, 0, :]
        size = (shares**2).sum(axis=1)
        known = np.isin(y, fitted.classes_)
        code = np.where(known, np.searchsorted(fitted.classes_, np.where(known, y, y[0])), 0)
        code = np.minimum(code, shares.shape[1] - 1)

        def brier(nodes: Index, rows: Index) -> Floats:
            # Σ_k (1[y = k] − p_k)², where a class the fold has not seen has probability zero
            of_class = np.where(known[rows], shares[nodes, code[rows]], 0.0)
            loss: Floats = size[nodes] - 2 * of_class + 1
            return loss

        return brier


@dataclass(frozen=True)
class _HeldOut:
    """Weighted sums over held-out rows of the loss and its square, one for each penalty."""

    total: Floats
    squares: Floats
    weight: float


def _every_class_twice(y: NDArray[Any]) -> bool:
    return bool(np.unique(y, return_counts=True)[1].min() >= 2)


def _risks(folds: list[_HeldOut]) -> tuple[Floats, Floats]:
    """Mean loss over all held-out rows, and its standard error, for every penalty."""
    weight = sum(fold.weight for fold in folds)
    mean = sum((fold.total for fold in folds), np.zeros(1)) / weight
    second = sum((fold.squares for fold in folds), np.zeros(1)) / weight
    return mean, np.sqrt(np.maximum(second - mean**2, 0.0) / weight)


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


def _held_out_losses(
    tree: Any,
    X: NDArray[Any],
    losses: Any,
    weights: Floats,
    penalties: Floats,
) -> _HeldOut:
    """Loss of the tree pruned at each of many penalties, all in one walk down the tree.

    A row stops at the first node on its path that is a leaf at the penalty. Going down, the
    penalties that stop there form a range, so each visit adds the row's loss to one range.
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
    return _HeldOut(
        total=_added_over_ranges(weights[rows] * loss, start, stop, len(penalties)),
        squares=_added_over_ranges(weights[rows] * loss**2, start, stop, len(penalties)),
        weight=float(weights.sum()),
    )


def _added_over_ranges(values: Floats, start: Index, stop: Index, n: int) -> Floats:
    ends = np.bincount(start, values, n + 1) - np.bincount(stop, values, n + 1)
    return np.cumsum(ends)[:n]
