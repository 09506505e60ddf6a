"""Condense, certify and export from the shell."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def model(cli, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 120), "town": rng.choice(["a", "b"], 120)})
    frame["risk"] = np.where((frame["age"] > 40) ^ (frame["town"] == "a"), "high", "low")
    frame.to_csv(tmp_path / "data.csv", index=False)
    settings = ("--set", "n_estimators=5", "--set", "max_depth=3")
    assert cli("fit", "data.csv", "-t", "risk", "-l", "forest", *settings).code == 0
    return "model.cw"


def test_a_model_becomes_a_tree_that_is_proved(cli, model, tmp_path):
    made = cli("condense", model, "-o", "tree.json", "--effort", "fast")
    assert made.code == 0
    assert "same class everywhere" in made.out
    proved = cli("certify", "tree.json", model)
    assert (proved.code, proved.out) == (0, "Proved: same class everywhere\n")
    assert cli("certify", "tree.json", model, "--json").json["proved"] is True


def test_a_changed_tree_exits_with_one_and_a_row(cli, model, tmp_path):
    cli("condense", model)
    path = tmp_path / "tree.json"
    document = json.loads(path.read_text())
    document["diagram"]["outcome"] = [
        1 - k if k >= 0 else k for k in document["diagram"]["outcome"]
    ]
    path.write_text(json.dumps(document))
    found = cli("certify", "tree.json", model)
    assert found.code == 1
    assert "Not proved" in found.out
    assert "age" in found.out
    assert "was changed after its certificate" in found.out


@pytest.mark.parametrize("to", ["python", "c", "dot", "svg", "text", "rules"])
def test_a_tree_is_exported(cli, model, to):
    cli("condense", model)
    shown = cli("export", "tree.json", "--to", to)
    assert shown.code == 0
    assert "town" in shown.out
    file = "out.svg" if to == "svg" else "out.txt"
    assert cli("export", "tree.json", "--to", to, "-o", file).code == 0
    assert cli("export", "tree.json", "--to", to, "-o", file).code == 2
    assert cli("export", "tree.json", "--to", to, "-o", file, "--force").code == 0


def test_sql_predicts_what_the_model_predicts(cli, model, tmp_path):
    cli("condense", model)
    sql = cli("export", "tree.json", "--to", "sql", "--table", "claims").out
    wanted = cli("predict", model, "data.csv", "--no-probabilities").out.split()[1:]
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE claims (age, town)")
    rows = pd.read_csv(tmp_path / "data.csv")[["age", "town"]].values.tolist()
    connection.executemany("INSERT INTO claims VALUES (?, ?)", rows)
    assert [row[-1] for row in connection.execute(sql)] == wanted
    connection.close()


def test_sql_of_equal_values_has_the_columns_that_predict_writes(cli, model, tmp_path):
    assert cli("condense", model, "--equal", "value", "-o", "values.json").code == 0
    sql = cli("export", "values.json", "--to", "sql", "--table", "claims").out
    assert cli("predict", model, "data.csv", "-o", "wanted.csv").code == 0
    wanted = pd.read_csv(tmp_path / "wanted.csv")
    connection = sqlite3.connect(":memory:")
    rows = pd.read_csv(tmp_path / "data.csv")[["age", "town"]]
    rows.to_sql("claims", connection, index=False)
    found = pd.read_sql_query(sql, connection)[wanted.columns]
    connection.close()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-14)
    assert "(high 0." in cli("export", "values.json", "--to", "text").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("condense", "nothing.cw", "-o", "b.json"), "no file"),
        (
            ("condense", "model.cw", "-o", "b.json", "--tolerance", "0.1"),
            "a class has no tolerance",
        ),
        (
            ("condense", "model.cw", "-o", "b.json", "--equal", "value", "--tolerance", "-1"),
            "not negative",
        ),
        (("certify", "data.csv", "model.cw"), "is not JSON"),
        (("export", "model.cw", "--to", "sql"), "it is not text"),
        (("export", "tree.json", "--to", "onnx"), "ONNX files are binary"),
        (("export", "tree.json", "--to", "cobol"), "--to takes one of sql, python"),
        (("export", "tree.json", "--to", "sql", "--table", ""), "cannot be a name in SQL"),
        (("certify", "model.cw", "tree.json"), "a tree is a JSON file"),
        (
            ("condense", "model.cw", "-o", "b.json", "--time-limit", "-3"),
            "a number of seconds above 0",
        ),
        (
            ("condense", "model.cw", "-o", "b.json", "--objective", "questions"),
            "pass rows as --data",
        ),
        (("condense", "model.cw", "-o", "model.cw", "--force"), "both an input and the output"),
        (("condense", "model.cw"), "exists already"),
    ],
)
def test_what_cannot_be_used_is_said(cli, model, words, message):
    cli("condense", model)
    found = cli(*words)
    assert found.code == 2
    assert message in found.err


def test_a_model_without_trees_is_refused(cli, model):
    assert cli("fit", "data.csv", "-t", "risk", "-l", "logistic", "-o", "line.cw").code == 0
    found = cli("condense", "line.cw", "-o", "line.json")
    assert found.code == 2
    assert "not a tree model" in found.err


def test_a_budget_that_proves_little_is_told_in_the_words_of_the_shell(cli, model):
    found = cli("condense", model, "-o", "b.json", "--leaves", "1")
    assert found.code == 0
    assert "nothing was proved" in found.err
    assert "where the limit of 1 leaf was reached: raise --leaves" in found.err
    assert "with the ensemble" in found.out
    assert "export" not in found.out
    assert max(map(len, found.out.splitlines())) <= 80
    assert cli("export", "b.json", "--to", "sql").code == 2
