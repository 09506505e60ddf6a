"""`--monotone`: columns with which predictions rise or fall."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import catalogue
from clearwood.table import Task

QUICK = ("--tune", "0", "--interval", "hold-out")


def _falls_with_age(model, claims):
    ages = np.arange(18.0, 80.0, 4.0)
    rows = cw.read(claims, target="accidents").take(np.repeat(np.arange(20), len(ages)))
    moved = replace(rows.column("age"), values=np.tile(ages, 20))
    columns = [moved if column.name == "age" else column for column in rows.columns]
    predicted = model.predict(replace(rows, columns=tuple(columns))).reshape(20, -1)
    return bool((np.diff(predicted, axis=1) <= 1e-12).all())


def test_a_fitted_model_keeps_and_shows_its_constraints(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "--monotone", "age=down,power=up")
    answer = cli(*fit)
    assert answer.code == 0, answer.err
    assert "age=down, power=up" in answer.out
    model = cw.load("model.cw")
    assert model.monotone == {"age": "down", "power": "up"}
    assert _falls_with_age(model, claims)
    assert "age down, power up" in cli("inspect", "model.cw").out
    repeated = cli(*fit[:-1], "age=down", "--monotone", "power=up", "--force", "--json")
    assert repeated.json["monotone"] == {"age": "down", "power": "up"}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("age", "--monotone 'age' is not of the form NAME=VALUE"),
        ("age=rising,power=up", "the direction of column 'age' must be 'up' or 'down'"),
        ("agee=up", "did you mean 'age'?"),
        ("region=up", "'region', which holds categories"),
    ],
)
def test_mistakes_are_named(refused, claims, typed, message):
    words = refused("fit", claims, "--target", "accidents", "--monotone", typed)
    assert message in " ".join(words.split())


@pytest.mark.parametrize("verb", ["fit", "benchmark"])
def test_a_learner_that_cannot_is_named_with_those_that_can(refused, claims, verb):
    words = refused(verb, claims, "--target", "accidents", "-l", "glm", "--monotone", "age=up")
    assert "learner 'glm' cannot keep" in words
    assert "'gbm'" in words
    assert not Path("benchmark.db").exists()


def test_compared_learners_keep_constraints_and_the_others_are_left_out(cli, claims, monkeypatch):
    monkeypatch.setitem(catalogue.registry._USUAL, Task.COUNT, ("baseline", "glm", "tree"))
    common = ("benchmark", claims, "--target", "accidents", "--monotone", "age=down", *QUICK)
    answer = cli(*common)
    assert answer.code == 0, answer.err
    assert "glm left out" in answer.err
    compared = {
        one["learner"] for one in json.loads(Path("benchmark.json").read_text())["learners"]
    }
    assert compared == {"baseline", "tree"}
    assert "--monotone age=down" in answer.out


def test_a_report_compares_and_explains_constrained_learners(cli, claims):
    answer = cli(
        *("report", claims, "--target", "accidents", "-l", "tree", "--monotone", "age=down"),
        *("--quick", "--sections", "reproduction", "--model", "model.cw"),
    )
    assert answer.code == 0, answer.err
    assert _falls_with_age(cw.load("model.cw"), claims)
    assert "monotone={&#39;age&#39;: &#39;down&#39;}" in Path("report.html").read_text()


def test_a_fitted_model_cannot_be_constrained_afterwards(cli, refused, claims):
    assert cli("fit", claims, "--target", "accidents", "-l", "tree").code == 0
    words = refused("report", "model.cw", claims, "--monotone", "age=down")
    assert "--monotone is for a report on a table" in words
