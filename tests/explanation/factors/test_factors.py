"""A model as a table of factors predicts what the model does."""

import math
import sqlite3
import warnings

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.explanation.factors.cells import least_squares_bands, user_cuts
from clearwood.table import as_table

DEPTH_2 = {"max_depth": 2, "max_iter": 30}


@pytest.fixture(scope="module")
def policies():
    """Policies with exposure; some ages and regions are missing."""
    rows = cw.datasets.insurance(1_500).to_frame("dict")
    rows["age"] = [None if k % 11 == 0 else v for k, v in enumerate(rows["age"])]
    rows["region"] = [None if k % 13 == 0 else v for k, v in enumerate(rows["region"])]
    names = [n for n in rows if n != "claim_amount"]
    return cw.read({n: rows[n] for n in names}, target="accidents", exposure="years")


@pytest.fixture(scope="module")
def boosted(policies):
    return cw.learner("gbm", **DEPTH_2).fit(policies)


@pytest.fixture(scope="module")
def table(boosted, policies):
    return cw.factors(boosted, policies)


def mixed(table, seed=5):
    """Rows with every column shuffled by itself, so that pairs occur that the data lacks."""
    generator = np.random.default_rng(seed)
    rows = table.to_frame("dict")
    return {name: [own[k] for k in generator.permutation(len(own))] for name, own in rows.items()}


def test_relativities_multiply_to_the_prediction_of_boosted_trees(table, boosted, policies):
    assert table.is_exact
    assert any(len(term.axes) == 2 for term in table.terms)
    for rows in (policies, mixed(policies)):
        np.testing.assert_allclose(table.predict(rows), boosted.predict(rows), rtol=1e-12)


def test_relativities_multiply_to_the_prediction_of_a_glm(policies):
    model = cw.learner("glm", alpha=0).fit(policies)
    factors = cw.factors(model, policies)
    assert factors.is_exact
    assert all(len(term.axes) == 1 for term in factors.terms)
    for rows in (policies, mixed(policies)):
        np.testing.assert_allclose(factors.predict(rows), model.predict(rows), rtol=1e-12)


def test_the_factors_of_a_glm_are_its_coefficients(policies):
    model = cw.learner("glm", alpha=0).fit(policies)
    factors = cw.factors(model, policies, base={"region": "town"})
    coefficients = cw.coefficients(model, policies, base={"region": "town"})
    by_name = dict(zip(coefficients.names(), coefficients.values, strict=True))
    lines = factors.lines()
    city = next(line for line in lines if line["level"] == "city")
    assert city["effect"] == pytest.approx(by_name["region = city"], abs=1e-12)
    mileage = next(line for line in lines if line["column"] == "mileage")
    assert mileage["per_unit"] == pytest.approx(by_name["mileage"], rel=1e-10)


def test_factors_are_one_at_the_base(table, boosted):
    base = {name: [value] for name, value in table.base.items()}
    for term in table.terms:
        assert term.of(rows_as(boosted, base))[0] == 0
    assert table.predict(base)[0] == pytest.approx(table.base_value, rel=1e-14)


def rows_as(model, rows):
    """Read rows as the model does."""
    return as_table(rows, schema=model.schema_)


def test_pairs_are_zero_along_the_base(table, boosted, policies):
    """An interaction is what a pair adds to its columns, compared with the base of either."""
    for term in (term for term in table.terms if len(term.axes) == 2):
        name = term.axes[0].column
        rows = {**policies.to_frame("dict"), name: [table.base[name]] * policies.n_rows}
        np.testing.assert_array_equal(term.of(rows_as(boosted, rows)), 0)


def test_the_base_can_be_chosen(boosted, policies):
    factors = cw.factors(boosted, policies, {"region": "village", "age": 30})
    assert factors.base["region"] == "village"
    assert factors.base["age"] == 30
    np.testing.assert_allclose(factors.predict(policies), boosted.predict(policies), rtol=1e-12)
    rows = {name: [value] for name, value in factors.base.items()}
    assert factors.base_value == pytest.approx(boosted.predict(rows)[0], rel=1e-12)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ({"region": "moon"}, "no row has the level 'moon' of column 'region'"),
        ({"regoin": "town"}, "regoin"),
        ({"age": "old"}, "the base of column 'age' must be a number, not 'old'"),
        (["age"], "it must be a dict of columns"),
    ],
)
def test_a_base_that_does_not_occur_is_refused(boosted, policies, base, message):
    with pytest.raises(InputError, match=message) as refused:
        cw.factors(boosted, policies, base)
    assert refused.value.parameter == "base"


def test_a_base_level_of_the_model_that_no_row_has_is_refused(boosted, policies):
    column = policies.column("region")
    rows = policies.take(np.flatnonzero(column.values != column.levels.index("town")))
    with pytest.raises(InputError, match="no row has the level 'town'"):
        cw.factors(boosted, rows, {"region": "town"})


