from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": lambda columns: pa.table(dict(columns)),
}


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    return {
        "age": rng.normal(size=50),
        "power": rng.integers(0, 9, 50),
        "flag": rng.random(50) > 0.5,
    }


@pytest.fixture
def named(columns):
    frame = pd.DataFrame(columns)
    y = frame["age"] + frame["power"] * frame["flag"]
    return DecisionTreeRegressor(max_depth=5).fit(frame, y), frame


@pytest.mark.parametrize("library", FRAMES)
def test_columns_of_every_data_frame_are_found_by_name(library, columns, named):
    model, frame = named
    forest = cw.forest.from_model(model)
    shuffled = {name: columns[name] for name in ("flag", "age", "power")} | {"extra": ["a"] * 50}
    predicted = forest.predict(FRAMES[library](shuffled))
    np.testing.assert_array_equal(predicted, model.predict(frame))


@pytest.mark.parametrize("library", FRAMES)
def test_missing_entries_of_every_data_frame_are_missing(library, columns, named):
    model, frame = named
    forest = cw.forest.from_model(model)
    gaps = {name: [None, *values.tolist()[1:]] for name, values in columns.items()}
    expected = frame.astype(float)
    expected.iloc[0] = np.nan
    np.testing.assert_array_equal(forest.predict(FRAMES[library](gaps)), model.predict(expected))


@pytest.mark.parametrize("library", FRAMES)
def test_categories_of_every_data_frame_are_found_by_label(library):
    rng = np.random.default_rng(0)
    labels = rng.choice(list("abcd"), 300)
    frame = pd.DataFrame({"x": rng.normal(size=300), "label": pd.Categorical(labels)})
    y = frame["label"].cat.codes * frame["x"]
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype")
    forest = cw.forest.from_model(model.fit(frame, y))
    given = FRAMES[library]({"label": labels, "x": frame["x"].to_numpy()})
    np.testing.assert_array_equal(forest.predict(given), model.predict(frame))
    table = cw.read({"label": labels.tolist(), "x": frame["x"].tolist()})
    np.testing.assert_array_equal(forest.predict(table), model.predict(frame))


def test_a_frame_is_read_by_position_where_the_model_saw_no_names(named):
    _, frame = named
    model = DecisionTreeRegressor(max_depth=3).fit(frame.to_numpy(float), frame["age"])
    forest = cw.forest.from_model(model)
    np.testing.assert_array_equal(forest.predict(frame), model.predict(frame.to_numpy(float)))


def test_an_absent_column_is_answered_with_the_nearest(named):
    model, frame = named
    with pytest.raises(cw.InputError, match=r"lacks 'power'.*did you mean 'powr'"):
        cw.forest.from_model(model).predict(frame.rename(columns={"power": "powr"}))


def test_text_where_numbers_were_is_answered_in_the_users_words(named):
    model, frame = named
    with pytest.raises(cw.InputError, match=r"column 'age' holds 'old'.*fitted with numbers"):
        cw.forest.from_model(model).predict(frame.assign(age="old"))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((2, 5)), r"shape \(2, 5\); the model has 3 columns: 'age', 'power' and 'flag'"),
        (np.zeros(3), r"got an array of shape \(3,\).*reshape"),
        (np.array([["a", "b", "c"]]), "not numbers"),
    ],
)
def test_arrays_of_the_wrong_shape_or_type(X, words, named):
    with pytest.raises(cw.InputError, match=words):
        cw.forest.from_model(named[0]).predict(X)


def test_a_model_that_is_no_tree_is_answered_with_the_list():
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(cw.InputError, match=r"LinearRegression is not.*RandomForest.*LightGBM"):
        cw.forest.from_model(model)
    with pytest.raises(cw.InputError, match=r"cw\.explain\(model, data\) samples"):
        cw.forest.from_model("model")


def test_an_unfitted_model_and_a_class_are_told_to_fit():
    with pytest.raises(cw.InputError, match=r"not fitted yet.*fit\(X, y\) first"):
        cw.forest.from_model(RandomForestClassifier())
    with pytest.raises(cw.InputError, match="is a class, not a fitted model"):
        cw.forest.from_model(RandomForestClassifier)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_unfitted_boosters_are_told_to_fit(library):
    module = pytest.importorskip(library)
    name = {"xgboost": "XGBRegressor", "lightgbm": "LGBMRegressor", "catboost": "CatBoostRegressor"}
    with pytest.raises(cw.InputError, match="not fitted yet"):
        cw.forest.from_model(getattr(module, name[library])())


def test_a_single_class_is_named(named):
    model = RandomForestClassifier(2).fit(named[1], ["only"] * 50)
    with pytest.raises(cw.InputError, match="single class, 'only'"):
        cw.forest.from_model(model)


def test_probabilities_of_a_regression_are_refused(named):
    model, frame = named
    with pytest.raises(cw.InputError, match="predicts numbers, not classes"):
        cw.forest.from_model(model).predict_proba(frame)


def test_missing_values_are_refused_where_the_model_has_no_rule_for_them(named):
    _, frame = named
    model = GradientBoostingRegressor(n_estimators=3).fit(frame, frame["age"])
    forest = cw.forest.from_model(model)
    frame = frame.assign(age=[0.0, 0.0, np.nan, *frame["age"][3:]])
    with pytest.raises(cw.InputError, match=r"'age' has a missing value in row 2.*no rule"):
        forest.predict(frame)


@pytest.fixture
def forest(named):
    return cw.forest.from_model(named[0])


def changed(forest, name, position, value):
    array = getattr(forest, name).copy()
    array[position] = value
    return replace(forest, **{name: array})


def test_leaf_values_that_are_not_numbers_are_refused(forest):
    leaf = int(np.flatnonzero(forest.is_leaf)[0])
    with pytest.raises(cw.InputError, match=r"leaf \d+ of tree 0 has the value \[nan\]"):
        changed(forest, "value", leaf, np.nan)


def test_a_model_fitted_to_infinite_targets_is_refused(numbers):
    model = DecisionTreeRegressor(max_depth=2).fit(numbers["X"], numbers["number"])
    model.tree_.value[:] = np.inf
    with pytest.raises(cw.InputError, match="must be finite numbers"):
        cw.forest.from_model(model)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("left", 0, "children come after their parent"),
        ("left", 10_000, "children come after their parent"),
        ("left", -1, "two children or none"),
        ("feature", 3, "splits on column 3; the model has 3 columns"),
        ("threshold", np.nan, "threshold of node 0 is NaN"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(name, value, words, forest):
    with pytest.raises(cw.InputError, match=words):
        changed(forest, name, 0, value)


def test_a_node_with_two_parents_is_refused(forest):
    with pytest.raises(cw.InputError, match="exactly one"):
        changed(forest, "right", 0, int(forest.left[0]))


def test_arrays_of_different_lengths_are_refused(forest):
    with pytest.raises(cw.InputError, match="'cover' has 3 entries"):
        replace(forest, cover=np.ones(3))


def test_an_unknown_setting_is_answered_with_the_known_ones(forest):
    with pytest.raises(cw.InputError, match=r"link='probit' is not a known value.*'identity'"):
        replace(forest, link="probit")


def test_trees_without_weight_have_no_mean(forest):
    with pytest.raises(cw.InputError, match="mean is undefined"):
        replace(forest, aggregation="mean", tree_weight=np.zeros(1), divisor=np.empty(0))
