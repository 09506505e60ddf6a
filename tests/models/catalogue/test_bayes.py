"""Bayesian regression: posteriors, evidence, chains, intervals, priors in the user's units."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import expit

import clearwood as cw
from clearwood.models.catalogue.bayes.chains import effective_size, hamiltonian, r_hat
from clearwood.models.catalogue.bayes.estimators import (
    BayesClassifier,
    BayesPoisson,
    BayesRegressor,
)

ALL = [BayesRegressor, BayesClassifier, BayesPoisson]


@pytest.mark.estimators(BayesRegressor(), BayesClassifier(), BayesPoisson())
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


def some_rows(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + 5
    return rng, X


def targets(kind, rng, X):
    score = 0.4 * (X[:, 0] - 5)
    if kind is BayesRegressor:
        return score + rng.normal(size=len(X))
    if kind is BayesPoisson:
        return rng.poisson(np.exp(score))
    return (rng.random(len(X)) < expit(score)).astype(int)


# The conjugate posterior


def test_the_posterior_is_that_of_rows_added_for_the_prior():
    rng, X = some_rows()
    y = 3 + X @ [1.0, -0.5, 0.0] + rng.normal(size=40)
    stated = [(0, 1.0, 0.5), (1, 0.0, 0.3), (2, -1.0, 2.0)]
    model = BayesRegressor(priors=stated, noise=1.5, noise_rows=4).fit(X, y)
    mean, spread = (np.array([one[k] for one in stated]) for k in (1, 2))
    centred = X - X.mean(axis=0)
    design = np.vstack([centred, np.diag(1.5 / spread)])
    target = np.concatenate([y - y.mean(), 1.5 / spread * mean])
    expected, left, *_ = np.linalg.lstsq(design, target, rcond=None)
    np.testing.assert_allclose(model.coef_, expected)
    freedom = 39 + 4
    variance = (left[0] + 4 * 1.5**2) / freedom
    np.testing.assert_allclose(model.noise_**2, variance)
    np.testing.assert_allclose(
        model.scale_matrix_[1:, 1:], variance * np.linalg.inv(design.T @ design)
    )
    assert model.freedom_ == freedom


def test_the_evidence_is_the_density_of_the_targets():
    rng, X = some_rows(n=12, p=2)
    y = 1 + X @ [0.3, 0.1] + rng.normal(size=12)
    stated = [(0, 0.2, 0.4), (1, 0.0, 1.0)]
    model = BayesRegressor(priors=stated, noise=0.8, noise_rows=3).fit(X, y)
    # a flat prior of the constant leaves the contrasts of the targets
    contrasts = np.linalg.qr(np.column_stack([np.ones(12), rng.normal(size=(12, 11))]))[0][:, 1:]
    root = contrasts.T @ X @ np.diag([0.4 / 0.8, 1.0 / 0.8])
    law = stats.multivariate_t(
        contrasts.T @ X @ [0.2, 0.0], 0.8**2 * (np.eye(11) + root @ root.T), df=3
    )
    expected = law.logpdf(contrasts.T @ y) - 0.5 * np.log(12)
    assert model.log_evidence_ == pytest.approx(expected, abs=1e-9)


def test_the_default_scale_has_the_largest_evidence_times_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X @ [1, 1, -1, 1] + rng.normal(size=40)
    chosen = BayesRegressor().fit(X, y)
    assert chosen.scale_ > 0.5 / 0.95  # the least one
    for factor in (0.95, 1.1, 2.0):
        # at the same noise, to which a conjugate prior is proportional
        other = BayesRegressor(scale=chosen.scale_ * factor).fit(X, y)
        assert other.log_evidence_ + np.log(factor) < chosen.log_evidence_


@pytest.mark.parametrize(
    ("kind", "least"), [(BayesRegressor, 0.5), (BayesClassifier, 1.0), (BayesPoisson, 1.0)]
)
def test_without_effects_the_default_scale_is_the_least(kind, least):
    """The evidence alone would choose a tenth of it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 12))
    y = {
        BayesRegressor: rng.normal(size=400),
        BayesClassifier: rng.random(400) < 0.5,
        BayesPoisson: rng.poisson(2.0, 400),
    }[kind]
    assert kind().fit(X, y).scale_ == pytest.approx(least, rel=0.03)
    assert kind().fit(X[:40], y[:40]).scale_ < least


