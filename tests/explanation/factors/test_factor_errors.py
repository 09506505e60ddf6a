"""Standard errors of factors: those of statsmodels, of theory, and of many samples."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm

import clearwood as cw
from clearwood import InputError

REGIONS = ("city", "town", "village")


def rows_of(n=600, seed=0):
    """Claims by region and age, with exposure and groups."""
    rng = np.random.default_rng(seed)
    region = rng.choice(REGIONS, n, p=[0.5, 0.3, 0.2])
    age = rng.uniform(18, 80, n)
    years = rng.uniform(0.2, 1.5, n)
    score = 0.02 * (age - 50) + 0.5 * (region == "city") - 0.5
    return {
        "age": age,
        "region": region,
        "years": years,
        "firm": rng.integers(0, 40, n),
        "claims": rng.poisson(years * np.exp(score)),
    }


ROWS = rows_of()


def read(**roles):
    ignore = [] if "group" in roles else ["firm"]
    return cw.read(ROWS, target="claims", exposure="years", ignore=ignore, **roles)


def design(base):
    dummies = [ROWS["region"] == one for one in REGIONS if one != base]
    return np.column_stack([np.ones(len(ROWS["age"])), ROWS["age"], *dummies]).astype(float)


def lines_of(table, column):
    return [line for line in table.lines() if line["column"] == column and not line["column_2"]]


@pytest.mark.parametrize(
    ("errors", "wanted"),
    [
        ("model", {}),
        ("robust", {"cov_type": "HC1"}),
        ("cluster", {"cov_type": "cluster", "cov_kwds": {"groups": ROWS["firm"]}}),
    ],
)
def test_errors_of_contrasts_with_the_base_are_those_of_an_offset_glm(errors, wanted):
    data = read(**({"group": "firm"} if errors == "cluster" else {}))
    model = cw.learner("glm", alpha=0).fit(data)
    table = cw.factors(model, data, {"region": "town"}, errors=errors)
    fit = sm.GLM(
        ROWS["claims"],
        design("town"),
        sm.families.Poisson(),
        offset=np.log(ROWS["years"]),
    ).fit(**wanted, tol=1e-12)
    # statsmodels leaves out the factor n / (n - p) of HC1 for generalised linear models
    scale = np.sqrt(600 / 596) if errors == "robust" else 1.0
    assert table.errors == errors
    regions = {line["level"]: line for line in lines_of(table, "region")}
    for k, name in enumerate(["city", "village"]):
        line = regions[name]
        assert line["effect"] == pytest.approx(fit.params[2 + k], abs=1e-4)
        assert line["standard_error"] == pytest.approx(scale * fit.bse[2 + k], rel=2e-4)
        z = fit.params[2 + k] / (scale * fit.bse[2 + k])
        assert line["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=2e-2)
        reach = norm.ppf(0.95) * scale * fit.bse[2 + k]
        low, high = fit.params[2 + k] - reach, fit.params[2 + k] + reach
        assert (line["effect_low"], line["effect_high"]) == pytest.approx((low, high), abs=1e-3)
    assert regions["town"]["standard_error"] == 0
    assert regions["town"]["p_value"] is None
    age = lines_of(table, "age")[0]
    assert age["per_unit"] == pytest.approx(fit.params[1], abs=1e-5)
    assert age["standard_error"] == pytest.approx(scale * fit.bse[1], rel=2e-4)


def test_one_poisson_factor_has_the_variance_of_its_claims():
    """The variance of a log relativity is 1 / claims + 1 / claims of the base."""
    data = cw.read(
        {k: ROWS[k] for k in ("region", "years", "claims")}, target="claims", exposure="years"
    )
    model = cw.learner("glm", alpha=0).fit(data)
    table = cw.factors(model, data, {"region": "village"}, errors="model")
    claims = {one: ROWS["claims"][ROWS["region"] == one].sum() for one in REGIONS}
    for line in lines_of(table, "region"):
        if line["level"] in ("city", "town"):
            wanted = 1 / claims[line["level"]] + 1 / claims["village"]
            assert line["standard_error"] ** 2 == pytest.approx(wanted, rel=1e-4)


def test_the_likelihood_ratio_is_that_of_a_fit_without_the_column():
    data = read()
    model = cw.learner("glm", alpha=0).fit(data)
    tests = {test.column: test for test in cw.factors(model, data).tests}
    both = design("city")

    def likelihood(matrix):
        offset = np.log(ROWS["years"])
        return (
            sm.GLM(ROWS["claims"], matrix, sm.families.Poisson(), offset=offset).fit(tol=1e-12).llf
        )

    for name, kept in (("age", [0, 2, 3]), ("region", [0, 1])):
        wanted = 2 * (likelihood(both) - likelihood(both[:, kept]))
        assert tests[name].likelihood_ratio == pytest.approx(wanted, abs=1e-3)
        assert tests[name].freedom == 4 - len(kept)


def test_errors_of_curves_are_those_of_the_decomposition():
    """A difference of scores with the base, from the model's own covariance."""
    data = read()
    model = cw.learner("gam").fit(data)
    table = cw.factors(model, data, {"age": 30})
    assert table.errors == "curves"
    assert {test.column for test in table.tests} <= {"age", "region"}
    lines = [line for line in lines_of(table, "age") if line["origin"] is not None]
    at_base = next(line for line in lines if line["origin"] == 30)
    assert at_base["standard_error"] == pytest.approx(0, abs=1e-12)
    assert max(line["standard_error"] for line in lines) > 0.05


