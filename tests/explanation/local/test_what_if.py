"""What if: the difference, its shares, forms of rows, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw

numbers = st.floats(-100, 100)


@given(st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, min_size=3, max_size=3))
def test_contributions_add_up_to_the_difference(old, new):
    def model(X):
        return X[:, 0] * X[:, 1] + np.maximum(X[:, 2], X[:, 0])

    found = cw.what_if(model, [old], 0, dict(zip(("x0", "x1", "x2"), new, strict=True)))
    assert_allclose(found.shares.sum(axis=0), found.difference, atol=1e-8)
    assert_allclose(found.after, model(np.array([new])))
    assert_allclose(found.before, model(np.array([old])))


def test_two_changes_share_what_they_do_together():
    found = cw.what_if(lambda X: X[:, 0] * X[:, 1], [[2.0, 3.0]], 0, x0=4.0, x1=5.0)
    assert found.difference[0] == 14
    assert_allclose(found.alone[:, 0], [6, 4])
    assert_allclose(found.shares[:, 0], [8, 6])  # half each of the 4 that only both bring
    assert "6 → 20 (+14)" in repr(found)
    assert found.to_frame("dict")["was"] == ["2", "3"]
    assert found.to_json()["after"] == [20.0]
    assert "<table>" in found._repr_html_()


def test_whole_numbers_may_become_fractions():
    pd = pytest.importorskip("pandas")
    row = pd.DataFrame({"age": [30], "n": [2]})
    found = cw.what_if(lambda rows: rows["age"] * 2.0, row, row, age=30.5)
    assert found.after[0] == 61.0


@pytest.mark.parametrize("form", ["dict", "series", "frame", "polars", "table"])
def test_rows_of_every_form(form):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [30.0, 50.0], "town": ["a", "b"]})
    row = {
        "dict": {"age": 30.0, "town": "a"},
        "series": frame.iloc[0],
        "frame": frame.head(1),
        "polars": pytest.importorskip("polars").from_pandas(frame.head(1)),
        "table": cw.read(frame).head(1),
    }[form]

    def model(rows):
        return np.asarray(rows["age"]) * np.where(np.asarray(rows["town"]) == "b", 2, 1)

    found = cw.what_if(model, row, row, age=40.0)
    assert found.columns == ("age",)
    assert_allclose([found.before[0], found.after[0]], [30, 40])


def test_a_learner_knows_its_levels():
    data = cw.read(
        {"age": np.arange(40.0) / 3, "town": ["a", "b"] * 20, "y": np.arange(40.0) * 2},
        target="y",
    )
    model = cw.learner("ols").fit(data)
    row = {"age": 3.0, "town": "a"}
    found = cw.what_if(model, row, row, age=10, town="b")
    expected = model.predict({"age": [3.0, 10.0], "town": ["a", "b"]})
    assert_allclose([found.before[0], found.after[0]], expected)
    with pytest.raises(cw.InputError, match=r"'c' is not a level of column 'town'"):
        cw.what_if(model, row, row, town="c")
    with pytest.raises(cw.InputError, match="holds numbers; 'old' is none"):
        cw.what_if(model, row, row, age="old")


def test_classes_are_told_apart():
    X = np.random.default_rng(0).normal(size=(90, 2))
    model = RandomForestClassifier(5, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    found = cw.what_if(model, X, 0, x0=2.0)
    assert found.outputs == ("0", "1", "2")
    assert found.difference.sum() == pytest.approx(0, abs=1e-12)
    one = cw.what_if(model, X, 0, x0=2.0, output=2)
    assert one.after[0] == pytest.approx(found.after[2])


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        ([1.0, 2.0], {}, "nothing is changed"),
        ([1.0, 2.0], {"x5": 1.0}, "no column 'x5'"),
        ([[1.0], [2.0]], {"x0": 1.0}, "2 rows are given"),
        ({"age": 3}, {"aeg": 4}, "no column 'aeg'.*did you mean 'age'"),
    ],
)
def test_what_cannot_be_asked_is_said(row, changes, message):
    with pytest.raises(cw.InputError, match=message):
        cw.what_if(lambda X: np.zeros(len(X)), row, row, changes)