def test_a_strong_effect_among_small_ones_is_covered():
    """A scale by the evidence alone covered it in half of such tables at 90 %."""
    effects = np.array([1.0, 0.5, -0.5, *np.zeros(12)])
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 15))
        y = rng.random(200) < expit(X @ effects)
        lines = BayesClassifier().fit(X, y).posterior_of(np.eye(16)[1:], 0.9)
        covered.append((lines.low <= effects) & (effects <= lines.high))
    strongest, *others = np.mean(covered, axis=0)
    assert strongest > 0.8
    assert np.mean(others) > 0.85


def test_a_wide_prior_gives_least_squares():
    rng, X = some_rows()
    y = targets(BayesRegressor, rng, X)
    model = BayesRegressor(scale=1e4).fit(X, y)
    expected, *_ = np.linalg.lstsq(np.column_stack([np.ones(40), X]), y, rcond=None)
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-4, atol=1e-5)


# The approximation and the chains


def grid_posterior(X, y, spread, *, logistic):
    """Mean, deviation and log integral of a posterior of two coefficients, by a fine grid."""
    centred = X[:, 0] - X[:, 0].mean()

    def log_density(level, slope):
        score = level + slope * centred[:, None, None]
        own = np.logaddexp(0, score) if logistic else np.exp(score)
        likelihood = (y[:, None, None] * score - own).sum(axis=0)
        return likelihood + stats.norm.logpdf(slope, 0, spread)

    ends = ([-4, 4, -6, 6], [-1.5, 1.5, -0.5, 1.5])[len(y) > 100]
    level, slope = np.meshgrid(
        np.linspace(*ends[:2], 120), np.linspace(*ends[2:], 121), indexing="ij"
    )
    values = log_density(level, slope)
    weight = np.exp(values - values.max())
    cell = (level[1, 0] - level[0, 0]) * (slope[0, 1] - slope[0, 0])
    total = np.log(weight.sum() * cell) + values.max()
    share = weight / weight.sum()
    means = np.array([(share * level).sum(), (share * slope).sum()])
    squares = [(share * (level - means[0]) ** 2).sum(), (share * (slope - means[1]) ** 2).sum()]
    return means, np.sqrt(squares), total


@pytest.mark.parametrize(("kind", "logistic"), [(BayesClassifier, True), (BayesPoisson, False)])
def test_draws_have_the_moments_of_the_posterior(kind, logistic):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(14, 1))  # so few rows that the posterior is skewed
    y = targets(kind, rng, X + 5)
    means, spreads, _ = grid_posterior(X, y, 1.5, logistic=logistic)
    settings = {"priors": [(0, 0.0, 1.5)], "draws": 1200, "method": "mcmc"}
    model = kind(**settings).fit(X, y)
    flat = model.draws_.reshape(-1, 2)
    np.testing.assert_allclose(flat.mean(axis=0), means, atol=0.05 * spreads.max())
    np.testing.assert_allclose(flat.std(axis=0), spreads, rtol=0.05)
    assert model.r_hat_.max() < 1.01
    again = kind(**settings).fit(X, y)
    np.testing.assert_array_equal(model.draws_, again.draws_)


@pytest.mark.parametrize(("kind", "logistic"), [(BayesClassifier, True), (BayesPoisson, False)])
def test_the_approximation_is_close_where_rows_are_many(kind, logistic):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 1))
    y = targets(kind, rng, X + 5)
    means, spreads, total = grid_posterior(X, y, 1.5, logistic=logistic)
    model = kind(priors=[(0, 0.0, 1.5)]).fit(X, y)
    np.testing.assert_allclose(model.vector_, means, atol=0.1 * spreads.min())
    np.testing.assert_allclose(np.sqrt(np.diag(model.scale_matrix_)), spreads, rtol=0.05)
    assert model.log_evidence_ == pytest.approx(total, abs=0.05)


