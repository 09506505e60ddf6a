"""Negative binomial regression: equal to statsmodels', with errors that cover."""

import warnings

import numpy as np
import pytest
from scipy.special import gammaln

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.glm.log_linear import LogLinear, fit_negative_binomial


def clustered(seed=0, n=500, theta=0.8):
    """Draw columns, exposures and negative binomial counts."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.random(n) < 0.3]).astype(float)
    years = rng.uniform(0.2, 2.0, n)
    mean = years * np.exp(0.5 + 0.4 * X[:, 0] - 0.6 * X[:, 1])
    return X, years, rng.poisson(mean * rng.gamma(1 / theta, theta, n)).astype(float)


@pytest.mark.parametrize("with_exposure", [True, False])
def test_coefficients_and_overdispersion_are_those_of_statsmodels(with_exposure):
    sm = pytest.importorskip("statsmodels.api")
    X, years, counts = clustered()
    years = years if with_exposure else np.ones(len(years))
    design = sm.add_constant(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = sm.NegativeBinomial(counts, design, exposure=years).fit(
            disp=0, maxiter=500, gtol=1e-10
        )
    found = fit_negative_binomial(X, counts / years, years, years)
    np.testing.assert_allclose(
        [found.intercept, *found.coefficients, found.overdispersion], oracle.params, rtol=1e-5
    )
    assert found.log_likelihood == pytest.approx(oracle.llf, abs=1e-6)


def test_the_table_has_the_errors_of_statsmodels_and_says_the_variance():
    sm = pytest.importorskip("statsmodels.api")
    X, years, counts = clustered()
    data = cw.read(
        {"a": X[:, 0], "b": X[:, 1], "years": years, "y": counts},
        target="y",
        exposure="years",
        task="count",
    )
    model = cw.learner("glm", distribution="negative-binomial", alpha=0).fit(data)
    table = cw.coefficients(model, data)
    theta = model.estimator_.overdispersion_
    family = sm.families.NegativeBinomial(alpha=theta)
    oracle = sm.GLM(counts, sm.add_constant(X), family=family, exposure=years).fit(tol=1e-12)
    own = [0, 1, 3]  # the third is the base of yes and no
    np.testing.assert_allclose(table.values[own], oracle.params, atol=1e-6)
    np.testing.assert_allclose(table.standard_errors[own], oracle.bse, rtol=1e-5)
    without = sm.GLM(counts, sm.add_constant(X[:, :1]), family=family, exposure=years).fit(
        tol=1e-12
    )
    ratio = next(test for test in table.tests if test.column == "b").likelihood_ratio
    assert ratio == pytest.approx(2 * (oracle.llf - without.llf), rel=1e-6)
    assert any("the variance m +" in note for note in table.notes)
    assert not any("other rows" in note for note in table.notes)


def test_intervals_cover_and_null_columns_are_rarely_found():
    """Intervals by Poisson's law cover about 60 % of 90."""
    covered, found = [], []
    for seed in range(60):
        X, years, counts = clustered(seed, n=300, theta=1.5)
        null = np.random.default_rng([1, seed]).normal(size=300)
        data = cw.read(
            {"a": X[:, 0], "null": null, "b": X[:, 1], "years": years, "y": counts},
            target="y",
            exposure="years",
            task="count",
        )
        model = cw.learner("glm", distribution="negative-binomial", alpha=0).fit(data)
        table = cw.coefficients(model, data)
        at = table.names().index("a")
        covered.append(table.low[at] <= 0.4 <= table.high[at])
        found.append(table.p_values[table.names().index("null")] < 0.05)
    assert np.mean(covered) > 0.8
    assert np.mean(found) < 0.13


def test_the_unit_of_exposure_and_repeated_rows_change_nothing():
    X, years, counts = clustered(n=200)
    one = LogLinear(distribution="negative-binomial").fit(X, counts / years, years, years)
    days = LogLinear(distribution="negative-binomial").fit(
        X, counts / (365 * years), 365 * years, 365 * years
    )
    np.testing.assert_allclose(365 * days.predict(X), one.predict(X), rtol=1e-6)
    assert days.overdispersion_ == pytest.approx(one.overdispersion_, rel=1e-5)
    twice = LogLinear(distribution="negative-binomial").fit(
        np.vstack([X, X]), np.tile(counts / years, 2), np.tile(years, 2), np.tile(years, 2)
    )
    weighted = LogLinear(distribution="negative-binomial").fit(X, counts / years, 2 * years, years)
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-6)
    assert weighted.overdispersion_ == pytest.approx(twice.overdispersion_, rel=1e-5)


def test_the_fit_is_a_maximum_of_the_likelihood():
    X, years, counts = clustered(n=150)

    def likelihood(beta, theta):
        mean = years * np.exp(beta[0] + X @ beta[1:])
        r = 1 / theta
        each = gammaln(counts + r) - gammaln(r) + counts * np.log(mean / (mean + r))
        return np.sum(each + r * np.log(r / (mean + r)))

    fit = fit_negative_binomial(X, counts / years, years, years)
    best = np.array([fit.intercept, *fit.coefficients])
    top = likelihood(best, fit.overdispersion)
    for step in 1e-3 * np.vstack([np.eye(3), -np.eye(3)]):
        assert likelihood(best + step, fit.overdispersion) < top
    for factor in (0.99, 1.01):
        assert likelihood(best, fit.overdispersion * factor) < top


def test_counts_without_clusters_are_fitted_as_poisson_counts():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = np.round(np.exp(1 + 0.3 * X[:, 0])).astype(float)  # they vary less
    fits = [
        LogLinear(distribution=d, alpha=0.0).fit(X, y) for d in ("negative-binomial", "poisson")
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-4)
    assert fits[0].overdispersion_ < 1e-4


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="at least zero"):
        LogLinear(distribution="negative-binomial").fit(np.zeros((3, 1)), [1.0, -1.0, 2.0])
