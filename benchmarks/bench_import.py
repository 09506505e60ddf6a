"""Import fitted models as forests, beside what their libraries take to write the same models.

The last comparisons are of whole calls: Shapley values of 1,000 rows, with the import included and
with an explanation that was kept, which imports its model once.
"""

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import Case, Comparison, largest_difference
from clearwood.forest import from_model

TRAINING_ROWS = 20_000
N_COLUMNS = 20
#: An import may take this many times what the library takes to write the model.
MOST = 3.0


@dataclass(frozen=True)
class Fitted:
    model: Any
    X: NDArray[np.float64]


@dataclass(frozen=True)
class Read:
    """A model and rows: what predicts them is compared, not how it was read."""

    model: Any
    X: NDArray[np.float64]


Fit = Callable[[NDArray[Any], NDArray[Any], int], Any]
Write = Callable[[Any], object]


def comparisons(*, quick: bool) -> list[Comparison]:
    size = 10 if quick else 1
    return [
        _import("XGBoost, 100 trees of depth 6", _xgboost, _write_xgboost, "xgboost-cpu", size),
        _import(
            "XGBoost classes, 300 trees of depth 3", _classes, _write_xgboost, "xgboost-cpu", size
        ),
        _import("LightGBM, 500 trees of 31 leaves", _lightgbm, _write_lightgbm, "lightgbm", size),
        _import("CatBoost, 100 trees of depth 6", _catboost, _write_catboost, "catboost", size),
        _import("CatBoost, 100 trees of 31 leaves", _lossguide, _write_catboost, "catboost", size),
        _import("random forest, 10 trees of 12,600 leaves", _forest, pickle.dumps, None, size),
        _import("gradient boosting, 100 trees of depth 6", _boosting, pickle.dumps, None, size),
        _import("hist gradient boosting, 500 of 31 leaves", _hist, pickle.dumps, None, size),
        _shapley("import included", size, keep=False, promise=10.0),
        _shapley("explanation kept", size, keep=True, promise=20.0),
    ]


def _data(fit: Fit, size: int) -> Callable[[], Fitted]:
    def data() -> Fitted:
        random = np.random.default_rng(0)
        X = random.normal(size=(TRAINING_ROWS // size, N_COLUMNS))
        y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:8].sum(axis=1)
        return Fitted(fit(X, y + random.normal(size=len(X)), size), X[:1000])

    return data


def _import(title: str, fit: Fit, write: Write, package: str | None, size: int) -> Comparison:
    def ours(fitted: Fitted, threads: int) -> Callable[[], Read]:  # noqa: ARG001
        return lambda: Read(from_model(fitted.model), fitted.X)

    def theirs(fitted: Fitted, threads: int) -> Callable[[], Read]:  # noqa: ARG001
        def call() -> Read:
            write(fitted.model)
            return Read(fitted.model, fitted.X)

        return call

    return Comparison(
        title=f"import of {title}",
        data=_data(fit, size),
        cases=[Case("clearwood", ours), Case("the library writes it", theirs, package)],
        difference=lambda a, b: largest_difference(a.model.predict(a.X), b.model.predict(b.X)),
        promises={"the library writes it": 1 / MOST},
    )


def _shapley(title: str, size: int, *, keep: bool, promise: float) -> Comparison:
    def ours(fitted: Fitted, threads: int) -> Callable[[], Any]:
        options: Any = {"value": "path_dependent", "n_jobs": threads}
        if not keep:
            return lambda: cw.shapley(fitted.model, fitted.X, **options).values
        explained = cw.explain(fitted.model, fitted.X)
        return lambda: explained.shapley(fitted.X, **options).values

    def theirs(fitted: Fitted, threads: int) -> Callable[[], Any]:
        from xgboost import DMatrix

        booster = fitted.model.get_booster()
        booster.set_param({"nthread": threads})
        rows = DMatrix(fitted.X)
        return lambda: booster.predict(rows, pred_contribs=True)[:, :-1]

    return Comparison(
        title=f"Shapley values of 1,000 rows, XGBoost, 100 trees of depth 6, {title}",
        data=_data(_xgboost, size),
        cases=[Case("clearwood", ours), Case("XGBoost", theirs, "xgboost-cpu")],
        promises={"XGBoost": promise},
    )


def _xgboost(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=100 // size, max_depth=6, n_jobs=1).fit(X, y)


def _classes(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=300 // size, max_depth=3, n_jobs=1).fit(X, y > 0)


def _write_xgboost(model: Any) -> object:
    return model.get_booster().save_raw("ubj")


def _lightgbm(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=500 // size, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y)


def _write_lightgbm(model: Any) -> object:
    return model.booster_.model_to_string()


_QUIET = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}


def _catboost(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(iterations=100 // size, depth=6, **_QUIET).fit(X, y)


def _lossguide(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from catboost import CatBoostRegressor

    options = {"grow_policy": "Lossguide", "max_leaves": 31, **_QUIET}
    return CatBoostRegressor(iterations=100 // size, **options).fit(X, y)


def _write_catboost(model: Any) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return path.stat().st_size


def _forest(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:  # noqa: ARG001
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(10, n_jobs=1, random_state=0).fit(X, y)


def _boosting(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    options = {"max_depth": 6, "subsample": 0.2, "random_state": 0}
    return GradientBoostingRegressor(n_estimators=100 // size, **options).fit(X, y)


def _hist(X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=500 // size, random_state=0).fit(X, y)
