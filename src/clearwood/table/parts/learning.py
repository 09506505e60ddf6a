"""Learning an encoding from a table in parts: all that it depends on, without keeping rows.

Levels and gaps are counted while all rows are read once. A median is found exactly: the first
reading counts values in intervals, the second collects those of the interval in the middle. Where
that has too many values, as in a column with few different numbers, it is divided again.
"""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import progress
from clearwood.table.column import Column
from clearwood.table.encoding.encoder import Encoder
from clearwood.table.encoding.weighted import Weight
from clearwood.table.kinds.calendar import calendar_features
from clearwood.table.parts.parts import Parts
from clearwood.table.types import NUMERIC, Kind, Role

__all__ = ["learn_encoder"]

#: An interval is divided into two to the power of this many at a time.
_BITS = 16
#: So many values are collected and sorted.
_AT_ONCE = 1 << 20

Keys = NDArray[np.uint64]
#: Which of the two values in the middle.
Side = Literal["left", "right"]


def learn_encoder(encoder: Encoder, parts: Parts) -> Encoder:
    """Learn an encoding that does not use the target from all rows.

    Levels, medians and more frequent answers are those of the one table to the bit, means and
    standard deviations within rounding.
    """
    empty = parts.empty.select(list(parts.features))
    tallies: dict[str, _Tally] = {}
    for column in empty.columns:
        if column.kind is not Kind.TEXT:
            tallies[column.name] = _tally(column, imputes=encoder.missing == "impute")
    weights = [n for n, role in parts.roles.items() if role in (Role.WEIGHT, Role.EXPOSURE)]
    with progress("learning the encoding", total=None) as step:
        while open_ones := {name: tally for name, tally in tallies.items() if tally.is_open}:
            for batch in parts.batches(columns=[*open_ones, *weights]):
                kept, share = _counting(batch.weights)
                for name, tally in open_ones.items():
                    tally.add(batch.column(name).values[kept], share)
                step(batch.n_rows)
            for tally in open_ones.values():
                tally.end_reading()
        columns = {c.name: c for c in empty.columns}
        encoder.fit_tallies(
            empty,
            {
                name: tally.result(columns[name], is_weighted=bool(weights))
                for name, tally in tallies.items()
            },
        )
        if encoder.scale:
            _learn_scale(encoder, parts, [*encoder.used_, *weights])
    return encoder


def _counting(weights: Weight) -> tuple[Any, Weight]:
    """Return which rows count, and their weights."""
    if weights is None:
        return slice(None), None
    kept = weights > 0
    return kept, weights[kept]


class _Tally(Protocol):
    """What is known of one column; it is read until it is not open any more."""

    is_open: bool

    def add(self, values: NDArray[Any], weight: Weight) -> None:
        """Count the values of a batch."""

    def end_reading(self) -> None:
        """Note that all rows have been read once more."""

    def result(self, column: Column, *, is_weighted: bool) -> tuple[Column, Weight]:
        """Return few values that tell as much as all, with weights."""


def _tally(column: Column, *, imputes: bool) -> _Tally:
    if column.is_coded:
        return _Codes(len(column.levels))
    if column.kind in NUMERIC:
        return _Numbers(imputes=imputes)
    return _Dates(imputes=imputes)


class _Codes:
    """The rows of each level, and of missing."""

    def __init__(self, n_levels: int) -> None:
        self.is_open = True
        self.counts = np.zeros(n_levels + 1)

    def add(self, values: NDArray[Any], weight: Weight) -> None:
        self.counts += np.bincount(values + 1, weight, minlength=len(self.counts))

    def end_reading(self) -> None:
        self.is_open = False

    def result(self, column: Column, *, is_weighted: bool) -> tuple[Column, Weight]:  # noqa: ARG002
        present = np.flatnonzero(self.counts)
        values = (present - 1).astype(column.values.dtype)
        return _with(column, values), self.counts[present]


class _Numbers:
    """Whether numbers are missing, and the two in the middle of the others."""

    def __init__(self, *, imputes: bool) -> None:
        self.middle = _Middle() if imputes else None
        self.is_open = imputes
        self.has_missing = False

    def add(self, values: NDArray[Any], weight: Weight) -> None:
        assert self.middle is not None
        known = ~np.isnan(values)
        if not known.all():
            self.has_missing = True
            values, weight = values[known], None if weight is None else weight[known]
        self.middle.add(_keys_of_floats(values), weight)

    def end_reading(self) -> None:
        assert self.middle is not None
        self.is_open = self.middle.end_reading()

    def result(self, column: Column, *, is_weighted: bool) -> tuple[Column, Weight]:
        values = [] if self.middle is None else _floats_of_keys(self.middle.values).tolist()
        if self.has_missing or not values:
            values.append(np.nan)
        # without weights, medians of even numbers of rows are written in another way
        return _with(column, np.array(values)), np.ones(len(values)) if is_weighted else None


