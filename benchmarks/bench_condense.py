"""Condensing: time, leaves and nodes of one tree, on the forests and tables of Vidal and Schiffer.

The reference is BA-Trees (Vidal and Schiffer 2020). It is not on a package registry, so it does not
run beside us here: `PUBLISHED` keeps figures of it from another machine, and ratios of times to
them are an indication only.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import clearwood as cw
from benchmarks._harness import ROOT, Case, Comparison

DATA = ROOT.parent / "shared" / "data" / "born_again"
#: Table -> least leaves, CPU seconds of BA-Trees for them, leaves of its heuristic (fold 1).
PUBLISHED = {
    "HTRU2": (11, 0.0008, 11),
    "COMPAS-ProPublica": (31, 0.004, 31),
    "FICO": (96, 0.48, 99),
    "Seeds": (314, 4.1, 359),
    "Pima-Diabetes": (344, 18.8, 388),
    "Breast-Cancer-Wisconsin": (671, 49.1, 801),
}


def comparisons(*, quick: bool) -> list[Comparison]:
    if not DATA.exists():
        return []
    cases = [_public(table) for table in PUBLISHED]
    if quick:
        return cases
    cases += [_voting(*case) for case in _VOTING]
    cases += [_model(*case) for case in _MODELS]
    cases += [_boosting(_LEAVES), _boosting((100_000,), time_limit=60.0, threads=2)]
    return cases


def _sizes(one: cw.condensing.Condensed) -> list[float]:
    return [float(one.n_leaves), float(one.depth), float(one.n_nodes)]


def _condense(**options: Any) -> Callable[[Any, int], Callable[[], Any]]:
    def prepare(forest: Any, threads: int) -> Callable[[], Any]:
        del threads
        return lambda: _sizes(cw.condense(forest, **options))

    return prepare


def _public(table: str) -> Comparison:
    least, seconds, heuristic = PUBLISHED[table]
    return Comparison(
        title=(
            f"{table}, 10 trees of depth 3: leaves, depth, nodes "
            f"(BA-Trees: least {least} in {seconds} s; heuristic {heuristic})"
        ),
        data=lambda: cw.forest.read_text(DATA / "forests" / f"{table}.RF1.txt"),
        cases=_EFFORTS,
    )


_EFFORTS = [Case(effort, _condense(effort=effort)) for effort in ("good", "fast", "optimal")]


def _table(path: Path, *, skip: bool = False) -> tuple[Any, Any]:
    import pandas as pd

    frame = pd.read_csv(path, skiprows=[1] if skip else None)
    return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy()


_VOTING = [
    ("Pima-Diabetes", 20, 3),
    ("Pima-Diabetes", 10, 4),
    ("Breast-Cancer-Wisconsin", 20, 3),
    ("Breast-Cancer-Wisconsin", 10, 4),
]


def _voting(table: str, trees: int, depth: int) -> Comparison:
    def data() -> cw.forest.Forest:
        from sklearn.ensemble import RandomForestClassifier

        X, y = _table(DATA / "tables" / f"{table}.train1.csv")
        model = RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(X, y)
        forest = cw.forest.from_model(model)
        votes = np.eye(forest.n_outputs)[forest.value.argmax(axis=1)]
        return replace(forest, value=votes, aggregation="hard vote")

    return Comparison(
        title=f"{table}, {trees} voting trees of depth {depth} (BA-Trees: out of 9 GB)",
        data=data,
        cases=_EFFORTS[:2],
        repeats=1,
    )


def _fico() -> cw.forest.Forest:
    from xgboost import XGBClassifier

    X, y = _table(DATA / "tables" / "FICO.train1.csv")
    return cw.forest.from_model(XGBClassifier(n_estimators=500, max_depth=6, n_jobs=1).fit(X, y))


def _pulsars(trees: int, depth: int) -> cw.forest.Forest:
    from xgboost import XGBClassifier

    X, y = _table(DATA / "tables" / "HTRU2.csv", skip=True)
    model = XGBClassifier(n_estimators=trees, max_depth=depth, learning_rate=0.1, n_jobs=1)
    return cw.forest.from_model(model.fit(X, y))


def _soft_forest() -> cw.forest.Forest:
    from sklearn.ensemble import RandomForestClassifier

    X, y = _table(DATA / "tables" / "Breast-Cancer-Wisconsin.train1.csv")
    return cw.forest.from_model(RandomForestClassifier(100, max_depth=3, random_state=0).fit(X, y))


_MODELS: list[tuple[str, Callable[[], Any], dict[str, Any]]] = [
    ("XGBoost 500 x 6, 17 binary columns (FICO)", _fico, {"effort": "fast"}),
    ("random forest 100 x 3, ten levels (Breast)", _soft_forest, {"effort": "fast"}),
    ("XGBoost 50 x 3, 8 columns (HTRU2)", lambda: _pulsars(50, 3), {"effort": "fast"}),
    ("XGBoost 100 x 3, 8 columns (HTRU2)", lambda: _pulsars(100, 3), {"effort": "fast"}),
    (
        "XGBoost 100 x 3, 8 columns (HTRU2), margin within 1",
        lambda: _pulsars(100, 3),
        {"effort": "fast", "equal": "value", "tolerance": 1.0},
    ),
]


def _model(title: str, data: Callable[[], Any], options: dict[str, Any]) -> Comparison:
    def certify(forest: Any, threads: int) -> Callable[[], Any]:
        del threads
        one = cw.condense(forest, **options)

        def call() -> list[float]:
            if not cw.certify(one, forest):
                message = f"{title}: the checker found a difference"
                raise AssertionError(message)
            return _sizes(one)

        return call

    return Comparison(
        title=f"{title}: leaves, depth, nodes",
        data=data,
        cases=[Case("one tree", _condense(**options)), Case("certify", certify)],
        repeats=1,
    )


_LEAVES = (300, 1000, 3000, 10_000, 30_000)


def _boosting(
    budgets: tuple[int, ...], *, time_limit: float | None = None, threads: int = 1
) -> Comparison:
    """How many unseen rows are certified, for growing budgets."""

    def data() -> tuple[cw.forest.Forest, Any, Any]:
        from sklearn.model_selection import train_test_split
        from xgboost import XGBClassifier

        X, y = _table(DATA / "tables" / "HTRU2.csv", skip=True)
        train, test, labels, _ = train_test_split(X, y, test_size=0.3, random_state=0)
        model = XGBClassifier(n_estimators=500, max_depth=4, learning_rate=0.1, n_jobs=1)
        return cw.forest.from_model(model.fit(train, labels)), train, test

    def within(leaves: int) -> Callable[[Any, int], Callable[[], Any]]:
        def prepare(case: Any, threads: int) -> Callable[[], Any]:
            forest, train, test = case

            def call() -> list[float]:
                one = cw.condense(
                    forest, data=train, leaves=leaves, time_limit=time_limit, n_jobs=threads
                )
                return [float(one.n_leaves), float(one.is_certified(test).mean())]

            return call

        return prepare

    within_time = "" if time_limit is None else f" and {time_limit:.0f} seconds"
    return Comparison(
        title=(
            f"XGBoost 500 x 4, 8 columns (HTRU2), under a budget of leaves{within_time} "
            "(instead of a difference: the share of unseen rows proved)"
        ),
        data=data,
        cases=[Case(f"{leaves:,} leaves", within(leaves)) for leaves in budgets],
        difference=lambda answer, _: float(answer[1]),
        repeats=1,
        threads=threads,
    )
