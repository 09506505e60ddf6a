"""Benchmarks of rates: weighted by exposure, and indifferent to how policies are cut."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import association, leakage
from clearwood.resampling import Plan, Split


@dataclass(frozen=True)
class ByPolicy(Plan):
    """Folds that the parts of a policy share."""

    k: int = 3
    intervals = ("naive",)

    @property
    def words(self) -> str:
        return "folds by policy"

    def _cut(self, data, seed) -> Iterator[Split]:
        for fold in range(self.k):
            test = data.groups % self.k == fold
            yield Split(np.flatnonzero(~test), np.flatnonzero(test), 0, fold)


@pytest.fixture(scope="module")
def benches(policies):
    learners = {"ols": "ols", "glm": cw.learner("glm", alpha=1e-8)}
    return tuple(cw.benchmark(table, learners, tune=0, plan=ByPolicy()) for table in policies)


def test_differences_of_risks_are_those_of_the_whole(benches):
    one, two = (bench.compare("glm", "baseline").difference for bench in benches)
    assert one == pytest.approx(two, rel=1e-3)
    one, two = (bench.compare("ols", "glm").difference for bench in benches)
    assert one == pytest.approx(two, rel=1e-3)


def test_the_risk_is_the_deviance_of_the_counts_per_unit_of_exposure(benches, policies):
    whole, _ = policies
    bench, _ = benches
    rates = np.zeros(whole.n_rows)
    for split in ByPolicy()._cut(whole, 0):
        train = whole.take(split.train)
        rates[split.test] = np.average(train.y, weights=train.weights)
    counts, expected = whole["claims"].values, rates * whole.exposures
    ratio = np.where(counts > 0, counts / expected, 1.0)
    deviance = 2 * (counts * np.log(ratio) - counts + expected)
    risk = whole.row_weights @ deviance / whole.weights.sum()
    assert bench.reference.risk == pytest.approx(risk)


def test_calibration_is_that_of_the_whole(benches):
    for name in ("ols", "glm"):
        one, two = (bench.measures(name) for bench in benches)
        assert one["calibration_slope"] == pytest.approx(two["calibration_slope"], rel=1e-3)
        assert one["calibration_intercept"] == pytest.approx(
            two["calibration_intercept"], rel=1e-2, abs=1e-4
        )


def test_calibration_curves_compare_rates(benches):
    one, two = (bench.calibration("glm") for bench in benches)
    np.testing.assert_allclose(one.observed, two.observed, rtol=1e-3)
    np.testing.assert_allclose(one.predicted, two.predicted, rtol=1e-3)


def test_the_text_names_the_rate(benches):
    assert "count of 'claims per year'" in repr(benches[0])


def test_checks_of_the_data_count_by_exposure(policies):
    one, two = (association(table) for table in policies)
    np.testing.assert_allclose(one.strength, two.strength, rtol=1e-9)
    # a column that is known only after the claims leaks the rate, not the count
    whole, _ = policies
    rows = whole.to_dict() | {"paid": 100 * whole.y + np.arange(whole.n_rows) % 7}
    table = cw.read(rows, target="claims", exposure="years", ignore=["weight", "policy"])
    assert leakage(table).suspects == ("paid",)
