"""One handle for a model and its data: what it costs, that threads share it, that it travels."""

import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import clearwood as cw
from clearwood.explanation import explanation as handles
from clearwood.table import Encoder


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n_rows = 120
    age, power = rng.uniform(18, 80, n_rows), rng.normal(60, 10, n_rows)
    town = np.array(["Ulm", "Bonn", "Kiel"])[rng.integers(0, 3, n_rows)]
    claims = age / 20 + np.where(town == "Ulm", power / 30, 1) + rng.normal(0, 0.3, n_rows)
    columns = {"age": age, "power": power, "town": town, "claims": claims}
    return cw.read(columns, target="claims")


@pytest.fixture(scope="module")
def forest(data):
    return cw.learner("forest", n_estimators=5, max_depth=3).fit(data)


@pytest.fixture
def counted(monkeypatch):
    """Count imports of models and encodings of tables."""
    counts = {"imports": 0, "encodings": 0}
    game_of, transform = handles.game_of, Encoder.transform

    def counting_game_of(*args):
        counts["imports"] += 1
        return game_of(*args)

    def counting_transform(self, *args, **options):
        counts["encodings"] += 1
        return transform(self, *args, **options)

    monkeypatch.setattr(handles, "game_of", counting_game_of)
    monkeypatch.setattr(Encoder, "transform", counting_transform)
    return counts


VERBS = {
    "effect": lambda model, data: cw.effect(model, data, "age"),
    "two columns": lambda model, data: cw.effect(model, data, "age", "power", n_bootstrap=0),
    "ale": lambda model, data: cw.effect(model, data, "age", kind="ale"),
    "component": lambda model, data: cw.effect(model, data, "age", kind="component"),
    "importance": cw.importance,
    "permutation": lambda model, data: cw.importance(model, data, kind="permutation"),
    "impurity": lambda model, data: cw.importance(model, data, kind="impurity"),
    "shapley": cw.shapley,
    "path-dependent": lambda model, data: cw.shapley(model, data, value="path_dependent"),
    "agreement": lambda model, data: cw.agreement(model, data, columns=["age", "town"]),
    "explain": lambda model, data: cw.explain(model, data).to_json(),
}


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize("verb", VERBS)
def test_every_question_imports_the_model_once_and_encodes_the_data_once(
    verb, forest, data, counted
):
    VERBS[verb](forest, data)
    n_encodings = 0 if verb == "impurity" else 1  # the gain of splits needs no rows
    assert counted == {"imports": 1, "encodings": n_encodings}


def test_rows_that_are_explained_are_encoded_once_beside_the_data(forest, data, counted):
    cw.shapley(forest, data, data.head(3))
    assert counted == {"imports": 1, "encodings": 2}


@pytest.mark.parametrize("library", ["table", "pandas", "polars"])
def test_explaining_one_row_a_second_time_imports_and_encodes_nothing(
    library, forest, data, counted
):
    why = cw.explain(forest, data)
    row = data.head(1) if library == "table" else data.X.head(1).to_frame(library)
    first = why.shapley(row)
    before = dict(counted)
    second = why.shapley(row)
    assert counted == before
    assert_array_equal(first.values, second.values)


def test_a_frame_changed_in_place_is_read_again(forest, data):
    why = cw.explain(forest, data)
    row = data.X.head(1).to_frame("pandas")
    young = why.shapley(row).values.copy()
    row.loc[0, "age"] = 80.0
    assert not np.array_equal(young, why.shapley(row).values)
    assert_array_equal(why.shapley(row).values, cw.shapley(forest, data, row).values)


def test_questions_of_one_explanation_share_the_import(forest, data, counted):
    why = cw.explain(forest, data)
    why.effect("age", extrapolation=False)
    why.importance()
    why.importance(kind="permutation")
    why.shapley()
    why.effect("age", "town", kind="component")
    assert counted == {"imports": 1, "encodings": 1}


# Threads and processes


def models(data):
    X = np.random.default_rng(1).normal(size=(150, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    return {
        "trees": (RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y), X),
        "sum": (Ridge().fit(X, y), X),
        "sampled": (KNeighborsRegressor().fit(X, y), X),
        "learner": (cw.learner("ridge").fit(data), data),
        "ebm": (cw.learner("ebm", max_rounds=20).fit(data), data),
    }


def answers(why, rows):
    """Numbers of several questions."""
    return [
        why.values(rows).values,
        why.shapley(rows).values,
        why.importance().values,
        why.without(why.columns[0]).predict(rows),
        why.effect(why.columns[1], kind="component").values,
    ]


@pytest.mark.parametrize("name", ["trees", "sum", "sampled", "learner", "ebm"])
def test_threads_that_share_an_explanation_agree_with_one(name, data):
    model, rows = models(data)[name]
    parts = [
        rows[k : k + 3] if isinstance(rows, np.ndarray) else rows.take(slice(k, k + 3))
        for k in range(0, 24, 3)
    ]
    alone = [answers(cw.explain(model, rows, n_background=20), part) for part in parts]
    shared = cw.explain(model, rows, n_background=20)
    start = threading.Barrier(4)

    def work(part):
        start.wait()  # eight parts on four threads, so the threads meet
        return answers(shared, part)

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, parts))
    for one, other in zip(alone, together, strict=True):
        for expected, found in zip(one, other, strict=True):
            assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["trees", "sum", "sampled", "learner", "ebm"])
def test_explanations_and_their_results_pickle(name, data):
    model, rows = models(data)[name]
    part = rows[:3] if isinstance(rows, np.ndarray) else rows.head(3)
    why = cw.explain(model, rows, n_background=20)
    expected = answers(why, part)
    again = pickle.loads(pickle.dumps(why))
    for one, other in zip(expected, answers(again, part), strict=True):
        assert_array_equal(one, other)
    for result in (why.values(part), why.shapley(part), why.importance(), why.decomposition):
        assert repr(pickle.loads(pickle.dumps(result))) == repr(result)


def test_an_explanation_travels_to_a_worker_process(forest, data):
    why = cw.explain(forest, data)
    rows = data.head(4)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        elsewhere = pool.submit(cw.Explanation.shapley, why, rows).result()
    assert_array_equal(elsewhere.values, why.shapley(rows).values)
