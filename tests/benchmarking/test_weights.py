"""A benchmark of a table with weights is one of repeated rows that stay together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import clearwood as cw
from clearwood.benchmarking import bias_variance, bootstrap_risk, calibration_curve, learning_curve
from clearwood.resampling import HoldOut, Plan, Split, splits_of

N_ROWS = 90


@dataclass(frozen=True)
class ByGroup(Plan):
    """Folds that depend on the group alone, so that both tables have the same ones."""

    k: int = 3
    tested: int = 3
    intervals = ("nested", "naive")

    @property
    def words(self) -> str:
        return "folds by group"

    def _cut(self, data, seed) -> Iterator[Split]:
        for fold in range(self.tested):
            test = data.groups % self.k == fold
            yield Split(np.flatnonzero(~test), np.flatnonzero(test), 0, fold)


@pytest.fixture(scope="module", params=["regression", "binary"])
def tables(request):
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, N_ROWS))
    y = x + 0.5 * z + rng.normal(size=N_ROWS)
    if request.param == "binary":
        y = np.where(y > 0, "yes", "no")
    weights = rng.integers(0, 4, N_ROWS)
    columns = {"x": x, "z": z, "y": y, "id": np.arange(N_ROWS)}
    rows = np.repeat(np.arange(N_ROWS), weights)
    weighted = cw.read({**columns, "w": weights}, target="y", weight="w", group="id")
    repeated = cw.read(
        {name: values[rows] for name, values in columns.items()}, target="y", group="id"
    )
    return weighted, repeated, "ols" if request.param == "regression" else "logistic"


@pytest.fixture(scope="module")
def benches(tables):
    *both, learner = tables
    options = {"tune": 0, "plan": ByGroup()}
    return *(cw.benchmark(table, [learner], **options) for table in both), learner


def approximately(values):
    return pytest.approx(values, rel=1e-3, abs=1e-4)  # logistic regression is iterative


def test_risks_and_intervals(benches):
    weighted, repeated, learner = benches
    names = ("risk", "se", "low", "high", "difference", "difference_low", "inflation")
    for name in (learner, "baseline"):
        one, two = ([getattr(bench[name], key) for key in names] for bench in (weighted, repeated))
        assert one == approximately(two)
    gap, same = (bench.compare(learner, "baseline") for bench in (weighted, repeated))
    assert [gap.difference, gap.low, gap.high] == approximately(
        [same.difference, same.low, same.high]
    )
    assert weighted.choosing().risk == approximately(repeated.choosing().risk)
    assert weighted.method.is_weighted
    assert weighted.method.n_zero_weight == (weighted.context.table.weights == 0).sum() > 0
    assert "weighted" in repr(weighted)


def test_measures_and_calibration(benches):
    weighted, repeated, learner = benches
    one, two = (bench.measures(learner) for bench in (weighted, repeated))
    assert dict(one.values) == approximately(dict(two.values))
    curve, same = (bench.calibration(learner, bins=5) for bench in (weighted, repeated))
    for name in ("predicted", "observed", "low", "high"):
        np.testing.assert_allclose(getattr(curve, name), getattr(same, name), atol=2e-3)
    assert curve.line.to_json() == approximately(same.line.to_json())


def test_risks_of_single_folds(benches):
    *_, learner = benches
    one, two = ([fold["risk"] for fold in bench._by_fold(learner)] for bench in benches[:2])
    assert one == approximately(two)


def test_learning_curve_and_calibration_curve(tables):
    *_, learner = tables
    plan = ByGroup(tested=1)
    one, two = (learning_curve(learner, t, sizes=[1.0], outer=plan) for t in tables[:2])
    for name in ("risk", "se", "low", "high", "training"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-3)
    assert one.is_weighted
    curve, same = (calibration_curve(learner, t, outer=ByGroup(), bins=4) for t in tables[:2])
    np.testing.assert_allclose(curve.observed, same.observed, atol=1e-9)


def test_bias_and_variance_are_means_by_weight(tables):
    weighted, _, learner = tables
    result = bias_variance(learner, weighted, samples=4)
    (split,) = splits_of(weighted, HoldOut(0.25))
    shares = weighted.weights[split.test]
    assert result.risk == pytest.approx(np.average(result.by_row["risk"], weights=shares))
    assert result.risk == pytest.approx(result.bias + result.variance)


def test_equal_weights_are_none(tables):
    weighted, _, learner = tables
    plain = cw.read({n: weighted.column(n).labels() for n in ("x", "z", "y")}, target="y")
    equal = cw.read({**plain.to_dict(), "w": np.ones(N_ROWS)}, target="y", weight="w")
    one, two = (bootstrap_risk(learner, table, samples=25) for table in (equal, plain))
    numbers = {k: v for k, v in one.to_json().items() if isinstance(v, float)}
    assert numbers == approximately({k: two.to_json()[k] for k in numbers})


def test_folds_with_hardly_any_weight_have_the_naive_interval():
    rng = np.random.default_rng(0)
    weights = np.zeros(60)
    weights[rng.choice(60, 9, replace=False)] = 1.5
    x = rng.normal(size=60)
    table = cw.read({"x": x, "y": x + rng.normal(size=60), "w": weights}, target="y", weight="w")
    bench = cw.benchmark(table, ["ols"], tune=0, repeats=1)
    assert bench["ols"].interval == "naive"
    assert np.isfinite(bench["ols"].high)
    assert bench.measures("ols").n_zero_weight == 51
