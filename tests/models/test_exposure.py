"""Models of rates: fitted to the target per unit of exposure, weighted by weight times exposure."""

from functools import partial

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import catalogue

N_ROWS = 600


def read(rows, **roles):
    roles = {"ignore": ["weight", "policy"]} | roles
    return cw.read(rows, target="claims", exposure="years", task="count", **roles)


def design(rows):
    levels = [rows["region"] == level for level in ("south", "west")]
    return np.column_stack([np.ones(len(rows["age"])), rows["age"], *levels]).astype(float)


def test_a_glm_is_the_one_with_the_log_of_the_exposure_as_offset(portfolio):
    sm = pytest.importorskip("statsmodels.api")
    rows, _ = portfolio()
    offset = sm.GLM(
        rows["claims"],
        design(rows),
        family=sm.families.Poisson(),
        offset=np.log(rows["years"]),
        freq_weights=rows["weight"],
    ).fit()
    model = cw.learner("glm", alpha=0).fit(read(rows, weight="weight", ignore="policy"))
    rates = np.exp(design(rows) @ offset.params)
    np.testing.assert_allclose(model.predict(rows), rates, rtol=1e-4)


# the others estimate how far rates scatter, count rows, or draw random numbers
@pytest.mark.parametrize("learner", ["baseline", "ols", "ridge", "pcr", "glm", "kernel-ridge"])
def test_a_policy_cut_into_parts_gives_the_same_model(learner, policies):
    whole, parts = policies
    settings = {"alpha": 0.0} if learner == "glm" else {}
    one, two = (cw.learner(learner, **settings).fit(table) for table in (whole, parts))
    np.testing.assert_allclose(one.predict(whole), two.predict(whole), rtol=2e-4, atol=1e-6)


MEANS = [
    name
    for name in catalogue.names("count")
    if name
    not in ("lars", "omp", "pls", "knn", "huber", "quantile", "svr", "adaboost", "mlp", "cnn")
]


@pytest.mark.parametrize("learner", MEANS)
def test_learners_of_the_mean_predict_rates(learner, policies):
    whole, _ = policies
    if not catalogue.get(learner).available:
        pytest.skip("needs a package that is not installed")
    quick = {
        "ebm": {"max_rounds": 300, "outer_bags": 1},
        "catboost": {"iterations": 50},
        "forest": {"n_estimators": 30},
        "extra-trees": {"n_estimators": 30},
        "bagging": {"n_estimators": 30},
        "stacking": {"members": ("ridge", "glm"), "folds": 3},
        "network": {"epochs": 3},
        "transformer": {"epochs": 2, "width": 8},
    }
    model = cw.learner(learner, **quick.get(learner, {})).fit(whole)
    weights = whole.weights
    # a model of counts would be off by the mean exposure, 0.78
    assert np.average(model.predict(whole), weights=weights) == pytest.approx(
        np.average(whole.y, weights=weights), rel=0.03
    )


@pytest.mark.parametrize(("learner", "role"), [("knn", "exposure"), ("lars", "exposure")])
def test_learners_without_weights_are_refused(learner, role, policies):
    with pytest.raises(cw.InputError, match="row weights, which an exposure needs") as caught:
        cw.learner(learner).fit(policies[0])
    assert caught.value.parameter == role


def test_a_member_without_weights_is_named(policies):
    with pytest.raises(cw.InputError, match="its member 'knn' takes none"):
        cw.learner("stacking", members=("ridge", "knn")).fit(policies[0])


def test_expected_numbers_are_rates_times_exposures(policies):
    whole, _ = policies
    model = cw.learner("glm", alpha=0).fit(whole)
    np.testing.assert_array_equal(model.expected(whole), model.predict(whole) * whole.exposures)
    own = whole["weight"].values
    assert own @ model.expected(whole) == pytest.approx(own @ whole["claims"].values, rel=1e-5)


def test_frames_that_have_the_exposure_give_expected_numbers(portfolio, policies):
    rows, _ = portfolio()
    data, _ = policies
    model = cw.learner("glm").fit(data)
    np.testing.assert_array_equal(model.expected(data.to_frame("pandas")), model.expected(data))
    features = {name: rows[name] for name in ("age", "region")}
    assert len(model.predict(features)) == N_ROWS
    with pytest.raises(cw.InputError, match="lacks the exposure 'years'"):
        model.expected(features)
    with pytest.raises(cw.InputError, match="negative in 1 of 600 rows"):
        model.expected({**rows, "years": np.append(-1, rows["years"][1:])})


def test_a_model_without_exposure_has_no_expected_numbers(portfolio):
    rows, _ = portfolio(n_rows=50)
    model = cw.learner("glm").fit(cw.read(rows, target="claims", task="count", ignore="policy"))
    with pytest.raises(cw.InputError, match="fitted without an exposure"):
        model.expected(rows)


def test_the_rate_comes_closer_to_the_truth_than_exposure_as_a_feature(portfolio):
    gains = []
    for seed in range(5):
        rows, rate = portfolio(seed, 2_000)
        as_role = cw.learner("glm").fit(read(rows))
        feature = cw.read(rows, target="claims", task="count", ignore=["weight", "policy"])
        as_feature = cw.learner("glm").fit(feature)
        truth = rate * rows["years"]
        errors = [
            np.mean((predicted - truth) ** 2)
            for predicted in (as_role.expected(rows), as_feature.predict(rows))
        ]
        gains.append(errors[1] / errors[0])
    assert min(gains) > 2


def test_a_saved_model_keeps_its_exposure(policies, tmp_path):
    data, _ = policies
    model = cw.learner("glm").fit(data)
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert again.schema_.outcome == "claims per year"
    np.testing.assert_array_equal(again.expected(data), model.expected(data))


def test_totals_are_not_compared_with_rates(portfolio, policies):
    rows, _ = portfolio()
    whole, _ = policies
    model = cw.learner("tree", max_depth=2).fit(whole)
    totals = cw.read(rows, target="claims", ignore=["policy", "weight"], task="count")
    for compare in (model.score, partial(cw.explain, model), partial(cw.report, model)):
        with pytest.raises(cw.InputError, match=r"predicts claims per year.*exposure='years'"):
            compare(totals)
