"""A learner registered from outside of the package does what the others do.

It is the one of docs/howto/own-learner.md.
"""

import importlib
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import catalogue

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "own-learner.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the module that the page shows."""
    folder = tmp_path_factory.mktemp("outside")
    ((name, code),) = re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE.read_text(), re.S)
    (folder / f"{name}.py").write_text(code)
    return folder


@pytest.fixture(autouse=True)
def _registered(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(catalogue.registry, "_entries", dict(catalogue.registry._all()))
    sys.modules.pop("one_rule", None)
    importlib.import_module("one_rule")


@pytest.fixture(scope="module")
def steps():
    """A target that has three values, by bands of one of two columns."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(size=(2, 150))
    rows = {"z": z, "x": x, "y": np.digitize(x, [1 / 3, 2 / 3]) + 0.1 * rng.normal(size=150)}
    return cw.read(rows, target="y", task="regression")


def test_it_is_listed_and_its_settings_are_checked():
    assert "one-rule" in catalogue.names("regression")
    assert "one-rule" not in catalogue.names("binary")
    with pytest.raises(cw.InputError, match=r"no setting 'band'.*did you mean 'bands'"):
        cw.learner("one-rule", band=3)


def test_it_is_compared_in_other_processes_as_in_this_one(steps):
    here, there = (
        cw.benchmark(steps, ["baseline", "one-rule"], tune=0, repeats=1, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert here["one-rule"].risk < 0.3 * here["baseline"].risk
    assert here["one-rule"].risk == there["one-rule"].risk


def test_its_explanation_is_exact(steps):
    model = cw.learner("one-rule", bands=3).fit(steps)
    explanation = cw.explain(model, steps)
    assert explanation.is_exact
    assert explanation.components == (("x",),)
    frame = cw.shapley(model, steps).to_frame()
    np.testing.assert_allclose(frame[["baseline", "x"]].sum(axis=1), model.predict(steps))


def test_a_process_loads_its_files_once_the_module_is_imported(steps, folder, tmp_path):
    model = cw.learner("one-rule", bands=3).fit(steps)
    cw.save(model, tmp_path / "m.cw")
    assert cw.inspect(tmp_path / "m.cw").trusted
    code = """
        import sys, clearwood as cw
        try:
            cw.load(sys.argv[1])
        except cw.InputError as error:
            print(error)
        sys.path.insert(0, sys.argv[2])
        import one_rule
        print(cw.load(sys.argv[1]).predict({"x": [0.5], "z": [0.0]}).tolist())
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "m.cw"), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    refusal, predicted = done.stdout.splitlines()
    assert "a learner 'one-rule', which is not in the catalogue" in refusal
    assert "Hint: import the module that registers" in refusal
    assert json.loads(predicted) == model.predict({"x": [0.5], "z": [0.0]}).tolist()


def test_its_report_names_it_and_computes_every_section(steps, tmp_path):
    model = cw.learner("one-rule", bands=3).fit(steps)
    page = cw.report(model, steps, quick=True, sections=["summary", "importance"])
    page.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "one-rule" in text
    assert "could not be computed" not in text
