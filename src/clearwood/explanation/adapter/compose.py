"""Rows whose columns are taken from different rows, in the form that a model takes.

Classes rather than closures, so that explanations can be pickled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.frames import installed_library
from clearwood.table import Table

__all__ = ["ArrayRows", "CodeRows", "Compose", "frame_rows", "some_frame"]

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


def some_frame(data: Any, names: tuple[str, ...]) -> Any:
    """Give a data frame with the named columns, made from a table or an array where need be."""
    if isinstance(data, Table):
        return data.select(names).to_frame()
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.select(list(names)).to_native()
    library = installed_library()
    if library is None:
        raise InputError("the model needs a data frame, and none can be made of an array here")
    values = np.asarray(data)
    made = nw.from_dict({n: values[:, k] for k, n in enumerate(names)}, backend=library)
    return made.to_native()
