"""`clearwood evaluate`: a model file on new rows, as text, JSON, tables, a picture and a page."""

import csv
import json
import sys
from pathlib import Path

import pytest

import clearwood as cw


@pytest.fixture
def model(cli, claims):
    words = ("fit", claims, "--target", "accidents", "--task", "count", "-l", "glm")
    assert cli(*words, "-o", "model.cw").code == 0
    return Path("model.cw")


@pytest.fixture
def with_premium(claims, table):
    """The claims with a premium of about the right size."""
    head, *lines = claims.read_text().splitlines()
    rows = [f"{line},{100 + k % 7}" for k, line in enumerate(lines)]
    return table("\n".join([f"{head},current_premium", *rows]) + "\n", "next.csv")


def test_the_text_fits_a_terminal_and_has_measures_and_lift(cli, model, with_premium, claims):
    answer = cli(
        "evaluate",
        model,
        with_premium,
        "--training",
        claims,
        "--against",
        "current_premium",
        "--by",
        "region",
        "--by",
        "age,region",
    )
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= 80
    for word in ("deviance explained", "observed expected", "Double lift", "by region", "by age"):
        assert word in " ".join(answer.out.split())
    assert "current_premium" not in answer.err


def test_every_band_of_a_pair_is_printed(cli, model, claims):
    answer = cli("evaluate", model, claims, "--by", "age,region")
    lines = answer.out.split("Observed against expected by age and region")[1].splitlines()
    bands = cw.evaluate(model, claims).by("age", "region").bands
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    printed = [line.split() for line in lines]
    for age, region in bands:
        assert sum(line[: len(age.split()) + 1] == [*age.split(), region] for line in printed) == 1


def test_numbers_are_those_of_the_library(cli, model, claims):
    document = cli("evaluate", model, claims, "--json", "--by", "region").json
    expected = cw.evaluate(model, claims)
    assert document["measures"] == expected.measures().to_json()
    assert document["rows"] == 200
    assert document["by"][0]["columns"] == ["region"]
    assert set(document["by_column"]) == {"age", "power", "region"}


def test_files_are_a_page_json_tables_and_a_picture(cli, model, with_premium, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["clearwood", "evaluate", "model.cw"])
    names = ("evaluation.html", "all.json", "measures.csv", "lift.svg")
    outputs = [word for name in names for word in ("-o", name)]
    answer = cli("evaluate", model, with_premium, "--against", "current_premium", *outputs)
    assert answer.code == 0, answer.err
    page = Path("evaluation.html").read_text(encoding="utf-8")
    assert "Double lift" in page
    assert "Reproduction" in page
    assert json.loads(Path("all.json").read_text())["double_lift"]["against"] == "current_premium"
    with Path("measures.csv").open() as file:
        assert next(csv.DictReader(file))["measure"] == "deviance_explained"
    assert Path("lift.svg").read_text().startswith("<svg")
    again = cli("evaluate", model, with_premium, "-o", "evaluation.html")
    assert again.code == 2
    assert "exists" in again.err


def test_classes_have_a_threshold(cli, flowers):
    words = ("fit", flowers, "--target", "kind", "-l", "lda", "-o", "classes.cw")
    assert cli(*words).code == 0
    document = cli("evaluate", "classes.cw", flowers, "--json").json
    assert document["confusion"]["classes"] == ["iris", "rose", "tulip"]
    assert document["measures"]["auc"]["low"] > 0.5


def test_mistakes_are_named(refused, model, with_premium, table):
    assert "lack the target 'accidents'" in refused(
        "evaluate", model, table("age,power,region\n30,80,north\n", "bare.csv")
    )
    assert "no column 'premium'" in refused("evaluate", model, with_premium, "--against", "premium")
    assert "no column 'regio'" in refused("evaluate", model, with_premium, "--by", "regio")
    assert "confidence" in refused("evaluate", model, with_premium, "--confidence", "2")


def test_a_model_file_is_another_prediction(cli, model, claims):
    words = ("fit", claims, "--target", "accidents", "--task", "count", "-l", "baseline")
    assert cli(*words, "-o", "old.cw").code == 0
    document = cli("evaluate", model, claims, "--against", "old.cw", "--json").json
    assert document["double_lift"]["against"] == "old.cw"
    expected = cw.evaluate(model, claims, against="old.cw").lift(against="old.cw")
    assert document["double_lift"]["other"] == expected.to_json()["other"]
    answer = cli("evaluate", model, claims, "--against", "none.cw")
    assert answer.code != 0
    assert "none.cw" in answer.err
