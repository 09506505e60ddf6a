"""Every export predicts what the tree predicts: 10,000 rows with gaps, categories and odd names."""

import ctypes
import json
import pickle
import shutil
import sqlite3
import subprocess
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood.condensing import from_json, load

NAMES = ("select", 'we "quote"', "größe")
LEVELS = ("a", "it's", '"b"', "naïve\\n", "e")
TABLE = 'my "table"'
N = 10_000

CASES = [(seed, task) for task in ("binary", "classes", "number") for seed in range(3)]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request, any_forest):
    """A tree, rows for it and what it says of them."""
    seed, task = request.param
    rng = np.random.default_rng(seed)
    kinds = [["number", "category", "zero"], ["number", "number", "category"], ["zero"] * 3][seed]
    forest = any_forest(seed, task=task, trees=4, kinds=kinds)
    levels = tuple(LEVELS if kind == "category" and task != "number" else None for kind in kinds)
    forest = replace(
        forest,
        feature_names=NAMES,
        columns=(),
        groups=np.empty(0, np.int32),
        levels=levels,
        missing_value=0.5 if seed == 1 else None,
    )
    pool = [-1, -1e-40, 0, 0.1, 0.5, 1, 2, 3, 4, 7, 33, -7, 1e-36, np.inf, -np.inf, np.nan]
    pool += [*np.float32([0.1, 0.5]), *np.nextafter([0.1, 0.5, 1], 9), *rng.normal(size=9)]
    frame = pd.DataFrame(
        {
            name: rng.choice(np.array([*LEVELS, "new", None], object), N)
            if known
            else rng.choice(pool, N)
            for name, known in zip(NAMES, levels, strict=True)
        }
    )
    one = cw.condense(forest, effort="fast")
    wanted = one.predict(frame).tolist()
    assert wanted == forest.predict(frame).tolist()
    return one, frame, wanted


def records(frame):
    return [
        tuple(None if x is None or x != x else x for x in row)
        for row in frame.itertuples(index=False)
    ]


def test_sql_in_sqlite(case):
    one, frame, wanted = case
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {quoted(TABLE)} ({', '.join(map(quoted, NAMES))})")
    connection.executemany(f"INSERT INTO {quoted(TABLE)} VALUES (?, ?, ?)", records(frame))
    rows = connection.execute(one.to_sql(table=TABLE, column="from")).fetchall()
    assert [row[-1] for row in rows] == wanted
    connection.close()


@pytest.mark.parametrize("gaps", ["NaN", "NULL"])
def test_sql_in_duckdb(case, gaps):
    one, frame, wanted = case
    text = [levels is not None for levels in one.shell.levels]
    types = ["VARCHAR" if is_text else "DOUBLE" for is_text in text]
    columns = ", ".join(f"{quoted(n)} {kind}" for n, kind in zip(NAMES, types, strict=True))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE {quoted(TABLE)} ({columns})")
        arrays = {
            f"c{j}": [v if isinstance(v, str) else None for v in frame[name]]
            if is_text
            else frame[name]
            for j, (name, is_text) in enumerate(zip(NAMES, text, strict=True))
        }
        given = pd.DataFrame(arrays)
        connection.register("given", given)
        picked = [
            f"c{j}"
            if is_text or gaps == "NaN"
            else f"CASE WHEN isnan(c{j}) THEN NULL ELSE c{j} END"
            for j, is_text in enumerate(text)
        ]
        connection.execute(f"INSERT INTO {quoted(TABLE)} SELECT {', '.join(picked)} FROM given")
        rows = connection.execute(one.to_sql(table=TABLE)).fetchall()
    assert [row[-1] for row in rows] == wanted


