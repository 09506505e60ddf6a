"""How one column of a table becomes columns of a model.

Three encoders suffice. `NumberEncoder` passes numbers and calendar features on. `LookupEncoder`
replaces a level by a row of a small table: ordinal and native codes, yes/no, ranks, target
encodings and their missing indicators are such tables. `OneHotEncoder` keeps only the position of
each level's column. The encoding of a row depends on that row only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.table.kinds.calendar import calendar_features

__all__ = [
    "ColumnEncoder",
    "Encoded",
    "LookupEncoder",
    "NumberEncoder",
    "OneHotEncoder",
    "encoder_from_state",
    "encoder_state",
    "write_plain_numbers",
]


@dataclass(frozen=True)
class Encoded:
    """One model column and where it comes from.

    Parameters
    ----------
    name
        The model column's name, unique among the model's columns.
    source
        The user's column.
    part
        What of the user's column it holds: a level (one-hot), "missing" (an indicator), a calendar
        feature such as "month", "target" (target encoding); None where it is the column itself.
    levels
        For codes: the level each of 0, 1, ... stands for. For one-hot: the one level.

    Examples
    --------
    >>> Encoded("region=north", "region", "north", ("north",)).source
    'region'
    """

    name: str
    source: str
    part: str | None = None
    levels: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "name": self.name,
            "source": self.source,
            "part": self.part,
            "levels": list(self.levels),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        return cls(raw["name"], raw["source"], raw["part"], tuple(raw["levels"]))


@dataclass(frozen=True, eq=False)
class NumberEncoder:
    """Numbers, or calendar features of dates, filled and standardised.

    Parameters
    ----------
    parts
        The calendar features; ``(None,)`` for a column that is a number itself.
    fill
        What stands in for a missing value of each part; None keeps NaN.
    indicator
        Whether a last column marks the rows that were filled.
    center, spread
        Subtracted from and divided into each part.
    """

    parts: tuple[str | None, ...]
    fill: Floats | None = None
    indicator: bool = False
    center: Floats | None = None
    spread: Floats | None = None

    @property
    def width(self) -> int:
        """How many model columns it fills."""
        return len(self.parts) + self.indicator

    @property
    def standardisable(self) -> Bools:
        """Which of its columns are quantities; indicators are not."""
        return np.arange(self.width) < len(self.parts)

    def standardised(self, center: Floats, spread: Floats) -> Self:
        """Return the same encoder with its quantities standardised."""
        k = len(self.parts)
        made = object.__new__(type(self))  # as in `Column.take`
        made.__dict__.update(self.__dict__, center=center[:k], spread=spread[:k])
        return made

    def write(self, values: NDArray[Any], out: Floats) -> None:
        """Encode values into the columns of ``out``."""
        names = [part for part in self.parts if part is not None]
        quantities = calendar_features(values, names) if names else [values]
        for j, quantity in enumerate(quantities):
            out[:, j] = quantity
        k = len(self.parts)
        if self.fill is not None:
            missing = np.isnan(quantities[0])
            out[missing, :k] = self.fill
            if self.indicator:
                out[:, k] = missing
        if self.center is not None and self.spread is not None:
            out[:, :k] -= self.center
            out[:, :k] /= self.spread


@dataclass(frozen=True, eq=False)
class LookupEncoder:
    """A row of numbers for each level.

    Parameters
    ----------
    table
        One row for each level of the schema, then one for unseen levels and one for missing: a
        code of -1 therefore finds its row from the end.
    quantities
        How many of the first columns may be standardised.
    """

    table: Floats
    quantities: int = 0

    @property
    def width(self) -> int:
        """How many model columns it fills."""
        return int(self.table.shape[1])

    @property
    def standardisable(self) -> Bools:
        """Which of its columns are quantities."""
        return np.arange(self.width) < self.quantities

    def standardised(self, center: Floats, spread: Floats) -> Self:
        """Return the same encoder with its quantities standardised."""
        k = self.quantities
        table = self.table.copy()
        table[:, :k] = (table[:, :k] - center[:k]) / spread[:k]
        return replace(self, table=table)

    def write(self, values: NDArray[Any], out: Floats) -> None:
        """Encode codes into the columns of ``out``."""
        rows = np.minimum(values, len(self.table) - 2)
        for j in range(self.width):
            out[:, j] = self.table[rows, j]


@dataclass(frozen=True, eq=False)
class OneHotEncoder:
    """A column of 0 and 1 for each level.

    Parameters
    ----------
    positions
        The column of each level of the schema, then of unseen levels and of missing; -1 for none,
        -2 for the level that others are compared with.
    width
        How many model columns it fills.
    shares
        What the columns hold for what has none: the share of each level in the training rows, so
        that a linear model predicts the mean of its levels; zeros where None.
    """

    positions: NDArray[np.int32]
    width: int
    shares: Floats | None = None

    @property
    def standardisable(self) -> Bools:
        """None of its columns: they stay 0 and 1."""
        return np.zeros(self.width, dtype=bool)

    def standardised(self, center: Floats, spread: Floats) -> Self:  # noqa: ARG002
        """Return itself."""
        return self

    def write(self, values: NDArray[Any], out: Floats) -> None:
        """Encode codes into the columns of ``out``."""
        position = self.positions[np.minimum(values, len(self.positions) - 2)]
        rows = np.flatnonzero(position >= 0)
        out[:] = 0.0
        out[rows, position[rows]] = 1.0
        if self.shares is not None:
            out[position == -1] = self.shares


ColumnEncoder = NumberEncoder | LookupEncoder | OneHotEncoder

_WAYS: dict[str, type[ColumnEncoder]] = {
    "numbers": NumberEncoder,
    "lookup": LookupEncoder,
    "onehot": OneHotEncoder,
}


def encoder_state(encoder: ColumnEncoder) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return JSON values and arrays from which `encoder_from_state` makes it again."""
    way = next(way for way, kind in _WAYS.items() if isinstance(encoder, kind))
    held = {field.name: getattr(encoder, field.name) for field in fields(encoder)}
    arrays = {name: value for name, value in held.items() if isinstance(value, np.ndarray)}
    plain = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in held.items()
        if name not in arrays and value is not None
    }
    return {"way": way, **plain}, arrays


