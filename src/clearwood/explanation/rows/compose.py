"""Data in the form that a model takes, and rows put together from other rows column by column.

What puts rows together are classes rather than closures, so that explanations can be pickled.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, bad_value, did_you_mean
from clearwood._shared.frames import installed_library
from clearwood._shared.numbers import count
from clearwood.explanation.rows.rows import joined_column, no_background
from clearwood.fitted import as_data
from clearwood.forest import LearnerEncoder
from clearwood.models import TableModel
from clearwood.table import Kind, Table, as_table

__all__ = [
    "ArrayRows",
    "CodeRows",
    "Compose",
    "TableRows",
    "as_rows",
    "chosen_row",
    "frame_rows",
    "joined_columns",
    "perturbed",
    "rows_of",
    "stacked",
    "take_rows",
]

#: From rows, and for some columns the rows to take that column from instead, to a model's input.
Compose = Callable[[Index, Mapping[int, Index]], Any]


@dataclass(frozen=True, eq=False)
class CodeRows:
    """Rows of a matrix in which each of the user's columns is a group of columns.

    Examples
    --------
    >>> compose = CodeRows(np.array([[1.0, 0.0, 7.0], [0.0, 1.0, 8.0]]), np.array([0, 0, 1]))
    >>> compose(np.array([0, 0]), {0: np.array([0, 1])})
    array([[1., 0., 7.],
           [0., 1., 7.]])
    """

    codes: Floats
    groups: Index

    @cached_property
    def _members(self) -> dict[int, Index]:
        return {int(g): np.flatnonzero(self.groups == g) for g in np.unique(self.groups)}

    def __call__(self, base: Index, held: Mapping[int, Index]) -> Floats:
        """Compose rows."""
        rows = self.codes[base]
        for column, source in held.items():
            for k in self._members.get(column, ()):
                rows[:, k] = self.codes[source, k]
        return rows


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows of an array of any type."""

    values: NDArray[Any]

    def __call__(self, base: Index, held: Mapping[int, Index]) -> NDArray[Any]:
        """Compose rows."""
        rows: NDArray[Any] = self.values[base]
        for column, source in held.items():
            rows[:, column] = self.values[source, column]
        return rows


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of a table, for models that take tables."""

    table: Table

    def __call__(self, base: Index, held: Mapping[int, Index]) -> Table:
        """Compose rows."""
        columns = [column.take(held.get(k, base)) for k, column in enumerate(self.table.columns)]
        return Table(tuple(columns))


@dataclass(frozen=True, eq=False)
class _NarwhalsRows:
    """Rows of a data frame of any library but pandas."""

    frame: nw.DataFrame[Any]

    def __call__(self, base: Index, held: Mapping[int, Index]) -> Any:
        rows = self.frame[base]
        taken = [self.frame[self.frame.columns[k]][source] for k, source in held.items()]
        return (rows.with_columns(*taken) if taken else rows).to_native()


@dataclass(frozen=True, eq=False)
class _PandasRows:
    """Rows of a pandas frame."""

    frame: Any

    @cached_property
    def _columns(self) -> list[Any]:
        return [self.frame.iloc[:, k].array for k in range(self.frame.shape[1])]

    def __call__(self, base: Index, held: Mapping[int, Index]) -> Any:
        # pandas joins by index, so the rows are renumbered
        rows = self.frame.take(base).reset_index(drop=True)
        for column, source in held.items():
            rows.isetitem(column, self._columns[column].take(source))
        return rows


def frame_rows(frame: Any) -> Compose:
    """Compose rows of a data frame; its column types are kept."""
    wrapped = nw.from_native(frame, eager_only=True)
    return _PandasRows(frame) if wrapped.implementation.is_pandas() else _NarwhalsRows(wrapped)


def rows_of(data: Any) -> Compose:
    """Compose rows of a table, an array or a data frame."""
    if isinstance(data, Table):
        return TableRows(data)
    return ArrayRows(data) if isinstance(data, np.ndarray) else frame_rows(data)


def joined_columns(rows: Any, reference: Any, columns: Iterable[int]) -> Any:
    """Join some columns of rows with the other columns of a reference row.

    Every column keeps its type: that of the rows, or that of the reference.

    Examples
    --------
    >>> joined_columns(np.array([[1, 2], [3, 4]]), np.array([[8, 9]]), [0])
    array([[1, 9],
           [3, 9]])
    """
    base = np.zeros(len(rows), np.intp)
    if isinstance(rows, np.ndarray):
        made = np.repeat(reference, len(rows), axis=0)
        made[:, list(columns)] = rows[:, list(columns)]
        return made
    made = frame_rows(reference)(base, {})
    own, made = (nw.from_native(frame, eager_only=True) for frame in (rows, made))
    listed = own.columns
    if own.implementation is not made.implementation:
        own = nw.from_dict(own.to_dict(as_series=False), backend=made.implementation)
    native = made.to_native()
    if made.implementation.is_pandas():
        for k in columns:
            native.isetitem(k, own.to_native().iloc[:, k].array)
        return native
    return made.with_columns(*(own[listed[k]] for k in columns)).to_native()


def perturbed(
    data: Any,
    names: tuple[str, ...],
    base: Index,
    taken: Mapping[int, Index],
    written: Mapping[int, NDArray[Any]],
) -> Any:
    """Make rows of data, with some columns of other rows and some with values of their own.

    Columns are meant by their position in ``names``. Rows are those at ``base``; ``taken`` has, for
    some columns, the rows whose value they have instead, and ``written``, for some columns of
    numbers or dates, the values.

    Examples
    --------
    >>> data = np.array([[1, 2], [3, 4]])
    >>> perturbed(data, ("x0", "x1"), np.array([0, 1]), {}, {1: np.array([0.5, 0.25])})
    array([[1.  , 0.5 ],
           [3.  , 0.25]])
    """
    if isinstance(data, Table):
        return _of_table(data, names, base, taken, written)
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        made = ArrayRows(np.asarray(data))(base, taken)
        if written and made.dtype.kind in "iub":
            made = made.astype(np.float64)
        for k, values in written.items():
            made[:, k] = values
        return made
    place = {k: frame.columns.index(names[k]) for k in (*taken, *written)}
    made = frame_rows(data)(base, {place[k]: rows for k, rows in taken.items()})
    if frame.implementation.is_pandas():
        for k, values in written.items():
            made.isetitem(place[k], values)
        return made
    wrapped = nw.from_native(made, eager_only=True)
    columns = [
        nw.new_series(names[k], values, backend=wrapped.implementation)
        for k, values in written.items()
    ]
    return (wrapped.with_columns(*columns) if columns else wrapped).to_native()


def _of_table(
    table: Table,
    names: tuple[str, ...],
    base: Index,
    taken: Mapping[int, Index],
    written: Mapping[int, NDArray[Any]],
) -> Table:
    columns = []
    for k, name in enumerate(names):
        column = table.column(name)
        if k in written:
            kind = Kind.NUMBER if column.kind is Kind.WHOLE else column.kind
            columns.append(replace(column, kind=kind, values=written[k]))
        else:
            columns.append(column.take(taken.get(k, base)))
    return Table(tuple(columns), source=table.source)


def take_rows(data: Any, rows: Index) -> Any:
    """Take some rows of a table, a data frame or an array."""
    return perturbed(data, (), rows, {}, {}) if not isinstance(data, Table) else data.take(rows)


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
