"""Coefficients in the user's units: equal to statsmodels', whatever the encoding inside."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.table import calendar_features

REGIONS = ("city", "town", "village")


def rows_of(n=700, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.choice(REGIONS, n, p=[0.5, 0.3, 0.2])
    age = rng.uniform(18, 80, n)
    score = 0.02 * (age - 50) + 0.5 * (region == "city")
    years = rng.uniform(0.2, 1.5, n)
    return {
        "age": age,
        "region": region,
        "years": years,
        "firm": rng.integers(0, 40, n),
        "weight": rng.integers(1, 4, n),
        "cost": 3 + score + rng.normal(0, 0.5 + 0.01 * age, n),
        "claims": rng.poisson(years * np.exp(score - 0.5)),
        "paid": rng.gamma(2.0, np.exp(score) / 2),
        "left": np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"),
    }


ROWS = rows_of()
TARGETS = ("cost", "claims", "paid", "left")


def read(target, **roles):
    """Read the rows with some of the columns that are no features in a role, and no others."""
    beside = {"years", "firm", "weight", *TARGETS} - {target, *roles.values()}
    return cw.read(ROWS, target=target, ignore=sorted(beside), **roles)


def design(base="city"):
    others = [region for region in REGIONS if region != base]
    dummies = [ROWS["region"] == region for region in others]
    matrix = np.column_stack([np.ones(len(ROWS["age"])), ROWS["age"], *dummies]).astype(float)
    return matrix, ["constant", "age", *(f"region = {region}" for region in others)]


def same_as(table, fit, names, rtol=1e-3):
    at = [table.names().index(name) for name in names]
    np.testing.assert_allclose(table.values[at], fit.params, rtol=rtol, atol=1e-4)
    np.testing.assert_allclose(table.standard_errors[at], fit.bse, rtol=rtol)
    low, high = np.asarray(fit.conf_int(0.1)).T
    np.testing.assert_allclose(table.low[at], low, rtol=rtol, atol=1e-3)
    np.testing.assert_allclose(table.high[at], high, rtol=rtol, atol=1e-3)
    np.testing.assert_allclose(table.p_values[at], fit.pvalues, rtol=0.02, atol=1e-4)


@pytest.fixture(scope="module")
def sm():
    return pytest.importorskip("statsmodels.api")


def covariance_of(errors):
    if errors == "cluster":
        return {"cov_type": "cluster", "cov_kwds": {"groups": ROWS["firm"]}}
    return {"cov_type": {"model": "nonrobust", "robust": "HC1"}[errors]}


EVERY_ERROR = pytest.mark.parametrize("errors", ["model", "robust", "cluster"])


@EVERY_ERROR
@pytest.mark.parametrize("base", REGIONS)
def test_least_squares_is_that_of_statsmodels(sm, errors, base):
    data = read("cost", group="firm")
    model = cw.learner("ols").fit(data)
    table = cw.coefficients(model, data, base={"region": base}, errors=errors)
    matrix, names = design(base)
    fit = sm.OLS(ROWS["cost"], matrix).fit(**covariance_of(errors), use_t=True)
    same_as(table, fit, names)
    assert table.dispersion == pytest.approx(fit.scale, rel=1e-6)


@EVERY_ERROR
def test_rates_are_those_with_the_log_of_the_exposure_as_offset(sm, errors):
    data = read("claims", exposure="years", group="firm")
    model = cw.learner("glm", alpha=0).fit(data)
    matrix, names = design()
    family = sm.families.Poisson()
    glm = sm.GLM(ROWS["claims"], matrix, family=family, offset=np.log(ROWS["years"]))
    table = cw.coefficients(model, data, base={"region": "city"}, errors=errors)
    if errors == "model":
        plain = glm.fit()
        left = np.sum(plain.fittedvalues * (1 - plain.get_influence().hat_matrix_diag))
        dispersion = np.sum(plain.resid_response**2) / left
        assert table.dispersion == pytest.approx(dispersion, rel=1e-3)
        fit = glm.fit(scale=dispersion, use_t=True)
    else:
        fit = glm.fit(**covariance_of(errors))
    same_as(table, fit, names, rtol=3e-3)
    np.testing.assert_allclose(table.ratios, np.exp(table.values))
    assert table.distribution == "poisson"


def test_amounts_are_those_of_a_gamma_regression(sm):
    data = read("paid", task="amount")
    model = cw.learner("glm", alpha=0).fit(data)
    matrix, names = design()
    family = sm.families.Gamma(link=sm.families.links.Log())
    same_as(
        cw.coefficients(model, data, base={"region": "city"}),
        sm.GLM(ROWS["paid"], matrix, family=family).fit(),
        names,
        rtol=3e-3,
    )


@EVERY_ERROR
def test_odds_ratios_are_those_of_a_logistic_regression(sm, errors):
    data = read("left", group="firm")
    model = cw.learner("logistic", penalty="none").fit(data)
    table = cw.coefficients(model, data, base={"region": "city"}, errors=errors)
    matrix, names = design()
    left = (ROWS["left"] == "yes").astype(float)
    fit = sm.Logit(left, matrix).fit(disp=0, **covariance_of(errors))
    same_as(table, fit, names, rtol=5e-3)
    assert "left = yes" in repr(table)


def test_one_factor_of_counts_has_the_error_of_its_claims():
    data = cw.read(
        {name: ROWS[name] for name in ("region", "years", "claims")},
        target="claims",
        exposure="years",
    )
    table = cw.coefficients(cw.learner("glm", alpha=0).fit(data), data, base={"region": "town"})
    claims = {name: ROWS["claims"][ROWS["region"] == name].sum() for name in REGIONS}
    at = table.names().index("region = village")
    by_poisson = np.sqrt(1 / claims["village"] + 1 / claims["town"])
    assert table.dispersion > 1
    expected = np.sqrt(table.dispersion) * by_poisson
    assert table.standard_errors[at] == pytest.approx(expected, rel=1e-4)


def counts(n, extra, seed, *, level=0.5, unit=1.0):
    """Draw counts over an exposure whose variance is m + extra·m²."""
    rng = np.random.default_rng(seed)
    a, z, years = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.2, 1.0, n)
    region = rng.choice(REGIONS, n)
    mean = years * np.exp(level + 0.5 * a + 0.3 * (region == REGIONS[0]))
    frailty = rng.gamma(1 / extra, extra, n) if extra else 1.0
    rows = {"a": a, "z": z, "region": region, "years": unit * years}
    rows["claims"] = rng.poisson(mean * frailty)
    return cw.read(rows, target="claims", task="count", exposure="years")


def of_counts(data):
    model = cw.learner("glm", alpha=0).fit(data)
    return cw.coefficients(model, data, base={"region": REGIONS[1]})


def test_intervals_of_overdispersed_counts_cover_and_null_columns_are_not_found():
    """By Poisson's law alone they cover 60 % of 90, and a third of the null columns are found."""
    covered, found = [], []
    for seed in range(80):
        table = of_counts(counts(400, 1.0, seed))
        names = table.names()
        for name, truth in {"a": 0.5, "z": 0.0, f"region = {REGIONS[0]}": 0.3}.items():
            at = names.index(name)
            covered.append(table.low[at] <= truth <= table.high[at])
        found.append(table.p_values[names.index("z")] < 0.05)
        assert any("Poisson's law" in note for note in table.notes)
    assert 0.85 <= np.mean(covered) <= 0.96
    assert np.mean(found) <= 0.13


