"""Figures of explanations: what they show, in the words and numbers of the specification."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    n = 200
    power = generator.normal(50, 10, n)
    power[::17] = np.nan
    day = np.datetime64("2020-01-01", "D") + generator.integers(0, 900, n)
    town = generator.choice(["Bern", "Chur"], n)
    y = np.nan_to_num(power, nan=30.0) + np.where(town == "Bern", 10, 0) * (power > 50)
    return cw.read({"power": power, "day": day, "town": town, "y": y}, target="y")


@pytest.fixture(scope="module")
def why(data):
    return cw.explain(cw.learner("gbm", max_iter=15).fit(data), data)


def specification(chart):
    """What a browser gets; serialising also checks it against the grammar's schema."""
    found = chart.to_dict()
    assert found["description"]
    return json.dumps(found)


def values_in(chart):
    """All records that are drawn."""
    found = []

    def walk(part):
        if isinstance(part, dict):
            if isinstance(part.get("values"), list):
                rows = [row for row in part["values"] if isinstance(row, dict)]
                found.extend(row for row in rows if row not in found)
            for item in part.values():
                walk(item)
        elif isinstance(part, list):
            for item in part:
                walk(item)

    walk(chart.to_dict())
    return found


@pytest.mark.parametrize(
    "columns", [("power",), ("day",), ("town",), ("power", "day"), ("power", "town")]
)
@pytest.mark.parametrize("kind", ["component", "pdp"])
def test_titles_name_the_value_function_and_the_background(why, columns, kind):
    text = specification(why.effect(*columns, kind=kind, extrapolation=False).plot())
    assert "interventional, prediction, 200 rows" in text
    assert all(column in text for column in columns)


def test_curve_draws_every_value_and_missing_apart(why):
    effect = why.effect("power", kind="component")
    drawn = [row for row in values_in(effect.plot()) if "value" in row and "output" in row]
    assert len(drawn) == len(effect.grid[0])
    missing = [row for row in drawn if row["x"] == "missing"]
    assert len(missing) == 1
    assert missing[0]["value"] == pytest.approx(effect.values[-1])


def test_trees_are_drawn_as_steps_and_splines_as_lines(why, data):
    assert '"interpolate": "step"' in specification(why.effect("power", kind="component").plot())
    smooth = cw.explain(cw.learner("spline").fit(data), data)
    assert '"interpolate": "linear"' in specification(
        smooth.effect("power", kind="component").plot()
    )


def test_density_below_the_curve_adds_up_to_the_rows_that_have_a_value(why):
    bars = [
        row
        for row in values_in(why.effect("power", kind="component").plot())
        if "low" in row and "output" not in row
    ]
    assert sum(row["share"] for row in bars) == pytest.approx(1 - 12 / 200)


def test_importance_draws_main_effects_and_interactions(why):
    rows = [row for row in values_in(why.importance().plot()) if "part" in row]
    importance = why.importance()
    for row in rows:
        k = why.columns.index(row["column"])
        share = importance.main[k] if row["part"] == "main effect" else importance.interaction[k]
        assert row["share"] == pytest.approx(share)
    assert len(rows) == 2 * len(why.columns)
    specification(why.interactions().plot())


@pytest.mark.parametrize("kind", ["beeswarm", "bar"])
def test_many_rows_are_drawn_with_their_value_function(why, data, kind):
    text = specification(why.shapley(data.head(30)).plot(kind))
    assert "Shapley values of 30 rows" in text
    assert "interventional" in text


def test_beeswarm_says_when_it_leaves_rows_out(why, data):
    found = cw.shapley(cw.learner("ols").fit(data), data)
    assert "th of" not in specification(found.plot())
    many = replace(
        found,
        values=np.tile(found.values, (30, 1)),
        rows=np.arange(6000),
        data=tuple(c.take(np.tile(np.arange(200), 30)) for c in found.data),
    )
    assert "th of 6,000 rows is drawn" in specification(many.plot())


def test_one_row_is_a_waterfall_from_the_baseline_to_its_prediction(why, data):
    found = why.shapley(data.take([7]))
    bars = [row for row in values_in(found.plot()) if "from" in row]
    assert bars[0]["from"] == pytest.approx(found.baseline)
    assert bars[-1]["to"] == pytest.approx(float(found.prediction[0]))
    for before, after in pairwise(bars):
        assert after["from"] == pytest.approx(before["to"])


def test_waterfall_shows_zero_for_a_column_that_only_rounding_moves(why, data):
    found = why.shapley(data.take([7]))
    noisy = found.values.copy()
    noisy[0, 1] = -1.7e-16
    found = replace(found, values=noisy)
    name = f"{found.columns[1]} = "
    bars = [row for row in values_in(found.plot()) if "from" in row]
    assert [row["value"] for row in bars if row["column"].startswith(name)] == ["0"]
    assert "e-16" not in repr(found)


def test_waterfall_adds_up_what_it_does_not_show(data, why):
    found = why.shapley(data.head(3))
    bars = [row for row in values_in(found.plot(row=1, most=1)) if "from" in row]
    assert len(bars) == 2
    assert bars[-1]["column"] == "2 others"
    assert bars[-1]["to"] == pytest.approx(float(found.prediction[1]))


