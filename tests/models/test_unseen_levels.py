"""Levels that no training row has get the weighted mean of the levels' effects."""

import math
import sqlite3

import numpy as np
import pytest
from scipy.special import logit

import clearwood as cw

LINEAR = {
    "ols": {},
    "ridge": {},
    "lasso": {"alpha": 0.001},
    "elastic-net": {"alpha": 0.001},
    "subset": {},
    "huber": {},
    "quantile": {},
    "bayes-ridge": {},
    "glm": {"alpha": 0},
    "bayes": {},
    "logistic": {"penalty": "none"},
    "lda": {},
    "ordinal": {},
}


def fitted(name, *, weighted=True, settings=None, parts=False):
    """Fit to three towns, a yes/no column and ordered sizes; return the model and its rows."""
    rng = np.random.default_rng(0)
    n = 600
    town = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    garden, size = rng.choice(["no", "yes"], n, p=[0.7, 0.3]), rng.choice(["s", "m", "l"], n)
    rows = {"town": town, "garden": garden, "size": size, "age": rng.normal(size=n)}
    score = 0.3 * rows["age"] + 0.6 * (town == "b") - 0.7 * (town == "c") + 0.5 * (garden == "yes")
    noisy = score + rng.normal(size=n)
    rows["y"] = {
        "logistic": np.where(noisy > 0, "yes", "no"),
        "lda": np.where(noisy > 0, "yes", "no"),
        "ordinal": np.array(["1", "2", "3"])[np.digitize(noisy, [-0.5, 0.7])],
        "glm": rng.poisson(np.exp(score)),
    }.get(name, noisy)
    rows["weight"] = rng.integers(1, 4, n)
    how = {"target": "y"} | ({"weight": "weight"} if weighted else {"ignore": ["weight"]})
    how["kinds"] = {"size": ["s", "m", "l"]}
    how["task"] = "count" if name == "glm" else None
    data = cw.read(rows, **how)
    return cw.learner(name, **(settings or LINEAR[name])).fit(data), rows


def link(model, new):
    """Return what is linear in the columns: predictions, their logarithm or log odds."""
    if model.name == "ordinal":
        # all but the first class, whose threshold is the same for all rows
        return logit(1 - model.predict_proba(new)[:, 0])
    if model.task_.is_classification:
        return logit(model.predict_proba(new)[:, 1])
    predicted = model.predict(new)
    return np.log(predicted) if model.name == "glm" else predicted


@pytest.mark.filterwarnings("ignore:.*levels that the model was not fitted with")
@pytest.mark.parametrize("column", ["town", "garden", "size"])
@pytest.mark.parametrize("name", LINEAR)
def test_levels_without_training_rows_get_the_weighted_mean(name, column):
    weighted = name not in ("ordinal", "lda")
    model, rows = fitted(name, weighted=weighted)
    weights = rows["weight"] if weighted else np.ones(600)
    levels = sorted(set(rows[column].tolist()))
    shares = np.array([weights[rows[column] == level].sum() for level in levels]) / weights.sum()
    n = len(levels) + 2
    new = {"town": ["b"] * n, "garden": ["yes"] * n, "size": ["m"] * n, "age": [0.4] * n}
    new[column] = [*levels, "elsewhere", None]
    found = link(model, new)
    np.testing.assert_allclose(found[-2:], shares @ found[:-2], rtol=1e-9, atol=1e-9)


def test_training_rows_are_encoded_as_before():
    model, rows = fitted("glm")
    encoded = model.encoder_.transform(cw.read(rows, target="y", kinds={"size": ["s", "m", "l"]}))
    towns = [k for k, one in enumerate(model.encoder_.columns_) if one.source == "town"]
    assert set(np.unique(encoded[:, towns])) == {0.0, 1.0}


@pytest.mark.filterwarnings("ignore:.*levels that the model was not fitted with")
def test_factors_coefficients_and_saved_models_say_and_keep_the_rule(tmp_path):
    model, rows = fitted("glm")
    data = cw.read(rows, target="y", weight="weight", task="count", kinds={"size": ["s", "m", "l"]})
    for table in (cw.factors(model, data), cw.coefficients(model, data)):
        assert any("get the mean of the levels' effects" in note for note in table.notes)
    new = {"town": ["zz", None], "garden": ["yes", "no"], "size": ["m", "l"], "age": [0.0, 1.0]}
    predicted = model.predict(new)
    np.testing.assert_allclose(cw.factors(model, data).predict(new), predicted, rtol=1e-9)
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(new), predicted)


@pytest.mark.filterwarnings("ignore:.*levels that the model was not fitted with")
@pytest.mark.parametrize("column", ["town", "garden", "size"])
@pytest.mark.parametrize("name", ["ols", "ridge", "glm", "bayes", "logistic"])
def test_exported_sql_and_csv_have_the_weighted_mean_too(name, column, tmp_path):
    """SQL is run in SQLite, and the CSV read again: neither knows the model."""
    model, rows = fitted(name)
    task = {"glm": "count", "logistic": None}.get(name, "regression")
    how = {"target": "y", "weight": "weight", "task": task, "kinds": {"size": ["s", "m", "l"]}}
    table = cw.factors(model, cw.read(rows, **how))
    levels = sorted(set(rows[column].tolist()))
    n = len(levels) + 2
    new = {"town": ["b"] * n, "garden": ["yes"] * n, "size": ["m"] * n, "age": [0.4] * n}
    new[column] = [*levels, "elsewhere", None]
    (tmp_path / "factors.csv").write_text(table.to_csv(), encoding="utf-8")
    of_csv = cw.explanation.read_factors(tmp_path / "factors.csv").predict(new)
    database = sqlite3.connect(":memory:")
    database.create_function("exp", 1, lambda x: None if x is None else math.exp(x))
    database.execute(f"CREATE TABLE data ({', '.join(new)})")
    places = ", ".join("?" * len(new))
    database.executemany(f"INSERT INTO data VALUES ({places})", zip(*new.values(), strict=True))
    of_sql = np.array([line[-1] for line in database.execute(table.to_sql(table="data"))])
    database.close()
    weights = np.array([rows["weight"][rows[column] == level].sum() for level in levels])
    for made in (of_sql, of_csv):
        found = {"glm": np.log, "logistic": logit}.get(name, np.asarray)(made)
        wanted = weights @ found[:-2] / weights.sum()
        np.testing.assert_allclose(found[-2:], wanted, rtol=1e-9, atol=1e-9)
