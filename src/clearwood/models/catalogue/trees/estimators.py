"""The trees of the catalogue as scikit-learn estimators."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, bad_value, unknown_choice, words
from clearwood._shared.weights import counted as row_weights
from clearwood.models.catalogue.trees.optimal import DEPTHS, best_tree
from clearwood.models.catalogue.trees.pruning import (
    bump,
    choose,
    geometric_middles,
    held_out,
    risks,
)
from clearwood.models.catalogue.trees.tree import CartTree, Growth, Presorted, TreeSample
from clearwood.models.shared.folds import Folds
from clearwood.models.shared.response import FAMILIES, FamilyName
from clearwood.models.shared.rows import check_size, check_whole

__all__ = ["CartClassifier", "CartRegressor"]

PRUNINGS = (True, False, "one-se")
REGRESSION_CRITERIA = ("squared_error", "poisson", "tweedie", "gamma")
#: NaN is missing, and splits at infinite values are like others.
_CHECKS: dict[str, Any] = {
    "dtype": np.float64,
    "ensure_all_finite": False,
    "ensure_min_features": 0,
}
#: Squares of sums of weights must stay finite.
_MOST_WEIGHT = 1e100


class _Cart(BaseEstimator):
    """What the two trees share."""

    _stratify: bool
    tree_: CartTree

    def __init__(
        self,
        *,
        prune: bool | Literal["one-se"] = True,
        folds: int = 5,
        criterion: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        surrogates: int = 5,
        samples: int = 0,
        optimal: bool = False,
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
        random_state: int = 0,
    ) -> None:
        self.prune = prune
        self.folds = folds
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.surrogates = surrogates
        self.samples = samples
        self.optimal = optimal
        self.categorical = categorical
        self.monotone = monotone
        self.random_state = random_state

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in what the splits gained; surrogates do not count."""
        check_is_fitted(self, "tree_")
        inner = ~self.tree_.is_leaf
        column, gain = self.tree_.nodes["column"][inner], self.tree_.nodes["gain"][inner]
        gains = np.bincount(column, gain, self.n_features_in_)
        return np.asarray(gains / gains.sum()) if inner.any() else np.zeros(self.n_features_in_)

    def _limits(self) -> dict[str, Any]:
        """Return the limits of growth, checked."""
        for name, least in (
            ("folds", 2),
            ("max_depth", 1),
            ("min_samples_leaf", 1),
            ("surrogates", 0),
            ("samples", 0),
        ):
            value = getattr(self, name)
            if value is not None or name != "max_depth":
                check_whole(name, value, least)
        if self.prune not in PRUNINGS:
            raise unknown_choice("prune", self.prune, map(str, PRUNINGS), kind=Setting)
        return {
            "max_depth": self.max_depth,
            "min_samples_leaf": int(self.min_samples_leaf),
            "surrogates": int(self.surrogates),
        }

    def _rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, NDArray[Any], Floats]:
        """Check training rows; return them with their target and their weights."""
        matrix, target = validate_data(self, X, y, **_CHECKS)
        counted, weight = row_weights(sample_weight, len(matrix))
        cover = np.zeros(len(matrix))
        cover[counted] = weight
        if not cover.sum() < _MOST_WEIGHT:
            raise InputError(
                f"row weights add up to {cover.sum():g}, which is too much",
                parameter="weight",
                hint="divide them by a power of ten.",
            )
        return np.ascontiguousarray(matrix), target, cover

    def _presorted(self, matrix: Floats) -> Presorted:
        """Return the rows sorted."""
        return Presorted(matrix, categorical=self.categorical, monotone=self.monotone)

    def _fit(self, sample: TreeSample) -> None:
        """Grow the tree, prune it and keep it with the values of its predictions."""
        self.penalty_ = 0.0
        if self.optimal:
            self._check_optimal(sample)
        if self.samples:
            bumped = bump(
                sample,
                self._losses,
                self._split(sample),
                samples=self.samples,
                prune=self.prune,
                seed=self.random_state,
            )
            self.sample_, self.risks_ = bumped.drawn, bumped.risks
            self.tree_ = replace(bumped.tree, value=self._values(bumped.tree))
            return
        full = sample.grow(np.ones(len(sample.target)))
        self.penalties_ = self.risks_ = np.zeros(0)
        if self.prune and full.n_nodes > 1:
            self.penalties_ = geometric_middles(full.levels())
            self.risks_, errors = self._risks(sample)
            one_se = self.prune == "one-se"
            self.penalty_ = choose(self.penalties_, self.risks_, errors, one_se=one_se)
            full = full.pruned(self.penalty_)
        if self.optimal:
            full = self._optimal(sample, full)
        self.tree_ = replace(full, value=self._values(full))

    def _optimal(self, sample: TreeSample, pruned: CartTree) -> CartTree:
        """Return the best tree of a depth where its cross-validated loss is below the pruned one's.

        The pruned tree's is the least of many losses, so rather too small a bound.
        """
        self.optimal_depth_ = 0
        if pruned.n_nodes == 1 and not len(self.risks_):
            return pruned  # nothing to split by
        depths = [d for d in DEPTHS if self.max_depth is None or d <= self.max_depth]
        total = dict.fromkeys(depths, 0.0)
        for train, test in self._split(sample):
            for depth in depths:
                tree = best_tree(sample, train, depth, seed=self.random_state)
                losses = self._losses(tree.value, sample.target[test])
                leaves = tree.leaves(sample.X[test]).astype(np.intp)
                total[depth] += float(sample.weight[test] @ losses(leaves, np.arange(len(test))))
        weight = float(sample.weight.sum())
        self.optimal_risks_ = {depth: loss / weight for depth, loss in total.items()}
        own = float(self.risks_[np.searchsorted(self.penalties_, self.penalty_)])
        best = min(depths, key=total.__getitem__, default=0)
        if not best or self.optimal_risks_[best] >= own:
            return pruned
        self.optimal_depth_ = best
        rows = np.flatnonzero(sample.cover > 0)
        return best_tree(sample, rows, best, seed=self.random_state)

    def _check_optimal(self, sample: TreeSample) -> None:
        """Refuse settings that the search for the best tree does not know."""
        growth = sample.growth
        reasons = {
            "prune": not self.prune,
            "samples": bool(self.samples),
            "criterion": growth.criterion == "entropy",
            "costs": growth.costs is not None,
        }
        chosen = Setting("optimal", self.optimal)
        for name in (name for name, refused in reasons.items() if refused):
            raise InputError(
                words(chosen, " and ", Setting(name, getattr(self, name)), " exclude each other"),
                parameter="optimal",
                value=self.optimal,
                hint="the best tree is searched for by squared error, a deviance or Gini's "
                "index, and taken where cross-validation prefers it to the pruned one.",
            )
        if any(self.monotone):
            raise InputError(
                words(chosen, " cannot keep monotone constraints"),
                parameter="optimal",
                value=self.optimal,
            )

    def _risks(self, sample: TreeSample) -> tuple[Floats, Floats]:
        """Cross-validate every penalty; the trees of the folds use the sorted rows again."""
        results = []
        for train, test in self._split(sample):
            inside = np.zeros(len(sample.target))
            inside[train] = 1.0
            tree = sample.grow(inside)
            leaves = tree.leaves(sample.X[test])
            losses = self._losses(tree.value, sample.target[test])
            results.append(held_out(tree, leaves, losses, sample.weight[test], self.penalties_))
        return risks(results)

    def _split(self, sample: TreeSample) -> Iterator[tuple[Index, Index]]:
        """Return the folds, those of classes stratified where each has two rows or more."""
        counted = np.flatnonzero(sample.cover > 0)
        y = sample.target[counted]
        stratify = self._stratify and bool(np.unique(y, return_counts=True)[1].min() >= 2)
        folds = Folds(self.folds, stratify=stratify, seed=self.random_state)
        for train, test in folds.split(y[:, None], y):
            yield counted[train], counted[test]

    def _losses(self, value: Floats, target: Floats) -> Callable[[Index, Index], Floats]:
        raise NotImplementedError

    def _values(self, tree: CartTree) -> Floats:
        return tree.value

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf each row reaches, as a position in the arrays of ``tree_``."""
        check_is_fitted(self, "tree_")
        matrix = validate_data(self, X, reset=False, ensure_min_samples=0, **_CHECKS)
        return self.tree_.leaves(np.ascontiguousarray(matrix))

    @property
    def is_plain(self) -> bool:
        """Whether its predictions are those of a tree of ordinary splits that is not too large."""
        return not self.tree_.nodes["n_surrogates"].any() or self.tree_.plain is not None

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self, "tree_")
        return int(self.tree_.is_leaf.sum())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class CartRegressor(RegressorMixin, _Cart):
    """A regression tree pruned to the size that predicts held-out rows best.

    Splits are exact, of categories too: levels are ordered by their mean. A row whose value is
    missing follows the first surrogate whose own value is known, and else the majority.

    Parameters
    ----------
    prune
        True takes the penalty with the smallest cross-validated loss, "one-se" the smallest tree
        within one standard error of it, False keeps the full tree.
    folds
        Number of folds.
    criterion
        "squared_error", or a deviance, for splits and pruning alike: "poisson" of counts, "gamma"
        of amounts above 0, "tweedie" (variance power 1.5) of amounts that can be zero. Leaves of
        counts, and of amounts that can be zero, are shrunk towards the mean by one expected event
        (or amount above zero), so that none predicts zero.
    max_depth, min_samples_leaf
        Limits of the full tree. Rows of a leaf are counted, not weighed.
    surrogates
        The most surrogates a split has. Only splits on columns with missing values in training have
        any, and a surrogate on a column without is the last one.
    samples
        Bumping: trees are grown on so many bootstrap samples too, and of all the trees with at most
        a cross-validated number of leaves the one that fits all rows best is kept.
    optimal
        Also search for the best tree of two or three levels, all splits at once, and take it where
        cross-validation prefers it to the pruned tree. It has no surrogates.
    categorical
        Positions of columns that hold codes of categories.
    monotone
        1 or -1 for columns that predictions must rise or fall with, else 0; empty for none.
    random_state
        Fixes the folds.

    Attributes
    ----------
    tree_ : CartTree
    penalty_ : float
        The penalty per leaf that was chosen.
    penalties_, risks_ : ndarray
        The penalties tried and the cross-validated loss of each; with ``samples`` there are no
        penalties, and the risks are those of 1, 2, ... leaves.
    sample_ : int
        With ``samples``: which of them the tree comes from; 0 is the rows themselves.
    optimal_depth_, optimal_risks_ : int, dict
        With ``optimal``: the depth of the best tree, 0 where the pruned one is kept; and the
        cross-validated loss for each depth.

    Examples
    --------
    >>> X = np.arange(40.0)[:, None]
    >>> y = (X.ravel() > 19).astype(float)
    >>> CartRegressor().fit(X, y).get_n_leaves()
    2
    """

    _stratify = False
    #: what leaves are shrunk by is counted in events, so that weights and rates are taken as given
    takes_any_unit = True

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        matrix, given, cover = self._rows(X, y, sample_weight)
        target = given.astype(np.float64)
        rows = self._presorted(matrix)
        limits = self._limits()
        criterion = "squared_error" if self.criterion is None else self.criterion
        if criterion not in REGRESSION_CRITERIA:
            raise unknown_choice("criterion", criterion, REGRESSION_CRITERIA, kind=Setting)
        if criterion == "squared_error":
            check_size(target, cover, twice=True)  # for standard errors of squared errors
            growth = Growth("squared", **limits)
        else:
            _check_target(target[cover > 0], criterion)
            mean, weight = _prior(criterion, target, cover)
            growth = Growth(criterion, prior_mean=mean, prior_weight=weight, **limits)
        self.criterion_ = criterion
        self._fit(TreeSample(matrix, rows, target, cover, cover, growth))
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Return the value of the leaf that each row reaches."""
        return np.asarray(self.tree_.value[self.apply(X), 0])

    def _losses(self, value: Floats, target: Floats) -> Callable[[Index, Index], Floats]:
        def squared(nodes: Index, rows: Index) -> Floats:
            return np.asarray((target[rows] - value[nodes, 0]) ** 2)

        def deviance(nodes: Index, rows: Index) -> Floats:
            return family.deviance(target[rows], np.log(value[nodes, 0]))

        if self.criterion_ == "squared_error":
            return squared
        family = FAMILIES[cast("FamilyName", self.criterion_)]
        return deviance