def test_python_source(case):
    one, frame, wanted = case
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    assert [module["predict"](row) for row in frame.to_dict("records")] == wanted


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_source(case, tmp_path):
    one, frame, wanted = case
    source, library = tmp_path / "tree.c", tmp_path / "tree.so"
    source.write_text(one.to_c(name="odd_tree"), encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
    subprocess.run(["cc", *strict, "-shared", "-fPIC", "-o", library, source], check=True)
    code = ctypes.CDLL(str(library))
    predict = code.odd_tree_predict
    predict.argtypes = [ctypes.c_void_p]
    predict.restype = ctypes.c_double if one.classes is None else ctypes.c_int
    code.odd_tree_code.restype = ctypes.c_double
    matrix = np.empty((N, 3))
    for j, (name, levels) in enumerate(zip(NAMES, one.shell.levels, strict=True)):
        matrix[:, j] = (
            frame[name]
            if levels is None
            else [
                code.odd_tree_code(j, label.encode()) if isinstance(label, str) else np.nan
                for label in frame[name]
            ]
        )
    got = [predict(matrix.ctypes.data + 24 * row) for row in range(N)]
    assert (got if one.classes is None else one.classes[got].tolist()) == wanted


def test_onnx(case):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    one, frame, wanted = case
    session = runtime.InferenceSession(one.to_onnx().SerializeToString())
    assert session.run(None, {"X": one.matrix(frame)})[0].tolist() == wanted


def test_json_there_and_back(case):
    one, frame, wanted = case
    text = json.dumps(one.to_json(), allow_nan=False)
    two = from_json(json.loads(text))
    assert two.diagram.equals(one.diagram)
    assert two.shell.equals(one.shell)
    assert two.certificate == one.certificate
    assert two.predict(frame).tolist() == wanted


def test_a_tree_that_travels_to_a_worker_is_the_same_and_frozen(case):
    one, frame, wanted = case
    two = pickle.loads(pickle.dumps(one))
    assert two.diagram.equals(one.diagram)
    assert not two.diagram.threshold.flags.writeable
    assert two.certificate == one.certificate
    assert two.predict(frame).tolist() == wanted


def test_dot_text_and_rules_are_written(case):
    one, _, _ = case
    assert one.to_dot().count("->") == 2 * int((~one.diagram.is_leaf).sum())
    assert one.to_text().count("\n") + 1 == 2 * one.n_leaves - 1
    assert 0 < len(one.rules()) <= one.n_leaves


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    return cw.condense(model), model, X


def test_a_file_is_enough_to_certify(iris, tmp_path):
    one, model, _ = iris
    path = one.save(tmp_path / "tree.json")
    forest = cw.forest.from_model(model).save(tmp_path / "forest.cw")
    found = cw.certify(path, forest)
    assert found
    assert found.same_model
    assert found.same_tree


def test_a_threshold_changed_in_the_file_is_found(iris, tmp_path):
    one, model, _ = iris
    document = one.to_json()
    document["diagram"]["threshold"][0] += 0.2
    path = tmp_path / "tree.json"
    path.write_text(json.dumps(document))
    found = cw.certify(path, model)
    assert not found
    assert found.counterexample is not None
    assert not found.same_tree
    with pytest.warns(ClearwoodWarning, match="changed after it was certified"):
        load(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: d["diagram"].pop("left"), "damaged"),
        (lambda d: d["diagram"]["left"].__setitem__(0, 0), "children must come after"),
        (lambda d: d["diagram"]["feature"].pop(), "damaged"),
        (lambda d: d.update(format="something"), "not a condensed tree"),
        (lambda d: d.update(version=99), "version 99"),
        (lambda d: d["model"].update(aggregation="product"), "aggregation"),
        (lambda d: d.update(diagram=None), "damaged"),
        (lambda d: d["diagram"]["threshold"].__setitem__(0, "much"), "damaged"),
    ],
)
def test_damaged_documents_are_refused(iris, damage, message):
    document = iris[0].to_json()
    damage(document)
    with pytest.raises(InputError, match=message):
        from_json(document)


def test_a_file_cut_short_is_refused(iris, tmp_path):
    path = iris[0].save(tmp_path / "tree.json")
    path.write_text(path.read_text()[:1000])
    with pytest.raises(InputError, match="is not JSON"):
        load(path)


def test_trees_that_lean_on_the_ensemble_are_not_exported(iris):
    one, model, _ = iris
    certified = one.diagram.certified.copy()
    certified[np.flatnonzero(one.diagram.is_leaf)[0]] = False
    diagram = replace(one.diagram, certified=certified)
    part = replace(one, diagram=diagram, fallback=cw.forest.from_model(model))
    for write in (lambda: part.to_sql(table="t"), part.to_python, part.to_c, part.to_onnx):
        with pytest.raises(InputError, match="the ensemble predicts at some leaves"):
            write()
    again = from_json(json.loads(json.dumps(part.to_json(), allow_nan=False)))
    X = iris[2]
    assert again.predict(X).tolist() == part.predict(X).tolist()


def test_names_that_no_language_has_are_refused(iris):
    with pytest.raises(InputError, match="cannot be a name in SQL"):
        iris[0].to_sql(table="")
    with pytest.raises(InputError, match="name of a function in C"):
        iris[0].to_c(name="2 trees")


def test_a_schema_qualifies_the_table(iris):
    assert iris[0].to_sql(table=("lab", "claims")).endswith('FROM "lab"."claims"')


