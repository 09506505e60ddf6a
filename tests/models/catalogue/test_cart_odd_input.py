"""Trees with input and settings that are out of the ordinary."""

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.trees.estimators import CartClassifier, CartRegressor
from clearwood.models.catalogue.trees.pruning import geometric_middles

X = np.random.default_rng(1).normal(size=(80, 3))
Y = X[:, 0] + np.sin(3 * X[:, 1])


def test_rows_have_the_columns_of_the_fit():
    model = CartRegressor().fit(X, Y)
    for rows in (np.hstack([X, X]), X[:, :1], X[:, :0], X[0]):
        with pytest.raises(ValueError, match=r"features|Expected 2D array"):
            model.predict(rows)
    assert model.predict(X[:0]).shape == (0,)


def test_a_missing_target_is_refused_under_every_criterion():
    target = np.where(Y > 1, np.nan, np.abs(Y))
    for criterion in ("squared_error", "poisson", "tweedie", "gamma"):
        with pytest.raises(ValueError, match="y contains NaN"):
            CartRegressor(criterion=criterion).fit(X, target)


@pytest.mark.parametrize("weight", [np.ones(3), -np.ones(80), np.full(80, np.nan), np.zeros(80)])
def test_weights_are_numbers_above_zero_one_for_each_row(weight):
    for model, target in ((CartRegressor(), Y), (CartClassifier(), Y > 0)):
        with pytest.raises(InputError, match="weight"):
            model.fit(X, target, weight)


def test_weights_whose_squares_overflow_are_refused():
    classes = np.digitize(Y, [-0.5, 0.5])
    with pytest.raises(InputError, match="too much"):
        CartClassifier().fit(X, classes, np.full(80, 1e300))
    small, usual = (CartClassifier().fit(X, classes, np.full(80, w)) for w in (2.0**-300, 1.0))
    np.testing.assert_array_equal(small.predict_proba(X), usual.predict_proba(X))


@pytest.mark.parametrize("folds", [1, "five", 2.5])
def test_there_are_two_folds_or_more(folds):
    with pytest.raises(InputError, match=r"folds.*whole number"):
        cw.learner("tree", folds=folds).fit(X, Y)


@pytest.mark.parametrize("wrong", ["many", [[0, 1], [1]], {"a": 1}])
def test_costs_and_priors_that_are_no_numbers_are_named(wrong):
    for name in ("costs", "priors"):
        with pytest.raises(InputError, match=name):
            CartClassifier(**{name: wrong}).fit(X, Y > 0)


@pytest.mark.filterwarnings("error")
def test_a_class_whose_rows_weigh_nothing_has_no_share():
    classes = np.digitize(Y, [-0.5, 0.5])
    model = CartClassifier(priors="equal").fit(X, classes, (classes < 2).astype(float))
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all()
    assert not shares[:, 2].any()


@pytest.mark.parametrize("criterion", ["poisson", "tweedie", "gamma"])
def test_equal_targets_are_not_split_by_rounding(criterion):
    for rate in (0.1, 0.3, 7.7, 1e6 / 3):
        model = CartRegressor(criterion=criterion, prune=False).fit(X, np.full(80, rate))
        assert model.get_n_leaves() == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("settings", [{}, {"samples": 3}])
def test_a_target_of_any_scale_gives_the_same_tree(settings):
    usual = CartRegressor(**settings).fit(X, Y)
    for scale in (2.0**-500, 2.0**200):
        scaled = CartRegressor(**settings).fit(X, Y * scale)
        np.testing.assert_array_equal(scaled.predict(X), usual.predict(X) * scale)
    with pytest.raises(InputError, match="too large"):
        CartRegressor(**settings).fit(X, Y * 1e150)


def test_the_last_penalty_prunes_to_the_root_however_small_it_is():
    levels = np.array([1e-200, 1e-220])
    assert geometric_middles(levels)[-1] > 1e-200
