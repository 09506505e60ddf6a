"""Wrappers: columns with which the learner itself predicts held-out rows best.

scikit-learn's recursive search is over columns of a matrix. It gets a matrix of the numbers of the
table's cells, from which a stand-in for the learner knows the rows and the columns of the table.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.progress import Step, progress, silent
from clearwood.models.selection.candidates import Candidates
from clearwood.table import Table, Task

__all__ = ["WrapperProblem", "recursive", "sequential"]

#: Folds by which a recursive search judges columns, and the share of columns removed at a time.
_FOLDS = 3
_SHARE = 0.1
_LEAST_RATE = 1e-6
#: Losses that differ by a smaller share are equal.
_TIE = 1e-9
#: Learners whose fit depends on the moments of the rows only: one factor serves all columns.
_LEAST_SQUARES = ("ols", "ridge")


@dataclass(eq=False)
class WrapperProblem:
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

    def held_out(self, train: Index, test: Index) -> Callable[[Bools], float]:
        """Return a function of chosen columns: the learner's mean loss at held-out rows."""
        quick = _least_squares(self, train, test)
        if quick is not None:
            return lambda chosen: self.deviance(quick.predict(chosen), test)

        def loss(chosen: Bools) -> float:
            names = [name for name, is_in in zip(self.table.names, chosen, strict=True) if is_in]
            return self.loss(self.fit(train, names), self.table.select(names).take(test), test)

        return loss

    def loss(self, model: Any, table: Table, rows: Index) -> float:
        """Return the mean loss of the task at rows of the table; it may have shuffled columns."""
        from sklearn.metrics import accuracy_score, log_loss

        truth = self.target[rows]
        weights = None if self.weights is None else self.weights[rows]
        if self.these.task.is_classification and not hasattr(model, "predict_proba"):
            return 1 - float(accuracy_score(truth, model.predict(table), sample_weight=weights))
        if self.these.task.is_classification:
            classes = np.unique(self.target)
            shares = np.zeros((len(rows), len(classes)))
            shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(table)
            return float(log_loss(truth, shares, sample_weight=weights, labels=classes))
        return self.deviance(model.predict(table), rows)

    def deviance(self, predicted: Floats, rows: Index) -> float:
        """Return the mean loss of numbers that are predicted for some rows."""
        from sklearn.metrics import mean_tweedie_deviance

        weights = None if self.weights is None else self.weights[rows]
        power = {Task.COUNT: 1.0, Task.AMOUNT: 1.5}.get(self.these.task, 0.0)
        if power:
            predicted = np.maximum(predicted, _LEAST_RATE)
        return float(
            mean_tweedie_deviance(self.target[rows], predicted, sample_weight=weights, power=power)
        )


def sequential(
    problem: WrapperProblem, n: int, *, forward: bool, folds: int
) -> tuple[Floats, Bools]:
    """Add or remove one column after the other, by the mean loss over held-out folds.

    Of p columns, n forward steps fit the learner p + (p - 1) + ... times for each fold, and
    backward ones p + (p - 1) + ... + (n + 1) times, with more columns each.

    Returns
    -------
    tuple of ndarray and ndarray
        The place of each column, the highest first; and which columns are chosen.
    """
    total = len(problem.table.names)
    places = np.full(total, 0.0 if forward else float(total))
    if n >= total:
        return np.zeros(total), np.ones(total, bool)
    chosen = np.full(total, not forward)
    steps = n if forward else total - n
    fits = folds * sum(total - k for k in range(steps))
    with problem.searched(), progress("selecting columns", total=fits) as step:
        losses = [problem.held_out(*part) for part in problem.these.folds(folds)]
        for k in range(steps):
            movable = np.flatnonzero(chosen != forward)
            means = np.zeros(len(movable))
            for i, j in enumerate(movable):
                chosen[j] = forward
                means[i] = np.mean([loss(chosen) for loss in losses])
                chosen[j] = not forward
                step(folds)
            # of columns that are equally good the first, whatever the last digits are
            moved = movable[np.argmax(means <= means.min() + _TIE * abs(means.min()))]
            chosen[moved] = forward
            places[moved] = float(total - k if forward else k)
    return places, chosen


@dataclass(frozen=True, eq=False)
class _LeastSquares:
    """Least squares with any columns, from one triangular factor of the training rows.

    Parameters
    ----------
    factor
        Of the centred encoded columns and the target, rows times the roots of their weights. Least
        squares of its rows are those of all rows.
    means
        Of the encoded columns and the target.
    held_out
        Encoded rows to predict.
    owners
        The column of the table that each encoded one is made from.
    alpha
        The weight of the squared coefficients.
    cutoff
        Directions of less than this share of the largest singular value are left out.
    """

    factor: Floats
    means: Floats
    held_out: Floats
    owners: Index
    alpha: float
    cutoff: float

    def predict(self, chosen: Bools) -> Floats:
        """Predict the held-out rows from some columns of the table."""
        own = np.flatnonzero(chosen[self.owners])
        rows, target = self.factor[:, own], self.factor[:, -1]
        if self.alpha:
            rows = np.vstack([rows, np.sqrt(self.alpha) * np.eye(len(own))])
            target = np.append(target, np.zeros(len(own)))
        coefficients = np.linalg.lstsq(rows, target, rcond=self.cutoff)[0]
        return np.asarray(self.means[-1] + (self.held_out[:, own] - self.means[own]) @ coefficients)


def _least_squares(problem: WrapperProblem, train: Index, test: Index) -> _LeastSquares | None:
    """Prepare fits of a learner that is least squares; None for others, which are fitted again.

    A column is encoded in the same way whatever the others are.
    """
    names = problem.table.names
    if problem.make(names).name not in _LEAST_SQUARES:
        return None
    model = problem.fit(train, list(names))
    weights = np.ones(len(train)) if problem.weights is None else problem.weights[train]
    X = model.encoder_.fit_transform(
        problem.table.take(train),
        problem.target[train],
        sample_weight=None if problem.weights is None else weights,
    )
    rows = np.column_stack([X, problem.target[train]])
    means = weights @ rows / weights.sum()
    places = {name: j for j, name in enumerate(names)}
    return _LeastSquares(
        np.asarray(np.linalg.qr(np.sqrt(weights)[:, None] * (rows - means), mode="r")),
        means,
        model.encoder_.transform(problem.table.take(test)),
        np.array([places[column.source] for column in model.encoder_.columns_], np.intp),
        float(getattr(model.estimator_, "alpha", 0.0)),
        float(model.estimator_.tol),
    )


class _Shuffled(BaseEstimator):
    """The learner for a matrix of cells, with what shuffling a column costs on held-out rows."""

    def __init__(self, problem: WrapperProblem, step: Step = silent) -> None:
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


def recursive(problem: WrapperProblem, n: int) -> tuple[Floats, Bools]:
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