def _check_target(target: Floats, criterion: str) -> None:
    """Refuse a target that has no deviance under a criterion."""
    refused = target <= 0 if criterion == "gamma" else target < 0
    if refused.any():
        expected = (
            "a target above 0" if criterion == "gamma" else "a target without negative values"
        )
        zeros = criterion == "gamma" and not (target < 0).any()
        raise InputError(
            f"the {criterion.capitalize()} deviance needs {expected}; "
            f"one is {target[refused][0]:g}",
            parameter="target",
            value=float(target[refused][0]),
            hint=words("set ", Setting("criterion", "tweedie" if zeros else "squared_error"), "."),
        )


def _prior(criterion: str, target: Floats, cover: Floats) -> tuple[float, float]:
    """Return what leaves are shrunk to, with what weight, so that none predicts zero."""
    mean = float(cover @ target / cover.sum())
    if criterion == "gamma" or mean == 0:
        return mean, 0.0
    if criterion == "poisson":
        return mean, 1 / mean
    n_positive = np.count_nonzero((target > 0) & (cover > 0))
    return mean, float(cover.sum()) / n_positive


class CartClassifier(ClassifierMixin, _Cart):
    """A classification tree pruned to the size that predicts held-out rows best.

    The held-out loss is the Brier score, which corresponds to the Gini criterion: unlike the error
    rate it responds to every change of a probability, and unlike the log loss it is finite for
    leaves with a single class.

    Categorical splits are exact for two classes (levels ordered by their share) and, for more, for
    up to ten levels; beyond that levels are ordered by the first principal component of their
    shares of classes.

    Parameters
    ----------
    prune, folds, max_depth, min_samples_leaf, surrogates, samples, optimal, categorical
        As in `CartRegressor`.
    monotone, random_state
        As in `CartRegressor`; monotone constraints hold for the probability of the second of two
        classes.
    criterion
        "gini" or "entropy".
    priors
        Probabilities of the classes in the population, in the order of the classes; "equal"; or
        None, which takes their shares among the rows.
    costs
        Square matrix: what it costs to predict the class of a column where that of the row is true.
        Two classes are split by altered priors, more by Σ L_kk′ p_k p_k′, and `predict` returns the
        class with the smallest expected cost.

    Attributes
    ----------
    classes_ : ndarray
    tree_ : CartTree
    penalty_ : float
        The penalty per leaf that was chosen.
    penalties_, risks_ : ndarray
        The penalties tried and the cross-validated Brier score of each.

    Examples
    --------
    >>> X = np.arange(40.0)[:, None]
    >>> y = np.where(X.ravel() > 19, "high", "low")
    >>> CartClassifier().fit(X, y).predict([[3.0], [30.0]])
    array(['low', 'high'], dtype='<U4')
    """

    _stratify = True

    def __init__(
        self,
        *,
        prune: bool | Literal["one-se"] = True,
        folds: int = 5,
        criterion: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        surrogates: int = 5,
        samples: int = 0,
        optimal: bool = False,
        priors: Sequence[float] | Literal["equal"] | None = None,
        costs: Sequence[Sequence[float]] | None = None,
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
        random_state: int = 0,
    ) -> None:
        super().__init__(
            prune=prune,
            folds=folds,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            surrogates=surrogates,
            samples=samples,
            optimal=optimal,
            categorical=categorical,
            monotone=monotone,
            random_state=random_state,
        )
        self.priors = priors
        self.costs = costs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and prune it."""
        matrix, labels, cover = self._rows(X, y, sample_weight)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        n_classes = len(self.classes_)
        if any(self.monotone) and n_classes > 2:
            raise InputError(
                f"monotone constraints need numbers or two classes; there are {n_classes} classes",
                parameter="monotone",
            )
        criterion = "gini" if self.criterion is None else self.criterion
        if criterion not in ("gini", "entropy"):
            raise unknown_choice("criterion", criterion, ("gini", "entropy"), kind=Setting)
        rows = self._presorted(matrix)
        costs = self._costs(n_classes)
        totals: Floats = np.bincount(codes, cover, n_classes).astype(np.float64)
        of_prior = self._prior_weights(totals)
        altered = of_prior
        if costs is not None and n_classes == 2:
            altered, costs = of_prior * costs.sum(axis=1), None
        self._alteration = altered / of_prior
        # two classes: Gini's index is twice the squared error of 0 and 1
        self._by_share = n_classes == 2 and criterion == "gini"
        growth = Growth(
            "squared" if self._by_share else criterion,
            n_classes=0 if self._by_share else n_classes,
            costs=None if costs is None else (costs + costs.T) / 2,
            risk_scale=2.0 if self._by_share else 1.0,
            **self._limits(),
        )
        sample = TreeSample(
            matrix, rows, codes.astype(float), cover * altered[codes], cover, growth
        )
        self._fit(sample)
        return self

    def _costs(self, n_classes: int) -> Floats | None:
        """Return the cost matrix, checked."""
        if self.costs is None:
            return None
        try:
            costs = np.asarray(self.costs, dtype=np.float64)
        except (TypeError, ValueError):
            costs = np.empty(0)
        size = f"{n_classes} rows and columns"
        if costs.shape != (n_classes, n_classes):
            raise bad_value("costs", self.costs, f"it must be a matrix with {size}", kind=Setting)
        off = ~np.eye(n_classes, dtype=bool)
        if not np.isfinite(costs).all() or (costs < 0).any() or costs[~off].any():
            raise bad_value(
                "costs",
                self.costs,
                "costs must be 0 or more, with zeros in the diagonal",
                kind=Setting,
            )
        if (costs.sum(axis=1) == 0).any():
            raise bad_value(
                "costs", self.costs, "every class needs a cost above 0 of missing it", kind=Setting
            )
        return costs

    def _prior_weights(self, totals: Floats) -> Floats:
        """Return the factor of each class that turns its share into its prior."""
        if self.priors is None:
            return np.ones(len(totals))
        if isinstance(self.priors, str) and self.priors == "equal":
            priors = np.full(len(totals), 1 / len(totals))
        else:
            try:
                priors = np.asarray(self.priors, dtype=np.float64)
            except (TypeError, ValueError):
                priors = np.empty(0)
        if priors.shape != totals.shape or not (priors > 0).all() or abs(priors.sum() - 1) > 1e-6:
            raise bad_value(
                "priors",
                self.priors,
                f"it must be {len(totals)} probabilities above 0 that sum to 1, or 'equal'",
                kind=Setting,
            )
        shares = totals / totals.sum()
        # a class whose rows weigh nothing is in no leaf
        return np.where(shares > 0, priors / np.where(shares > 0, shares, 1.0), 1.0)

    @property
    def is_plain(self) -> bool:
        """Whether it predicts as a tree of ordinary splits does, by the largest share."""
        return self.costs is None and super().is_plain

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of the classes, in the order of ``classes_``."""
        return self.tree_.value[self.apply(X)]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class, or with costs the one with the least expected cost."""
        chosen = self.predict_proba(X)
        if self.costs is not None:
            chosen = -chosen @ np.asarray(self.costs, dtype=np.float64)
        return np.asarray(self.classes_[np.argmax(chosen, axis=1)])

    def _shares(self, value: Floats) -> Floats:
        """Return the shares of all classes, as the criterion weighs them."""
        return np.column_stack([1 - value[:, 0], value[:, 0]]) if self._by_share else value

    def _losses(self, value: Floats, target: Floats) -> Callable[[Index, Index], Floats]:
        shares = self._shares(value)
        size = (shares**2).sum(axis=1)
        codes = target.astype(np.intp)

        def brier(nodes: Index, rows: Index) -> Floats:
            # Σ_k (1[y = k] − p_k)²
            return np.asarray(size[nodes] - 2 * shares[nodes, codes[rows]] + 1)

        return brier

    def _values(self, tree: CartTree) -> Floats:
        shares = self._shares(tree.value) / self._alteration
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
