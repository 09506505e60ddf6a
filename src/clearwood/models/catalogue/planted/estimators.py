"""Random planted forests for numbers, counts and classes, as scikit-learn estimators."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.kernels import PlantedLeaves, PlantedLoss, plant
from clearwood.models.shared.binning import Binned, bin_columns, category_orders
from clearwood.models.shared.conditions import Among, Between, Condition, Rule, chains
from clearwood.models.shared.rows import check_real, check_whole
from clearwood.models.shared.score import Link, ProductTerm, ScoreParts, SumOfProducts
from clearwood.models.shared.score_estimators import (
    Scored,
    ScoredClasses,
    ScoredCounts,
    ScoredNumbers,
)

__all__ = ["PlantedClassifier", "PlantedPoisson", "PlantedRegressor", "Steps", "parts_of_leaves"]


# Planted leaves as curves of one column and as trees of several.


# Training rows that tell how much weight a node has.
_ROWS_COUNTED = 500


@dataclass(frozen=True, eq=False)
class Steps:
    """Step functions of a column, one for each output.

    Parameters
    ----------
    edges
        Thresholds between bins: a value up to ``edges[b]`` is in bin b or below. Empty for codes.
    table
        Of shape (bins or codes, outputs), and last what missing values and unseen levels have.
    has_codes
        Whether the column holds category codes.

    Examples
    --------
    >>> steps = Steps(np.array([2.0]), np.array([[1.0], [5.0], [0.0]]), has_codes=False)
    >>> steps(np.array([2.0, 3.0, np.nan])).ravel()
    array([1., 5., 0.])
    """

    edges: Floats
    table: Floats
    has_codes: bool

    def __call__(self, values: Floats) -> Floats:
        """Look up the step of each value, of shape (rows, outputs)."""
        last = len(self.table) - 1
        if self.has_codes:
            known = (values >= 0) & (values < last)  # False where missing
            place = np.where(known, values, last).astype(np.intp)
        else:
            place = np.searchsorted(self.edges, values, side="left")
            place = np.where(np.isnan(values), last, place)
        return np.asarray(self.table[place])


def parts_of_leaves(
    leaves: PlantedLeaves,
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
    *,
    n_families: int,
    link: Link,
    X: Floats,
    weight: Floats,
) -> ScoreParts:
    """Describe the mean of all families as a constant, curves of one column, and trees.

    Parameters
    ----------
    leaves, binned
        The leaves, and the bins they are made of.
    ranks
        For each column of categories, the place of each code in the order of the bins, from 1 on;
        None for columns of numbers.
    n_families
        How many families the leaves are of.
    link
        Turns the score into the prediction.
    X, weight
        Training rows, some of which count the weight of nodes.
    """
    n_sides = (leaves.column >= 0).sum(axis=1)
    value = leaves.value / n_families
    constant = value[n_sides == 0].sum(axis=0)
    terms = _curves(leaves, value, n_sides == 1, binned, ranks)
    rules, coefficients = _rules(leaves, value, n_sides > 1, binned, ranks)
    some = np.linspace(0, len(X) - 1, min(len(X), _ROWS_COUNTED)).round().astype(np.intp)
    share = weight[some] * (weight.sum() / max(weight[some].sum(), 1e-300))
    trees = chains(rules, coefficients, X[some], share)
    return ScoreParts(SumOfProducts(constant, terms), trees, link)


def _curves(
    leaves: PlantedLeaves,
    value: Floats,
    chosen: Bools,
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
) -> tuple[ProductTerm, ...]:
    """Add up the leaves of single columns as one step function each."""
    n_outputs = value.shape[1]
    terms = []
    for column in np.unique(leaves.column[chosen, 0]):
        mine = np.flatnonzero(chosen & (leaves.column[:, 0] == column))
        n_bins = int(binned.n_bins[column])
        jumps = np.zeros((n_bins + 1, n_outputs))
        np.add.at(jumps, leaves.low[mine, 0], value[mine])
        np.add.at(jumps, leaves.high[mine, 0], -value[mine])
        steps = np.cumsum(jumps, axis=0)[:n_bins]
        order = ranks[column]
        if order is not None:
            steps = steps[order - 1]
        missing = value[mine][leaves.missing[mine, 0]].sum(axis=0)
        basis = Steps(binned.edges[column], np.vstack([steps, missing]), order is not None)
        terms.append(ProductTerm((int(column),), (basis,), np.eye(n_outputs)))
    return tuple(terms)


def _rules(
    leaves: PlantedLeaves,
    value: Floats,
    chosen: Bools,
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
) -> tuple[list[Rule], Floats]:
    """Return the leaves of several columns as rules; equal ones are added up."""
    order = np.argsort(np.where(leaves.column < 0, len(binned.n_bins), leaves.column), axis=1)
    sides = [
        np.take_along_axis(part, order, axis=1)[chosen].astype(np.int32)
        for part in (leaves.column, leaves.low, leaves.high, leaves.missing)
    ]
    if not chosen.any():
        return [], np.zeros((0, value.shape[1]))
    distinct, place = np.unique(np.hstack(sides), axis=0, return_inverse=True)
    coefficients = np.zeros((len(distinct), value.shape[1]))
    np.add.at(coefficients, place.ravel(), value[chosen])
    rules = []
    for row in distinct.reshape(len(distinct), 4, -1):
        conditions = {
            int(column): _condition(binned, ranks, int(column), int(low), int(high), bool(missing))
            for column, low, high, missing in row.T
            if column >= 0
        }
        rules.append(Rule(conditions))
    return rules, coefficients


def _condition(
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
    column: int,
    low: int,
    high: int,
    missing: bool,  # noqa: FBT001 - one of four bounds, in their order
) -> Condition:
    """Write a side of a leaf on the column's own scale."""
    order = ranks[column]
    if order is not None:
        return Among(np.append((order > low) & (order <= high), missing))
    n_bins, edges = int(binned.n_bins[column]), binned.edges[column]
    below = -np.inf if low == 0 else np.inf if low >= n_bins else float(edges[low - 1])
    above = np.inf if high >= n_bins else float(edges[high - 1])
    return Between(below, above, missing=missing)


