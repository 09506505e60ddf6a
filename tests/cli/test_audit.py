"""`clearwood audit`: a model and rows with protected columns, as text, JSON, tables and a page."""

import csv
import json
from pathlib import Path

import pytest

import clearwood as cw


@pytest.fixture
def model(cli, claims):
    words = ("fit", claims, "--target", "accidents", "--task", "count", "-l", "glm")
    assert cli(*words, "--protected", "region", "-o", "model.cw").code == 0
    return Path("model.cw")


DECISION = ("--decision", "<= 0.3", "--favourable", "yes")


def test_the_text_fits_a_terminal_and_has_every_group(cli, model, claims):
    answer = cli("audit", model, claims, *DECISION, "--min-rows", 20)
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= 80
    for word in ("north", "south", "east", "impact ratio", "favourable decision"):
        assert word in " ".join(answer.out.split())


def test_numbers_are_those_of_the_library(cli, model, claims):
    document = cli("audit", model, claims, "--json").json
    expected = cw.audit(model, claims)
    document.pop("files")
    assert document == expected.to_json()


def test_files_are_a_page_json_a_table_and_a_fair_model(cli, model, claims):
    names = ("audit.html", "all.json", "groups.csv", "ratio.svg")
    outputs = [word for name in names for word in ("-o", name)]
    answer = cli("audit", model, claims, "--fair", "fair.cw", *outputs)
    assert answer.code == 0, answer.err
    assert "does not give legal advice" in Path("audit.html").read_text(encoding="utf-8")
    assert json.loads(Path("all.json").read_text())["protected"] == ["region"]
    with Path("groups.csv").open() as file:
        assert {line["group"] for line in csv.DictReader(file)} == {"north", "south", "east"}
    assert Path("ratio.svg").read_text().startswith("<svg")
    assert isinstance(cw.load("fair.cw"), cw.fairness.FairModel)
    again = cli("audit", model, claims, "-o", "audit.html")
    assert again.code == 2
    assert "exists" in again.err


def test_bands_and_graphs_are_read(cli, model, claims):
    Path("graph.txt").write_text("age -> accidents; power -> accidents; region -> accidents")
    words = ("--protected", "age", "--cut-points", "40", "--graph", "graph.txt", "--json")
    document = cli("audit", model, claims, *words).json
    assert [group["age"] for group in document["groups"][0]["groups"]] == [
        "below 40",
        "40 and more",
    ]
    assert document["conditions"][0]["holds"] is None  # power has gaps, which the model fills


def test_mistakes_are_named_as_they_are_typed(refused, model, claims):
    assert "--cut-points 25 --cut-points 65" in refused(
        "audit", model, claims, "--protected", "age"
    )
    assert "needs a decision" in refused("audit", model, claims, "--favourable", "yes")
    assert "--favourable" in refused("audit", model, claims, "--decision", "<= 0.3")
    assert "no column 'gender'" in refused("audit", model, claims, "--protected", "gender")
    assert "not a list of numbers" in refused("audit", model, claims, "--cut-points", "a,b")
    assert "cycle" in refused("audit", model, claims, "--graph", _cycle())


def _cycle():
    path = Path("cycle.txt")
    path.write_text("a -> b; b -> a")
    return path
