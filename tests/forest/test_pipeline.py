import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, 300),
            "town": rng.choice(["Bern", "Basel", "Chur"], 300),
            "income": np.where(rng.random(300) < 0.2, np.nan, rng.gamma(2, 30, 300)),
            "idle": rng.choice(["x", "y"], 300),
        }
    )
    y = frame["age"] / 10 + (frame["town"] == "Bern") * 3 + frame["income"].fillna(0) / 50
    return frame, y.to_numpy()


def mixed_pipeline(model):
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore", min_frequency=5)
    encode = make_column_transformer(
        (categories, make_column_selector(dtype_include=object)),
        (numbers, make_column_selector(dtype_include="number")),
    )
    return make_pipeline(encode, model)


def strings_as_objects(frame):
    return frame.astype({"town": object, "idle": object})


def test_one_hot_and_indicator_columns_belong_to_the_users_columns(mixed):
    frame, y = mixed
    frame = strings_as_objects(frame)
    model = mixed_pipeline(RandomForestRegressor(8, random_state=0)).fit(frame, y)
    forest = cw.forest.from_model(model)
    assert forest.columns == ("age", "town", "income", "idle")
    players = [forest.columns[group] for group in forest.groups]
    assert players == ["town"] * 3 + ["idle"] * 2 + ["age", "income", "income"]
    np.testing.assert_array_equal(forest.predict(frame), model.predict(frame))
    shuffled = frame[["idle", "income", "age", "town"]].sample(frac=1, random_state=0)
    np.testing.assert_array_equal(forest.predict(shuffled), model.predict(shuffled))


def test_a_missing_column_is_named(mixed):
    frame, y = mixed
    frame = strings_as_objects(frame)
    model = mixed_pipeline(DecisionTreeRegressor(max_depth=3)).fit(frame, y)
    forest = cw.forest.from_model(model)
    with pytest.raises(cw.InputError, match=r"lacks 'town'.*did you mean 'Town'"):
        forest.predict(frame.rename(columns={"town": "Town"}))


@pytest.mark.parametrize(
    ("step", "groups"),
    [
        (StandardScaler(), [0, 1, 2]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), [0, 1, 2]),
        (SplineTransformer(n_knots=3, degree=1), [0, 0, 0, 1, 1, 1, 2, 2, 2]),
        (KBinsDiscretizer(2, quantile_method="averaged_inverted_cdf"), [0, 0, 1, 1, 2, 2]),
        (KBinsDiscretizer(2, encode="ordinal", quantile_method="linear"), [0, 1, 2]),
        (PolynomialFeatures(1, include_bias=False), [0, 1, 2]),
        (TargetEncoder(target_type="continuous"), [0, 1, 2]),
        (FunctionTransformer(), [0, 1, 2]),
        (FunctionTransformer(np.abs, feature_names_out="one-to-one"), [0, 1, 2]),
        (SelectKBest(f_regression, k=1), [1]),
        (FeatureUnion([("a", StandardScaler()), ("b", "passthrough")]), [0, 1, 2, 0, 1, 2]),
        ("passthrough", [0, 1, 2]),
    ],
    ids=lambda value: type(value).__name__,  # a function's repr differs between processes
)
def test_each_step_passes_the_users_columns_on(step, groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)).round(1)
    model = make_pipeline(step, DecisionTreeRegressor(max_depth=4)).fit(X, X[:, 1] + X[:, 0] / 9)
    forest = cw.forest.from_model(model)
    assert forest.groups.tolist() == groups
    np.testing.assert_array_equal(forest.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (PCA(2), "PCA may combine several of your columns"),
        (KNNImputer(), "KNNImputer computes each column from all"),
        (PolynomialFeatures(2), "from several of yours, or from none"),
        (FunctionTransformer(np.abs), "have no known source"),
    ],
    ids=str,
)
def test_steps_that_mix_columns_are_refused(step, words):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = make_pipeline(step, DecisionTreeRegressor(max_depth=2)).fit(X, X[:, 0])
    with pytest.raises(cw.InputError, match=words):
        cw.forest.from_model(model)
    assert cw.forest.from_model(model[-1]).n_trees == 1


def test_classes_and_a_search_around_a_pipeline(mixed):
    frame, y = mixed
    frame = strings_as_objects(frame)
    labels = np.where(y > np.median(y), "high", "low")
    model = mixed_pipeline(HistGradientBoostingClassifier(max_iter=5))
    search = GridSearchCV(model, {"histgradientboostingclassifier__max_depth": [2, 3]}, cv=2)
    search.fit(frame, labels)
    forest = cw.forest.from_model(search)
    np.testing.assert_array_equal(forest.predict(frame), search.predict(frame))


def test_saved_with_its_steps(mixed, tmp_path):
    frame, y = mixed
    X = frame[["age", "income"]]
    model = make_pipeline(SimpleImputer(), StandardScaler(), DecisionTreeRegressor(max_depth=4))
    forest = cw.forest.from_model(model.fit(X, y))
    again = cw.forest.load(forest.save(tmp_path / "forest.cw"))
    assert again.equals(forest)
    np.testing.assert_array_equal(again.predict(frame), model.predict(X))
