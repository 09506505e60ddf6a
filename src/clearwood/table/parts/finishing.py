"""Batches of rows in the kinds and levels that were found in all rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools
from clearwood._shared.errors import InputError
from clearwood.table.column import Column
from clearwood.table.kinds.infer import to_coded
from clearwood.table.kinds.written_numbers import without_words
from clearwood.table.raw import Raw
from clearwood.table.table import Table
from clearwood.table.types import NUMERIC, Kind, Role

__all__ = ["GAPS", "Finish", "FinishedColumn"]

#: What stands for missing in the values of a kind.
GAPS: dict[Kind, Any] = {
    Kind.NUMBER: np.nan,
    Kind.WHOLE: np.nan,
    Kind.YES_NO: np.int32(-1),
    Kind.CATEGORY: np.int32(-1),
    Kind.ORDERED: np.int32(-1),
    Kind.DATE: np.datetime64("NaT", "us"),
    Kind.TEXT: None,
}


@dataclass(frozen=True, eq=False)
class FinishedColumn:
    """How the values of one column become those of the table.

    Parameters
    ----------
    header
        Its name in the rows.
    column
        The column without rows.
    values
        For columns that are stored as strings, or whose kind has levels: the value of each string.
        None where values are taken as they are.
    gaps
        Words and numbers that the user states as missing.
    """

    header: str
    column: Column
    values: Mapping[str, Any] | None = None
    gaps: frozenset[str] = frozenset()

    def finish(self, raw: Raw) -> Column:
        """Return the column with the rows of a batch."""
        values = self._values(without_words(raw, self.gaps))
        finished = object.__new__(Column)
        finished.__dict__.update(self.column.__dict__, values=values)
        return finished

    def _values(self, raw: Raw) -> NDArray[Any]:
        kind, gap = self.column.kind, GAPS[self.column.kind]
        empty = self.column.values
        if self.values is None and kind is not Kind.TEXT:
            if raw.form in ("number", "boolean") and kind in NUMERIC:
                return raw.values
            if raw.form == "date" and kind is Kind.DATE:
                return raw.values
            return self._all_missing(raw)
        codes = self._whole_number_codes(raw)
        if codes is not None:
            return codes
        coded = to_coded(raw) if not raw.is_coded else raw
        by_level = np.empty(len(coded.levels) + 1, dtype=empty.dtype)
        by_level[-1] = gap
        try:
            for code, level in enumerate(coded.levels):
                by_level[code] = level.strip() if self.values is None else self.values[level]
        except KeyError as error:
            raise _changed(self.header, f"it has the value {error.args[0]!r} now") from None
        values: NDArray[Any] = by_level[coded.values]
        return values

    def _whole_number_codes(self, raw: Raw) -> NDArray[np.int32] | None:
        """Return the codes of whole numbers that follow each other; None for other columns."""
        levels = self.column.levels
        if raw.form not in ("number", "boolean") or not self.column.is_coded or not levels:
            return None
        if raw.form == "boolean" and levels == ("False", "True"):
            first = 0
        elif self.column.label_type == "integer":
            first, last = int(levels[0]), int(levels[-1])
            if levels != tuple(map(str, range(first, last + 1))):
                return None
        else:
            return None
        codes = raw.values - first
        codes[np.isnan(codes)] = -1
        # numbers that are no level are left to the general way, which names them
        whole: NDArray[np.int32] = codes.astype(np.int32)
        inside = len(codes) == 0 or (codes.max() < len(levels) and codes.min() >= -1)
        lost = np.count_nonzero(whole < 0) != np.count_nonzero(np.isnan(raw.values))
        return whole if inside and not lost and bool((whole == codes).all()) else None

    def _all_missing(self, raw: Raw) -> NDArray[Any]:
        """Return a batch without values, which a frame may hold in any form."""
        if not raw.missing.all():
            raise _changed(self.header, f"it holds values of the form {raw.form} now")
        gap = GAPS[self.column.kind]
        return np.full(len(raw.values), gap, dtype=self.column.values.dtype)


def _changed(name: str, what: str) -> InputError:
    return InputError(
        f"column {name!r} is not as it was when the table was read: {what}",
        parameter=name,
        hint="the files have changed, or the function makes other rows now: read the table again.",
    )


@dataclass(frozen=True, eq=False)
class Finish:
    """How batches of rows become tables.

    Parameters
    ----------
    empty
        The table without rows: kinds, levels, roles, task.
    columns
        How each of its columns is made.
    """

    empty: Table
    columns: tuple[FinishedColumn, ...]

    def select(self, names: Sequence[str] | None) -> "Finish":
        """Return how tables of some columns are made."""
        if names is None:
            return self
        empty = self.empty.select(list(names))
        by_name = {one.column.name: one for one in self.columns}
        return Finish(empty, tuple(by_name[column.name] for column in empty.columns))

    def headers(self) -> list[str]:
        """Return the names in the rows of what is needed: these columns and the target."""
        return [one.header for one in self.columns]

    def tables(
        self, batches: Iterator[list[Raw]], kept: "FinishedColumn | None"
    ) -> Iterator[Table]:
        """Make tables of batches, without the rows whose target is missing."""
        schema = self.empty.schema
        for raws in batches:
            by_name = {raw.name: raw for raw in raws}
            absent = [one.header for one in self.columns if one.header not in by_name]
            if absent:
                raise _changed(absent[0], "it is not there any more")
            rows = None if kept is None else _known(kept, by_name[kept.header])
            finished = [one.finish(by_name[one.header]) for one in self.columns]
            if rows is not None and not rows.all():
                finished = [column.take(rows) for column in finished]
            table = replace(self.empty, columns=tuple(finished), dropped=0, notes=(), options=None)
            table.__dict__["schema"] = schema
            yield table

    @property
    def target(self) -> FinishedColumn | None:
        """How the target is made."""
        roles = self.empty.roles
        found = (c for c in self.columns if roles.get(c.column.name) is Role.TARGET)
        return next(found, None)


def _known(target: FinishedColumn, raw: Raw) -> Bools:
    return ~target.finish(raw).missing
