"""Integrated gradients: completeness, oracles, rows that do not matter, bad input."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.models.catalogue.network.estimators import NetworkRegressor

pytest.importorskip("torch")

QUICK = {"epochs": 4, "units": 8}


def people(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, n),
            "bmi": rng.normal(25, 4, n),
            "region": rng.choice(["north", "south", "east"], n),
        }
    )
    frame.loc[::9, "bmi"] = np.nan
    signal = frame["age"] / 20 + 2 * (frame["region"] == "north") + rng.normal(size=n)
    return frame, signal


def fitted(task, name="network", **settings):
    frame, signal = people()
    y = {
        "regression": signal,
        "count": np.random.default_rng(1).poisson(np.exp(0.3 * signal)),
        "binary": np.where(signal > signal.median(), "high", "low"),
        "multiclass": np.array(["a", "b", "c"])[np.digitize(signal, [2, 3])],
    }[task]
    data = cw.read({**frame, "y": y}, target="y", task=task)
    return cw.learner(name, **{**QUICK, **settings}).fit(data), data


@pytest.fixture(scope="module")
def models():
    members = {"regression": 1, "count": 2, "binary": 1, "multiclass": 3}
    return {task: fitted(task, members=n) for task, n in members.items()}


@pytest.mark.parametrize("task", ["regression", "count", "binary", "multiclass"])
def test_values_add_up_to_the_difference_of_the_predictions(models, task):
    model, data = models[task]
    result = cw.explanation.integrated_gradients(model, data, 1)
    assert result.columns == ("age", "bmi", "region")
    assert abs(result.gap) <= 1e-6 * abs(result.prediction - result.baseline)
    assert (result.errors <= 1e-6 * abs(result.prediction - result.baseline)).all()
    matrix = model.encoder_.transform(data.take([1]))
    score = model.estimator_.margin(matrix)[0]
    k = list(map(str, model.classes_)).index(result.output) if task == "multiclass" else 0
    assert result.prediction == pytest.approx(score[k])


@pytest.mark.parametrize(("task", "scale"), [("binary", "probability"), ("count", "response")])
def test_predictions_after_the_link_can_be_divided(models, task, scale):
    model, data = models[task]
    result = cw.explanation.integrated_gradients(model, data, 2, scale=scale)
    one = data.take([2])
    expected = model.predict_proba(one)[0, 1] if task == "binary" else model.predict(one)[0]
    assert result.prediction == pytest.approx(expected)
    assert abs(result.gap) <= 1e-6 * abs(result.prediction - result.baseline)


def test_of_a_linear_network_each_column_adds_slope_times_difference():
    """One unit of tanh near zero is a line, whose integral is known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    settings = {"epochs": 1, "layers": 1, "units": 2, "activation": "relu", "members": 1}
    model = cw.learner("network", **settings).fit(X, X[:, 0])
    network = model.estimator_
    arrays = {name: np.zeros_like(array) for name, array in network.arrays_.items()}
    arrays["blocks.0.0.weight"][0] = [[2.0, -1.0], [0.0, 0.0]]
    arrays["blocks.0.0.bias"][0, 0] = 100.0  # far from the kink
    arrays["head.weight"][0, 0, 0] = 3.0
    network.arrays_ = arrays
    result = cw.explanation.integrated_gradients(model, X, 4, baseline=7)
    inputs, _ = network._inputs(np.vstack([X[4], X[7]]))
    slopes = network.scale_ * np.array([6.0, -3.0])
    np.testing.assert_allclose(result.values, slopes * (inputs[0] - inputs[1]), rtol=1e-9)


def test_a_dense_sum_of_rectangles_agrees(models):
    model, data = models["regression"]
    result = cw.explanation.integrated_gradients(model, data, 3, baseline=8)
    start, end = (model.encoder_.transform(data.take([k])) for k in (8, 3))
    points = (np.arange(4000) + 0.5) / 4000
    each = model.estimator_.path_gradients(start, end, points, 0, link=False).mean(axis=0)
    names = [one.source for one in model.encoder_.columns_]
    for k, name in enumerate(result.columns):
        total = sum(value for value, owner in zip(each, names, strict=True) if owner == name)
        assert result.values[k] == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("task", ["regression", "count", "binary", "multiclass"])
