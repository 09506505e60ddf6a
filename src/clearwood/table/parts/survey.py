"""The survey of a table in parts: kinds, levels, ranges and gaps, from one reading of its rows.

It finds what `clearwood.read` finds in the one table, to the bit, without keeping rows. A second
reading is needed of few columns only: a target that is written as text, to know first which rows
have one, whole numbers that seem to be different in every row, and an exposure and its target where
rows with zero exposure are left out.
"""

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.progress import progress
from clearwood.table.column import Column
from clearwood.table.exposure import note_on_zero_exposure
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.kinds.review import Finding
from clearwood.table.kinds.written_numbers import convert_written_numbers, without_words
from clearwood.table.monotone import with_directions
from clearwood.table.parts.finishing import GAPS, Finish, FinishedColumn
from clearwood.table.parts.parts import BATCH_ROWS, Part, Parts, joined
from clearwood.table.parts.rows import CsvRows, ExposedRows, Rows, zero_rows
from clearwood.table.parts.tally import MOST_LEVELS, MOST_NUMBERS, Counted, Tallied, Tally
from clearwood.table.raw import Raw
from clearwood.table.roles.labels import labelled
from clearwood.table.roles.request import Assigned, ReadRequest
from clearwood.table.roles.settle import (
    check_known_targets,
    dropped_rows,
    settled_table,
    with_missing_codes,
)
from clearwood.table.sources.csv import NotNumbersError
from clearwood.table.stand_ins import noted_stand_ins
from clearwood.table.types import NUMERIC, Kind, Role

__all__ = ["alike", "survey"]

#: Numbers that are sorted at once, to see whether they are all different.
_AT_ONCE = 1 << 22

#: The first rows of about so many parts are looked at for columns that stand for protected ones.
_PARTS_LOOKED_AT, _ROWS_LOOKED_AT = 10, 2000

Batch = list[Raw]


