"""The page of an evaluation."""

import numpy as np
import pytest

import clearwood as cw
from clearwood._shared import invocation
from clearwood.reporting import Chart, Choice, Sheet, evaluation_page
from clearwood.reporting.page.cells import written_rows


@pytest.fixture(scope="module")
def evaluations():
    data = cw.datasets.load("breast_cancer").select(["mean radius", "mean texture", "target"])
    numbers = cw.datasets.load("diabetes").select(["age", "sex", "bmi", "target"])
    return {
        "classes": cw.evaluate(cw.learner("lda").fit(data), data, training=data),
        "numbers": cw.evaluate(cw.learner("ols").fit(numbers), numbers),
        "one value": cw.evaluate(lambda frame: np.full(len(frame), 150.0), numbers),
    }


SECTIONS = {
    "classes": ["Summary", "Lift", "Calibration", "Classes", "By column", "Population"],
    "numbers": ["Summary", "Lift", "Calibration", "By column"],
    "one value": ["Summary", "Lift", "Calibration", "By column"],
}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_are_those_that_the_predictions_have(evaluations, name):
    page = evaluation_page(evaluations[name])
    assert [section.title for section in page.sections] == SECTIONS[name]
    assert "<h1" in page.to_html()


def test_columns_that_are_off_come_first(evaluations):
    page = evaluation_page(evaluations["one value"])
    section = next(section for section in page.sections if section.name == "columns")
    columns, pairs = (block for block in section.blocks if isinstance(block, Choice))
    assert columns.options[0][0] == "bmi"
    assert all(isinstance(blocks[0], Chart) for _, blocks in (*columns.options, *pairs.options))
    assert "bmi" in pairs.options[0][0]


def test_the_page_opens_in_a_browser_without_network(evaluations, open_page):
    with invocation.invoked(invocation.Invocation("clearwood evaluate")):
        page = open_page(evaluation_page(evaluations["classes"]))
    for name in ("ROC curve", "Confusion"):
        page.get_by_role("tab", name=name).click()
    drawn = page.locator("#ranking svg.marks:visible")
    drawn.first.wait_for()
    assert drawn.count() == 1


def test_rows_without_any_event_have_a_page():
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=200), "years": rng.uniform(0.2, 1.0, 200)}
    data = cw.read(
        {**rows, "claims": rng.poisson(rows["years"])}, target="claims", exposure="years"
    )
    model = cw.learner("glm").fit(data)
    page = evaluation_page(cw.evaluate(model, {**rows, "claims": np.zeros(200)}))
    assert "<h1" in page.to_html()


def test_measures_in_different_units_have_their_own_digits():
    """A root mean squared error in thousands is beside an R² below one."""
    numbers = cw.datasets.load("diabetes").select(["bmi", "target"])
    frame = numbers.to_frame("dict")
    data = cw.read({**frame, "target": [1000.0 * y for y in frame["target"]]}, target="target")
    page = evaluation_page(cw.evaluate(cw.learner("ols").fit(data), data))
    (sheet,) = [block for block in page.sections[0].blocks if isinstance(block, Sheet)]
    written = {row[0].text: row[1].text for row in written_rows(sheet)}
    assert written["rmse"] == "62,374"
    assert written["r2"] == "0.3439"
    assert sheet.caption.startswith("Measures, on rows that the model has not seen, with 90 %")
