"""Frequency times severity as one table of factors."""

import re

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood import InputError


@pytest.fixture(scope="module")
def models():
    """Models of the number of claims and of their amount, with other columns and levels."""
    rng = np.random.default_rng(0)
    n = 1_500
    rows = {
        "age": rng.uniform(18, 80, n).round(1),
        "power": rng.uniform(30, 200, n).round(),
        "region": rng.choice(["city", "town", "village"], n),
        "fuel": rng.choice(["gas", "oil"], n),
        "years": rng.uniform(0.2, 1, n),
    }
    score = 0.5 * (rows["region"] == "city") - 0.01 * rows["age"]
    rows["claims"] = rng.poisson(rows["years"] * np.exp(score))
    counts = cw.read({k: rows[k] for k in rows if k != "fuel"}, target="claims", exposure="years")
    had = (rows["claims"] > 0) & (rows["region"] != "village")
    amounts = {k: rows[k][had] for k in ("region", "power", "age", "fuel")}
    amounts["paid"] = rng.gamma(2, np.exp(6 + 0.004 * amounts["power"]) / 2)
    paid = cw.read(amounts, target="paid", task="amount")
    return rows, counts, paid


PAIRS = [
    (("glm", {"alpha": 0}), ("glm", {"alpha": 0, "family": "gamma"})),
    (("gbm", {"max_depth": 2, "max_iter": 15}), ("gbm", {"max_depth": 2, "max_iter": 15})),
    (("gam", {}), ("glm", {"alpha": 0})),
    (("gam", {}), ("gam", {})),
    (("gbm", {"max_depth": 2, "max_iter": 15}), ("gam", {})),
]


@pytest.mark.parametrize(("frequency", "severity"), PAIRS)
@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_product_of_models_is_the_product_of_their_predictions(
    models, tmp_path, frequency, severity
):
    """Also in villages, which the second model has not seen."""
    rows, counts, paid = models
    settings = {k: v for k, v in severity[1].items() if k != "family"}
    one = cw.learner(frequency[0], **frequency[1]).fit(counts)
    two = cw.learner(severity[0], **settings).fit(paid)
    table = cw.factors([one, two], rows, {"region": "town"})
    assert table.is_exact
    assert table.base["region"] == "town"
    assert table.outcome == "claims per year × paid"
    wanted = one.predict(rows) * two.predict(rows)
    np.testing.assert_allclose(table.predict(rows), wanted, rtol=1e-12)
    file = tmp_path / "premium.csv"
    file.write_text(table.to_csv(), "utf-8")
    np.testing.assert_allclose(cw.explanation.read_factors(file).predict(rows), wanted, rtol=1e-12)
    assert len(table.sha256.split()) == 2
    for term in table.terms:
        assert term.shares.sum() == pytest.approx(1)


def test_models_without_a_log_link_are_not_multiplied(models):
    rows, counts, paid = models
    one = cw.learner("glm", alpha=0).fit(counts)
    two = cw.learner("ols").fit(paid)
    with pytest.raises(InputError, match="'ols' has no log link"):
        cw.factors([one, two], rows)


def test_a_base_of_no_model_is_refused(models):
    rows, counts, _ = models
    one = cw.learner("glm", alpha=0).fit(counts)
    with pytest.raises(InputError, match="colour"):
        cw.factors([one, one], rows, {"colour": "red"})
    with pytest.raises(InputError, match="no model"):
        cw.factors([], rows)


def claims_and_amounts(n=2_000, seed=0, link=0.0):
    """Policies, and models of claims per year and of the amount per claim.

    With a link, who has many claims has large ones, beyond what the columns tell.
    """
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    rows = pd.DataFrame({"age": rng.uniform(18, 80, n).round(1), "years": rng.uniform(0.2, 1, n)})
    rows["claims"] = rng.poisson(rows["years"] * np.exp(0.5 - 0.01 * rows["age"] + link * hidden))
    amount = rng.gamma(2 * np.maximum(rows["claims"], 1), np.exp(5 + link * hidden))
    rows["paid"] = np.where(rows["claims"] > 0, amount, 0.0)
    one = cw.learner("glm", alpha=0).fit(cw.read(rows, ignore="paid", **FREQUENCY))
    some = rows[rows["claims"] > 0]
    two = cw.learner("glm", alpha=0).fit(
        cw.read(some, target="paid", exposure="claims", ignore="years", task="amount")
    )
    return rows, [one, two]