class _Dates:
    """Dates at the ends of each calendar feature, whether one is missing, and the middle one."""

    def __init__(self, *, imputes: bool) -> None:
        self.middle = _Middle() if imputes else None
        self.is_open = True
        self.telling = np.zeros(0, "datetime64[us]")
        self.has_missing = False
        self._is_first = True

    def add(self, values: NDArray[Any], weight: Weight) -> None:
        known = ~np.isnat(values)
        dates = values[known].astype("datetime64[us]")
        if self.middle is not None:
            share = None if weight is None else weight[known]
            self.middle.add(dates.view(np.int64).view(np.uint64) ^ _SIGN, share)
        if not self._is_first:
            return
        self.has_missing = self.has_missing or len(dates) < len(values)
        dates = np.concatenate([self.telling, dates])
        if len(dates):
            features = calendar_features(dates)
            # a day within a month tells dates from months, which stand for their first day
            features = [*features, (dates - dates.astype("datetime64[M]")).astype(np.float64)]
            ends = [place for part in features for place in (np.argmin(part), np.argmax(part))]
            self.telling = np.unique(dates[ends])

    def end_reading(self) -> None:
        self._is_first = False
        self.is_open = self.middle is not None and self.middle.end_reading()

    def result(self, column: Column, *, is_weighted: bool) -> tuple[Column, Weight]:  # noqa: ARG002
        values, weight = self.telling, np.zeros(len(self.telling))
        if self.middle is not None and len(self.middle.values):
            lower = (self.middle.values[:1] ^ _SIGN).view(np.int64).view("datetime64[us]")
            values, weight = np.concatenate([values, lower]), np.append(weight, 1.0)
        if self.has_missing or not len(values):
            values, weight = np.append(values, np.datetime64("NaT", "us")), np.append(weight, 0.0)
        return _with(column, values.astype(column.values.dtype)), weight


def _with(column: Column, values: NDArray[Any]) -> Column:
    made = object.__new__(Column)
    made.__dict__.update(column.__dict__, values=values)
    return made


_SIGN = np.uint64(1 << 63)


def _keys_of_floats(values: Floats) -> Keys:
    """Return whole numbers in the order of some numbers.

    Examples
    --------
    >>> np.argsort(_keys_of_floats(np.array([0.5, -2.0, 0.0, -1e300, 3.0])))
    array([3, 1, 2, 0, 4])
    """
    bits = (values + 0.0).view(np.uint64)  # minus zero is zero
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _floats_of_keys(keys: Keys) -> Floats:
    """Return the numbers of `_keys_of_floats`.

    Examples
    --------
    >>> _floats_of_keys(_keys_of_floats(np.array([0.5, -2.0])))
    array([ 0.5, -2. ])
    """
    bits = np.where(keys & _SIGN, keys & ~_SIGN, ~keys)
    return bits.view(np.float64)


class _Middle:
    """The two values in the middle, the smaller first; the same one twice if there is one."""

    def __init__(self) -> None:
        self._searches = [_Search({"left", "right"})]

    def add(self, keys: Keys, weight: Weight) -> None:
        """Count values, in the order of which they are whole numbers."""
        for search in self._searches:
            search.add(keys, weight)

    def end_reading(self) -> bool:
        """Narrow the intervals down; return whether the values must be read again."""
        self._searches = [after for search in self._searches for after in search.narrowed()]
        return any(search.key is None for search in self._searches)

    @property
    def values(self) -> Keys:
        """The two keys; none where there was no value."""
        by_side = {side: s.key for s in self._searches for side in s.sides if s.total}
        return np.array([by_side[side] for side in ("left", "right") if side in by_side], np.uint64)


