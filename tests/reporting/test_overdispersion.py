"""Counts that vary more than a Poisson distribution allows are a caution of the page."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting.collect.collector import collect
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.sections.cautions import cautions


def titles(*, clusters, test, weights=False):
    """Return the titles of the cautions about claims, whose rates vary from row to row or not."""
    rng = np.random.default_rng(1)
    n = 1_200
    x, years = rng.random(n), rng.uniform(0.3, 1.0, n)
    rate = np.exp(x) * (rng.gamma(0.5, 2.0, n) if clusters else 1.0)
    data = {"x": x, "years": years, "claims": rng.poisson(years * rate)}
    roles = {"target": "claims", "exposure": "years", "task": "count"}
    if weights:
        data["copies"], roles["weight"] = rng.integers(1, 4, n), "copies"
    table = cw.read(data, **roles)
    model = cw.learner("glm").fit(table.take(np.arange(600)))
    seen = table.take(np.arange(600))
    options = Options(quick=True, sections=("performance", "cautions"))
    new = table.take(np.arange(600, n)) if test else None
    findings = collect(report_input(model, seen, None, new, n_jobs=1), title="", options=options)
    return [caution.title for caution in cautions(findings)]


@pytest.mark.parametrize("test", [True, False])
def test_clustered_counts_are_a_caution_and_poisson_counts_are_not(test):
    wanted = "times as much as a Poisson distribution allows"
    assert any(wanted in title for title in titles(clusters=True, test=test))
    assert not any(wanted in title for title in titles(clusters=False, test=test))


def test_rows_that_stand_for_several_are_not_taken_for_clusters():
    assert not any(
        "Poisson distribution" in t for t in titles(clusters=False, test=True, weights=True)
    )