def survey(named: Sequence[tuple[str, Rows]], request: ReadRequest, origin: str) -> Parts:
    """Read all rows once, and return the table in parts."""
    try:
        parts = _survey(named, request, origin)
    except NotNumbersError:
        # a column began with numbers and goes on with words: a column is one thing in all files
        checked = [(name, r.checked() if isinstance(r, CsvRows) else r) for name, r in named]
        parts = _survey(alike(checked), request, origin)
    if not parts.protected:
        return parts
    step = max(1, len(parts.parts) // _PARTS_LOOKED_AT)
    some = [next(part.batches(_ROWS_LOOKED_AT), None) for part in parts.parts[::step]]
    rows = joined([table for table in some if table is not None], parts.empty)
    return replace(parts, notes=(*parts.notes, *noted_stand_ins(rows)))


def _survey(named: Sequence[tuple[str, Rows]], request: ReadRequest, origin: str) -> Parts:
    reader = _Reader(named, request)
    assigned = request.assigned(reader.names)
    target = next((n for n, role in assigned.roles.items() if role is Role.TARGET), None)
    reader, without = _with_exposure_above_zero(reader, assigned, target)
    known = None if target is None else _Known(reader, target, assigned)
    tallies = {
        name: Tally(
            name,
            most=MOST_LEVELS
            if _has_levels(assigned.kinds.get(name))
            # whether these are few levels depends on every different number
            else MOST_NUMBERS * (name == target or assigned.roles.get(name) is Role.PROTECTED),
        )
        for name in reader.names
    }
    n_kept = np.zeros(len(named), np.int64)
    n_rows = 0
    with progress("reading all rows once", total=None) as step:
        for i, raws in reader.batches():
            kept = None if known is None else known(raws)
            for raw in raws:
                tallies[raw.name].add(raw, kept, n_rows, named[i][0])
            size = len(raws[0].values)
            n_rows += size
            n_kept[i] += size if kept is None else int(kept.sum())
            step(size, note=named[i][0])
    if not n_rows:
        raise InputError("the table has no rows", parameter="source", hint="is it the right one?")
    for tally in tallies.values():
        tally.check_finite()
    dropped = n_rows - int(n_kept.sum())
    if target is not None:
        check_known_targets(target, n_rows - dropped)
    return _concluded(reader, request, assigned, tallies, known, n_kept, dropped, origin, without)


def _with_exposure_above_zero(
    reader: "_Reader", assigned: Assigned, target: str | None
) -> tuple["_Reader", list[Finding]]:
    """Leave out the rows whose exposure is zero, if that is wanted, with a note of them."""
    exposure = next((n for n, role in assigned.roles.items() if role is Role.EXPOSURE), None)
    request = reader.request
    if request.zero_exposure != "drop" or exposure is None:
        return reader, []
    n_rows = n_zero = 0
    total: float | None = None if target is None else 0.0
    for _, raws in reader.batches([exposure] if target is None else [exposure, target]):
        zero = zero_rows(raws[0])
        n_rows += len(zero)
        n_zero += int(zero.sum())
        if total is not None and zero.any():
            (there,), _ = convert_written_numbers(
                [raws[1].at(zero)], request.writing, assigned.as_written
            )
            if there.form in ("number", "boolean"):
                total += float(np.nansum(there.values))
            elif not there.missing.all():
                total = None
    if not n_zero:
        return reader, []
    note = note_on_zero_exposure(exposure, n_zero, n_rows, target, total)
    gaps = request.writing.missing_words(exposure)
    named = [(name, ExposedRows(rows, exposure, gaps)) for name, rows in reader.named]
    return _Reader(named, request), [Finding(note)]


def _has_levels(kind: object) -> bool:
    """Whether a stated kind needs every different value."""
    return kind is not None and not (isinstance(kind, Kind) and kind in {*NUMERIC, Kind.DATE})


class _Reader:
    """The rows of all parts, without what the user states as missing."""

    def __init__(self, named: Sequence[tuple[str, Rows]], request: ReadRequest) -> None:
        self.named = named
        self.request = request
        first = next((raws for _, rows in named for raws in rows.batches(1000, None)), None)
        if not first:
            raise InputError("the table has no rows", parameter="source", hint="is it empty?")
        self.names = [raw.name for raw in first]
        self.first = named[0][0]
        request.writing.check_columns(self.names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, Batch]]:
        """Read the rows, with the number of the part that they are in."""
        wanted = self.names if columns is None else columns
        for i, (name, rows) in enumerate(self.named):
            for raws in rows.batches(BATCH_ROWS, columns):
                by_name = {raw.name: raw for raw in raws}
                if len(raws) != len(wanted) or any(n not in by_name for n in wanted):
                    raise _differing(name, list(by_name), wanted, self.first)
                yield (
                    i,
                    [
                        without_words(by_name[n], self.request.writing.missing_words(n))
                        for n in wanted
                    ],
                )


def _differing(name: str, here: Sequence[str], wanted: Sequence[str], first: str) -> InputError:
    """Return the error for a file that has other columns than the first."""
    absent = [n for n in wanted if n not in here]
    more = [n for n in here if n not in wanted]
    lacks = f"lacks {_listed(absent)}" if absent else ""
    has = f"has {_listed(more)} more" if more else ""
    return InputError(
        f"{name} {' and '.join(filter(None, (lacks, has)))}, other than {first}",
        parameter="source",
        value=name,
        hint="all files of a table have the same columns, in any order.",
    )


def alike(named: Sequence[tuple[str, Rows]]) -> list[tuple[str, Rows]]:
    """Read as numbers the columns that are numbers in all files, which have the same columns."""
    first, *others = [(name, rows) for name, rows in named if isinstance(rows, CsvRows)]
    wanted = first[1].names
    for name, rows in others:
        here = rows.names
        if set(here) != set(wanted):
            raise _differing(name, here, wanted, first[0])
    scans = [rows.scan for _, rows in named if isinstance(rows, CsvRows)]
    numeric = frozenset.intersection(*(scan.numeric for scan in scans))
    return [
        (name, replace(rows, scan=replace(rows.scan, numeric=numeric)))
        for name, rows in named
        if isinstance(rows, CsvRows)
    ]


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    return f"the column{'s' if len(names) > 1 else ''} {shown}"


