"""Trees pruned by cross-validation, against scikit-learn's own pruning at every penalty."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from clearwood.models.estimators.folds import Folds
from clearwood.models.estimators.pruned_tree import (
    PrunedTreeClassifier,
    PrunedTreeRegressor,
    collapse_levels,
    geometric_middles,
)


def noisy_steps(n=120, seed=0, *, gaps=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.5) * (X[:, 0] > 0) + rng.normal(size=n)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def leaf_of_pruned(tree, X, penalty):
    """Walk each row down to the first node that is a leaf at the penalty."""
    levels = collapse_levels(tree)
    path = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
    return np.array([np.flatnonzero(row & (levels <= penalty))[0] for row in path])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), min_samples_leaf=st.integers(1, 8), gaps=st.booleans())
def test_levels_cut_a_tree_as_scikit_learn_does(seed, min_samples_leaf, gaps):
    X, y = noisy_steps(60, seed, gaps=gaps)
    options = {"min_samples_leaf": min_samples_leaf, "random_state": 0}
    full = DecisionTreeRegressor(**options).fit(X, y)
    for penalty in geometric_middles(collapse_levels(full.tree_)):
        pruned = DecisionTreeRegressor(ccp_alpha=penalty, **options).fit(X, y)
        ours = full.tree_.value[leaf_of_pruned(full.tree_, X, penalty), 0, 0]
        np.testing.assert_allclose(ours, pruned.predict(X), atol=1e-9)


def test_levels_are_scikit_learns_path_of_penalties():
    X, y = noisy_steps()
    full = DecisionTreeRegressor(min_samples_leaf=3, random_state=0)
    levels = collapse_levels(full.fit(X, y).tree_)
    path = full.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(
        np.unique(levels[np.isfinite(levels)]), np.unique(path.ccp_alphas[1:]), rtol=1e-9
    )


def test_a_regression_tree_is_cut_where_brute_force_would_cut_it():
    X, y = noisy_steps(gaps=True)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = PrunedTreeRegressor(min_samples_leaf=2, folds=4).fit(X, y, sample_weight=weight)
    risks = []
    for penalty in model.penalties_:
        tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0, ccp_alpha=penalty)
        total = 0.0
        for train, test in Folds(4).split(X, y):
            tree.fit(X[train], y[train], sample_weight=weight[train])
            total += weight[test] @ (y[test] - tree.predict(X[test])) ** 2
        risks.append(total / weight.sum())
    np.testing.assert_allclose(model.risks_, risks, rtol=1e-9)
    best = DecisionTreeRegressor(
        min_samples_leaf=2, random_state=0, ccp_alpha=model.penalties_[np.argmin(risks)]
    )
    best.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X), best.predict(X))
    assert (
        1
        < model.get_n_leaves()
        < DecisionTreeRegressor(min_samples_leaf=2).fit(X, y).get_n_leaves()
    )


def test_a_classification_tree_is_cut_where_brute_force_would_cut_it():
    X, score = noisy_steps(150)
    y = np.array(["a", "b", "c"])[np.digitize(score, [0.0, 2.0])]
    model = PrunedTreeClassifier(min_samples_leaf=2).fit(X, y)
    truth = y[:, None] == np.unique(y)
    risks = []
    for penalty in model.penalties_:
        tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0, ccp_alpha=penalty)
        losses = []
        for train, test in Folds(5, stratify=True).split(X, y):
            shares = tree.fit(X[train], y[train]).predict_proba(X[test])
            losses.extend(((truth[test] - shares) ** 2).sum(axis=1))
        risks.append(np.mean(losses))
    np.testing.assert_allclose(model.risks_, risks, rtol=1e-9)
    assert model.ccp_alpha == model.penalties_[np.flatnonzero(risks == np.min(risks))[-1]]


def test_one_standard_error_gives_a_tree_that_is_no_larger():
    X, y = noisy_steps(300)
    best = PrunedTreeRegressor().fit(X, y)
    smaller = PrunedTreeRegressor(prune="one-se").fit(X, y)
    assert smaller.get_n_leaves() < best.get_n_leaves()
    full = PrunedTreeRegressor(prune=False).fit(X, y)
    assert full.get_n_leaves() > best.get_n_leaves()


def test_noise_alone_leaves_only_the_root():
    rng = np.random.default_rng(3)
    model = PrunedTreeRegressor().fit(rng.normal(size=(200, 3)), rng.normal(size=200))
    assert model.get_n_leaves() == 1


@pytest.mark.parametrize("y", [np.array([0, 0, 0, 0, 0, 1]), np.array([0, 1, 0, 1, 2, 2])])
def test_rare_classes_do_not_stop_the_pruning(y):
    X = np.arange(6.0)[:, None]
    shares = PrunedTreeClassifier().fit(X, y).predict_proba(X)
    assert shares.shape == (6, len(np.unique(y)))


def test_fitting_does_not_change_the_parameters():
    X, y = noisy_steps()
    model = PrunedTreeRegressor(min_samples_leaf=4)
    before = model.get_params()
    assert model.fit(X, y).get_params() == before
    first = model.predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), first)
