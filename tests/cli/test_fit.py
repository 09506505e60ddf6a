"""`clearwood fit`: what it writes and what it says."""

from pathlib import Path

import numpy as np
import pytest

import clearwood as cw
from clearwood.cli.verbs import fit as _fit
from clearwood.cli.verbs.fit import row_losses


def test_the_model_is_that_of_the_library(cli, claims):
    words = ("--learner", "tree", "--seed", "3", "--set", "max_depth=2", "--kind", "age=number")
    answer = cli("fit", claims, "--target", "accidents", *words, "-o", "tree.cw")
    assert answer.code == 0, answer.err
    table = cw.read(claims, target="accidents", kinds={"age": "number"})
    expected = cw.learner("tree", seed=3, max_depth=2).fit(table)
    loaded = cw.load("tree.cw")
    np.testing.assert_array_equal(loaded.predict(table), expected.predict(table))
    assert loaded.all_settings["max_depth"] == 2


def test_the_report_says_what_was_fitted_and_calls_the_training_risk_by_its_name(cli, claims):
    answer = cli("fit", claims, "--target", "accidents", "-l", "ridge")
    assert answer.err == ""
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    for words in (
        "Fitted ridge to predict accidents",
        "task",
        "count",
        "200",
        "age, power, region",
    ):
        assert words in answer.out
    assert "training risk" in answer.out
    assert "so optimistic" in answer.out
    assert "clearwood predict model.cw NEW.csv" in answer.out


def test_verbs_that_do_not_exist_are_not_recommended(cli, claims):
    from clearwood.cli.app import app

    out = cli("fit", claims, "--target", "accidents", "-l", "ridge").out
    recommended = {line.split()[1] for line in out.splitlines() if line.startswith("  clearwood ")}
    assert recommended
    assert recommended <= {command.callback.__name__ for command in app.registered_commands}


def test_json_is_one_document(cli, claims):
    answer = cli("fit", claims, "--target", "accidents", "-l", "ridge", "--json")
    document = answer.json
    assert document["rows"] == 200
    assert document["features"] == ["age", "power", "region"]
    assert document["task"] == "count"
    assert document["bytes"] == Path("model.cw").stat().st_size
    assert document["training_risk"]["in_sample"] is True


def test_rows_without_a_target_are_counted(cli, table):
    text = "a,y\n" + "".join(f"{i % 9},{'' if i < 4 else i / 8}\n" for i in range(40))
    answer = cli("fit", table(text), "-t", "y", "-l", "ridge")
    assert "36 (4 more left out: y is missing)" in answer.out


def test_warnings_are_said_once_without_file_names(cli, table):
    text = "a,c,y\n" + "".join(f"{i % 9},same,{i / 8}\n" for i in range(40))
    err = cli("fit", table(text), "-t", "y", "-l", "ridge").err
    assert err == "warning: column 'c' is constant ('same'): left out\n"


@pytest.mark.parametrize(
    ("learner", "target", "measure"),
    [
        ("ridge", "power", "mean squared error"),
        ("glm", "accidents", "mean Poisson deviance"),
        ("logistic", "region", "log loss"),
    ],
)
def test_the_training_risk_is_the_mean_loss_of_its_task(claims, learner, target, measure):
    from sklearn import metrics

    table = cw.read(claims, target=target)
    model = cw.learner(learner).fit(table)
    oracle = {
        "mean squared error": lambda: metrics.mean_squared_error(table.y, model.predict(table)),
        "mean Poisson deviance": lambda: metrics.mean_poisson_deviance(
            table.y, model.predict(table)
        ),
        "log loss": lambda: metrics.log_loss(table.y, model.predict_proba(table)),
    }
    risk = _fit.training_risk(model, table)
    assert risk["measure"] == measure
    assert risk["value"] == pytest.approx(oracle[measure]())


def test_the_training_risk_of_a_large_table_is_that_of_a_sample(claims, monkeypatch):
    monkeypatch.setattr(_fit, "RISK_ROWS", 50)
    table = cw.read(claims, target="accidents")
    assert _fit.training_risk(cw.learner("ridge").fit(table), table)["rows"] == 50


def test_a_class_unknown_to_the_model_has_the_largest_loss(flowers):
    table = cw.read(flowers, target="kind")
    known = table.take(table.y != "tulip")
    _, losses = row_losses(cw.learner("logistic").fit(known), table)
    assert losses[table.y == "tulip"] == pytest.approx(-np.log(1e-15))
    assert losses[table.y != "tulip"].max() < 10


@pytest.mark.parametrize("learner", ["forest", "knn"])
def test_learners_that_work_in_parallel_have_nothing_to_warn_of(cli, claims, learner):
    settings = ("--set", "n_estimators=5") if learner == "forest" else ()
    assert cli("fit", claims, "-t", "accidents", "-l", learner, *settings).err == ""
    assert cli("predict", "model.cw", claims).err == ""


def test_every_next_step_has_its_purpose_where_a_line_has_room(cli, claims):
    words = ("fit", claims, "--target", "accidents", "-l", "glm")
    answer = cli(*words, "--task", "count", "--exposure", "age", "-o", "longer.cw")
    assert answer.code == 0, answer.err
    steps = answer.out.split("Next\n")[1].splitlines()
    assert max(map(len, steps)) <= 80
    purposes = [line.split("# ")[1] for line in steps if "# " in line]
    assert purposes == ["predict new rows", "what is in the file", "unbiased risk"]