def test_the_no_u_turn_sampler_agrees_with_our_own():
    pytest.importorskip("nutpie")
    rng, X = some_rows(n=60, p=1)
    y = targets(BayesClassifier, rng, X)
    own, library = (
        BayesClassifier(method=method, scale=1.0, draws=300).fit(X, y)
        for method in ("mcmc", "nuts")
    )
    deviation = np.sqrt(np.diag(own.scale_matrix_))
    np.testing.assert_allclose(library.vector_, own.vector_, atol=0.2 * deviation.max())
    np.testing.assert_allclose(np.sqrt(np.diag(library.scale_matrix_)), deviation, rtol=0.2)


def chains_of(kind):
    rng = np.random.default_rng(7)
    draws = rng.normal(size=(4, 300))
    if kind == "slow":
        for t in range(1, 300):
            draws[:, t] += 0.8 * draws[:, t - 1]
    if kind == "shifted":
        draws += 0.5 * np.arange(4)[:, None]
    if kind == "wider":
        draws *= np.array([1, 1, 1, 3])[:, None]
    return draws


@pytest.mark.parametrize(
    ("kind", "expected_r_hat", "expected_size"),
    [  # ArviZ 0.23.4: rhat, and the smaller of ess(method="bulk") and ess(method="tail")
        ("independent", 1.0010324638932075, 1027.3340469203472),
        ("slow", 1.033868329810082, 126.68197072288208),
        ("shifted", 1.2142804727349914, 14.067365546101096),
        ("wider", 1.1438226472851365, 33.1425693552735),
    ],
)
def test_diagnostics_are_those_of_arviz(kind, expected_r_hat, expected_size):
    draws = chains_of(kind)
    assert r_hat(draws) == pytest.approx(expected_r_hat, rel=1e-9)
    assert effective_size(draws) == pytest.approx(expected_size, rel=0.01)


def test_chains_that_stay_where_they_are_do_not_agree():
    assert r_hat(np.repeat(np.arange(4.0)[:, None], 50, axis=1)) == np.inf

    def two_hills(x):
        ends = np.array([-12.0, 12.0])
        parts = -0.5 * (x - ends) ** 2
        share = np.exp(parts - np.logaddexp.reduce(parts, axis=1, keepdims=True))
        return np.logaddexp.reduce(parts, axis=1), (share * (ends - x)).sum(axis=1, keepdims=True)

    found = hamiltonian(two_hills, np.zeros(1), np.eye(1), draws=300, chains=4, seed=1)
    assert r_hat(found.draws[:, :, 0]) > 1.5


def test_too_few_draws_are_named_with_their_column():
    rng, X = some_rows(n=80, p=2)
    frame = pd.DataFrame(X, columns=["age", "income"])
    y = targets(BayesClassifier, rng, X)
    model = cw.learner("bayes", task="binary", method="mcmc", draws=10)
    with pytest.warns(cw.ClearwoodWarning, match=r"do not agree well.*'age'.*R-hat.*draw more"):
        model.fit(frame, y)


# Intervals


@pytest.mark.parametrize("kind", [BayesRegressor, BayesPoisson])
def test_intervals_of_new_rows_cover(kind):
    hits, mean_hits, n = 0, 0, 40
    for seed in range(n):
        rng, X = some_rows(n=25, p=4, seed=seed)
        y = targets(kind, rng, X)
        _, new = some_rows(n=40, p=4, seed=1000 + seed)
        model = kind().fit(X, y)
        low, high = model.predict_interval(new, 0.8)
        own = targets(kind, rng, new)
        hits += np.mean((low <= own) & (own <= high))
        low, high = model.predict_interval(new, 0.8, of="mean")
        truth = 0.4 * (new[:, 0] - 5)
        truth = truth if kind is BayesRegressor else np.exp(truth)
        mean_hits += np.mean((low <= truth) & (truth <= high))
    # counts are whole numbers, so that their intervals cover more
    assert 0.75 < hits / n < (0.85 if kind is BayesRegressor else 0.97)
    assert 0.72 < mean_hits / n < 0.9


