"""Importance-sampled learning ensembles: sparse weights, exact explanations, weights of rows."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.models.catalogue.isle.estimators import IsleClassifier, IslePoisson, IsleRegressor

FEW = {"n_trees": 10, "folds": 2, "n_penalties": 12, "min_leaf": 1}


DRAWN = {
    "check_sample_weight_equivalence_on_dense_data": "trees are grown on rows drawn at random",
}


@pytest.mark.estimators(
    IsleRegressor(**FEW), IsleClassifier(**FEW), IslePoisson(**FEW), expected=DRAWN
)
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


def steps(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    return X, 3.0 * (X[:, 0] > 0.5) + X[:, 1] + 0.3 * rng.normal(size=n)


def test_few_of_the_trees_are_kept_and_they_predict():
    X, y = steps()
    new, truth = steps(seed=1)
    model = IsleRegressor(n_trees=50, folds=3, choose="one-se").fit(X, y)
    assert 0 < len(model.tree_weights_) < 40
    assert np.mean((truth - model.predict(new)) ** 2) < 0.15 * truth.var()
    # what is kept, with its weights, is the whole model
    trees = model.parts_.trees
    assert len(trees.roots) == len(model.tree_weights_)


def test_the_penalty_is_chosen_by_rows_that_the_trees_have_not_seen():
    rng = np.random.default_rng(0)
    X, noise = rng.random((200, 5)), rng.normal(size=200)
    model = IsleRegressor(n_trees=30, folds=3, choose="one-se").fit(X, noise)
    assert len(model.tree_weights_) <= 5  # nothing can be learned
    assert np.isfinite(model.predict(X)).all()


def test_the_same_seed_gives_the_same_trees():
    X, y = steps(120)
    one, two = (IsleRegressor(**FEW).fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, IsleRegressor(**FEW, random_state=1).fit(X, y).predict(X))


def test_rows_without_weight_are_left_out():
    X, y = steps(120)
    weight = np.ones(120)
    weight[:20] = 0
    weighted = IsleRegressor(**FEW).fit(X, y, sample_weight=weight)
    without = IsleRegressor(**FEW).fit(X[20:], y[20:])
    np.testing.assert_allclose(weighted.predict(X), without.predict(X))


def test_components_add_up_to_the_prediction():
    data = cw.datasets.load("diabetes").head(80)
    model = cw.learner("isle", max_leaves=3, n_trees=40, folds=2).fit(data)
    decomposition = cw.explain(model, data, max_order=2).decomposition
    assert decomposition.is_complete
    np.testing.assert_allclose(decomposition.predict(data), model.predict(data), rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"memory": 2.0}, "memory=2.0"),
        ({"share": 0}, "share=0"),
        ({"choose": "all"}, "choose='all'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    X, y = steps(40)
    with pytest.raises(cw.InputError, match=message):
        IsleRegressor(**settings).fit(X, y)


def test_one_row_and_one_class_are_refused():
    X, y = steps(40)
    with pytest.raises(cw.InputError, match="cannot be divided into folds"):
        IsleRegressor().fit(X[:1], y[:1])
    with pytest.raises(cw.InputError, match="one class only"):
        IsleClassifier().fit(X, np.repeat("yes", 40))


def test_a_class_of_one_row_and_huge_numbers_can_be_fitted():
    X, y = steps(40)
    rare = IsleClassifier(**FEW).fit(X, np.arange(40) == 3)
    assert rare.predict_proba(X)[:, 1].mean() == pytest.approx(1 / 40, abs=0.05)
    assert np.isfinite(IsleRegressor(**FEW).fit(X * 1e300, y).predict(X * 1e300)).all()