def encoder_from_state(raw: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ColumnEncoder:
    """Make a column encoder from what `encoder_state` returned."""
    held: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in raw.items()
        if name != "way"
    }
    return _WAYS[raw["way"]](**held | dict(arrays))


def write_plain_numbers(
    encoders: Sequence[ColumnEncoder],
    starts: Sequence[int],
    values: Sequence[NDArray[Any]],
    out: Floats,
) -> list[int]:
    """Encode the columns that are single numbers in one step; return the positions of the others.

    Few rows are encoded many times, and a step for each column would take most of the time.
    """
    plain: list[int] = []
    others: list[int] = []
    for i, encoder in enumerate(encoders):
        is_plain = isinstance(encoder, NumberEncoder) and encoder.parts == (None,)
        (plain if is_plain and encoder.width == 1 else others).append(i)
    if not plain:
        return others
    held = [
        encoder for encoder in (encoders[i] for i in plain) if isinstance(encoder, NumberEncoder)
    ]
    numbers = np.array([values[i] for i in plain], dtype=np.float64)
    missing = np.isnan(numbers)
    if missing.any():
        for row, gaps, encoder in zip(numbers, missing, held, strict=True):
            if encoder.fill is not None:
                row[gaps] = encoder.fill
    if held[0].center is not None:
        numbers -= np.array([encoder.center for encoder in held])
        numbers /= np.array([encoder.spread for encoder in held])
    out[:, [starts[i] for i in plain]] = numbers.T
    return others