_LINKS: dict[PlantedLoss, Link] = {
    "squared": "identity",
    "poisson": "log",
    "logistic": "logistic",
    "softmax": "softmax",
}


# On four tables of classes, full Newton steps had 7 % more log loss.
_USUAL_RATE: dict[PlantedLoss, float] = {
    "squared": 1.0,
    "poisson": 0.3,
    "logistic": 0.3,
    "softmax": 0.3,
}


class _Planted(Scored):
    """What regression and classification share: bins, families and the score they make up."""

    def __init__(
        self,
        *,
        order: int = 2,
        n_trees: int = 50,
        n_splits: int = 100,
        n_thresholds: int = 10,
        share: float = 0.4,
        max_candidates: int = 50,
        min_rows: float = 5,
        l2: float = 1.0,
        learning_rate: float | None = None,
        bootstrap: bool = True,
        categorical: Sequence[int] = (),
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.order = order
        self.n_trees = n_trees
        self.n_splits = n_splits
        self.n_thresholds = n_thresholds
        self.share = share
        self.max_candidates = max_candidates
        self.min_rows = min_rows
        self.l2 = l2
        self.learning_rate = learning_rate
        self.bootstrap = bootstrap
        self.categorical = categorical
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grow(
        self,
        X: Floats,
        y: Floats,
        weight: Floats,
        *,
        loss: PlantedLoss,
        start: Floats,
        ordering: Floats,
    ) -> Self:
        """Grow the families and describe their mean; ``ordering`` is what categories are put by."""
        binned = bin_columns(X, self.categorical)
        ranks = _ranks(binned, ordering, weight, self.categorical)
        bins = binned.bins.copy()
        for column in self.categorical:
            order = ranks[column]
            assert order is not None
            bins[column] = np.append(0, order)[binned.bins[column]]
        n_trees = check_whole("n_trees", self.n_trees, 1)
        leaves = plant(
            bins,
            binned.n_bins,
            y,
            start=start,
            loss=loss,
            weight=weight,
            n_families=n_trees,
            order=check_whole("order", self.order, 1, 3),
            n_splits=check_whole("n_splits", self.n_splits, 1),
            n_thresholds=check_whole("n_thresholds", self.n_thresholds, 1),
            max_candidates=check_whole("max_candidates", self.max_candidates, 1),
            share=check_real("share", self.share, 0, 1, strict=True),
            least=check_real("min_rows", self.min_rows, 0, strict=True),
            l2=check_real("l2", self.l2, 0),
            rate=_USUAL_RATE[loss]
            if self.learning_rate is None
            else check_real("learning_rate", self.learning_rate, 0, 1, strict=True),
            bootstrap=self.bootstrap,
            seed=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.parts_ = parts_of_leaves(
            leaves, binned, ranks, n_families=n_trees, link=_LINKS[loss], X=X, weight=weight
        )
        if loss == "poisson":
            # the mean of logarithms is below the logarithm of the mean
            predicted = np.average(np.exp(self.parts_(X)[:, 0]), weights=weight)
            constant = self.parts_.products.constant + start - np.log(predicted)
            self.parts_ = replace(
                self.parts_, products=replace(self.parts_.products, constant=constant)
            )
        return self


class PlantedRegressor(ScoredNumbers, _Planted):
    """A random planted forest for numbers (Hiabu, Mammen and Meyer 2020).

    A family of trees has one tree for each set of at most ``order`` columns. A leaf is split by
    one of its own columns and then replaced, or by another column: then it stays, and two leaves
    are planted in the tree of the larger set. What is left to explain is lowered by the means of
    the two new leaves. The forest is the mean of families grown on bootstrap samples, and with
    ``order=1`` an additive model.

    Missing values go to the side that fits them better; categories are split in the order of
    their mean target.

    Parameters
    ----------
    order
        Columns that a tree may involve, 1 to 3.
    n_trees
        Families.
    n_splits
        Splits of a family.
    n_thresholds
        Thresholds drawn for each leaf and column that is tried.
    share, max_candidates
        Pairs of a leaf and a column tried for each split: this share of them, at most so many.
    min_rows
        The least number of rows of a leaf.
    l2
        Counts as so many more rows of each leaf whose residual is zero.
    learning_rate
        The factor of what a leaf takes up; when None, 1 for numbers, and 0.3 for counts and
        classes, whose Newton steps would overfit.
    bootstrap
        Whether each family has its own bootstrap sample.
    categorical
        Positions of the columns that hold category codes.
    random_state
        Fixes the draws.
    n_jobs
        Threads; the result does not depend on it.

    Attributes
    ----------
    parts_ : ScoreParts
        The score: a constant, a step function of each column, and a small tree for each leaf of
        several columns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 3))
    >>> y = 2 * X[:, 0] + (X[:, 1] > 0.5) * (X[:, 2] > 0.5)
    >>> model = PlantedRegressor().fit(X, y)
    >>> bool(np.std(y - model.predict(X)) < 0.2 * np.std(y))
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the families."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        start = np.array([np.average(target, weights=weight)])
        return self._grow(rows, target, weight, loss="squared", start=start, ordering=target)


class PlantedPoisson(ScoredCounts, _Planted):
    """A random planted forest for counts and rates, with a log link.

    Parameters and attributes are those of `PlantedRegressor`. Leaves take Newton steps of the
    Poisson deviance.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 100, axis=0)
    >>> model = PlantedPoisson().fit(X, np.tile([1, 3], 100) * (1 + X[:, 0]))
    >>> model.predict([[0.0], [1.0]]).round()
    array([2., 4.])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the families."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        start = np.log([np.average(target, weights=weight)])
        return self._grow(rows, target, weight, loss="poisson", start=start, ordering=target)


class PlantedClassifier(ScoredClasses, _Planted):
    """A random planted forest for classes, by the logistic loss.

    Parameters and attributes are those of `PlantedRegressor`, and ``classes_``. Leaves take Newton
    steps of the log loss; with more than two classes a leaf has one value for each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> PlantedClassifier().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the families."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        member = np.eye(len(self.classes_))[codes]
        shares = np.average(member, axis=0, weights=weight)
        is_binary = len(shares) == 2
        start = np.log(shares[1:] / shares[0]) if is_binary else np.log(shares)
        return self._grow(
            rows,
            codes.astype(np.float64),
            weight,
            loss="logistic" if is_binary else "softmax",
            start=start,
            # two classes have one mean; of several, the one most spread over rows
            ordering=member[:, 1] if is_binary else member[:, np.argmax(shares * (1 - shares))],
        )


def _ranks(
    binned: Binned, ordering: Floats, weight: Floats, categorical: Sequence[int]
) -> list[NDArray[np.intp] | None]:
    """Return the place of each code in the order of its smoothed mean; None for numbers."""
    ranks: list[NDArray[np.intp] | None] = [None] * len(binned.n_bins)
    if not len(categorical):
        return ranks
    # the first of two folds keeps all rows
    folds = np.ones(len(weight), np.intp)
    orders = category_orders(binned, ordering[None, :], weight, folds, 2, categorical)
    for place, column in enumerate(categorical):
        n_levels = int(binned.n_bins[column])
        ranks[column] = orders[0, 0, place, 1 : n_levels + 1].astype(np.intp)
    return ranks
