"""The choice among trees: pruning by cross-validation, and bumping."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.models.catalogue.trees.tree import CartTree, TreeSample

__all__ = ["Bumped", "HeldOut", "bump", "choose", "geometric_middles", "held_out", "risks", "sizes"]


# How far a tree is pruned: weakest links, and their risk on held-out rows.
#
# A full tree has a sequence of pruned trees, one for each range of the penalty per leaf. Each is
# evaluated on held-out folds (Hiabu 2024, section 5.2).


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


# Bumping: of trees grown on bootstrap samples, the one that fits all rows best.
#
# Each split of a tree is the best at its place, and together they need not be. Trees of resampled
# rows start from other splits; the rows themselves are one of the samples, so the tree that is
# kept never fits worse than the ordinary tree of its size (Rosso, section 5, equation 57).
#
# Training losses of trees of different sizes cannot be compared, so trees of at most a number of
# leaves compete, and that number is cross-validated, with the search repeated in every fold.


#: From the values of nodes and the targets of rows to the loss of rows that stop at nodes.
Losses = Callable[[Floats, Floats], Callable[[Index, Index], Floats]]


@dataclass(frozen=True)
class Bumped:
    """The tree that was kept, and how its size was chosen.

    Parameters
    ----------
    tree
        The tree.
    drawn
        Which sample it comes from; 0 is the rows themselves.
    risks
        The cross-validated loss of at most 1, 2, ... leaves; empty where nothing is pruned.
    """

    tree: CartTree
    drawn: int
    risks: Floats


@dataclass(frozen=True)
class _Sequence:
    """A tree and its pruned trees, from the full one to the root."""

    tree: CartTree
    penalties: Floats
    sizes: Index  # leaves at each penalty, falling

    @classmethod
    def of(cls, tree: CartTree) -> "_Sequence":
        """Find the penalties of a tree and the size at each."""
        penalties = geometric_middles(tree.levels())
        return cls(tree, penalties, sizes(tree, penalties))

    def at_most(self, n_leaves: Index) -> Index:
        """Return the place of the largest pruned tree with at most so many leaves."""
        return np.searchsorted(-self.sizes, -n_leaves)

    def loss(self, X: Floats, target: Floats, weight: Floats, losses: Losses) -> HeldOut:
        """Add up the loss of every pruned tree over rows."""
        of_node = losses(self.tree.value, target)
        return held_out(self.tree, self.tree.leaves(X), of_node, weight, self.penalties)


def bump(
    sample: TreeSample,
    losses: Losses,
    folds: Iterable[tuple[Index, Index]],
    *,
    samples: int,
    prune: bool | str,
    seed: int,
) -> Bumped:
    """Search for the best tree among those of bootstrap samples.

    Parameters
    ----------
    sample
        The rows.
    losses
        What is compared.
    folds
        Training and held-out rows; not used where nothing is pruned.
    samples
        Number of bootstrap samples besides the rows themselves.
    prune
        As in `CartRegressor`.
    seed
        Fixes the samples.
    """
    all_rows = np.flatnonzero(sample.cover > 0)
    found = _sequences(sample, all_rows, samples, seed)
    most = max(int(one.sizes[0]) for one in found)
    size, risk = most, np.zeros(0)
    if prune and most > 1:
        counts = np.arange(1, most + 1)
        results = []
        for train, test in folds:
            grown = _sequences(sample, train, samples, seed)
            best, places = _best(sample, train, grown, losses, counts)
            held = [
                one.loss(sample.X[test], sample.target[test], sample.weight[test], losses)
                for one in grown
            ]
            results.append(
                HeldOut(
                    np.array([held[b].total[at] for b, at in zip(best, places, strict=True)]),
                    np.array([held[b].squares[at] for b, at in zip(best, places, strict=True)]),
                    float(sample.weight[test].sum()),
                )
            )
        risk, errors = risks(results)
        # `choose` prefers the largest penalty among equals: here, the fewest leaves
        fewest_last = -counts[::-1].astype(np.float64)
        one_se = prune == "one-se"
        size = -int(choose(fewest_last, risk[::-1], errors[::-1], one_se=one_se))
    best, places = _best(sample, all_rows, found, losses, np.array([size]))
    kept = found[best[0]]
    return Bumped(kept.tree.pruned(float(kept.penalties[places[0]])), int(best[0]), risk)


def _sequences(sample: TreeSample, rows: Index, samples: int, seed: int) -> list[_Sequence]:
    """Grow a tree on the rows and one on each bootstrap sample of them."""
    rng = np.random.default_rng(seed)
    inside = np.zeros(len(sample.target))
    inside[rows] = 1.0
    drawn = [inside]
    for _ in range(samples):
        picked = rng.choice(rows, len(rows))
        drawn.append(np.bincount(picked, minlength=len(inside)).astype(np.float64))
    return [_Sequence.of(sample.grow(times)) for times in drawn]


def _best(
    sample: TreeSample, rows: Index, sequences: list[_Sequence], losses: Losses, counts: Index
) -> tuple[Index, Index]:
    """Return, for each number of leaves, the best tree and the place in its sequence."""
    totals, places = [], []
    for one in sequences:
        loss = one.loss(sample.X[rows], sample.target[rows], sample.weight[rows], losses)
        place = one.at_most(counts)
        totals.append(loss.total[place])
        places.append(place)
    best = np.argmin(np.array(totals), axis=0)
    return best, np.array(places)[best, np.arange(len(counts))]
