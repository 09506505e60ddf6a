import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor

import clearwood as cw


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 3] = rng.integers(0, 5, 300)
    return X, X[:, 0] * X[:, 1] + (X[:, 3] == 2)


@pytest.fixture(scope="module")
def forest(fitted):
    return cw.forest.from_model(RandomForestRegressor(6, max_depth=4, random_state=0).fit(*fitted))


@pytest.fixture(scope="module")
def categorical(fitted):
    X, y = fitted
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.3, 0.5])]
    model = HistGradientBoostingClassifier(max_iter=4, categorical_features=[3]).fit(X, labels)
    return cw.forest.from_model(model)


def test_arrays_are_read_only(forest):
    with pytest.raises(ValueError, match="read-only"):
        forest.value[0] = 1.0
    with pytest.raises(AttributeError):
        forest.link = "log"


def test_the_callers_array_stays_its_own(forest):
    threshold = forest.threshold.copy()
    made = replace(forest, threshold=threshold)
    threshold[:] = 0.0
    assert made.equals(forest)


def test_summary_counts_what_is_there(forest):
    facts = forest.summary()
    assert (facts["trees"], facts["depth"], facts["outputs"]) == (6, 4, 1)
    assert facts["leaves"] == forest.n_leaves == sum(forest.select([t]).n_leaves for t in range(6))
    assert repr(forest).startswith("Forest of 6 trees: ")
    assert "<table>" in forest._repr_html_()


def test_names_are_escaped_in_html(forest):
    made = replace(forest, source="<script>")
    assert "<script>" not in made._repr_html_()


def test_trees_add_up_to_the_forest(forest, fitted):
    X, _ = fitted
    parts = [forest.select([t]).predict_raw(X) for t in range(forest.n_trees)]
    np.testing.assert_allclose(np.mean(parts, axis=0), forest.predict_raw(X), rtol=1e-12)
    with pytest.raises(cw.InputError, match="numbered 0 to 5"):
        forest.select([6])


def test_goes_left_is_the_rule_of_one_node(forest, categorical):
    t = forest.threshold[0]
    nothing = np.array([t, np.float64(np.float32(t)), np.inf, -np.inf])
    assert forest.goes_left(0, nothing)[2:].tolist() == [False, True]
    node = int(np.flatnonzero(categorical.is_categorical)[0])
    chosen = categorical.category_set(node)
    answers = categorical.goes_left(node, np.arange(5.0))
    assert set(np.flatnonzero(answers)) == set(chosen) & set(range(5))
    with pytest.raises(cw.InputError, match="is a leaf"):
        forest.goes_left(int(np.flatnonzero(forest.is_leaf)[0]), np.zeros(1))


@pytest.mark.parametrize("kind", ["forest", "categorical"])
def test_saved_and_read_back_unchanged(kind, request, fitted, tmp_path):
    made = request.getfixturevalue(kind)
    again = cw.forest.load(made.save(tmp_path / "forest.cw"))
    assert again.equals(made)
    assert not again.equals(again.select([0]))
    np.testing.assert_array_equal(again.predict(fitted[0]), made.predict(fitted[0]))
    with pytest.raises(cw.InputError, match="exists already"):
        made.save(tmp_path / "forest.cw")


def test_cw_save_and_cw_load_take_forests(forest, tmp_path):
    cw.save(forest, tmp_path / "forest.cw")
    assert cw.load(tmp_path / "forest.cw").equals(forest)


def test_copies_and_workers_get_the_same_forest(forest, fitted):
    forest.predict(fitted[0])
    for again in (copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
        assert again.equals(forest)
        assert not again.value.flags.writeable
        np.testing.assert_array_equal(again.predict(fitted[0]), forest.predict(fitted[0]))


def test_a_file_cut_short_is_refused(forest, tmp_path):
    path = forest.save(tmp_path / "forest.cw")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(cw.InputError, match=r"forest\.cw"):
        cw.forest.load(path)


def test_a_file_of_another_kind_is_named(tmp_path):
    path = tmp_path / "model.cw"
    cw.save(cw.learner("baseline").fit(cw.datasets.load("diabetes")), path)
    with pytest.raises(cw.InputError, match="holds a learner, not a forest"):
        cw.forest.load(path)


def test_json_is_plain(forest, categorical):
    for made in (forest, categorical):
        read = json.loads(json.dumps(made.to_json(), allow_nan=False))
        assert read["arrays"]["left"] == made.left.tolist()
        assert read["link"] == made.link


def test_a_forest_is_given_back_as_it_is(forest):
    assert cw.forest.from_model(forest) is forest
