"""`clearwood explain`: tables that say the same as the library, checked before any work."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture
def model(cli, claims):
    words = ("fit", claims, "--target", "accidents", "-l", "gbm", "-o", "model.cw")
    assert cli(*words, "--set", "max_iter=10").code == 0
    return Path("model.cw")


def rows_of(path):
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def test_the_tables_hold_what_the_library_gives(cli, model, claims):
    answer = cli("explain", model, claims, "-o", "out")
    assert answer.code == 0, answer.err
    fitted, data = cw.load(model), cw.read(claims, target="accidents")
    why = cw.explain(fitted, data)
    importance = {row["column"]: float(row["importance"]) for row in rows_of("out/importance.csv")}
    for name, total in zip(why.columns, why.importance().total, strict=True):
        assert importance[name] == total
    found = why.shapley(data)
    for row, values, prediction in zip(
        rows_of("out/shapley.csv"), found.values, found.prediction, strict=True
    ):
        assert [float(row[name]) for name in why.columns] == values.tolist()
        assert float(row["prediction"]) == prediction
    ages = [row for row in rows_of("out/effects.csv") if row["column"] == "age"]
    effect = why.effect("age", kind="component")
    assert [float(row["value"]) for row in ages] == effect.grid[0].tolist()
    assert [float(row["effect"]) for row in ages] == effect.values.tolist()
    document = json.loads(Path("out/decomposition.json").read_text())
    assert document["value"] == "interventional"
    assert document["baseline"] == why.baseline
    assert len(rows_of("out/components.csv")) == len(why.components) + 1


def test_the_summary_names_the_value_function_and_the_background(cli, model, claims):
    answer = cli("explain", model, claims, "-o", "out")
    assert "200 background rows" in answer.out
    assert "Shapley values  of 200 rows, interventional" in answer.out
    assert "age" in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80


@pytest.mark.parametrize(("learner", "words"), [("mars", "max(0, "), ("rules", "% of rows)")])
def test_a_model_that_can_be_written_out_is_shown_so(cli, claims, learner, words):
    fitted = cli("fit", claims, "--target", "accidents", "--learner", learner, "-o", "own.cw")
    assert fitted.code == 0, fitted.err
    answer = cli("explain", "own.cw", claims, "-o", "out")
    assert answer.code == 0, answer.err
    written = answer.out.partition("The score of a row")[2]
    assert words in written
    assert max(len(line) for line in answer.out.splitlines()) <= 80


def test_some_rows_path_dependent_with_interactions_as_parquet(cli, model, claims):
    pq = pytest.importorskip("pyarrow.parquet")
    answer = cli(
        *("explain", model, claims, "-o", "out", "--rows", 7, "--value", "path_dependent"),
        *("--interactions", "--format", "parquet", "--json"),
    )
    assert answer.code == 0, answer.err
    assert answer.json["shapley_value"] == "path_dependent"
    assert answer.json["explained_rows"] == 7
    table = pq.read_table("out/shapley.parquet").to_pydict()
    fitted, data = cw.load(model), cw.read(claims, target="accidents")
    found = cw.shapley(fitted, data.head(7), value="path_dependent", interactions=True)
    assert table["age"] == found.values[:, found.columns.index("age")].tolist()
    pairs = pq.read_table("out/shapley-interactions.parquet").to_pydict()
    n_columns = len(found.columns)
    assert len(pairs["row"]) == 7 * n_columns * (n_columns - 1) // 2
    upper = np.triu_indices(n_columns, 1)
    assert pairs["interaction"] == pytest.approx((2 * found.interactions[:, *upper]).ravel())


def test_a_linear_model_is_explained_too(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "ridge", "-o", "ridge.cw")
    assert cli(*fit).code == 0
    answer = cli("explain", "ridge.cw", claims, "-o", "out", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["order"] == 1
    assert answer.json["remainder_share"] == 0


def test_existing_tables_are_kept_unless_told(cli, refused, model, claims):
    assert cli("explain", model, claims, "-o", "out").code == 0
    before = Path("out/shapley.csv").read_bytes()
    assert "--force" in refused("explain", model, claims, "-o", "out", "--rows", 3)
    assert Path("out/shapley.csv").read_bytes() == before
    assert cli("explain", model, claims, "-o", "out", "--rows", 3, "--force").code == 0
    assert len(rows_of("out/shapley.csv")) == 3


def test_a_file_or_a_missing_parent_is_refused_before_the_work(refused, model, claims):
    Path("taken").write_text("mine")
    assert "is a file" in refused("explain", model, claims, "-o", "taken")
    assert "does not exist" in refused("explain", model, claims, "-o", "no/such/out")


def test_a_model_that_is_no_sum_is_said_to_be_sampled(cli, claims):
    assert cli("fit", claims, "--target", "accidents", "-l", "knn", "-o", "knn.cw").code == 0
    answer = cli("explain", "knn.cw", claims, "-o", "out", "--rows", 2)
    assert answer.code == 0, answer.err
    assert "note: sampled" in answer.out
    document = json.loads(Path("out/decomposition.json").read_text())
    assert "sampled" in document["notes"][0]


def test_a_model_that_is_a_sum_of_terms_is_listed_term_by_term(cli, claims):
    assert cli("fit", claims, "--target", "accidents", "-l", "gam", "-o", "gam.cw").code == 0
    answer = cli("explain", "gam.cw", claims, "-o", "out")
    assert answer.code == 0, answer.err
    assert "Terms of learner 'gam'" in answer.out
    assert "0 rows of 200 outside the training" in answer.out
    table = cw.explain(cw.load("gam.cw"), cw.read(claims, target="accidents")).terms()
    written = {row["term"]: row["share"] for row in rows_of("out/terms.csv")}
    for term in table.terms:
        assert float(written[term.name]) == term.share


def test_the_band_of_an_effect_is_chosen_on_the_command_line(cli, claims):
    assert cli("fit", claims, "--target", "accidents", "-l", "gam", "-o", "gam.cw").code == 0
    words = ("explain", "effect", "gam.cw", claims, "age", "--scale", "margin", "--json")
    document = json.loads(cli(*words, "--band", "simultaneous").out)
    assert (document["band"], document["simultaneous"]) == ("covariance", True)
    assert json.loads(cli(*words, "--band", "rows").out)["band"] == "rows"
