"""Generalised linear models with a log link."""

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor

import clearwood as cw
from clearwood.models.estimators.log_linear import LogLinear

X = np.random.default_rng(0).normal(size=(200, 2))
MEAN = np.exp(0.5 + X @ [0.4, -0.3])


def test_poisson_is_scikit_learns():
    rng = np.random.default_rng(1)
    y, weight = rng.poisson(MEAN), rng.uniform(0.5, 2, 200)
    ours = LogLinear(distribution="poisson", alpha=0.01).fit(X, y, sample_weight=weight)
    theirs = PoissonRegressor(alpha=0.01, tol=1e-6).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_gamma_is_scikit_learns():
    y = np.random.default_rng(1).gamma(2.0, MEAN / 2)
    ours = LogLinear(distribution="gamma", alpha=0.01).fit(X, y)
    theirs = GammaRegressor(alpha=0.01, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("distribution", ["gamma", "tweedie"])
def test_amounts_find_their_distribution(distribution):
    rng = np.random.default_rng(1)
    y = rng.gamma(2.0, MEAN)
    if distribution == "tweedie":  # sums of a number of claims that may be zero
        y *= rng.poisson(MEAN)
    model = LogLinear().fit(X, y)
    assert model.distribution_ == distribution
    np.testing.assert_allclose(model.coef_, [0.4, -0.3], atol=0.5)


def test_counts_are_poisson():
    y = np.random.default_rng(1).poisson(MEAN)
    model = cw.learner("glm", task="count").fit(X, y)
    assert model.estimator_.distribution_ == "poisson"
    # the mean of the predictions is the mean of the counts: the intercept is not penalised
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-3)


@pytest.mark.parametrize(
    ("y", "settings", "message"),
    [
        (MEAN - 5, {}, "needs targets of at least zero, and the smallest is -"),
        (MEAN * (X[:, 0] > 0), {"distribution": "gamma"}, r"needs positive targets, and \d+ are"),
        (MEAN * 0, {}, "every target is zero"),
        (MEAN, {"distribution": "tweedie", "power": 2.5}, "power=2.5 is not between 1 and 2"),
    ],
)
def test_a_target_that_does_not_suit_is_refused_with_a_hint(y, settings, message):
    with pytest.raises(cw.InputError, match=message + r".*Hint"):
        cw.learner("glm", task="regression", **settings).fit(X, y)
