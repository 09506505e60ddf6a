"""Counting a column while its rows are read, so that kinds are found without keeping the rows.

Rows are added in their order, in batches of any size. What is known afterwards does not depend on
the batches: it is what the one table would show.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError
from clearwood.table.column import Column
from clearwood.table.kinds.evidence import N_ENDS, SAMPLE, YEARS, Ends, Evidence
from clearwood.table.raw import Form, Raw

__all__ = ["MOST_LEVELS", "MOST_NUMBERS", "Counted", "Tallied", "Tally"]

#: A column with more different strings than this is text, whatever they are.
MOST_LEVELS = 250_000
#: So many different numbers of a target are counted; more are no classes.
MOST_NUMBERS = 10_000


class Sample:
    """Every so many-th row, at most some thousands; the distance doubles as rows are added."""

    def __init__(self) -> None:
        self.stride = 1
        self.values: list[Any] = []
        self.n_rows = 0

    def add(self, values: NDArray[Any], labels: NDArray[Any] | None = None) -> None:
        """Take rows of the next batch; with labels, values are places among them."""
        first = -self.n_rows % self.stride
        some = values[first :: self.stride]
        self.values += (some if labels is None else labels[some]).tolist()
        self.n_rows += len(values)
        while len(self.values) > SAMPLE:
            self.values = self.values[::2]
            self.stride *= 2


class Tally:
    """What is counted of one column.

    Parameters
    ----------
    name
        Its name in the data.
    most
        How many different numbers or dates are counted, since its kind may have levels; 0 for none.
    """

    def __init__(self, name: str, *, most: int = 0) -> None:
        self.name = name
        self.most = most
        self.example: Raw | None = None
        self.where = ""
        self.n_rows = self.n_missing = 0
        self.sample = Sample()
        # strings: all rows and those with a target, for each level in order of appearance
        self.levels: dict[str, int] = {}
        self.level_rows = np.zeros(0, np.int64)
        self.level_kept = np.zeros(0, np.int64)
        self.overflows = False
        # numbers and dates
        self.lowest: dict[float, int] = {}
        self.highest: dict[float, int] = {}
        self.fraction: float | None = None
        self.n_infinite = 0
        self.first_infinite: tuple[int, float] | None = None
        self.n_negative = self.n_zero = self.n_no_years = 0
        self.distinct: dict[float, int] | None = {} if most else None
        self.may_be_different = True

    @property
    def form(self) -> Form:
        """How the rows hold it; numbers where they hold nothing."""
        return "number" if self.example is None else self.example.form

    def add(self, raw: Raw, kept: Bools | None, start: int, where: str) -> None:
        """Count the rows of the next batch.

        Parameters
        ----------
        raw
            The column in these rows.
        kept
            Which of them have a target; all where None.
        start
            How many rows came before.
        where
            The file they are in.
        """
        missing = raw.missing
        if missing.all() and raw.form not in ("category", "ordered"):
            self._add_missing(len(missing) if kept is None else int(kept.sum()))
            return
        if self.example is None:
            self.example, self.where = raw.at(slice(0, 0)), where
        elif raw.form != self.example.form:
            raise InputError(
                f"column {self.name!r} holds {_HOLDS[self.form]} in {self.where}, but "
                f"{_HOLDS[raw.form]} in {where}",
                parameter=self.name,
                value=where,
                hint="convert it to one type in all files, or leave out the files that differ.",
            )
        if raw.is_coded:
            self._add_codes(raw, kept)
        else:
            self._add_values(raw, kept, start)

    def _add_missing(self, n_rows: int) -> None:
        self.n_rows += n_rows
        self.n_missing += n_rows
        self.sample.add(np.full(n_rows, None))

    def _add_codes(self, raw: Raw, kept: Bools | None) -> None:
        codes = raw.values if kept is None else raw.values[kept]
        self.n_rows += len(codes)
        self.n_missing += int(np.count_nonzero(codes < 0))
        self.sample.add(codes, np.array([*raw.levels, None], object))
        if self.overflows:
            return
        places = np.array(
            [self.levels.setdefault(v, len(self.levels)) for v in raw.levels], np.intp
        )
        if len(self.levels) > MOST_LEVELS:
            self.overflows = True
            self.levels = {raw.levels[0]: 0}
            return
        more = len(self.levels) - len(self.level_rows)
        if more:
            room = np.zeros(more, np.int64)
            self.level_rows = np.concatenate([self.level_rows, room])
            self.level_kept = np.concatenate([self.level_kept, room])
        self.level_rows[places] += _counts(raw.values, len(places))
        self.level_kept[places] += _counts(codes, len(places))

    def _add_values(self, raw: Raw, kept: Bools | None, start: int) -> None:
        numbers = raw.values
        if raw.form == "date":
            numbers = np.where(raw.missing, np.nan, raw.values.astype(np.int64).astype(np.float64))
        elif not np.isfinite(numbers.sum()):
            self._note_infinite(numbers, start)
        numbers = numbers if kept is None else numbers[kept]
        self.n_rows += len(numbers)
        self.sample.add(numbers)
        gaps = np.isnan(numbers)
        n_gaps = int(np.count_nonzero(gaps))
        present = numbers[~gaps] if n_gaps else numbers
        self.n_missing += n_gaps
        if not len(present):
            return
        low, high = float(present.min()), float(present.max())
        _add_ends(self.lowest, present, low, 1)
        _add_ends(self.highest, present, high, -1)
        if self.distinct is not None and not self.overflows:
            self._add_distinct(present)
        if raw.form == "date":
            return
        self.n_negative += int(np.count_nonzero(present < 0)) if low < 0 else 0
        self.n_zero += int(np.count_nonzero(present == 0)) if low <= 0 <= high else 0
        if low < YEARS[0] or high > YEARS[1]:
            odd = (present < YEARS[0]) | (present > YEARS[1])
            self.n_no_years += int(np.count_nonzero(odd))
        if self.fraction is None:
            broken = present != np.floor(present)
            if broken.any():
                self.fraction = float(present[np.argmax(broken)])
        if self.may_be_different:
            self.may_be_different = self.fraction is None and not n_gaps and _is_different(present)

    def _note_infinite(self, numbers: Floats, start: int) -> None:
        infinite = np.isinf(numbers)
        if infinite.any():
            self.n_infinite += int(infinite.sum())
            place = int(np.argmax(infinite))
            self.first_infinite = self.first_infinite or (start + place, float(numbers[place]))

    def _add_distinct(self, present: Floats) -> None:
        values, counts = np.unique(present, return_counts=True)
        assert self.distinct is not None
        for value, n in zip(values.tolist(), counts.tolist(), strict=True):
            self.distinct[value] = self.distinct.get(value, 0) + n
        self.overflows = len(self.distinct) > self.most

    def check_finite(self) -> None:
        """Refuse infinite values."""
        if self.first_infinite is None:
            return
        row, value = self.first_infinite
        s = "s" if self.n_infinite > 1 else ""
        raise InputError(
            f"column {self.name!r} has {self.n_infinite} infinite value{s} (the first in row "
            f"{row + 1:,})",
            parameter=self.name,
            value=value,
            hint="replace infinity by a missing value or by a number.",
        )

    def raw(self) -> Raw:
        """Return the column with each different value once, or with those that decide its kind.

        Of strings, all rows count, also those without a target.
        """
        if self.example is None:
            return Raw(self.name, "number", np.full(1, np.nan), repeats=np.array([self.n_rows]))
        return self._coded_raw() if self.example.is_coded else self._valued_raw()

    def _coded_raw(self) -> Raw:
        assert self.example is not None
        values = np.arange(len(self.levels), dtype=np.int32)
        repeats = np.array([self.n_rows - self.n_missing]) if self.overflows else self.level_rows
        if self.n_missing:
            values = np.append(values, np.int32(-1))
            repeats = np.append(repeats, self.n_missing)
        fields = {**self.example.__dict__, "values": values, "levels": tuple(self.levels)}
        return Raw(**{**fields, "repeats": repeats})

    def _valued_raw(self) -> Raw:
        assert self.example is not None
        counted = {**(self.distinct or {}), **self.lowest, **self.highest}
        if self.fraction is not None:
            counted.setdefault(self.fraction, 1)
        values = np.array(sorted(counted))
        repeats = np.array([counted[value] for value in values.tolist()], np.int64)
        if self.n_missing:
            values, repeats = np.append(values, np.nan), np.append(repeats, self.n_missing)
        if self.form == "date":
            gaps = np.isnan(values)
            values = np.where(gaps, 0, values).astype(np.int64).astype("datetime64[us]")
            values[gaps] = np.datetime64("NaT")
        return Raw(**{**self.example.__dict__, "values": values, "repeats": repeats})


_HOLDS = {
    "number": "numbers",
    "boolean": "true and false",
    "string": "text",
    "category": "categories",
    "ordered": "ordered categories",
    "date": "dates",
}


def _counts(codes: NDArray[np.int32], n_levels: int) -> NDArray[np.int64]:
    return np.bincount(codes + 1, minlength=n_levels + 1)[1:]


def _is_different(values: Floats) -> bool:
    head = values[:1000]
    return len(np.unique(head)) == len(head) and len(np.unique(values)) == len(values)


def _add_ends(ends: dict[float, int], values: Floats, end: float, sign: int) -> None:
    """Count the outermost different values; ``sign`` is 1 for the lowest, -1 for the highest."""
    inmost = max(ends, key=lambda v: sign * v) if len(ends) == N_ENDS else None
    left = values
    found = 0
    while inmost is None or sign * end <= sign * inmost:
        ends[end] = ends.get(end, 0) + int(np.count_nonzero(left == end))
        found += 1
        left = left[left > end] if sign > 0 else left[left < end]
        if not len(left) or found == N_ENDS:
            break
        end = float(left.min() if sign > 0 else left.max())
    for value in sorted(ends, key=lambda v: sign * v)[N_ENDS:]:
        del ends[value]


class Tallied(Evidence):
    """What a tally knows about a column of numbers of which only some values are kept."""

    def __init__(self, column: Column, tally: Tally, differs: Callable[[], bool]) -> None:
        super().__init__(column)
        self._tally = tally
        self._differs = differs
        self.n_rows = tally.n_rows
        self.n_missing = tally.n_missing

    @property
    def sample(self) -> Floats:
        """Some rows, evenly spread."""
        return np.array(self._tally.sample.values, np.float64)

    @property
    def lowest(self) -> Ends:
        """The smallest different values and their rows."""
        return sorted(self._tally.lowest.items())

    @property
    def highest(self) -> Ends:
        """The largest different values and their rows."""
        return sorted(self._tally.highest.items(), reverse=True)

    @property
    def n_negative(self) -> int:
        """Rows with numbers below zero."""
        return self._tally.n_negative

    @property
    def n_zero(self) -> int:
        """Rows with zero."""
        return self._tally.n_zero

    @property
    def n_no_years(self) -> int:
        """Rows with numbers that are no years."""
        return self._tally.n_no_years

    @property
    def is_different_everywhere(self) -> bool:
        """Whether no two rows have the same value; if they may, the column is read once more."""
        return self._tally.may_be_different and self._differs()


class Counted(Evidence):
    """What a tally knows about a column of which every different value is kept, or of text.

    Parameters
    ----------
    column
        Its different values.
    repeats
        The rows of each.
    sample
        Some rows, evenly spread.
    stopped
        Whether there were too many different values to count.
    """

    def __init__(
        self,
        column: Column,
        repeats: NDArray[np.int64] | None,
        sample: Floats | None,
        *,
        stopped: bool,
    ) -> None:
        super().__init__(column, repeats)
        self._sample = sample
        self.has_more_values = stopped

    @property
    def sample(self) -> Floats:
        """Some rows, evenly spread."""
        assert self._sample is not None
        return self._sample

    @property
    def n_distinct(self) -> int:
        """How many different values there are."""
        return MOST_LEVELS if self.has_more_values else super().n_distinct
