"""A column as its source gave it, before its kind is settled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Index

__all__ = ["Form", "Raw", "factorise", "level_key", "number_text", "used_levels"]

Form = Literal["number", "boolean", "string", "category", "ordered", "date"]


@dataclass(frozen=True, eq=False)
class Raw:
    """What every source is turned into first.

    Parameters
    ----------
    name
        The user's name for the column.
    form
        How the source stored it. Only "category" and "ordered" are the user's own statement of a
        kind; "string" may still be dates, yes/no, text or badly written numbers.
    values
        Numbers and booleans as float64 with NaN, dates as datetime64[us] with NaT, the rest as
        int32 codes into ``levels`` with -1 for missing.
    levels
        The distinct strings, in any order except where the form is "ordered".
    label_type
        What the levels were before they became strings.
    plain
        Whether a number is to be taken as a number, with no guessing (numpy arrays).
    decimal
        Of a string from a file: the decimal sign of the file's other columns, where they have one.
    unit
        Of a number: the unit that was written with it.
    header
        Its name in the data, where a label gives it another.
    repeats
        How many rows each value stands for, where rows were counted and not kept; None for one.
    """

    name: str
    form: Form
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    label_type: str = "text"
    plain: bool = False
    decimal: str = ""
    unit: str = ""
    header: str = ""
    repeats: NDArray[np.int64] | None = None

    @property
    def is_coded(self) -> bool:
        """Whether the values are codes into ``levels``."""
        return self.form in ("string", "category", "ordered")

    def at(self, rows: Bools | slice) -> "Raw":
        """Return some rows; strings that none of them has are forgotten."""
        values = self.values[rows]
        repeats = None if self.repeats is None else self.repeats[rows]
        if self.form != "string":
            return replace(self, values=values, repeats=repeats)
        used = used_levels(values, len(self.levels))
        if len(used) == len(self.levels):
            return replace(self, values=values, repeats=repeats)
        lookup = np.full(len(self.levels) + 1, -1, dtype=np.int32)
        lookup[used] = np.arange(len(used), dtype=np.int32)
        levels = tuple(self.levels[code] for code in used)
        return replace(self, values=lookup[values], levels=levels, repeats=repeats)

    @property
    def n_rows(self) -> int:
        """How many rows the values stand for."""
        return len(self.values) if self.repeats is None else int(self.repeats.sum())

    @property
    def n_present(self) -> int:
        """How many rows have a value."""
        known = ~self.missing
        return int(known.sum() if self.repeats is None else self.repeats[known].sum())

    def rows_per_level(self) -> Index:
        """Return how many rows each level has."""
        known = self.values >= 0
        weights = None if self.repeats is None else self.repeats[known]
        # sums of whole numbers are exact
        rows = np.bincount(self.values[known], weights, minlength=len(self.levels))
        return rows.astype(np.intp)

    @property
    def missing(self) -> Bools:
        """Which rows have no value."""
        if self.is_coded:
            return np.asarray(self.values < 0)
        missing = np.isnat if self.form == "date" else np.isnan
        return np.asarray(missing(self.values))


def used_levels(codes: NDArray[np.int32], n_levels: int) -> Index:
    """Return the codes that occur, rising; -1 is missing and does not count.

    Examples
    --------
    >>> used_levels(np.array([2, -1, 0, 2], np.int32), 4)
    array([0, 2])
    """
    # counting beats sorting and hashing by far where codes are few
    return np.flatnonzero(np.bincount(codes + 1, minlength=n_levels + 1)[1:])


def number_text(value: float) -> str:
    """Write a number as a person would: no trailing ``.0``.

    Examples
    --------
    >>> number_text(3.0), number_text(0.1)
    ('3', '0.1')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def level_key(level: str) -> tuple[int, float, str]:
    """Order levels naturally: numbers by size, then words by alphabet.

    Examples
    --------
    >>> sorted(["b", "10", "9", "a"], key=level_key)
    ['9', '10', 'a', 'b']
    """
    try:
        number = float(level)
    except ValueError:
        return 1, 0.0, level
    return (0, number, level) if np.isfinite(number) else (1, 0.0, level)


def factorise(values: Sequence[str | None]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return codes and the distinct strings, in order of appearance.

    Examples
    --------
    >>> factorise(["b", None, "a", "b"])
    (array([ 0, -1,  1,  0], dtype=int32), ('b', 'a'))
    """
    seen: dict[str | None, int] = {}
    codes = np.fromiter(
        (-1 if value is None else seen.setdefault(value, len(seen)) for value in values),
        dtype=np.int32,
        count=len(values),
    )
    return codes, tuple(str(level) for level in seen)
