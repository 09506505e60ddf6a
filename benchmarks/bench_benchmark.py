"""A benchmark beside the same fits written by hand with scikit-learn.

Both judge five learners with their default settings on the same five folds; the difference is
that of the risks. The promise is on what a benchmark adds: at most 5 % of the time, and a fifth of
the memory, although it keeps the loss and the prediction of every row. Where the forest, whose
trees take most of the memory, would hide the rest, the other learners are measured without it too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_val_score

import clearwood as cw
from benchmarks._harness import ROOT, Case, Comparison
from clearwood.resampling import KFold
from clearwood.table import Table

#: Tables kept beside the project; those that are not there are left out.
TABLES = {
    "california_housing": ("median_house_value", ("ols", "lasso", "knn", "forest", "gbm")),
    "adult": ("income", ("logistic", "lda", "knn", "forest", "gbm")),
}


def comparisons(*, quick: bool) -> list[Comparison]:
    comparisons = []
    for name, (target, learners) in TABLES.items():
        path = ROOT.parent / "shared" / "data" / f"{name}.csv"
        if path.exists():
            rows = 2_000 if quick else None
            light = tuple(learner for learner in learners if learner != "forest")
            comparisons += [
                _comparison(path, target, several, rows) for several in (light, learners)
            ]
    return comparisons


def _comparison(path: Path, target: str, learners: tuple[str, ...], rows: int | None) -> Comparison:
    def data() -> Table:
        table = cw.read(path, target=target)
        return table if rows is None else table.take(slice(0, rows))

    return Comparison(
        title=f"5-fold cross-validation of {', '.join(learners)} on {path.stem}",
        data=data,
        cases=[
            Case("cw.benchmark", lambda table, _: _ours(table, learners)),
            Case("cross_val_score", lambda table, _: _by_hand(table, learners)),
        ],
        difference=lambda theirs, ours: float(np.max(np.abs(theirs / ours - 1))),
        # ours may take 1 / 0.95 of the time at most
        promises={"cross_val_score": 0.95},
        memory_promises={"cross_val_score": 1.2},
        repeats=1,
    )


def _ours(table: Table, learners: tuple[str, ...]) -> Callable[[], NDArray[np.float64]]:
    _load(table, learners)

    def run() -> NDArray[np.float64]:
        bench = cw.benchmark(table, learners, tune=0, interval="naive", loss=_loss(table))
        return np.array([bench[name].risk for name in learners])

    return run


def _by_hand(table: Table, learners: tuple[str, ...]) -> Callable[[], NDArray[np.float64]]:
    _load(table, learners)
    scorer = get_scorer("accuracy" if _loss(table) == "zero-one" else "neg_mean_squared_error")
    y = table.y

    def run() -> NDArray[np.float64]:
        from clearwood.resampling import splits_of

        folds = [(split.train, split.test) for split in splits_of(table, KFold(5), seed=0)]
        sizes = [len(test) for _, test in folds]
        risks = []
        for name in learners:
            model = cw.learner(name, task=str(table.task))
            scores = cross_val_score(model, table, y, cv=folds, scoring=scorer)
            risk = 1 - scores if _loss(table) == "zero-one" else -scores
            risks.append(float(np.average(risk, weights=sizes)))
        return np.array(risks)

    return run


def _load(table: Table, learners: tuple[str, ...]) -> None:
    """Have every library in memory before anything is measured, whoever comes first."""
    cw.benchmark(table.take(slice(0, 500)), learners, tune=0, interval="naive", loss=_loss(table))


def _loss(table: Any) -> str:
    return "zero-one" if table.task.is_classification else "squared"
