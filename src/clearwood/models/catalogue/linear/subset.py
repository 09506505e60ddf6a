"""Least squares on a subset of the columns: best, forward or backward, its size by a criterion."""

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.messages import tell
from clearwood.kernels import MOST_GROUPS, Subsets, best_subsets
from clearwood.models.shared.folds import Folds
from clearwood.models.shared.rows import (
    check_choice,
    check_size,
    check_whole,
    independent_columns,
    row_weights,
)

__all__ = [
    "Criterion",
    "LeastSquares",
    "Search",
    "SubsetRegressor",
    "backward",
    "best",
    "fit_criteria",
    "forward",
]


# Subsets of columns for least squares, one of each size: the best, or found step by step.


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Inner products of independent columns, each of unit size, and the target.

    Parameters
    ----------
    products, moments, total
        Of columns and columns, columns and target, target and target.
    columns
        Their positions among all columns.
    groups
        Of each column, from 0 on, in increasing order.
    names
        Of each group: the number that its columns had.
    """

    products: Floats
    moments: Floats
    total: float
    columns: Index
    groups: NDArray[np.int32]
    names: Index

    @classmethod
    def of(cls, X: Floats, y: Floats, weight: Floats, groups: Index) -> "LeastSquares":
        """Centre and scale rows; columns that depend on others are left out."""
        root = np.sqrt(weight)
        kept = independent_columns(X[weight > 0])
        kept = kept[np.argsort(groups[kept], kind="stable")]
        centred = X[:, kept] - np.average(X[:, kept], axis=0, weights=weight)
        scaled = root[:, None] * centred
        scaled /= np.linalg.norm(scaled, axis=0)
        target = root * (y - np.average(y, weights=weight))
        names, codes = np.unique(groups[kept], return_inverse=True)
        return cls(
            products=scaled.T @ scaled,
            moments=scaled.T @ target,
            total=float(target @ target),
            columns=kept,
            groups=codes.astype(np.int32),
            names=names,
        )

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.names)

    def rss(self, members: NDArray[np.bool_]) -> float:
        """Compute the residual sum of squares of some groups."""
        inside = members[self.groups]
        if not inside.any():
            return self.total
        factor = cho_factor(self.products[np.ix_(inside, inside)])
        moments = self.moments[inside]
        return max(0.0, self.total - float(moments @ cho_solve(factor, moments)))


def forward(problem: LeastSquares, largest: int) -> Subsets:
    """Add, one at a time, the group that lowers the residual sum of squares most."""
    products, moments = problem.products.copy(), problem.moments.copy()
    members = np.zeros((largest + 1, problem.n_groups), dtype=bool)
    rss = np.full(largest + 1, problem.total)
    blocks = [np.flatnonzero(problem.groups == g) for g in range(problem.n_groups)]
    for size in range(1, largest + 1):
        outside = np.flatnonzero(~members[size - 1])
        gains = [_gain(products, moments, blocks[g]) for g in outside]
        entering = int(outside[np.argmax(gains)])
        members[size] = members[size - 1]
        members[size, entering] = True
        rss[size] = max(0.0, rss[size - 1] - max(gains))
        # what is left of the others once the entering columns are partialled out
        block = blocks[entering]
        across = np.linalg.solve(products[np.ix_(block, block)], products[block])
        moments = moments - across.T @ moments[block]
        products = products - products[:, block] @ across
    return Subsets(members, rss, largest, is_complete=True)


def backward(problem: LeastSquares, largest: int) -> Subsets:
    """Start with all groups and leave out, one at a time, the one that costs least."""
    n_groups = problem.n_groups
    members = np.ones((n_groups + 1, n_groups), dtype=bool)
    rss = np.empty(n_groups + 1)
    rss[n_groups] = problem.rss(members[n_groups])
    for size in range(n_groups - 1, -1, -1):
        inside = members[size + 1][problem.groups]
        inverse = np.asarray(np.linalg.inv(problem.products[np.ix_(inside, inside)]), np.float64)
        coefficients = inverse @ problem.moments[inside]
        held = np.flatnonzero(members[size + 1])
        groups = problem.groups[inside]
        costs = [_gain(inverse, coefficients, np.flatnonzero(groups == g)) for g in held]
        members[size] = members[size + 1]
        members[size, held[np.argmin(costs)]] = False
        rss[size] = rss[size + 1] + min(costs)
    rss[0] = problem.total
    return Subsets(members[: largest + 1], rss[: largest + 1], n_groups, is_complete=True)


def best(problem: LeastSquares, largest: int, *, max_nodes: int) -> Subsets:
    """Search all subsets of each size by leaps and bounds."""
    first, second = forward(problem, largest), backward(problem, largest)
    is_first = first.rss <= second.rss
    members = np.where(is_first[:, None], first.members, second.members)
    # rounding of the stepwise sums must not hide a subset that is as good
    rss = np.array([problem.rss(one) for one in members]) * (1 + 1e-10)
    return best_subsets(
        problem.products,
        problem.moments,
        problem.total,
        problem.groups,
        largest=largest,
        candidates=(members, rss),
        max_nodes=max_nodes,
    )


def _gain(products: Floats, moments: Floats, block: Index) -> float:
    """Compute m' P⁻¹ m for a block of columns: what entering lowers, or leaving raises, the sum."""
    if len(block) == 1:
        size = float(products[block[0], block[0]])
        return float(moments[block[0]]) ** 2 / size if size > 0 else 0.0
    part = moments[block]
    solved, *_ = np.linalg.lstsq(products[np.ix_(block, block)], part, rcond=None)
    return float(part @ solved)


