"""Task amount: numbers of zero or more, with a log link and gamma or Tweedie losses."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import catalogue

N_ROWS = 1_500


def portfolio(seed=0):
    """Simulate policies with known rates of claims and known mean amounts."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, N_ROWS).astype(float)
    region = rng.choice(["north", "south"], N_ROWS)
    years = rng.uniform(0.2, 1.5, N_ROWS)
    rate = np.exp(0.3 - 0.04 * (age - 45))
    severity = np.exp(7 + 0.01 * (age - 45) - 1.0 * (region == "south"))
    claims = rng.poisson(rate * years)
    paid = [rng.gamma(2.0, mean / 2, n).sum() for mean, n in zip(severity, claims, strict=True)]
    rows = {"age": age, "region": region, "years": years, "claims": claims, "paid": np.array(paid)}
    return rows, rate, severity


def totals():
    rows, _, _ = portfolio()
    return cw.read(rows, target="paid", exposure="years", task="amount", ignore="claims")


def per_claim():
    rows, _, _ = portfolio()
    some = {name: values[rows["claims"] > 0] for name, values in rows.items()}
    return cw.read(some, target="paid", exposure="claims", task="amount", ignore="years")


def design(rows):
    south = rows["region"] == "south"
    return np.column_stack([np.ones(len(south)), rows["age"], south]).astype(float)


def test_totals_with_zeros_are_fitted_as_statsmodels_does_with_variance_weights():
    sm = pytest.importorskip("statsmodels.api")
    rows, _, _ = portfolio()
    family = sm.families.Tweedie(var_power=1.5, link=sm.families.links.Log())
    other = sm.GLM(
        rows["paid"] / rows["years"], design(rows), family=family, var_weights=rows["years"]
    ).fit()
    model = cw.learner("glm", alpha=0).fit(totals())
    assert model.estimator_.distribution_ == "tweedie"
    np.testing.assert_allclose(model.predict(rows), other.predict(design(rows)), rtol=1e-3)


def test_amounts_per_claim_are_fitted_as_statsmodels_does():
    sm = pytest.importorskip("statsmodels.api")
    data = per_claim()
    rows = {name: np.array(values) for name, values in data.to_dict().items()}
    other = sm.GLM(
        rows["paid"] / rows["claims"],
        design(rows),
        family=sm.families.Gamma(link=sm.families.links.Log()),
        var_weights=rows["claims"],
    ).fit()
    model = cw.learner("glm", alpha=0).fit(data)
    assert model.estimator_.distribution_ == "gamma"
    np.testing.assert_allclose(model.predict(data), other.predict(design(rows)), rtol=1e-3)


