"""Candidate rules: nodes of small trees boosted with strong shrinkage, and their weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.kernels import LassoFamily
from clearwood.models.shared.conditions import Among, Between, Condition, Rule
from clearwood.models.shared.score import Link

__all__ = [
    "LARGEST",
    "LINKS",
    "Grower",
    "balanced_folds",
    "curvature",
    "means_of",
    "merged",
    "scores_of",
    "step_bounds",
]


#: Trees are grown in single precision; larger numbers count as this.
LARGEST = 1e38


def means_of(family: LassoFamily, score: Floats) -> Floats:
    """Turn scores, of shape (outputs, rows), into means of the responses."""
    if family == "logistic":
        return np.asarray(expit(score))
    if family == "poisson":
        return np.exp(np.minimum(score, 30.0))
    if family == "multinomial":
        return np.asarray(softmax(score, axis=0))
    return score


@dataclass(frozen=True, kw_only=True)
class Grower:
    """How trees are grown.

    Parameters
    ----------
    n_trees
        Number of trees; for several classes, of all of them together.
    mean_leaves
        Mean number of leaves. The number of a tree is 2 plus a whole number from an exponential
        distribution (Friedman and Popescu 2008, equation 13).
    shrinkage
        What each tree's predictions are multiplied by before the next is grown.
    share
        Share of the rows that a tree is grown on, at most.
    min_leaf
        Rows in a leaf at least.
    levels
        Number of levels of each column of codes; 0 for numbers.
    """

    n_trees: int
    mean_leaves: float
    shrinkage: float
    share: float
    min_leaf: int
    levels: NDArray[np.int32]

    def __call__(
        self,
        X: Floats,
        response: Floats,
        weight: Floats,
        family: LassoFamily,
        rng: np.random.Generator,
    ) -> Iterator[tuple[Rule, Bools]]:
        """Grow trees and yield the rule of each node with the rows that meet it.

        Parameters
        ----------
        X
            Rows by columns; NaN is missing.
        response
            Of shape (outputs, rows).
        weight
            Of each row.
        family
            Whose gradient the trees fit.
        rng
            Draws rows, sizes and thresholds.
        """
        n = len(X)
        mean = np.average(response, axis=1, weights=weight)
        score = np.repeat(scores_of(family, mean)[:, None], n, axis=1)
        drawn = max(min(n, 4 * self.min_leaf), int(self.share * n))
        for tree in range(self.n_trees):
            output = tree % len(response)
            means = means_of(family, score)[output]
            gradient = response[output] - means
            leaves = 2 + int(rng.exponential(self.mean_leaves - 2)) if self.mean_leaves > 2 else 2
            rows = np.sort(rng.choice(n, drawn, replace=False))
            grown = _Tree.grow(self, X, gradient, weight, rows, leaves, rng)
            curve = weight * curvature(family, means)
            for rule, inside, is_leaf in grown.nodes(X):
                if is_leaf:
                    step = np.sum((weight * gradient)[inside]) / max(np.sum(curve[inside]), 1e-9)
                    score[output, inside] += self.shrinkage * np.clip(step, *step_bounds(family))
                yield rule, inside


def scores_of(family: LassoFamily, mean: Floats) -> Floats:
    """Turn means into scores."""
    share = np.clip(mean, 1e-9, 1 - 1e-9)
    if family == "logistic":
        return np.asarray(np.log(share / (1 - share)))
    if family == "poisson":
        return np.log(np.maximum(mean, 1e-9))
    return np.log(share) if family == "multinomial" else mean


def curvature(family: LassoFamily, means: Floats) -> Floats:
    """Return the second derivative of the loss in the score."""
    if family == "gaussian":
        return np.ones_like(means)
    return means if family == "poisson" else means * (1 - means)


def step_bounds(family: LassoFamily) -> tuple[float, float]:
    """Return the bounds of a step, which is unbounded where a leaf has one class."""
    return (-np.inf, np.inf) if family == "gaussian" else (-4.0, 4.0)


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree of scikit-learn's, whose codes of categories were ordered for it."""

    tree: DecisionTreeRegressor
    orders: dict[int, Floats]  # rank of each level, and last of missing values

    @classmethod
    def grow(
        cls,
        grower: Grower,
        X: Floats,
        gradient: Floats,
        weight: Floats,
        rows: Index,
        leaves: int,
        rng: np.random.Generator,
    ) -> "_Tree":
        """Grow a tree with random thresholds on some of the rows."""
        values, target, weights = X[rows], gradient[rows], weight[rows]
        orders = {}
        for column in np.flatnonzero(grower.levels):
            orders[int(column)] = order = _ranks(
                values[:, column], int(grower.levels[column]), target, weights
            )
            values[:, column] = order[_codes(values[:, column], len(order) - 1)]
        tree = DecisionTreeRegressor(
            max_leaf_nodes=leaves,
            min_samples_leaf=min(grower.min_leaf, max(len(rows) // 2, 1)),
            max_features=0.7,
            splitter="random",
            random_state=int(rng.integers(2**31)),
        )
        # rows and settings were checked before; for small trees checks take longer than splits
        numbers = np.ascontiguousarray(np.clip(values, -LARGEST, LARGEST), np.float32)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            tree.fit(
                numbers,
                np.ascontiguousarray(target),
                sample_weight=weights,
                check_input=bool(np.isnan(numbers).any()),
            )
        return cls(tree, orders)

    def nodes(self, X: Floats) -> Iterator[tuple[Rule, Bools, bool]]:
        """Yield the rule of each node below the root, the rows in it, and whether it is a leaf."""
        tree = self.tree.tree_
        stack = [(0, Rule({}), np.ones(len(X), bool))]
        while stack:
            node, rule, inside = stack.pop()
            is_leaf = tree.children_left[node] < 0
            if node:
                yield rule, inside, is_leaf
            if is_leaf:
                continue
            column = int(tree.feature[node])
            left, right = self._conditions(
                column,
                float(tree.threshold[node]),
                missing_left=bool(tree.missing_go_to_left[node]),
            )
            met = left(X[:, column])
            stack.append((tree.children_right[node], rule.joined(column, right), inside & ~met))
            stack.append((tree.children_left[node], rule.joined(column, left), inside & met))

    def _conditions(
        self, column: int, threshold: float, *, missing_left: bool
    ) -> tuple[Condition, Condition]:
        """Return the conditions of the two children."""
        if column in self.orders:
            member = self.orders[column] <= threshold
            return Among(member), Among(~member)
        return (
            Between(-np.inf, threshold, missing=missing_left),
            Between(threshold, np.inf, missing=not missing_left),
        )


def _codes(values: Floats, n_levels: int) -> Index:
    """Return codes, missing ones as the last."""
    return np.where(np.isnan(values), n_levels, values).astype(np.intp)


def _ranks(values: Floats, n_levels: int, target: Floats, weight: Floats) -> Floats:
    """Order levels by their mean target, shrunk towards the overall mean as by ten more rows."""
    codes = _codes(values, n_levels)
    counts = np.bincount(codes, weight, n_levels + 1)
    sums = np.bincount(codes, weight * target, n_levels + 1)
    overall = np.average(target, weights=weight)
    means = (sums + 10 * overall) / (counts + 10)
    return np.argsort(np.argsort(means, kind="stable"), kind="stable").astype(np.float64)


def merged(
    rules: Iterator[tuple[Rule, Bools]], weight: Floats, least: float
) -> tuple[list[Rule], Bools]:
    """Keep one of the rules that hold for the same rows, or for the opposite ones: the shortest.

    Parameters
    ----------
    rules
        Rules with the rows that meet them.
    weight
        Of each row.
    least
        The share of the weight that must meet a rule, and that must not.

    Returns
    -------
    rules, rows
        The rules and, of shape (rules, rows), who meets them.
    """
    kept: dict[bytes, tuple[Rule, Bools]] = {}
    total = weight.sum()
    for rule, inside in rules:
        share = weight[inside].sum() / total
        if not least <= share <= 1 - least:
            continue
        # of a rule and its complement, the one without the first row
        key = np.packbits(inside ^ inside[0]).tobytes()
        if key not in kept or rule.size < kept[key][0].size:
            kept[key] = rule, inside
    if not kept:
        return [], np.empty((0, len(weight)), bool)
    own, rows = zip(*kept.values(), strict=True)
    return list(own), np.array(rows)


LINKS: dict[LassoFamily, Link] = {
    "gaussian": "identity",
    "logistic": "logistic",
    "poisson": "log",
    "multinomial": "softmax",
}


def balanced_folds(
    strata: NDArray[Any], n_folds: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Deal rows out to folds at random, the same share of every stratum to each."""
    shuffled = rng.permutation(len(strata))
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    folds = np.empty(len(strata), np.int32)
    folds[order] = np.arange(len(strata)) % min(n_folds, len(strata))
    return folds