class _Search:
    """The search for a value in the middle, in an interval of keys that gets smaller."""

    def __init__(
        self,
        sides: set[Side],
        low: int = 0,
        bits: int = 64,
        below: float = 0.0,
        total: float | None = None,
        *,
        collects: bool = False,
    ) -> None:
        self.sides, self.low, self.bits = sides, low, bits
        self.below, self.total, self.collects = below, total, collects
        self.key: int | None = None
        self._counts = np.zeros(0 if collects else 1 << _BITS)
        self._rows = np.zeros(0 if collects else 1 << _BITS, np.int64)
        self._kept: list[tuple[Keys, Floats]] = []

    def add(self, keys: Keys, weight: Weight) -> None:
        """Count the keys in the interval, or collect them."""
        if self.key is not None:
            return
        if self.bits < 64:
            inside = keys >> np.uint64(self.bits) == np.uint64(self.low >> self.bits)
            keys, weight = keys[inside], None if weight is None else weight[inside]
        if self.collects:
            self._kept.append((keys, np.ones(len(keys)) if weight is None else weight))
            return
        places = (keys >> np.uint64(self.bits - _BITS)) & np.uint64((1 << _BITS) - 1)
        rows = np.bincount(places.astype(np.intp), minlength=1 << _BITS)
        self._rows += rows
        self._counts += (
            rows if weight is None else np.bincount(places.astype(np.intp), weight, 1 << _BITS)
        )

    def narrowed(self) -> list["_Search"]:
        """Return the search in the interval in the middle; two where they lie in different ones."""
        if self.key is not None:
            return [self]
        if self.collects:
            return self._found()
        total = float(self._counts.sum()) if self.total is None else self.total
        if not total:
            self.key, self.total = 0, 0.0
            return [self]
        reached = self.below + np.cumsum(self._counts)
        last = int(np.flatnonzero(self._rows)[-1])
        by_place: dict[int, set[Side]] = {}
        for side in self.sides:
            place = min(int(np.searchsorted(reached, total / 2, side=side)), last)
            by_place.setdefault(place, set()).add(side)
        after = []
        for place, sides in by_place.items():
            bits = self.bits - _BITS
            below = float(reached[place - 1]) if place else self.below
            low = self.low + (place << bits)
            collects = bits > 0 and self._rows[place] <= _AT_ONCE
            one = _Search(sides, low, bits, below, total, collects=collects)
            if bits == 0:
                one.key = low
            after.append(one)
        return after

    def _found(self) -> list["_Search"]:
        keys = np.concatenate([keys for keys, _ in self._kept])
        weight = np.concatenate([weight for _, weight in self._kept])
        order = np.argsort(keys, kind="stable")
        reached = self.below + np.cumsum(weight[order])
        assert self.total is not None
        found = []
        for side in sorted(self.sides):
            place = min(int(np.searchsorted(reached, self.total / 2, side=side)), len(keys) - 1)
            one = _Search({side}, total=self.total, collects=True)
            one.key = int(keys[order[place]])
            found.append(one)
        return found


def _learn_scale(encoder: Encoder, parts: Parts, names: list[str]) -> None:
    """Learn means and standard deviations of encoded rows, batch by batch."""
    n_columns = len(encoder.columns_)
    total, mean, squares = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    unit: Floats | None = None
    for batch in parts.batches(columns=list(dict.fromkeys(names))):
        kept, share = _counting(batch.weights)
        X = encoder.transform(batch)[kept]
        known = ~np.isnan(X)
        values = np.where(known, X, 0.0)
        low = np.minimum(low, np.where(known, X, np.inf).min(axis=0, initial=np.inf))
        high = np.maximum(high, np.where(known, X, -np.inf).max(axis=0, initial=-np.inf))
        if unit is None:  # so that squares of huge numbers do not overflow
            largest = np.abs(values).max(axis=0, initial=0.0)
            unit = np.where(largest > 0, largest, 1.0)
        values /= unit
        weight = known if share is None else known * share[:, None]
        more = weight.sum(axis=0)
        safe = np.where(more > 0, more, 1.0)
        here = (weight * values).sum(axis=0) / safe
        spread = (weight * (values - here) ** 2).sum(axis=0)
        apart = here - mean
        both = np.where(total + more > 0, total + more, 1.0)
        squares += spread + apart**2 * total * more / both
        mean += apart * more / both
        total += more
    assert unit is not None
    deviation = unit * np.sqrt(squares / np.where(total > 0, total, 1.0))
    is_constant = ~(low < high)
    center = np.where(is_constant, np.where(total > 0, low, 0.0), unit * mean)
    usual = np.where(deviation > 0, deviation, np.inf)
    encoder.standardise(center, np.where(is_constant, np.where(total > 0, np.inf, 1.0), usual))
