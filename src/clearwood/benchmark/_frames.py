"""Columns of plain values as a data frame of whichever library is there."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from clearwood._errors import InputError, MissingExtraError, did_you_mean

__all__ = ["frame"]

_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Make a data frame of pandas, polars or Arrow, whichever is installed first.

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
    plain = {name: list(values) for name, values in columns.items()}
    known = (*_MAKERS, "dict")
    if library is not None and library not in known:
        raise InputError(
            f"there is no data-frame library {library!r}", hint=did_you_mean(library, known)
        )
    for name in [library] if library else _MAKERS:
        if name == "dict":
            return plain
        try:
            return getattr(import_module(name), _MAKERS[name])(plain)
        except ImportError as error:
            if library is not None:
                extra = "arrow" if name == "pyarrow" else name
                raise MissingExtraError(f"a {name} frame", extra=extra) from error
    return plain
