"""Exports of a classifier's tree with equal values give its probabilities to the last bit."""

import ctypes
import json
import shutil
import sqlite3
import subprocess
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood.condensing import load

N = 500
LEARNERS = {
    "gbm": {"max_iter": 4, "max_depth": 2},
    "forest": {"n_estimators": 4, "max_depth": 3},
}
LABELS = {2: ["it's low", "high"], 3: ["low", "middle", 'the "high"']}


def table_of(classes):
    rng = np.random.default_rng(classes)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.integers(18, 80, N)),
            "the power": rng.normal(size=N),
            "town": rng.choice(["north", "it's west", "south"], N),
        }
    )
    noisy = (frame["age"].fillna(30) > 45).astype(int) + (frame["town"] == "south")
    position = (noisy + (rng.random(N) < 0.2)) % classes
    frame["risk"] = np.array(LABELS[classes], object)[position]
    return frame


@pytest.fixture(scope="module", params=[(name, k) for name in LEARNERS for k in (2, 3)], ids=str)
def case(request):
    """A tree with equal values, rows, the model's labels for them and its probabilities."""
    name, classes = request.param
    frame = table_of(classes)
    model = cw.learner(name, **LEARNERS[name]).fit(cw.read(frame, target="risk"))
    rows = frame.drop(columns="risk")
    one = cw.condense(model, equal="value", effort="fast")
    labels, wanted = model.predict(rows).tolist(), model.predict_proba(rows)
    np.testing.assert_array_equal(one.predict_proba(rows), wanted)
    assert one.predict(rows).tolist() == labels
    return one, rows, labels, wanted


def records(rows):
    return [tuple(None if x != x else x for x in row) for row in rows.itertuples(index=False)]


def in_sqlite(one, rows):
    """Return the columns that the SELECT adds, by their names."""
    names = ", ".join(f'"{name}"' for name in rows.columns)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({names})")
    marks = ", ".join("?" * rows.shape[1])
    connection.executemany(f"INSERT INTO t VALUES ({marks})", records(rows))
    cursor = connection.execute(one.to_sql(table="t"))
    added = [item[0] for item in cursor.description][rows.shape[1] :]
    found = pd.DataFrame([row[rows.shape[1] :] for row in cursor], columns=added)
    connection.close()
    return found


def test_sql_adds_a_column_for_each_class_as_predict_does(case):
    one, rows, labels, wanted = case
    named = [f"probability:{label}" for label in one.classes]
    with duckdb.connect() as connection:
        connection.register("t", rows)
        found = connection.execute(one.to_sql(table="t")).fetch_df()
    assert list(found.columns) == [*rows.columns, *named, "prediction"]
    assert found["prediction"].tolist() == labels
    np.testing.assert_array_equal(found[named].to_numpy(), wanted)
    found = in_sqlite(one, rows)
    assert list(found.columns) == [*named, "prediction"]
    assert found["prediction"].tolist() == labels
    # how SQLite reads decimals depends on the platform's long doubles
    np.testing.assert_array_max_ulp(found[named].to_numpy(), wanted, maxulp=1)


def test_python_source_has_probabilities(case):
    one, rows, labels, wanted = case
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    given = rows.to_dict("records")
    assert module["CLASSES"] == tuple(one.classes)
    assert [module["predict"](row) for row in given] == labels
    np.testing.assert_array_equal([module["predict_proba"](row) for row in given], wanted)


