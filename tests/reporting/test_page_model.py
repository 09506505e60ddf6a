"""Which models the page carries, and why it does not carry others."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood.reporting.browser.columns import carried_values, page_values
from clearwood.reporting.browser.page_model import page_model as page_model_of
from clearwood.reporting.browser.tree_places import tree_in_page
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.pack import packed
from clearwood.reporting.sections import tree as tree_section
from clearwood.table import Column, Kind


def page_model(model, data, **options):
    return page_model_of(cw.Explanation(model, data), data, **options)


TYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4", "f4": "<f4", "f8": "<f8"}


def unpacked(part):
    """Read what `packed` wrote, as the page's script does."""
    import base64

    if "table" in part:
        return unpacked(part["table"])[unpacked(part["index"])]
    return np.frombuffer(base64.b64decode(part["data"]), TYPES[part["type"]])


@given(arrays.arrays(np.float64, st.integers(0, 200), elements=st.floats(width=64)))
def test_packed_numbers_come_back_to_the_last_bit(values):
    np.testing.assert_array_equal(unpacked(packed(values)).astype(np.float64), values)


@given(arrays.arrays(np.int64, st.integers(0, 50), elements=st.integers(-(2**31), 2**31 - 1)))
def test_packed_whole_numbers_come_back(values):
    np.testing.assert_array_equal(unpacked(packed(values)), values)


def test_numbers_that_repeat_are_written_once():
    values = np.tile(np.random.default_rng(0).normal(size=10), 200)
    assert set(packed(values)) == {"table", "index"}
    assert len(json.dumps(packed(values))) < len(json.dumps(packed(values + np.arange(2000)))) / 3


def test_columns_are_carried_in_the_shorter_form():
    short = Column("a", Kind.WHOLE, np.arange(6.0))
    long = Column("b", Kind.NUMBER, np.r_[np.random.default_rng(0).normal(size=50), np.nan])
    assert carried_values(short) == page_values(short)
    np.testing.assert_array_equal(unpacked(carried_values(long)), long.values)
    days = np.arange("2020-01", "2021-01", dtype="datetime64[D]").astype("datetime64[us]")
    dates = Column("c", Kind.DATE, np.r_[days, np.datetime64("NaT", "us")])
    back = unpacked(carried_values(dates))
    np.testing.assert_array_equal(back[:-1], days.astype(np.int64))
    assert np.isnan(back[-1])


@pytest.fixture(scope="module")
def diabetes():
    return cw.datasets.load("diabetes")


def test_a_model_that_is_too_large_says_how_large(diabetes):
    model = cw.learner("forest", n_estimators=30).fit(diabetes)
    found = page_model(model, diabetes, most_characters=20_000)
    assert found.data is None
    assert "30 trees" in found.reason
    assert "at most 20 kB is carried" in found.reason


def test_a_huge_model_is_refused_before_it_is_packed(diabetes, monkeypatch):
    model = cw.learner("forest", n_estimators=30).fit(diabetes)
    monkeypatch.setattr("clearwood.reporting.browser.page_model.forest_in_page", None)
    assert "30 trees" in page_model(model, diabetes, most_characters=1_000).reason


@pytest.mark.parametrize(
    ("name", "words"),
    [("knn", "neither a sum over trees"), ("adaboost", "neither a sum over trees")],
)
def test_models_that_are_no_sums_say_so(diabetes, name, words):
    found = page_model(cw.learner(name).fit(diabetes), diabetes)
    assert found.data is None
    assert words in found.reason


def test_a_function_is_not_carried(diabetes):
    assert "neither a sum over trees" in page_model(lambda X: X["bmi"], diabetes).reason


def test_steps_that_bend_numbers_before_trees_are_refused_by_column(diabetes):
    frame = diabetes.X.to_frame("pandas")[["bmi", "bp"]]
    bend = FunctionTransformer(np.cbrt, feature_names_out="one-to-one")
    steps = make_pipeline(bend, RandomForestRegressor(3, max_depth=2, random_state=0))
    found = page_model(steps.fit(frame, diabetes.y), diabetes)
    assert found.data is None
    assert "transforms the column 'b" in found.reason