def test_sparse_counts_by_poissons_law_have_a_dispersion_close_to_one():
    found = [of_counts(counts(500, 0.0, seed, level=-2.5)) for seed in range(20)]
    dispersions = np.array([table.dispersion for table in found])
    assert dispersions.min() >= 1
    assert dispersions.mean() < 1.1
    assert dispersions.max() < 1.5
    assert not any("Poisson's law" in note for table in found for note in table.notes)


def test_the_unit_of_the_exposure_does_not_change_the_dispersion():
    one, days = (of_counts(counts(300, 1.0, 0, unit=unit)) for unit in (1.0, 365.0))
    assert days.dispersion == pytest.approx(one.dispersion, rel=1e-2)
    np.testing.assert_allclose(days.standard_errors[1:], one.standard_errors[1:], rtol=1e-2)


def test_one_coefficient_has_the_p_value_of_its_column():
    table = of_counts(counts(60, 1.0, 3))
    tests = {test.column: test.p_value for test in table.tests}
    for name in ("a", "z"):
        assert tests[name] == pytest.approx(table.p_values[table.names().index(name)], rel=1e-6)


def test_weights_count_as_repeated_rows():
    data = read("claims", weight="weight")
    repeated = data.take(np.repeat(np.arange(data.n_rows), ROWS["weight"]))
    plain = cw.read(
        repeated, target="claims", ignore=["years", "firm", "weight", *TARGETS[::2], "left"]
    )
    one, two = (
        cw.coefficients(cw.learner("glm", alpha=0).fit(rows), rows, errors="model")
        for rows in (data, plain)
    )
    np.testing.assert_allclose(one.values, two.values, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=1e-3)


