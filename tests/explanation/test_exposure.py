"""Explanations of rates: a policy cut into parts changes nothing, and the rate is named."""

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture(scope="module", params=["glm", "gbm", "kernel-ridge"])
def explanations(request, policies):
    whole, parts = policies
    settings = {"max_iter": 20} if request.param == "gbm" else {}
    model = cw.learner(request.param, **settings).fit(whole)
    return tuple(cw.explain(model, table) for table in (whole, parts))


@pytest.mark.parametrize("kind", ["pdp", "marginal", "ale"])
@pytest.mark.parametrize("column", ["age", "region"])
def test_effects_of_parts_are_those_of_the_whole(explanations, kind, column):
    one, two = (
        why.effect(column, kind=kind, points=12, n_bootstrap=0, sample=None) for why in explanations
    )
    np.testing.assert_array_equal(one.grid[0], two.grid[0])
    np.testing.assert_allclose(one.values, two.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.shares, two.shares)
    assert one.baseline == pytest.approx(two.baseline)


def test_components_and_their_importance_are_those_of_the_whole(explanations):
    if explanations[0].about.is_sampled:
        pytest.skip("draws rows")
    one, two = (why.importance() for why in explanations)
    assert one.columns == two.columns
    np.testing.assert_allclose(one.values, two.values, rtol=1e-9)
    assert explanations[0].baseline == pytest.approx(explanations[1].baseline)


def test_shapley_values_are_those_of_the_whole(explanations, policies):
    if explanations[0].about.is_sampled:
        pytest.skip("draws rows")
    rows = policies[0].head(5)
    one, two = (why.shapley(rows) for why in explanations)
    np.testing.assert_allclose(one.values, two.values, rtol=1e-9, atol=1e-12)


def test_results_name_the_rate(explanations):
    why, _ = explanations
    assert why.about.rate == "claims per year"
    effect = why.effect("age", sample=50)
    assert "prediction, claims per year" in repr(effect)
    assert effect.to_json()["about"]["rate"] == "claims per year"
    assert "claims per year" in str(effect.plot().to_dict())


def test_results_without_an_exposure_name_none(policies):
    whole, _ = policies
    data = cw.read(whole, target="claims", task="count", ignore=["years", "weight", "policy"])
    about = cw.explain(cw.learner("glm").fit(data), data).about
    assert about.rate == ""
    assert "rate" not in about.to_json()
