"""Alternatives and proxies: known answers in simulated tables, and a word for each verdict."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.fairness import alternatives, proxies
from clearwood.table import Table


@pytest.fixture(scope="module")
def policies() -> Table:
    return cw.datasets.insurance(3000, seed=1)


@pytest.fixture(scope="module")
def compared(policies):
    return alternatives(cw.learner("glm", alpha=0), policies, reference="female")


def test_the_fair_price_has_no_proxy_discrimination_and_balances(compared):
    assert compared["free"].proxy_discrimination == pytest.approx(0, abs=1e-9)
    assert compared["unaware"].proxy_discrimination > 0.01
    assert compared["free balanced"].balance == pytest.approx(1, rel=1e-9)
    assert compared["parity"].unfairness < 0.01
    assert compared["parity"].ratio == pytest.approx(1, abs=0.02)
    assert compared["aware"].moved == 0
    assert compared["aware"].ratio > compared["unaware"].ratio > compared["free"].ratio > 1


def test_women_pay_more_without_gender(compared):
    assert compared.pays_more("free") == "female"
    assert compared["free"].moved > 0.5
    assert compared["free"].more < compared["free"].moved


def test_risks_are_paired_with_that_of_the_aware_model(compared, policies):
    bench = cw.benchmark(
        policies,
        {
            "aware": cw.learner("glm", alpha=0),
            "free balanced": cw.fairness.FairModel(
                cw.learner("glm", alpha=0), protected=["gender"]
            ),
        },
        tune=0,
        repeats=1,
    )
    paired = bench.compare("free balanced", "aware")
    price = compared.price
    assert (price.difference, price.low, price.high) == pytest.approx(
        (paired.difference, paired.low, paired.high)
    )
    assert compared["aware"].difference == 0
    assert price.loss == bench.loss


def test_alternatives_are_shown_as_text_and_table(compared):
    assert "free balanced" in repr(compared)
    assert compared.to_frame("dict")["name"][0] == "aware"
    assert compared.to_json()["price"]["moved"] == compared["free balanced"].moved
    assert "<table" in compared._repr_html_()
    with pytest.raises(KeyError):
        _ = compared["nothing"]


def test_alternatives_of_classes_compare_one_probability():
    rng = np.random.default_rng(1)
    n = 600
    group, x = rng.integers(0, 3, n), rng.normal(size=n)
    label = np.where(x + 0.8 * group + rng.logistic(size=n) > 1, "yes", "no")
    rows = {"group": np.array(["a", "b", "c"])[group], "x": x + group, "label": label}
    data = cw.read(rows, target="label", protected="group")
    table = alternatives(cw.learner("logistic"), data, risks=False)
    assert table.output == "yes"
    assert table["free balanced"].balance == pytest.approx(1, rel=1e-8)
    assert table["aware"].risk is None
    assert len(table["free"].means) == 3


def test_a_model_without_the_protected_column_has_no_alternatives(policies):
    blind = cw.fair(cw.learner("glm"), policies, kind="unaware").models_[0]
    with pytest.raises(cw.InputError, match="the model was fitted without 'gender'"):
        alternatives(blind, policies)


# Proxies


@pytest.fixture(scope="module")
def shifted() -> Table:
    """Return rows in which height only reveals gender, and income acts on the target."""
    rng = np.random.default_rng(3)
    n = 3000
    gender = rng.integers(0, 2, n)
    rows = {
        "gender": np.where(gender, "m", "f"),
        "height": 160 + 20 * gender + rng.normal(0, 10, n),
        "income": gender + rng.normal(0, 1, n),
        "noise": rng.normal(0, 1, n),
    }
    rows["y"] = 2.0 * gender + 3 * rows["income"] + rng.normal(0, 1, n)
    return cw.read(rows, target="y", protected="gender")


def test_columns_are_told_apart_by_what_they_reveal_carry_and_add(shifted):
    # shrinkage gives height a part of the effect of gender
    result = proxies(cw.learner("ridge", alpha=300.0), shifted, n_refits=8)
    assert [row.column for row in result.rows] == ["height", "income", "noise"]
    assert result["height"].auc == pytest.approx(0.92, abs=0.02)
    assert result["height"].carries
    assert result["income"].verdict == "needed"
    assert result["income"].rise_low > result["income"].margin > 0
    assert result["noise"].verdict == "no proxy"
    assert not result["noise"].reveals
    assert result["height"].verdict in ("unneeded proxy", "not shown to be needed")
    assert "1 % of the gain over the baseline" in repr(result)


def test_a_column_that_adds_nothing_is_an_unneeded_proxy(shifted):
    result = proxies(cw.learner("ridge", alpha=300.0), shifted, n_refits=8, margin=0.5)
    assert result["height"].verdict == "unneeded proxy"
    assert result["height"].rise_high < result["height"].margin


def test_without_refits_no_proxy_is_judged(shifted):
    result = proxies(cw.learner("ridge"), shifted, n_refits=0)
    assert result["height"].verdict == "not judged"
    assert result["height"].carries is None
    assert result["noise"].verdict == "no proxy"
    assert result.to_json()["rows"][0]["meaning"].startswith("whether it carries")
    assert "<table" in result._repr_html_()
    assert result.to_frame("dict")["column"][0] == "height"


@pytest.mark.parametrize("margin", [-0.1, 1.0])
def test_a_margin_that_is_no_share_is_refused(shifted, margin):
    with pytest.raises(cw.InputError, match="it must be a share"):
        proxies(cw.learner("ridge"), shifted, margin=margin)
