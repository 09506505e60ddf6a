"""One column of a table: plain values with their kind."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools
from clearwood.table.types import CODED, Kind

__all__ = ["Column", "shown_name"]


@dataclass(frozen=True, eq=False)
class Column:
    """A named column.

    Parameters
    ----------
    name
        The user's name for it.
    kind
        What it holds.
    values
        By kind: numbers and whole numbers as float64 with NaN for missing; yes/no, categories and
        ordered categories as int32 codes into ``levels`` with -1 for missing; dates as
        datetime64[us] with NaT; text as an object array of str with None.
    levels
        The levels of a coded column, in order; empty for the others.
    label_type
        What the levels of a coded column were at the source: "text", "integer", "number" or
        "boolean". Predicted classes have this type.
    header
        Its name in the data, where a label gives it another.
    unit, description
        The unit of its numbers and what it means, where they are known.
    decimal
        "," where its numbers were written so, which decides how new data are read.
    missing_codes
        Words and numbers that were stated to mean missing; they do in new data too.

    Examples
    --------
    >>> region = Column("region", Kind.CATEGORY, np.array([1, 0, -1], np.int32), ("north", "south"))
    >>> region.n_missing, list(region.labels())
    (1, ['south', 'north', None])
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    label_type: str = "text"
    header: str = ""
    unit: str = ""
    description: str = ""
    decimal: str = ""
    missing_codes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_coded(self) -> bool:
        """Whether the values are codes into ``levels``."""
        return self.kind in CODED

    @property
    def missing(self) -> Bools:
        """Which rows have no value."""
        if self.is_coded:
            return np.asarray(self.values < 0)
        if self.kind is Kind.DATE:
            return np.asarray(np.isnat(self.values))
        if self.kind is Kind.TEXT:
            return np.array([value is None for value in self.values], dtype=bool)
        return np.asarray(np.isnan(self.values))

    @property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return int(self.missing.sum())

    def take(self, rows: NDArray[Any] | slice) -> "Column":
        """Return the column at some rows, by position, mask or slice."""
        # not by `replace`: a resampled table takes its columns thousands of times
        taken = object.__new__(Column)
        taken.__dict__.update(self.__dict__, values=self.values[rows])
        return taken

    def labels(self) -> NDArray[Any]:
        """Return the values as a person would write them: levels, not codes; None for missing."""
        if not self.is_coded:
            return self.values
        padded = np.array([*self.levels, None], dtype=object)
        labels: NDArray[Any] = padded[self.values]
        return labels

    def typed_levels(self) -> NDArray[Any]:
        """Return the levels as they were at the source: 0 and 1, not "0" and "1".

        Examples
        --------
        >>> claim = Column("claim", Kind.YES_NO, np.array([1], np.int32), ("0", "1"), "integer")
        >>> claim.typed_levels()
        array([0, 1])
        """
        if self.label_type == "integer":
            return np.array([int(level) for level in self.levels])
        if self.label_type == "number":
            return np.array([float(level) for level in self.levels])
        if self.label_type == "boolean":
            return np.array([level == "True" for level in self.levels])
        return np.array(self.levels)


def shown_name(name: Any, columns: Iterable[Column]) -> Any:
    """Return what the column is called that a user names by its header; else the name itself."""
    return next((c.name for c in columns if c.header and c.header == name), name)
