"""How well learners predict with their defaults, beside explainable boosting with its own.

The tables are those of ``../shared/data``, cut to 2,000 rows; scikit-learn's own where that folder
is missing. For every learner of the catalogue the table has the geometric mean, over tables, of its
loss relative to that of the default explainable boosting machine (root mean squared error or log
loss on held-out rows of the same folds), and how many times less CPU time it takes. The losses of
explainable boosting are kept in ``build/``, as they take most of an hour.

``python -m benchmarks.bench_defaults glass glass:order=3`` compares learners with settings instead:
their losses on each table, and the geometric mean relative to the first one. ``--rows 0`` takes all
rows, ``--tables`` some tables.
"""

import argparse
import ast
import json
import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

import clearwood as cw
from benchmarks._harness import ROOT
from benchmarks._shared_tables import DATA, SHARED, Rows, read_shared
from clearwood.models import catalogue

__all__ = ["Relative", "compared", "relative", "report"]

KEPT = ROOT / "build" / "default-ebm.json"
ROWS = 2_000
FOLDS, USED_FOLDS = 5, 3
#: What the loss of a learner may be at most, relative to explainable boosting.
PROMISED = {"gbm": 1.04, "lightgbm": 1.04, "xgboost": 1.04, "catboost": 1.04}
#: A probability of zero would outweigh all other rows.
_LEAST = 1e-6
#: Learners for two classes have nothing to predict there.
_SEVERAL_CLASSES = ("penguins",)
#: Seconds after which a learner is not fitted to further tables.
_ENOUGH = 120.0


@dataclass(frozen=True)
class Relative:
    """A learner's defaults beside those of explainable boosting.

    Parameters
    ----------
    learner
        Its name.
    loss
        The geometric mean over tables of its loss relative to explainable boosting.
    quicker
        How many times less CPU time a fit takes, likewise.
    seconds
        The mean CPU time of a fit.
    tables
        The relative loss on each table.
    """

    learner: str
    loss: float
    quicker: float
    seconds: float
    tables: Mapping[str, float]


def report(*, quick: bool, path: Path) -> int:
    """Print the table, write its figures and count the learners that fall short."""
    tables = list(_tables())
    if quick:
        tables = [rows for rows in tables if len(rows.y) < ROWS][:4]
    usual = ["gbm", "lightgbm", "xgboost", "forest", "tree", "ridge", "logistic"]
    names = [name for name in catalogue.names(installed=True) if not quick or name in usual]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = {rows.name: _explainable_boosting(rows) for rows in tables}
        print(f"\n{'learner':14}{'rel. loss':>10}{'quicker':>9}{'s a fit':>9}{'tables':>8}")
        results = []
        for name in names:
            result = relative(name, tables, peer)
            if result is not None:
                results.append(result)
                print(
                    f"{name:14}{result.loss:10.3f}{result.quicker:8.0f}x{result.seconds:9.3f}"
                    f"{len(result.tables):8}",
                    flush=True,
                )
    path.write_text(json.dumps([asdict(one) for one in results], indent=1) + "\n", "utf-8")
    print(f"\ndefaults: written to {path}")
    if not DATA.is_dir():
        return 0  # the promises are about other tables
    return sum(one.loss > PROMISED.get(one.learner, math.inf) for one in results)


def relative(
    name: str, tables: Sequence[Rows], peer: Mapping[str, Mapping[str, list[float]]]
) -> Relative | None:
    """Fit a learner's defaults to the tables that it can predict; None where there is none."""
    losses, ratios, seconds = {}, [], []
    spent = 0.0
    for rows in tables:
        task = "binary" if rows.classes else "regression"
        if task not in catalogue.get(name).tasks or spent > _ENOUGH:
            continue
        of_folds, times = _of_folds(rows, name, {})
        if not of_folds:
            return None
        spent += sum(times)
        losses[rows.name] = float(np.mean(of_folds) / np.mean(peer[rows.name]["loss"]))
        ratios.append(float(np.mean(peer[rows.name]["seconds"]) / np.mean(times)))
        seconds.append(float(np.mean(times)))
    if not losses:
        return None
    mean, quicker = (
        float(np.exp(np.mean(np.log(values)))) for values in (list(losses.values()), ratios)
    )
    return Relative(name, mean, quicker, float(np.mean(seconds)), losses)


def _of_folds(
    rows: Rows, name: str, settings: Mapping[str, Any]
) -> tuple[list[float], list[float]]:
    """Return losses and CPU seconds of the folds; nothing for a learner without probabilities."""
    task = "binary" if rows.classes else "regression"
    of_folds, times = [], []
    for _, train, test in _splits(rows):
        start = time.process_time()
        model = cw.learner(name, task=task, **settings).fit(rows.X.iloc[train], rows.target[train])
        times.append(time.process_time() - start)
        if rows.classes and not hasattr(model, "predict_proba"):
            return [], []
        judged = rows.X.iloc[test]
        predicted = model.predict_proba(judged) if rows.classes else model.predict(judged)
        of_folds.append(_loss(rows, predicted, test))
    return of_folds, times


