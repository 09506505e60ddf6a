"""The user's columns as the page holds them, and how a model's own columns are made from them.

The page works on what the user sees: numbers, levels and dates. What an encoder in front of the
model makes of them is not read from the encoder's code but probed: every level is sent through it
once, and numbers and dates at many values. That works for our own encoder and for the steps of any
pipeline whose columns are each made from one column of the user's. The result is compared with the
encoder on rows put together at random before it is used.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError
from clearwood.explanation import Game
from clearwood.reporting.page.pack import packed, plain_number
from clearwood.table import CALENDAR_PARTS, Column, Kind, Table, calendar_features

__all__ = [
    "NotCarriedError",
    "Probe",
    "carried_values",
    "column_of",
    "encoded",
    "encoding",
    "limits",
    "mixed_rows",
    "page_values",
    "parts_of",
    "widened",
]


#: Values of a column of numbers at which its encoder is probed.
_TRIALS = 64


class NotCarriedError(Exception):
    """The model cannot be carried on the page; the message says why, for its reader."""


def page_values(column: Column) -> list[Any]:
    """Return a column as the page holds it.

    Numbers as they are, codes into the levels, microseconds since 1970 for dates; None for missing.

    Examples
    --------
    >>> page_values(Column("size", Kind.NUMBER, np.array([0.5, np.nan])))
    [0.5, None]
    >>> page_values(Column("town", Kind.CATEGORY, np.array([1, -1], np.int32), ("Bern", "Chur")))
    [1, None]
    """
    if column.kind is Kind.TEXT:
        return [None if value is None else str(value) for value in column.values]
    if column.is_coded:
        return [None if code < 0 else int(code) for code in column.values]
    numbers = column.values
    if column.kind is Kind.DATE:
        numbers = _as_numbers(column.values)
    return [plain_number(value) for value in numbers]


def carried_values(column: Column) -> Any:
    """Return a column for the page, as a list or packed, whichever is shorter; NaN for missing."""
    values = page_values(column)
    if column.is_coded or column.kind is Kind.TEXT:
        return values
    numbers = packed(np.array([np.nan if v is None else v for v in values], np.float64))
    as_list = len(json.dumps(values, separators=(",", ":")))
    return numbers if len(json.dumps(numbers)) < as_list else values


def _as_numbers(dates: NDArray[Any]) -> Floats:
    """Return microseconds since 1970, NaN where the date is missing."""
    numbers = dates.astype("datetime64[us]").astype(np.int64).astype(np.float64)
    return np.where(np.isnat(dates), np.nan, numbers)


@dataclass(frozen=True, eq=False)
class Probe:
    """Finds out what a model in parts makes of single values of its columns, from some rows."""

    game: Game
    table: Table

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The user's column of each player, by name, or by position where names are made up."""
        known = set(self.table.names)
        features = self.table.features
        if all(name in known for name in self.game.columns):
            return tuple(self.table.column(name) for name in self.game.columns)
        if len(features) == len(self.game.columns):
            return tuple(self.table.column(name) for name in features)
        raise NotCarriedError("the columns of the model are not those of the table")

    @cached_property
    def refuses_missing(self) -> frozenset[int]:
        """The players whose column must not be missing: the model has no rule for it."""
        everyone = range(len(self.columns))
        if self._takes_missing(everyone):
            return frozenset()
        return frozenset(k for k in everyone if not self._takes_missing([k]))

    def _takes_missing(self, players: Iterable[int]) -> bool:
        try:
            self.at({k: [None] for k in players})
        except (InputError, ValueError, TypeError):
            return False
        return True

    def at(self, values: Mapping[int, Sequence[Any]]) -> Floats:
        """Return the codes of the table's first row, repeated, with columns at values.

        Columns do not touch each other's codes, so all can be tried in one call.
        """
        return self.of(self.changed(values))

    def changed(self, values: Mapping[int, Sequence[Any]]) -> Table:
        """Return the table's first row, repeated, with columns at values; the last one repeats."""
        longest = max(map(len, values.values()), default=1)
        first = self.table.take(np.zeros(longest, np.intp))
        changed = {
            self.columns[k].name: column_of(
                self.columns[k], [*own, *[own[-1]] * (longest - len(own))]
            )
            for k, own in values.items()
        }
        columns = tuple(changed.get(column.name, column) for column in first.columns)
        return replace(first, columns=columns)

    def of(self, table: Table) -> Floats:
        """Return the codes of rows."""
        return self.game.rows(table).codes


