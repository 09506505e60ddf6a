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
from clearwood.table import Kind, Table

__all__ = [
    "ArrayRows",
    "CodeRows",
    "Compose",
    "TableRows",
    "beside",
    "frame_rows",
    "perturbed",
    "rows_of",
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
class _FrameRows:
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
        # pandas joins by index, so the rows are numbered anew
        rows = self.frame.take(base).reset_index(drop=True)
        for column, source in held.items():
            rows.isetitem(column, self._columns[column].take(source))
        return rows


def frame_rows(frame: Any) -> Compose:
    """Compose rows of a data frame; its column types are kept."""
    wrapped = nw.from_native(frame, eager_only=True)
    return _PandasRows(frame) if wrapped.implementation.is_pandas() else _FrameRows(wrapped)


def rows_of(data: Any) -> Compose:
    """Compose rows of a table, an array or a data frame."""
    if isinstance(data, Table):
        return TableRows(data)
    return ArrayRows(data) if isinstance(data, np.ndarray) else frame_rows(data)


def beside(rows: Any, reference: Any, columns: Iterable[int]) -> Any:
    """Put some columns of rows beside the other columns of a reference of one row.

    Every column keeps its type: that of the rows, or that of the reference.

    Examples
    --------
    >>> beside(np.array([[1, 2], [3, 4]]), np.array([[8, 9]]), [0])
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
