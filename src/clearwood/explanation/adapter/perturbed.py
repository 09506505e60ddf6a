"""Data with some columns rewritten, in the form in which the user gave it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Index
from clearwood.explanation.adapter.compose import ArrayRows, frame_rows
from clearwood.table import Kind, Table

__all__ = ["perturbed", "take_rows"]


def perturbed(
    data: Any,
    names: tuple[str, ...],
    base: Index,
    taken: Mapping[int, Index],
    written: Mapping[int, NDArray[Any]],
) -> Any:
    """Give rows of data, with some columns of other rows and some with values of their own.

    Parameters
    ----------
    data
        A table, a data frame or an array.
    names
        The columns that are meant, by position.
    base
        Rows.
    taken
        For some columns, the rows whose value they have instead.
    written
        For some columns of numbers or dates, the values they have instead.

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
    """Give some rows of a table, a data frame or an array."""
    return perturbed(data, (), rows, {}, {}) if not isinstance(data, Table) else data.take(rows)