def column_of(column: Column, values: Sequence[Any]) -> Column:
    """Return a column with other values, written as the page holds them."""
    if column.is_coded:
        codes = [-1 if value is None else int(value) for value in values]
        return replace(column, values=np.array(codes, np.int32))
    numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    if column.kind is Kind.DATE:
        whole = np.where(np.isnan(numbers), 0, numbers).astype(np.int64)
        dates = whole.astype("datetime64[us]")
        dates[np.isnan(numbers)] = np.datetime64("NaT")
        return replace(column, values=dates)
    if column.kind is Kind.TEXT:
        return replace(column, values=np.array(list(values), object))
    return replace(column, values=numbers)


def mixed_rows(probe: Probe, n_rows: int, seed: int) -> Table:
    """Put rows together at random: every column drawn by itself, all its levels and gaps too."""
    generator = np.random.default_rng(seed)
    table = probe.table
    drawn = {}
    for k, column in enumerate(probe.columns):
        values: list[Any]
        if column.is_coded:
            values = generator.integers(0, max(len(column.levels), 1), n_rows).tolist()
        elif column.kind is Kind.TEXT:
            values = column.values[generator.integers(0, len(column), n_rows)].tolist()
        else:
            values = _drawn_numbers(column, n_rows, generator)
        may_lack = k not in probe.refuses_missing
        gaps = generator.random(n_rows) < 0.1
        values = [
            None if gap and may_lack else value for value, gap in zip(values, gaps, strict=True)
        ]
        drawn[column.name] = column_of(column, values)
    rows = table.take(generator.integers(0, table.n_rows, n_rows))
    return replace(rows, columns=tuple(drawn.get(c.name, c) for c in rows.columns))


def _drawn_numbers(column: Column, n_rows: int, generator: np.random.Generator) -> list[Any]:
    """Draw values that occur, and values between and a little beyond them."""
    low, high = limits(column)
    observed = [value for value in page_values(column) if value is not None] or [0.0]
    drawn = generator.choice(np.array(observed, np.float64), n_rows)
    between = generator.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), n_rows)
    if column.kind in (Kind.WHOLE, Kind.DATE):
        between = np.round(between)
    values: list[Any] = np.where(generator.random(n_rows) < 0.5, drawn, between).tolist()
    return values


def limits(column: Column) -> tuple[float, float]:
    """Return the least and largest value of a column of numbers or dates; 0 if it has none."""
    values = _as_numbers(column.values) if column.kind is Kind.DATE else column.values
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def widened(low: float, high: float) -> tuple[float, float]:
    """Go as far beyond both ends as they are apart."""
    width = (high - low) or max(abs(low), 1.0)
    return low - width, high + width


def parts_of(column: Column, values: Floats) -> Floats:
    """Return what an encoder may pass on of a number (itself) or a date (its calendar features)."""
    if column.kind is not Kind.DATE:
        return values[:, None]
    dates = column_of(column, values.tolist()).values
    return np.column_stack(calendar_features(dates, CALENDAR_PARTS))


def encoding(probe: Probe, used: Index) -> list[dict[str, Any]]:
    """Find how the model's columns are made from the user's, one entry a player.

    Entries count the columns that are used. Of a column of levels: ``base``,
    ``[place, value, ...]`` of what all levels have in common, and ``levels``, the same of what is
    a level's own. Of numbers and dates: ``take``, a list of ``[place, part, center, spread]``, the
    model's value being (part − center) / spread, and ``base`` for what is constant. ``missing``:
    all values of a missing one; None where the model does not take it. ``date``: whether parts are
    those of a date.
    """
    group = np.asarray(probe.game.groups)[used]
    places = [np.flatnonzero(group == k) for k in range(len(probe.columns))]
    trials = [_trials(column, seed=k) for k, column in enumerate(probe.columns)]
    tried = {k: own for k, own in enumerate(trials) if len(own) and len(places[k])}
    codes = probe.at(tried)[:, used]
    absent = _missing(probe, used)
    entries = []
    for k, column in enumerate(probe.columns):
        at, values = places[k], trials[k]
        entry: dict[str, Any]
        if not len(at):
            entry = {"base": [], "take": []}
        elif not len(values):  # never known: only a missing value can be tried
            entry = {"base": [], "levels": []} if column.is_coded else {"base": [], "take": []}
        elif column.is_coded:
            entry = _of_levels(codes[: len(values), at], at)
        else:
            entry = _of_numbers(column, np.array(values, np.float64), codes[: len(values), at], at)
        entry["missing"] = None if k in probe.refuses_missing else _placed(at, absent[at])
        if column.kind is Kind.DATE:
            entry["date"] = True
        entries.append(entry)
    return entries


