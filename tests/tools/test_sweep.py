"""The sweep over learners and tables: what it takes for well, for a refusal and for a failure."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw

SCRIPT = Path(__file__).parents[2] / "tools" / "sweep.py"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def mixed(script, tmp_path):
    return script["table_of"]("mixed", 60, tmp_path)


def test_a_learner_goes_through_all_steps(script, mixed, tmp_path):
    trial = script["tried"]("ridge select=anova:2", "mixed", mixed, tmp_path, report=False)
    assert (trial.failures, trial.refusals) == ({}, {})
    assert list(trial.seconds) == ["fit", "predict", "save", "load", "benchmark", "explain"]


def test_refusals_need_a_hint_and_everything_else_is_a_failure(script, mixed, tmp_path):
    refused = script["tried"]("knn", "mixed", mixed, tmp_path)
    assert refused.verdict == "refused"
    assert "cannot use row weights" in refused.refusals["fit"]
    assert script["tried"]("lda", "mixed", mixed, tmp_path).verdict == "."
    trial = script["Trial"]("ridge", "mixed")
    for name, error in {
        "bare": cw.InputError("no", parameter="x"),
        "crash": cw.InputError("it failed: KeyError: 'a'", hint="go on."),
        "wrong": ZeroDivisionError(),
        "fine": cw.InputError("no", hint="try b."),
    }.items():
        with trial.step(name):
            raise error
    assert list(trial.failures) == ["bare", "crash", "wrong"]
    assert list(trial.refusals) == ["fine"]


def test_a_page_with_an_error_on_it_is_a_failure(script, mixed, tmp_path, monkeypatch):
    class Page:
        def save(self, path, force):
            Path(path).write_text("<p>The tree is missing. TypeError: no trees</p>", "utf-8")

    monkeypatch.setattr(cw, "report", lambda *_, **__: Page())
    with pytest.raises(AssertionError, match="TypeError: no trees"):
        script["check_report"](None, mixed, None, tmp_path / "page.html")


def test_shapley_values_have_to_add_up_to_the_prediction(script, mixed):
    model = cw.learner("ols").fit(mixed)
    script["check_explanation"](model, mixed)
    honest = model.predict
    model.predict = lambda rows: honest(rows) + 1e-3
    with pytest.raises(AssertionError, match="do not add up"):
        script["check_explanation"](model, mixed)
    model.predict = lambda rows: np.full(len(honest(rows)), np.nan)
    with pytest.raises(AssertionError, match="not finite"):
        script["check_predictions"](model, mixed)
