"""Differences between groups shared among columns: Shapley values of the group means."""

from dataclasses import replace

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.progress import progress
from clearwood.explanation import Explanation, Scale, Unit
from clearwood.fairness.gaps.pieces import Pieces, with_values
from clearwood.table import Table, Task

__all__ = ["Shares", "by_column"]

#: Rows of one pass, and passes; each pass is followed by one with the orders of columns reversed.
_MOST_ROWS = 5_000
_PASSES = 4


class Shares:
    """Mean Shapley values by group and column, and their standard errors.

    Parameters
    ----------
    values
        Of shape (groups, columns).
    errors
        Standard errors from drawn rows and orders; zero where the values are exact.
    is_exact
        Whether they are exact.
    """

    def __init__(self, values: Floats, errors: Floats, *, is_exact: bool) -> None:
        self.values = values
        self.errors = errors
        self.is_exact = is_exact

    def summing_to(self, means: Floats) -> "Shares":
        """Return the shares, changed within their error so that each group's sum is its mean.

        Only differences between groups have a meaning, so the means may be off by a constant.
        """
        missing = means - self.values.sum(axis=1)
        missing = missing - _known_mean(missing)
        spread = self.errors**2
        total = spread.sum(axis=1, keepdims=True)
        part = np.where(total > 0, spread / np.where(total > 0, total, 1), 1 / spread.shape[1])
        values = self.values + part * missing[:, None]
        # rounding is left to the last column
        rest = means - values.sum(axis=1)
        values[:, -1] += rest - _known_mean(rest)
        return Shares(values, self.errors, is_exact=self.is_exact)


def _known_mean(values: Floats) -> float:
    """Return the mean over the groups that have rows."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def by_column(pieces: Pieces, fair: Floats, *, seed: int) -> Shares:
    """Share the group means of the fair predictor among the permitted columns.

    Parameters
    ----------
    pieces
        The model and its rows.
    fair
        The fair prediction of each row.
    seed
        Fixes the draws.
    """
    if not pieces.permitted:
        return Shares(np.zeros((len(pieces.groups), 0)), np.zeros((1, 0)), is_exact=True)
    shares = _exact(pieces)
    if shares is None:
        shares = _sampled(pieces, fair, seed)
    return shares.summing_to(pieces.means(fair))


def _exact(pieces: Pieces) -> Shares | None:
    """Read the shares off the decomposition, where the model adds up on this very scale."""
    if pieces.task is Task.MULTICLASS:
        return None
    names = pieces.groups.cells.names
    try:
        why = Explanation(pieces.model.model, pieces.table, max_order=None, weights=pieces.weights)
        parts = why.without([n for n in names if n in why.columns]) if pieces.is_aware else why
        if why.about.is_sampled or why.about.unit not in _units(pieces):
            return None
        values = parts.decomposition.shapley() if parts is why else parts.shapley()
    except InputError:
        return None
    if values.values.ndim != 2:
        return None
    own = [values.columns.index(name) for name in pieces.permitted]
    means = np.column_stack([pieces.means(values.values[:, k]) for k in own])
    return Shares(means, np.zeros_like(means), is_exact=True)


def _units(pieces: Pieces) -> tuple[Unit, ...]:
    """Return the units in which a decomposition is on the scale that is shared."""
    if pieces.task is Task.REGRESSION:
        return (Unit.PREDICTION,)
    if pieces.scale is Scale.RESPONSE:
        return (Unit.PREDICTION, Unit.PROBABILITY)
    return (Unit.LOG_ODDS,) if pieces.task.is_classification else (Unit.LOG_MEAN,)


def _sampled(pieces: Pieces, fair: Floats, seed: int) -> Shares:
    """Change drawn rows into the rows of each group, column by column in random orders.

    The steps of one row add up to the difference of two fair predictions, and their mean over rows
    and orders is the mean Shapley value. Orders come in pairs, each with its reverse.
    """
    rng = np.random.default_rng(seed)
    n_groups, n_columns = len(pieces.groups), len(pieces.permitted)
    passes = np.empty((_PASSES, n_groups, n_columns))
    with progress("sharing the gap among columns", total=_PASSES) as step:
        for one in range(_PASSES):
            rows = _rows(pieces, rng)
            drawn = rng.choice(len(fair), len(rows), p=pieces.weights)
            ranks = np.argsort(rng.random((len(rows), n_columns)), axis=1)
            steps = _steps(pieces, fair, rows, drawn, ranks)
            steps += _steps(pieces, fair, rows, drawn, n_columns - 1 - ranks)
            weights = pieces.weights[rows]
            for group in range(n_groups):
                own = pieces.groups.which[rows] == group
                if not own.any():  # a small group may not be among resampled rows
                    passes[one, group] = np.nan
                    continue
                passes[one, group] = np.average(steps[own] / 2, axis=0, weights=weights[own])
            step(1)
    errors = passes.std(axis=0, ddof=1) / np.sqrt(_PASSES)
    return Shares(passes.mean(axis=0), errors, is_exact=False)


def _rows(pieces: Pieces, rng: np.random.Generator) -> Index:
    """Return rows of every group, no more than so many of each."""
    chosen = []
    most = max(_MOST_ROWS // len(pieces.groups), 100)
    for group in range(len(pieces.groups)):
        own = np.flatnonzero(pieces.groups.which == group)
        chosen.append(own if len(own) <= most else rng.choice(own, most, replace=False))
    return np.concatenate(chosen)


def _steps(pieces: Pieces, fair: Floats, rows: Index, drawn: Index, ranks: Index) -> Floats:
    """Return how the fair prediction moves when each column is changed at its rank."""
    steps = np.zeros(ranks.shape)
    before = fair[drawn]
    every = np.arange(len(rows))
    order = np.argsort(ranks, axis=1)
    for rank in range(ranks.shape[1]):
        if rank == ranks.shape[1] - 1:
            after = fair[rows]
        else:
            after = pieces.fair(_mixed(pieces, rows, drawn, ranks <= rank))
        steps[every, order[:, rank]] = after - before
        before = after
    return steps


def _mixed(pieces: Pieces, rows: Index, drawn: Index, taken: Bools) -> Table:
    """Return drawn rows with some columns of other rows."""
    base = pieces.table.take(drawn)
    columns = []
    for k, name in enumerate(pieces.permitted):
        column = pieces.table.column(name)
        columns.append(
            replace(column, values=np.where(taken[:, k], column.values[rows], column.values[drawn]))
        )
    return with_values(base, Table(tuple(columns)))
