import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score

import clearwood as cw
from clearwood import InputError
from clearwood.evaluation import calibration_line, measures
from clearwood.evaluation.calibration import calibration_error, curve_of
from clearwood.evaluation.task_measures import MEANINGS
from clearwood.table import Task


def binary(n=2000, seed=0, stretch=1.0):
    """Probabilities, and classes that come true with them; log-odds stretched."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n)
    y = (rng.random(n) < special.expit(score)).astype(int)
    p = special.expit(stretch * score)
    return y, np.column_stack([1 - p, p])


def test_numbers_are_measured_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    y, predicted = rng.normal(size=50), rng.normal(size=50)
    result = measures(Task.REGRESSION, y, predicted)
    assert result["r2"] == pytest.approx(r2_score(y, predicted))
    assert result["rmse"] == pytest.approx(np.sqrt(np.mean((y - predicted) ** 2)))
    assert result["mae"] == pytest.approx(np.abs(y - predicted).mean())
    slope, intercept = np.polyfit(predicted, y, 1)
    assert result["calibration_slope"] == pytest.approx(slope)
    assert result["calibration_intercept"] == pytest.approx(intercept)
    assert {name: result[name] for name in result} == result.values


def test_the_mean_explains_nothing():
    y = np.arange(10.0)
    assert measures(Task.COUNT, y, np.full(10, y.mean()))["r2"] == 0.0


def test_auc_is_scikit_learns_within_one_fit():
    y, p = binary(300)
    assert measures(Task.BINARY, y, p, needs="probability")["auc"] == pytest.approx(
        roc_auc_score(y, p[:, 1])
    )


def test_auc_does_not_compare_scores_of_different_fits():
    y = np.array([0, 1, 0, 1])
    p = np.array([0.1, 0.2, 0.8, 0.9])
    result = measures(
        Task.BINARY, y, np.column_stack([1 - p, p]), needs="probability", splits=[0, 0, 1, 1]
    )
    assert result["auc"] == 1.0


def test_auc_of_a_fold_with_one_class_is_left_out():
    y, p = np.array([0, 1, 1, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    both = np.column_stack([1 - p, p])
    result = measures(Task.BINARY, y, both, needs="probability", splits=[0, 0, 1, 1])
    assert result["auc"] == 1.0
    none = measures(Task.BINARY, y[2:], both[2:], needs="probability")
    assert np.isnan(none["auc"])
    assert none.to_json()["auc"] == {"value": None, "low": None, "high": None}


def test_several_classes_are_measured_one_against_the_rest():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    p = rng.dirichlet(np.ones(3), 200)
    result = measures(Task.MULTICLASS, y, p, needs="probability")
    assert result["auc"] == pytest.approx(roc_auc_score(y, p, multi_class="ovr"))
    assert result["accuracy"] == pytest.approx(np.mean(p.argmax(axis=1) == y))
    assert "calibration_slope" not in result.values


def test_labels_and_margins_have_fewer_measures():
    labels = measures(Task.BINARY, [0, 1, 1], [0, 1, 0], needs="label")
    assert dict(labels.values) == {
        "accuracy": pytest.approx(2 / 3),
        "majority": pytest.approx(2 / 3),
    }
    margins = measures(Task.BINARY, [0, 1, 1], [-2.0, 0.5, -0.1], needs="margin")
    assert margins["auc"] == 1.0
    assert margins["accuracy"] == pytest.approx(2 / 3)


def test_every_measure_has_a_meaning_and_plain_json():
    y, p = binary(100)
    for result in (
        measures(Task.REGRESSION, y, p[:, 0]),
        measures(Task.BINARY, y, p, needs="probability"),
    ):
        assert set(result.values) <= set(MEANINGS)
        json.dumps(result.to_json(), allow_nan=False)


@pytest.mark.parametrize("stretch", [0.5, 1.0, 3.0])
def test_calibration_slope_says_how_far_log_odds_are_stretched(stretch):
    y, p = binary(20_000, stretch=stretch)
    line = calibration_line(y, p[:, 1], kind="probability")
    assert line.slope == pytest.approx(1 / stretch, rel=0.08)
    assert line.intercept == pytest.approx(0.0, abs=0.06)


def test_calibration_line_is_the_logistic_regression_on_log_odds():
    y, p = binary(500, stretch=2.0)
    log_odds = special.logit(p[:, 1])[:, None]
    reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(log_odds, y)
    line = calibration_line(y, p[:, 1], kind="probability")
    assert line.slope == pytest.approx(reference.coef_[0, 0], abs=1e-5)
    assert line.intercept == pytest.approx(reference.intercept_[0], abs=1e-5)


@pytest.mark.parametrize(
    ("y", "p"),
    [([0, 1, 0, 1], [0.5] * 4), ([1, 1, 1], [0.2, 0.5, 0.6]), ([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])],
    ids=["all alike", "one class", "separated"],
)
def test_lines_that_are_not_determined_are_nan(y, p):
    line = calibration_line(y, p, kind="probability")
    assert np.isnan([line.slope, line.intercept, line.slope_low, line.intercept_high]).all()


def test_calibration_error_by_hand():
    # two bins: predicted 0.25 and 0.7, observed 0.5 and 1
    error = calibration_error([0, 1, 1, 1], [0.2, 0.3, 0.6, 0.8], bins=2)
    assert error == pytest.approx(0.5 * 0.25 + 0.5 * 0.3)


def test_calibration_error_shrinks_with_rows_where_predictions_are_right():
    small, large = (calibration_error(*_columns(binary(n))) for n in (500, 50_000))
    assert large < 0.01 < small


def _columns(drawn):
    return drawn[0], drawn[1][:, 1]


def test_a_line_that_is_flat_from_the_start_is_found_without_a_step():
    # predictions that tell nothing: the first Newton step is exactly zero
    line = calibration_line([1, 0, 1, 0], [0.0, 0.0, 1.0, 1.0], kind="probability")
    assert line.slope == pytest.approx(0.0, abs=1e-9)
    assert line.intercept == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.integers(1, 12),
    st.integers(0, 1000),
)
def test_bins_cover_all_rows_in_order_and_keep_ties_together(p, bins, seed):
    y = np.random.default_rng(seed).integers(0, 2, len(p))
    curve = curve_of(y, p, kind="probability", bins=bins)
    assert curve.rows.sum() == len(p)
    assert len(curve.rows) <= bins
    assert (np.diff(curve.predicted) > 0).all()
    assert (curve.low <= curve.observed + 1e-12).all()
    assert (curve.observed <= curve.high + 1e-12).all()
    assert (curve.rows @ curve.observed) == pytest.approx(y.sum())


def test_curve_of_a_calibrated_learner_covers_the_diagonal():
    y, p = binary(20_000)
    curve = curve_of(y, p[:, 1], kind="probability", confidence=0.99)
    assert ((curve.low <= curve.predicted) & (curve.predicted <= curve.high)).all()
    assert "slope" in repr(curve)
    json.dumps(curve.to_json(), allow_nan=False)
    assert list(curve.to_frame("dict")) == [
        "predicted",
        "observed",
        "low",
        "high",
        "misses",
        "rows",
    ]


def test_lengths_that_differ_are_refused():
    with pytest.raises(InputError, match="2 values of y, but 3 predictions"):
        measures(Task.REGRESSION, [1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_benchmark_measures_each_learner_on_rows_it_had_not_seen():
    data = cw.datasets.load("diabetes")
    bench = cw.benchmark(data, ["ols", "baseline"], tune=0, repeats=1)
    result = bench.measures("ols")
    predictions = bench.predictions("ols")
    assert result["r2"] == pytest.approx(r2_score(data.y, predictions))
    assert bench.measures("baseline")["r2"] < 0.01
    assert bench.calibration("ols").rows.sum() == data.n_rows


def test_a_benchmark_by_labels_has_no_probabilities_to_calibrate():
    bench = cw.benchmark(
        cw.datasets.load("wine"), "knn", tune=0, repeats=1, loss="zero-one", interval="naive"
    )
    assert 0 < bench.measures("knn")["accuracy"] <= 1
    with pytest.raises(InputError, match="no probabilities to calibrate"):
        bench.calibration("knn")


def test_what_is_zero_but_for_rounding_is_zero():
    """Least squares is calibrated on its own rows, where rounding left 1e-14."""
    data = cw.datasets.load("diabetes")
    evaluated = cw.evaluate(cw.learner("ols").fit(data), data)
    assert evaluated.calibration().intercept == 0.0
    measured = evaluated.measures()
    for name in ("calibration_in_the_large", "calibration_intercept"):
        assert measured[name] == 0.0
        assert measured.low[name] < -1
        assert measured.high[name] > 1
