"""Rows and predictions outside what a model was fitted to."""

import datetime as dt

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import outside_training


def houses(n=120, *, seed=0):
    rng = np.random.default_rng(seed)
    area, age = rng.uniform(500, 2500, n), rng.uniform(0, 80, n)
    price = 20 + 0.1 * area - 0.2 * age + rng.normal(0, 5, n)
    return {"area": area, "age": age, "price": price}


@pytest.fixture(scope="module")
def model():
    return cw.learner("ols").fit(cw.read(houses(), target="price"))


def test_counts_equal_those_of_a_loop_over_rows(model):
    rng = np.random.default_rng(1)
    new = {"area": rng.uniform(-500, 4000, 200), "age": rng.uniform(-20, 120, 200)}
    new["area"][:10] = np.nan
    old, table = houses(), cw.read(new)
    found = outside_training(model, table)
    low, high = old["price"].min(), old["price"].max()
    predicted = model.predict(table)
    in_column = {
        name: [value < old[name].min() or value > old[name].max() for value in new[name]]
        for name in ("area", "age")
    }
    assert found.columns == {name: sum(rows) for name, rows in in_column.items()}
    assert found.n_outside == sum(map(any, zip(*in_column.values(), strict=True)))
    assert found.n_below == sum(value < low for value in predicted)
    assert found.n_above == sum(value > high for value in predicted)
    assert found.n_negative == sum(value < 0 for value in predicted) > 0
    assert (found.low, found.high) == (low, high)


def test_sums_over_parts_are_those_of_all_rows(model):
    rng = np.random.default_rng(2)
    table = cw.read({"area": rng.uniform(0, 4000, 90), "age": rng.uniform(0, 120, 90)})
    parts = [outside_training(model, table.take(slice(k, k + 30))) for k in (0, 30, 60)]
    assert parts[0] + parts[1] + parts[2] == outside_training(model, table)


def test_notes_name_columns_the_largest_first_and_nothing_where_all_is_inside(model):
    table = cw.read({"area": [3000.0, 4000.0, 1000.0], "age": [30.0, 90.0, 40.0]})
    first, second = outside_training(model, table).notes()
    assert first == "2 of 3 rows have a value outside the training range: area (2), age (1)"
    assert "2 of 3 predictions of price are above the greatest of the training rows" in second
    inside = cw.read({"area": [1000.0], "age": [30.0]})
    assert not list(outside_training(model, inside).notes())


def test_a_saved_model_counts_the_same_and_one_of_an_earlier_version_still_loads(model, tmp_path):
    table = cw.read({"area": [9000.0, -900.0], "age": [30.0, 90.0]})
    cw.save(model, tmp_path / "new.cw")
    assert outside_training(cw.load(tmp_path / "new.cw"), table) == outside_training(model, table)
    earlier = cw.learner("ols").fit(cw.read(houses(), target="price"))
    del earlier.training_["target_range"]
    cw.save(earlier, tmp_path / "old.cw")
    found = outside_training(cw.load(tmp_path / "old.cw"), table)
    assert (found.n_outside, found.n_below, found.low) == (2, 0, None)


def test_classes_have_no_range_and_dates_have_one():
    days = [dt.date(2020, 1, 1 + k) for k in range(20)]
    table = cw.read({"day": days, "y": ["a", "b"] * 10}, target="y")
    found = outside_training(
        cw.learner("tree").fit(table), cw.read({"day": [dt.date(2021, 1, 1), days[3]]})
    )
    assert (found.columns, found.low) == ({"day": 1}, None)


def test_rates_are_compared_with_rates():
    rng = np.random.default_rng(3)
    exposure = rng.uniform(0.1, 1, 200)
    rows = {"x": rng.normal(size=200), "years": exposure, "n": rng.poisson(0.3 * exposure)}
    table = cw.read(rows, target="n", exposure="years")
    model = cw.learner("glm").fit(table)
    assert model.training_["target_range"] == [0.0, float((rows["n"] / exposure).max())]
    assert outside_training(model, table).n_above == 0


def test_an_evaluation_counts_them_in_its_notes_and_fields(model):
    test = houses(50, seed=4)
    test["area"][:3] = 4000.0
    result = cw.evaluate(model, cw.read(test, target="price"))
    assert result.outside.columns["area"] == 3
    assert any("outside the training range: area (3" in str(note) for note in result.notes)
    assert result.to_json()["outside"]["n_outside"] == result.outside.n_outside


def test_a_model_that_is_not_a_learner_is_evaluated_without_them():
    class Mean:
        def predict(self, X):
            return np.full(len(X), 100.0) + np.arange(len(X))

    result = cw.evaluate(Mean(), cw.read(houses(60), target="price"))
    assert result.outside is None