def compiled(one, folder):
    source, library = folder / "tree.c", folder / "tree.so"
    source.write_text(one.to_c(name="tree"), encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
    subprocess.run(["cc", *strict, "-shared", "-fPIC", "-o", library, source], check=True)
    code = ctypes.CDLL(str(library))
    code.tree_predict.argtypes = [ctypes.c_void_p]
    code.tree_code.restype = ctypes.c_double
    return code


def for_c(code, rows):
    """Return rows of the user's columns as the C source takes them."""
    columns = [
        rows[name]
        if pd.api.types.is_numeric_dtype(rows[name])
        else [
            code.tree_code(j, value.encode()) if isinstance(value, str) else np.nan
            for value in rows[name]
        ]
        for j, name in enumerate(rows.columns)
    ]
    return np.column_stack(columns).astype(np.float64)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_source_has_probabilities(case, tmp_path):
    one, rows, labels, wanted = case
    code = compiled(one, tmp_path)
    code.tree_predict_proba.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    code.tree_predict_proba.restype = None
    matrix = for_c(code, rows)
    found = np.full(wanted.shape, np.nan)
    at = [row.ctypes.data for row in matrix]
    for place, out in zip(at, found, strict=True):
        code.tree_predict_proba(place, out.ctypes.data)
    np.testing.assert_array_equal(found, wanted)
    assert [one.classes[code.tree_predict(place)] for place in at] == labels


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("name", ["tree", "forest", "gbm", "xgboost", "lightgbm", "adaboost"])
def test_c_source_of_a_learner_reads_the_users_labels(name, tmp_path):
    frame = table_of(2)
    frame.loc[::7, "town"] = None
    is_high = (frame["town"] == "it's west") | (frame["age"] > 60)
    frame["risk"] = np.where(is_high, "high", "low")
    settings = {} if name == "tree" else {"n_estimators": 3}
    model = cw.learner(name, **(LEARNERS["gbm"] if name == "gbm" else settings))
    one = cw.condense(model.fit(cw.read(frame, target="risk")), effort="fast")
    rows = frame.drop(columns="risk")
    new = rows.head(50).assign(town="never seen")
    code = compiled(one, tmp_path)
    odd = pd.concat([rows, new], ignore_index=True)
    matrix = for_c(code, odd)
    with pytest.warns(ClearwoodWarning, match="has levels that the model was not fitted with"):
        wanted = one.predict(odd).tolist()
    assert len(set(wanted)) == 2
    assert "tree_set_0" in one.to_c(name="tree")  # it asks about the town
    assert [one.classes[code.tree_predict(row.ctypes.data)] for row in matrix] == wanted


def test_onnx_has_probabilities(case):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    one, rows, labels, wanted = case
    session = runtime.InferenceSession(one.to_onnx().SerializeToString())
    assert [output.name for output in session.get_outputs()] == ["prediction", "probabilities"]
    found = session.run(None, {"X": one.matrix(rows)})
    assert found[0].tolist() == labels
    np.testing.assert_array_equal(found[1], wanted)


def test_a_file_keeps_probabilities(case, tmp_path):
    one, rows, labels, wanted = case
    again = load(one.save(tmp_path / "tree.json"))
    np.testing.assert_array_equal(again.predict_proba(rows), wanted)
    assert again.predict(rows).tolist() == labels
    assert again.to_sql(table="t") == one.to_sql(table="t")


def test_texts_and_graphs_show_the_probability_of_each_class(case):
    one, rows, labels, wanted = case
    shown = ", ".join(
        f"{label} {value:.6g}" for label, value in zip(one.classes, wanted[0], strict=True)
    )
    answer = f"{labels[0]} ({shown})"
    assert answer in one.to_text()
    assert json.dumps(answer) in one.to_dot()
    assert answer in {rule.answer for rule in one.rules()}
    assert one.path(rows.head(1)).answer == answer


def test_tied_votes_fall_as_in_the_model():
    frame = table_of(2)
    model = cw.learner("forest", **LEARNERS["forest"]).fit(cw.read(frame, target="risk"))
    forest = cw.forest.from_model(model)
    # every tree votes for one class in full, so that the shares of four trees tie
    votes = np.eye(2)[np.argmax(forest.value, axis=1)]
    voting = replace(forest, value=votes)
    rows = frame.drop(columns="risk")
    wanted = voting.predict_proba(rows)
    assert (wanted[:, 0] == wanted[:, 1]).any()
    one = cw.condense(voting, equal="value", effort="fast")
    assert one.predict(rows).tolist() == voting.predict(rows).tolist()
    assert in_sqlite(one, rows)["prediction"].tolist() == voting.predict(rows).tolist()


@pytest.mark.parametrize("zero_is_positive", [False, True])
def test_a_probability_of_one_half_is_the_class_that_the_model_says(any_forest, zero_is_positive):
    forest = any_forest(1, task="binary", trees=1, kinds=["number"] * 3)
    forest = replace(
        forest,
        value=np.zeros_like(forest.value),
        base=np.zeros(1),
        link="logistic",
        zero_is_positive=zero_is_positive,
    )
    one = cw.condense(forest, equal="value")
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    label = "yes" if zero_is_positive else "no"
    assert forest.predict(np.zeros((1, 3))).tolist() == [label]
    assert module["predict"]({}) == label
    assert module["predict_proba"]({}) == (0.5, 0.5)


def test_scores_that_are_no_probabilities_are_named_so(any_forest, cells, tmp_path):
    forest = any_forest(3, task="binary", kinds=["number"] * 3)
    forest = replace(forest, link="identity")
    one = cw.condense(forest, equal="value", effort="fast")
    matrix = cells(forest)
    labels, wanted = forest.predict(matrix).tolist(), forest.predict_raw(matrix)
    assert len(np.unique(wanted)) > 2
    rows = pd.DataFrame(matrix, columns=list(forest.feature_names))
    found = in_sqlite(one, rows)
    assert list(found.columns) == ["score", "prediction"]
    assert found["prediction"].tolist() == labels
    np.testing.assert_array_max_ulp(found["score"].to_numpy(), wanted, maxulp=1)
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    given = rows.to_dict("records")
    assert [module["predict"](row) for row in given] == labels
    assert [module["predict_raw"](row) for row in given] == wanted.tolist()
    assert "predict_proba" not in module
    if shutil.which("cc") is not None:
        code = compiled(one, tmp_path)
        code.tree_predict_raw.argtypes = [ctypes.c_void_p]
        code.tree_predict_raw.restype = ctypes.c_double
        at = [row.ctypes.data for row in np.ascontiguousarray(matrix)]
        assert [code.tree_predict_raw(place) for place in at] == wanted.tolist()
        assert [one.classes[code.tree_predict(place)] for place in at] == labels
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(one.to_onnx().SerializeToString())
    assert [output.name for output in session.get_outputs()] == ["prediction", "score"]
    assert session.run(None, {"X": matrix})[1].tolist() == wanted.tolist()


def test_a_tree_for_the_class_still_has_labels_only():
    rows = table_of(2).drop(columns="risk")
    model = cw.learner("forest", **LEARNERS["forest"])
    by_class = cw.condense(model.fit(cw.read(table_of(2), target="risk")), effort="fast")
    assert list(in_sqlite(by_class, rows).columns) == ["prediction"]
    assert "probability" not in by_class.to_text() + by_class.to_dot()
    assert "predict_proba" not in by_class.to_python() + by_class.to_c()


def test_a_statement_of_many_columns_holds_fewer_leaves(case, monkeypatch):
    one, *_ = case
    most = one.n_leaves * (1 + len(one.classes))
    monkeypatch.setattr("clearwood.condensing.export.sql._MOST_LEAVES", most)
    assert one.to_sql(table="t").count(" AS ") == 1 + len(one.classes)
    monkeypatch.setattr("clearwood.condensing.export.sql._MOST_LEAVES", most - 1)
    with pytest.raises(InputError, match="SQL holds every one"):
        one.to_sql(table="t")