def test_interactions_of_three_columns_are_refused_with_what_to_fit(policies):
    model = cw.learner("gbm", max_depth=3, max_iter=5).fit(policies)
    with pytest.raises(InputError, match="interactions of 3 columns") as refused:
        cw.factors(model, policies)
    assert "max_depth" in str(refused.value.hint)


def test_a_model_that_is_no_sum_is_refused():
    data = cw.datasets.load("diabetes")
    model = cw.learner("knn").fit(data)
    with pytest.raises(InputError, match="is not a sum of functions of one and two columns"):
        cw.factors(model, data)


def test_classes_without_probabilities_are_refused_with_what_to_fit():
    rows = {"x": np.arange(20.0), "y": np.where(np.arange(20) < 9, "no", "yes")}
    data = cw.read(rows, target="y")
    with pytest.raises(InputError, match=r"without probabilities.*'logistic'"):
        cw.factors(cw.learner("hyperplane").fit(data), data)


@pytest.mark.parametrize("max_cells", [1, 2.5, True])
def test_bands_are_a_whole_number(boosted, policies, max_cells):
    with pytest.raises(InputError, match="whole number of at least 2"):
        cw.factors(boosted, policies, max_cells=max_cells)


CURVES = [
    ("gam", {}),
    ("mars", {"degree": 1}),
    ("mars", {"degree": 2}),
    ("spline", {}),
    ("glass", {}),
]


@pytest.mark.parametrize(("name", "settings"), CURVES)
def test_curves_of_polynomials_are_exact_everywhere(policies, name, settings):
    """Also far from the data, at gaps, and for levels that the model has not seen."""
    model = cw.learner(name, **settings).fit(policies)
    factors = cw.factors(model, policies)
    assert factors.is_exact
    assert factors.banded == ()
    assert any(term.powers is not None for term in factors.terms)
    rows = mixed(policies)
    rows["age"][:40] = np.linspace(-300, 900, 40).tolist()
    rows["region"][50:60] = ["moon"] * 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        np.testing.assert_allclose(factors.predict(rows), model.predict(rows), rtol=1e-12)


def test_bands_state_what_they_cost(policies):
    model = cw.learner("gam").fit(policies)
    few, many = (cw.factors(model, policies, max_cells=n) for n in (5, 40))
    for factors in (few, many):
        assert not factors.is_exact
        assert "age" in factors.banded
        assert "approximation" in repr(factors)
        off = np.abs(factors.predict(policies) / model.predict(policies) - 1).max()
        assert 0 < off <= factors.largest_difference
        weights = policies.weights
        total = weights @ model.predict(policies)
        assert factors.rebalancing * (weights @ factors.predict(policies)) == pytest.approx(total)
    assert all(len(t.axes[0].cuts) < 5 for t in few.terms)
    assert many.largest_difference < few.largest_difference
    assert abs(many.losses.lost) < abs(few.losses.lost)


def test_a_curve_below_zero_is_compared_by_squared_error(policies):
    """Deviances of counts need positive predictions, which a spline need not give."""
    model = cw.learner("spline").fit(policies)
    assert model.predict(policies).min() < 0
    assert cw.factors(model, policies, max_cells=20).losses.name == "mean squared error"


def test_steps_are_joined_only_if_bands_are_wanted(boosted, policies, table):
    few = cw.factors(boosted, policies, max_cells=3)
    assert few.banded
    assert not few.is_exact
    assert table.banded == ()


def test_odds_ratios_multiply_to_the_odds():
    data = cw.datasets.load("breast_cancer")
    model = cw.learner("gbm", **DEPTH_2).fit(data)
    factors = cw.factors(model, data)
    assert factors.ratio_name == "odds ratio"
    np.testing.assert_allclose(
        factors.predict(data), model.predict_proba(data)[:, 1], rtol=0, atol=1e-12
    )


def test_differences_add_up_without_a_link():
    data = cw.datasets.load("diabetes")
    model = cw.learner("ols").fit(data)
    factors = cw.factors(model, data)
    assert factors.ratio_name is None
    assert "relativity" not in factors.to_frame("dict")
    np.testing.assert_allclose(factors.predict(data), model.predict(data), rtol=1e-12)


def test_several_classes_are_refused():
    data = cw.datasets.load("wine")
    with pytest.raises(InputError, match="3 classes"):
        cw.factors(cw.learner("gbm", **DEPTH_2).fit(data), data)


def test_json_has_the_table_and_the_check(table, policies):
    written = table.to_json()
    assert written["check"]["rows"] == policies.n_rows
    assert written["check"]["largest_difference"] < 1e-12
    assert math.exp(written["base_score"]) == pytest.approx(written["base_value"], rel=1e-15)
    frame = table.to_frame("dict")
    assert len(frame["effect"]) == len(written["lines"])
    shares = [
        line["share"]
        for line in written["lines"]
        if line["column"] == "region" and line["column_2"] is None
    ]
    assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("name", ["gbm", "glm"])