def test_curves_that_bend_on_and_on_have_ends_in_the_page(diabetes):
    columns = diabetes.select(["bmi", "bp", "target"])
    frame = columns.X.to_frame("pandas")
    bend = FunctionTransformer(np.cbrt, feature_names_out="one-to-one")
    bent = page_model(make_pipeline(bend, Ridge()).fit(frame, diabetes.y), columns).data
    assert all(low < high for low, high in (column["ends"] for column in bent["columns"]))
    straight = page_model(Ridge().fit(frame, diabetes.y), columns).data
    assert not any("ends" in column for column in straight["columns"])


def test_whole_models_are_small_and_ready_for_json(diabetes):
    for name in ("gbm", "ridge", "spline"):
        found = page_model(cw.learner(name).fit(diabetes), diabetes)
        text = json.dumps(found.data, allow_nan=False)
        assert len(text) < 100_000
        assert found.columns == diabetes.features


def test_the_rows_say_which_values_are_never_missing():
    frame = pd.DataFrame({"a": [1.0, 2.0, None, 4.0] * 20, "b": [0.0, 1.0] * 40})
    frame["y"] = frame["b"] * 2 + np.arange(80) % 7
    table = cw.read(frame, target="y")
    page = cw.report(
        cw.learner("gbm", max_iter=3).fit(table), table, sections=["individual"], quick=True
    )
    widget = next(b for b in page.sections[0].blocks if getattr(b, "kind", "") == "rows")
    gaps = {column["name"]: column["gaps"] for column in widget.data["columns"]}
    assert gaps == {"a": 20, "b": 0}
    assert widget.data["labels"] == list(range(80))


def test_the_chapters_words_come_from_the_results():
    table = cw.datasets.load("wine")
    model = cw.learner("tree", max_depth=2).fit(table)
    page = cw.report(model, table, sections=["individual", "tree"], quick=True, sample=40)
    rows, tree = page.sections
    assert "40 of the 178 rows" in rows.blocks[0].paragraphs[0]
    leaves = cw.condense(model).n_leaves
    first = tree.blocks[0].paragraphs[0]
    assert first.startswith(f"One tree with {leaves} leaves predicts the same class")
    rules = next(block for block in tree.blocks if type(block).__name__ == "Sheet")
    assert rules.columns[:4] == ("rule", "prediction", "rows", "share of rows (%)")
    assert sum(row[2] for row in rules.rows) == 178
    certificate = tree.blocks[-1].blocks[0]
    assert dict(certificate.items)["What is equal"] == "same class everywhere"


def test_a_tree_that_is_partly_certified_says_what_the_marks_mean():
    table = cw.datasets.load("diabetes")
    model = cw.learner("forest", n_estimators=12, max_depth=3).fit(table)
    condensed = cw.condense(model, data=table, leaves=150)
    assert 0 < condensed.certificate.share_certified < 1
    findings = Findings(
        model=model,
        name="forest",
        title="",
        table=table,
        sample=table,
        sample_rows=np.arange(table.n_rows),
        features=table.features,
        target="target",
        task=table.task,
        condensed=condensed,
    )
    note = next(b for b in tree_section.section(findings).blocks if type(b).__name__ == "Note")
    assert note.title.endswith("reach a certified leaf")
    assert "ensemble predicts" in note.text
    assert note.tone == "caution"


def test_large_trees_are_opened_where_most_rows_are():
    table = cw.datasets.load("diabetes")
    frame = table.X.to_frame("pandas")[["bmi", "bp", "age"]]
    condensed = cw.condense(DecisionTreeRegressor(max_depth=6, random_state=0).fit(frame, table.y))
    matrix = condensed.matrix(frame)
    whole = tree_in_page(condensed, matrix)
    assert (whole.n_places, whole.n_closed) == (2 * condensed.n_leaves - 1, 0)
    part = tree_in_page(condensed, matrix, most_places=21)
    assert part.n_places <= 21
    assert 0 < part.rows_closed < table.n_rows
    rows = unpacked(part.data["rows"])
    closed = unpacked(part.data["below"]) > 0
    opened = unpacked(part.data["question"]) > 0
    assert rows[closed].max() <= rows[opened].min()
