"""What holds for every public function: bad input is refused, rows of weight 0 do not count."""

import json
import math
from inspect import isfunction, signature
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import clearwood as cw


def rows(task, n_rows=150):
    """Simulate a table of numbers, levels, gaps, weights and, for counts, an exposure."""
    rng = np.random.default_rng(7)
    age = rng.integers(18, 80, n_rows).astype(float)
    power = np.where(rng.random(n_rows) < 0.05, np.nan, np.round(rng.gamma(3.0, 2.0, n_rows), 2))
    region = rng.choice(["north", "south", "west"], n_rows)
    score = 0.03 * (age - 45) + 0.1 * np.nan_to_num(power, nan=6.0) + 0.6 * (region == "south")
    years = rng.uniform(0.2, 1.5, n_rows)
    noisy = score + rng.normal(0, 0.5, n_rows)
    columns = {"age": age, "power": power, "region": region, "sex": rng.choice(["f", "m"], n_rows)}
    columns["weight"] = rng.integers(1, 4, n_rows).astype(float)
    if task == "count":
        columns |= {"years": years, "claims": rng.poisson(np.exp(score - 1.5) * years)}
    else:
        columns["claims"] = noisy if task == "regression" else np.where(noisy > 0.6, "yes", "no")
    return pd.DataFrame(columns)


def read(frame, task):
    roles = {"target": "claims", "weight": "weight", "protected": ["sex"]}
    exposure = {"exposure": "years"} if task == "count" else {}
    return cw.read(frame, task=task, **roles, **exposure)


#: A call of every public function of a model and data.
ASKED = {
    "agreement": cw.agreement,
    "audit": cw.audit,
    "coefficients": cw.coefficients,
    "condense": cw.condense,
    "contributions": cw.contributions,
    "direct_effect": lambda model, data: cw.direct_effect(model, data, "age"),
    "effect": lambda model, data: cw.effect(model, data, "age"),
    "evaluate": cw.evaluate,
    "explain": cw.explain,
    "factors": cw.factors,
    "fair": cw.fair,
    "importance": cw.importance,
    "lime": lambda model, data: cw.lime(model, data, 0),
    "monotone": cw.monotone,
    "report": lambda model, data: cw.report(model, data, quick=True, sections=["data"]),
    "shapley": cw.shapley,
    "what_if": lambda model, data: cw.what_if(model, data, 0, {"age": 40}),
}


def test_every_function_of_a_model_and_data_is_called_here():
    public = {
        name
        for name in cw.__all__
        if isfunction(getattr(cw, name))
        and {"model", "data"} <= signature(getattr(cw, name)).parameters.keys()
    }
    assert public <= ASKED.keys()


class Nothing:
    """Neither a model nor a table."""


MODELS = {
    "a number": 3,
    "an array": np.zeros(3),
    "an object": Nothing(),
    "a class": Nothing,
    "no file": "nowhere/model.cw",
    "a learner that is not fitted": cw.learner("gbm"),
    "an estimator that is not fitted": LogisticRegression(),
    "a function that fails": lambda X: 1 / 0,
    "a function that predicts seven rows": lambda X: np.zeros(7),
    "a function that predicts nothing": lambda X: np.full(len(X), np.nan),
}
DATA = {
    "none": None,
    "a number": 3,
    "an object": Nothing(),
    "a list": [1, 2, 3],
    "a line": np.zeros(5),
    "no file": "nowhere/rows.csv",
    "no rows": rows("binary").iloc[:0],
    "a column less": rows("binary").drop(columns="age"),
    "words for numbers": rows("binary").assign(age="old"),
}


@pytest.fixture(scope="module")
def classifier():
    """A classifier with probabilities that every function takes, and one that is a sum."""
    data = read(rows("binary"), "binary")
    small = {"n_estimators": 3, "max_depth": 2}
    return data, cw.learner("forest", **small).fit(data), cw.learner("logistic").fit(data)


@pytest.mark.parametrize(
    ("name", "model"),
    # fair fits a learner itself
    sorted({*product(ASKED, MODELS)} - {("fair", "a learner that is not fitted")}),
)
def test_what_is_not_a_fitted_model_is_refused(name, model, classifier):
    given = MODELS[model]
    data = rows("binary") if callable(given) or "estimator" in model else classifier[0]
    with pytest.raises(cw.InputError) as error:
        ASKED[name](given, data)
    assert str(error.value)


@pytest.mark.parametrize(
    ("name", "data"),
    # a forest is condensed without rows
    sorted({*product(ASKED, DATA)} - {("condense", "none")}),
)
def test_what_is_not_a_table_for_the_model_is_refused(name, data, classifier):
    _, forest, linear = classifier
    model = linear if name in ("coefficients", "contributions", "factors") else forest
    with pytest.raises(cw.InputError) as error:
        ASKED[name](model, DATA[data])
    assert str(error.value)


#: Counts of the rows that were given, those of weight 0 included, and notes of them.
GIVEN = {"rows", "background", "n_zero_weight", "notes"}


def differences(one, two, path=""):
    """Yield where two results differ by more than rounding."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in (one.keys() | two.keys()) - GIVEN:
            yield from differences(one.get(key), two.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for k, pair in enumerate(zip(one, two, strict=True)):
            yield from differences(*pair, f"{path}[{k}]")
    elif isinstance(one, float) and isinstance(two, float | int):
        same = math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-12)
        if not (same or (math.isnan(one) and math.isnan(two))):
            yield f"{path}: {one} {two}"
    elif one != two:
        yield f"{path}: {str(one)[:80]} {str(two)[:80]}"


def plain(result):
    written = result.to_json()
    return json.loads(written) if isinstance(written, str) else written


#: Those whose result depends on the weights of the rows.
WEIGHED = (
    "agreement",
    "audit",
    "direct_effect",
    "effect",
    "evaluate",
    "factors",
    "importance",
    "monotone",
)
BY_ROW = ("lime", "what_if")


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize(
    ("task", "learner", "settings"),
    [
        ("regression", "gam", {}),
        ("binary", "gbm", {"max_iter": 8, "max_depth": 2}),
        ("count", "gbm", {"max_iter": 8, "max_depth": 2}),
        ("count", "glm", {}),
    ],
)
def test_rows_of_weight_0_are_as_if_they_were_not_there(task, learner, settings):
    frame = rows(task)
    wild = frame.sample(30, random_state=1).assign(weight=0.0)
    wild[["age", "power"]] += 60 + np.arange(30)[:, None]
    wild["claims"] = {"regression": 1e4 + np.arange(30), "binary": "yes", "count": 1000}[task]
    data, more = (read(one, task) for one in (frame, pd.concat([frame, wild])))
    model, other = (cw.learner(learner, **settings).fit(one) for one in (data, more))
    predicted = "predict_proba" if task == "binary" else "predict"
    truth, found = (getattr(one, predicted)(data) for one in (model, other))
    np.testing.assert_allclose(found, truth, rtol=1e-9)
    for name in (*WEIGHED, *BY_ROW):
        one, two = (plain(ASKED[name](model, given)) for given in (data, more))
        assert list(differences(one, two)) == [], name
    one, two = (plain(cw.shapley(model, given, data.head(2))) for given in (data, more))
    assert list(differences(one, two)) == []