def test_policies_cut_into_parts_have_the_same_table(policies):
    one, two = (
        cw.coefficients(cw.learner("glm", alpha=0).fit(table), table, errors=errors)
        for errors in ("cluster",)
        for table in policies
    )
    np.testing.assert_allclose(one.values, two.values, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=2e-2)
    np.testing.assert_allclose(one.shares, two.shares)


def test_every_kind_of_column_adds_up_to_the_prediction():
    """Gaps, dates, ranks and answers: the lines that apply to a row sum to its score."""
    rng = np.random.default_rng(1)
    n = 300
    rows = {
        "age": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(18, 80, n)),
        "town": rng.choice(np.array(["Bern", "Chur", None], object), n),
        "size": rng.choice(["S", "M", "L"], n),
        "smokes": rng.choice(["no", "yes"], n),
        "start": np.datetime64("2020-01-01") + rng.integers(0, 900, n).astype("timedelta64[D]"),
        "y": rng.normal(size=n),
    }
    data = cw.read(rows, target="y", kinds={"size": ["S", "M", "L"]})
    model = cw.learner("ols").fit(data)
    table = cw.coefficients(model, data)
    lines = dict(zip(table.names(), table.values, strict=True))
    for k in range(20):
        total = lines["constant"]
        age = data["age"].values[k]
        median = np.nanmedian(data["age"].values)
        total += lines["age"] * (median if np.isnan(age) else age)
        total += lines["age = missing"] if np.isnan(age) else 0.0
        total += lines[f"town = {data['town'].labels()[k] or 'missing'}"]
        total += lines[f"size = {data['size'].labels()[k]}"]
        total += lines[f"smokes = {data['smokes'].labels()[k]}"]
        day = data["start"].values[k : k + 1]
        for name, value in lines.items():
            if name.startswith("start, "):
                total += value * calendar_features(day, [name.removeprefix("start, ")])[0][0]
        assert total == pytest.approx(model.predict(data[k])[0])


def test_the_base_is_the_level_of_most_exposure():
    heavy = np.where(ROWS["region"] == "village", 50.0, ROWS["years"])
    rows = {"region": ROWS["region"], "years": heavy, "claims": ROWS["claims"]}
    data = cw.read(rows, target="claims", exposure="years")
    table = cw.coefficients(cw.learner("glm", alpha=0).fit(data), data)
    assert set(table.bases) == {"", "village"}
    assert table.shares[table.is_base][0] == pytest.approx(
        heavy[ROWS["region"] == "village"].sum() / heavy.sum()
    )