class _Known:
    """Tells which rows of a batch have a target."""

    def __init__(self, reader: _Reader, target: str, assigned: Assigned) -> None:
        self.target = target
        self.gaps: frozenset[str] = frozenset()
        tally = Tally(target)
        for i, (raw,) in reader.batches([target]):
            if raw.form != "string" and not raw.missing.all():
                return
            tally.add(raw, None, 0, reader.named[i][0])
        if tally.form != "string" or tally.overflows:
            return
        raw = tally.raw()
        (read,), _ = convert_written_numbers([raw], reader.request.writing, assigned.as_written)
        missing = read.missing[: len(raw.levels)]
        self.gaps = frozenset(np.array(raw.levels, object)[missing].tolist())

    def __call__(self, raws: Batch) -> Bools | None:
        """Return which rows have one, None if all have."""
        raw = next(raw for raw in raws if raw.name == self.target)
        missing = raw.missing
        if self.gaps and raw.is_coded:
            gone = np.array([*(level in self.gaps for level in raw.levels), True])
            missing = gone[raw.values]
        return ~missing if missing.any() else None


def _concluded(
    reader: _Reader,
    request: ReadRequest,
    assigned: Assigned,
    tallies: dict[str, Tally],
    known: _Known | None,
    n_kept: np.ndarray,
    dropped: int,
    origin: str,
    without: Sequence[Finding],
) -> Parts:
    counted = [tallies[name].raw() for name in reader.names]
    too_many = {n: Kind.TEXT for n, t in tallies.items() if t.overflows and t.form == "string"}
    _check_stated(tallies, assigned)
    read, findings = convert_written_numbers(
        counted, request.writing, {*assigned.as_written, *too_many}
    )
    raws = [_with_target(raw, tallies[raw.name]) for raw in read]
    target = None if known is None else known.target
    # the target that decides has no gaps any more
    raws = [raw.at(~raw.missing) if raw.name == target else raw for raw in raws]
    by_name = {raw.name: raw for raw in raws}
    evidence: dict[str, Evidence] = {}

    def evidence_of(column: Column) -> Evidence:
        name = column.name
        differs = _differs(reader, name, known, tallies[name])
        evidence[name] = _evidence(column, by_name[name], tallies[name], differs)
        return evidence[name]

    table = settled_table(
        raws,
        assigned.roles,
        assigned.kinds,
        too_many,
        request.task,
        findings=[*findings, *without, *dropped_rows(dropped)],
        evidence=evidence_of,
    )
    settled = table.columns
    table = with_missing_codes(table, request.writing)
    table = labelled(
        replace(table, keeps_identical=assigned.keeps_identical), assigned.labels.values()
    )
    table = with_directions(table, request.monotone)
    finished = tuple(
        FinishedColumn(
            raw.name,
            column.take(slice(0, 0)),
            _values_of(raw, tallies[raw.name], as_read),
            request.writing.missing_words(raw.name),
        )
        for raw, column, as_read in zip(counted, table.columns, settled, strict=True)
    )
    columns = tuple(one.column for one in finished)
    finish = Finish(replace(table, columns=columns, notes=(), source=origin), finished)
    missing = [evidence[raw.name].n_missing for raw in counted]
    return Parts(
        tuple(
            Part(name, int(n), rows, finish, incomplete=dropped > 0)
            for (name, rows), n in zip(reader.named, n_kept, strict=True)
        ),
        finish.empty,
        dict(zip(table.names, missing, strict=True)),
        tuple(_few(column) for column in table.columns),
        dropped,
        table.notes,
        origin,
    )


def _check_stated(tallies: dict[str, Tally], assigned: Assigned) -> None:
    """Refuse kinds with levels for columns with more values than are counted."""
    for name, kind in assigned.kinds.items():
        if tallies[name].overflows and _has_levels(kind) and kind is not Kind.TEXT:
            raise InputError(
                f"column {name!r} has more than {MOST_LEVELS:,} different values, too many for "
                "levels",
                parameter="kinds",
                value=name,
                hint=words("leave it out: ", Option("ignore", [name]), "."),
            )


