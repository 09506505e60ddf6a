"""Columns as a data frame of whichever library is installed, and as plain JSON values."""

import datetime as dt
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from clearwood._shared.errors import MissingExtraError, unknown_choice

__all__ = ["LIBRARIES", "frame", "in_library", "installed_library", "plain", "unique_name"]

#: Data-frame libraries, in the order in which they are looked for.
LIBRARIES = ("pandas", "polars", "pyarrow")


def installed_library() -> Any:
    """Return the name of the first data-frame library that is installed; None without any."""
    return next((name for name in LIBRARIES if find_spec(name)), None)


def in_library(library: str | None, makers: Mapping[str, Callable[[], Any]]) -> Any:
    """Make a frame with the library that the user names, or with the first that is installed."""
    if library is None:
        for name in LIBRARIES:
            try:
                return makers[name]()
            except ImportError:
                continue
        return makers["dict"]()
    if library not in (*LIBRARIES, "dict"):
        raise unknown_choice("library", library, (*LIBRARIES, "dict"))
    try:
        return makers[library]()
    except ImportError as error:
        extra = "arrow" if library == "pyarrow" else library
        raise MissingExtraError(f"a {library} frame", extra=extra) from error


def frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Make a data frame of pandas, polars or Arrow, or a dict of lists where none is installed.

    A column of polars and Arrow holds one type: settings become JSON text there, and values of
    several types (``True`` and ``"auto"``) text.

    Parameters
    ----------
    columns
        Values by name: arrays or sequences.
    library
        "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.

    Examples
    --------
    >>> frame({"column": ["age"], "share": np.array([0.5])}, "dict")
    {'column': ['age'], 'share': [0.5]}
    """
    return in_library(
        library,
        {
            "pandas": lambda: import_module("pandas").DataFrame(
                {name: _for_pandas(values) for name, values in columns.items()}
            ),
            "polars": lambda: import_module("polars").DataFrame(_typed(columns), strict=False),
            "pyarrow": lambda: import_module("pyarrow").table(_typed(columns)),
            "dict": lambda: {name: _plain_list(values) for name, values in columns.items()},
        },
    )


def _for_pandas(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values.astype("datetime64[us]") if values.dtype.kind == "M" else values
    return list(values)


def _typed(columns: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: _of_one_type(_plain_list(values)) for name, values in columns.items()}


def _plain_list(values: Any) -> list[Any]:
    """Return a list of plain values: None for numbers and dates that are missing."""
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    listed = list(values) if array is None else array.tolist()
    return [None if isinstance(value, float) and math.isnan(value) else value for value in listed]


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return text where a column has several types, JSON text where it has mappings."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) <= 1 and "other" not in kinds:
        return values
    return [None if value is None else _as_text(value) for value in values]


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth"
    if isinstance(value, int | float | np.number):
        return "number"
    if isinstance(value, dt.date):
        return "date"
    return "text" if isinstance(value, str) else "other"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value))


def plain(value: Any) -> Any:
    """Return JSON values: numbers that JSON does not have are None, dates are ISO strings.

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan]), "day": np.datetime64("2024-02-29", "us")})
    {'a': [1.0, None], 'day': '2024-02-29T00:00:00'}
    >>> plain({"folds": (1, 2), "where": float("inf")})
    {'folds': [1, 2], 'where': None}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value.astype("datetime64[us]").item().isoformat()
    if isinstance(value, np.ndarray) and value.dtype.kind == "M":
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def unique_name(name: str, taken: Sequence[str]) -> str:
    """Return a name for a result's own column that none of the user's has.

    Examples
    --------
    >>> unique_name("row", ["age", "row"])
    'row_'
    """
    while name in taken:
        name += "_"
    return name
