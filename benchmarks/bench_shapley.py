"""Shapley values, interactions, components and partial dependence of tree ensembles.

Models: a = XGBoost, 100 trees of depth 6, 20 features; b = LightGBM, 500 trees of 31 leaves, 50
features; c = random forest, 100 trees of depth 16, 20 features; d = random forest, 10 trees of any
depth (about 12,600 leaves each), 20 features. Peers that would take minutes explain a part of the
rows; their times are extrapolated and marked with ~.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Case, Comparison
from clearwood.forest import from_model
from clearwood.kernels import (
    Background,
    Trees,
    component_sets,
    components,
    interventional,
    path_dependent,
)

Floats = NDArray[np.float64]
Answer = Callable[[], Any]
TRAINING_ROWS = 20_000


def comparisons(*, quick: bool) -> list[Comparison]:
    if quick:
        return [
            _path_dependent("a", 1_000),
            _interventional("a", 1_000, 1_000),
            _interactions("a", 100),
            _order_two("a", 1_000, 1_000),
        ]
    return [
        _path_dependent("a", 1_000),
        _path_dependent("a", 10_000),
        _path_dependent("b", 1_000),
        _path_dependent("b", 10_000),
        _path_dependent("c", 1_000),
        _path_dependent("d", 1_000),
        *(_interventional("a", 10_000, size) for size in (100, 1_000, 20_000)),
        _interventional("b", 1_000, 1_000),
        _interventional("b", 10_000, 1_000),
        _interventional("c", 1_000, 1_000),
        _interactions("a", 1_000),
        _interactions("a", 10_000),
        _order_two("a", 10_000, 20_000),
        _partial_dependence("a", 100),
        *(_million_rows(threads) for threads in (1, 2)),
    ]


# --- Models and rows ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    model: Any
    trees: Trees
    X: Floats
    background: Floats


@cache
def _training(n_features: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(0)
    X = random.uniform(size=(TRAINING_ROWS, n_features))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    y += 5 * X[:, 4] + X[:, 5:15] @ random.uniform(-3, 3, 10) + random.normal(size=len(X))
    return X, y


@cache
def _model(name: str) -> tuple[Any, Trees]:
    model: Any
    if name == "a":
        from xgboost import XGBRegressor

        model = XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1)
    elif name == "b":
        from lightgbm import LGBMRegressor

        model = LGBMRegressor(n_estimators=500, num_leaves=31, n_jobs=1, verbose=-1)
    else:
        from sklearn.ensemble import RandomForestRegressor

        size, depth = (100, 16) if name == "c" else (10, None)
        model = RandomForestRegressor(size, max_depth=depth, n_jobs=2, random_state=0)
    X, y = _training(50 if name == "b" else 20)
    model.fit(X, y)
    trees = Trees.of(from_model(model))
    _ = trees.kernel
    return model, trees


def _task(name: str, n_rows: int, n_background: int = 0) -> Task:
    model, trees = _model(name)
    X, _ = _training(50 if name == "b" else 20)
    rows = np.resize(X, (n_rows, X.shape[1]))
    return Task(model, trees, rows, X[:n_background])


def _on_leading_rows(answer: Any, reference: Any) -> float:
    """Largest difference where a peer explained only the first rows."""
    return float(np.abs(np.asarray(answer) - np.asarray(reference)[: len(answer)]).max())


def _part(task: Task, share: float) -> Floats:
    return task.X[: max(1, round(len(task.X) * share))]


# --- Peers ----------------------------------------------------------------------------------------


def _shap(*, share: float, with_background: bool = False, pairs: bool = False) -> Case:
    def prepare(task: Task, _threads: int) -> Answer:
        import shap

        if with_background:
            masker = shap.maskers.Independent(task.background, max_samples=len(task.background))
            explainer = shap.TreeExplainer(task.model, masker)
        else:
            explainer = shap.TreeExplainer(task.model)
        X = _part(task, share)
        if pairs:
            return lambda: explainer.shap_interaction_values(X)
        return lambda: explainer.shap_values(X, check_additivity=False)

    return Case("shap", prepare, package="shap", share=share)


def _shapiq_is_compiled() -> bool:
    """Whether shapiq is one of the versions whose trees are not walked in Python.

    The others, the newest for Python 3.11, take minutes for a single row of the deep forest.
    """
    try:
        major, minor, *_ = version("shapiq").split(".")
    except PackageNotFoundError:
        return True  # the table then says how to install it
    return (int(major), int(minor)) >= (1, 8)


def _shapiq(*, share: float, pairs: bool = False) -> Case:
    def prepare(task: Task, _threads: int) -> Answer:
        import pandas as pd
        import shapiq

        order, index = (2, "SII") if pairs else (1, "SV")
        # shapiq 1.4 reads XGBoost's trees as columns of objects, as pandas had them before 3.0
        with pd.option_context("future.infer_string", False):  # noqa: FBT003 (pandas takes pairs)
            explainer = shapiq.TreeExplainer(task.model, max_order=order, index=index)
        X = _part(task, share)
        n = X.shape[1]

        def values(found: Any) -> Floats:
            alone = np.zeros(n)
            both = np.zeros((n, n))
            for players, value in found.dict_values.items():
                if len(players) == 1:
                    alone[players[0]] = value
                elif len(players) == 2:
                    both[players] = both[players[::-1]] = 0.5 * value
            np.fill_diagonal(both, alone - both.sum(axis=1))
            return both if pairs else alone

        return lambda: np.array([values(explainer.explain(x)) for x in X])

    return Case("shapiq", prepare, package="shapiq", share=share)


def _woodelf(*, with_background: bool = False, pairs: bool = False) -> Case:
    def prepare(task: Task, _threads: int) -> Answer:
        import pandas as pd
        from woodelf.explainer import WoodelfExplainer

        names = _names(task)
        X = pd.DataFrame(task.X, columns=names)
        background = pd.DataFrame(task.background, columns=names) if with_background else None
        kind = "interventional" if with_background else "tree_path_dependent"
        explainer = WoodelfExplainer(task.model, background, feature_perturbation=kind)
        if pairs:
            return lambda: _woodelf_matrix(explainer, X)
        return lambda: explainer.shap_values(X, verbose=False)

    return Case("woodelf", prepare, package="woodelf-explainer")


def _woodelf_matrix(explainer: Any, X: Any) -> Floats:
    """Pairs are columns in no particular order; values of single features are not asked for."""
    found = explainer.shap_interaction_values(
        X, as_df=True, include_interaction_with_itself=False, verbose=False
    )
    matrix = np.zeros((len(X), X.shape[1], X.shape[1]))
    place = {name: k for k, name in enumerate(X.columns)}
    for first, second in found.columns:
        matrix[:, place[first], place[second]] = found[(first, second)]
    return matrix


def _names(task: Task) -> list[str]:
    given = getattr(task.model, "feature_name_", None)
    return list(given) if given is not None else [f"f{j}" for j in range(task.X.shape[1])]


def _native(name: str, *, pairs: bool = False, share: float = 1.0) -> Case:
    def xgboost(task: Task, threads: int) -> Answer:
        from xgboost import DMatrix

        booster = task.model.get_booster()
        booster.set_param({"nthread": threads})
        rows = DMatrix(_part(task, share), nthread=threads)
        if pairs:
            return lambda: booster.predict(rows, pred_interactions=True)[:, :-1, :-1]
        return lambda: booster.predict(rows, pred_contribs=True)[:, :-1]

    def lightgbm(task: Task, threads: int) -> Answer:
        X = _part(task, share)
        return lambda: task.model.predict(X, pred_contrib=True, num_threads=threads)[:, :-1]

    if name == "a":
        return Case("xgboost", xgboost, package="xgboost-cpu", share=share)
    return Case("lightgbm", lightgbm, package="lightgbm", share=share)


# --- Comparisons ----------------------------------------------------------------------------------


def _path_dependent(name: str, n_rows: int) -> Comparison:
    def ours(task: Task, threads: int) -> Answer:
        return lambda: path_dependent(task.trees, task.X, n_jobs=threads).values[:, :, 0]

    cases = [Case("clearwood", ours)]
    if name in ("c", "d"):
        cases.append(_shap(share=10 / n_rows))
        if _shapiq_is_compiled():
            cases.append(_shapiq(share=(1 if name == "c" else 10) / n_rows))
    else:
        cases += [
            _native(name, share=1_000 / n_rows),
            _shap(share=100 / n_rows),
            _shapiq(share=3 / n_rows),
            _woodelf(),
        ]
    peers = ("xgboost", "lightgbm", "shap", "shapiq", "woodelf")
    promises = dict.fromkeys(peers, 20.0) if n_rows < 10_000 else {"woodelf": 10.0}
    return Comparison(
        title=f"path-dependent, {name}, {n_rows:,} rows",
        data=lambda: _task(name, n_rows),
        cases=cases,
        difference=_on_leading_rows,
        promises=promises,
        repeats=3,
    )


def _interventional(name: str, n_rows: int, n_background: int) -> Comparison:
    def ours(task: Task, threads: int) -> Answer:
        def run() -> Floats:
            background = Background.of(task.trees, task.background, n_jobs=threads)
            found = interventional(task.trees, task.X, background, n_jobs=threads)
            return found.values[:, :, 0]

        return run

    # as many rows as shap explains in a second or so, at least one
    pairs = {"a": 20_000, "b": 5_000, "c": 1}[name]
    share = max(1, pairs // n_background) / n_rows
    cases = [Case("clearwood", ours), _shap(share=min(1.0, share), with_background=True)]
    if name != "c":
        cases.insert(1, _woodelf(with_background=True))
    promises = {"woodelf": 8.0, "shap": 1000.0 if n_background == 20_000 else 8.0}
    return Comparison(
        title=f"interventional, {name}, {n_rows:,} rows, {n_background:,} background rows",
        data=lambda: _task(name, n_rows, n_background),
        cases=cases,
        difference=_on_leading_rows,
        promises=promises,
        repeats=3,
    )


def _interactions(name: str, n_rows: int) -> Comparison:
    def ours(task: Task, threads: int) -> Answer:
        return lambda: path_dependent(
            task.trees, task.X, interactions=True, n_jobs=threads
        ).interactions[..., 0]  # type: ignore[index]

    def off_diagonal(answer: Any, reference: Any) -> float:
        answer, reference = np.asarray(answer), np.asarray(reference)[: len(answer)]
        apart = ~np.eye(answer.shape[1], dtype=bool)
        return float(np.abs(answer - reference)[:, apart].max())

    return Comparison(
        title=f"path-dependent interactions, {name}, {n_rows:,} rows",
        data=lambda: _task(name, n_rows),
        cases=[
            Case("clearwood", ours),
            _native(name, pairs=True, share=100 / n_rows),
            _shap(share=20 / n_rows, pairs=True),
            _shapiq(share=3 / n_rows, pairs=True),
            _woodelf(pairs=True),
        ],
        difference=off_diagonal,
        promises=dict.fromkeys(("xgboost", "shap", "shapiq", "woodelf"), 8.0),
        repeats=3,
    )


def _order_two(name: str, n_rows: int, n_background: int) -> Comparison:
    def ours(task: Task, threads: int) -> Answer:
        def run() -> Floats:
            background = Background.of(task.trees, task.background, n_jobs=threads)
            sets = component_sets(task.trees, max_order=2)
            return components(task.trees, task.X, background, sets, n_jobs=threads).values

        return run

    def shapley(task: Task, threads: int) -> Answer:
        def run() -> Floats:
            background = Background.of(task.trees, task.background, n_jobs=threads)
            return interventional(task.trees, task.X, background, n_jobs=threads).values

        return run

    return Comparison(
        title=f"components up to pairs, {name}, {n_rows:,} rows, {n_background:,} background rows",
        data=lambda: _task(name, n_rows, n_background),
        cases=[Case("clearwood", ours), Case("Shapley values only", shapley)],
        difference=lambda *_: 0.0,  # another quantity, shown for its time
        promises={"Shapley values only": 1 / 3},
        repeats=3,
    )


def _partial_dependence(name: str, n_points: int) -> Comparison:
    def grid(task: Task) -> Floats:
        return np.linspace(0.01, 0.99, n_points)[:, None].repeat(task.X.shape[1], axis=1)

    def ours(task: Task, threads: int) -> Answer:
        def run() -> Floats:
            background = Background.of(task.trees, task.background, n_jobs=threads)
            # one table of points serves all features: main effects take one player at a time
            each = [(player,) for player in range(task.trees.n_players)]
            effects = components(task.trees, grid(task), background, each, n_jobs=threads)
            return (effects.values + effects.baseline)[:, :, 0].T

        return run

    def brute(task: Task, _threads: int) -> Answer:
        from sklearn.inspection import partial_dependence

        def run() -> Floats:
            values = {0: grid(task)[:, 0]}
            found = partial_dependence(
                task.model, task.background, [0], custom_values=values, method="brute"
            )
            return np.asarray(found["average"])

        return run

    return Comparison(
        title=f"partial dependence of all features, {name}, {n_points} points, 20,000 rows",
        data=lambda: _task(name, 0, 20_000),
        cases=[Case("clearwood", ours), Case("scikit-learn, brute", brute, share=1 / 20)],
        difference=_on_leading_rows,
        promises={"scikit-learn, brute": 100.0},
        repeats=3,
    )


def _million_rows(threads: int) -> Comparison:
    """Compare the wall times of the two: two threads should take at most 1 / 1.7 of one."""

    def ours(task: Task, threads: int) -> Answer:
        def run() -> Floats:
            background = Background.of(task.trees, task.background, n_jobs=threads)
            return interventional(task.trees, task.X, background, n_jobs=threads).values

        return run

    return Comparison(
        title="interventional, a, 1,000,000 rows, 20,000 background rows",
        data=lambda: _task("a", 1_000_000, 20_000),
        cases=[Case("clearwood", ours)],
        threads=threads,
        repeats=1,
    )