def test_posterior_intervals_cover_coefficients_drawn_from_the_prior():
    hits = []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 2))
        truth = rng.normal(size=2)
        y = rng.random(40) < expit(X @ truth)
        if y.all() or not y.any():
            continue
        model = BayesClassifier(priors=[(0, 0.0, 1.0), (1, 0.0, 1.0)]).fit(X, y.astype(int))
        lines = model.posterior_of(np.eye(3)[1:], 0.8)
        hits.append((lines.low < truth) & (truth < lines.high))
    assert np.mean(hits) == pytest.approx(0.8, abs=0.05)


def test_intervals_of_counts_are_quantiles_of_the_mixture():
    rng, X = some_rows(n=20, p=1)
    model = BayesPoisson(scale=1.0).fit(X, targets(BayesPoisson, rng, X))
    low, high = model.predict_interval(X[:3], 0.9, exposure=[1.0, 2.0, 0.5])
    score, deviation = model._score_spread(X[:3])
    for k, exposure in enumerate([1.0, 2.0, 0.5]):

        def below(count, k=k, exposure=exposure):
            return integrate.quad(
                lambda z: (
                    stats.norm.pdf(z)
                    * stats.poisson.cdf(count, exposure * np.exp(score[k] + z * deviation[k]))
                ),
                -8,
                8,
            )[0]

        for end, level in ((low[k] * exposure, 0.05), (high[k] * exposure, 0.95)):
            assert below(end) >= level - 1e-6
            assert end == 0 or below(end - 1) < level + 1e-6


def test_draws_give_the_intervals_of_probabilities():
    rng, X = some_rows(n=40, p=2)
    y = targets(BayesClassifier, rng, X)
    normal, drawn = (
        BayesClassifier(scale=1.0, method=method).fit(X, y) for method in ("laplace", "mcmc")
    )
    for model in (normal, drawn):
        low, high = model.predict_interval(X, 0.9)
        middle = model.predict_proba(X)[:, 1]
        assert ((low > 0) & (low < middle) & (middle < high) & (high < 1)).all()
    np.testing.assert_allclose(
        np.column_stack(normal.predict_interval(X)),
        np.column_stack(drawn.predict_interval(X)),
        atol=0.06,
    )


# Weights and exposures


@pytest.mark.parametrize("kind", ALL)
@given(seed=st.integers(0, 1000))
@settings(max_examples=8, deadline=None)
def test_whole_weights_are_repeated_rows(kind, seed):
    rng, X = some_rows(n=30, p=2, seed=seed)
    y = targets(kind, rng, X)
    y[:2] = [0, 1]
    weight = rng.integers(0, 4, 30)
    weight[:2] = 1
    weighted = kind().fit(X, y, sample_weight=weight)
    repeated = kind().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.vector_, repeated.vector_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weighted.scale_matrix_, repeated.scale_matrix_, rtol=1e-3, atol=1e-8)


def test_with_a_wide_prior_the_posterior_has_the_standard_errors_of_the_likelihood():
    policies = cw.datasets.insurance(1_500)
    exact = cw.coefficients(cw.learner("glm", alpha=0).fit(policies), policies)
    wide = cw.coefficients(cw.learner("bayes", scale=50.0).fit(policies), policies)
    assert wide.names() == exact.names()
    np.testing.assert_allclose(wide.values, exact.values, atol=1e-2)
    np.testing.assert_allclose(
        wide.standard_errors[~wide.is_base], exact.standard_errors[~exact.is_base], rtol=0.01
    )


def test_the_interval_of_a_rate_narrows_with_its_exposure():
    policies = cw.datasets.insurance(800)
    model = cw.learner("bayes").fit(policies)
    row = policies.head(1).to_frame("dict")
    exposure = policies.exposure
    wide, narrow = (
        model.predict_interval(pd.DataFrame({**row, exposure: [years]})) for years in (1.0, 500.0)
    )
    assert narrow.high[0] - narrow.low[0] < wide.high[0] - wide.low[0]
    assert narrow.predictions[0] == wide.predictions[0]


# Priors in the user's units


