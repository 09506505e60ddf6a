"""Columns of a DuckDB query, with strings as codes to avoid a Python string per row."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.table.raw import Form, Raw, factorise

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["connect", "fetch", "filled", "literal_path", "quoted"]

# Below this many rows, strings are fetched as they are: a query for the levels of each column would
# take longer, and on a table of thousands of columns far longer.
_FEW_ROWS = 20_000
# So many strings at once fit into memory whatever the width of the table.
_COLUMNS_AT_ONCE = 500

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_NUMBERS = _INTEGERS | {f"U{name}" for name in _INTEGERS} | {"FLOAT", "DOUBLE", "DECIMAL"}
_DATES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
_ZONED = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"}


def connect() -> "DuckDBPyConnection":
    """Open a database in memory that keeps row order and never uses the network."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def literal_path(path: Path) -> str:
    """Return a path that DuckDB takes for one file, whatever signs are in its name."""
    return "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path))


def quoted(name: str) -> str:
    """Quote an identifier for SQL."""
    return '"' + name.replace('"', '""') + '"'


def fetch(connection: "DuckDBPyConnection", table: str) -> list[Raw]:
    """Return every column of a table in the database."""
    described = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    counted = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()  # noqa: S608
    n_rows = counted[0] if counted else 0
    names = list(types)
    columns = []
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        some = {name: types[name] for name in names[start : start + _COLUMNS_AT_ONCE]}
        columns += _fetch_some(connection, table, some, few_rows=n_rows <= _FEW_ROWS)
    return columns


def _fetch_some(
    connection: "DuckDBPyConnection", table: str, types: dict[str, str], *, few_rows: bool
) -> list[Raw]:
    parts = [
        _part(connection, table, name, kind, few_rows=few_rows) for name, kind in types.items()
    ]
    # Names never pass through SQL results: DuckDB folds case when it compares names.
    selected = ", ".join(f"{part.sql} AS c{i}" for i, part in enumerate(parts))
    fetched = connection.execute(f"SELECT {selected} FROM {quoted(table)}").fetchnumpy()  # noqa: S608
    columns = []
    for i, (name, part) in enumerate(zip(types, parts, strict=True)):
        values = fetched[f"c{i}"]
        if part.levels is None:
            codes, levels = factorise(values.tolist())
            columns.append(Raw(name, part.form, codes, levels))
        else:
            columns.append(Raw(name, part.form, filled(values, part.form), part.levels))
    return columns


@dataclass(frozen=True)
class _Part:
    """How a column is queried; levels are None where the strings themselves are fetched."""

    form: Form
    sql: str
    levels: tuple[str, ...] | None = ()


def _part(
    connection: "DuckDBPyConnection", table: str, name: str, sql_type: str, *, few_rows: bool
) -> _Part:
    column = quoted(name)
    base = sql_type.split("(", maxsplit=1)[0]
    if base in _NUMBERS:
        return _Part("number", f"{column}::DOUBLE")
    if base == "BOOLEAN":
        return _Part("boolean", f"{column}::DOUBLE")
    if base in _DATES or base in _ZONED:
        return _Part("date", f"{column}::TIMESTAMP")
    if base == "ENUM":
        # Parquet and Arrow dictionaries: someone's list of levels.
        rows = connection.execute(
            f"SELECT unnest(enum_range(any_value({column}))) FROM {quoted(table)}"  # noqa: S608
        ).fetchall()
        return _Part("category", f"enum_code({column})", tuple(str(row[0]) for row in rows))
    if base not in ("VARCHAR", "UUID", "TIME", "JSON"):
        raise InputError(
            f"column {name!r} holds {sql_type.lower()} values, which a table cannot hold",
            parameter=name,
            hint="spread them over columns of their own, or leave the column out of the file.",
        )
    if few_rows:
        return _Part("string", f"{column}::VARCHAR", None)
    levels = _distinct(connection, table, f"{column}::VARCHAR")
    if not levels:
        return _Part("string", "-1")
    type_name = quoted(f"levels of {name}")
    listed = f"SELECT level FROM {quoted('distinct levels')}"  # noqa: S608
    connection.execute(f"CREATE TYPE {type_name} AS ENUM ({listed})")
    return _Part("string", f"enum_code({column}::VARCHAR::{type_name})", levels)


def _distinct(connection: "DuckDBPyConnection", table: str, sql: str) -> tuple[str, ...]:
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {quoted('distinct levels')} AS "  # noqa: S608
        f"SELECT DISTINCT {sql} AS level FROM {quoted(table)} WHERE {sql} IS NOT NULL"
    )
    fetched = connection.execute(f"SELECT level FROM {quoted('distinct levels')}").fetchnumpy()  # noqa: S608
    return tuple(fetched["level"].tolist())


def filled(values: Any, form: Form) -> NDArray[Any]:
    """Turn DuckDB's masked arrays into plain ones with our marks for missing."""
    if form in ("number", "boolean"):
        return np.asarray(np.ma.filled(values.astype(np.float64, copy=False), np.nan))
    if form == "date":
        return np.asarray(np.ma.filled(values.astype("datetime64[us]"), np.datetime64("NaT")))
    return np.asarray(np.ma.filled(values.astype(np.int32), -1))
