"""What each column predicts on its own: a check for leaks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from clearwood._shared.errors import InputError
from clearwood._shared.frames import frame
from clearwood._shared.progress import progress
from clearwood._shared.results import document, html_table
from clearwood.table import Column, Kind, as_table

__all__ = ["Alone", "alone"]

Floats = NDArray[np.float64]

#: A column that explains more than this on its own is suspected to hold the answer.
SUSPECT = 0.98
_MOST_ROWS = 3000
_FOLDS = 3
_FEWEST_ROWS = 12
_LEAVES = 32


@dataclass(frozen=True, eq=False, repr=False)
class Alone:
    """The share of the target that each column explains on its own, on rows not fitted to.

    Made by `clearwood.checks.alone`.

    Parameters
    ----------
    target
        What is predicted.
    columns
        The features.
    explained
        For each, one less the squared error of a small tree on this column alone over that of the
        mean (of classes: of their indicators); at most 1, and below 0 where it is worse than the
        mean.
    n_rows
        How many rows were used.
    """

    target: str
    columns: tuple[str, ...]
    explained: Floats
    n_rows: int

    @property
    def suspects(self) -> tuple[str, ...]:
        """Columns that predict the target almost perfectly on their own."""
        return tuple(self.columns[k] for k in self._order if self.explained[k] > SUSPECT)

    @property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(-self.explained, kind="stable")

    def __getitem__(self, column: str) -> float:
        return float(self.explained[self.columns.index(column)])

    def __repr__(self) -> str:
        best = ", ".join(f"{self.columns[k]} {self.explained[k]:.1%}" for k in self._order[:6])
        return f"Alone, share of {self.target!r} explained ({self.n_rows:,} rows): {best}"

    def _repr_html_(self) -> str:
        rows = [(self.columns[k], f"{self.explained[k]:.1%}") for k in self._order[:30]]
        return html_table(f"What explains {self.target} alone", ("column", "explained"), rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per column, the one that explains most first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        order = self._order
        return frame(
            {"column": [self.columns[k] for k in order], "explained": self.explained[order]},
            library,
        )

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "target": self.target,
                "columns": dict(zip(self.columns, self.explained.tolist(), strict=True)),
                "suspects": self.suspects,
                "rows": self.n_rows,
            }
        )


def alone(data: Any, *, sample: int = _MOST_ROWS, seed: int = 0) -> Alone:
    """Say how much of the target each column explains on its own.

    A column that predicts the target almost perfectly by itself often holds the answer: it was
    filled in afterwards, or is the target in other words. A model that leans on it is worthless
    where the answer is not known yet. Whether that is so, only someone who knows how the column
    came about can tell.

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
    Alone

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> data = {"y": y, "copy": 3 * y + 1, "noise": rng.normal(size=400)}
    >>> import clearwood as cw
    >>> alone(cw.read(data, target="y")).suspects
    ('copy',)
    """
    table = as_table(data)
    if table.target is None:
        raise InputError("the table has no target", hint="name one: cw.read(..., target=...).")
    if table.n_rows < _FEWEST_ROWS:
        raise InputError(f"the table has {table.n_rows} rows; at least {_FEWEST_ROWS} are needed")
    rows = np.arange(table.n_rows)
    if sample < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), sample, replace=False))
    truth = _truth(table.column(table.target).take(rows))
    found = []
    with progress("one column at a time", total=len(table.features)) as step:
        for name in table.features:
            found.append(_explained(table.column(name).take(rows), truth, seed))
            step(1, note=name)
    return Alone(table.target, table.features, np.array(found), len(rows))


def _truth(column: Column) -> Floats:
    """Give numbers as one column, classes as indicators."""
    if not column.is_coded:
        return np.asarray(column.values[:, None], np.float64)
    codes = column.values
    return np.asarray(codes[:, None] == np.unique(codes)[None, :], np.float64)


def _explained(column: Column, truth: Floats, seed: int) -> float:
    total, left = 0.0, 0.0
    for train, test in KFold(_FOLDS, shuffle=True, random_state=seed).split(truth):
        mean = truth[train].mean(axis=0)
        told = _told(column, truth, train, test, mean)
        total += float(((truth[test] - mean) ** 2).sum())
        left += float(((truth[test] - told) ** 2).sum())
    return 1 - left / total if total > 0 else 0.0


def _told(
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
        # one row's worth of the overall mean, so that levels hardly seen are not believed
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
