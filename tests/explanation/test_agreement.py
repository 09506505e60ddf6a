"""Where methods differ, and whether the reason given is the one that was built in."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import clearwood as cw


def twins(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    return np.column_stack([x, x + rng.normal(0, 0.1, n_rows), rng.normal(size=(n_rows, 2))[:, 0]])


def test_independent_columns_and_a_sum_agree():
    X = np.random.default_rng(1).normal(size=(600, 3))
    found = cw.agreement(lambda X: X[:, 0] + X[:, 1] ** 2, X)
    assert all(entry.agrees for entry in found.columns)
    assert "all methods agree about 3 columns" in repr(found)


def test_an_ignored_twin_differs_because_it_is_associated_with_the_other():
    found = cw.agreement(lambda X: X[:, 0] + X[:, 2], twins())
    entry = found["x1"]
    assert entry.disagreements == ("interventional against observational",)
    assert entry.associated_with[0][0] == "x0"
    assert "associated with 'x0'" in entry.words
    assert found["x2"].agrees


def test_pdp_and_ale_differ_where_twins_interact():
    found = cw.agreement(lambda X: X[:, 0] * X[:, 1], twins())
    entry = found["x0"]
    assert "pdp against ale" in entry.disagreements
    assert entry.interacts_with == "x1"
    assert entry.extrapolates > 0.5
    for words in ("associated with 'x1'", "interacts with 'x1'", "extrapolates"):
        assert words in entry.words


def test_impurity_that_was_fooled_by_many_values_is_pointed_out():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 2, 500), rng.normal(size=500)]).astype(float)
    y = X[:, 0] + rng.normal(0, 1.5, 500)
    model = RandomForestRegressor(30, random_state=0).fit(X[:250], y[:250])
    found = cw.agreement(model, X[250:], y=y[250:])
    assert "impurity against permutation" in found["x1"].disagreements
    assert "impurity gives it" in found["x1"].words


def test_levels_dates_and_missing_values_are_compared():
    rng = np.random.default_rng(3)
    day = np.datetime64("2024-01-01", "us") + rng.integers(0, 300, 300) * np.timedelta64(1, "D")
    a = np.where(rng.uniform(size=300) < 0.1, np.nan, rng.normal(size=300))
    data = cw.read(
        {"day": day, "town": rng.choice(["x", "y", "z"], 300), "a": a, "y": rng.normal(size=300)},
        target="y",
    )
    found = cw.agreement(cw.learner("gbm", max_iter=20).fit(data), data)
    assert {entry.column for entry in found.columns} == {"day", "town", "a"}
    assert all(np.isfinite(entry.pdp_ale) for entry in found.columns)


def test_several_classes_are_compared_at_once():
    wine = cw.datasets.load("wine")
    model = cw.learner("logistic").fit(wine)
    found = cw.agreement(model, wine, columns=["ash", "proline"])
    assert {entry.column for entry in found.columns} == {"ash", "proline"}


def test_constant_columns_are_left_out_and_unknown_ones_refused():
    X = np.column_stack([twins(100)[:, 0], np.ones(100)])
    found = cw.agreement(lambda X: X[:, 0], X)
    assert found.notes[0] == "1 columns do not vary and are left out"
    with pytest.raises(cw.InputError, match="no column 'x7'"):
        cw.agreement(lambda X: X[:, 0], X, columns=["x7"])
    with pytest.raises(cw.InputError, match="1 row"):
        cw.agreement(lambda X: X[:, 0], X[:1])


def test_results_are_given_as_frame_json_and_picture():
    found = cw.agreement(lambda X: X[:, 0], twins(200))
    assert list(found.to_frame("pandas")["column"]) == [e.column for e in found.columns]
    assert json.loads(json.dumps(found.to_json()))["columns"][0]["words"]
    assert "<table" in found._repr_html_()
    assert "methods disagree" in found.plot().to_dict()["description"]


def test_a_time_limit_compares_the_columns_there_is_time_for():
    X = np.random.default_rng(5).normal(size=(200, 4))
    with pytest.warns(cw.ClearwoodWarning, match="after 1 of 4 columns"):
        found = cw.agreement(lambda X: X[:, 0], X, time_limit=1e-9)
    assert len(found.columns) == 1
