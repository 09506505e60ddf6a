"""Columns out of a DuckDB query, strings as codes so that no Python string is made per row."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._errors import InputError
from clearwood.table._raw import Form, Raw

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["connect", "fetch", "quoted"]

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_NUMBERS = _INTEGERS | {f"U{name}" for name in _INTEGERS} | {"FLOAT", "DOUBLE", "DECIMAL"}
_DATES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
_ZONED = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"}


def connect() -> "DuckDBPyConnection":
    """Open a database in memory that keeps row order and never asks the network."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def quoted(name: str) -> str:
    """Quote an identifier for SQL."""
    return '"' + name.replace('"', '""') + '"'


def fetch(connection: "DuckDBPyConnection", table: str) -> list[Raw]:
    """Give every column of a table in the database."""
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    parts = {name: _part(connection, table, name, kind) for name, kind in types.items()}
    selected = ", ".join(f"{sql} AS c{i}" for i, (_, sql, _) in enumerate(parts.values()))
    # Names never pass through SQL results: DuckDB folds case when it tells columns apart.
    fetched = connection.execute(f"SELECT {selected} FROM {quoted(table)}").fetchnumpy()  # noqa: S608
    return [
        Raw(name, form, _filled(fetched[f"c{i}"], form), levels)
        for i, (name, (form, _, levels)) in enumerate(parts.items())
    ]


def _part(
    connection: "DuckDBPyConnection", table: str, name: str, sql_type: str
) -> tuple[Form, str, tuple[str, ...]]:
    column = quoted(name)
    base = sql_type.split("(", maxsplit=1)[0]
    if base in _NUMBERS:
        return "number", f"{column}::DOUBLE", ()
    if base == "BOOLEAN":
        return "boolean", f"{column}::DOUBLE", ()
    if base in _DATES or base in _ZONED:
        return "date", f"{column}::TIMESTAMP", ()
    if base == "ENUM":
        # Parquet and Arrow dictionaries: someone's list of levels.
        found = connection.execute(
            f"SELECT unnest(enum_range(any_value({column}))) FROM {quoted(table)}"  # noqa: S608
        ).fetchall()
        return "category", f"enum_code({column})", tuple(str(row[0]) for row in found)
    if base in ("VARCHAR", "UUID", "TIME", "JSON"):
        levels = _distinct(connection, table, f"{column}::VARCHAR")
        if not levels:
            return "string", "-1", ()
        type_name = quoted(f"levels of {name}")
        listed = f"SELECT level FROM {quoted('distinct levels')}"  # noqa: S608
        connection.execute(f"CREATE TYPE {type_name} AS ENUM ({listed})")
        return "string", f"enum_code({column}::VARCHAR::{type_name})", levels
    raise InputError(
        f"column {name!r} holds {sql_type.lower()} values, which are not a table's",
        hint="spread them over columns of their own, or leave the column out of the file.",
    )


def _distinct(connection: "DuckDBPyConnection", table: str, sql: str) -> tuple[str, ...]:
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {quoted('distinct levels')} AS "  # noqa: S608
        f"SELECT DISTINCT {sql} AS level FROM {quoted(table)} WHERE {sql} IS NOT NULL"
    )
    found = connection.execute(f"SELECT level FROM {quoted('distinct levels')}").fetchnumpy()  # noqa: S608
    return tuple(found["level"].tolist())


def _filled(values: Any, form: Form) -> NDArray[Any]:
    """Turn DuckDB's masked arrays into plain ones with our marks for missing."""
    if form in ("number", "boolean"):
        return np.asarray(np.ma.filled(values.astype(np.float64, copy=False), np.nan))
    if form == "date":
        return np.asarray(np.ma.filled(values.astype("datetime64[us]"), np.datetime64("NaT")))
    return np.asarray(np.ma.filled(values.astype(np.int32), -1))