def test_source_of_hostile_names_stays_a_comment(iris):
    one = iris[0]
    names = ("*/ evil(); /*", '"""\nimport os', "a\\", "b")
    shell = replace(one.shell, feature_names=names, columns=(), groups=np.empty(0, np.int32))
    odd = replace(one, shell=shell)
    module = {}
    exec(compile(odd.to_python(), "tree.py", "exec"), module)
    assert "os" not in module
    assert "*/ evil" not in odd.to_c()


@pytest.fixture(scope="module")
def learner():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n)),
            "region": rng.choice(["north", "south", "it's west", None], n),
        }
    )
    frame.loc[frame["age"].isna(), "region"] = "south"
    frame["risk"] = np.where((frame["age"] > 40) ^ (frame["region"] == "north"), "high", "low")
    data = cw.read(frame, target="risk")
    model = cw.learner("forest", n_estimators=6, max_depth=3).fit(data)
    return model, frame


def test_a_learner_is_exported_on_the_users_columns(learner):
    model, frame = learner
    one = cw.condense(model, effort="fast")
    wanted = model.predict(frame.drop(columns="risk")).tolist()
    assert one.predict(frame).tolist() == wanted
    odd = pd.concat([frame, frame.head(40).assign(region="never seen")], ignore_index=True)
    with pytest.warns(ClearwoodWarning, match="has levels that the model was not fitted with"):
        wanted = one.predict(odd).tolist()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE claims (age, region)")
    rows = records(odd[["age", "region"]])
    connection.executemany("INSERT INTO claims VALUES (?, ?)", rows)
    found = connection.execute(one.to_sql(table="claims")).fetchall()
    assert [row[-1] for row in found] == wanted
    connection.close()
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    assert [module["predict"](row) for row in odd.to_dict("records")] == wanted


def test_a_learners_tree_reads_tables_after_it_was_a_file(learner, tmp_path):
    model, frame = learner
    one = cw.condense(model, effort="fast")
    again = load(one.save(tmp_path / "tree.json"))
    assert again.predict(frame).tolist() == one.predict(frame).tolist()
    assert again.to_sql(table="t") == one.to_sql(table="t")
    assert cw.certify(again, model)


def test_a_learners_booleans_are_exported_as_such(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 300), "late": rng.random(300) < 0.5})
    frame["risk"] = np.where((frame["age"] > 40) ^ frame["late"], "high", "low")
    model = cw.learner("forest", n_estimators=5, max_depth=3).fit(cw.read(frame, target="risk"))
    one = cw.condense(model, effort="fast")
    wanted = one.predict(frame).tolist()
    module = {}
    exec(compile(one.to_python(), "tree.py", "exec"), module)
    rows = frame[["age", "late"]]
    assert [module["predict"](row) for row in rows.to_dict("records")] == wanted
    assert [
        module["predict"](row)
        for row in rows.astype(str).assign(age=rows["age"]).to_dict("records")
    ] == wanted
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (age, late)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", rows.values.tolist())
    assert [row[-1] for row in connection.execute(one.to_sql(table="t"))] == wanted
    connection.close()
    with duckdb.connect() as connection:
        connection.register("t", rows)
        assert [row[-1] for row in connection.execute(one.to_sql(table="t")).fetchall()] == wanted


def test_columns_that_an_encoder_makes_are_told():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=400)})
    frame["late"] = np.where(frame["day"].dt.month > 6, "yes", "no")
    model = cw.learner("tree", max_depth=3).fit(cw.read(frame, target="late"))
    one = cw.condense(model)
    for write in (lambda: one.to_sql(table="t"), one.to_python, one.to_c):
        with pytest.warns(ClearwoodWarning, match=r"this needs 'day:.*add it to the table"):
            write()


def test_names_that_lightgbm_changed_are_the_tables_own():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"home town": rng.normal(size=300), "the_age": rng.normal(size=300)})
    model = lightgbm.LGBMClassifier(n_estimators=5, num_leaves=4, n_jobs=1, verbose=-1)
    model.fit(frame, frame["home town"] > frame["the_age"])
    one = cw.condense(model, data=frame)
    assert one.feature_names == ("home town", "the_age")
    found = cw.certify(one, model)
    assert found
    assert found.same_model
    with duckdb.connect() as connection:
        connection.register("t", frame)
        rows = connection.execute(one.to_sql(table="t")).fetchall()
    assert [row[-1] for row in rows] == model.predict(frame).tolist()
    np.testing.assert_array_equal(one.predict(frame), model.predict(frame))
    assert cw.condense(model).feature_names == ("home_town", "the_age")
