"""Loading a fitted learner: our files, which are checked before anything is run, beside joblib's.

joblib unpickles whatever a file holds. Ours reads plain arrays and checks types against a list, so
nothing is promised about the ratio; the difference is that of the predictions.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib

import clearwood as cw
from benchmarks._harness import Case, Comparison, largest_difference

_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "gbm, 150 trees": ("gbm", {"max_iter": 150}),
    "forest, 300 trees of at least 20 rows a leaf": (
        "forest",
        {"n_estimators": 300, "min_samples_leaf": 20},
    ),
    "forest, 300 full trees": ("forest", {"n_estimators": 300, "min_samples_leaf": 1}),
    "lightgbm, 150 trees": ("lightgbm", {"n_estimators": 150}),
}


def comparisons(*, quick: bool) -> list[Comparison]:
    return [
        _comparison(title, name, settings, 500 if quick else 5_000)
        for title, (name, settings) in _MODELS.items()
    ]


def _comparison(title: str, name: str, settings: dict[str, Any], n_rows: int) -> Comparison:
    return Comparison(
        title=f"loading a file of {title}; difference of the predictions",
        data=lambda: cw.learner(name, **settings).fit(cw.datasets.insurance(n_rows, seed=1)),
        cases=[
            Case("clearwood", _loading(cw.save, cw.load)),
            Case("joblib", _loading(joblib.dump, joblib.load)),
            Case("joblib, zlib", _loading(_compressed, joblib.load)),
        ],
        difference=_of_predictions,
    )


def _compressed(model: Any, path: Path) -> None:
    joblib.dump(model, path, compress=3)


def _loading(
    save: Callable[[Any, Path], Any], load: Callable[[Path], Any]
) -> Callable[[Any, int], Callable[[], Any]]:
    def prepare(model: Any, threads: int) -> Callable[[], Any]:
        del threads
        folder = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        save(model, folder / "model.cw")
        return lambda: load(folder / "model.cw")

    return prepare


def _of_predictions(theirs: Any, ours: Any) -> float:
    rows = cw.datasets.insurance(100, seed=2)
    return largest_difference(theirs.predict(rows), ours.predict(rows))
