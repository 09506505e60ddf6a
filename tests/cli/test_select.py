"""`--select`: columns that are chosen inside the fit."""

import pytest

import clearwood as cw

QUICK = ("--tune", "0", "--interval", "hold-out")


def test_a_fitted_model_shows_what_it_selected(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "glm", "--select", "anova:2")
    answer = cli(*fit)
    assert answer.code == 0, answer.err
    model = cw.load("model.cw")
    assert f"2 by anova:2: {', '.join(model.selected_)}" in " ".join(answer.out.split())
    assert "(by anova:2)" in cli("inspect", "model.cw").out
    document = cli(*fit, "--force", "--json").json
    assert document["select"] == "anova:2"
    assert document["selection"]["selected"] == list(model.selected_)


def test_a_benchmark_shows_how_often_columns_were_selected(cli, claims):
    words = ("benchmark", claims, "--target", "accidents", "-l", "glm,baseline", *QUICK)
    answer = cli(*words, "--select", "anova:2")
    assert answer.code == 0, answer.err
    assert "glm with anova:2: 2 of" in answer.out
    assert "--select anova:2" in answer.out  # the next command
    document = cli(*words, "--select", "anova:2", "--force", "--json").json
    assert list(document["selection"]) == ["glm"]


@pytest.mark.parametrize("verb", ["fit", "benchmark", "report"])
def test_an_unknown_method_is_refused_with_the_nearest_one(cli, claims, verb):
    answer = cli(verb, claims, "--target", "accidents", "--select", "borutta")
    assert answer.code == 2
    assert "--select borutta is not a known value" in answer.err
    assert "did you mean 'boruta'" in answer.err


def test_a_value_that_an_option_cannot_have_is_refused_with_one_that_it_can(cli, claims):
    answer = cli("fit", claims, "--target", "accidents", "--select", "relief:neighbours=0")
    assert answer.code == 2
    assert "'neighbours' must be a whole number, 1 or more" in answer.err
    assert "such as --select relief:neighbours=10" in answer.err


def test_a_setting_of_the_same_name_is_refused(cli, claims):
    answer = cli("fit", claims, "--target", "accidents", "-l", "glm", "--set", "select=anova:2")
    assert answer.code == 2
    assert "type --select anova:2" in answer.err


def test_the_methods_are_listed(cli):
    answer = cli("models", "--selections")
    assert answer.code == 0
    assert all(name in answer.out for name in cw.models.SELECTIONS)
    assert max(map(len, answer.out.splitlines())) <= 80
    document = cli("models", "--selections", "--json").json
    assert [one["name"] for one in document["selections"]] == list(cw.models.SELECTIONS)
    assert "--select" in cli("models", "gbm").out
