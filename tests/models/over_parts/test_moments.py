"""Learners that depend on means and second moments, fitted to a table in parts."""

import joblib
import numpy as np
import pytest
from rows_in_parts import both

import clearwood as cw
from clearwood.models import catalogue
from clearwood.models.entries.streams import Moments

NAMES = [one.name for one in catalogue.entries() if isinstance(one.streams, Moments)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("target", "options"),
    [("number", {}), ("number", {"weight": "weight"}), ("count", {})],
)
def test_the_model_is_the_one_of_the_table(name, target, options):
    data, parts = both(target, pieces=3, **options)
    one, other = (cw.learner(name).fit(rows) for rows in (data, parts))
    np.testing.assert_allclose(other.predict(data), one.predict(data), rtol=1e-8, atol=1e-8)
    assert other.encoder_.state()[0].keys() == one.encoder_.state()[0].keys()


def test_the_list_of_learners():
    assert set(NAMES) >= {"baseline", "ols", "ridge", "lasso", "elastic-net"}


@pytest.mark.parametrize("target", ["yes", "class"])
def test_the_baseline_of_classes_has_their_shares(target):
    table, parts = both(target, weight="weight")
    one, other = (cw.learner("baseline").fit(rows) for rows in (table, parts))
    np.testing.assert_allclose(other.predict_proba(table), one.predict_proba(table), rtol=1e-12)


def test_workers_do_not_change_the_bits():
    table, parts = both("number", pieces=4)
    alone = cw.learner("ridge").fit(parts)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        shared = cw.learner("ridge").fit(parts)
    np.testing.assert_array_equal(shared.predict(table), alone.predict(table))


def test_columns_that_repeat_each_other_are_no_harm():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    columns = {"a": x[:, 0], "b": x[:, 1], "twice": 2 * x[:, 0], "y": x @ [1.0, 2.0]}
    import pandas as pd

    data = pd.DataFrame(columns)
    table = cw.read(data, target="y")
    parts = cw.scan([data[:100], data[100:]], target="y")
    for name in ("ols", "ridge"):
        one, other = (cw.learner(name).fit(rows) for rows in (table, parts))
        np.testing.assert_allclose(other.predict(table), one.predict(table), atol=1e-8)
        np.testing.assert_allclose(other.estimator_.coef_, one.estimator_.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "target", "options"),
    [
        ("glm", "count", {"weight": "weight"}),
        ("glm", "count", {"task": "amount"}),
        ("logistic", "yes", {}),
        ("logistic", "yes", {"weight": "weight"}),
    ],
)
def test_generalised_linear_models_have_the_optimum_of_the_table(name, target, options):
    table, parts = both(target, pieces=3, **options)
    one, other = (cw.learner(name).fit(rows) for rows in (table, parts))
    predict = "predict_proba" if target == "yes" else "predict"
    np.testing.assert_allclose(
        getattr(other, predict)(table), getattr(one, predict)(table), rtol=2e-3, atol=2e-3
    )
    np.testing.assert_allclose(score_at(other, table), 0, atol=1e-9)


def score_at(model, table):
    """Return the gradient of the mean loss and its penalty."""
    X = model.encoder_.transform(table)
    weight = np.ones(len(X)) if table.weights is None else table.weights
    estimator = model.estimator_
    score = X @ estimator.coef_.ravel() + float(np.ravel(estimator.intercept_)[0])
    if model.name == "logistic":
        slope = 1 / (1 + np.exp(-score)) - (table.y == model.classes_[1])
        penalty = 1 / (estimator.C * weight.sum())
    else:
        power = estimator.model_.power
        slope = np.exp(score) ** (2 - power) - table.y * np.exp(score) ** (1 - power)
        # beside the deviance of a target with a mean of 1
        penalty = estimator.alpha * np.average(table.y, weights=weight) ** (2 - power)
    return X.T @ (weight * slope) / weight.sum() + penalty * estimator.coef_.ravel()


def test_what_needs_rows_is_refused():
    _, parts = both("number")
    with pytest.raises(cw.InputError, match="penalty='l1' needs all rows in memory"):
        cw.learner("logistic", penalty="l1").fit(both("yes")[1])
    with pytest.raises(cw.InputError, match="needs all rows in memory for more than two classes"):
        cw.learner("logistic").fit(both("class")[1])
    with pytest.raises(cw.InputError, match="statistic='median' needs all rows in memory"):
        cw.learner("baseline", statistic="median").fit(parts)
    with pytest.raises(cw.InputError, match="checkpoint keeps trees, and learner 'ridge' has none"):
        cw.learner("ridge").fit(parts, checkpoint="fit.json")
