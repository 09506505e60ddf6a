"""Every diagnostic as JSON, frame, text and figure, and in another process."""

import json
import pickle

import pytest

import clearwood as cw
from clearwood.benchmarking import (
    bias_variance,
    bootstrap_risk,
    calibration_curve,
    excess_risk,
    in_sample,
    learning_curve,
    linear_smoother,
)
from clearwood.evaluation import residuals_of


def simulated():
    truth = cw.datasets.insurance_truth()
    return excess_risk("glm", truth, sizes=[200], tables=2, large=1000, n_test=500)


DIAGNOSTICS = {
    "learning curve": lambda data, model: learning_curve("ols", data, sizes=[50, 100]),
    "calibration": lambda data, model: calibration_curve("ols", data),
    "bias and variance": lambda data, model: bias_variance("ols", data, samples=4),
    "excess risk": lambda data, model: simulated(),
    "residuals": lambda data, model: residuals_of(data.y, model.predict(data), learner="ols"),
    "bootstrap": lambda data, model: bootstrap_risk("ols", data, samples=4),
    "in-sample": lambda data, model: in_sample(model, data),
    "smoother": lambda data, model: linear_smoother(model, data),
}


@pytest.fixture(scope="module", params=DIAGNOSTICS)
def result(request, diabetes):
    model = cw.learner("ols").fit(diabetes)
    return DIAGNOSTICS[request.param](diabetes, model)


def test_json_and_frames_are_plain(result):
    json.dumps(result.to_json(), allow_nan=False)
    assert result.to_frame("dict")
    assert result.learner in repr(result)


def test_results_pickle(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == result.to_json()
    assert repr(again) == repr(result)


def test_figures_have_a_description(result):
    if not hasattr(result, "plot"):
        pytest.skip("it has no figure")
    drawn = result.plot().to_dict()
    assert drawn["description"]
