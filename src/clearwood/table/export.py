"""Tables handed on: to data frames, plain values, and a fingerprint."""

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.frames import in_library
from clearwood.table.column import Column
from clearwood.table.types import CODED, Kind

if TYPE_CHECKING:
    from clearwood.table.table import Table

__all__ = ["canonical", "fingerprint", "to_dict", "to_frame", "to_json"]


def to_frame(table: "Table", library: str | None = None) -> Any:
    """Return the table as a data frame of a library, or of the first one that is installed."""
    return in_library(
        library,
        {
            "pandas": lambda: _to_pandas(table),
            "polars": lambda: _to_polars(table),
            "pyarrow": lambda: _to_arrow(table),
            "dict": lambda: to_dict(table),
        },
    )


def to_dict(table: "Table") -> dict[str, list[Any]]:
    """Return each column as a list of plain values: levels as written, None for missing."""
    return {column.name: _plain_values(column) for column in table.columns}


def to_json(table: "Table") -> dict[str, Any]:
    """Return schema, counts and columns as plain JSON values."""
    return {
        **table.schema.to_json(),
        "rows": table.n_rows,
        "dropped": table.dropped,
        "missing": dict(table.missing),
        "notes": [str(note) for note in table.notes],
        "source": table.source,
        "values": {
            column.name: [
                value.isoformat() if column.kind is Kind.DATE and value is not None else value
                for value in _plain_values(column)
            ]
            for column in table.columns
        },
    }


def fingerprint(table: "Table") -> str:
    """Return a SHA-256 over names and values, column by column in the order of their names.

    The same data gives the same fingerprint on every machine, and whatever kinds and roles its
    columns are given: levels count as the numbers or texts that they are at the source. Arrays are
    hashed in one byte order, with one bit pattern for missing and one for zero.
    """
    digest = hashlib.sha256()
    by_header = {column.header or column.name: column for column in table.columns}
    for header, column in sorted(by_header.items()):
        levels, values = _as_at_source(column)
        digest.update(json.dumps([header, levels, len(column)]).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _as_at_source(column: Column) -> tuple[list[str], NDArray[Any]]:
    """Return numbers and dates as they are, and texts as places among their sorted levels."""
    if column.kind not in CODED and column.kind is not Kind.TEXT:
        return [], canonical(column)
    known = ~column.missing
    if column.is_coded and column.label_type in ("integer", "number"):
        numbers = np.full(len(column), np.nan)
        numbers[known] = column.typed_levels()[column.values[known]]
        return [], numbers.astype("<f8") + 0.0
    values = column.values[known]
    texts = np.array(column.levels, dtype=str)[values] if column.is_coded else values.astype(str)
    levels, places = np.unique(texts, return_inverse=True)
    codes = np.full(len(column), -1, "<i4")
    codes[known] = places
    return levels.tolist(), codes


def canonical(column: Column) -> NDArray[Any]:
    """Return numbers that are equal where values are, bit for bit; not for text."""
    if column.kind in CODED:
        return column.values.astype("<i4")
    if column.kind is Kind.DATE:
        return column.values.astype("datetime64[us]").astype("<i8")
    # Adding zero turns -0.0 into 0.0; NaN has many bit patterns.
    values = column.values.astype("<f8") + 0.0
    values[np.isnan(values)] = np.nan
    return values


def _plain_values(column: Column) -> list[Any]:
    missing = column.missing
    if column.is_coded:
        levels = [*column.typed_levels().tolist(), None]
        return [levels[code] for code in column.values]
    if column.kind is Kind.WHOLE:
        return [
            None if gone else int(v)
            for v, gone in zip(column.values.tolist(), missing.tolist(), strict=True)
        ]
    values = column.values.tolist()
    return [None if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]


def _to_pandas(table: "Table") -> Any:
    import pandas as pd

    columns: dict[str, Any] = {}
    for column in table.columns:
        if column.kind in (Kind.CATEGORY, Kind.ORDERED):
            columns[column.name] = pd.Categorical.from_codes(
                column.values, column.typed_levels(), ordered=column.kind is Kind.ORDERED
            )
        elif column.kind is Kind.WHOLE and not column.n_missing:
            columns[column.name] = column.values.astype(np.int64)
        elif column.is_coded:
            columns[column.name] = _plain_values(column)
        else:
            columns[column.name] = column.values
    return pd.DataFrame(columns)


def _to_polars(table: "Table") -> Any:
    import polars as pl

    columns = {}
    for column in table.columns:
        values = _plain_values(column)
        if column.kind is Kind.DATE:
            columns[column.name] = pl.Series(column.name, values, dtype=pl.Datetime("us"))
        elif column.kind in (Kind.CATEGORY, Kind.ORDERED) and column.label_type == "text":
            columns[column.name] = pl.Series(column.name, values, dtype=pl.Enum(column.levels))
        else:
            columns[column.name] = pl.Series(column.name, values)
    return pl.DataFrame(columns)


def _to_arrow(table: "Table") -> Any:
    import pyarrow as pa

    columns = {}
    for column in table.columns:
        if column.kind in (Kind.CATEGORY, Kind.ORDERED):
            codes = pa.array(column.values, mask=column.missing)
            levels = pa.array(column.typed_levels().tolist())
            columns[column.name] = pa.DictionaryArray.from_arrays(
                codes, levels, ordered=column.kind is Kind.ORDERED
            )
        else:
            columns[column.name] = pa.array(_plain_values(column))
    return pa.table(columns)
