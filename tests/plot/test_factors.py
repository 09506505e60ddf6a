"""Figures of tables of factors: they show the numbers of the table."""

import json

import numpy as np
import pytest

import clearwood as cw


def policies_of_600():
    rng = np.random.default_rng(0)
    age, town = rng.uniform(18, 80, 600), rng.choice(["Bern", "Chur", "Zug"], 600)
    miles = np.where(rng.random(600) < 0.1, np.nan, rng.gamma(3, 5, 600))
    claims = rng.poisson(np.exp(-0.5 + 0.0008 * (age - 45) ** 2 + (town == "Bern")))
    return {"age": age, "town": town, "miles": miles, "claims": claims}


@pytest.fixture(scope="module")
def data():
    return cw.read(policies_of_600(), target="claims", task="count")


@pytest.fixture(scope="module")
def linear(data):
    return cw.factors(cw.learner("glm", alpha=0).fit(data), data)


@pytest.fixture(scope="module")
def curved(data):
    return cw.factors(cw.learner("gam").fit(data), data)


def drawn(chart):
    """The title, the words and all records of a figure, once each."""
    spec = chart.to_dict()
    records = [r for rows in spec["datasets"].values() for r in rows] if "datasets" in spec else []

    def walk(part):
        if isinstance(part, dict):
            if isinstance(part.get("values"), list):
                records.extend(row for row in part["values"] if isinstance(row, dict))
            for item in part.values():
                walk(item)
        elif isinstance(part, list):
            for item in part:
                walk(item)

    walk(spec)
    return spec, records


def test_levels_have_their_relativities_and_intervals(linear):
    lines = {line["level"]: line for line in linear.lines() if line["column"] == "town"}
    _, records = drawn(linear.plot())
    shown = {row["level"]: row for row in records if "level" in row}
    assert set(shown) == {"Bern", "Chur", "Zug"}
    for level, row in shown.items():
        line = lines[level]
        assert row["value"] == pytest.approx(line["relativity"])
        ends = np.exp([line["effect_low"], line["effect_high"]])
        np.testing.assert_allclose([row["low"], row["high"]], ends)


def test_lines_and_curves_are_those_of_the_table(linear, curved):
    for table in (linear, curved):
        _, records = drawn(table.plot())
        rows = [row for row in records if "x" in row and "effect" in row]
        bands = [row for row in rows if row["low"] is not None]
        assert bands
        assert all(row["low"] <= row["value"] <= row["high"] for row in bands)
        ages = next(term for term in table.terms if term.columns == ("age",))
        low, high = table.range_of(ages)
        assert (low, high) == pytest.approx(
            tuple(np.quantile(policies_of_600()["age"], [0.01, 0.99]))
        )
        column = {"age": [low, high], "town": ["Bern"] * 2, "miles": [10.0] * 2}
        at_ends = table.predict(column)
        ratio = {row["x"]: row["value"] for row in rows}
        assert ratio[high] / ratio[low] == pytest.approx(at_ends[1] / at_ends[0])


def test_missing_numbers_have_a_line_of_their_own(linear):
    missing = next(line for line in linear.lines() if line["column"] == "miles" and line["missing"])
    _, records = drawn(linear.plot())
    named = next(row for row in records if row.get("name") == "missing")
    assert named["value"] == pytest.approx(missing["relativity"])


def test_points_of_a_nomogram_add_up_to_the_prediction(linear):
    spec, records = drawn(linear.plot("nomogram"))
    height = {row["name"]: row["row"] for row in records if "name" in row}
    by_row = {name: [r for r in records if r.get("row") == y] for name, y in height.items()}

    def points(column, label):
        return next(row["points"] for row in by_row[column] if row.get("label") == label)

    totals = [
        (row["points"], float(row["label"]))
        for row in by_row["claims"]
        if row.get("label") and "points" in row
    ]
    # the logarithm of the prediction is a line of the points
    slope, start = np.polyfit(*zip(*[(p, np.log(v)) for p, v in totals], strict=True), 1)
    for town in ("Bern", "Zug"):
        total = points("age", "40") + points("town", town) + points("miles", "missing")
        prediction = linear.predict({"age": [40.0], "town": [town], "miles": [np.nan]})[0]
        assert np.exp(start + slope * total) == pytest.approx(prediction, rel=1e-9)
    own = [row for name in ("age", "town", "miles") for row in by_row[name] if "points" in row]
    longest = max(row["points"] for row in own)
    assert longest == pytest.approx(100)
    assert "town: " in spec["description"]


def test_a_falling_part_of_a_curve_is_marked_below_its_axis(curved):
    _, records = drawn(curved.plot("nomogram"))
    row = next(r["row"] for r in records if r.get("name") == "age")
    sides = {r["label"]: r["dy"] for r in records if r.get("row") == row and r.get("label")}
    assert sides["30"] > 0 > sides["70"]


def test_probabilities_and_differences_have_nomograms(data):
    age, town, _, claims = policies_of_600().values()
    number = cw.read({"a": age, "town": town, "y": age + (town == "Zug")}, target="y")
    table = cw.factors(cw.learner("ols").fit(number), number)
    assert "difference" in json.dumps(table.plot().to_dict())
    classes = cw.read({"a": age, "town": town, "y": claims > 0}, target="y")
    odds = cw.factors(cw.learner("scorecard").fit(classes), classes)
    for one in (table, odds):
        assert one.plot("nomogram").to_dict()["description"].startswith("Nomogram")


def test_a_file_draws_the_same_pictures(curved, tmp_path):
    (tmp_path / "table.csv").write_text(curved.to_csv(), "utf-8")
    again = cw.explanation.read_factors(tmp_path / "table.csv")
    for kind in ("factors", "nomogram"):
        assert drawn(again.plot(kind))[1] == drawn(curved.plot(kind))[1]


def test_pairs_are_counted_in_the_figure_and_have_no_nomogram(data):
    model = cw.learner("gbm", max_depth=2, max_iter=10).fit(data)
    table = cw.factors(model, data)
    assert "of columns not drawn" in json.dumps(table.plot().to_dict())
    with pytest.raises(cw.InputError, match="one axis for each column, and the table has"):
        table.plot("nomogram")


def test_unknown_pictures_are_refused(linear):
    with pytest.raises(cw.InputError, match="nomogramm") as error:
        linear.plot("nomogramm")
    assert "nomogram" in str(error.value.hint)
