"""Models at the ends of what there is: many classes, one tree, very deep, very wide, constant."""

import ctypes
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw
from clearwood.forest.build import Trees, assemble


@pytest.mark.parametrize("n_classes", [64, 65, 300])
def test_hundreds_of_classes_are_told_apart(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 3)), rng.integers(0, n_classes, 1200)
    y[:n_classes] = np.arange(n_classes)
    model = RandomForestClassifier(3, max_depth=5, random_state=0).fit(X, y)
    one = cw.condense(model, effort="fast")
    rows = rng.normal(size=(2000, 3))
    np.testing.assert_array_equal(one.predict(rows), model.predict(rows))
    assert cw.certify(one, model)
    assert one.diagram.n_outputs == 0
    # no question is left between branches that say the same
    inner = ~one.diagram.is_leaf
    assert (one.diagram.left[inner] != one.diagram.right[inner]).all()


@pytest.mark.filterwarnings("ignore::clearwood.condensing.LittleProvedWarning")
def test_a_budget_serves_hundreds_of_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 100, 600)
    y[:100] = np.arange(100)
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    one = cw.condense(model, data=X, leaves=8)
    assert one.n_leaves <= 8
    np.testing.assert_array_equal(one.predict(X), model.predict(X))
    assert cw.certify(one, model)


def test_the_least_tree_is_not_promised_for_hundreds_of_classes():
    X, y = np.arange(210.0)[:, None], np.arange(210) // 3
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(cw.InputError, match=r"up to 64 classes; this model has 70.*good"):
        cw.condense(model, effort="optimal")


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["class", "number", "gaps"]))
def test_one_tree_is_never_made_larger(seed, kind):
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(90, 3)))
    if kind == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    grow = DecisionTreeRegressor if kind == "number" else DecisionTreeClassifier
    y = rng.normal(size=90) if kind == "number" else rng.integers(0, 3, 90)
    model = grow(random_state=0).fit(X, y)
    one = cw.condense(model)
    assert one.n_leaves <= model.get_n_leaves()
    assert cw.certify(one, model)
    np.testing.assert_array_equal(one.predict(X), model.predict(X))


def test_one_tree_of_sets_and_several_numbers_is_never_made_larger(any_forest, cells):
    for seed in range(12):
        for task in ("binary", "classes", "number"):
            forest = any_forest(seed, task=task, trees=1)
            one = cw.condense(forest)
            assert one.n_leaves <= forest.n_leaves
            assert cw.certify(one, forest)
            X = cells(forest)
            np.testing.assert_array_equal(one.predict(X), forest.predict(X))


def test_a_tree_fits_its_own_budget():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 4)), rng.integers(0, 2, 4000)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    one = cw.condense(model, effort="fast", data=X, leaves=int(model.get_n_leaves()))
    assert one.is_exact


def chain(depth):
    """A tree that asks one question after another, and is as deep as it has questions."""
    n = 2 * depth + 1
    inner = 2 * np.arange(depth)
    left, right, feature, threshold = (
        np.full(n, -1),
        np.full(n, -1),
        np.full(n, -1),
        np.zeros(n),
    )
    left[inner], right[inner] = inner + 1, inner + 2
    feature[inner], threshold[inner] = np.arange(depth) % 2, np.arange(depth) + 0.5
    value = np.zeros((n, 2))
    value[inner + 1, np.arange(depth) % 2] = 1.0
    value[n - 1, depth % 2] = 1.0
    tree = Trees(
        sizes=[n],
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        default_left=np.ones(n, bool),
        value=value,
        cover=np.ones(n),
    )
    return assemble(
        [tree], base=np.zeros(2), feature_names=("a", "b"), classes=np.array(["no", "yes"])
    )


def test_a_tree_a_thousand_questions_deep_is_read_and_exported(tmp_path):
    forest = chain(1200)
    X = np.random.default_rng(0).uniform(0, 1201, (300, 2))
    one = cw.condense(forest, effort="fast")
    wanted = forest.predict(X).tolist()
    assert one.predict(X).tolist() == wanted
    assert one.depth >= 1200
    assert cw.certify(one, forest)
    assert len(one.rules()) == one.n_leaves
    assert one.path(X[0]).prediction == wanted[0]
    assert one.to_text().count("\n") == 2 * one.n_leaves - 2
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    assert [module["predict"]({"a": a, "b": b}) for a, b in X] == wanted
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", X.tolist())
    assert [row[-1] for row in connection.execute(one.to_sql(table="t"))] == wanted
    connection.close()
    if shutil.which("cc"):
        source, library = tmp_path / "t.c", tmp_path / "t.so"
        source.write_text(one.to_c(name="t"))
        subprocess.run(
            ["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source], check=True
        )
        predict = ctypes.CDLL(str(library)).t_predict
        predict.argtypes = [ctypes.c_void_p]
        assert [forest.classes[predict(X[i].ctypes.data)] for i in range(len(X))] == wanted


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(3)], ids=repr)
def test_a_model_that_says_one_thing_is_one_leaf(model):
    one = cw.condense(model.fit([[1.0, 2.0]], [3.0]))
    assert (one.n_leaves, one.depth) == (1, 0)
    assert one.predict([[0.0, 0.0]]).tolist() == [3.0]
    assert repr(one.path([0.0, 0.0])) == "3, whatever the row"
    assert repr(one.rules()) == "always: 3"
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    assert module["predict"]({}) == 3.0
    assert "ELSE" not in one.to_sql(table="t")


def test_source_asks_only_for_columns_that_matter():
    X = np.random.default_rng(0).normal(size=(200, 500))
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, X[:, 7] > 0)
    module = {}
    exec(compile(cw.condense(model).to_python(), "tree.py", "exec"), module)
    assert module["COLUMNS"] == ("x7",)
    assert module["predict"]({"x7": 1.0}) is True
