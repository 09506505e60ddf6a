"""Models of every library: the one tree predicts what the model itself predicts."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import clearwood as cw
from clearwood.condensing import load


def binary():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


def classes():
    return load_iris(return_X_y=True)


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return X[:, :5], y


def around(X, rng, *, missing=False):
    """Rows of the data and rows mixed from them, far outside and missing here and there."""
    mixed = np.column_stack([rng.permutation(column) for column in X.T])
    wild = mixed * rng.choice([-10.0, 1.0, 10.0], X.shape)
    rows = np.vstack([X, mixed, wild])
    if missing:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def xgboost(kind, **options):
    return getattr(pytest.importorskip("xgboost"), kind)(n_jobs=1, **options)


def lightgbm(kind, **options):
    return getattr(pytest.importorskip("lightgbm"), kind)(n_jobs=1, verbose=-1, **options)


def catboost(kind, **options):
    options |= {"verbose": False, "thread_count": 1, "allow_writing_files": False}
    return getattr(pytest.importorskip("catboost"), kind)(random_seed=0, **options)


MODELS = {
    "one tree": (lambda: DecisionTreeClassifier(random_state=0), classes, True),
    "forest": (lambda: RandomForestClassifier(10, max_depth=3, random_state=0), classes, True),
    "extra trees": (lambda: ExtraTreesClassifier(6, max_depth=2, random_state=0), binary, False),
    "boosting": (lambda: GradientBoostingClassifier(n_estimators=8, max_depth=2), binary, False),
    "exponential": (
        lambda: GradientBoostingClassifier(n_estimators=8, max_depth=2, loss="exponential"),
        binary,
        False,
    ),
    "boosted classes": (
        lambda: GradientBoostingClassifier(n_estimators=8, max_depth=2),
        classes,
        False,
    ),
    "histogram": (
        lambda: HistGradientBoostingClassifier(max_iter=6, max_depth=2),
        binary,
        True,
    ),
    "AdaBoost": (
        lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=7),
        binary,
        False,
    ),
    "AdaBoost of classes": (
        lambda: AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8),
        classes,
        False,
    ),
    "regression forest": (
        lambda: RandomForestRegressor(3, max_depth=2, random_state=0),
        numbers,
        False,
    ),
    "regression histogram": (
        lambda: HistGradientBoostingRegressor(max_iter=4, max_depth=2),
        numbers,
        True,
    ),
    "AdaBoost.R2": (
        lambda: AdaBoostRegressor(n_estimators=2, random_state=0),
        numbers,
        False,
    ),
    "XGBoost": (
        lambda: xgboost("XGBClassifier", n_estimators=8, max_depth=2),
        binary,
        True,
    ),
    "XGBoost of classes": (
        lambda: xgboost("XGBClassifier", n_estimators=6, max_depth=2),
        classes,
        True,
    ),
    "XGBoost regression": (
        lambda: xgboost("XGBRegressor", n_estimators=5, max_depth=2),
        numbers,
        True,
    ),
    "LightGBM": (
        lambda: lightgbm("LGBMClassifier", n_estimators=8, num_leaves=5),
        binary,
        True,
    ),
    "LightGBM, zeros missing": (
        lambda: lightgbm("LGBMClassifier", n_estimators=6, num_leaves=5, zero_as_missing=True),
        binary,
        True,
    ),
    "CatBoost": (
        lambda: catboost("CatBoostClassifier", iterations=6, depth=3),
        binary,
        True,
    ),
    "CatBoost of classes": (
        lambda: catboost("CatBoostClassifier", iterations=4, depth=2),
        classes,
        True,
    ),
    "CatBoost, leaf by leaf": (
        lambda: catboost("CatBoostClassifier", iterations=4, grow_policy="Lossguide", max_leaves=5),
        binary,
        True,
    ),
    "LightGBM regression": (
        lambda: lightgbm("LGBMRegressor", n_estimators=4, num_leaves=4),
        numbers,
        True,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_one_tree_predicts_what_the_model_predicts(name):
    make, data, missing = MODELS[name]
    X, y = data()
    rng = np.random.default_rng(0)
    train = X.copy()
    if missing:
        train[rng.random(X.shape) < 0.05] = np.nan
        train[rng.random(X.shape) < 0.05] = 0.0
    model = make().fit(train, y)
    one = cw.condense(model)
    rows = around(X, rng, missing=missing)
    assert one.is_exact
    assert cw.certify(one, model)
    if one.equal == "class":
        np.testing.assert_array_equal(one.predict(rows), np.ravel(model.predict(rows)))
    else:
        np.testing.assert_array_equal(one.predict(rows), model.predict(rows).astype(np.float64))


@pytest.mark.filterwarnings("ignore::clearwood.condensing.LittleProvedWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_budget_of_leaves_serves_models_of_every_kind(name):
    make, data, missing = MODELS[name]
    X, y = data()
    model = make().fit(X, y)
    one = cw.condense(model, data=X, leaves=4, time_limit=60)
    assert one.n_leaves <= 4
    assert cw.certify(one, model)
    rows = around(X, np.random.default_rng(1), missing=missing)
    expected = np.asarray(cw.forest.from_model(model).predict(rows))
    np.testing.assert_array_equal(one.predict(rows), expected)
    assert one.certificate.share_certified == one.is_certified(X).mean()


TO_THE_LAST_BIT = {
    **{
        f"XGBoost {objective}": lambda objective=objective: xgboost(
            "XGBRegressor", n_estimators=4, max_depth=2, objective=objective
        )
        for objective in ("count:poisson", "reg:gamma", "reg:tweedie")
    },
    "XGBoost dart": lambda: xgboost(
        "XGBRegressor", n_estimators=6, max_depth=2, booster="dart", rate_drop=0.4
    ),
    **{
        f"LightGBM {objective}": lambda objective=objective: lightgbm(
            "LGBMRegressor", n_estimators=4, num_leaves=4, objective=objective
        )
        for objective in ("poisson", "gamma", "tweedie")
    },
    **{
        f"histogram {loss}": lambda loss=loss: HistGradientBoostingRegressor(
            max_iter=4, max_depth=2, loss=loss
        )
        for loss in ("poisson", "gamma")
    },
}


@pytest.mark.parametrize("name", TO_THE_LAST_BIT)
def test_numbers_on_the_targets_scale_agree_to_the_last_bit(name):
    X, y = numbers()
    model = TO_THE_LAST_BIT[name]().fit(X, y)
    rows = around(X, np.random.default_rng(0), missing=True)
    found = cw.condense(model).predict(rows)
    np.testing.assert_array_equal(found, model.predict(rows).astype(np.float64))


def test_labels_that_come_as_a_column_are_compared_row_by_row():
    X, y = classes()
    model = catboost("CatBoostClassifier", iterations=4, depth=2).fit(X, y)
    assert model.predict(X).shape == (150, 1)
    assert cw.condense(model).prune(X).agreement(model, X) == 1.0


def test_catboost_numbers_are_the_forests_own():
    X, y = numbers()
    model = catboost("CatBoostRegressor", iterations=4, depth=2).fit(X, y)
    one = cw.condense(model)
    assert cw.certify(one, model)
    # CatBoost adds up trees in blocks, so its last digits may differ
    np.testing.assert_allclose(one.predict(X), model.predict(X), rtol=1e-13)


def test_columns_are_found_by_name_and_categories_by_label():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {
            "town": pandas.Categorical(rng.choice(["Ulm", "Köln", "Bonn", "Hof"], 400)),
            "age": rng.integers(18, 80, 400).astype(float),
        }
    )
    late = frame["town"].isin(["Ulm", "Hof"]) ^ (frame["age"] > 50)
    model = lightgbm("LGBMClassifier", n_estimators=10, num_leaves=6).fit(frame, late)
    one = cw.condense(model)
    np.testing.assert_array_equal(one.predict(frame[["age", "town"]]), model.predict(frame))
    assert one.diagram.is_categorical.any()


def test_values_that_the_model_refuses_are_refused():
    pandas = pytest.importorskip("pandas")
    X, y = classes()
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = AdaBoostClassifier(n_estimators=2, random_state=0).fit(frame, y)
    one = cw.condense(model)
    asked = one.feature_names[one.diagram.feature[0]]
    with pytest.raises(cw.InputError, match=f"'{asked}' holds 'much'; the model was fitted with n"):
        one.predict(frame.assign(**{asked: "much"}))
    with pytest.raises(cw.InputError, match=f"'{asked}' has a missing value in row 0"):
        one.predict(frame.assign(**{asked: np.nan}))
    idle = next(name for j, name in enumerate("abcd") if j not in one.diagram.feature)
    wanted = model.predict(frame)
    np.testing.assert_array_equal(one.predict(frame.assign(**{idle: "text"})), wanted)


def test_a_pipelines_tree_says_which_columns_it_reads_once_it_was_a_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = pandas.DataFrame({"town": ["Ulm", "Hof", "Bonn", "Ulm"] * 20, "age": range(80)})
    late = (frame["town"] == "Ulm") ^ (frame["age"] > 30)
    first = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    model = make_pipeline(first, DecisionTreeClassifier(max_depth=3)).fit(frame, late)
    one = cw.condense(model)
    np.testing.assert_array_equal(one.predict(frame), model.predict(frame))
    again = load(one.save(tmp_path / "tree.json"))
    with pytest.raises(
        cw.InputError, match=r"the steps of the pipeline are not kept.*pipeline\[:-1\]"
    ):
        again.predict(frame)
    np.testing.assert_array_equal(again.predict(model[:-1].transform(frame)), model.predict(frame))
