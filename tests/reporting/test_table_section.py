"""The section with the model as a table of factors."""

import json

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting import Facts, More, Note, Sheet, Widget


@pytest.fixture(scope="module")
def policies():
    return cw.datasets.insurance(1_500)


def section_of(model, data, **options):
    page = cw.report(model, data, quick=True, sections=["table"], **options)
    return next((section for section in page.sections if section.name == "table"), None)


def blocks_of(section, kind):
    return [block for block in section.blocks if isinstance(block, kind)]


def test_a_glm_is_shown_with_base_exposure_errors_and_tests(policies):
    model = cw.learner("glm", alpha=0).fit(policies)
    section = section_of(model, policies)
    table = cw.factors(model, policies)
    sheet, tests = blocks_of(section, Sheet)
    assert "at" not in sheet.columns
    assert {"relativity", "standard error", "p-value"} <= set(sheet.columns)
    lines = {row[:2]: dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows}
    base = f"{table.base['region']} (base)"
    assert lines["region", base]["relativity"] == 1
    known = {line["level"]: line for line in table.lines() if line["column"] == "region"}
    for level in ("town", "village"):
        shown = lines["region", level]
        assert shown["relativity"] == pytest.approx(known[level]["relativity"], rel=1e-5)
        assert shown["low"] == pytest.approx(np.exp(known[level]["effect_low"]), rel=1e-5)
    assert "likelihood ratio" in tests.columns
    facts = dict(blocks_of(section, Facts)[0].items)
    assert f"{policies.exposures.sum():,.0f} in units of one year" in facts["Exposure"]


def test_the_files_of_the_page_predict_what_the_model_does(policies, tmp_path):
    model = cw.learner("gam").fit(policies)
    (widget,) = blocks_of(section_of(model, policies), Widget)
    files = {file["name"]: file["text"] for file in widget.data["files"]}
    assert json.dumps(files)
    assert files["factors.sql"].rstrip().endswith(";")
    path = tmp_path / "factors.csv"
    path.write_bytes(files["factors.csv"].encode())
    np.testing.assert_allclose(
        cw.explanation.read_factors(path).predict(policies), model.predict(policies), rtol=1e-12
    )


def test_the_points_of_a_scorecard_on_the_page_score_its_rows(policies):
    frame = policies.to_frame("pandas")
    had_accident = np.where(frame["accidents"] > 0, "yes", "no")
    frame = frame[["age", "region"]].assign(had_accident=had_accident)
    data = cw.read(frame.assign(rare=np.arange(len(frame)) < 9), target="had_accident")
    model = cw.learner("scorecard").fit(data)
    section = section_of(model, data)
    notes = [note.text for note in blocks_of(section, Note)]
    assert any("left out of the model" in note and "rare" in note for note in notes)
    card = next(sheet for sheet in blocks_of(section, Sheet) if sheet.name == "points")
    facts = {name: value for one in blocks_of(section, Facts) for name, value in one.items}
    assert facts["Points to double the odds"] == "20"
    assert "600 points at odds of 50 to 1" in facts["Scaling"]
    other = section_of(cw.learner("gbm", max_depth=1).fit(data), data)
    assert "points" not in [sheet.name for sheet in blocks_of(other, Sheet)]
    # a person adds the points of the page by its words
    total = np.full(len(frame), int(facts["Base points"].partition(":")[0]))
    for column, band, points, *_ in card.rows:
        if column == "region":
            lies = frame[column].isin(band.split(", "))
        else:
            low = float(band.split("above ")[1].split(",")[0]) if "above" in band else -np.inf
            high = float(band.split("up to ")[1]) if "up to" in band else np.inf
            lies = (frame[column] > low) & (frame[column] <= high) & (band != "missing")
        total[lies] += points
    wanted = cw.factors(model, data, points=(600, 50, 20)).points.of(data)
    np.testing.assert_array_equal(total, wanted)


def test_a_curve_of_many_pieces_is_shown_in_part(policies):
    model = cw.learner("gam").fit(policies)
    sheet = blocks_of(section_of(model, policies), Sheet)[0]
    assert "at" in sheet.columns
    for name in policies.features:
        assert len([row for row in sheet.rows if row[0] == name]) <= 43


def test_boosted_trees_of_pairs_have_a_table_and_deeper_ones_none(policies):
    shallow = cw.learner("gbm", max_depth=2, max_iter=15).fit(policies)
    assert blocks_of(section_of(shallow, policies), More)
    deep = cw.learner("gbm", max_depth=4, max_iter=15).fit(policies)
    assert section_of(deep, policies) is None


def test_a_page_without_rows_has_no_table(policies):
    model = cw.learner("glm", alpha=0).fit(policies)
    assert section_of(model, policies, rows=0) is None


@pytest.mark.parametrize("name", ["logistic", "hyperplane"])
def test_a_refused_table_is_stated_in_its_place_and_is_no_failed_step(name):
    x = np.random.default_rng(0).normal(size=40)
    days = np.datetime64("2024-01-01") + np.arange(40)[::-1] ** 2
    data = cw.read({"day": days, "x": x, "y": np.where(x > 0, "yes", "no")}, target="y")
    page = cw.report(cw.learner(name).fit(data), data, quick=True, sections=["table", "cautions"])
    text = page.to_html()
    assert "There is no table" in text
    assert "step failed" not in text
    assert "Error" not in str([section for section in page.sections if section.name == "table"])