def a_table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.uniform(20, 70, n), "town: old": rng.choice(["a", "b", "c"], n)}
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame["income"] = 30 + 0.5 * frame["age"].fillna(45) + rng.normal(size=n)
    return cw.read(frame, target="income")


@pytest.mark.parametrize(
    "priors",
    [
        {"age": (0.2, 0.05), "town: old": 3},
        "age:0.2:0.05, town: old:3",
        ["age:0.2:0.05", "town: old:3"],
    ],
)
def test_priors_are_stated_for_one_unit_of_a_column(priors):
    data = a_table()
    model = cw.learner("bayes", priors=priors, noise=1.0).fit(data)
    table = cw.coefficients(model, data, base={"town: old": "a"}, confidence=0.9)
    z = stats.norm.ppf(0.95)
    prior = dict(zip(table.names(), np.stack([table.prior_low, table.prior_high], 1), strict=True))
    np.testing.assert_allclose(prior["age"], [0.2 - z * 0.05, 0.2 + z * 0.05])
    # a level less another has the variance of both
    np.testing.assert_allclose(prior["town: old = b"], [-z * 3 * 2**0.5, z * 3 * 2**0.5])
    assert np.isinf(prior["constant"]).all()
    assert np.isnan(prior["town: old = a"]).all()


def test_a_narrow_prior_holds_the_coefficient_where_it_says():
    data = a_table()
    model = cw.learner("bayes", priors={"age": (-1.0, 1e-4)}, noise=1.0).fit(data)
    table = cw.coefficients(model, data)
    assert table.values[table.names().index("age")] == pytest.approx(-1.0, abs=0.01)


def test_the_table_shows_the_posterior_beside_the_prior():
    data = a_table()
    table = cw.coefficients(cw.learner("bayes").fit(data), data)
    text = repr(table)
    assert "90 % posterior" in text
    assert "90 % prior" in text
    assert "flat" in text
    assert table.errors == "posterior"
    assert {"prior_low", "prior_high"} <= set(table.to_frame("dict"))
    assert table.to_json()["prior_low"][0] is None
    assert max(map(len, text.splitlines()[:8])) <= 80
    described = table.plot().to_dict()
    assert len(described["layer"]) == 4  # priors, the line at zero, intervals, values


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"agee": 1.0}, "names 'agee'.*did you mean 'age'"),
        ({"age": -1.0}, "standard deviation of 'age' must be above 0"),
        ({"age": (1.0, 2.0, 3.0)}, "a prior is a standard deviation, or a mean and"),
        ("age", "a prior is a standard deviation, or a mean and"),
        ({"age": "wide"}, "a prior is a standard deviation, or a mean and"),
        ({"town: old": (1.0, 2.0)}, "has a mean for 'town: old', which is a category"),
    ],
)
def test_bad_priors_are_refused_by_name(priors, message):
    with pytest.raises(cw.InputError, match=message):
        cw.learner("bayes", priors=priors).fit(a_table())


def test_a_prior_of_a_date_is_refused():
    frame = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=40), "y": np.arange(40.0)})
    with pytest.raises(cw.InputError, match="names 'when', which is a date"):
        cw.learner("bayes", priors={"when": 1.0}).fit(cw.read(frame, target="y"))


@pytest.mark.parametrize(
    ("task", "settings", "message"),
    [
        ("regression", {"method": "mcmc"}, "not for the task 'regression': the posterior"),
        ("regression", {"scale": 0}, "scale=0: it must be a number above 0"),
        ("regression", {"noise": -1}, "noise=-1: it must be a number above 0"),
        ("binary", {"noise": 1.0}, "not for the task 'binary'"),
        ("binary", {"method": "gibbs"}, "method='gibbs' is not a known value"),
        ("binary", {"draws": 2}, "draws=2"),
        ("count", {"chains": 1}, "chains=1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(task, settings, message):
    _, X = some_rows(n=20)
    y = np.arange(20) % 2
    with pytest.raises(cw.InputError, match=message):
        cw.learner("bayes", task=task, **settings).fit(X, y)


# Odd data


def test_a_column_that_separates_the_classes_has_a_finite_posterior():
    x = np.linspace(-1, 1, 20)
    model = BayesClassifier().fit(x[:, None], x > 0)
    lines = model.posterior_of([[0.0, 1.0]])
    assert 0 < lines.low[0] < lines.high[0] < 100
    drawn = BayesClassifier(method="mcmc").fit(x[:, None], x > 0)
    assert drawn.r_hat_.max() < 1.02


@pytest.mark.parametrize("kind", ALL)
def test_more_columns_than_rows_and_a_constant_column(kind):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(12, 30)), np.ones(12)])
    y = targets(kind, rng, X + 5)
    y[:2] = [0, 1]
    model = kind().fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    # the rows say nothing of the constant column: its posterior is its prior
    assert model.scale_matrix_[-1, -1] > 0
    assert model._coefficients[-1] == pytest.approx(0.0, abs=1e-8)