Search = Literal["best", "forward", "backward"]
Criterion = Literal["bic", "aic", "cp", "cv", "cv-1se"]


def fit_criteria(rss: Floats, n_parameters: Floats, n: float, variance: float) -> dict[str, Floats]:
    """Compute AIC, BIC, Mallows' Cp and the adjusted R² of least-squares fits.

    Parameters
    ----------
    rss
        Residual sums of squares; the first is that of the constant alone.
    n_parameters
        Of each, the constant included.
    n
        Rows, or the sum of their weights.
    variance
        Of the errors, from the largest model; NaN where there is none, then Cp is NaN.

    Notes
    -----
    AIC and BIC are those of normal errors of unknown variance, without the terms that are the same
    for all: n log(rss / n) + 2 k, and + k log n. Cp is rss / variance - n + 2 k (Mallows 1973).

    Examples
    --------
    >>> found = fit_criteria(np.array([10.0, 2.0]), np.array([1.0, 2.0]), 10, 0.25)
    >>> found["cp"].tolist(), found["bic"].round(2).tolist()
    ([32.0, 2.0], [2.3, -11.49])
    """
    # a perfect fit has the best value there is rather than none
    log = n * np.log(np.maximum(rss, np.finfo(float).tiny) / n)
    left = np.maximum(n - n_parameters, np.finfo(float).tiny)
    with np.errstate(divide="ignore", invalid="ignore"):
        adjusted = 1 - (rss / left) / (rss[0] / max(n - 1, np.finfo(float).tiny))
        cp = rss / variance - n + 2 * n_parameters
    return {
        "aic": log + 2 * n_parameters,
        "bic": log + n_parameters * np.log(n),
        "cp": cp,
        "adjusted_r2": adjusted,
    }


