"""Tables of factors of fair models: the same predictions, without the protected columns."""

import pytest
from numpy.testing import assert_allclose

import clearwood as cw


@pytest.fixture(scope="module")
def policies():
    return cw.datasets.insurance(1_500, seed=1)


@pytest.fixture(scope="module")
def tariff(policies):
    return cw.learner("glm", alpha=0).fit(policies)


def without(table, name):
    return table.select([one for one in table.names if one != name])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"calibrate": None},
        {"distribution": {"female": 0.7, "male": 0.3}},
        {"kind": "unaware"},
        {"protected": ["gender", "region"]},
        {"protected": ["gender", "age"]},
    ],
    ids=str,
)
def test_the_table_predicts_what_the_fair_model_does(policies, tariff, options):
    fair = cw.fair(tariff, policies, **options)
    table = cw.factors(fair, policies)
    assert table.is_exact
    assert not set(table.base) & set(fair.protected_)
    assert all(not set(term.columns) & set(fair.protected_) for term in table.terms)
    assert_allclose(table.predict(policies), fair.predict(policies), rtol=1e-12)
    assert table.largest_difference < 1e-12
    assert table.errors == "model"


def test_factors_of_the_other_columns_are_those_of_the_model(policies, tariff):
    own, fair = (cw.factors(one, policies) for one in (tariff, cw.fair(tariff, policies)))
    named = {term.columns: term for term in own.terms}
    for term in fair.terms:
        assert_allclose(term.effects, named[term.columns].effects)
        assert_allclose(term.errors, named[term.columns].errors)
    assert fair.base_value == pytest.approx(
        cw.fair(tariff, policies).predict({k: [v] for k, v in fair.base.items()})[0]
    )
    assert any("gender averaged out: female" in note for note in fair.notes)


def test_rows_without_the_protected_column_give_the_same_table_without_errors(policies, tariff):
    fair = cw.fair(tariff, policies)
    blind = without(policies, "gender")
    for data in (blind, blind.to_frame()):
        table = cw.factors(fair, data)
        assert table.errors is None
        assert table.is_exact
        assert_allclose(table.predict(blind), fair.predict(blind), rtol=1e-12)
    with pytest.raises(cw.InputError, match=r"errors='model'.*lacks protected columns"):
        cw.factors(fair, blind, errors="model")


@pytest.mark.parametrize("calibrate", ["scale", "level", "linear"])
def test_differences_are_moved_and_stretched_with_the_calibration(calibrate):
    rows = cw.datasets.load("diabetes").to_frame()
    data = cw.read(rows, target="target", protected=["sex"])
    fair = cw.fair(cw.learner("ols").fit(data), data, calibrate=calibrate)
    table = cw.factors(fair, data)
    assert table.ratio_name is None
    assert table.is_exact
    assert_allclose(table.predict(data), fair.predict(data), rtol=1e-10)


def test_bands_keep_the_total(policies):
    fair = cw.fair(cw.learner("gam").fit(policies), policies)
    few = cw.factors(fair, policies, max_cells=5)
    assert not few.is_exact
    assert "gender" not in few.banded
    weights = policies.weights
    totals = [weights @ one for one in (fair.predict(policies), few.predict(policies))]
    assert few.rebalancing == pytest.approx(totals[0] / totals[1])


def test_odds_of_a_model_without_the_column(policies):
    loans = cw.datasets.credit(800, seed=1)
    model = cw.learner("logistic").fit(loans)
    unaware = cw.fair(model, loans, kind="unaware")
    table = cw.factors(unaware, loans)
    assert_allclose(table.predict(loans), unaware.predict_proba(loans)[:, 1], rtol=1e-10)
    with pytest.raises(cw.InputError, match="not a product of odds ratios"):
        cw.factors(cw.fair(model, loans), loans)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "parity"}, "kind='parity' is not one learner"),
        ({"by_group": True}, "by_group=True is not one learner"),
        ({"calibrate": "level"}, "a constant is added"),
    ],
    ids=str,
)
def test_what_is_no_table_of_factors_is_refused(policies, tariff, options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.factors(cw.fair(tariff, policies, **options), policies)


def test_pairs_with_a_protected_column_and_points_are_refused(policies, tariff):
    trees = cw.learner("gbm", max_depth=2, max_iter=30).fit(policies)
    with pytest.raises(cw.InputError, match=r"pair of 'gender' and '\w+'"):
        cw.factors(cw.fair(trees, policies), policies)
    with pytest.raises(cw.InputError, match="points are of a learner"):
        cw.factors(cw.fair(tariff, policies), policies, points=(600, 50, 20))
