"""Leakage: columns that predict the target almost perfectly without any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import count, percent
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, html_table
from clearwood.table import Column, Kind, as_table

__all__ = ["Leakage", "indicators", "leakage"]

#: A column that explains more than this by itself is suspected of leakage.
SUSPECT = 0.98
_MOST_ROWS = 3000
_FOLDS = 3
_FEWEST_ROWS = 12
_LEAVES = 32


@dataclass(frozen=True, eq=False, repr=False)
class Leakage(Result):
    """The share of the target's variance that each column explains by itself on held-out rows.

    Computed by `clearwood.checks.leakage`.

    Parameters
    ----------
    target
        What is predicted.
    columns
        The features.
    explained
        For each, one minus the squared error of a small tree on this column over that of the mean
        (for classes: of their indicators). It is at most 1, and below 0 where the tree is worse
        than the mean.
    n_rows
        How many rows were used.
    """

    target: str
    columns: tuple[str, ...]
    explained: Floats
    n_rows: int

    _derived = ("suspects",)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Columns that predict the target almost perfectly by themselves."""
        return tuple(self.columns[k] for k in self._order if self.explained[k] > SUSPECT)

    @property
    def _order(self) -> Index:
        return np.argsort(-self.explained, kind="stable")

    def __getitem__(self, column: str) -> float:
        return float(self.explained[self.columns.index(column)])

    def __repr__(self) -> str:
        best = ", ".join(f"{self.columns[k]} {percent(self.explained[k])}" for k in self._order[:6])
        rows = count(self.n_rows, "row")
        return f"Leakage, share of {self.target!r} explained by single columns ({rows}): {best}"

    def _repr_html_(self) -> str:
        rows = [(self.columns[k], percent(self.explained[k])) for k in self._order[:30]]
        caption = f"Share of {self.target} explained by single columns"
        return html_table(caption, ("column", "explained"), rows)

    def _columns(self) -> Mapping[str, Any]:
        """Return one row per column, the one that explains most first."""
        order = self._order
        return {"column": [self.columns[k] for k in order], "explained": self.explained[order]}


def leakage(data: Any, *, sample: int = _MOST_ROWS, seed: int = 0) -> Leakage:
    """Compute how much of the target each column explains by itself, to find leakage.

    A column that predicts the target almost perfectly by itself often contains the answer: it was
    filled in afterwards, or is the target in another form. A model that relies on it is worthless
    where the answer is not known yet. Whether a suspect is a leak depends on how and when the
    column was recorded, which the data cannot show.

    Parameters
    ----------
    data
        A table with a target.
    sample
        The most rows used.
    seed
        Fixes the draw of rows and the folds.

    Returns
    -------
    Leakage

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> data = {"y": y, "copy": 3 * y + 1, "noise": rng.normal(size=400)}
    >>> import clearwood as cw
    >>> leakage(cw.read(data, target="y")).suspects
    ('copy',)
    """
    table = as_table(data)
    if table.target is None:
        raise InputError(
            "the table has no target",
            parameter="target",
            hint=words("name the column to predict: ", Option("target", "COLUMN"), "."),
        )
    if table.n_rows < _FEWEST_ROWS:
        raise InputError(
            f"the table has {count(table.n_rows, 'row')}; at least {_FEWEST_ROWS} are needed",
            parameter="data",
            value=table.n_rows,
        )
    rows = draw_rows(table.n_rows, sample, seed=seed)
    truth = indicators(table.column(table.target).take(rows))
    explained = []
    with progress("one column at a time", total=len(table.features)) as step:
        for name in table.features:
            explained.append(_explained(table.column(name).take(rows), truth, seed))
            step(1, note=name)
    return Leakage(table.target, table.features, np.array(explained), len(rows))


def indicators(column: Column) -> Floats:
    """Return numbers as one column, classes as indicators."""
    if not column.is_coded:
        return np.asarray(column.values[:, None], np.float64)
    codes = column.values
    return np.asarray(codes[:, None] == np.unique(codes)[None, :], np.float64)


def _explained(column: Column, truth: Floats, seed: int) -> float:
    total, left = 0.0, 0.0
    for train, test in KFold(_FOLDS, shuffle=True, random_state=seed).split(truth):
        mean = truth[train].mean(axis=0)
        predicted = _predictions(column, truth, train, test, mean)
        total += float(((truth[test] - mean) ** 2).sum())
        left += float(((truth[test] - predicted) ** 2).sum())
    return 1 - left / total if total > 0 else 0.0


def _predictions(
    column: Column, truth: Floats, train: NDArray[Any], test: NDArray[Any], mean: Floats
) -> Floats:
    """Predict from one column: by a small tree along an axis, else by the mean of each level."""
    if column.kind is Kind.TEXT or column.is_coded:
        codes = (
            column.values + 1
            if column.is_coded
            else np.unique(np.where(column.missing, "", column.values), return_inverse=True)[1]
        )
        counts = np.bincount(codes[train], minlength=codes.max() + 1)
        # the overall mean counts as one more row, which shrinks the means of rare levels
        sums = np.column_stack(
            [np.bincount(codes[train], t, minlength=len(counts)) for t in truth[train].T]
        )
        means: Floats = (sums + mean) / (counts[:, None] + 1)
        return np.asarray(means[codes[test]])
    numbers = (
        np.where(column.missing, np.nan, column.values.astype("datetime64[us]").astype(np.float64))
        if column.kind is Kind.DATE
        else column.values
    )
    tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=2)
    tree.fit(numbers[train, None], truth[train])
    return np.asarray(tree.predict(numbers[test, None])).reshape(len(test), -1)
