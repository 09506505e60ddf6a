"""The user's rows, as people see them and as a model's columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood.table import Column, Table

if TYPE_CHECKING:
    from clearwood.explanation.rows.predictor import Predictor

__all__ = [
    "EncodedRows",
    "LateCodes",
    "joined_column",
    "joined_rows",
    "label_rows",
    "no_background",
    "plain_rows",
    "rows_of_table",
    "warn_of_new_gaps",
]


# Rows that are looked at all together rather than column by column.
_FEW = 1000


@dataclass(frozen=True, eq=False)
class LateCodes:
    """Codes of a table's rows that are made when they are needed, and not kept.

    They can be taken by slices and positions, as those of an array, so a large table is worked on a
    block at a time without a second copy of it.

    Parameters
    ----------
    table
        The rows.
    make
        Turns some of them into codes; what it makes of a row does not depend on other rows.
    """

    table: Table
    make: Callable[[Table], Floats]

    @cached_property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.table.n_rows, self.make(self.table.take(slice(0, 1))).shape[1]

    def __len__(self) -> int:
        return self.table.n_rows

    def __getitem__(self, rows: Any) -> Floats:
        return self.make(self.table.take(rows))

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Floats:
        del copy  # they are always new
        return np.asarray(self[:], dtype)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows of a table, twice: as the user wrote them and as numbers that a game is played with.

    Parameters
    ----------
    codes
        The numbers: one row each, columns as the game groups them into players. Those of a large
        background are `LateCodes`, of which only blocks are taken.
    columns
        The user's columns, one per player.
    labels
        What the user calls the rows: a pandas index, else their positions.
    weights
        Row weights that the data itself names; None where it names none.
    source
        Where the rows came from.
    predictor
        For sampled games, whose codes are positions of rows: the model over those rows.
    """

    codes: Floats
    columns: tuple[Column, ...]
    labels: NDArray[Any]
    weights: Floats | None = None
    source: str = ""
    predictor: "Predictor | None" = None

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Index) -> "EncodedRows":
        """Return some of the rows."""
        return replace(
            self,
            codes=self.codes[rows],
            columns=tuple(column.take(rows) for column in self.columns),
            labels=self.labels[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def with_all_codes(self) -> "EncodedRows":
        """Return the same rows with all codes made."""
        return replace(self, codes=np.asarray(self.codes)) if self.are_late else self

    @property
    def are_late(self) -> bool:
        """Whether codes are made when they are needed."""
        return isinstance(self.codes, LateCodes)

    def with_codes(self, codes: Floats) -> "EncodedRows":
        """Return other numbers that mean the same as these: the game's columns at other rows."""
        return replace(self, codes=codes)


def joined_rows(above: EncodedRows, below: EncodedRows) -> EncodedRows:
    """Put rows above others that were read the same way."""
    return EncodedRows(
        codes=np.concatenate([above.codes, below.codes]),
        columns=tuple(map(joined_column, above.columns, below.columns)),
        labels=np.arange(len(above) + len(below)),
        source=below.source,
    )


def joined_column(top: Column, bottom: Column) -> Column:
    """Put the values of a column above others, under all levels that either has."""
    if top.is_coded and top.levels != bottom.levels:  # a level that only one of them has
        levels = bottom.levels + tuple(x for x in top.levels if x not in bottom.levels)
        place = np.array([*(levels.index(x) for x in top.levels), -1], np.int32)
        top = replace(top, levels=levels, values=place[top.values])
        bottom = replace(bottom, levels=levels)
    return replace(bottom, values=np.concatenate([top.values, bottom.values]))


def no_background() -> InputError:
    """Make the error for a background without rows."""
    return InputError(
        "the background has no rows",
        parameter="data",
        hint="give the training rows, or a sample of them.",
    )


def label_rows(data: Any, n_rows: int) -> NDArray[Any]:
    """Return the labels of a pandas index, or positions."""
    if hasattr(data, "iloc") and hasattr(data, "index"):
        return np.asarray(data.index)
    return np.arange(n_rows)


def plain_rows(data: Any, codes: Floats, columns: Sequence[Column]) -> EncodedRows:
    """Put together rows of data in any form."""
    return EncodedRows(
        codes=codes,
        columns=tuple(columns),
        labels=label_rows(data, len(codes)),
        weights=data.weights if isinstance(data, Table) else None,
        source=data.source if isinstance(data, Table) else "",
    )


def rows_of_table(table: Table, names: Sequence[str], codes: Floats, data: Any) -> EncodedRows:
    """Put together rows whose user's columns are those of a table."""
    columns = [table.column(name) for name in names]
    return replace(plain_rows(data, codes, columns), source=table.source)


def _all_present(columns: Sequence[Column]) -> bool:
    """Whether no value is missing; all numbers are looked at together, since rows may be few."""
    numbers = [column.values for column in columns if column.values.dtype.kind == "f"]
    if numbers and np.isnan(np.concatenate(numbers)).any():
        return False
    return not any(c.n_missing for c in columns if c.values.dtype.kind != "f")


def warn_of_new_gaps(rows: EncodedRows, seen: EncodedRows, where: str) -> None:
    """Warn where values are missing that never were: they go the model's default way."""
    if len(rows) <= _FEW and _all_present(rows.columns):
        return
    new = [
        column.name
        for column, before in zip(rows.columns, seen.columns, strict=True)
        if column.n_missing and not before.n_missing
    ]
    if new:
        s = "s" if len(new) > 1 else ""
        shown = ", ".join(map(repr, new[:5])) + (", …" if len(new) > 5 else "")
        tell(
            f"the column{s} {shown} lack{'' if s else 's'} values that are never missing in the "
            f"{where}; such rows go the model's default way"
        )
