"""A step that fails is noted, and never ends the page."""

import re
import warnings

import numpy as np
import pytest

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood._shared.clock import Clock
from clearwood.reporting import build
from clearwood.reporting.collect.findings import Stage, Step
from clearwood.reporting.collect.stages import Stages


def test_a_result_comes_back_with_its_time(monkeypatch):
    readings = iter([10.0, 12.5])
    monkeypatch.setattr(Clock, "passed", property(lambda clock: next(readings)))
    stages = Stages()
    assert stages.run(Step.EFFECTS, lambda: 1 + 1) == 2
    assert stages.done == [Stage(Step.EFFECTS, 10.0)]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InputError("no rows", hint="give some."), "no rows. Hint"),
        (MemoryError("full"), "MemoryError"),
    ],
)
def test_failures_are_kept_in_words(error, message, monkeypatch):
    monkeypatch.delenv("CLEARWOOD_FAULTS")

    def work():
        raise error

    stages = Stages()
    assert stages.run(Step.EFFECTS, work) is None
    assert message in stages.failures[Step.EFFECTS]


def test_faults_surface_where_they_are_asked_to_and_input_errors_do_not(monkeypatch):
    def work():
        raise ZeroDivisionError

    monkeypatch.setenv("CLEARWOOD_FAULTS", "raise")
    with pytest.raises(ZeroDivisionError):
        Stages().run(Step.EFFECTS, work)
    test_failures_are_kept_in_words(InputError("no rows"), "no rows", monkeypatch)


def test_an_audit_that_fails_is_a_note_of_its_section(monkeypatch):
    def audit(*args, **options):
        raise InputError("no group has enough rows")

    monkeypatch.setattr("clearwood.reporting.collect.collector.audit", audit)
    data = cw.datasets.insurance(200)
    page = cw.report(cw.learner("glm").fit(data), data, quick=True, sections=["fairness"])
    [note] = page.sections[0].blocks
    assert note.title == "The groups could not be compared"
    assert note.text == "No group has enough rows."


def test_a_section_that_fails_is_a_note_unless_faults_surface(monkeypatch):
    def section(findings):
        raise InputError("nothing to write")

    monkeypatch.setattr(build.section_module("data"), "section", section)
    data = cw.datasets.load("diabetes")
    model = cw.learner("ols").fit(data)
    with pytest.raises(InputError, match="nothing to write"):
        cw.report(model, data, quick=True, sections=["data"])
    monkeypatch.delenv("CLEARWOOD_FAULTS")
    [written] = cw.report(model, data, quick=True, sections=["data"]).sections
    assert written.blocks[0].title == "This section could not be written"


def test_ctrl_c_is_not_kept_from_the_user():
    def work():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stages().run(Step.EFFECTS, work)


def test_warnings_of_the_library_are_collected_once_each():
    def work():
        for _ in range(3):
            warnings.warn("few rows", ClearwoodWarning, stacklevel=1)
        warnings.warn("of another library", DeprecationWarning, stacklevel=1)

    stages = Stages()
    stages.run(Step.EFFECTS, work)
    assert stages.warnings == {Step.EFFECTS: ("few rows",)}


def test_the_bar_ends_full_whatever_is_left_out(monkeypatch, capsys):
    """What does not apply, or cannot be had, counts as done."""
    monkeypatch.setenv("CLEARWOOD_PROGRESS", "1")
    data = cw.read({"x": np.arange(30.0) ** 0.5, "z": np.cos(np.arange(30.0))})
    cw.report(lambda frame: frame["x"].to_numpy(), data, quick=True, sample=10)
    counted = re.findall(r"^report: (\d+) of (\d+)", capsys.readouterr().err, re.MULTILINE)
    assert counted[-1][0] == counted[-1][1]
