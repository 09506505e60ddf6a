"""Importance-sampled learning ensembles for numbers, counts and classes.

Trees are grown one after another on random rows. Each fits what the earlier ones, multiplied by a
memory, have left; the lasso then gives every tree a weight, many of them zero (Friedman and Popescu
2003; Rosso 7). Bagging has no memory and equal weights, boosting a memory and equal weights.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError
from clearwood.kernels import LassoFamily, lasso_path
from clearwood.models.catalogue.rules.growing import (
    LARGEST,
    LINKS,
    balanced_folds,
    curvature,
    means_of,
    scores_of,
    step_bounds,
)
from clearwood.models.shared.rows import check_choice, check_real, check_size, check_whole
from clearwood.models.shared.score import ScoreParts, SumOfProducts, TreeArrays
from clearwood.models.shared.score_estimators import (
    Scored,
    ScoredClasses,
    ScoredCounts,
    ScoredNumbers,
)

__all__ = ["IsleClassifier", "IslePoisson", "IsleRegressor"]

#: The least penalty of the lasso as a share of the one that leaves all trees out.
_RATIO = 1e-3


class _Isle(Scored):
    """What numbers, counts and classes share: growing trees, and their weights."""

    def __init__(
        self,
        *,
        n_trees: int = 200,
        max_leaves: int = 8,
        share: float = 0.5,
        memory: float = 0.1,
        min_leaf: int = 5,
        max_features: float = 0.5,
        folds: int = 5,
        n_penalties: int = 50,
        choose: str = "best",
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.share = share
        self.memory = memory
        self.min_leaf = min_leaf
        self.max_features = max_features
        self.folds = folds
        self.n_penalties = n_penalties
        self.choose = choose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_settings(self) -> None:
        check_whole("n_trees", self.n_trees, 1)
        check_whole("max_leaves", self.max_leaves, 2)
        check_real("share", self.share, 0, 1, strict=True)
        check_real("memory", self.memory, 0, 1)
        check_whole("min_leaf", self.min_leaf, 1)
        check_real("max_features", self.max_features, 0, 1, strict=True)
        check_whole("folds", self.folds, 2)
        check_whole("n_penalties", self.n_penalties, 2)
        check_choice("choose", self.choose, ["best", "one-se"])

    def _fit(
        self, X: Floats, response: Floats, weight: Floats, family: LassoFamily, strata: NDArray[Any]
    ) -> Self:
        """Grow trees and weigh them; the response has the shape (outputs, rows)."""
        self._check_settings()
        if len(X) < 2:
            raise InputError(
                "one sample of positive weight cannot be divided into folds",
                parameter="folds",
                value=self.folds,
                hint="give two rows or more.",
            )
        rng = np.random.default_rng(self.random_state)
        folds = balanced_folds(strata, self.folds, rng)
        seeds = rng.integers(2**31, size=int(folds.max()) + 2)
        self.losses_ = np.stack(
            [
                self._held_out(X, response, weight, family, folds == fold, int(seeds[fold + 1]))
                for fold in range(int(folds.max()) + 1)
            ]
        )
        self.chosen_ = self._chosen()
        trees = self._grown(X, response, weight, family, int(seeds[0]))
        columns, means, scales = _standardised(trees, X, weight)
        path = lasso_path(
            np.empty((0, len(X)), bool),
            columns,
            response,
            weight,
            np.full(len(X), -1, np.int32),
            family=family,
            n_penalties=self.chosen_ + 1,
            ratio=_RATIO ** (self.chosen_ / (self.n_penalties - 1)),
            n_jobs=self.n_jobs,
        )
        weights = path.coefficients.T / scales[:, None]
        kept = np.flatnonzero(np.any(weights != 0, axis=1))
        self.tree_weights_ = weights[kept]
        self.n_grown_ = len(trees)
        self.penalty_ = float(path.penalties[-1])
        joined = None
        if len(kept):
            joined = _joined([trees[k] for k in kept], weights[kept], X.shape[1])
        constant = path.intercept - means @ weights
        self.parts_ = ScoreParts(SumOfProducts(constant), joined, LINKS[family])
        return self

    def _held_out(
        self,
        X: Floats,
        response: Floats,
        weight: Floats,
        family: LassoFamily,
        out: Bools,
        seed: int,
    ) -> Floats:
        """Return the loss of rows that neither trees nor weights have seen, for each penalty."""
        trees = self._grown(X[~out], response[:, ~out], weight[~out], family, seed)
        path = lasso_path(
            np.empty((0, len(X)), bool),
            _standardised(trees, X, weight)[0],
            response,
            weight,
            np.where(out, 0, -1).astype(np.int32),
            family=family,
            n_penalties=self.n_penalties,
            ratio=_RATIO,
            patience=self.n_penalties,
            n_jobs=self.n_jobs,
        )
        return np.asarray(path.losses[0])

    def _chosen(self) -> int:
        """Return the position of the penalty, by the mean loss over folds."""
        mean = np.where(np.isnan(self.losses_).any(axis=0), np.inf, self.losses_.mean(axis=0))
        if not np.isfinite(mean).any():
            return 0
        best = int(np.argmin(mean))
        if self.choose == "best":
            return best
        error = self.losses_[:, best].std(ddof=1) / np.sqrt(len(self.losses_))
        return int(np.flatnonzero(mean <= mean[best] + error)[0])

    def _grown(
        self,
        X: Floats,
        response: Floats,
        weight: Floats,
        family: LassoFamily,
        seed: int,
    ) -> list[TreeArrays]:
        """Grow trees on random rows, each to the gradient that the earlier ones have left."""
        rng = np.random.default_rng(seed)
        n = len(X)
        numbers = np.ascontiguousarray(np.clip(X, -LARGEST, LARGEST), np.float32)
        mean = np.average(response, axis=1, weights=weight)
        score = np.repeat(scores_of(family, mean)[:, None], n, axis=1)
        drawn = max(min(n, 2 * self.min_leaf), int(self.share * n))
        trees = []
        for m in range(self.n_trees):
            output = m % len(response)
            means = means_of(family, score)[output]
            gradient, curve = response[output] - means, curvature(family, means)
            rows = np.sort(rng.choice(n, drawn, replace=False))
            tree = DecisionTreeRegressor(
                max_leaf_nodes=self.max_leaves,
                min_samples_leaf=min(self.min_leaf, max(len(rows) // 2, 1)),
                max_features=self.max_features,
                random_state=int(rng.integers(2**31)),
            )
            with config_context(assume_finite=True, skip_parameter_validation=True):
                tree.fit(
                    numbers[rows],
                    gradient[rows],
                    sample_weight=weight[rows],
                    check_input=bool(np.isnan(numbers).any()),
                )
            arrays = _arrays(tree, X.shape[1])
            # one Newton step in each leaf, by the rows that the tree was grown on
            leaves = tree.tree_.apply(numbers)
            values = _steps(leaves[rows], (weight * gradient)[rows], (weight * curve)[rows], tree)
            arrays = replace(arrays, value=np.clip(values, *step_bounds(family)).reshape(-1, 1))
            score[output] += self.memory * arrays(X)[:, 0]
            trees.append(arrays)
        return trees


class IsleRegressor(ScoredNumbers, _Isle):
    """An importance-sampled learning ensemble for numbers.

    Parameters
    ----------
    n_trees
        Trees grown, before the lasso leaves some out.
    max_leaves
        Leaves of a tree at most: 2 gives an additive model.
    share
        Share of the rows that a tree is grown on.
    memory
        What each tree's prediction is multiplied by before the next is grown: 0 for trees that do
        not depend on each other, as in bagging.
    min_leaf
        Rows in a leaf at least.
    max_features
        Share of the columns that a split chooses from.
    folds, n_penalties
        Of the cross-validation that chooses the penalty of the lasso.
    choose
        "best" for the least held-out loss, "one-se" for the largest penalty within one standard
        error of it: fewer trees.
    random_state
        Fixes rows, splits and folds.
    n_jobs
        Threads over folds; the result does not depend on it.

    Attributes
    ----------
    parts_ : ScoreParts
        The trees with their weights.
    tree_weights_ : ndarray of shape (trees, outputs)
        Of the trees that are kept.
    n_grown_ : int
    losses_ : ndarray of shape (folds, penalties)
        Held-out loss along the path of the lasso, the largest penalty first.
    chosen_ : int
        Position of the penalty.

    Notes
    -----
    The cross-validation grows the trees of each fold without the rows that it holds out. With trees
    that have seen them, the lasso would keep nearly all trees.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 3))
    >>> y = 3.0 * (X[:, 0] > 0.5) + 0.1 * rng.normal(size=300)
    >>> model = IsleRegressor(choose="one-se").fit(X, y)
    >>> len(model.tree_weights_) < model.n_grown_
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow trees and weigh them."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        check_size(target, weight)
        return self._fit(rows, target[None, :], weight, "gaussian", np.zeros(len(rows)))


