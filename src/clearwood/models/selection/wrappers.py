"""Wrappers: columns with which the learner itself predicts held-out rows best.

scikit-learn searches over columns of a matrix. It gets a matrix of the numbers of the table's
cells, from which a stand-in for the learner knows the rows and the columns of the table.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.progress import Step, progress, silent
from clearwood.models.selection.candidates import Candidates
from clearwood.table import Table, Task

__all__ = ["Problem", "recursive", "sequential"]

#: Folds by which a recursive search judges columns, and the share of columns removed at a time.
_FOLDS = 3
_SHARE = 0.1
_LEAST_RATE = 1e-6


@dataclass(eq=False)
class Problem:
    """A learner, and the rows that it is to be fitted to.

    Parameters
    ----------
    make
        Makes an unfitted learner for some columns.
    table
        The candidates' columns, at the rows that count.
    these
        The candidates.
    weights
        Of the rows; None where all count alike.
    failure
        Why a fit of a search failed, if one did.
    """

    make: Callable[[Sequence[str]], Any]
    table: Table
    these: Candidates
    weights: Floats | None
    failure: Exception | None = None

    @property
    def target(self) -> NDArray[Any]:
        """Numbers, or positions of classes."""
        return self.these.target

    @property
    def cells(self) -> Index:
        """The number of each cell: its row times the number of columns, plus its column."""
        n_rows, n_columns = self.table.n_rows, len(self.table.columns)
        return np.arange(n_rows * n_columns).reshape(n_rows, n_columns)

    def at(self, cells: Index) -> tuple[Index, list[str]]:
        """Return the rows and the names of the columns of some cells."""
        n_columns = len(self.table.columns)
        rows = np.asarray(cells[:, 0] // n_columns, np.intp)
        return rows, [self.table.names[j] for j in np.asarray(cells[0] % n_columns, np.intp)]

    def fit(self, rows: Index, names: list[str]) -> Any:
        """Fit the learner to some rows and columns."""
        weights = None if self.weights is None else self.weights[rows]
        table = self.table.select(names).take(rows)
        try:
            return self.make(names).fit(table, self.target[rows], sample_weight=weights)
        except Exception as error:
            self.failure = self.failure or error
            raise

    @contextmanager
    def searched(self) -> Iterator[None]:
        """Raise the first error of a fit, which a search would only count.

        Warnings of the fits are left out: they are about columns that nobody has chosen yet.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield
            except Exception as error:
                raise self.failure or error from None
        if self.failure is not None:
            raise self.failure

    def loss(self, model: Any, table: Table, rows: Index) -> float:
        """Return the mean loss of the task at rows of the table; it may have shuffled columns."""
        from sklearn.metrics import accuracy_score, log_loss, mean_tweedie_deviance

        truth = self.target[rows]
        weights = None if self.weights is None else self.weights[rows]
        if self.these.task.is_classification and not hasattr(model, "predict_proba"):
            return 1 - float(accuracy_score(truth, model.predict(table), sample_weight=weights))
        if self.these.task.is_classification:
            classes = np.unique(self.target)
            shares = np.zeros((len(rows), len(classes)))
            shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(table)
            return float(log_loss(truth, shares, sample_weight=weights, labels=classes))
        power = {Task.COUNT: 1.0, Task.AMOUNT: 1.5}.get(self.these.task, 0.0)
        predicted = model.predict(table)
        if power:
            predicted = np.maximum(predicted, _LEAST_RATE)
        return float(mean_tweedie_deviance(truth, predicted, sample_weight=weights, power=power))


class _OnCells(BaseEstimator):
    """The learner for a matrix of cells; its score is minus the mean loss."""

    def __init__(self, problem: Problem, step: Step, seen: set[frozenset[str]]) -> None:
        self.problem, self.step, self.seen = problem, step, seen

    def __sklearn_clone__(self) -> Self:
        # scikit-learn would copy the table for each fit
        return type(self)(self.problem, self.step, self.seen)

    def fit(self, X: Index, y: Any) -> Self:
        del y
        self.model_ = self.problem.fit(*self.problem.at(X))
        return self

    def score(self, X: Index, y: Any) -> float:
        del y
        rows, names = self.problem.at(X)
        loss = self.problem.loss(self.model_, self.problem.table.select(names).take(rows), rows)
        self.seen.add(frozenset(names))
        self.step(1)
        return -loss


