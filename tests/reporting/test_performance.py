"""How well a model predicts rows whose target is known."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import clearwood as cw
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.collect.performance import of_benchmark, of_rows

X = np.random.default_rng(0).normal(size=(200, 2))
Y = X[:, 0] + np.random.default_rng(1).normal(size=200)


def table(y, **options):
    return cw.read({"a": X[:, 0], "b": X[:, 1], "y": y}, target="y", **options)


def test_risk_and_baseline_are_those_of_the_rows_given():
    data, test = table(Y).head(150), table(Y).take(slice(150, None))
    model = cw.learner("ols").fit(data)
    result = of_rows(report_input(model, data, test=test), test, model.predict(test), rows="test")
    truth = test.y
    assert result.risk.estimate == pytest.approx(np.mean((truth - model.predict(test)) ** 2))
    # the mean is that of the rows the model learned from: those judged are not known yet
    assert result.baseline == pytest.approx(np.mean((truth - data.y.mean()) ** 2))
    assert result.explained == pytest.approx(1 - result.risk.estimate / result.baseline)


def test_classes_are_matched_by_label_whatever_their_order():
    label = np.where(Y > 0, "a_yes", "z_no")
    model = LogisticRegression().fit(X, label)
    data = table(label)
    predicted = model.predict_proba(X)
    result = of_rows(report_input(model, data), data, predicted, rows="training")
    assert result.loss == "log"
    assert result.risk.estimate == pytest.approx(log_loss(label, predicted, labels=model.classes_))


def test_rows_of_a_class_that_the_model_does_not_know_are_left_out():
    label = np.where(Y > 0, "yes", "no").astype(object)
    model = LogisticRegression().fit(X, label.astype(str))
    label[:5] = "new"
    data = table(label)
    result = of_rows(report_input(model, data), data, model.predict_proba(X), rows="training")
    assert result.n_rows == 195


def test_weights_count():
    weight = np.where(np.arange(200) < 100, 1.0, 0.0) + 1e-9
    raw = {"a": X[:, 0], "b": X[:, 1], "w": weight, "y": Y}
    data = cw.read(raw, target="y", weight="w")
    model = cw.learner("ols").fit(data)
    result = of_rows(report_input(model, data), data, model.predict(data), rows="training")
    assert result.risk.estimate == pytest.approx(
        np.mean((Y - model.predict(data))[:100] ** 2), rel=1e-6
    )


def test_a_number_predicted_for_a_class_is_refused_in_words():
    label = np.where(Y > 0, "yes", "no")
    data = table(label)
    given = report_input(lambda frame: frame["a"].to_numpy(), data)
    with pytest.raises(cw.InputError, match="'y' is a class and the model predicts a number"):
        of_rows(given, data, X[:, 0], rows="training")


def test_a_benchmark_gives_its_own_numbers():
    data = table(Y)
    bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
    result = of_benchmark(bench, "ols")
    assert (result.risk.estimate, result.risk.low) == (bench["ols"].risk, bench["ols"].low)
    assert result.baseline == bench["baseline"].risk
    assert result.rows == "out-of-fold"
    assert result.against_baseline == bench.compare("ols", "baseline")


def test_the_model_is_compared_with_its_best_rival_by_a_double_lift():
    counts = np.random.default_rng(2).poisson(np.exp(0.5 * X[:, 0]))
    data = table(counts, task="count")
    bench = cw.benchmark(data, ["baseline", "glm", "tree"], tune=0, repeats=1)
    for name, rival in (("glm", "tree"), ("tree", "glm")):
        evaluation = of_benchmark(bench, name).evaluation
        assert evaluation.against == rival
        assert evaluation.lift(against=rival).against == rival
    page = cw.report(
        bench.choose("glm").fit(data), data, benchmark=bench, sections=["performance"], quick=True
    )
    views = [view for block in page.sections[0].blocks for view in getattr(block, "options", ())]
    labels = [view[0] for view in views]
    assert labels == [
        "Calibration",
        "Smooth calibration",
        "Residuals",
        "Lift",
        "Double lift",
        "Lorenz curve",
    ]
    words = " ".join(views[labels.index("Double lift")][1][0].paragraphs)
    assert "to the prediction of tree" in words


def test_predictions_without_a_ratio_have_no_double_lift():
    bench = cw.benchmark(table(Y), ["ols", "tree"], tune=0, repeats=1)
    assert of_benchmark(bench, "ols").evaluation.against is None