def skewed(seed, *, zeros):
    """Return amounts with a true mean, and a second draw of the rows with theirs."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (8_000, 4)).round(2)
    mean = 1_000 * np.exp(1.2 * (x[:, 0] > 0.5) + 0.8 * x[:, 1])
    events = rng.poisson(0.4, len(x)) if zeros else np.ones(len(x))
    y = np.where(events > 0, rng.gamma(0.6 * np.maximum(events, 1), mean / 0.6), 0.0)
    rows = {f"x{k}": x[:, k] for k in range(4)} | {"y": y}
    whole = {name: values[:2_000] for name, values in rows.items()}
    truth = mean * (0.4 if zeros else 1.0)
    return cw.read(whole, target="y", task="amount"), x[2_000:], truth[2_000:]


@pytest.mark.parametrize(("zeros", "criterion"), [(False, "gamma"), (True, "tweedie")])
def test_trees_of_skewed_amounts_come_nearer_to_the_mean_by_their_deviance(zeros, criterion):
    explained = {}
    for seed in range(4):
        data, rows, truth = skewed(seed, zeros=zeros)
        for name in ("squared_error", None):
            model = cw.learner("tree", criterion=name).fit(data)
            error = np.mean(np.log(np.maximum(model.predict(rows), 1.0) / truth) ** 2)
            explained.setdefault(name, []).append(1 - error / np.var(np.log(truth)))
    assert model.estimator_.criterion_ == criterion
    assert np.mean(explained[None]) > 0.75
    assert np.mean(explained[None]) > np.mean(explained["squared_error"]) + 0.05


LOG_LINKED = ["glm", "gbm", "lightgbm", "xgboost", "catboost", "ebm", "network"]
QUICK = {
    "lightgbm": {"n_estimators": 60, "num_leaves": 4},
    "gbm": {"max_iter": 40, "max_leaf_nodes": 4},
    "xgboost": {"n_estimators": 40, "max_depth": 2},
    "catboost": {"iterations": 100, "depth": 2},
    "ebm": {"max_rounds": 500, "outer_bags": 1},
    "network": {"epochs": 15, "units": 16},
}


@pytest.mark.parametrize("learner", LOG_LINKED)
@pytest.mark.parametrize("table", [totals, per_claim])
def test_learners_with_a_log_link_come_near_the_true_mean(learner, table):
    if not catalogue.get(learner).available:
        pytest.skip("needs a package that is not installed")
    data = table()
    _, rate, severity = portfolio()
    truth = rate * severity if table is totals else severity[portfolio()[0]["claims"] > 0]
    predicted = cw.learner(learner, **QUICK.get(learner, {})).fit(data).predict(data)
    assert predicted.min() > 0
    error, spread = (
        np.average(np.log(mean / truth) ** 2, weights=data.exposures)
        for mean in (predicted, np.full(len(truth), np.average(data.y, weights=data.exposures)))
    )
    assert error < 0.3 * spread


@pytest.mark.parametrize(("table", "loss"), [(totals, "tweedie"), (per_claim, "gamma")])
def test_the_loss_of_a_benchmark_suits_the_amounts(table, loss):
    bench = cw.benchmark(table(), ["glm", "tree", "forest"], tune=0, repeats=1, outer=3)
    assert bench.loss == loss
    assert bench.standings[0].learner == "glm"
    assert all(np.isfinite(one.risk) for one in bench.standings)
    assert repr(bench).startswith("Benchmark: amount of 'paid per ")


def test_tuning_by_the_tweedie_deviance_runs():
    bench = cw.benchmark(totals(), ["glm"], tune=3, repeats=1, outer=3, inner=2, loss="tweedie:1.7")
    assert bench["glm"].risk < bench.reference.risk


def test_negative_amounts_are_refused_with_their_rows():
    rows, _, _ = portfolio()
    rows["paid"][:3] = -5.0
    with pytest.raises(cw.InputError, match="'paid' cannot be an amount: it is negative in 3 of"):
        cw.read(rows, target="paid", task="amount")


def test_zeros_under_a_gamma_loss_are_refused_with_the_hint_to_use_tweedie():
    with pytest.raises(cw.InputError, match=r"column 'paid': the gamma loss.*loss='tweedie'"):
        cw.benchmark(totals(), ["glm"], loss="gamma")
    with pytest.raises(cw.InputError, match=r"gamma distribution needs positive.*tweedie"):
        cw.learner("glm", distribution="gamma").fit(totals())


def test_a_forest_of_rare_events_predicts_positive_means():
    rng = np.random.default_rng(0)
    rows = {"x": rng.random(500), "z": rng.random(500), "y": rng.poisson(0.1, 500)}
    data = cw.read(rows, target="y", task="count")
    predicted = cw.learner("forest", n_estimators=50).fit(data).predict(data)
    assert predicted.min() > 0


def test_stacking_of_amounts_predicts_positive_means():
    data = per_claim()
    model = cw.learner("stacking", folds=3).fit(data)
    assert model.predict(data).min() > 0
    assert [name for name, _ in model.estimator_.estimators] == ["glm", "forest", "gbm"]
