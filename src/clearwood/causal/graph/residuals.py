"""What is left of columns after they are predicted from others, out of fold."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.fitted import FittedModel
from clearwood.models import Learner, catalogue
from clearwood.table import Column, Kind, Table, Task

__all__ = ["Left", "Residuals"]

#: Levels with fewer rows than this are joined; from this many levels on, the rarest are.
FEWEST, MOST_LEVELS = 25, 12
#: The largest ratio that is believed: learners such as forests repeat the rows of their fit.
MOST_OPTIMISM = 1.4


@dataclass(frozen=True, eq=False)
class Left:
    """The residuals of one column.

    Parameters
    ----------
    values
        A column for each indicator, and one for numbers; NaN in rows where the column is missing.
    predicted
        The predictions that were subtracted, one column for each.
    optimism
        By how much squared errors out of fold are larger than in the training rowss, as a ratio.
    levels
        What each indicator stands for; empty for numbers.
    """

    values: Floats
    predicted: Floats
    optimism: Floats
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of columns of a table; those that are needed twice are computed once.

    Parameters
    ----------
    table
        The rows, of which all count.
    weights
        How much each one counts.
    folds
        The fold of each row.
    learner
        The name of the learner.
    seed, n_jobs
        Of the learner.
    """

    table: Table
    weights: Floats
    folds: Index
    learner: str
    seed: int
    n_jobs: int
    _known: dict[tuple[str, tuple[str, ...]], Left] = field(default_factory=dict)

    def of(self, name: str, given: tuple[str, ...]) -> Left:
        """Return what is left of a column after it is predicted from others."""
        key = name, given
        if key not in self._known:
            self._known[key] = self._left(self._column(name), given)
        return self._known[key]

    def _column(self, name: str) -> Column:
        """Return a column; the target of a table with an exposure is the rate."""
        return self.table.target_column if name == self.table.target else self.table.column(name)

    def _left(self, column: Column, given: tuple[str, ...]) -> Left:
        """Predict a column out of fold and subtract."""
        if column.is_coded:
            codes, levels = _joined(column)
            truth = (codes[:, None] == np.arange(len(levels))).astype(np.float64)
            truth[codes < 0] = np.nan
        else:
            codes, levels = np.zeros(0, np.intp), ()
            truth = _numbers(column)[:, None]
        known = ~np.isnan(truth[:, 0])
        predicted = np.full_like(truth, np.nan)
        inside = np.zeros(truth.shape[1])
        features = Table(tuple(self._column(name) for name in given))
        for fold in np.unique(self.folds):
            train, test = known & (self.folds != fold), known & (self.folds == fold)
            if not train.any():
                continue
            if given:
                both = self._predicted(features, truth, codes, train, train | test)
                errors = truth[train] - both[train]
                inside += self.weights[train] @ errors**2 / self.weights[train].sum()
                predicted[test] = both[test]
            else:  # nothing is learned but the mean, for which folds are not needed
                predicted[test] = np.average(truth[known], axis=0, weights=self.weights[known])
        left = truth - predicted
        # one of two indicators is enough, as they are each other's opposite
        columns = slice(1, None) if len(levels) == 2 else slice(None)
        optimism = self._optimism(left, inside / len(np.unique(self.folds)), known)
        return Left(left[:, columns], predicted[:, columns], optimism[columns], levels[columns])

    def _optimism(self, left: Floats, inside: Floats, known: Bools) -> Floats:
        """Compare squared errors out of fold with those in the training rowss."""
        if not known.any() or not inside.any():
            return np.ones(left.shape[1])
        outside = np.average(left[known] ** 2, axis=0, weights=self.weights[known])
        ratios = outside / np.maximum(inside, 1e-300)
        return np.clip(ratios, 1.0, MOST_OPTIMISM)

    def _predicted(
        self, features: Table, truth: Floats, codes: Index, train: Bools, wanted: Bools
    ) -> Floats:
        """Fit the learner to some rows and predict others: numbers, or the chances of levels."""
        predicted = np.full_like(truth, np.nan)
        with warnings.catch_warnings():
            # rows in which all that is given is missing are predicted by the mean, as wanted
            warnings.simplefilter("ignore", ClearwoodWarning)
            predicted[wanted] = self._fitted(features, truth, codes, train, wanted)
        return predicted

    def _fitted(
        self, features: Table, truth: Floats, codes: Index, train: Bools, test: Bools
    ) -> Floats:
        """Return the predictions of wanted rows only."""
        rows, weights = features.take(train), self.weights[train]
        weight = None if np.all(self.weights == self.weights[0]) else weights
        means = np.tile(np.average(truth[train], axis=0, weights=weights), (test.sum(), 1))
        if len(codes):
            present = np.unique(codes[train])
            if len(present) < 2:
                return means
            task = Task.BINARY if len(present) == 2 else Task.MULTICLASS
            if task in catalogue.get(self.learner).tasks:
                model = self._model(task).fit(rows, codes[train].astype(str), weight)
                levels = [str(k) for k in range(truth.shape[1])]
                view = FittedModel(model, classes=levels)
                return view.predict(features.take(test), scale="probability")
        for place in range(truth.shape[1]):
            target = truth[train, place]
            if np.ptp(target) == 0:
                continue
            model = self._model(Task.REGRESSION).fit(rows, target, weight)
            means[:, place] = model.predict(features.take(test))
        return means

    def _model(self, task: Task) -> Learner:
        """Return the learner for a task."""
        return Learner(self.learner, task=str(task), seed=self.seed, n_jobs=self.n_jobs)


def _numbers(column: Column) -> Floats:
    """Return numbers around zero on a scale of one, and dates as numbers."""
    if column.kind is Kind.TEXT:
        raise InputError(
            f"column {column.name!r} is text, which cannot be tested",
            parameter="data",
            value=column.name,
            hint="leave its node out of the graph, or mark it as hidden.",
        )
    if column.kind is Kind.DATE:
        values = column.values.astype("datetime64[us]").astype(np.float64)
        values[column.missing] = np.nan
    else:
        values = np.asarray(column.values, np.float64)
    largest = np.nanmax(np.abs(values), initial=0.0)
    values = values / largest if largest > 0 else values
    spread = np.nanstd(values) if np.isfinite(values).any() else 0.0
    return (values - np.nanmean(values)) / spread if spread > 0 else values


def _joined(column: Column) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Join the rarest levels of a column; -1 stands for missing values."""
    codes = np.asarray(column.values, np.intp)
    counts = np.bincount(codes[codes >= 0], minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")
    kept = [k for k in order[:MOST_LEVELS].tolist() if counts[k] >= FEWEST]
    rest = int(counts.sum() - counts[kept].sum())
    if 0 < rest < FEWEST and len(kept) > 1:
        kept.pop()  # too few are left for a level of their own
    kept.sort()
    place = np.full(len(column.levels) + 1, len(kept), np.intp)
    place[kept] = np.arange(len(kept))
    place[-1] = -1
    levels = [column.levels[k] for k in kept]
    if counts.sum() > counts[kept].sum():
        levels.append("other levels")
    return place[codes], tuple(levels)
