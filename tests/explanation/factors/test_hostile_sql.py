"""SQL of factors predicts what the model does, whatever the columns and levels are called."""

import math
import sqlite3
import warnings

import duckdb
import numpy as np
import pytest

import clearwood as cw

N = 10_000
LEVELS = ["O'Brien", 'say "hi"', "a\nb", "日本; DROP TABLE x", "naïve %s", "-- no"]
NUMBER, LEVEL, CODE, FLAG = 'odds"', "le'vel\nname", "select", "Prädiktion"


def made(n, seed, *, hostile):
    """Rows with hostile names and levels; with ``hostile``, gaps, new levels and far numbers."""
    generator = np.random.default_rng(seed)
    rows = {
        NUMBER: generator.normal(50, 15, n).round(2).tolist(),
        LEVEL: generator.choice(LEVELS, n).tolist(),
        CODE: generator.choice(["1", "2", "10"], n).tolist(),
        FLAG: generator.choice([True, False], n).tolist(),
        "x": generator.uniform(-1, 1, n).tolist(),
    }
    for name, every in ((NUMBER, 17), (LEVEL, 13)):
        rows[name] = [None if k % every == 3 else v for k, v in enumerate(rows[name])]
    if hostile:
        rows[NUMBER][:4] = [-4000.0, 9000.0, 0.0, 5e-324]
        rows[LEVEL][5:8] = ["unseen", "un'seen", ""]
        rows["x"][9] = float(np.nextafter(0.3, 1))
    return rows


@pytest.fixture(scope="module")
def trained():
    rows = made(800, 0, hostile=False)
    level = {name: k / 4 for k, name in enumerate(LEVELS)}
    score = [
        math.sin((a or 50) / 9) + level.get(b, 0.3) + 0.2 * (c == "10") + 0.3 * d * x
        for a, b, c, d, x in zip(*rows.values(), strict=True)
    ]
    generator = np.random.default_rng(1)
    counts = generator.poisson(np.exp(np.array(score) - 1)).tolist()
    classes = np.where(generator.random(800) < 1 / (1 + np.exp(-np.array(score))), "b", "a")
    kinds = {CODE: "category"}
    return (
        cw.read({**rows, "y": counts}, target="y", task="count", kinds=kinds),
        cw.read({**rows, "y": classes.tolist()}, target="y", kinds=kinds),
    )


MODELS = [
    ("glm", {"alpha": 0}, 0),
    ("gam", {}, 0),
    ("gbm", {"max_depth": 2, "max_iter": 25}, 0),
    ("mars", {"degree": 2}, 0),
    ("logistic", {"penalty": "none"}, 1),
    ("gam", {}, 1),
    ("gbm", {"max_depth": 2, "max_iter": 25}, 1),
]


@pytest.mark.parametrize(("name", "settings", "which"), MODELS)
def test_databases_and_the_file_predict_what_the_model_does(
    trained, tmp_path, name, settings, which
):
    data = trained[which]
    model = cw.learner(name, **settings).fit(data)
    factors = cw.factors(model, data)
    assert factors.is_exact
    rows = made(N, 2, hostile=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        wanted = model.predict_proba(rows)[:, 1] if which else model.predict(rows)
        file = tmp_path / "rating.csv"
        file.write_bytes(factors.to_csv().encode())
        agree(cw.explanation.read_factors(file).predict(rows), wanted)
    query = factors.to_sql(table='my "table"')
    agree(in_sqlite(rows, query), wanted)
    agree(in_duckdb(rows, query), wanted)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("scorecard", {}), ("gbm", {"max_depth": 2, "max_iter": 25}), ("gam", {"bands": 4})],
)
def test_databases_add_up_the_same_points_as_the_library(trained, name, settings):
    data = trained[1]
    bands = settings.get("bands")
    own = {key: value for key, value in settings.items() if key != "bands"}
    model = cw.learner(name, **own).fit(data)
    factors = cw.factors(model, data, max_cells=bands, points=(600, 50, 20))
    rows = made(N, 2, hostile=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        wanted = factors.points.of(rows)
        predicted = factors.predict(rows)
    assert np.isfinite(wanted).sum() >= N - 4
    assert len(np.unique(wanted)) > 20
    query = factors.to_sql(table='my "table"')
    for run in (in_sqlite, in_duckdb):
        np.testing.assert_array_equal(run(rows, query, -3), wanted)
        agree(run(rows, query), predicted)


def agree(made, wanted):
    """Compare predictions; those that overflow are left out."""
    usual = np.isfinite(wanted) & (np.abs(wanted) < 1e300)
    assert usual.sum() >= N - 4
    np.testing.assert_allclose(made[usual], wanted[usual], rtol=1e-12, atol=1e-300)


def quoted(name):
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def values_of(rows):
    return list(zip(*rows.values(), strict=True))


def in_sqlite(rows, query, column=-1):
    """Run a query in SQLite; the last column is the prediction, the third last the points."""
    database = sqlite3.connect(":memory:")
    database.create_function("exp", 1, lambda x: None if x is None else math.exp(min(x, 709.0)))
    database.execute(f'CREATE TABLE "my ""table""" ({", ".join(map(quoted, rows))})')
    places = ", ".join("?" * len(rows))
    database.executemany(f'INSERT INTO "my ""table""" VALUES ({places})', values_of(rows))
    found = [line[column] for line in database.execute(query)]
    database.close()
    return np.array(found, float)


def in_duckdb(rows, query, column=-1):
    """Run a query in DuckDB, where a missing number is NaN in every second row."""
    types = {NUMBER: "DOUBLE", FLAG: "BOOLEAN", CODE: "INTEGER", "x": "DOUBLE"}
    declared = ", ".join(f"{quoted(name)} {types.get(name, 'VARCHAR')}" for name in rows)
    database = duckdb.connect()
    database.execute(f'CREATE TABLE "my ""table""" ({declared})')
    numbers = [math.nan if v is None and k % 2 else v for k, v in enumerate(rows[NUMBER])]
    places = ", ".join(f"unnest(${k + 1})" for k in range(len(rows)))
    lists = list({**rows, NUMBER: numbers}.values())
    database.execute(f'INSERT INTO "my ""table""" SELECT {places}', lists)
    found = [line[column] for line in database.execute(query).fetchall()]
    database.close()
    return np.array(found, float)


def test_infinite_numbers_have_no_prediction(trained):
    """The model refuses them, so a database should not return a number."""
    model = cw.learner("gbm", max_depth=2, max_iter=25).fit(trained[0])
    query = cw.factors(model, trained[0]).to_sql(table='my "table"')
    rows = made(4, 3, hostile=False)
    rows[NUMBER] = [math.inf, -math.inf, 40.0, 50.0]
    for predicted in (in_sqlite(rows, query), in_duckdb(rows, query)):
        assert np.isnan(predicted).tolist() == [True, True, False, False]
