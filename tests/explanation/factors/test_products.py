"""Frequency times severity as one table of factors."""

import numpy as np
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
    np.testing.assert_allclose(cw.read_factors(file).predict(rows), wanted, rtol=1e-12)
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