def test_tests_of_columns_find_the_one_without_effect():
    noise = np.random.default_rng(5).choice(["a", "b", "c"], len(ROWS["age"]))
    rows = {"age": ROWS["age"], "region": ROWS["region"], "noise": noise, "cost": ROWS["cost"]}
    data = cw.read(rows, target="cost")
    table = cw.coefficients(cw.learner("ols").fit(data), data)
    p_values = {test.column: test.p_value for test in table.tests}
    assert p_values["age"] < 1e-6
    assert p_values["region"] < 1e-3
    assert p_values["noise"] > 0.05
    assert {test.column: test.freedom for test in table.tests}["region"] == 2


def test_no_penalty_can_be_written_as_none():
    data = read("left")
    word, nothing = (
        cw.coefficients(cw.learner("logistic", penalty=penalty).fit(data), data)
        for penalty in ("none", None)
    )
    np.testing.assert_array_equal(nothing.standard_errors, word.standard_errors)
    assert np.isfinite(word.standard_errors).all()


@pytest.mark.parametrize(
    ("learner", "settings", "hint"),
    [
        ("glm", {"alpha": 1.0}, "alpha=0"),
        ("ridge", {}, "'ols' and 'glm'"),
        ("lasso", {}, "split=0.5"),
    ],
)
def test_penalised_coefficients_have_no_errors_and_a_reason(learner, settings, hint):
    data = read("claims", exposure="years")
    model = cw.learner(learner, **settings).fit(data)
    table = cw.coefficients(model, data)
    assert table.errors is None
    assert np.isnan(table.standard_errors).all()
    assert hint in table.notes[0]
    score = model.predict(data)[0]
    lines = dict(zip(table.names(), table.values, strict=True))
    total = (
        lines["constant"] + lines["age"] * ROWS["age"][0] + lines[f"region = {ROWS['region'][0]}"]
    )
    assert (np.exp(total) if learner == "glm" else total) == pytest.approx(score)


@pytest.mark.parametrize(
    ("target", "roles", "learner", "settings", "without"),
    [
        ("claims", {"exposure": "years"}, "glm", {}, {"alpha": 0}),
        ("claims", {"exposure": "years", "weight": "weight"}, "glm", {}, {"alpha": 0}),
        ("paid", {"task": "amount"}, "glm", {}, {"alpha": 0}),
        ("left", {}, "logistic", {"C": 100.0}, {"penalty": "none"}),
    ],
    ids=["rates", "weighted rates", "amounts", "classes"],
)
def test_a_penalty_that_hardly_shrinks_leaves_standard_errors(
    target, roles, learner, settings, without
):
    data = read(target, **roles)
    table = cw.coefficients(cw.learner(learner, **settings).fit(data), data)
    free = cw.coefficients(cw.learner(learner, **without).fit(data), data)
    known = ~free.is_base
    np.testing.assert_allclose(table.standard_errors, free.standard_errors, rtol=0.01)
    moved = np.abs(table.values - free.values)[known] / free.standard_errors[known]
    assert 1e-6 < moved.max() < 0.1
    assert table.notes[0].startswith("the penalty shrinks coefficients by ")
    stated = float(table.notes[0].removeprefix("the penalty shrinks coefficients by ").split()[0])
    assert stated / 100 == pytest.approx(moved.max(), rel=0.1)


def test_penalised_coefficients_of_other_rows_are_refused():
    data = read("claims", exposure="years")
    model = cw.learner("glm").fit(data)
    others = {**ROWS, "claims": ROWS["claims"][::-1]}
    with pytest.raises(cw.InputError, match="fitted to other rows"):
        cw.coefficients(model, others)


def test_columns_with_the_same_information_are_named():
    rows = {"age": ROWS["age"], "months": 12 * ROWS["age"], "claims": ROWS["claims"]}
    data = cw.read(rows, target="claims", task="count")
    model = cw.learner("glm", alpha=0).fit(data)
    with pytest.warns(cw.ClearwoodWarning, match="'age', 'months'.*same information"):
        table = cw.coefficients(model, data)
    assert np.isnan(table.standard_errors[1:]).all()


