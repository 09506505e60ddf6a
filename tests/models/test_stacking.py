"""Stacked learners: weights on the simplex that minimise the held-out loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression

import clearwood as cw
from clearwood.models.catalogue.stacking.simplex import SimplexClassifier, SimplexRegressor


def every_weight(n, steps):
    """All points of a grid on the simplex."""
    if n == 1:
        return np.ones((1, 1))
    inner = [
        np.hstack([[share], (1 - share) * rest])
        for share in np.linspace(0, 1, steps)
        for rest in every_weight(n - 1, steps)
    ]
    return np.array(inner)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_no_other_weights_have_a_smaller_squared_error(seed, scale):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40)
    members = y[:, None] * rng.uniform(0, 2, 3) + rng.normal(size=(40, 3)) + rng.normal(size=3)
    weights = SimplexRegressor().fit(scale * members, scale * y).weights_
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)

    def error(w):
        return np.mean((members @ w - y) ** 2)

    assert error(weights) <= min(error(w) for w in every_weight(3, 21)) + 1e-7


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 4))
def test_no_other_weights_have_a_smaller_log_loss(seed, classes):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 40)])
    members = rng.dirichlet(np.ones(classes), size=(len(y), 3))
    members[np.arange(len(y)), 0, y] += 1
    members /= members.sum(axis=2, keepdims=True)
    columns = members[:, :, 1] if classes == 2 else members.reshape(len(y), -1)
    model = SimplexClassifier().fit(columns, y)
    assert model.weights_.min() >= 0
    assert model.weights_.sum() == pytest.approx(1)

    def loss(w):
        return -np.log(np.einsum("rmk,m->rk", members, w)[np.arange(len(y)), y]).mean()

    assert loss(model.weights_) <= min(loss(w) for w in every_weight(3, 21)) + 1e-7
    expected = np.einsum("rmk,m->rk", members, model.weights_)
    np.testing.assert_allclose(model.predict_proba(columns), expected, atol=1e-12)


def test_the_stacked_prediction_is_the_weighted_mean_of_the_members():
    X, y = make_regression(80, 4, noise=20.0, random_state=0)
    model = cw.learner("stacking", members=("ridge", "knn"), folds=3).fit(X, y)
    stack = model.estimator_
    weights = stack.final_estimator_.weights_
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    encoded = model._encode(X)
    members = np.column_stack([member.predict(encoded) for member in stack.estimators_])
    np.testing.assert_allclose(model.predict(X), members @ weights)


def test_weights_go_to_the_member_that_predicts():
    X, y = make_regression(80, 4, noise=1.0, random_state=0)
    model = cw.learner("stacking", members=("baseline", "ols")).fit(X, y)
    np.testing.assert_allclose(model.estimator_.final_estimator_.weights_, [0, 1], atol=1e-3)


def test_a_member_that_cannot_do_the_task_is_refused():
    X, y = make_classification(40, random_state=0)
    with pytest.raises(cw.InputError, match=r"'ridge' cannot be a member of 'stacking' for binary"):
        cw.learner("stacking", members=("ridge", "logistic")).fit(X, y)
    with pytest.raises(cw.InputError, match=r"'stacking' cannot be a member"):
        cw.learner("stacking", members=("stacking",)).fit(X, y)
    with pytest.raises(cw.InputError, match=r"'perceptron' predicts no probabilities"):
        cw.learner("stacking", members=("perceptron", "logistic")).fit(X, y)