def compared(learners: Sequence[str], tables: Sequence[Rows]) -> Iterator[str]:
    """Yield lines of losses: the learners, each with its settings, on each table."""
    width = max(len(one) for one in learners) + 2
    losses: dict[str, list[float]] = {one: [] for one in learners}
    for rows in tables:
        for one in learners:
            name, _, settings = one.partition(":")
            of_folds, _ = _of_folds(rows, name, _settings(settings))
            losses[one].append(float(np.mean(of_folds)))
            yield f"{rows.name:12} {len(rows.y):7,} rows  {one:{width}}{losses[one][-1]:.4g}"
    for one in learners:
        ratio = np.log(losses[one]) - np.log(losses[learners[0]])
        error = f" ± {np.std(ratio, ddof=1) / np.sqrt(len(ratio)):.3f}" if len(ratio) > 1 else ""
        yield f"{one:{width}}{np.exp(np.mean(ratio)):.3f}{error} times {learners[0]}"


def _settings(text: str) -> dict[str, Any]:
    """Read `order=3,choose=one-se`."""
    pairs = (part.split("=", 1) for part in text.split(",") if part)
    return {name: _value(value) for name, value in pairs}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _explainable_boosting(rows: Rows) -> dict[str, list[float]]:
    """Return losses and CPU seconds of interpret's defaults, kept from an earlier run if any."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.is_file() else {}
    if rows.name in kept:
        return dict(kept[rows.name])
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if rows.classes else ExplainableBoostingRegressor
    result: dict[str, list[float]] = {"loss": [], "seconds": []}
    print(f"explainable boosting of {rows.name} ...", flush=True)
    for _, train, test in _splits(rows):
        start = time.process_time()
        model = kind(n_jobs=1, random_state=0).fit(rows.X.iloc[train], rows.y[train])
        result["seconds"].append(time.process_time() - start)
        judged = rows.X.iloc[test]
        predicted = model.predict_proba(judged) if rows.classes else model.predict(judged)
        result["loss"].append(_loss(rows, predicted, test))
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(json.dumps({**kept, rows.name: result}, indent=1), "utf-8")
    return result


def _tables(most: int = ROWS) -> Iterator[Rows]:
    """Return the shared tables, or scikit-learn's where there are none."""
    if not DATA.is_dir():
        print(f"no tables at {DATA}: diabetes and breast cancer of scikit-learn instead")
        yield from _own_tables()
        return
    for name in SHARED:
        if name not in _SEVERAL_CLASSES:
            yield read_shared(name, rows=most)


def _own_tables() -> Iterator[Rows]:
    """Return tables of scikit-learn."""
    from sklearn.datasets import load_breast_cancer, load_diabetes

    for name, load in (("diabetes", load_diabetes), ("breast cancer", load_breast_cancer)):
        X, y = load(return_X_y=True, as_frame=True)
        yield Rows(name, X, y.to_numpy(), classes=name == "breast cancer")


def _splits(rows: Rows) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Return the first folds: their number, rows to fit and rows to judge."""
    kind = StratifiedKFold if rows.classes else KFold
    splits = kind(FOLDS, shuffle=True, random_state=0).split(rows.X, rows.y)
    for fold, (train, test) in zip(range(USED_FOLDS), splits, strict=False):
        yield fold, train, test


def _loss(rows: Rows, predicted: NDArray[Any], test: NDArray[Any]) -> float:
    """Return the root mean squared error, or the log loss of probabilities."""
    y = rows.y[test]
    if not rows.classes:
        return math.sqrt(np.mean((y - predicted) ** 2))
    shares = np.clip(predicted, _LEAST, 1 - _LEAST)
    shares = shares / shares.sum(axis=1, keepdims=True)
    return float(-np.mean(np.log(shares[np.arange(len(y)), y])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learner", nargs="+", help="NAME or NAME:SETTING=VALUE,...")
    parser.add_argument("--rows", type=int, default=ROWS, help="at most, 0 for all")
    parser.add_argument("--tables", help="names, with commas; all shared ones if none is named")
    options = parser.parse_args()
    if options.tables:
        chosen = options.tables.split(",")
        own = {rows.name: rows for rows in _own_tables()}
        tables = [own[one] if one in own else read_shared(one, rows=options.rows) for one in chosen]
    else:
        tables = list(_tables(options.rows))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in compared(options.learner, tables):
            print(line, flush=True)


if __name__ == "__main__":
    main()
