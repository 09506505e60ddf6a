"""Data in the form that a model takes."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.frames import installed_library
from clearwood.table import Column, Table, as_columns, as_table

__all__ = ["as_data", "model_input", "user_columns"]


def as_data(data: Any) -> Any:
    """Read paths, dicts of columns and lazy frames; rows in memory are taken as they are."""
    if isinstance(data, str | os.PathLike | Mapping) or not hasattr(data, "__len__"):
        return as_table(data)
    if isinstance(data, list | tuple):
        return np.asarray(data)
    return data


def model_input(data: Any, names: Sequence[str] | None) -> Any:
    """Turn data into what a model takes: a frame with the columns it was fitted with, or an array.

    ``names`` is None where those columns had no names.
    """
    if isinstance(data, Table):
        data = (data.X if names is None else data).by_header().to_frame()
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if names is None:
        return frame.to_numpy() if isinstance(frame, nw.DataFrame) else np.asarray(data)
    if not isinstance(frame, nw.DataFrame):
        frame = _named(np.asarray(data), names)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise InputError(
            f"the data lacks {', '.join(map(repr, absent[:8]))}, which the model was fitted with",
            hint=did_you_mean(absent[0], frame.columns),
        )
    return frame.select(list(names)).to_native()


def _named(values: NDArray[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InputError(
            f"the array has shape {values.shape}; the model has {len(names)} columns",
            hint=f"in this order: {', '.join(names[:12])}.",
        )
    library = installed_library()
    if library is None:
        raise InputError(
            "the model was fitted with named columns and the array has no names",
            hint="give a data frame.",
        )
    return nw.from_dict({name: values[:, k] for k, name in enumerate(names)}, backend=library)


def user_columns(data: Any, names: Sequence[str], *, by_position: bool) -> tuple[Column, ...]:
    """Return the user's columns by name; by position where neither side has names to compare.

    ``by_position`` is whether the model's names were made up (x0, x1, ...), so that any names will
    do.
    """
    data = data.by_header() if isinstance(data, Table) else data
    columns = data.X.columns if isinstance(data, Table) else as_columns(data)
    known = {c.name: c for c in (data.columns if isinstance(data, Table) else columns)}
    nameless = isinstance(data, np.ndarray) and data.dtype.names is None
    if nameless or (by_position and not set(names) & set(known)):
        if len(columns) != len(names):
            raise InputError(
                f"the data has {len(columns)} columns; the model has {len(names)}",
                hint=f"in this order: {', '.join(names[:12])}.",
            )
        return tuple(
            Column(name, column.kind, column.values, column.levels, column.label_type)
            for name, column in zip(names, columns, strict=True)
        )
    absent = [name for name in names if name not in known]
    if absent:
        shown = ", ".join(map(repr, absent[:8])) + (", …" if len(absent) > 8 else "")
        raise InputError(
            f"the data lacks {shown}, which the model was fitted with",
            hint=did_you_mean(absent[0], known),
        )
    return tuple(known[name] for name in names)
