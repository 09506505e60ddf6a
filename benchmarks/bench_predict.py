"""Predict 100,000 rows with a forest, against the library that fitted it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Case, Comparison
from clearwood import forest

Predict = Callable[[], NDArray[Any]]


@dataclass(frozen=True)
class Fitted:
    model: Any
    X: NDArray[np.float64]


def comparisons(*, quick: bool) -> list[Comparison]:
    n_rows = 2_000 if quick else 100_000
    size = 10 if quick else 1
    made = []
    for threads in (1, 2):
        made += [
            _comparison("100 trees of depth 6", _xgboost, "XGBoost", n_rows, 20, size, threads),
            _comparison("500 trees of 31 leaves", _lightgbm, "LightGBM", n_rows, 50, size, threads),
            _comparison(
                "100 trees of depth 16", _forest, "scikit-learn", n_rows, 20, size, threads
            ),
            _comparison("100 trees of 31 leaves", _hist, "scikit-learn", n_rows, 20, size, threads),
        ]
    return made


def _comparison(
    trees: str,
    fit: Callable[[NDArray[Any], NDArray[Any], int], Any],
    library: str,
    n_rows: int,
    n_columns: int,
    size: int,
    threads: int,
) -> Comparison:
    def data() -> Fitted:
        random = np.random.default_rng(0)
        X = random.normal(size=(n_rows, n_columns))
        noise = random.normal(size=n_rows)
        y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:8].sum(axis=1) + noise
        return Fitted(fit(X[:20_000], y[:20_000], size), X)

    package = {"XGBoost": "xgboost-cpu", "LightGBM": "lightgbm"}.get(library)
    return Comparison(
        title=f"{n_rows:,} × {n_columns} rows, {trees} of {library}",
        data=data,
        cases=[Case("clearwood", _ours), Case(library, _theirs, package)],
        threads=threads,
        promises={library: 1.0},
        repeats=3,
    )


def _ours(fitted: Fitted, threads: int) -> Predict:
    read = forest.from_model(fitted.model)
    read.predict(fitted.X[:1])  # lays the trees out, which is done once for a forest
    return lambda: read.predict(fitted.X, n_jobs=threads)


def _theirs(fitted: Fitted, threads: int) -> Predict:
    if hasattr(fitted.model, "n_jobs"):
        fitted.model.set_params(n_jobs=threads)
    return lambda: np.asarray(fitted.model.predict(fitted.X), float)


def _xgboost(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=100 // size, max_depth=6, n_jobs=1).fit(X, y)


def _lightgbm(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=500 // size, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y)


def _forest(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(100 // size, max_depth=16, n_jobs=1, random_state=0).fit(X, y)


def _hist(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=100 // size, random_state=0).fit(X, y)
