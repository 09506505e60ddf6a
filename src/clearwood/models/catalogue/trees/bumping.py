"""Bumping: of trees grown on bootstrap samples, the one that fits all rows best.

Each split of a tree is the best at its place, and together they need not be. Trees of resampled
rows start from other splits; the rows themselves are one of the samples, so the tree that is kept
never fits worse than the ordinary tree of its size (Rosso, section 5, equation 57).

Training losses of trees of different sizes cannot be compared, so trees of at most a number of
leaves compete, and that number is cross-validated, with the search repeated in every fold.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.models.catalogue.trees.pruning import (
    HeldOut,
    choose,
    geometric_middles,
    held_out,
    risks,
    sizes,
)
from clearwood.models.catalogue.trees.sample import Sample
from clearwood.models.catalogue.trees.tree import CartTree

__all__ = ["Bumped", "bump"]

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
    sample: Sample,
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


def _sequences(sample: Sample, rows: Index, samples: int, seed: int) -> list[_Sequence]:
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
    sample: Sample, rows: Index, sequences: list[_Sequence], losses: Losses, counts: Index
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
