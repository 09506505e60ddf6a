"""Codes that were stated to mean missing mean it in new data too, whatever holds them."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.table import Schema

MISSING = {"liq": ["666", "-1"], "town": ["??"]}


def loans(n=600, seed=0):
    rng = np.random.default_rng(seed)
    liq = np.round(rng.normal(50, 10, n), 1)
    town = rng.choice(["Bern", "Chur", "Genf"], n)
    bad = rng.random(n) < 1 / (1 + np.exp(-(liq - 60) / 5))
    liq[::17], liq[5::40], town[::11] = 666, -1, "??"
    age = rng.integers(18, 80, n)
    return pd.DataFrame({"liq": liq, "town": town, "age": age, "late": np.where(bad, "yes", "no")})


@pytest.fixture(scope="module")
def rows():
    """Rows with codes, and the same rows with gaps in their places."""
    coded = loans(seed=1).drop(columns="late")
    known = coded.astype(object).where(~coded.isin([666, -1, "??"]), None)
    return coded, known.astype({"liq": float})


@pytest.fixture(scope="module")
def card():
    data = cw.read(loans(), target="late", missing=MISSING)
    model = cw.learner("scorecard").fit(data)
    return model, cw.factors(model, data, points=(600, 50, 20))


def forms(coded, tmp_path):
    coded.to_csv(tmp_path / "new.csv", index=False)
    return {
        "frame": coded,
        "dict": coded.to_dict("list"),
        "table": cw.read(coded),
        "file": cw.table.as_table(tmp_path / "new.csv"),
        "table with other codes": cw.read(coded, missing={"liq": ["5"]}),
    }


@pytest.mark.filterwarnings("ignore:column 'liq' seems to have a code")
def test_new_rows_with_codes_are_rows_with_gaps(card, rows, tmp_path):
    model, factors = card
    coded, gaps = rows
    expected = model.predict_proba(gaps), factors.points.of(gaps)
    for form in forms(coded, tmp_path).values():
        np.testing.assert_array_equal(model.predict_proba(form), expected[0])
        np.testing.assert_array_equal(factors.points.of(form), expected[1])


def test_a_saved_model_knows_the_codes(card, rows, tmp_path):
    model, _ = card
    coded, gaps = rows
    cw.save(model, tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    np.testing.assert_array_equal(loaded.predict_proba(coded), model.predict_proba(gaps))


def test_schemas_written_before_codes_were_kept_can_be_read():
    schema = cw.read(loans(), target="late", missing=MISSING).schema
    document = schema.to_json()
    assert Schema.from_json(document) == schema
    assert schema["liq"].missing_codes == ("-1", "666")
    for column in document["columns"]:
        column.pop("missing_codes", None)
    assert Schema.from_json(document)["liq"].missing_codes == ()


def test_sql_takes_codes_for_missing(card, rows):
    _, factors = card
    coded, gaps = rows
    with sqlite3.connect(":memory:") as base:
        coded.to_sql("loans", base, index=False)
        query = factors.to_sql(table="loans")
        found = pd.read_sql(query, base)
    np.testing.assert_array_equal(found["points"], factors.points.of(gaps))


def test_a_condensed_tree_warns_that_codes_are_values():
    data = cw.read(loans(), target="late", missing=MISSING)
    tree = cw.condense(cw.learner("tree").fit(data))
    with pytest.warns(cw.ClearwoodWarning, match=r"codes for missing of 'liq' \(-1, 666\) are"):
        tree.to_sql(table="loans")


@pytest.mark.filterwarnings("ignore:column 'liq' seems to have a code")
def test_parts_keep_the_codes(card, rows, tmp_path):
    model, _ = card
    coded, gaps = rows
    for k, name in enumerate(("a.csv", "b.csv")):
        loans(seed=k).to_csv(tmp_path / name, index=False)
    parts = cw.scan(str(tmp_path / "*.csv"), target="late", missing=MISSING)
    assert parts.schema["liq"].missing_codes == ("-1", "666")
    new = cw.scan([coded.iloc[:300], coded.iloc[300:]])
    model.predict(new, to=tmp_path / "predictions")
    found = pd.concat(map(pd.read_parquet, sorted((tmp_path / "predictions").glob("*.parquet"))))
    np.testing.assert_array_equal(found["probability:yes"], model.predict_proba(gaps)[:, 1])
