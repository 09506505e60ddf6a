"""Explained rows and background rows as one piece of data, so that columns can be exchanged."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from clearwood._shared.errors import InputError, bad_value, did_you_mean
from clearwood._shared.frames import installed_library
from clearwood._shared.numbers import count
from clearwood.explanation.rows.compose import take_rows
from clearwood.explanation.rows.rows import joined_column, no_background
from clearwood.fitted import as_data
from clearwood.forest import LearnerEncoder
from clearwood.models import TableModel
from clearwood.table import Table, as_table

__all__ = ["as_rows", "chosen_row", "stacked"]


def as_rows(rows: Any) -> Any:
    """Take one row (a dict, a pandas Series, an array of one dimension) for a table of one row.

    Examples
    --------
    >>> as_rows(np.array([1.0, 2.0]))
    array([[1., 2.]])
    """
    if isinstance(rows, Mapping) and not any(
        hasattr(value, "__len__") and not isinstance(value, str) for value in rows.values()
    ):
        return _frame_of_one(rows)
    if hasattr(rows, "to_frame") and hasattr(rows, "index") and getattr(rows, "ndim", 0) == 1:
        # a Series that is a row of a frame has the type object; its values know better
        return rows.to_frame().T.infer_objects()
    rows = as_data(rows)
    if isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.names is None:
        return rows.reshape(1, -1)
    return rows


def chosen_row(data: Any, row: Any) -> Any:
    """Return one row: as it is given, or by its position in the data.

    Examples
    --------
    >>> chosen_row(np.array([[1.0, 2.0], [3.0, 4.0]]), -1)
    array([[3., 4.]])
    """
    if isinstance(row, bool) or not isinstance(row, int | np.integer):
        return as_rows(row)
    n_rows = len(data)
    if not -n_rows <= row < n_rows:
        raise bad_value("row", row, f"the data has {count(n_rows, 'row')}, counted from 0")
    return take_rows(data, np.array([int(row) % n_rows]))


def _frame_of_one(row: Mapping[str, Any]) -> Any:
    """Make a frame of one row; a table would take a column without a value for an empty one."""
    library = installed_library()
    if library is None:
        return as_table({name: [value] for name, value in row.items()})
    gap = np.nan if library == "pandas" else None
    values = {str(name): [gap if v is None else v] for name, v in row.items()}
    return nw.from_dict(values, backend=library).to_native()


def stacked(model: Any, rows: Any, background: Any) -> tuple[Any, int]:
    """Put rows on top of background rows, in the background's form; count the rows above.

    A learner's schema decides which columns are read, and how.

    Examples
    --------
    >>> stacked(None, [[1.0, 2.0]], [[3.0, 4.0]])
    (array([[1., 2.],
           [3., 4.]]), 1)
    """
    rows, background = as_rows(rows), as_data(background)
    schema = _schema(model)
    if schema is not None or isinstance(background, Table):
        schema = background.schema if schema is None else schema
        table = as_table(rows, schema=schema)
        return _tables(table, as_table(background, schema=schema), schema.features), table.n_rows
    if isinstance(rows, Table):
        rows = rows.X.to_frame(_library(background))
    above, below = (
        nw.from_native(data, eager_only=True, pass_through=True) for data in (rows, background)
    )
    if not isinstance(below, nw.DataFrame):
        return _arrays(above, np.asarray(background))
    if not isinstance(above, nw.DataFrame):
        above = _named(np.asarray(rows), below)
    return _frames(above, below), len(above)


def _schema(model: Any) -> Any:
    if isinstance(model, TableModel) and hasattr(model, "schema_"):
        return model.schema_
    encoder = getattr(model, "encoder", None)
    return encoder.schema if isinstance(encoder, LearnerEncoder) else None


def _library(background: Any) -> str | None:
    frame = nw.from_native(background, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return str(frame.implementation)


def _tables(above: Table, below: Table, features: tuple[str, ...]) -> Table:
    columns = (joined_column(above.column(name), below.column(name)) for name in features)
    return Table(tuple(columns), source=below.source)


def _arrays(above: Any, below: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int]:
    top = above.to_numpy() if isinstance(above, nw.DataFrame) else np.asarray(above)
    if below.ndim != 2 or not len(below):
        raise InputError(
            f"the background has the shape {below.shape}; rows and columns are needed",
            hint="give the training rows, or a sample of them.",
        )
    _check_width(top, below.shape[1])
    return np.concatenate([top, below]), len(top)


def _check_width(rows: np.ndarray[Any, Any], n_columns: int) -> None:
    if rows.ndim != 2 or rows.shape[1] != n_columns:
        raise InputError(
            f"the rows have the shape {rows.shape}; the background has {n_columns} columns",
            hint="give rows with the columns of the background, in its order.",
        )


def _named(values: np.ndarray[Any, Any], below: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    _check_width(values, len(below.columns))
    named = {name: values[:, k] for k, name in enumerate(below.columns)}
    return nw.from_dict(named, backend=below.implementation)


def _frames(above: nw.DataFrame[Any], below: nw.DataFrame[Any]) -> Any:
    absent = [name for name in below.columns if name not in above.columns]
    if absent:
        raise InputError(
            f"the rows lack the column {absent[0]!r} of the background",
            hint=did_you_mean(str(absent[0]), map(str, above.columns)),
        )
    if not len(below):
        raise no_background()
    top = above.select(below.columns)
    if below.implementation.is_pandas():
        import pandas as pd

        upper, lower = top.to_pandas(), below.to_native()
        # numbers find their common type; a category must be the same, or models refuse it
        categories = {
            name: upper[name].astype(lower[name].dtype)
            for name in lower.columns
            if isinstance(lower[name].dtype, pd.CategoricalDtype)
        }
        return pd.concat([upper.assign(**categories), lower], ignore_index=True)
    if above.implementation is not below.implementation:
        top = nw.from_dict(top.to_dict(as_series=False), backend=below.implementation)
    common = {name: _common(top.schema[name], below.schema[name]) for name in below.columns}
    cast = [nw.col(name).cast(kind) for name, kind in common.items()]
    return nw.concat([top.select(*cast), below.select(*cast)], how="vertical").to_native()


def _common(above: Any, below: Any) -> Any:
    return nw.Float64() if above != below and above.is_numeric() else below
