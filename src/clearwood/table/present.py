"""Results as frames, JSON values and small tables for notebooks."""

import datetime as dt
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.table import Column, Kind, Table

__all__ = [
    "as_frame",
    "document",
    "grid_columns",
    "html_table",
    "one_output",
    "plain",
    "short",
    "unique_name",
]


def as_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Give named columns as a frame of pandas, polars or Arrow, or as a dict where none is there.

    Examples
    --------
    >>> as_frame({"column": ["age"], "share": np.array([0.5])}, "dict")
    {'column': ['age'], 'share': [0.5]}
    """
    return Table(tuple(_column(name, values) for name, values in columns.items())).to_frame(library)


def _column(name: str, values: Any) -> Column:
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return Column(name, Kind.DATE, array.astype("datetime64[us]"))
    if array.dtype.kind in "iu":
        return Column(name, Kind.WHOLE, array.astype(np.float64))
    if array.dtype.kind == "f":
        return Column(name, Kind.NUMBER, array.astype(np.float64))
    listed = list(values)
    numbers = [value for value in listed if value is not None]
    if numbers and all(isinstance(v, int | float) and not isinstance(v, bool) for v in numbers):
        return Column(name, Kind.NUMBER, np.array([np.nan if v is None else v for v in listed]))
    text = np.empty(len(listed), object)
    text[:] = [None if value is None else str(value) for value in listed]
    return Column(name, Kind.TEXT, text)


def unique_name(name: str, taken: Sequence[str]) -> str:
    """Give a name for a result's own column that none of the user's has.

    Examples
    --------
    >>> unique_name("row", ["age", "row"])
    'row_'
    """
    while name in taken:
        name += "_"
    return name


def grid_columns(
    columns: Sequence[str],
    grid: Sequence[NDArray[Any]],
    outputs: Sequence[str],
    named: Mapping[str, NDArray[Any] | None],
) -> dict[str, Any]:
    """Give what is known at the points of a grid as columns: one row per point and output.

    Parameters
    ----------
    columns, grid
        One or two of the user's columns, and their values.
    outputs
        Names of the outputs.
    named
        Numbers by name, with or without a last axis of outputs; None is left out.

    Examples
    --------
    >>> grid_columns(["age"], [np.array([20, 40])], ["p"], {"effect": np.array([0.5, 1.0])})
    {'age': array([20, 40]), 'effect': array([0.5, 1. ])}
    """
    points = tuple(len(values) for values in grid)
    shape = (*points, len(outputs))
    index = np.indices(shape).reshape(len(shape), -1)
    found: dict[str, Any] = {
        name: values[at] for name, values, at in zip(columns, grid, index[:-1], strict=True)
    }
    taken = list(columns)
    if len(outputs) > 1:
        found[unique_name("output", taken)] = [outputs[k] for k in index[-1]]
    for name, numbers in named.items():
        if numbers is not None:
            whole = numbers if numbers.size == index.shape[1] else numbers[..., None]
            found[unique_name(name, taken)] = np.broadcast_to(
                whole.reshape(*points, -1), shape
            ).ravel()
    return found


def document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Give named values as `plain` JSON values.

    Examples
    --------
    >>> document({"columns": ("age", "bmi"), "shares": np.array([0.25, np.inf])})
    {'columns': ['age', 'bmi'], 'shares': [0.25, None]}
    """
    return {str(name): plain(value) for name, value in values.items()}


def plain(value: Any) -> Any:
    """Give JSON values: numbers that JSON does not know are None, dates are ISO strings.

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan]), "day": np.datetime64("2024-02-29", "us")})
    {'a': [1.0, None], 'day': '2024-02-29T00:00:00'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value.astype("datetime64[us]").item().isoformat()
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


def short(number: float) -> str:
    """Write a number for a line of text.

    Examples
    --------
    >>> short(0.123456), short(1234567.0), short(3.0)
    ('0.1235', '1.235e+06', '3')
    """
    return f"{number:.4g}"


def html_table(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()
) -> str:
    """Write a small table for a notebook; every name and value is escaped."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f"<div><p>{escape(caption)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>" + (f"<ul>{listed}</ul>" if listed else "") + "</div>"
    )


def one_output(values: NDArray[Any]) -> NDArray[Any]:
    """Drop the last axis, of outputs, where there is only one."""
    return values[..., 0] if values.shape[-1] == 1 else values
