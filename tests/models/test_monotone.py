"""Predictions that rise or fall with a column, whatever the other columns are."""

from dataclasses import replace

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models import catalogue
from clearwood.table import Kind, as_table

ABLE = [entry.name for entry in catalogue.entries() if entry.monotone and entry.available]
STEPS = 41
SIZES = ["XS", "S", "M", "L", "XL"]
ROWS = 60


def _table(seed=0, *, classes=False, missing=0.1, n=400):
    """Rows whose target rises and falls with `income` and `age`, and depends on their product."""
    rng = np.random.default_rng(seed)
    income, age, other = rng.uniform(-2, 2, (3, n))
    town = rng.integers(0, 4, n).astype(np.int32)
    size = rng.integers(0, 5, n).astype(np.int32)
    y = np.sin(3 * income) - np.cos(2 * age) + income * other + 0.3 * town
    y = y - (size - 2.0) ** 2 + rng.normal(0, 0.5, n)
    if classes:
        y = (y > np.median(y)).astype(float)
    income, age, other = (
        np.where(rng.random(n) < missing, np.nan, values) for values in (income, age, other)
    )
    rows = {
        "income": income,
        "age": age,
        "other": other,
        "town": np.array(list("abcd"))[town],
        "size": np.array(SIZES)[size],
        "y": y,
    }
    return cw.read(rows, target="y", kinds={"size": SIZES})


def _response(model, table):
    if model.task_ == "binary":
        return model.predict_proba(table)[:, 1]
    return model.predict(table)


def _largest_fall(model, table, name, values):
    """The largest fall of a prediction while one column runs through rising values."""
    rows = table.take(np.repeat(np.arange(ROWS), len(values)))
    column = rows.column(name)
    moved = replace(column, values=np.tile(values, ROWS).astype(column.values.dtype))
    columns = [moved if each.name == name else each for each in rows.columns]
    response = _response(model, replace(rows, columns=tuple(columns)))
    steps = np.diff(response.reshape(ROWS, len(values)), axis=1)
    return float(-steps.min())


GRID = np.linspace(-2.5, 2.5, STEPS)
CONSTRAINTS = {"income": "up", "age": "down", "size": "up"}


CASES = [
    pytest.param(name, classes, id=f"{name}-{'classes' if classes else 'numbers'}")
    for name in ABLE
    for classes, task in ((False, "regression"), (True, "binary"))
    if task in catalogue.get(name).tasks
]


@pytest.mark.parametrize(("name", "classes"), CASES)
def test_predictions_never_move_against_a_constraint(name, classes):
    table = _table(classes=classes)
    fewer = {"n_estimators": 30} if name in ("bagging", "forest", "extra-trees") else {}
    fewer = {"epochs": 30, "units": 16} if name == "network" else fewer
    model = cw.learner(name, monotone=CONSTRAINTS, **fewer).fit(table)
    assert _largest_fall(model, table, "income", GRID) <= 1e-9
    assert _largest_fall(model, table, "age", GRID[::-1]) <= 1e-9
    assert _largest_fall(model, table, "size", np.arange(5)) <= 1e-9


@pytest.mark.parametrize("name", ["gbm", "forest", "tree"])
def test_without_the_constraint_predictions_do_move_against_it(name):
    table = _table()
    model = cw.learner(name).fit(table)
    assert _largest_fall(model, table, "income", GRID) > 0.1
    assert _largest_fall(model, table, "size", np.arange(5)) > 0.1


def test_counts_and_columns_of_two_answers_can_be_constrained():
    rng = np.random.default_rng(1)
    n = 500
    smoker = rng.integers(0, 2, n)
    age = rng.uniform(20, 60, n)
    claims = rng.poisson(np.exp(-1 + 0.5 * smoker - 0.02 * age))
    rows = {"smoker": np.where(smoker == 1, "yes", "no"), "age": age, "claims": claims}
    data = cw.read(rows, target="claims", task="count")
    assert data.column("smoker").kind is Kind.YES_NO
    model = cw.learner("gbm", monotone={"smoker": "down", "age": "up"}).fit(data)
    grid = {"smoker": ["no", "yes"] * 9, "age": np.repeat(np.linspace(20, 60, 9), 2)}
    no, yes = model.predict(as_table(grid)).reshape(9, 2).T
    assert (yes <= no).all()
    assert (np.diff(no) >= 0).all()


