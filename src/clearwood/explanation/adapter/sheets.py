"""Data frames and arrays as sheets whose columns can be taken from different rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.frames import installed_library
from clearwood.table import Table

__all__ = ["ArraySheet", "FrameSheet", "Sheet", "sheet_of"]

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ArraySheet:
    """An array of rows and columns."""

    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    def native(self) -> Any:
        """Give what a model takes."""
        return self.values

    def shuffled(self, index: NDArray[np.intp]) -> "ArraySheet":
        """Take column j from rows ``index[:, j]``."""
        return ArraySheet(np.take_along_axis(self.values, index, axis=0))

    def held(self, reference: "ArraySheet", column: int) -> "ArraySheet":
        """Hold all columns but one at the reference's only row."""
        values = np.repeat(reference.values, len(self), axis=0)
        values[:, column] = self.values[:, column]
        return ArraySheet(values)

    def take(self, rows: Index | slice) -> "ArraySheet":
        """Give some rows."""
        return ArraySheet(self.values[rows])

    def distinct(self, column: int) -> tuple[Index, Index]:
        """Give a row for each value of a column, and for each row the position of its value."""
        return _distinct(self.values[:, column])


@dataclass(frozen=True, eq=False)
class FrameSheet:
    """A data frame of any library."""

    frame: nw.DataFrame[Any]

    def __len__(self) -> int:
        return len(self.frame)

    def native(self) -> Any:
        """Give what a model takes."""
        return self.frame.to_native()

    def shuffled(self, index: NDArray[np.intp]) -> "FrameSheet":
        """Take column j from rows ``index[:, j]``."""
        taken = [
            _plain_index(self.frame[[name]][index[:, j].tolist()])
            for j, name in enumerate(self.frame.columns)
        ]
        return FrameSheet(nw.concat(taken, how="horizontal"))

    def held(self, reference: "FrameSheet", column: int) -> "FrameSheet":
        """Hold all columns but one at the reference's only row."""
        name = self.frame.columns[column]
        others = [c for c in self.frame.columns if c != name]
        own = _plain_index(self.frame.select(name))
        if not others:
            return FrameSheet(own)
        fixed = _plain_index(reference.frame.select(others)[[0] * len(self)])
        if fixed.implementation is not own.implementation:
            own = nw.from_dict({name: own[name].to_list()}, backend=fixed.implementation)
        joined = nw.concat([fixed, own], how="horizontal")
        return FrameSheet(joined.select(self.frame.columns))

    def take(self, rows: Index | slice) -> "FrameSheet":
        """Give some rows."""
        return FrameSheet(self.frame[rows if isinstance(rows, slice) else rows.tolist()])

    def distinct(self, column: int) -> tuple[Index, Index]:
        """Give a row for each value of a column, and for each row the position of its value."""
        return _distinct(self.frame[self.frame.columns[column]].to_numpy())


Sheet = ArraySheet | FrameSheet


def sheet_of(data: Any, names: Sequence[str] | None) -> Sheet:
    """Give data as a model wants it: a frame with its names, or an array if it has none.

    Parameters
    ----------
    data
        A table, a data frame or an array.
    names
        The columns that the model was fitted with, None where they had no names.
    """
    data = data.X.to_frame() if isinstance(data, Table) and names is None else data
    data = data.to_frame() if isinstance(data, Table) else data
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if names is None:
        values = frame.to_numpy() if isinstance(frame, nw.DataFrame) else np.asarray(data)
        return ArraySheet(values)
    if not isinstance(frame, nw.DataFrame):
        values = np.asarray(data)
        if values.ndim != 2 or values.shape[1] != len(names):
            raise InputError(
                f"the array has shape {values.shape}; the model has {len(names)} columns",
                hint=f"in this order: {', '.join(names[:12])}.",
            )
        columns = {name: values[:, j] for j, name in enumerate(names)}
        frame = nw.from_dict(columns, backend=_some_library())
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise InputError(
            f"the data lacks {', '.join(map(repr, absent[:8]))}, which the model was fitted with",
            hint=did_you_mean(absent[0], frame.columns),
        )
    return FrameSheet(frame.select(list(names)))


def _distinct(values: NDArray[Any]) -> tuple[Index, Index]:
    if values.dtype.kind != "O":
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        return first, inverse
    codes: dict[Any, int] = {}
    inverse = np.array([codes.setdefault(value, len(codes)) for value in values], np.intp)
    _, first = np.unique(inverse, return_index=True)
    return first, inverse


def _plain_index(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Number the rows anew: pandas would join frames by their index."""
    native = frame.to_native()
    if hasattr(native, "reset_index"):
        return nw.from_native(native.reset_index(drop=True), eager_only=True)
    return frame


def _some_library() -> Any:
    library = installed_library()
    if library is None:
        raise InputError(
            "the model was fitted with named columns and the array has no names",
            hint="give a data frame.",
        )
    return library
