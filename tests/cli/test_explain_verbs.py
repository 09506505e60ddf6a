"""`clearwood explain effect`, `importance`, ...: the library's answers, in words and in files."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.table import read_as


@pytest.fixture
def model(cli, claims):
    words = ("fit", claims, "--target", "accidents", "-l", "gbm", "-o", "model.cw")
    assert cli(*words, "--set", "max_iter=10").code == 0
    return Path("model.cw")


@pytest.fixture
def both(model, claims):
    """The fitted model and its table, as the library has them."""
    fitted = cw.load(model)
    return fitted, read_as(claims, fitted.schema_)


@pytest.mark.parametrize("kind", ["pdp", "ice", "marginal", "ale", "supported_pdp"])
def test_every_kind_of_effect_is_the_librarys(cli, model, claims, both, kind):
    answer = cli("explain", "effect", model, claims, "age", "--kind", kind, "--json")
    assert answer.code == 0, answer.err
    found = cw.effect(*both, "age", kind=kind)
    assert answer.json["kind"] == kind
    np.testing.assert_allclose(answer.json["values"], found.values)
    np.testing.assert_allclose(answer.json["high"], found.high)


def test_two_columns_a_grid_and_a_class(cli, flowers):
    fit = ("fit", flowers, "--target", "kind", "-l", "tree", "-o", "tree.cw")
    assert cli(*fit).code == 0
    answer = cli(
        *("explain", "effect", "tree.cw", flowers, "length", "width", "--class", "rose"),
        *(
            "--grid",
            "1,2,3",
            "--grid",
            "0.5,1",
            "--n-bootstrap",
            0,
            "--extrapolation",
            "none",
            "--json",
        ),
    )
    assert answer.code == 0, answer.err
    assert answer.json["grid"] == [[1, 2, 3], [0.5, 1]]
    assert answer.json["about"]["outputs"] == ["rose"]
    assert np.shape(answer.json["values"]) == (3, 2)


def test_the_ending_of_a_file_says_what_it_is(cli, model, claims, both):
    names = ["age.json", "age.csv", "age.svg", "age.png", "age.html"]
    words = [word for name in names for word in ("-o", name)]
    answer = cli("explain", "effect", model, claims, "age", "--kind", "ale", *words)
    assert answer.code == 0, answer.err
    assert [line for line in answer.out.splitlines() if line.startswith("Wrote")] == [
        f"Wrote {name}" for name in names
    ]
    found = cw.effect(*both, "age", kind="ale")
    with Path("age.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["ale"]) for line in lines] == found.values.tolist()
    assert json.loads(Path("age.json").read_text())["evaluations"] == found.evaluations
    assert Path("age.svg").read_text().lstrip().startswith("<svg")
    assert Path("age.png").read_bytes().startswith(b"\x89PNG")
    page = Path("age.html").read_text()
    assert "<html" in page
    assert 'src="http' not in page


@pytest.mark.parametrize("kind", ["permutation", "loco", "shapley", "variance", "impurity"])
def test_every_kind_of_importance_is_the_librarys(cli, claims, kind):
    learner = "tree" if kind == "impurity" else "ols"
    fit = ("fit", claims, "--target", "accidents", "-l", learner, "-o", "m.cw")
    assert cli(*fit).code == 0
    answer = cli("explain", "importance", "m.cw", claims, "--kind", kind, "--json")
    assert answer.code == 0, answer.err
    fitted = cw.load("m.cw")
    found = cw.importance(fitted, read_as(claims, fitted.schema_), kind=kind)
    given = {line["column"]: line["importance"] for line in answer.json["columns"]}
    for name in found.columns:
        assert given[name] == pytest.approx(found[name], nan_ok=True)


def test_columns_can_count_as_one(cli, model, claims):
    words = ("explain", "importance", model, claims, "--kind", "permutation")
    answer = cli(*words, "--groups", "person=age,region")
    assert answer.code == 0, answer.err
    assert "person" in answer.out
    answer = cli("explain", "shapley", model, claims, "--groups", "person=age,region", "--json")
    assert answer.code == 0, answer.err
    assert set(answer.json["columns"]) == {"person", "power"}


def test_directions_are_those_of_the_library(cli, model, claims, both):
    words = ("explain", "monotone", model, claims)
    answer = cli(*words, "--column", "age=up", "--column", "power")
    assert answer.code == 0, answer.err
    fitted, table = both
    known = cw.monotone(fitted, table, {"age": "up"})
    assert known["age"].sentence in " ".join(answer.out.split())
    answer = cli(*words, "--json")
    assert {claim["column"] for claim in answer.json["claims"]} >= {"age", "power"}
    assert "direction of column 'age'" in cli(*words, "--column", "age=sideways").err


def test_agreement_lime_and_what_if_say_what_the_library_says(cli, model, claims, both):
    answer = cli("explain", "agreement", model, claims, "--column", "age", "--json")
    assert answer.code == 0, answer.err
    assert [entry["column"] for entry in answer.json["columns"]] == ["age"]
    answer = cli("explain", "lime", model, claims, "--row", 4, "--n-features", 2, "--json")
    assert answer.code == 0, answer.err
    assert len(answer.json["terms"]) <= 2
    words = ("--row", 1, "--set", "age=30", "--set", "region=south")
    answer = cli("explain", "what_if", model, claims, *words, "-o", "if.csv")
    assert answer.code == 0, answer.err
    fitted, table = both
    found = cw.what_if(fitted, table, 1, age=30, region="south")
    assert repr(found) in answer.out
    assert Path("if.csv").read_text().startswith("column,was,now")


@pytest.mark.parametrize("value", ["interventional", "path_dependent", "observational"])
def test_shapley_values_by_each_value_function(cli, model, claims, value):
    conditional = ("--conditional", "forest", "--n-background", 20)
    words = ("explain", "shapley", model, claims, "--rows", 2, "--value", value, *conditional)
    answer = cli(*words, "--json", "-o", "values.csv")
    assert answer.code == 0, answer.err
    assert answer.json["about"]["value"] == value
    assert len(Path("values.csv").read_text().splitlines()) == 3


def test_contributions_of_a_linear_model(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "ridge", "-o", "ridge.cw")
    assert cli(*fit).code == 0
    answer = cli("explain", "contributions", "ridge.cw", claims, "--rows", 3, "-o", "c.svg")
    assert answer.code == 0, answer.err
    assert "3 rows" in answer.out
    assert Path("c.svg").read_text().lstrip().startswith("<svg")


def test_without_a_file_the_numbers_are_shown(cli, model, claims):
    answer = cli("explain", "importance", model, claims)
    assert "interaction" in answer.out
    assert "region" in answer.out


@pytest.mark.parametrize("verb", ["shapley", "lime", "agreement"])
def test_numbers_are_shown_whole_within_80_columns(cli, model, claims, both, verb):
    answer = cli("explain", verb, model, claims)
    assert answer.code == 0, answer.err
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    if verb == "shapley":
        first = cw.shapley(both[0], both[1], both[1].head(1))
        assert {f"{value:.4g}" for value in first.values[0]} <= set(answer.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("effect", "model.cw", "claims.csv", "agee"), "did you mean 'age'"),
        (("effect", "model.cw", "claims.csv", "age", "--kind", "pdq"), "--kind takes one of pdp"),
        (("effect", "model.cw", "claims.csv", "age", "-o", "age.pdf"), ".svg"),
        (
            ("effect", "model.cw", "claims.csv", "age", "-o", "claims.csv"),
            "both an input and the output",
        ),
        (("effect", "model.cw", "claims.csv", "age", "--grid", "a,b"), "it takes numbers"),
        (("effect", "model.cw", "claims.csv", "age", "--grid", "1,2", "--grid", "1"), "2 times"),
        (("effect", "model.cw", "claims.csv", "age", "--time-limit", "0"), "--time-limit 0: "),
        (("importance", "model.cw", "claims.csv", "--groups", "age"), "NAME=COLUMN,COLUMN"),
        (
            ("importance", "model.cw", "claims.csv", "--kind", "loco", "--loss", "squarred"),
            "did you mean 'squared'",
        ),
        (("what-if", "model.cw", "claims.csv", "--set", "age"), "NAME=VALUE"),
        (("what-if", "model.cw", "claims.csv", "--row", 900, "--set", "age=3"), "--row 900: "),
        (("lime", "model.cw", "claims.csv", "--row", 900), "--row 900: "),
        (("lime", "model.cw", "claims.csv", "--row", -5), "--row"),
        (("lime", "model.cw", "claims.csv", "--kernel-width", -1), "--kernel-width -1: "),
        (("lime", "model.cw", "claims.csv", "--seed", -1), "--seed"),
        (("shapley", "model.cw", "claims.csv", "--precision", 0), "--precision 0: "),
        (("shapley", "model.cw", "claims.csv", "--n-background", 0), "--n-background 0: "),
        (
            ("shapley", "model.cw", "claims.csv", "--scale", "odds"),
            "--scale takes one of margin, probability, response",
        ),
        (("contributions", "model.cw", "claims.csv"), "linear"),
        (("efect", "model.cw", "claims.csv", "age"), "did you mean 'effect'"),
        (("effect", "absent.cw", "claims.csv", "age"), "absent.cw"),
        (("effect", "model.cw", "claims.csv"), "COLUMN"),
    ],
)
def test_what_cannot_be_done_is_refused_with_exit_code_2(refused, model, claims, words, message):
    del model, claims
    assert message in refused("explain", *words)


def test_help_lists_the_verbs_and_each_has_its_own(cli):
    whole = cli("explain", "--help").out
    verbs = (
        *("effect", "direct", "importance", "agreement", "shapley", "lime", "what-if"),
        *(
            "contributions",
            "coefficients",
            "path",
            "inclusion",
            "boundaries",
            "discriminants",
            "monotone",
        ),
    )
    for verb in verbs:
        assert verb in whole
        own = cli("explain", verb, "--help")
        assert own.code == 0
        assert "--json" in own.out
    assert cli("--help").out.index("explain") < cli("--help").out.index("condense")


def test_coefficients_are_those_of_the_library(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "glm", "--set", "alpha=0", "-o", "glm.cw")
    assert cli(*fit).code == 0
    words = ("explain", "coefficients", "glm.cw", claims, "--base", "region=south")
    answer = cli(*words, "--errors", "robust", "-o", "c.csv", "-o", "c.svg")
    assert answer.code == 0, answer.err
    table = cw.read(claims, target="accidents")
    expected = cw.coefficients(cw.load("glm.cw"), table, base={"region": "south"}, errors="robust")
    assert answer.out.split()[: len(repr(expected).split())] == repr(expected).split()
    assert cli(*words, "--errors", "robust").out.split() == repr(expected).split()
    written = Path("c.csv").read_text().splitlines()
    assert len(written) == 1 + len(expected.values)
    assert Path("c.svg").read_text().startswith("<svg")


def test_a_single_row_is_explained_although_its_outcome_is_known(cli, model, claims):
    """Nothing is learned from it, so one row is enough and its outcome may be the only one."""
    lines = Path(claims).read_text().splitlines()
    Path("one.csv").write_text("\n".join(lines[:2]))
    features = [name for name in lines[0].split(",") if name != "accidents"]
    table = cw.read(claims, target="accidents").head(1)
    header = ",".join(features)
    row = [str(table.to_dict()[name][0] or "") for name in features]
    Path("without.csv").write_text(f"{header}\n{','.join(row)}")
    words = ("explain", "shapley", model, claims, "--of")
    answer, same = cli(*words, "one.csv"), cli(*words, "without.csv")
    assert answer.code == 0, answer.err
    assert answer.out == same.out


def test_gaps_are_left_out_or_filled_as_the_library_does(cli, refused, claims):
    lines = Path(claims).read_text().splitlines()
    head = lines[0].split(",")
    at = head.index("age")
    rows = [line.split(",") for line in lines]
    for row in rows[1::3]:
        row[at] = ""
    Path("gaps.csv").write_text("\n".join(",".join(row) for row in rows))
    fit = ("fit", "gaps.csv", "--target", "accidents", "-l", "glm", "--set", "alpha=0")
    assert cli(*fit, "-o", "gaps.cw").code == 0
    model = cw.load("gaps.cw")
    table = read_as("gaps.csv", model.schema_)
    how = ("--gaps", "impute", "--imputations", 3, "--seed", 2)
    for verb, more, result in (
        ("coefficients", (), cw.coefficients(model, table, gaps="impute", imputations=3, seed=2)),
        (
            "direct",
            ("region",),
            cw.direct_effect(model, table, "region", gaps="impute", imputations=3, seed=2),
        ),
    ):
        answer = cli("explain", verb, "gaps.cw", "gaps.csv", *more, *how)
        assert answer.code == 0, answer.err
        assert answer.out.split()[:40] == repr(result).split()[:40]  # lines are broken
        assert "'age' is missing in" in " ".join(answer.out.split())
    assert "--gaps" in refused("explain", "coefficients", "gaps.cw", "gaps.csv", "--gaps", "drop")


def test_inclusion_and_split_coefficients_are_those_of_the_library(cli, refused, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "subset", "-o", "subset.cw")
    assert cli(*fit, "--set", "size=2").code == 0
    model = cw.load("subset.cw")
    table = read_as(claims, model.schema_)
    words = ("subset.cw", claims, "--seed", 1)
    answer = cli("explain", "inclusion", *words, "--draws", 4, "-o", "shares.svg", "-o", "s.csv")
    assert answer.code == 0, answer.err
    expected = repr(cw.benchmarking.inclusion(model, table, draws=4, seed=1))
    assert " ".join(answer.out.split()).startswith(" ".join(expected.split()))
    assert Path("shares.svg").read_text().startswith("<svg")
    assert Path("s.csv").read_text().startswith("column,halves,share,from_all")
    answer = cli("explain", "coefficients", *words, "--split", 0.5)
    expected = repr(cw.coefficients(model, table, split=0.5, seed=1))
    assert " ".join(answer.out.split()).startswith(" ".join(expected.split()))
    assert "--split 2" in refused("explain", "coefficients", *words, "--split", 2)
    assert "--draws 1" in refused("explain", "inclusion", *words, "--draws", 1)


def test_a_path_is_that_of_the_library(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "lasso", "-o", "lasso.cw")
    assert cli(*fit).code == 0
    answer = cli("explain", "path", "lasso.cw", claims, "--folds", "3", "--seed", "4")
    assert answer.code == 0, answer.err
    table = cw.read(claims, target="accidents")
    expected = cw.explanation.path(cw.load("lasso.cw"), table, folds=3, seed=4)
    assert answer.out.strip() == repr(expected).strip()
    assert max(map(len, answer.out.splitlines())) <= 80
    assert cli("explain", "path", "lasso.cw", claims, "--folds", "1").code == 2


def test_direct_effects_are_those_of_the_library(cli, model, claims, both):
    Path("graph.txt").write_text(f"{{{' '.join(both[0].schema_.features)}}} -> accidents")
    words = ("explain", "direct", model, claims, "age", "--at", "40,20,60", "--graph", "graph.txt")
    answer = cli(*words, "-o", "d.csv", "-o", "d.svg")
    assert answer.code == 0, answer.err
    graph = cw.Graph(Path("graph.txt"))
    expected = cw.direct_effect(*both, "age", at=[40, 20, 60], graph=graph)
    assert answer.out.split()[:80] == repr(expected).split()[:80]  # lines are broken
    assert "unconfounded columns: not checked" in answer.out  # a column has gaps
    assert "the graph implies it" in " ".join(answer.out.split())
    assert len(Path("d.csv").read_text().splitlines()) == 4
    assert Path("d.svg").read_text().startswith("<svg")
    refused = cli("explain", "direct", model, claims, "age", "--claim", "world")
    assert refused.code != 0
    assert "--n-refits 100" in refused.err
    assert "--at is given 2 times for 1 features" in cli(*words, "--at", "1,2").err
    refitted = cli(*words, "--n-refits", 3, "--claim", "world", "--json")
    assert refitted.code == 0, refitted.err
    assert refitted.json["band"] == "refits"


def test_rows_without_an_outcome_are_explained_unless_the_outcome_is_needed(cli, model, claims):
    """The numbers of rows are those of the file, and the background is all of it."""
    frame = pd.read_csv(claims)
    frame.loc[:4, "accidents"] = np.nan
    frame.to_csv("open.csv", index=False)
    features = frame.drop(columns="accidents")
    fitted = cw.load(model)
    answer = cli("explain", "shapley", model, "open.csv", "--rows", 3, "--json")
    assert answer.code == 0, answer.err
    assert "left out" not in answer.err
    known = cw.shapley(fitted, features, features.head(3))
    np.testing.assert_allclose(answer.json["values"], known.values)
    answer = cli("explain", "what_if", model, "open.csv", "--row", 2, "--set", "age=30", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["before"] == pytest.approx(fitted.predict(features)[[2]].tolist())
    answer = cli("explain", "importance", model, "open.csv", "--kind", "permutation", "--json")
    assert answer.code == 0, answer.err
    assert "5 rows without 'accidents' left out" in answer.err
