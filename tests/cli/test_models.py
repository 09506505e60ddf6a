"""`clearwood models` and `clearwood inspect`: what there is, and what is in a file."""

import pytest

from clearwood.models import catalogue


def test_every_learner_is_listed_within_80_columns(cli):
    answer = cli("models")
    assert answer.code == 0
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    listed = {line.split()[0] for line in answer.out.splitlines()[1:] if line}
    assert set(catalogue.names()) <= listed


def test_learners_that_are_not_installed_come_with_the_command(cli, monkeypatch):
    monkeypatch.setattr("clearwood.models.entries.entry.find_spec", lambda name: None)
    answer = cli("models", "--family", "boosting")
    assert "pip install 'clearwood[lightgbm]'" in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80


def test_the_list_can_be_cut_by_task_and_family(cli):
    answer = cli("models", "--task", "binary", "--family", "glm", "--json")
    assert [entry["name"] for entry in answer.json["learners"]] == ["logistic"]


def test_json_tells_all_that_the_catalogue_knows(cli):
    learners = cli("models", "--json").json["learners"]
    assert [entry["name"] for entry in learners] == list(catalogue.names())
    ridge = next(entry for entry in learners if entry["name"] == "ridge")
    assert set(ridge["space"]) <= set(ridge["defaults"])
    assert ridge["installed"] is True
    assert ridge["tasks"] == ["regression", "count", "amount"]


@pytest.mark.parametrize("name", catalogue.names())
def test_all_about_one_learner(cli, name):
    answer = cli("models", name)
    entry = catalogue.get(name)
    assert answer.code == 0
    assert answer.out.startswith(f"{name}: ")
    for key in entry.defaults:
        assert key in answer.out
    assert cli("models", name, "--json").json["title"] == entry.title


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rigde",), "did you mean 'ridge'"),
        (("--task", "regresion"), "did you mean 'regression'"),
        (("--family", "boostin"), "did you mean 'boosting'"),
    ],
)
def test_names_that_do_not_exist_are_answered_with_near_ones(refused, words, said):
    assert said in refused("models", *words)


@pytest.fixture
def saved(cli, claims):
    words = ("fit", claims, "-t", "accidents", "-l", "ridge", "--protected", "region")
    assert cli(*words, "--set", "alpha=2.5").code == 0
    return "model.cw"


def test_inspect_names_learner_target_columns_and_settings(cli, saved):
    answer = cli("inspect", saved)
    assert answer.code == 0
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    words = ("ridge", "accidents (count)", "region (category, 3 levels, protected)", "alpha=2.5")
    for word in (*words, "200 rows", "trusted"):
        assert word in answer.out


def test_inspect_json_is_what_the_library_says(cli, saved):
    import clearwood as cw

    assert cli("inspect", saved, "--json").json == cw.inspect(saved).to_json()
