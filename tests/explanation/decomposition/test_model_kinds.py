"""Every kind of model that `cw.explain` takes, and clear words for those it does not."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood.explanation import Explanation, NotDecomposableError, Scale
from clearwood.explanation.decomposition.decompose import check_scale
from clearwood.models import catalogue

X = np.random.default_rng(0).normal(size=(80, 3))
NUMBERS = X[:, 0] + np.where(X[:, 1] > 0, X[:, 2], 0)
CLASSES = np.array(["a", "b", "c"])[np.digitize(NUMBERS, np.quantile(NUMBERS, [0.3, 0.6]))]
PAIR = np.where(NUMBERS > 0, "yes", "no")
COUNTS = np.random.default_rng(1).poisson(np.exp(NUMBERS / 3))

TREES = {
    "decision tree": (DecisionTreeRegressor(max_depth=4), NUMBERS, "predict"),
    "bagging": (BaggingRegressor(n_estimators=5, random_state=0), NUMBERS, "predict"),
    "forest": (RandomForestClassifier(5, random_state=0), CLASSES, "predict_proba"),
    "gradient boosting": (
        GradientBoostingClassifier(n_estimators=5, random_state=0),
        CLASSES,
        "decision_function",
    ),
    "histogram boosting": (HistGradientBoostingRegressor(max_iter=5), NUMBERS, "predict"),
    "boosted stumps": (AdaBoostClassifier(n_estimators=5, random_state=0), PAIR, None),
}
SUMS = {
    "least squares": (LinearRegression(), NUMBERS, "predict", "prediction"),
    "ridge": (Ridge(), NUMBERS, "predict", "prediction"),
    "lasso": (Lasso(0.01), NUMBERS, "predict", "prediction"),
    "logistic": (LogisticRegression(), PAIR, "decision_function", "log odds"),
    "softmax": (LogisticRegression(), CLASSES, "decision_function", "score before softmax"),
    "ridge classes": (RidgeClassifier(), CLASSES, "decision_function", "score"),
    "discriminant": (LinearDiscriminantAnalysis(), PAIR, "decision_function", "log odds"),
    "support vectors": (LinearSVC(), PAIR, "decision_function", "score"),
}


def added_up(why, rows):
    found = why.values(rows)
    return found.baseline + found.values.sum(axis=1) + found.remainder


@pytest.mark.parametrize("kind", TREES)
def test_parts_of_a_tree_model_add_up_to_its_own_raw_prediction(brute, kind):
    model, y, method = TREES[kind]
    model.fit(X, y)
    why = cw.explain(model, X)
    total = added_up(why, X)
    assert_allclose(total, cw.forest.from_model(model).predict_raw(X), atol=1e-12)
    if method is not None:
        assert_allclose(total, getattr(model, method)(X), atol=1e-12)
    exact = why.shapley(X[:2])
    oracle = brute(cw.forest.from_model(model).predict_raw, X)
    expected = np.array([[oracle.shapley(x, k) for k in range(3)] for x in X[:2]])
    assert_allclose(exact.values.reshape(expected.shape), expected, atol=1e-12)


@pytest.mark.parametrize("kind", SUMS)
def test_a_linear_model_is_read_off_exactly(brute, kind):
    model, y, method, unit = SUMS[kind]
    model.fit(X, y)
    score = getattr(model, method)
    why = cw.explain(model, X)
    assert (why.order, why.about.unit) == (1, unit)
    assert_allclose(why.predict(X), score(X), atol=1e-12)
    assert_allclose(why.remainder(X), 0, atol=0)
    oracle = brute(score, X)
    expected = np.array([[oracle.shapley(x, k) for k in range(3)] for x in X[:2]])
    found = why.shapley(X[:2], interactions=True)
    assert_allclose(found.values.reshape(expected.shape), expected, atol=1e-12)
    assert_allclose(found.interactions.sum(axis=2), found.values)


@pytest.mark.parametrize("model", [PoissonRegressor(), TweedieRegressor(power=1.5)])
def test_a_generalised_linear_model_is_explained_on_the_scale_of_its_link(model):
    model.fit(X, COUNTS)
    why = cw.explain(model, X)
    assert why.about.unit == "log of the mean"
    assert_allclose(np.exp(why.predict(X)), model.predict(X))


def mixed_table(n=120):
    generator = np.random.default_rng(1)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "age": generator.integers(18, 80, n).astype(float),
            "town": generator.choice(["Bern", "Chur", "Basel"], n),
            "power": generator.normal(50, 10, n),
        },
        index=generator.permutation(n) + 1000,
    )
    return frame, 0.1 * frame["age"] + (frame["town"] == "Bern") * frame["power"]


ENCODE = make_column_transformer(
    (OneHotEncoder(sparse_output=False), ["town"]),
    (SplineTransformer(), ["age"]),
    remainder=StandardScaler(),
)


@pytest.mark.parametrize(
    "last", [Ridge(), RandomForestClassifier(4, max_depth=4, random_state=0)], ids=["sum", "trees"]
)
def test_a_pipeline_is_explained_in_the_columns_of_the_user(brute, last):
    frame, y = mixed_table()
    target = y if isinstance(last, Ridge) else np.where(y > y.median(), "high", "low")
    model = make_pipeline(ENCODE, last).fit(frame, target)
    score = model.predict if isinstance(last, Ridge) else model.predict_proba
    why = cw.explain(model, frame[["power", "age", "town"]])
    assert why.columns == ("age", "town", "power")
    assert_allclose(added_up(why, frame), score(frame), atol=1e-9)
    found = why.shapley(frame.iloc[:2])
    assert found.rows.tolist() == frame.index[:2].tolist()

    def predict(rows):
        import pandas as pd

        return score(pd.DataFrame(rows, columns=frame.columns).astype(frame.dtypes))

    oracle = brute(predict, frame.to_numpy(object))
    rows = frame.to_numpy(object)[:2]
    expected = np.array([[oracle.shapley(x, k) for k in range(3)] for x in rows])
    assert_allclose(found.values.reshape(expected.shape), expected, atol=1e-9)


def test_steps_that_mix_columns_keep_a_linear_model_but_products_do_not():
    from sklearn.decomposition import PCA

    rotated = make_pipeline(PCA(2), LinearRegression()).fit(X, NUMBERS)
    assert_allclose(cw.explain(rotated, X).predict(X), rotated.predict(X), atol=1e-12)
    products = make_pipeline(PolynomialFeatures(2), LinearRegression()).fit(X, NUMBERS)
    with pytest.raises(NotDecomposableError, match="not a sum over its columns"):
        _ = Explanation(products, X).game


def test_the_best_model_of_a_search_is_explained():
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}).fit(X, NUMBERS)
    assert_allclose(cw.explain(search, X).predict(X), search.predict(X), atol=1e-12)


def test_a_forest_is_taken_wherever_a_model_is():
    model = DecisionTreeRegressor(max_depth=3).fit(X, NUMBERS)
    forest = cw.forest.from_model(model)
    assert_allclose(
        cw.shapley(forest, X, X[:5]).values,
        cw.shapley(model, X, X[:5]).values,
    )


def test_an_ensemble_of_one_leaf_is_a_constant():
    model = DecisionTreeRegressor().fit(X, np.ones(len(X)))
    why = cw.explain(model, X)
    assert why.components == ()
    assert why.baseline == 1.0
    assert_allclose(why.predict(X[:3]), 1.0)
    assert_allclose(why.shapley(X[:3]).values, 0)
    assert_allclose(why.importance().total, 0)
    assert "a constant" in repr(why)
    assert_allclose(why.effect("x0", kind="component").values, 0)


@pytest.fixture(scope="module")
def tables():
    generator = np.random.default_rng(2)
    n = 90
    age = generator.integers(18, 80, n).astype(float)
    power = generator.normal(50, 10, n)
    power[::11] = np.nan
    town = generator.choice(["Bern", "Chur", "Basel"], n)
    day = np.datetime64("2020-01-01") + generator.integers(0, 900, n)
    y = 0.1 * age + np.where(town == "Bern", 3, 0) + generator.normal(size=n) + 5
    targets = {
        "regression": y,
        "count": generator.poisson(y),
        "binary": np.where(y > np.median(y), "yes", "no"),
        "multiclass": np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))],
    }
    columns = {"age": age, "power": power, "town": town, "day": day}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        return {
            task: cw.read({**columns, "y": target}, target="y", task=task)
            for task, target in targets.items()
        }


NOT_SUMS = {"knn", "local", "kernel-ridge", "svm", "svr", "qda", "rda", "stacking", "mlp"}
NOT_SUMS |= {"network", "transformer"}
#: For classes that a hyperplane separates, and for grids of numbers, which these are not.
SEPARABLE = {"hyperplane", "cnn"}
SIZES = {"n_estimators": 6, "max_iter": 8, "iterations": 8, "epochs": 2}


@pytest.mark.parametrize("name", sorted({*catalogue.names(installed=True)} - SEPARABLE))
def test_every_learner_of_the_catalogue_is_explained_or_refused_clearly(tables, name):
    entry = catalogue.get(name)
    task = next(task for task in tables if task in entry.tasks)
    data = tables[task]
    settings = {key: value for key, value in SIZES.items() if key in entry.defaults}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cw.learner(name, **settings).fit(data)
    if name in NOT_SUMS or name == "adaboost":
        with pytest.raises(
            NotDecomposableError, match=r"no exact decomposition|not a sum over trees"
        ):
            _ = Explanation(model, data).game
        return
    why = cw.explain(model, data)
    assert why.columns == ("age", "power", "town", "day")
    total = added_up(why, data)
    if task in ("regression", "count"):
        predicted = model.predict(data)
        logs = why.about.unit == "log of the mean"
        tolerance = 1e-5 if name == "xgboost" else 1e-9  # XGBoost adds up in single precision
        assert_allclose(total, np.log(predicted) if logs else predicted, atol=tolerance)
    elif hasattr(model, "decision_function"):
        assert_allclose(total, model.decision_function(data), atol=1e-9)
    found = why.shapley(data.head(3))
    assert_allclose(found.prediction, total[:3], atol=1e-9)
    assert {names[0] for names in why.components if len(names) == 1} <= set(why.columns)
    for column in why.columns:
        assert np.isfinite(why.effect(column, kind="component").values).all()


@pytest.mark.parametrize("categories", ["onehot", "ordinal", "target"])
def test_columns_made_from_one_column_play_as_one(brute, tables, categories):
    data = tables["regression"]
    model = cw.learner("forest", n_estimators=3, max_depth=4, categories=categories).fit(data)
    encoded = model.encoder_.transform(cw.table.as_table(data, schema=model.schema_))
    oracle = brute(model.estimator_.predict, encoded, groups=model.encoder_.sources_)
    found = cw.shapley(model, data, data.head(2))
    assert found.columns == ("age", "power", "town", "day")
    expected = [[oracle.shapley(x, k)[0] for k in range(4)] for x in encoded[:2]]
    assert_allclose(found.values, expected, atol=1e-10)


@pytest.mark.parametrize(
    "model",
    [KNeighborsRegressor(), GaussianProcessRegressor(), StackingRegressor([("a", Ridge())])],
    ids=lambda model: type(model).__name__,
)
def test_other_models_are_refused_with_the_list_and_a_way_out(model):
    model.fit(X, NUMBERS)
    with pytest.raises(NotDecomposableError, match=r"RandomForest.*logistic.*sampled"):
        _ = Explanation(model, X).game


def test_medians_of_trees_are_refused():
    model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, NUMBERS)
    with pytest.raises(NotDecomposableError, match="not a sum over trees"):
        _ = Explanation(model, X).game


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ridge(), "this Ridge is not fitted yet"),
        (RandomForestClassifier(), "this RandomForestClassifier is not fitted yet"),
        (Ridge, "Ridge is a class"),
        (cw.learner("ridge"), "not fitted yet"),
        (object(), "object is not a model: it has no `predict`"),
    ],
    ids=["unfitted", "unfitted forest", "class", "unfitted learner", "something else"],
)
def test_what_is_no_fitted_model_is_said_to_be_none(model, message):
    with pytest.raises(cw.InputError, match=message):
        _ = Explanation(model, X).game


def with_categories(n=70):
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(3)
    town = pd.Categorical(generator.choice(["Bern", "Chur", "Basel", "Genf"], n))
    frame = pd.DataFrame(
        {"age": generator.integers(18, 80, n), "power": generator.normal(50, 10, n), "town": town}
    )
    frame.loc[::9, "power"] = np.nan
    frame.loc[::14, "town"] = None
    y = 0.1 * frame["age"] + np.where(frame["town"] == "Bern", 3, 0) * (frame["power"] > 50)
    return frame, y


def boosting(library):
    if library == "scikit-learn":
        model = HistGradientBoostingRegressor(
            max_iter=6, min_samples_leaf=5, categorical_features="from_dtype"
        )
        return model, model.predict, 1e-12
    if library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMRegressor(
            n_estimators=6, min_child_samples=5, n_jobs=1, verbose=-1
        )
        return model, model.predict, 1e-12
    model = pytest.importorskip("xgboost").XGBRegressor(
        n_estimators=6, max_depth=3, enable_categorical=True, n_jobs=1
    )
    return model, model.predict, 1e-5  # it adds up in single precision


@pytest.mark.parametrize("library", ["scikit-learn", "lightgbm", "xgboost"])
def test_native_categories_and_gaps_are_explained_as_brute_force_does(brute, library):
    import pandas as pd

    frame, y = with_categories()
    model, score, tolerance = boosting(library)
    model.fit(frame, y)

    def predict(rows):
        return score(pd.DataFrame(rows, columns=frame.columns).astype(frame.dtypes))

    rows = frame.to_numpy(object)
    oracle = brute(predict, rows)
    chosen = [0, 9, 14]  # with a missing number and a missing category
    found = cw.shapley(model, frame, frame.iloc[chosen])
    expected = [[oracle.shapley(rows[i], k)[0] for k in range(3)] for i in chosen]
    assert_allclose(found.values, expected, atol=tolerance)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4)),
        make_pipeline(
            make_column_transformer(
                (OneHotEncoder(sparse_output=False), ["town"]), remainder="passthrough"
            ),
            Ridge(),
        ),
    ],
    ids=["sum", "trees after a step", "own encoding"],
)
def test_an_estimator_that_a_benchmark_wrapped_is_explained_in_the_columns_of_the_user(estimator):
    from clearwood.models import WrappedEstimator

    frame, y = mixed_table()
    data = cw.read(frame.reset_index(drop=True).assign(y=y.to_numpy()), target="y")
    model = WrappedEstimator(estimator).fit(data)
    why = cw.explain(model, data)
    assert set(why.columns) == {"age", "town", "power"}
    assert_allclose(added_up(why, data), model.predict(data), atol=1e-9)
    effect = why.effect("age")
    assert_allclose(effect.baseline, model.predict(data).mean())
    drawn = why.shapley(data.head(2), method="subsets", n_background=120)
    assert_allclose(drawn.prediction, model.predict(data.head(2)), atol=1e-9)


def test_importance_without_a_column_is_that_of_the_parts_that_are_left():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, PAIR)
    left = cw.explain(model, X, max_order=2).without("x0")
    found, importance = left.values(), left.importance()
    assert_allclose(importance.variances.variance[:, 0], found.values.var(axis=0), atol=1e-12)
    assert_allclose(importance.variances.remainder[0], found.remainder.var(), atol=1e-12)
    assert importance.total[0] == 0


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_a_boosting_machine_of_tables_is_taken_apart_exactly(brute, tables, task):
    pytest.importorskip("interpret")
    data = tables[task]
    model = cw.learner("ebm", max_rounds=20, interactions=3).fit(data)
    machine = model.estimator_
    encoded = model.encoder_.transform(cw.table.as_table(data, schema=model.schema_))

    def score(rows):
        return np.asarray(machine.eval_terms(rows)).sum(axis=1) + machine.intercept_

    oracle = brute(score, encoded, groups=model.encoder_.sources_)
    why = cw.explain(model, data)
    assert why.is_complete
    # with more than two classes the machine has no pairs
    assert task == "multiclass" or any(len(names) == 2 for names in why.components)
    assert_allclose(why.predict(data), score(encoded), atol=1e-9)
    found = why.shapley(data.head(2), interactions=True)
    expected = np.array([[oracle.shapley(x, k) for k in range(4)] for x in encoded[:2]])
    assert_allclose(found.values.reshape(expected.shape), expected, atol=1e-9)
    assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-9)
    parts = why.values(data.head(2))
    for names in parts.sets:
        players = tuple(why.columns.index(name) for name in names)
        exact = np.array([oracle.component(x, players) for x in encoded[:2]])
        assert_allclose(parts[names].reshape(exact.shape), exact, atol=1e-9)
    others = [oracle.value(x, (1, 2, 3)) for x in encoded[:2]]
    left = why.without("age").predict(data.head(2))
    assert_allclose(left.reshape(np.shape(others)), others, atol=1e-9)


def test_probabilities_of_a_model_that_adds_up_log_odds_are_sampled_and_marked():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, PAIR)
    with pytest.raises(NotDecomposableError, match="adds up its log odds"):
        check_scale(Explanation(model, X).game, Scale.PROBABILITY)
    why = cw.explain(model, X, scale="probability")
    assert "sampled" in why.notes[0]
    assert "probability" in repr(why)
    assert_allclose(added_up(why, X[:5]), model.predict_proba(X[:5])[:, 1], atol=1e-9)
    forest = RandomForestClassifier(3, random_state=0).fit(X, PAIR)
    assert cw.explain(forest, X, scale="probability").notes == ()
