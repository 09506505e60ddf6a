"""From what a user passes to parts: files, folders, functions."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.table.column import Column
from clearwood.table.kinds.written_numbers import convert_written_numbers, with_missing_words
from clearwood.table.monotone import with_directions
from clearwood.table.parts.finishing import Finish, FinishedColumn
from clearwood.table.parts.parts import BATCH_ROWS, Part, Parts
from clearwood.table.parts.rows import MadeRows, ParquetRows, Rows
from clearwood.table.reading.labels import labelled
from clearwood.table.reading.raw import Raw
from clearwood.table.reading.request import Request

__all__ = ["in_parts"]


def in_parts(source: Any, request: Request, *, parts: bool | None) -> Parts | None:
    """Return the table in parts, where it is to be; None where it is to be read into memory."""
    if not parts:
        return None
    named, origin = _rows_of(source)
    return _surveyed(named, origin, request)


def _rows_of(source: Any) -> tuple[list[tuple[str, Rows]], str]:
    if isinstance(source, list) and source and all(isinstance(one, MadeRows) for one in source):
        return [(f"rows {r.start:,} to {r.stop:,}", r) for r in source], "a function"
    paths = [source] if isinstance(source, str | os.PathLike) else list(source)
    files: list[Path] = []
    for one in map(Path, paths):
        files += sorted(one.glob("*.parquet")) if one.is_dir() else [one]
    return [found for path in files for found in _parquet(path)], str(source)


def _parquet(path: Path) -> Iterable[tuple[str, Rows]]:
    import pyarrow.parquet as pq

    stat = path.stat()
    with pq.ParquetFile(path) as file:
        groups = tuple(range(file.num_row_groups))
    yield path.name, ParquetRows(str(path), groups, (stat.st_size, stat.st_mtime))


def _surveyed(named: Sequence[tuple[str, Rows]], origin: str, request: Request) -> Parts:
    from clearwood.table.reading.read import settled_table

    batches = [
        (i, raws) for i, (_, rows) in enumerate(named) for raws in rows.batches(BATCH_ROWS, None)
    ]
    if not batches:
        raise InputError("the table has no rows", parameter="source")
    owner = np.concatenate([np.full(len(raws[0].values), i) for i, raws in batches])
    held = [_joined([raws[k] for _, raws in batches]) for k in range(len(batches[0][1]))]
    assigned = request.assigned([raw.name for raw in held])
    raws = with_missing_words(held, request.writing)
    raws, converted = convert_written_numbers(raws, request.writing, assigned.as_written)
    table = settled_table(raws, assigned, {}, request, dropped=0, origin=origin, findings=converted)
    table = labelled(
        replace(table, keeps_identical=assigned.keeps_identical), assigned.labels.values()
    )
    table = with_directions(table, request.monotone)
    target = next(
        (r for r in raws if table.target and r.name in (table[table.target].header, table.target)),
        None,
    )
    kept = np.ones(len(owner), bool) if target is None else ~target.missing
    finish = Finish(
        replace(table[:0], dropped=0, notes=()),
        tuple(
            _finished(raw, column, kept, request.writing.missing_words(raw.name))
            for raw, column in zip(held, table.columns, strict=True)
        ),
    )
    rows_by_part = np.bincount(owner[kept], minlength=len(named))
    return Parts(
        tuple(
            Part(name, int(n), rows, finish, incomplete=not kept.all())
            for (name, rows), n in zip(named, rows_by_part, strict=True)
        ),
        finish.empty,
        table.missing,
        tuple(_few(column) for column in table.columns),
        table.dropped,
        table.notes,
        origin,
    )


def _few(column: Column) -> Column:
    known = np.flatnonzero(~column.missing)
    if column.is_coded or not len(known):
        return column.take(slice(0, 0))
    if column.values.dtype.kind == "O":
        return column.take(known[:1])
    values = column.values[known]
    return column.take(known[[int(np.argmin(values)), int(np.argmax(values))]])


def _joined(raws: list[Raw]) -> Raw:
    if not raws[0].is_coded:
        return replace(raws[0], values=np.concatenate([raw.values for raw in raws]))
    place: dict[str, int] = {}
    values = []
    for raw in raws:
        codes = np.array([*(place.setdefault(v, len(place)) for v in raw.levels), -1], np.int32)
        values.append(codes[raw.values])
    return replace(raws[0], values=np.concatenate(values), levels=tuple(place))


def _finished(raw: Raw, column: Column, kept: Any, gaps: frozenset[str]) -> FinishedColumn:
    empty = column.take(slice(0, 0))
    header = column.header or column.name
    if not raw.is_coded and not column.is_coded:
        return FinishedColumn(header, empty, None, gaps)
    if raw.is_coded and column.values.dtype.kind == "O":
        return FinishedColumn(header, empty, None, gaps)
    if not raw.is_coded:
        return FinishedColumn(header, empty, {v: i for i, v in enumerate(column.levels)}, gaps)
    codes = raw.values[kept]
    known, first = np.unique(codes, return_index=True)
    gap = np.full(
        1, -1 if column.is_coded else np.nan if column.values.dtype.kind == "f" else "NaT"
    ).astype(column.values.dtype)[0]
    values = dict.fromkeys(raw.levels, gap)
    values |= {raw.levels[c]: column.values[i] for c, i in zip(known, first, strict=True) if c >= 0}
    return FinishedColumn(header, empty, values, gaps)