def test_several_outputs_are_named():
    wine = cw.datasets.load("wine")
    model = cw.learner("forest", n_estimators=5).fit(wine)
    why = cw.explain(model, wine)
    assert "class_1" in specification(why.effect("alcohol", kind="component").plot())
    assert "class_1" in specification(
        why.effect("alcohol", "hue", kind="component").plot(output="class_1")
    )
    found = why.shapley(wine.head(4))
    assert "output: class_2" in specification(found.plot())
    largest = found.outputs[int(np.argmax(found.prediction[0]))]
    assert f"output: {largest}" in specification(found.plot(row=0))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda found: found.plot("beswarm"), "did you mean 'beeswarm'"),
        (lambda found: found.plot(row=99), "there is no row 99"),
        (lambda found: found.plot("bar", output="x"), "no output 'x'"),
    ],
)
def test_wrong_words_are_answered(why, data, draw, message):
    with pytest.raises(cw.InputError, match=message):
        draw(why.shapley(data.head(2)))


def test_empty_background_cells_are_pale_and_said_to_be():
    generator = np.random.default_rng(0)
    x = np.sort(generator.normal(size=300))
    frame = {"a": x, "b": x, "y": x * x}
    data = cw.read(frame, target="y")
    why = cw.explain(cw.learner("gbm", max_iter=5).fit(data), data)
    chart = why.effect("a", "b", kind="component").plot()
    assert "pale: no rows near" in specification(chart)
    assert any(row["near"] == 0 for row in values_in(chart) if "near" in row)


@pytest.mark.parametrize("columns", [("power", "day"), ("power", "town")])
def test_cells_of_a_heat_map_are_of_equal_size_and_none_is_left_out(why, columns):
    effect = why.effect(*columns, extrapolation=False)
    cells = [row for row in values_in(effect.plot()) if "near" in row]
    assert len(cells) == effect.values.size
    assert len({(row["a"], row["b"]) for row in cells}) == len(cells)
    assert any(row["a"] == "missing" for row in cells)
    assert '"type": "ordinal"' in specification(effect.plot())


def test_a_figure_says_that_extreme_curves_are_cut_off():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[0, 1] = 100.0
    figure = (
        cw.effect(lambda X: X[:, 0] + X[:, 1], X, "x0", kind="ice", n_bootstrap=0).plot().to_dict()
    )
    assert "cut off" in " ".join(figure["title"]["subtitle"])
    calm = cw.effect(lambda X: X[:, 0], X, "x0", kind="ice", n_bootstrap=0).plot().to_dict()
    assert "cut off" not in " ".join(calm["title"]["subtitle"])


@pytest.fixture(scope="module")
def beside():
    rng = np.random.default_rng(2)
    data = cw.datasets.insurance(300, seed=2).to_frame("dict")
    data["age"] = [None if rng.random() < 0.1 else age for age in data["age"]]
    del data["claim_amount"]
    table = cw.read(data, target="accidents", exposure="years", task="count")
    model = cw.learner("glm").fit(table)
    return cw.explain(model, table), cw.evaluate(model, table)


def _layers(spec):
    parts = [part for key in ("layer", "hconcat", "vconcat") for part in spec.get(key, ())]
    return [spec, *(inner for part in parts for inner in _layers(part))]


@pytest.mark.parametrize("kind", ["pdp", "ice", "ale"])
@pytest.mark.parametrize("column", ["age", "region"])
def test_observed_and_predicted_means_are_lines_beside_an_effect(beside, column, kind):
    explained, evaluated = beside
    by = evaluated.by(column)
    effect = explained.effect(column, kind=kind, exact=False, n_bootstrap=0)
    spec = effect.plot(observed=by).to_dict()
    named = [part for part in _layers(spec) if str(part.get("name", "")).startswith("observed")]
    colours = {tuple(part["encoding"]["color"]["scale"]["domain"][1:]) for part in named}
    assert colours == {("observed", "predicted")}
    shown = {}
    for part in named:
        data = part["data"]["values"] if "data" in part else []
        data = data if "values" in part.get("data", {}) else spec["datasets"][part["data"]["name"]]
        for row in data:
            shown[row["band"], row["series"]] = row["mean"]
    means = dict(zip((band for (band,) in by.bands), by.observed, strict=True))
    centre = np.average(by.observed, weights=by.weight) if kind == "ale" else 0.0
    assert {band for band, _ in shown} == set(means)  # the missing band too
    for band, mean in means.items():
        assert shown[band, "observed"] == pytest.approx(mean - centre)
    assert "accidents per year" in " ".join(spec["title"]["subtitle"])


def test_means_are_not_drawn_beside_what_they_cannot_be_compared_with(beside):
    explained, evaluated = beside
    by = evaluated.by("age")
    plain = explained.effect("age", kind="ice", exact=False, n_bootstrap=0, derivative=True)
    assert "observed" not in str(plain.plot(observed=by).to_dict())
    other = explained.effect("power", kind="pdp", exact=False, n_bootstrap=0)
    assert "observed" not in str(other.plot(observed=by).to_dict())
