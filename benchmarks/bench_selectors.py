"""Methods that select columns, beside packages for one of them each."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import Case, Comparison
from clearwood.models.selection.candidates import Candidates, candidates
from clearwood.table import Table, Task

_NEIGHBOURS = 10
_ROUNDS = 50


def comparisons(*, quick: bool) -> list[Comparison]:
    n_rows = 200 if quick else 1000
    return [
        Comparison(
            title=f"ReliefF weights of 20 columns, {n_rows:,} rows of two classes",
            data=lambda: _classes(n_rows),
            cases=[
                Case("clearwood", _our_relief),
                Case("skrebate", _skrebate, package="skrebate"),
            ],
            promises={"skrebate": 5.0},
            repeats=2,
        ),
        Comparison(
            title=f"columns that Boruta confirms, 40 columns, {n_rows:,} rows",
            data=lambda: _numbers(n_rows),
            cases=[
                Case("clearwood", _our_boruta),
                Case("BorutaPy", _boruta_py, package="Boruta"),
            ],
            difference=lambda answer, reference: float((answer != reference).sum()),
            repeats=1,
        ),
    ]


def _classes(n_rows: int) -> Table:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    return _table(X, X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 0)


def _numbers(n_rows: int) -> Table:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 40))
    return _table(X, X[:, 0] * X[:, 1] + X[:, 2:6].sum(axis=1) + rng.normal(size=n_rows))


def _table(X: NDArray[Any], y: NDArray[Any]) -> Table:
    return cw.read({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y}, target="y")


def _candidates(table: Table) -> Candidates:
    return candidates(table, table.y, None, table.task or Task.REGRESSION, 0)


def _matrix(table: Table) -> NDArray[np.float64]:
    return np.column_stack([table.column(name).values for name in table.features])


def _our_relief(table: Table, _threads: int) -> Callable[[], NDArray[np.float64]]:
    from clearwood.models.selection.filters import relief

    return lambda: relief(_candidates(table), _NEIGHBOURS)


def _skrebate(table: Table, threads: int) -> Callable[[], NDArray[np.float64]]:
    from skrebate import ReliefF

    X, y = _matrix(table), np.asarray(table.y).astype(int)
    search = ReliefF(n_neighbors=_NEIGHBOURS, n_jobs=threads)
    return lambda: np.asarray(search.fit(X, y).feature_importances_)


def _our_boruta(table: Table, _threads: int) -> Callable[[], NDArray[np.bool_]]:
    from clearwood.models.selection.forests import boruta

    return lambda: boruta(_candidates(table), _ROUNDS, 0.05)[1]


def _boruta_py(table: Table, threads: int) -> Callable[[], NDArray[np.bool_]]:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    # the forest that its documentation suggests
    forest = RandomForestRegressor(max_depth=5, n_jobs=threads)
    search = BorutaPy(forest, n_estimators="auto", max_iter=_ROUNDS, random_state=0)
    X, y = _matrix(table), np.asarray(table.y)
    return lambda: np.asarray(search.fit(X, y).support_)
