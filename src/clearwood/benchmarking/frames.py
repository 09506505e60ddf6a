"""Plain values for JSON, and columns of them as a data frame of whichever library is there."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from clearwood._shared.errors import InputError, MissingExtraError, did_you_mean

__all__ = ["frame", "plain"]

_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Make a data frame of pandas, polars or Arrow, whichever is installed first.

    A column of polars and Arrow holds one type: settings become JSON text there, and values of
    several types (``True`` and ``"auto"``) text.

    Parameters
    ----------
    columns
        Values by name.
    library
        "pandas", "polars" or "pyarrow" to choose; "dict" for a dict of lists, which is also what
        comes where none of them is installed.

    Examples
    --------
    >>> frame({"learner": ["ridge"], "risk": [0.5]}, "dict")
    {'learner': ['ridge'], 'risk': [0.5]}
    """
    plainly = {name: list(values) for name, values in columns.items()}
    known = (*_MAKERS, "dict")
    if library is not None and library not in known:
        raise InputError(
            f"there is no data-frame library {library!r}", hint=did_you_mean(library, known)
        )
    for name in [library] if library else _MAKERS:
        if name == "dict":
            return plainly
        try:
            make = getattr(import_module(name), _MAKERS[name])
        except ImportError as error:
            if library is not None:
                extra = "arrow" if name == "pyarrow" else name
                raise MissingExtraError(f"a {name} frame", extra=extra) from error
            continue
        if name == "pandas":
            return make(plainly)
        return make({key: _of_one_type(values) for key, values in plainly.items()})
    return plainly


def _of_one_type(values: list[Any]) -> list[Any]:
    """Text where a column has several types, JSON text where it has mappings."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) <= 1 and "other" not in kinds:
        return values
    return [None if value is None else _as_text(value) for value in values]


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value))


def plain(value: Any) -> Any:
    """Turn a value into what JSON has: numpy scalars into numbers, NaN and infinities into None.

    Examples
    --------
    >>> plain({"risk": float("nan"), "folds": (1, 2)})
    {'risk': None, 'folds': [1, 2]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)
