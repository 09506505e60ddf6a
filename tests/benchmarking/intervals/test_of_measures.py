"""Intervals of measures out of fold: equal to the risk's where a measure is a risk."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.benchmarking.fitting.work import Outcome, Unit
from clearwood.benchmarking.intervals.of_measures import allowances
from clearwood.evaluation import smooth_estimates
from clearwood.table import Task


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    n, columns = 80, 12
    x = rng.normal(size=(n, columns))
    frame = {f"x{k}": column.tolist() for k, column in enumerate(x.T)}
    frame["y"] = (3 + x[:, 0] - x[:, 1] + rng.normal(size=n)).tolist()
    frame["weight"] = rng.uniform(0.5, 2.0, n).tolist()
    frame["household"] = np.repeat(np.arange(n // 2), 2).tolist()
    return frame


@pytest.mark.parametrize(
    "roles", [{}, {"weight": "weight"}, {"group": "household"}], ids=["plain", "weights", "groups"]
)
def test_the_interval_of_a_mean_loss_is_that_of_the_risk(rows, roles):
    used = {name: values for name, values in rows.items() if name in roles.values()}
    features = {name: values for name, values in rows.items() if name[0] in "xy"}
    data = cw.read({**features, **used}, target="y", **roles)
    bench = cw.benchmark(data, "ols", tune=0, loss="absolute", repeats=2)
    extra = bench.evaluation("ols").allowances["mae"]
    assert extra.shift < 0  # the fit to all rows has more rows than those that were judged
    assert extra.inflation == pytest.approx(bench["ols"].inflation)
    outer = bench.measures("ols")["mae"]
    assert outer + extra.shift == pytest.approx(bench["ols"].risk)
    low, high = bench.measures("ols").interval("mae")
    half = (bench["ols"].high - bench["ols"].low) / 2
    assert (low + high) / 2 == pytest.approx(bench["ols"].risk)
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


def test_predictions_that_do_not_depend_on_the_fit_have_independent_rows():
    rng = np.random.default_rng(0)
    n, folds = 100, 5
    y = rng.normal(size=n)
    predicted = y + rng.normal(size=n)
    parts = np.array_split(np.arange(n), folds)
    outcomes = [
        (Unit("fixed", "outer", 0, j, part, part), Outcome(None, predicted[part]))
        for j, part in enumerate(parts)
    ]
    for j in range(folds):
        for k in range(j + 1, folds):
            both = np.concatenate([parts[j], parts[k]])
            unit = Unit("fixed", "pair", 0, j, both, both, k, len(parts[j]))
            outcomes.append((unit, Outcome(None, predicted[both])))
    table = cw.read({"x": y.tolist(), "y": y.tolist()}, target="y")

    def estimator(of, scores, fits):
        return smooth_estimates(Task.REGRESSION, y[of], scores, splits=fits)

    found = allowances(outcomes, table, estimator, folds=folds)
    # the mean of a loss is linear in the rows, so leaving out a fold changes nothing
    assert found["mae"].inflation == pytest.approx(1.0)
    assert found["mae"].shift == pytest.approx(0.0, abs=1e-12)
    # others are so to first order
    assert found["r2"].inflation == pytest.approx(1.0, abs=0.2)
    missing = [pair for pair in outcomes if pair[0].split != "pair/0/1+2"]
    assert allowances(missing, table, estimator, folds=folds) == {}


def test_the_interval_of_an_auc_is_wider_than_that_of_independent_rows():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 10))
    label = np.where(x[:, 0] + rng.normal(size=120) > 0, "yes", "no").tolist()
    frame = {f"x{k}": column.tolist() for k, column in enumerate(x.T)}
    bench = cw.benchmark(cw.read({**frame, "y": label}, target="y"), "logistic", tune=0, repeats=1)
    result = bench.evaluation("logistic")
    low, high = bench.measures("logistic").interval("auc")
    assert result.allowances["auc"].inflation >= result.inflation > 1
    assert (result.roc().low, result.roc().high) == (low, high)
    assert low < bench.measures("logistic")["auc"] < high
    plain = cw.benchmark(bench.context.table, "logistic", tune=0, repeats=1, interval="naive")
    inner = plain.measures("logistic").interval("auc")
    assert high - low > inner[1] - inner[0]
    # the same predictions: bins of the calibration are as much wider
    wide, narrow = bench.calibration("logistic"), plain.calibration("logistic")
    assert wide.observed == pytest.approx(narrow.observed)
    assert (wide.high - wide.low > narrow.high - narrow.low).all()
    assert wide.line.slope_high > narrow.line.slope_high