class SubsetRegressor(RegressorMixin, BaseEstimator):
    """Least squares on the columns that a search over subsets chooses.

    For each number of columns the search finds one subset; the criterion chooses among them. A
    category enters with all its levels or not at all.

    Parameters
    ----------
    search
        "best": no subset of the size has a smaller residual sum of squares (leaps and bounds).
        "forward": adds the column that helps most to the subset before. "backward": leaves out the
        one that costs least, from all columns on.
    criterion
        How the size is chosen: "bic", "aic", "cp" (Mallows), "cv" (the least error of 10 folds, in
        each of which the search is repeated), or "cv-1se" (the fewest columns within one standard
        error of it).
    size
        The number of columns, in place of a criterion.
    max_size
        The greatest number of columns; 40 when None and there are more.
    max_nodes
        Where the search for the best ends at the latest; a warning follows if it does.
    groups
        The column of the table that each column is made from, as numbers; by default its own.
    random_state
        Fixes the folds.

    Attributes
    ----------
    coef_ : ndarray
        Zero for the columns left out.
    intercept_ : float
    path_ : dict
        For each number of columns from 0 on: ``members`` (which groups), ``coefficients``,
        ``intercept``, ``rss``, ``n_parameters``, ``aic``, ``bic``, ``cp``, ``adjusted_r2``, and
        with cross-validation ``cv`` and ``cv_error``, its standard error.
    chosen_ : int
        The position of the chosen subset in the path.
    is_complete_ : bool
        Whether every subset of the path is the one that the search looks for.

    Notes
    -----
    Standard errors and p-values of least squares on the chosen columns would ignore that the same
    rows chose them. None are given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 8))
    >>> y = X[:, 1] - X[:, 6] + rng.normal(size=100)
    >>> SubsetRegressor().fit(X, y).coef_.round(1)
    array([ 0. ,  1.1,  0. ,  0. ,  0. ,  0. , -1. ,  0. ])
    """

    def __init__(
        self,
        *,
        search: Search = "best",
        criterion: Criterion = "bic",
        size: int | None = None,
        max_size: int | None = None,
        max_nodes: int = 3_000_000,
        groups: tuple[int, ...] = (),
        random_state: int = 0,
    ) -> None:
        self.search = search
        self.criterion = criterion
        self.size = size
        self.max_size = max_size
        self.max_nodes = max_nodes
        self.groups = groups
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search the path, choose a subset and fit it."""
        matrix, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self._check_settings()
        weight, used = row_weights(sample_weight, matrix)
        matrix, target = matrix[used], target[used]
        check_size(target, weight)
        self.n_features_in_ = matrix.shape[1]
        groups = np.asarray(self.groups or np.arange(matrix.shape[1]), dtype=np.intp)
        problem = LeastSquares.of(matrix, target, weight, groups)
        found = self._searched(problem, len(target))
        self.is_complete_ = found.is_complete
        self.path_ = _refitted(problem, found, matrix, target, weight, groups)
        n = float(weight.sum())
        self.path_ |= fit_criteria(
            self.path_["rss"], self.path_["n_parameters"], n, self._variance(problem, n)
        )
        if self.size is None and self.criterion in ("cv", "cv-1se"):
            errors = self._held_out(matrix, target, weight, groups, len(found.rss))
            self.path_["cv"], self.path_["cv_error"] = errors
        self.chosen_ = self._choice()
        self.coef_ = self.path_["coefficients"][self.chosen_].copy()
        self.intercept_ = float(self.path_["intercept"][self.chosen_])
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        check_is_fitted(self)
        predicted: Floats = np.asarray(X, dtype=np.float64) @ self.coef_
        return predicted + self.intercept_

    def _check_settings(self) -> None:
        """Refuse settings that mean nothing."""
        check_choice("search", self.search, get_args(Search))
        check_choice("criterion", self.criterion, get_args(Criterion))
        for name, least in (("size", 0), ("max_size", 1), ("max_nodes", 1)):
            value = getattr(self, name)
            if value is not None:
                check_whole(name, value, least)

    def _searched(self, problem: LeastSquares, n_rows: int) -> Subsets:
        """Find a subset of each size."""
        if self.search != "forward" and len(problem.columns) >= n_rows - 1:
            raise InputError(
                f"{self.n_features_in_} columns, each level counted, fit {n_rows} rows exactly, so "
                "their subsets cannot be ranked from the full model down",
                parameter="search",
                value=self.search,
                hint=words(
                    "set ",
                    Setting("search", "forward"),
                    ", or take learner 'lasso', which has no such limit.",
                ),
            )
        if self.search == "best" and problem.n_groups > MOST_GROUPS:
            raise InputError(
                f"the best subset is searched among {MOST_GROUPS} columns at most, and there are "
                f"{problem.n_groups}",
                parameter="search",
                value=self.search,
                hint=words(
                    "set ", Setting("search", "forward"), ", or leave columns out beforehand."
                ),
            )
        largest = min(self.max_size or 40, problem.n_groups)
        if self.size is not None:
            largest = min(self.size, problem.n_groups)
        if self.search == "backward":
            return backward(problem, largest)
        # each column of a forward step needs a row of its own, and one is left for the error
        widths = np.sort(np.bincount(problem.groups, minlength=1))[::-1]
        largest = min(largest, int(np.count_nonzero(np.cumsum(widths) < n_rows - 1)))
        if self.search == "forward":
            return forward(problem, largest)
        found = best(problem, largest, max_nodes=self.max_nodes)
        if not found.is_complete:
            tell(
                words(
                    f"the search ended after {self.max_nodes:,} nodes: the subsets are the best "
                    "that were seen, and better ones may exist. Allow more with ",
                    Setting("max_nodes", 10 * self.max_nodes),
                    ".",
                )
            )
        return found

    def _variance(self, problem: LeastSquares, n: float) -> float:
        """Estimate the variance of the errors with all columns; NaN if none would be left."""
        left = n - len(problem.columns) - 1
        if left <= 0:
            return float("nan")
        return problem.rss(np.ones(problem.n_groups, dtype=bool)) / left

    def _held_out(
        self, matrix: Floats, target: Floats, weight: Floats, groups: Index, n_sizes: int
    ) -> tuple[Floats, Floats]:
        """Return the mean squared error of held-out rows for each size, and its standard error."""
        squares = np.full((len(target), n_sizes), np.nan)
        for train, test in Folds(10, seed=self.random_state).split(matrix, target):
            problem = LeastSquares.of(matrix[train], target[train], weight[train], groups)
            found = self._searched(problem, len(train))
            path = _refitted(problem, found, matrix[train], target[train], weight[train], groups)
            size = np.minimum(np.arange(n_sizes), len(found.rss) - 1)
            fitted = matrix[test] @ path["coefficients"][size].T + path["intercept"][size]
            squares[test] = (target[test, None] - fitted) ** 2
        share = weight / weight.sum()
        mean = share @ squares
        error = np.sqrt((share**2) @ (squares - mean) ** 2)
        return mean, error

    def _choice(self) -> int:
        """Choose the size."""
        n_sizes = len(self.path_["rss"])
        if self.size is not None:
            return min(self.size, n_sizes - 1)
        if self.criterion in ("cv", "cv-1se"):
            mean = self.path_["cv"]
            lowest = int(np.argmin(mean))
            if self.criterion == "cv":
                return lowest
            return int(np.argmax(mean <= mean[lowest] + self.path_["cv_error"][lowest]))
        values = self.path_[self.criterion]
        if np.isnan(values).all():
            raise InputError(
                "Cp needs the variance of the errors, and with all columns no row is left for it",
                parameter="criterion",
                value=self.criterion,
                hint=words("set ", Setting("criterion", "cv"), "."),
            )
        return int(np.nanargmin(values))


def _refitted(
    problem: LeastSquares,
    found: Subsets,
    matrix: Floats,
    target: Floats,
    weight: Floats,
    groups: Index,
) -> dict[str, NDArray[Any]]:
    """Fit least squares to each subset."""
    n_sizes = len(found.rss)
    root = np.sqrt(weight)
    centre = np.average(matrix, axis=0, weights=weight)
    level = float(np.average(target, weights=weight))
    independent = np.zeros(matrix.shape[1], dtype=bool)
    independent[problem.columns] = True
    coefficients = np.zeros((n_sizes, matrix.shape[1]))
    rss, n_parameters = np.empty(n_sizes), np.empty(n_sizes)
    for size in range(n_sizes):
        inside = np.isin(groups, problem.names[found.members[size]]) & independent
        design = root[:, None] * (matrix[:, inside] - centre[inside])
        solved, *_ = np.linalg.lstsq(design, root * (target - level), rcond=None)
        coefficients[size, inside] = solved
        rss[size] = float(((root * (target - level) - design @ solved) ** 2).sum())
        n_parameters[size] = 1 + np.count_nonzero(inside)
    members = np.zeros((n_sizes, int(groups.max(initial=-1)) + 1), dtype=bool)
    members[:, problem.names] = found.members
    return {
        "members": members,
        "coefficients": coefficients,
        "intercept": level - coefficients @ centre,
        "rss": rss,
        "n_parameters": n_parameters,
    }
