"""One view of every kind of model: all verbs see the predictions that the library itself makes."""

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clearwood as cw
from clearwood.fitted import FittedModel
from clearwood.forest import from_model
from clearwood.reporting.collect.inputs import report_input

TASKS = ("regression", "binary", "multiclass", "count")
N_ROWS = 300


def table(task, n_rows=N_ROWS):
    """Simulate numbers and a target; counts have an exposure, and classes are named."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, n_rows)).round(3)
    score = a + 0.5 * b**2
    rows = {"a": a, "b": b, "group": np.where(rng.random(n_rows) < 0.5, "x", "y")}
    score = score + 0.4 * (rows["group"] == "x")
    noisy = score + rng.normal(0, 0.5, n_rows)
    options = {"target": "y", "task": task, "protected": ["group"]}
    if task == "count":
        rows["years"] = rng.uniform(0.3, 1.2, n_rows)
        rows["y"] = rng.poisson(np.exp(0.3 * score) * rows["years"])
        options["exposure"] = "years"
    elif task == "binary":
        rows["y"] = np.where(noisy > 0.5, "yes", "no")
    elif task == "multiclass":
        rows["y"] = np.array(["low", "mid", "top"])[np.digitize(noisy, [0, 1])]
    else:
        rows["y"] = noisy
    return cw.read(rows, **options)


def coded(frame):
    return frame.assign(group=(frame["group"] == "x").astype(int))


def encoded(model):
    return make_pipeline(
        make_column_transformer((OneHotEncoder(), ["group"]), (StandardScaler(), ["a", "b"])), model
    )


def shares(task):
    """A function of a data frame: probabilities by class, or numbers."""

    def predict(frame):
        score = frame["a"].to_numpy() + 0.3 * (frame["group"] == "x").to_numpy()
        if task == "binary":
            second = 1 / (1 + np.exp(-score))
            return np.column_stack([1 - second, second])
        if task == "multiclass":
            raw = np.exp(np.column_stack([-score, np.zeros(len(score)), score]))
            return raw / raw.sum(axis=1, keepdims=True)
        return np.exp(0.3 * score) if task == "count" else score

    return predict


def linear(task):
    makers = {"regression": Ridge, "count": PoissonRegressor}
    return makers.get(task, LogisticRegression)()


def kinds(task, data, folder):
    """Yield models of each kind that a task has, with what the library itself predicts."""
    frame, y = data.X.to_frame("pandas"), data.y
    learner = cw.learner("gbm", max_iter=8).fit(data)
    yield "learner", learner, of(learner, task, data)
    path = folder / f"{task}.cw"
    cw.save(learner, path)
    yield "model file", path, of(learner, task, data)
    fitted = encoded(linear(task)).fit(frame, y)
    yield "pipeline", fitted, of(fitted, task, frame)
    search = GridSearchCV(
        encoded(linear(task)), {f"{type(linear(task)).__name__.lower()}__tol": [1e-4, 1e-3]}, cv=2
    ).fit(frame, y)
    yield "search", search, of(search, task, frame)
    maker = RandomForestClassifier if task in ("binary", "multiclass") else RandomForestRegressor
    trees = encoded(maker(n_estimators=5, max_depth=3, random_state=0)).fit(frame, y)
    yield "forest", from_model(trees), of(trees, task, frame)
    function = shares(task)
    yield "function", function, function(frame)


def boosters(task, data):
    """Yield boosters, fitted to numbers only."""
    frame = coded(data.X.to_frame("pandas"))
    if task in ("binary", "multiclass"):
        codes = np.unique(data.y, return_inverse=True)[1]
        makers = (xgboost.XGBClassifier, lightgbm.LGBMClassifier)
    else:
        codes, makers = data.y, (xgboost.XGBRegressor, lightgbm.LGBMRegressor)
    quiet = ({}, {"verbose": -1})
    for make, options in zip(makers, quiet, strict=True):
        model = make(n_estimators=5, max_depth=2, random_state=0, **options).fit(frame, codes)
        yield make.__name__, model, of(model, task, frame)


def of(model, task, rows):
    """Return what the library itself predicts."""
    return model.predict_proba(rows) if task in ("binary", "multiclass") else model.predict(rows)


def two_dimensional(values):
    values = np.asarray(values, np.float64)
    return values.reshape(len(values), -1)


@pytest.mark.parametrize("task", TASKS)
def test_all_verbs_see_the_predictions_of_the_model_itself(task, tmp_path):
    data = table(task)
    for kind, model, truth in kinds(task, data, tmp_path):
        seen_by_all_verbs(kind, model, data, two_dimensional(truth))


@pytest.mark.parametrize("task", TASKS)
def test_boosters_predict_alike_in_all_verbs(task):
    data = table(task)
    numbers = {"a": data["a"].values, "b": data["b"].values}
    numbers["group"] = np.where(np.array(data["group"].labels()) == "x", 1, 0)
    options = {"target": "y", "task": task, "protected": ["group"]}
    if task == "count":
        numbers["years"], numbers["y"] = data.exposures, np.round(data.y * data.exposures)
        options["exposure"] = "years"
    elif data.task.is_classification:
        numbers["y"] = np.unique(data.y, return_inverse=True)[1]
    else:
        numbers["y"] = data.y
    recoded = cw.read(numbers, **options)
    for kind, model, truth in boosters(task, data):
        seen_by_all_verbs(kind, model, recoded, two_dimensional(truth))


def seen_by_all_verbs(kind, model, data, truth):
    own = FittedModel(model, data).predict(data, scale="response")
    np.testing.assert_allclose(own, truth, rtol=1e-6, atol=1e-7, err_msg=kind)
    evaluation = cw.evaluate(model, data)
    np.testing.assert_allclose(two_dimensional(evaluation.predicted), own, err_msg=kind)
    audited_means(kind, cw.audit(model, data, causes=False), data, own)
    given = cw.load(model) if kind == "model file" else model
    predictor = cw.explain(given, data).predictor()
    explained = predictor.predict(np.arange(data.n_rows))
    shown = own[:, -1:] if explained.shape[1] == 1 else own
    np.testing.assert_allclose(explained, shown, rtol=1e-6, atol=1e-7, err_msg=kind)
    told = report_input(given, data).predict(data)
    np.testing.assert_allclose(two_dimensional(told), own, rtol=1e-6, atol=1e-7, err_msg=kind)


def audited_means(kind, audit, data, own):
    """Check the means of groups in an audit against the predictions."""
    groups = np.array(data["group"].labels()).astype(str)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    columns = own[:, -1:] if own.shape[1] == 2 else own
    for measured, column in zip(audit.groups, columns.T, strict=True):
        for name, mean in zip(measured.names, measured.values["mean_prediction"], strict=True):
            rows = groups == name
            expected = np.average(column[rows], weights=weights[rows])
            assert mean == pytest.approx(expected), (kind, name)


def test_a_function_may_give_the_probability_of_the_second_class():
    data = table("binary")
    both = shares("binary")
    view = FittedModel(lambda frame: both(frame)[:, 1], data)
    np.testing.assert_allclose(view.predict(data, scale="response"), both(data.X.to_frame()))
    assert view.for_loss(data, "label")[1] == "label"


def test_a_function_may_give_labels():
    data = table("multiclass")
    predicted, needs = FittedModel(lambda frame: np.full(len(frame), "mid"), data).for_loss(data)
    assert needs == "label"
    assert set(predicted) == {1.0}


def test_a_function_of_arrays_is_evaluated_as_well():
    data = cw.read({"a": [1.0, 2.0, 4.0, 5.0, 7.0], "y": [1.0, 2.0, 3.0, 6.0, 7.0]}, target="y")
    assert cw.evaluate(lambda rows: rows[:, 0], data).predicted.tolist() == [1, 2, 4, 5, 7]


def test_labels_come_in_the_order_asked_for_and_unknown_ones_have_no_probability():
    data = table("binary")
    model = cw.learner("logistic").fit(data)
    own = model.predict_proba(data)
    turned = FittedModel(model, classes=["yes", "maybe", "no"]).predict(data)
    np.testing.assert_array_equal(turned[:, [2, 0]], own)
    assert not turned[:, 1].any()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ridge(), "this Ridge is not fitted yet"),
        (cw.learner("ols"), "learner 'ols' is not fitted yet"),
        (Ridge, "Ridge is a class, not a fitted model"),
        (object(), "object is not a model: it has no `predict` and is not callable"),
        (lambda frame: np.ones(2), "the model gives 2 predictions for 300 rows"),
        (lambda frame: frame["a"] / 0, "NaN or infinity for 300 of 300 rows"),
        (lambda frame: frame["absent"], "cannot predict these rows.*absent"),
    ],
)
def test_what_cannot_predict_is_refused_with_one_wording(model, message):
    data = table("regression")
    for verb in (cw.evaluate, cw.audit):
        with pytest.raises(cw.InputError, match=message), np.errstate(all="ignore"):
            verb(model, data)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (lambda n: np.full((n, 2), 0.4), "not probabilities: 0.4, 0.4"),
        (lambda n: np.full((n, 3), 1 / 3), "3 probabilities per row, and there are 2 classes"),
        (lambda n: np.full(n, 1.7), "not probabilities: -0.7, 1.7"),
        (lambda n: np.full(n, "perhaps"), "predicts 'perhaps', which is not one of the classes"),
    ],
)
def test_bad_predictions_of_classes_are_refused(predicted, message):
    data = table("binary")
    with pytest.raises(cw.InputError, match=message):
        cw.evaluate(lambda frame: predicted(len(frame)), data)