FREQUENCY = {"target": "claims", "exposure": "years"}


def level_of(table):
    """Return observed / expected of a product and its interval, as the note has them."""
    (note,) = (note for note in table.notes if "observed / expected" in note)
    found = re.search(r"expected ([\d.]+) \(90 % interval ([\d.]+) to ([\d.]+)\)", note)
    return [float(value) for value in found.groups()], note


def test_the_level_of_a_product_is_that_of_its_totals():
    rows, models = claims_and_amounts()
    expected = (rows["years"] * models[0].predict(rows) * models[1].predict(rows)).to_numpy()
    paid = rows["paid"].to_numpy()
    (ratio, low, high), note = level_of(cw.factors(models, rows))
    assert ratio == pytest.approx(paid.sum() / expected.sum(), rel=0.006)
    assert low < 1 < high
    assert "agree in level" in note
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, len(rows), (2_000, len(rows)))
    ratios = paid[drawn].sum(axis=1) / expected[drawn].sum(axis=1)
    known = np.quantile(ratios, [0.05, 0.95])
    assert high - low == pytest.approx(known[1] - known[0], rel=0.1)
    # amounts that are not written down where there was no claim are zero
    gaps = rows.assign(paid=rows["paid"].where(rows["claims"] > 0))
    assert level_of(cw.factors(models, gaps))[0] == [ratio, low, high]


def test_a_product_that_is_off_says_by_how_much():
    rows, models = claims_and_amounts(link=0.6)
    moved = cw.factors(models, rows.assign(paid=2 * rows["paid"]))
    (ratio, low, _), note = level_of(moved)
    before = level_of(cw.factors(models, rows))[0][0]
    assert ratio == pytest.approx(2 * before, rel=0.01)
    assert low > 1
    assert "over these rows the predictions are too low" in note
    assert "rebalance=True" in note
    (ratio, _, high), note = level_of(cw.factors(models, rows.assign(paid=0.5 * rows["paid"])))
    assert high < 1
    assert "the predictions are too high" in note


def test_a_rebalanced_product_adds_up_to_the_total(tmp_path):
    rows, models = claims_and_amounts(link=0.6)
    plain, table = (cw.factors(models, rows, rebalance=one) for one in (False, True))
    ages = rows[["age"]]
    total = float(rows["years"] @ table.predict(ages))
    assert total == pytest.approx(rows["paid"].sum(), rel=1e-9)
    ratio = table.predict(ages) / plain.predict(ages)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
    assert any("the base value is multiplied by" in note for note in table.notes)
    # it is written so
    (tmp_path / "factors.csv").write_text(table.to_csv(), encoding="utf-8")
    read = cw.explanation.read_factors(tmp_path / "factors.csv")
    np.testing.assert_allclose(read.predict(ages), table.predict(ages), rtol=1e-12)
    with pytest.raises(InputError, match="the observed total is not known"):
        cw.factors(models, rows.drop(columns="paid"), rebalance=True)
    with pytest.raises(InputError, match="rebalance") as error:
        cw.factors(models[0], rows, rebalance=True)
    assert "fit the model with rebalance=True" in str(error.value)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_the_level_counts_weights_and_groups():
    rows, models = claims_and_amounts()
    rows["times"] = 1 + np.arange(len(rows)) % 3
    weighted = cw.read(rows, weight="times", ignore="paid", **FREQUENCY)
    copied = rows.loc[rows.index.repeat(rows["times"])]
    grouped = cw.read(
        copied.assign(policy=copied.index), group="policy", ignore="paid", **FREQUENCY
    )
    one, two = (level_of(cw.factors(models, data))[0] for data in (weighted, grouped))
    assert one == two
    # copies of a row are no new evidence
    plain = level_of(cw.factors(models, cw.read(copied, ignore=["paid", "times"], **FREQUENCY)))[0]
    assert plain[2] - plain[1] < 0.8 * (two[2] - two[1])


def test_without_the_amounts_there_is_no_level(models):
    rows, chained = claims_and_amounts(500)
    notes = cw.factors(chained, rows.drop(columns="paid")).notes
    assert not any("observed" in note for note in notes)
    # amounts that are not per claim of the first model are not its product's
    rows, counts, paid = models
    pair = [cw.learner("glm").fit(counts), cw.learner("glm").fit(paid)]
    rows = {**rows, "paid": np.ones(len(rows["age"])), "region": ["city"] * len(rows["age"])}
    assert not any("observed" in note for note in cw.factors(pair, rows).notes)
