import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood import InputError
from clearwood.benchmarking.diagnostics.bias_variance import bias_variance, split_squared_error
from clearwood.benchmarking.diagnostics.calibration import calibration_curve
from clearwood.benchmarking.diagnostics.excess_risk import excess_risk
from clearwood.benchmarking.diagnostics.learning_curve import learning_curve
from clearwood.resampling import HoldOut, KFold, MonteCarlo, splits_of


@pytest.fixture(scope="module")
def diabetes():
    return cw.datasets.load("diabetes")


@pytest.fixture(scope="module")
def wine():
    return cw.datasets.load("wine")


def test_risk_falls_and_training_loss_rises_with_rows(diabetes):
    curve = learning_curve("ols", diabetes, sizes=[30, 100, 300], seed=1)
    assert (np.diff(curve.risk) < 0).all()
    assert (np.diff(curve.training) > 0).all()
    assert (curve.training < curve.risk).all()
    assert (curve.low < curve.risk).all()
    assert (curve.risk < curve.high).all()


def test_curve_ends_at_the_cross_validated_risk(diabetes):
    curve = learning_curve("ols", diabetes, sizes=[1.0], outer=4, seed=2)
    losses = np.empty(diabetes.n_rows)
    smallest = min(len(split.train) for split in splits_of(diabetes, KFold(4), seed=2))
    assert curve.sizes.tolist() == [smallest]
    for split in splits_of(diabetes, KFold(4), seed=2):
        model = cw.learner("ols").fit(diabetes.take(split.train))
        losses[split.test] = (
            diabetes.y[split.test] - model.predict(diabetes.take(split.test))
        ) ** 2
    # folds differ by a row, so the training sides may too
    assert curve.risk[0] == pytest.approx(losses.mean(), rel=0.01)


def test_smallest_part_has_every_class(wine):
    curve = learning_curve("knn", wine, sizes=[3, 20])
    assert curve.sizes.tolist() == [3, 20]
    assert curve.loss == "log"


@pytest.mark.parametrize(
    ("outer", "kind"),
    [(KFold(3), "naive"), (HoldOut(0.3), "hold-out"), (MonteCarlo(4, 0.3), "corrected")],
)
def test_curve_says_which_interval_it_has(diabetes, outer, kind):
    curve = learning_curve("ols", diabetes, sizes=[50], outer=outer)
    assert curve.interval == kind
    assert kind in repr(curve)


def test_rows_tested_twice_are_one_observation(diabetes):
    once = learning_curve("ols", diabetes, sizes=[200], outer=KFold(3, 1))
    thrice = learning_curve("ols", diabetes, sizes=[200], outer=KFold(3, 3))
    assert thrice.se[0] > 0.85 * once.se[0]


def grouped(n=60, **roles):
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=n),
        "who": [f"p{i % 12}" for i in range(n)],
        "when": 7 * np.arange(n),
        "y": rng.normal(size=n),
    }
    return cw.read(columns, target="y", **roles)


def test_groups_and_time_are_respected():
    by_group = learning_curve("ols", grouped(group="who"), sizes=[10, 30], outer=3)
    assert by_group.interval == "naive"
    by_time = learning_curve("ols", grouped(time="when"), sizes=[5, 10], outer=4)
    assert by_time.interval == "per-origin"


@pytest.mark.parametrize("sizes", [[0], [1000], [1.5], [-0.2], ["a"]])
def test_impossible_sizes_are_refused(diabetes, sizes):
    with pytest.raises(InputError, match="sizes="):
        learning_curve("ols", diabetes, sizes=sizes)


def test_calibration_of_numbers_uses_unseen_rows(diabetes):
    curve = calibration_curve("ols", diabetes, bins=5)
    assert curve.rows.sum() == diabetes.n_rows
    assert curve.slope == pytest.approx(1.0, abs=0.1)
    overfitted = calibration_curve(DecisionTreeRegressor(random_state=0), diabetes, bins=5)
    assert overfitted.slope < 0.7


def test_calibration_of_classes(wine):
    top = calibration_curve("logistic", wine)
    assert "class predicted" in top.what
    one = calibration_curve("logistic", wine, label=str(wine.y[0]))
    assert one.rows.sum() == wine.n_rows
    with pytest.raises(InputError, match="has no class 'x'"):
        calibration_curve("logistic", wine, label="x")


def test_numbers_have_no_classes_to_calibrate(diabetes):
    with pytest.raises(InputError, match="is a number"):
        calibration_curve("ols", diabetes, label="a")