def _trials(column: Column, *, seed: int) -> list[Any]:
    if column.kind is Kind.TEXT:
        return []
    if column.is_coded:
        return list(range(len(column.levels)))
    observed = np.unique([value for value in page_values(column) if value is not None])
    if not len(observed):
        return []
    generator = np.random.default_rng(seed)
    some = generator.choice(observed, min(len(observed), _TRIALS), replace=False)
    low, high = limits(column)
    beyond = np.array([low - (high - low), high + (high - low)])
    between = generator.uniform(low, high, _TRIALS)
    if column.kind in (Kind.WHOLE, Kind.DATE):
        beyond, between = np.round(beyond), np.round(between)
    return list(map(float, [*some, *beyond, *between]))


def _of_levels(codes: Floats, at: Index) -> dict[str, Any]:
    """Write what each level sets apart from what most levels have in common."""
    common = np.array([_most_frequent(codes[:, j]) for j in range(codes.shape[1])])
    levels = []
    for line in codes:
        own = np.flatnonzero(~((line == common) | (np.isnan(line) & np.isnan(common))))
        levels.append(_placed(at[own], line[own]))
    return {"base": _placed(at, common), "levels": levels}


def _most_frequent(values: Floats) -> float:
    distinct, counts = np.unique(values, return_counts=True)
    return float(distinct[np.argmax(counts)])


def _placed(at: Index, values: Floats) -> list[Any]:
    flat: list[Any] = []
    for place, value in zip(at.tolist(), values.tolist(), strict=True):
        flat += [place, plain_number(value)]
    return flat


def _of_numbers(column: Column, values: Floats, codes: Floats, at: Index) -> dict[str, Any]:
    """Find for each of the model's columns which part it is, as it is or standardised."""
    parts = parts_of(column, values)
    base: list[Any] = []
    take: list[Any] = []
    for j, place in enumerate(at.tolist()):
        code = codes[:, j]
        if np.ptp(code) == 0:
            base += [place, plain_number(code[0])]
            continue
        way = next((w for p in range(parts.shape[1]) if (w := _way(parts[:, p], code, p))), None)
        if way is None:
            raise NotCarriedError(
                f"a step before the trees transforms the column {column.name!r} in a way that the "
                "page cannot repeat"
            )
        take.append([place, *way])
    return {"base": base, "take": take}


def _way(part: Floats, code: Floats, p: int) -> list[Any] | None:
    """Say how a code is made from a part: copied, or less a centre over a spread."""
    if np.array_equal(part, code):
        return [p, 0, 1]
    low, high = int(np.argmin(part)), int(np.argmax(part))
    if code[high] == code[low] or part[high] == part[low]:
        return None
    spread = (part[high] - part[low]) / (code[high] - code[low])
    center = part[low] - code[low] * spread
    size = np.abs(code).max()
    if np.abs((part - center) / spread - code).max() > 1e-12 * size:
        return None
    return [p, float(center), float(spread)]


def _missing(probe: Probe, used: Index) -> Floats:
    """Return the codes of a row that lacks everything that the model lets a row lack."""
    gaps = {
        k: [None]
        for k, column in enumerate(probe.columns)
        if k not in probe.refuses_missing and column.kind is not Kind.TEXT
    }
    return np.asarray(probe.at(gaps)[0, used])


def encoded(probe: Probe, entries: Sequence[Mapping[str, Any]], table: Table, width: int) -> Floats:
    """Make the model's columns from the user's by the entries of `encoding`, as the page does."""
    codes = np.full((table.n_rows, width), np.nan)
    for own, entry in zip(probe.columns, entries, strict=True):
        column = table.column(own.name)
        if column.kind is Kind.TEXT:
            continue
        gaps = column.missing
        _write(codes, ~gaps, entry["base"])
        if column.is_coded:
            for code, placed in enumerate(entry.get("levels", ())):
                _write(codes, column.values == code, placed)
        else:
            values = np.array([np.nan if v is None else v for v in page_values(column)], np.float64)
            parts = parts_of(own, values)
            for place, part, center, spread in entry["take"]:
                codes[~gaps, place] = (parts[~gaps, part] - center) / spread
        _write(codes, gaps, entry["missing"] or [])
    return codes


def _write(codes: Floats, rows: Bools, placed: Sequence[Any]) -> None:
    for place, value in zip(placed[::2], placed[1::2], strict=True):
        codes[rows, place] = np.nan if value is None else value
