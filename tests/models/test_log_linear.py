"""Generalised linear models with a log link."""

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor

import clearwood as cw
from clearwood.models.catalogue.glm.log_linear import LogLinear

X = np.random.default_rng(0).normal(size=(200, 2))
MEAN = np.exp(0.5 + X @ [0.4, -0.3])


def test_poisson_is_scikit_learns():
    rng = np.random.default_rng(1)
    y, weight = rng.poisson(MEAN), rng.uniform(0.5, 2, 200)
    ours = LogLinear(distribution="poisson", alpha=0.01).fit(X, y, sample_weight=weight)
    # the penalty is beside the deviance of a target with a mean of 1
    unit = y / np.average(y, weights=weight)
    theirs = PoissonRegressor(alpha=0.01, tol=1e-8).fit(X, unit, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def test_gamma_is_scikit_learns():
    y = np.random.default_rng(1).gamma(2.0, MEAN / 2)
    ours = LogLinear(distribution="gamma", alpha=0.01).fit(X, y)
    theirs = GammaRegressor(alpha=0.01, tol=1e-8).fit(X, y)
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
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-9)


@pytest.mark.parametrize("unit", [1.0, 365.25, 1e-3, 1e6])
def test_without_a_penalty_observed_and_expected_agree_in_every_margin(unit):
    rng = np.random.default_rng(2)
    exposure = rng.uniform(0.1, 1.0, 3_000) * unit
    region, size = rng.choice(["a", "b", "c"], 3_000), rng.normal(40, 12, 3_000)
    rate = 0.1 / unit * np.exp(0.02 * (size - 40) + 0.4 * (region == "b"))
    claims = rng.poisson(rate * exposure)
    frame = {"region": region, "size": size, "exposure": exposure, "claims": claims}
    table = cw.read(frame, target="claims", exposure="exposure", task="count")
    expected = cw.learner("glm", alpha=0).fit(table).predict(table) * exposure
    for level in "abc":
        ratio = claims[region == level].sum() / expected[region == level].sum()
        assert ratio == pytest.approx(1, abs=1e-8)
    assert (size @ claims) / (size @ expected) == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(
    ("distribution", "power"), [("poisson", 1), ("gamma", 2), ("tweedie", 1.5)]
)
def test_without_a_penalty_coefficients_are_those_of_statsmodels(distribution, power):
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    wide = np.column_stack([X, 1e4 * X[:, 0] + 1e3 * rng.normal(size=200)])
    y = 1e5 * rng.gamma(2.0, MEAN)
    if distribution == "tweedie":
        y *= rng.random(200) < 0.7
    elif distribution == "poisson":
        y = rng.poisson(MEAN)
    weight = rng.uniform(0.5, 2, 200)
    ours = LogLinear(distribution=distribution, alpha=0).fit(wide, y, sample_weight=weight)
    family = api.families.Tweedie(var_power=power, link=api.families.links.Log())
    if distribution == "poisson":
        family = api.families.Poisson()
    theirs = api.GLM(y, api.add_constant(wide), family=family, var_weights=weight)
    known = theirs.fit(tol=1e-14, maxiter=300)
    off = (np.append(ours.intercept_, ours.coef_) - known.params) / known.bse
    assert np.abs(off).max() < 1e-6


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