arrays = st.integers(1, 6).flatmap(
    lambda rows: st.tuples(
        st.lists(st.floats(-50, 50), min_size=rows, max_size=rows),
        st.lists(
            st.lists(st.floats(-50, 50), min_size=rows, max_size=rows), min_size=1, max_size=5
        ),
        st.lists(st.floats(-50, 50), min_size=rows, max_size=rows),
    )
)


@settings(max_examples=80, deadline=None)
@given(arrays)
def test_squared_error_is_bias_and_variance_exactly(drawn):
    y, predictions, truth = drawn
    plain = split_squared_error(y, predictions)
    np.testing.assert_allclose(plain["risk"], plain["bias"] + plain["variance"], atol=1e-9)
    known = split_squared_error(y, predictions, truth)
    parts = known["noise"] + known["bias"] + known["variance"] + known["cross"]
    np.testing.assert_allclose(known["risk"], parts, atol=1e-9)
    np.testing.assert_allclose(known["risk"], plain["risk"], atol=1e-9)


def test_parts_of_a_learner_add_up(diabetes):
    found = bias_variance("tree", diabetes, samples=10)
    assert found.risk == pytest.approx(found.bias + found.variance, rel=1e-12)
    assert np.isnan(found.noise)
    assert found.to_json()["noise"] is None


def test_probabilities_are_taken_apart_as_brier_score(wine):
    found = bias_variance("tree", wine, samples=10)
    assert found.risk == pytest.approx(found.bias + found.variance, rel=1e-12)
    assert 0 < found.risk < 1


def test_with_a_truth_a_simple_learner_is_biased_and_a_complex_one_varies():
    truth = cw.datasets.insurance_truth()
    data = cw.datasets.insurance(1500, seed=3)
    constant = bias_variance("baseline", data, samples=10, truth=truth.mean)
    tree = bias_variance("tree", data, samples=10, truth=truth.mean)
    for found in (constant, tree):
        parts = found.noise + found.bias + found.variance + found.cross
        assert found.risk == pytest.approx(parts, rel=1e-12)
    assert constant.bias > 10 * constant.variance
    assert tree.variance > 10 * constant.variance
    assert constant.noise == pytest.approx(tree.noise)


class Line:
    """y = 1 + 2 x + noise: least squares is of the right form, a constant is not."""

    def sample(self, n, *, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n)
        return cw.read({"x": x, "y": 1 + 2 * x + rng.normal(size=n)}, target="y")

    def mean(self, data):
        return 1 + 2 * data["x"].values


def test_excess_risk_of_a_constant_is_approximation_and_of_a_line_estimation():
    options = {"sizes": [20, 80], "tables": 60, "large": 4000, "test": 4000}
    constant = excess_risk("baseline", Line(), **options)
    line = excess_risk(LinearRegression(), Line(), **options)
    # a constant misses 2 x, of variance 4; a line has two coefficients to learn
    assert constant.approximation == pytest.approx(4.0, rel=0.1)
    assert line.approximation < 0.005
    assert line.estimation[0] == pytest.approx(2 / 18, rel=0.5)
    assert line.estimation[1] == pytest.approx(2 / 78, rel=0.5)
    np.testing.assert_allclose(line.excess, line.approximation + line.estimation)


def test_more_rows_help_estimation_only():
    found = excess_risk(
        "glm", cw.datasets.insurance_truth(), sizes=[150, 1500], tables=4, large=8000, test=4000
    )
    assert found.estimation[0] > 3 * found.estimation[1] > 0
    assert found.loss == "poisson"
    assert found.approximation > 0


def test_losses_that_are_not_smallest_at_the_mean_are_refused():
    with pytest.raises(InputError, match="absolute loss is not smallest at the mean"):
        excess_risk("ols", Line(), loss="absolute")


def test_results_are_plain_json_frames_and_figures(diabetes):
    truth = cw.datasets.insurance_truth()
    results = [
        learning_curve("ols", diabetes, sizes=[50, 100]),
        calibration_curve("ols", diabetes),
        bias_variance("ols", diabetes, samples=4),
        excess_risk("glm", truth, sizes=[200], tables=2, large=1000, test=500),
    ]
    for result in results:
        json.dumps(result.to_json(), allow_nan=False)
        assert result.to_frame("dict")
        assert result.learner in repr(result)
        drawn = result.plot().to_dict()
        assert drawn["description"]