def sequential(problem: Problem, n: int, *, forward: bool, folds: int) -> tuple[Floats, Bools]:
    """Add or remove one column after the other, by the loss on held-out rows.

    Returns
    -------
    tuple of ndarray and ndarray
        The place of each column, the highest first; and which columns are chosen.
    """
    from sklearn.feature_selection import SequentialFeatureSelector

    names = problem.table.names
    if n >= len(names):
        return np.zeros(len(names)), np.ones(len(names), bool)
    steps = n if forward else len(names) - n
    total = folds * sum(len(names) - k for k in range(steps))
    seen: set[frozenset[str]] = set()
    with problem.searched(), progress("selecting columns", total=total) as step:
        search = SequentialFeatureSelector(
            _OnCells(problem, step, seen),
            n_features_to_select=n,
            direction="forward" if forward else "backward",
            cv=problem.these.folds(folds),
        ).fit(problem.cells, problem.target)
    chosen = np.asarray(search.get_support())
    end = frozenset(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)
    return _places(names, seen, end, forward=forward), chosen


def _places(
    names: Sequence[str], seen: Set[frozenset[str]], end: frozenset[str], *, forward: bool
) -> Floats:
    """Return when each column was added, or removed, from the sets that were looked at.

    The sets of a step are those of the step before and one column more, or less: what they have in
    common is the set that the step began with.
    """
    places = dict.fromkeys(names, 0.0 if forward else float(len(names)))
    sizes = sorted({len(columns) for columns in seen}, reverse=not forward)
    common = frozenset.intersection if forward else frozenset.union
    begun = [common(*(columns for columns in seen if len(columns) == size)) for size in sizes]
    for step, (before, after) in enumerate(pairwise([*begun, end])):
        (moved,) = before ^ after
        places[moved] = float(len(names) - step) if forward else float(step)
    return np.array([places[name] for name in names])


class _Shuffled(BaseEstimator):
    """The learner for a matrix of cells, with what shuffling a column costs on held-out rows."""

    def __init__(self, problem: Problem, step: Step = silent) -> None:
        self.problem, self.step = problem, step

    def __sklearn_clone__(self) -> Self:
        return type(self)(self.problem, self.step)

    def fit(self, X: Index, y: Any) -> Self:
        del y
        problem = self.problem
        _, names = problem.at(X)
        rng = np.random.default_rng(problem.these.seed)
        costs = np.zeros(len(names))
        for train, test in problem.these.folds(_FOLDS):
            model = problem.fit(train, names)
            table = problem.table.select(names).take(test)
            usual = problem.loss(model, table, test)
            order = rng.permutation(len(test))
            for j, column in enumerate(table.columns):
                mixed = replace(
                    table,
                    columns=(*table.columns[:j], column.take(order), *table.columns[j + 1 :]),
                )
                costs[j] += problem.loss(model, mixed, test) - usual
        # scikit-learn squares importances
        self.importances_ = np.maximum(costs, 0.0)
        self.step(1)
        return self


def recursive(problem: Problem, n: int) -> tuple[Floats, Bools]:
    """Remove the columns whose shuffling costs least, a tenth of them at a time.

    Returns
    -------
    tuple of ndarray and ndarray
        The place of each column, those that were removed last the highest; and the chosen columns.
    """
    from sklearn.feature_selection import RFE

    total = len(problem.table.names)
    if n >= total:
        return np.zeros(total), np.ones(total, bool)
    steps = -(-(total - n) // max(1, int(_SHARE * total)))
    with problem.searched(), progress("selecting columns", total=steps + 1) as step:
        search = RFE(
            _Shuffled(problem, step),
            n_features_to_select=n,
            step=_SHARE,
            importance_getter="importances_",
        ).fit(problem.cells, problem.target)
    return np.asarray(search.ranking_.max() - search.ranking_, np.float64), search.support_