def _with_target(raw: Raw, tally: Tally) -> Raw:
    """Return a counted column as it is in the rows that have a target."""
    if not (tally.example is not None and tally.example.is_coded) or tally.overflows:
        return raw
    repeats = tally.level_kept
    if tally.n_missing:
        repeats = np.append(repeats, tally.n_missing)
    raw = replace(raw, repeats=repeats)
    return raw if raw.form in ("category", "ordered") else raw.at(repeats > 0)


def _evidence(column: Column, raw: Raw, tally: Tally, differs: Callable[[], bool]) -> Evidence:
    if tally.form == "number" and column.kind in NUMERIC and tally.example is not None:
        return Tallied(column, tally, differs)
    sample = None
    if column.kind in NUMERIC:
        values = dict(_pairs(raw, tally, column))
        sample = np.array([values.get(text, np.nan) for text in tally.sample.values], np.float64)
    return Counted(column, raw.repeats, sample, stopped=tally.overflows)


def _pairs(raw: Raw, tally: Tally, column: Column) -> Iterator[tuple[object, object]]:
    """Return each string, or number of a boolean, with its value in the column."""
    if tally.example is None or not tally.example.is_coded:
        yield from zip(raw.values.tolist(), column.values.tolist(), strict=True)
        return
    kept = tally.level_kept > 0
    if raw.form in ("category", "ordered"):
        kept = np.ones(len(kept), bool)
    levels = (level for level, is_kept in zip(tally.levels, kept, strict=True) if is_kept)
    yield from zip(levels, column.values, strict=False)  # after them the gap, where there is one


def _values_of(raw: Raw, tally: Tally, column: Column) -> dict[str, object] | None:
    """Return the value of each string, or of each number that is a level, in the table."""
    if tally.overflows or column.kind is Kind.TEXT:
        return None
    if not raw.is_coded:
        return {v: i for i, v in enumerate(column.levels)} if column.is_coded else None
    # strings that only rows without a target have are not in the table
    values: dict[str, object] = dict.fromkeys(tally.levels, GAPS[column.kind])
    values.update((str(level), value) for level, value in _pairs(raw, tally, column))
    return values


def _few(column: Column) -> Column:
    """Return the ends of a column, which show what it holds."""
    present = np.flatnonzero(~column.missing)
    if column.is_coded or not len(present):
        return column.take(slice(0, 0))
    if column.kind is Kind.TEXT:
        return column.take(present[:1])
    values = column.values[present]
    return column.take(present[[int(np.argmin(values)), int(np.argmax(values))]])


def _differs(reader: _Reader, name: str, known: _Known | None, tally: Tally) -> Callable[[], bool]:
    """Return a function that reads a column of whole numbers again to see if all are different."""

    def differs() -> bool:
        with tempfile.TemporaryFile() as file:
            needed = list(dict.fromkeys([name, *([] if known is None else [known.target])]))
            for _, raws in reader.batches(needed):
                kept = None if known is None else known(raws)
                values = raws[0].values
                file.write((values if kept is None else values[kept]).tobytes())
            return _all_different(np.memmap(file, np.float64), tally)

    return differs


def _all_different(values: Floats, tally: Tally) -> bool:
    """Compare a column with itself in ranges of values, of which each fits into memory."""
    sample = np.array(tally.sample.values, np.float64)
    n_ranges = max(1, -(-len(values) // _AT_ONCE))
    edges = np.quantile(sample, np.linspace(0, 1, n_ranges + 1)[1:-1])
    edges = np.concatenate([[-np.inf], edges, [np.inf]])
    for low, high in itertools.pairwise(edges):
        some = [
            block[(block > low) & (block <= high)]
            for start in range(0, len(values), _AT_ONCE)
            for block in [values[start : start + _AT_ONCE]]
        ]
        inside = np.concatenate(some)
        if len(np.unique(inside)) < len(inside):
            return False
    return True