def test_gradients_along_the_line_are_those_of_finite_differences(models, task):
    model, data = models[task]
    start, end = (model.encoder_.transform(data.take([k])) for k in (0, 5))
    for link in (False, True):
        points, step = np.array([0.2, 0.7]), 1e-6
        gradients = model.estimator_.path_gradients(start, end, points, 0, link=link).sum(axis=1)
        high, low = (
            model.estimator_.path_values(start, end, points + s, 0, link=link)
            for s in (step, -step)
        )
        np.testing.assert_allclose(gradients, (high - low) / (2 * step), rtol=1e-5, atol=1e-8)


def test_a_column_that_is_the_same_in_both_rows_adds_nothing(models):
    model, data = models["regression"]
    row = {"age": 70.0, "bmi": 22.0, "region": "north"}
    result = cw.explanation.integrated_gradients(model, data, row, baseline={**row, "age": 20.0})
    assert result.values[1] == result.values[2] == 0.0
    assert result.row_values == ("70", "22", "north")
    assert result.baseline_values[0] == "20"
    assert not result.is_typical


def test_the_usual_baseline_is_the_typical_row(models):
    model, data = models["regression"]
    result = cw.explanation.integrated_gradients(model, data, 0)
    frame, _ = people()
    assert result.baseline_values[2] == frame["region"].mode()[0]
    assert float(result.baseline_values[0]) == pytest.approx(frame["age"].median(), rel=1e-3)
    assert result.is_typical


@pytest.mark.parametrize("name", ["transformer", "cnn"])
def test_other_networks_are_divided_too(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    settings = {"width": 8, "heads": 2} if name == "transformer" else {"units": 4, "layers": 1}
    y = np.nansum(X, axis=1)
    model = (
        cw.learner(name, epochs=2, activation="silu", **settings)
        if name == "cnn"
        else (cw.learner(name, epochs=2, **settings))
    )
    data = cw.read({**{f"x{k}": X[:, k] for k in range(4)}, "y": y}, target="y")
    result = cw.explanation.integrated_gradients(model.fit(data), data, 3, tolerance=1e-4)
    assert abs(result.gap) <= 1e-3 * abs(result.prediction - result.baseline)
    assert result.columns == ("x0", "x1", "x2", "x3")


def test_the_result_can_be_read_kept_and_drawn(models):
    model, data = models["binary"]
    result = cw.explanation.integrated_gradients(model, data, 0)
    text = repr(result)
    assert "Integrated gradients of network (log odds of low)" in text
    assert max(map(len, text.splitlines())) <= 88
    assert set(result.to_frame("dict")) == {"column", "value", "baseline", "adds", "error"}
    assert result.to_json()["gap"] == pytest.approx(result.gap)
    drawn = result.plot(most=2).to_dict()
    values = [row["adds"] for row in drawn["data"]["values"]]
    assert sum(values) == pytest.approx(result.values.sum())


def test_what_cannot_be_divided_is_refused(models):
    model, data = models["binary"]
    with pytest.raises(cw.InputError, match="'logistic' has no gradients"):
        cw.explanation.integrated_gradients(cw.learner("logistic").fit(data), data, 0)
    with pytest.raises(cw.InputError, match="2 rows are given"):
        cw.explanation.integrated_gradients(model, data, data.head(2))
    with pytest.raises(cw.InputError, match="the data has 120 rows"):
        cw.explanation.integrated_gradients(model, data, 500)
    with pytest.raises(cw.InputError, match="no output 'middle'"):
        cw.explanation.integrated_gradients(model, data, 0, output="middle")
    with pytest.raises(cw.InputError, match="other sign"):
        cw.explanation.integrated_gradients(model, data, 0, output="high")
    with pytest.raises(cw.InputError, match="tolerance"):
        cw.explanation.integrated_gradients(model, data, 0, tolerance=0)
    with pytest.raises(cw.InputError, match="max_points"):
        cw.explanation.integrated_gradients(model, data, 0, max_points=3)
    with pytest.raises(cw.InputError, match="no probabilities"):
        cw.explanation.integrated_gradients(*models["count"], 0, scale="probability")


def test_the_margin_of_counts_and_classes_is_explained_by_sampling(models):
    model, data = models["count"]
    result = cw.shapley(model, data, data.head(1), scale="margin")
    assert result.about.unit == "log of the mean"
    predicted = np.log(model.predict(data.head(1)))
    np.testing.assert_allclose(result.prediction, predicted, atol=1e-6)


def test_few_points_say_how_far_the_sum_is_off(models):
    model, data = models["regression"]
    result = cw.explanation.integrated_gradients(model, data, 0, tolerance=1e-15, max_points=40)
    assert result.n_points == 40
    assert result.gap == result.prediction - result.baseline - result.values.sum()
    assert isinstance(model.estimator_, NetworkRegressor)
