"""Warnings of a benchmark: their meaning is in fields, their sentences come from these."""

import json

import pytest

import clearwood as cw
from clearwood._shared.errors import Option
from clearwood.benchmarking import Finding
from clearwood.models import Real

EXAMPLES = {
    "stopped": Finding("stopped", 3, 10, is_stored=True),
    "time limit": Finding("time limit", 3, 10),
    "failed fits": Finding("failed fits", 1, 5, learner="knn", reason="ValueError: no"),
    "failed trials": Finding("failed trials", 6, 9, learner="knn", reason="ValueError: no"),
    "edge": Finding("edge", 4, 5, learner="knn", setting="n_neighbors", side="low", bound=5),
    "raised": Finding("raised", 2, 5, learner="mlp", reason="did not converge"),
}


@pytest.mark.parametrize("finding", EXAMPLES.values(), ids=EXAMPLES)
def test_the_sentence_has_the_numbers_and_the_learner(finding):
    for part in (finding.count, finding.total, finding.learner, finding.reason, finding.setting):
        assert part is None or str(part) in finding.text
    assert finding.to_json()["text"] == str(finding)
    json.dumps(finding.to_json())


def test_only_a_stored_run_can_be_resumed():
    assert "resumes" in EXAMPLES["stopped"].text
    assert "resumes" not in EXAMPLES["time limit"].text


def test_a_single_fit_is_not_counted():
    assert str(Finding("raised", 1, 1, learner="mlp", reason="slow")) == "mlp: slow"


def test_options_are_kept_apart_from_the_prose():
    assert Option("space") in EXAMPLES["edge"].message.parts
    assert Option("time_limit") in EXAMPLES["time limit"].message.parts


def test_a_benchmark_carries_its_findings_in_fields(numbers):
    space = {"ridge": {"alpha": Real(1e3, 1e6, log=True)}}
    with pytest.warns(cw.ClearwoodWarning, match="best alpha of ridge") as warned:
        bench = cw.benchmark(numbers, ["ridge"], tune=5, interval="naive", space=space)
    (finding,) = bench.warnings
    assert (finding.kind, finding.learner, finding.setting) == ("edge", "ridge", "alpha")
    assert (finding.side, finding.bound, finding.total) == ("low", 1e3, 5)
    assert [str(one.message) for one in warned] == [finding.text]
    assert bench.to_json()["warnings"] == [finding.to_json()]
