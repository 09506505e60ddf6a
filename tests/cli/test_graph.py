"""`clearwood graph`: adjustment sets, paths and tests from a file."""

import json

import numpy as np
import pytest

TEXT = """# insurance
gender -> {height mileage accidents}
age -> {mileage power accidents}
mileage -> accidents
"""


@pytest.fixture
def dag(tmp_path):
    path = tmp_path / "portfolio.dag"
    path.write_text(TEXT)
    return path


def test_sets_paths_and_independences_are_printed(cli, dag):
    answer = cli("graph", dag, "--treatment", "mileage", "--outcome", "accidents")
    assert answer.code == 0
    assert "{gender, age}" in answer.out
    assert "mileage <- gender -> accidents  open" in answer.out
    assert "height ⊥ accidents | gender" in answer.out


def test_a_given_set_is_judged(cli, dag):
    words = ("graph", dag, "--treatment", "mileage", "--outcome", "accidents")
    answer = cli(*words, "--given", "gender", "--json")
    assert answer.json["validity"]["valid"] is False
    assert answer.json["validity"]["path"] == ["mileage", "<-", "age", "->", "accidents"]
    assert answer.json["adjustment"]["sets"] == [["gender", "age"]]
    assert cli(*words, "--given", "gender,age", "--json").json["validity"]["valid"] is True


def test_marks_of_the_text_are_the_defaults(cli, table):
    path = table("dag { x [exposure] y [outcome] z -> {x y}; x -> y }", "marked.txt")
    assert cli("graph", path, "--json").json["adjustment"]["sets"] == [["z"]]


def test_independences_are_tested_on_a_table(cli, table):
    random = np.random.default_rng(0)
    z = random.normal(size=300)
    x, y = z + random.normal(size=300), z + random.normal(size=300)
    rows = [f"{a:.4f},{b:.4f},{c:.4f}" for a, b, c in zip(x, y, z, strict=True)]
    data = table("\n".join(["x,y,z", *rows]) + "\n")
    right = cli("graph", table("x <- z -> y", "right.dag"), "--data", data, "--json").json
    assert right["tests"]["tests"][0]["is_rejected"] is False
    wrong = cli("graph", table("x -> z; y", "wrong.dag"), "--data", data)
    assert "rejected" in wrong.out
    assert "an arrow or a hidden cause is missing" in wrong.out


def test_pictures_and_documents_are_written(cli, dag, tmp_path):
    answer = cli("graph", dag, "-o", "graph.svg", "-o", "graph.json")
    assert answer.code == 0
    assert "<svg" in (tmp_path / "graph.svg").read_text()
    document = json.loads((tmp_path / "graph.json").read_text())
    (tmp_path / "again.json").write_text(json.dumps(document["graph"]))
    assert cli("graph", "again.json", "--json").json["graph"] == document["graph"]


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("a -> b -> a", (), "the arrows form a cycle: a -> b -> a"),
        ("a -- b", (), "the mark -- is not supported"),
        ("a @-> b", (), "@-> is not supported"),
        ("a -> b", ("--treatment", "a"), "--outcome is not given"),
        ("a -> b", ("--treatment", "c", "--outcome", "b"), "'c' is not a node of the graph"),
        ("age -> b", ("--treatment", "agee", "--outcome", "b"), "did you mean 'age'?"),
        ("a -> b", ("--treatment", "a", "--outcome", "a"), "both have 'a'"),
        ("a -> b", ("-o", "x.pdf"), "no format that can be written here"),
        ("", (), "the graph has no nodes"),
    ],
)
def test_graphs_that_cannot_be_used_are_refused(refused, table, text, words, said):
    assert said in refused("graph", table(text, "a.dag"), *words)


def test_files_and_columns_that_are_missing_are_named(refused, table):
    assert "no.dag" in refused("graph", "no.dag")
    assert "it is not JSON" in refused("graph", table("{", "broken.json"))
    path, data = table("a b", "a.dag"), table("a,c\n1,2\n3,4\n")
    said = refused("graph", path, "--data", data)
    assert "'b' is a node of the graph, but not a column of the data" in said


def test_costs_choose_the_set_and_must_be_numbers_of_nodes(cli, table):
    path = table("z -> x -> y; z -> w -> y", "choice.dag")
    words = ("graph", path, "--treatment", "x", "--outcome", "y", "--sets", "minimum", "--json")
    dear = cli(*words, "--cost", "z=5", "--cost", "w=2").json["adjustment"]
    assert (dear["sets"], dear["costs"]) == ([["w"]], [2.0])
    assert cli(*words, "--cost", "w=5").json["adjustment"]["sets"] == [["z"]]
    for bad, word in (("w", "number"), ("w=x", "number"), ("q=1", "'q'"), ("w=-1", "'w'")):
        answer = cli(*words, "--cost", bad)
        assert answer.code == 2
        assert word in answer.err


def test_names_with_commas_can_be_named_and_are_quoted_in_sets(cli, table):
    path = table('"a, b" -> x -> y; "a, b" -> y', "commas.dag")
    answer = cli("graph", path, "--treatment", "x", "--outcome", "y", "--given", "a, b")
    assert '{"a, b"}' in answer.out
    assert " is valid for the effect of x on y" in answer.out