def test_sqlite_predicts_what_the_model_does(policies, name):
    model = cw.learner(name, **(DEPTH_2 if name == "gbm" else {"alpha": 0})).fit(policies)
    rows = mixed(policies)
    _, predicted = in_sqlite(rows, cw.factors(model, policies).to_sql(table="my policies"))
    np.testing.assert_allclose(predicted, model.predict(rows), rtol=1e-12)


def test_sqlite_predicts_probabilities():
    data = cw.datasets.load("breast_cancer")
    model = cw.learner("gbm", **DEPTH_2).fit(data)
    rows = data.to_frame("dict")
    _, predicted = in_sqlite(rows, cw.factors(model, data).to_sql(table="my policies"))
    np.testing.assert_allclose(predicted, model.predict_proba(data)[:, 1], rtol=0, atol=1e-12)


def in_sqlite(rows, query):
    """Run a query over rows; the last column is the prediction."""
    names = list(rows)
    listed = ", ".join(f'"{name}"' for name in names)
    places = ", ".join("?" * len(names))
    database = sqlite3.connect(":memory:")
    database.create_function("exp", 1, lambda x: None if x is None else math.exp(x))
    database.execute(f'CREATE TABLE "my policies" ({listed})')
    values = zip(*([plain(v) for v in rows[name]] for name in names), strict=True)
    database.executemany(f'INSERT INTO "my policies" VALUES ({places})', values)
    found = database.execute(query).fetchall()
    database.close()
    return found, np.array([line[-1] for line in found], float)


def plain(value):
    """Return a value that SQLite takes; None for missing."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and math.isnan(value) else value


def test_cuts_are_exact_to_the_last_digit_through_an_encoder():
    """The largest number whose code is not above the threshold, also for falling codes."""

    def codes(values):
        x = values[0]
        return np.column_stack([np.float32(x).astype(float), -3 * x + 1])

    threshold = float(np.float32(0.1))
    cuts = user_cuts({0: (np.array([0, 1]), np.array([threshold, -5.0]))}, codes)[0]
    last = cuts[0]
    assert float(np.float32(last)) <= threshold < float(np.float32(np.nextafter(last, 1)))
    assert -3 * cuts[1] + 1 > -5.0 >= -3 * np.nextafter(cuts[1], 9) + 1


def test_bands_have_the_least_weighted_squares():
    """Compared with all ways to part a curve into three."""
    generator = np.random.default_rng(0)
    curve, weights = generator.normal(size=(9, 2)).cumsum(axis=0), generator.uniform(0.1, 3, 9)
    ends = [(i, j) for i in range(1, 8) for j in range(i + 1, 9)]

    def squares(starts):
        parts = zip(np.split(curve, starts), np.split(weights, starts), strict=True)
        return sum(w @ (c - np.average(c, axis=0, weights=w)) ** 2 for c, w in parts).sum()

    best = min(squares(cut) for cut in ends)
    assert squares(least_squares_bands(curve, weights, 3)[1:]) == pytest.approx(best, rel=1e-9)


def test_a_model_without_columns_is_its_base_value():
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=300), "y": rng.poisson(1, 300)}
    data = cw.read(rows, target="y", task="count")
    model = cw.learner("mars").fit(data)
    factors = cw.factors(model, data)
    np.testing.assert_allclose(factors.predict(data), model.predict(data), rtol=1e-12)


def test_cuts_of_huge_numbers_are_found():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300) * 1e150
    data = cw.read({"x": x, "y": rng.poisson(1 + (x > 0))}, target="y", task="count")
    model = cw.learner("gbm", max_depth=2, max_iter=10).fit(data)
    assert cw.factors(model, data).is_exact


def test_a_target_with_a_name_of_several_lines_has_one_line():
    rows = {"a": np.arange(20.0).tolist(), "two\nlines": (np.arange(20.0) ** 2).tolist()}
    data = cw.read(rows, target="two\nlines")
    factors = cw.factors(cw.learner("ols").fit(data), data)
    assert str(factors).splitlines()[0] == "Factors of ols: differences of two lines"


def test_a_date_has_no_cells_unless_the_model_does_without_it():
    rng = np.random.default_rng(0)
    day = np.datetime64("2024-01-01", "us") + rng.integers(0, 90, 80) * np.timedelta64(1, "D")
    x = rng.normal(size=80)
    data = cw.read({"x": x, "day": day, "y": 2 * x + 0.1 * rng.normal(size=80)}, target="y")
    with pytest.raises(cw.InputError, match="'day' is a date, which has no cells"):
        cw.factors(cw.learner("ols").fit(data), data)
    for model in (cw.learner("subset", size=1), cw.learner("ols", select="anova:1")):
        table = cw.factors(model.fit(data), data)
        np.testing.assert_allclose(table.predict(data), model.predict(data), rtol=1e-6)
