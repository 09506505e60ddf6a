"""SQL of exports: the one test for missing numbers, on databases."""

import sqlite3

import pytest

from clearwood._shared.sql import identifier, is_missing, literal

ROWS = [(None, True), (0.0, False), (-1.5, False), (1.7976931348623157e308, False)]
ENDS = [(float("inf"), False), (float("-inf"), False)]


def test_only_null_and_nan_are_missing_in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.execute("CREATE TABLE rows (x DOUBLE, missing BOOLEAN)")
    base.executemany("INSERT INTO rows VALUES (?, ?)", [*ROWS, *ENDS, (float("nan"), True)])
    found = base.execute(f"SELECT ({is_missing('x')}) = missing FROM rows").fetchall()
    assert found == [(True,)] * 7


def test_only_null_is_missing_in_sqlite_which_has_no_nan():
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE rows (x REAL, missing INTEGER)")
    base.executemany("INSERT INTO rows VALUES (?, ?)", [*ROWS, *ENDS])
    found = base.execute(f"SELECT ({is_missing('x')}) = missing FROM rows").fetchall()
    assert found == [(1,)] * 6


@pytest.mark.parametrize("name", ['a "b"', "it's", "select", "größe"])
def test_any_name_and_text_come_back(name):
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE rows ({identifier(name)} TEXT)")
    base.execute(f"INSERT INTO rows VALUES ({literal(name)})")
    cursor = base.execute("SELECT * FROM rows")
    assert cursor.description[0][0] == name
    assert cursor.fetchall() == [(name,)]