class IslePoisson(ScoredCounts, _Isle):
    """An importance-sampled learning ensemble for counts and rates, with a log link.

    Parameters and attributes are those of `IsleRegressor`.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 100, axis=0)
    >>> model = IslePoisson().fit(X, np.tile([1, 3], 100) * (1 + X[:, 0]))
    >>> model.predict([[0.0], [1.0]]).round(1)
    array([2., 4.])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow trees and weigh them."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        return self._fit(rows, target[None, :], weight, "poisson", target > 0)


class IsleClassifier(ScoredClasses, _Isle):
    """An importance-sampled learning ensemble for classes.

    Parameters and attributes are those of `IsleRegressor`. With more than two classes, trees are
    grown for each class in turn, and have a weight for each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> IsleClassifier().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow trees and weigh them."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        response = np.eye(len(self.classes_))[codes].T
        if len(self.classes_) == 2:
            return self._fit(rows, response[1:], weight, "logistic", codes)
        return self._fit(rows, response, weight, "multinomial", codes)


def _standardised(
    trees: list[TreeArrays], X: Floats, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return predictions of trees with mean 0 and variance 1, their means and deviations."""
    columns = np.stack([tree(X)[:, 0] for tree in trees])
    share = weight / weight.sum()
    means = columns @ share
    columns -= means[:, None]
    scales = np.sqrt(columns**2 @ share)
    varies = scales > 1e-12 * float(np.abs(means).max(initial=0.0) + scales.max(initial=0.0))
    columns[~varies] = 0.0
    scales = np.where(varies, scales, 1.0)
    return columns / scales[:, None], means, scales


def _arrays(tree: DecisionTreeRegressor, n_features: int) -> TreeArrays:
    """Take a tree of scikit-learn as plain arrays."""
    own = tree.tree_
    is_leaf = own.children_left < 0
    return TreeArrays(
        roots=np.zeros(1, np.int32),
        left=own.children_left.astype(np.int32),
        right=own.children_right.astype(np.int32),
        feature=np.where(is_leaf, -1, own.feature).astype(np.int32),
        threshold=np.where(is_leaf, 0.0, own.threshold),
        default_left=own.missing_go_to_left.astype(bool),
        value=own.value[:, :, 0].copy(),
        cover=own.weighted_n_node_samples.copy(),
        tree_output=np.full(1, -1, np.int32),
        n_features=n_features,
        n_outputs=1,
    )


def _steps(leaves: Index, gradient: Floats, curve: Floats, tree: DecisionTreeRegressor) -> Floats:
    """Return the Newton step of each node; zero where no rows are."""
    size = tree.tree_.node_count
    total = np.bincount(leaves, gradient, size)
    return np.asarray(total / np.maximum(np.bincount(leaves, curve, size), 1e-9))


def _joined(trees: list[TreeArrays], weights: Floats, n_features: int) -> TreeArrays:
    """Put trees one after another, their values times their weights."""
    sizes = [len(tree.left) for tree in trees]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)

    def together(name: str, dtype: Any) -> NDArray[Any]:
        parts = [getattr(tree, name) for tree in trees]
        return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)

    def children(name: str) -> NDArray[np.int32]:
        parts = [
            np.where(getattr(tree, name) < 0, -1, getattr(tree, name) + start)
            for tree, start in zip(trees, starts, strict=False)
        ]
        return np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int32)

    values = [tree.value * weight for tree, weight in zip(trees, weights, strict=True)]
    return TreeArrays(
        roots=starts[:-1],
        left=children("left"),
        right=children("right"),
        feature=together("feature", np.int32),
        threshold=together("threshold", np.float64),
        default_left=together("default_left", np.bool_),
        value=np.concatenate([np.empty((0, weights.shape[1])), *values]),
        cover=together("cover", np.float64),
        tree_output=np.full(len(trees), -1, np.int32),
        n_features=n_features,
        n_outputs=weights.shape[1],
    )
