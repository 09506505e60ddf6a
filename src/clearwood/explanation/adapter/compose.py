"""Rows whose columns can be taken from different rows, in the form that a model asks for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.table import Table

__all__ = ["Compose", "Index", "array_rows", "code_rows", "frame_rows", "some_frame"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

#: From rows, and for some columns the rows to take that column from instead, to a model's input.
Compose = Callable[[Index, Mapping[int, Index]], Any]


def code_rows(codes: Floats, groups: NDArray[np.intp]) -> Compose:
    """Compose rows of a matrix in which each of the user's columns is a group of columns.

    Examples
    --------
    >>> codes = np.array([[1.0, 0.0, 7.0], [0.0, 1.0, 8.0]])
    >>> compose = code_rows(codes, np.array([0, 0, 1]))
    >>> compose(np.array([0, 0]), {0: np.array([0, 1])})
    array([[1., 0., 7.],
           [0., 1., 7.]])
    """
    # one look-up of the groups, not one per call
    mine = {int(group): np.flatnonzero(groups == group) for group in np.unique(groups)}

    def compose(base: Index, held: Mapping[int, Index]) -> Floats:
        made = codes[base]
        for column, source in held.items():
            for k in mine.get(column, ()):
                made[:, k] = codes[source, k]
        return made

    return compose


def array_rows(values: NDArray[Any]) -> Compose:
    """Compose rows of an array of any type."""

    def compose(base: Index, held: Mapping[int, Index]) -> NDArray[Any]:
        made: NDArray[Any] = values[base]
        for column, source in held.items():
            made[:, column] = values[source, column]
        return made

    return compose


@dataclass(frozen=True, eq=False)
class _FrameRows:
    """Rows of a data frame of any library but pandas."""

    frame: nw.DataFrame[Any]

    def __call__(self, base: Index, held: Mapping[int, Index]) -> Any:
        made = self.frame[base]
        taken = [self.frame[self.frame.columns[k]][source] for k, source in held.items()]
        return (made.with_columns(*taken) if taken else made).to_native()


def frame_rows(frame: Any) -> Compose:
    """Compose rows of a data frame; its column types are kept."""
    wrapped = nw.from_native(frame, eager_only=True)
    if not wrapped.implementation.is_pandas():
        return _FrameRows(wrapped)
    columns = [frame.iloc[:, k].array for k in range(frame.shape[1])]

    def compose(base: Index, held: Mapping[int, Index]) -> Any:
        # pandas joins by index, so the rows are numbered anew
        made = frame.take(base).reset_index(drop=True)
        for column, source in held.items():
            made.isetitem(column, columns[column].take(source))
        return made

    return compose


def some_frame(data: Any, names: tuple[str, ...]) -> Any:
    """Give a data frame with the named columns, made from a table or an array where need be."""
    if isinstance(data, Table):
        return data.select(names).to_frame()
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.select(list(names)).to_native()
    library: Any = next((name for name in ("pandas", "polars", "pyarrow") if find_spec(name)), None)
    if library is None:
        raise InputError("the model needs a data frame, and none can be made of an array here")
    values = np.asarray(data)
    made = nw.from_dict({n: values[:, k] for k, n in enumerate(names)}, backend=library)
    return made.to_native()