def test_separated_classes_are_noted():
    rows = {"x": np.arange(40.0), "y": np.where(np.arange(40) < 20, "no", "yes")}
    data = cw.read(rows, target="y")
    with pytest.warns(cw.ClearwoodWarning, match="column 'x' alone separates"):
        model = cw.learner("logistic", penalty="none").fit(data)
    assert "'x' separates the classes" in cw.coefficients(model, data).notes[-1]


@pytest.mark.parametrize(("unit", "is_stated"), [(1.0, False), (1e4, True)])
def test_columns_in_large_units_have_ratios_for_one_standard_deviation(unit, is_stated):
    rng = np.random.default_rng(0)
    income = rng.normal(3, 1, 500)
    yes = rng.random(500) < 1 / (1 + np.exp(2 - 0.7 * income))
    rows = {"income": income * unit, "y": np.where(yes, "yes", "no")}
    data = cw.read(rows, target="y")
    table = cw.coefficients(cw.learner("logistic", penalty="none").fit(data), data)
    spread = float(np.std(rows["income"]))
    stated = [note for note in table.notes if "standard deviation more" in note]
    assert len(stated) == is_stated
    if is_stated:
        ratio = float(stated[0].split("'income' ")[1].split()[0])
        assert ratio == pytest.approx(np.exp(table.values[1] * spread), rel=0.01)


def test_the_frame_has_a_line_for_each_level():
    data = read("claims", exposure="years")
    frame = cw.coefficients(cw.learner("glm", alpha=0).fit(data), data).to_frame("dict")
    assert frame["column"] == ["", "age", "region", "region", "region"]
    assert frame["ratio"][2] == 1.0


MODEL = cw.learner("glm", alpha=0).fit(read("claims", exposure="years"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: cw.coefficients(MODEL, d, base={"region": "vilage"}), "did you mean 'village'"),
        (lambda d: cw.coefficients(MODEL, d, base={"age": "18"}), "'age' is a number"),
        (lambda d: cw.coefficients(MODEL, d, base={"regio": "city"}), "did you mean 'region'"),
        (lambda d: cw.coefficients(MODEL, d, errors="clusters"), "errors='clusters'"),
        (lambda d: cw.coefficients(MODEL, d, errors="cluster"), "need groups"),
        (lambda d: cw.coefficients(MODEL, d, confidence=90), "between 0 and 1"),
        (lambda d: cw.coefficients(MODEL, d.head(50)), "fitted to 700 rows, and the table has 50"),
        (lambda d: cw.coefficients(cw.learner("tree").fit(d), d), "'tree' is not linear"),
        (lambda d: cw.coefficients(cw.learner("glm"), d), "of a fitted learner"),
        (lambda _: cw.coefficients(MODEL, read("claims")), "predicts claims per year"),
    ],
)
def test_bad_input_has_clear_words(call, message):
    with pytest.raises(cw.InputError, match=message):
        call(read("claims", exposure="years"))


def test_rows_that_the_model_was_not_fitted_to_are_refused():
    rows = rows_of(seed=3)
    names = ("age", "region", "years", "claims")
    rows["claims"] = rows["claims"] + 2 * (rows["region"] == "town")
    other = cw.read({name: rows[name] for name in names}, target="claims", exposure="years")
    with pytest.raises(cw.InputError, match="fitted to other rows"):
        cw.coefficients(MODEL, other)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_are_read(library):
    pytest.importorskip(library)
    data = read("claims", exposure="years")
    table = cw.coefficients(MODEL, data.to_frame(library))
    np.testing.assert_allclose(table.values, cw.coefficients(MODEL, data).values)


@pytest.mark.parametrize("target", ["claims", "cost"])
def test_the_figure_has_a_mark_for_every_line_but_the_constant(target):
    data = read(target)
    model = cw.learner("glm", alpha=0) if target == "claims" else cw.learner("ols")
    table = cw.coefficients(model.fit(data), data)
    *_, points = table.plot().to_dict()["layer"]
    assert [row["line"] for row in points["data"]["values"]] == list(table.names()[1:])