def test_a_column_that_is_constant_in_the_training_rows_may_be_constrained():
    rising = np.arange(30.0) ** 2
    table = cw.read({"a": rising == 29**2, "b": rising, "y": rising + 0.5}, target="y")
    model = cw.learner("tree", monotone={"a": "up", "b": "up"}).fit(table.take(np.arange(29)))
    assert (np.diff(model.predict(table)) >= 0).all()


def test_a_column_with_a_label_is_constrained_by_either_name():
    rng = np.random.default_rng(0)
    rows = {"sqm": rng.normal(size=80), "b": rng.normal(size=80), "y": rng.normal(size=80)}
    table = cw.read(rows, target="y", labels={"sqm": {"name": "Living area"}})
    for name in ("sqm", "Living area"):
        model = cw.learner("gbm", monotone={name: "down"}).fit(table)
        assert model.estimator_.monotonic_cst == [-1, 0]


def test_saved_models_keep_their_constraints(tmp_path):
    table = _table()
    model = cw.learner("gbm", monotone=CONSTRAINTS).fit(table)
    cw.save(model, tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    assert loaded.monotone == CONSTRAINTS
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    assert _largest_fall(loaded.fit(_table(seed=1)), table, "income", GRID) <= 1e-9
    held = cw.inspect(tmp_path / "model.cw")
    assert held.monotone == CONSTRAINTS
    assert "age down, income up, size up" in held.summary()


def test_constraints_are_shown_and_can_be_set_like_other_parameters():
    model = cw.learner("gbm", monotone={"age": "up"})
    assert repr(model) == "Learner('gbm', monotone={'age': 'up'})"
    assert model.get_params()["monotone"] == {"age": "up"}
    assert model.set_params(monotone=None).monotone is None


def test_tuned_and_compared_learners_keep_their_constraints():
    table = _table(n=200, missing=0)
    learners = [cw.learner(name, monotone={"income": "up"}) for name in ("gbm", "tree")]
    bench = cw.benchmark(table, learners, tune=3, interval="hold-out")
    for name in ("gbm", "tree"):
        model = bench.choose(name).fit(table)
        assert _largest_fall(model, table, "income", GRID) <= 1e-9


@pytest.mark.parametrize(
    ("monotone", "message"),
    [
        ({"incme": "up"}, r"monotone names 'incme', which is not a feature.*did you mean 'income'"),
        ({"y": "up"}, r"monotone names 'y', which is not a feature"),
        ({"town": "up"}, r"'town', which holds categories.*kinds=\{'town': \['a', 'b', 'c', 'd'\]"),
        ({"income": "rising"}, r"the direction of column 'income' must be 'up' or 'down'"),
        ({"income": 1}, r"the direction of column 'income' must be 'up' or 'down'"),
        ("income", r"monotone='income'.*it must be a dict of column names"),
    ],
)
def test_constraints_that_mean_nothing_are_refused(monotone, message):
    with pytest.raises(InputError, match=message) as caught:
        cw.Learner("gbm", monotone=monotone).fit(_table())
    assert caught.value.parameter == "monotone"
    with pytest.raises(InputError, match=message):
        cw.benchmark(_table(), [cw.Learner("gbm", monotone=monotone)])


def test_a_learner_that_cannot_is_refused_with_those_that_can():
    with pytest.raises(InputError, match=r"'ridge' cannot keep.*'tree'.*'gbm'") as caught:
        cw.learner("ridge", monotone={"income": "up"})
    assert "baseline" not in str(caught.value)


def test_more_than_two_classes_are_refused():
    wine = cw.datasets.load("wine")
    with pytest.raises(InputError, match="monotone is not possible with more than two classes"):
        cw.learner("gbm", monotone={"alcohol": "up"}).fit(wine)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gbm", {"loss": "quantile", "quantile": 0.9}),
        ("gbm", {"loss": "absolute_error"}),
        ("lightgbm", {"objective": "quantile"}),
        ("xgboost", {"objective": "reg:absoluteerror"}),
    ],
)
def test_losses_that_set_leaves_anew_are_refused(name, settings):
    model = cw.learner(name, monotone={"income": "up"}, **settings)
    with pytest.raises(InputError, match=r"monotone cannot be kept with .*catboost"):
        model.fit(_table())


def test_counting_the_trees_of_catboost_prints_nothing(capfd):
    pytest.importorskip("catboost")
    X = np.random.default_rng(0).normal(size=(60, 2))
    cw.learner("catboost", monotone={"x0": "up"}).fit(X, X[:, 0] + X[:, 1] ** 2)
    assert capfd.readouterr() == ("", "")