def test_refits_of_a_glm_agree_with_its_likelihood():
    """Within what 60 refits and 600 rows can show."""
    data = read()
    model = cw.learner("glm", alpha=0).fit(data)
    own, again = (cw.factors(model, data, errors=errors) for errors in ("robust", 60))
    assert again.errors == "refits"
    assert "60 fits" in again.notes[0]
    for column in ("age", "region"):
        for one, two in zip(lines_of(own, column), lines_of(again, column), strict=True):
            if one["level"] or one["per_unit"]:
                assert two["standard_error"] == pytest.approx(one["standard_error"], rel=0.35)


def test_boosted_trees_have_errors_by_refits_only():
    data = read()
    model = cw.learner("gbm", max_depth=2, max_iter=10).fit(data)
    table = cw.factors(model, data)
    assert table.errors is None
    assert "standard_error" not in table.lines()[0]
    assert "200 refits" in " ".join(table.notes)
    refits = cw.factors(model, data, errors=20)
    assert all(np.isfinite(term.errors).any() for term in refits.terms)
    with pytest.raises(InputError, match="no standard errors of the kind 'robust'"):
        cw.factors(model, data, errors="robust")


def test_a_penalty_has_no_errors_and_says_why():
    data = read()
    model = cw.learner("glm", alpha=0.1).fit(data)
    table = cw.factors(model, data)
    assert table.errors is None
    assert "penalty" in " ".join(table.notes)
    assert "200 refits" in " ".join(table.notes)
    with pytest.raises(InputError, match="penalty"):
        cw.factors(model, data, errors="model")


def test_rows_of_another_table_give_factors_without_errors():
    data = read()
    model = cw.learner("glm", alpha=0).fit(data)
    table = cw.factors(model, data.take(np.arange(100)))
    assert table.errors is None
    assert "fitted to 600 rows" in " ".join(table.notes)


@pytest.mark.parametrize("errors", ["hc7", 5, 2.5, True, -1])
def test_unknown_errors_are_refused(errors):
    data = read()
    model = cw.learner("glm", alpha=0).fit(data)
    with pytest.raises(InputError) as refused:
        cw.factors(model, data, errors=errors)
    assert refused.value.parameter == "errors"


def test_the_file_keeps_the_errors(tmp_path):
    data = read()
    model = cw.learner("glm", alpha=0).fit(data)
    table = cw.factors(model, data)
    file = tmp_path / "rating.csv"
    file.write_text(table.to_csv(), "utf-8")
    again = cw.explanation.read_factors(file)
    assert again.lines() == table.lines()
    assert again.tests[0].column == table.tests[0].column
    assert again.sha256 == table.sha256
    cw.save(model, tmp_path / "model.cw")
    assert cw.inspect(tmp_path / "model.cw").sha256 == table.sha256