def test_a_class_of_two_rows():
    _, X = some_rows(n=30)
    y = np.zeros(30)
    y[:2] = 1
    probabilities = BayesClassifier().fit(X, y).predict_proba(X)[:, 1]
    assert probabilities.mean() == pytest.approx(2 / 30, abs=0.02)


def test_more_than_two_classes_are_refused():
    _, X = some_rows(n=30)
    with pytest.raises(cw.InputError, match="'bayes'"):
        cw.learner("bayes", task="multiclass").fit(X, np.arange(30) % 3)


def test_a_target_without_noise_is_fitted():
    _, X = some_rows()
    model = BayesRegressor().fit(X, 2 * X[:, 0])
    np.testing.assert_allclose(model.predict(X), 2 * X[:, 0], rtol=1e-3)
    constant = BayesRegressor().fit(X, np.full(40, 7.0))
    np.testing.assert_allclose(constant.predict(X), 7.0)


# Explanations and files


@pytest.mark.parametrize("task", ["regression", "binary", "count"])
def test_effects_have_posterior_bands_and_files_keep_the_intervals(task, tmp_path):
    rng, X = some_rows(n=80, p=2)
    kind = {"regression": BayesRegressor, "binary": BayesClassifier, "count": BayesPoisson}[task]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=rng.choice(["x", "y"], 80))
    frame["target"] = targets(kind, rng, X)
    data = cw.read(frame, target="target", kinds={"target": "category"} if task == "binary" else {})
    chains = {} if task == "regression" else {"method": "mcmc", "draws": 500}
    model = cw.learner("bayes", task=task, **chains).fit(data)
    margin = {} if task == "regression" else {"scale": "margin"}
    effect = cw.effect(model, data, "a", band="model", grid=[4.0, 5.0], **margin)
    assert effect.band == "posterior"
    estimator = model.estimator_
    matrix = model.encoder_.transform(data)
    matrix[:, 0] = 4.0
    line = np.concatenate([[1.0], matrix.mean(axis=0)])
    centred = line - np.concatenate([[0.0], estimator.centre_])
    reach = stats.t.ppf(0.95, estimator.freedom_) * np.sqrt(
        centred @ estimator.scale_matrix_ @ centred
    )
    np.testing.assert_allclose(float(effect.high[0] - effect.low[0]), 2 * reach, rtol=1e-6)
    cw.save(model, tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    before, after = model.predict_interval(data), loaded.predict_interval(data)
    np.testing.assert_array_equal(before.low, after.low)
    np.testing.assert_array_equal(before.high, after.high)
    assert before.to_frame("dict").keys() == {"prediction", "low", "high"}
    assert "90 % intervals" in repr(before)
    assert before.plot().to_dict()


def test_learners_without_a_posterior_have_no_intervals():
    data = cw.datasets.load("diabetes")
    assert not hasattr(cw.learner("ridge").fit(data), "predict_interval")
    with pytest.raises(cw.InputError, match="confidence"):
        cw.learner("bayes").fit(data).predict_interval(data, confidence=90)


def test_chains_draw_without_warnings_on_ordinary_data():
    policies = cw.datasets.insurance(600)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cw.learner("bayes", method="mcmc").fit(policies)
    table = cw.coefficients(model, policies)
    assert table.r_hat is not None
    assert "R-hat" in repr(table)
