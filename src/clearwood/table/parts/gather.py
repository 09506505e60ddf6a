"""From what a user passes to parts: files, folders, addresses, frames, functions."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from clearwood._shared.errors import InputError, MissingExtraError, Option, words
from clearwood._shared.memory import free_memory
from clearwood._shared.messages import tell
from clearwood._shared.numbers import size
from clearwood.table.parts.parts import BATCH_ROWS, PART_ROWS, Parts, joined
from clearwood.table.parts.rows import (
    CsvRows,
    DaskRows,
    FragmentRows,
    FrameRows,
    LazyRows,
    MadeRows,
    ParquetRows,
    Rows,
    broken,
)
from clearwood.table.parts.storage import (
    File,
    as_address,
    before_pattern,
    filesystem_of,
    is_address,
    is_pattern,
    list_files,
    on_this_machine,
    opened,
    shown_address,
    unreadable,
)
from clearwood.table.parts.survey import differing, survey
from clearwood.table.reading.csv import NotNumbersError, TextFile, scan_csv
from clearwood.table.reading.files import check_exists
from clearwood.table.reading.frames import computing
from clearwood.table.reading.request import Request
from clearwood.table.stand_ins import noted_stand_ins
from clearwood.table.table import Table

__all__ = ["has_parts", "in_parts"]

_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt", ".tab", ".psv", ".dat")
#: Memory that reading, fitting, explaining and a report take at their peak, in sizes of the table.
_TABLES = 7
#: Bytes of a cell in memory, and what text files that are compressed grow to.
_CELL, _UNPACKED = 8, 4
#: The first rows of about so many parts are looked at for columns that stand for protected ones.
_PARTS_LOOKED_AT, _ROWS_LOOKED_AT = 10, 2000

Named = list[tuple[str, Rows]]


def has_parts(source: Any) -> bool:
    """Return whether a source is many: a folder, a pattern, an address, a list, lazy frames.

    Examples
    --------
    >>> has_parts("rows.csv"), has_parts("gs://bucket/*.parquet"), has_parts(["a.csv", "b.csv"])
    (False, True, True)
    """
    if isinstance(source, str | os.PathLike):
        text = as_address(str(source))
        path = Path(text).expanduser()
        return is_address(text) or path.is_dir() or (not path.exists() and is_pattern(text))
    return isinstance(source, Parts) or _kind_of(source) is not None


def in_parts(
    source: Any, request: Request, *, parts: bool | None, draw_rows: int | None, seed: int = 0
) -> Table | Parts | None:
    """Return a table in parts, or of several files; None where one source is read into memory."""
    if isinstance(source, Parts):
        again = survey([(p.name, p.rows) for p in source.parts], request, source.source)
        return again if draw_rows is None else again.sample(draw_rows, seed=seed)
    named, origin, is_one, n_bytes = _found(source, request, parts=parts)
    if named is None:
        return None
    free = free_memory()
    is_large = free is not None and n_bytes * _TABLES > free
    if not parts and is_one and not (is_large and parts is None):
        return None
    found = _surveyed(named, request, origin)
    if found.protected:
        step = max(1, len(found.parts) // _PARTS_LOOKED_AT)
        some = [next(part.batches(_ROWS_LOOKED_AT), None) for part in found.parts[::step]]
        rows = joined([table for table in some if table is not None], found.empty)
        found = replace(found, notes=(*found.notes, *noted_stand_ins(rows)))
    if draw_rows is not None:
        return replace(found.sample(draw_rows, seed=seed), dropped=found.dropped, notes=found.notes)
    if parts is False or (parts is None and not is_large):
        return found.to_table()
    if parts is None:
        tell(
            words(
                f"{origin} has about {size(n_bytes)} as a table, which with all that is computed "
                f"from it does not fit into the {size(free or 0)} of memory that are free; its "
                "rows stay where they are. To read them all the same, set ",
                Option("parts", value=False),
            )
        )
    return found


def _surveyed(named: Named, request: Request, origin: str) -> Parts:
    try:
        return survey(named, request, origin)
    except NotNumbersError:
        # a column began with numbers and goes on with words: a column is one thing in all files
        checked = [(name, r.checked() if isinstance(r, CsvRows) else r) for name, r in named]
        return survey(_alike(checked), request, origin)


def _found(
    source: Any, request: Request, *, parts: bool | None
) -> tuple[Named | None, str, bool, int]:
    """Return the rows, what they come from, whether it is one file, and about how many bytes."""
    if isinstance(source, str | os.PathLike):
        path = as_address(str(source))
        return _files([path], shown_address(path), request, parts=parts)
    kind = _kind_of(source)
    if kind == "dataset":
        return _dataset(source), "pyarrow data", False, _CELL * _cells_in(source)
    if kind == "dask":
        partitions = _partitions(source)
        n_bytes = 0 if parts else _CELL * len(source.columns) * _rows_in(source, partitions)
        return partitions, "dask data", True, n_bytes
    if kind == "lazy":
        n_bytes = 0 if parts else _CELL * _cells(source)
        return [("lazy frame", LazyRows(source))], "polars data", True, n_bytes
    if kind == "made":
        made: Named = [(f"rows {r.start:,} to {r.stop:,}", r) for r in source]
        return made, "a function", False, 0
    if kind == "paths":
        paths = [as_address(str(one)) for one in source]
        return _files(paths, f"{len(paths)} files", request, parts=parts)
    if kind == "frames":
        frames: Named = [(f"frame {i}", FrameRows(one)) for i, one in enumerate(source, start=1)]
        return frames, f"{len(frames)} frames", False, 0
    if parts:
        held = (
            "a table in memory"
            if isinstance(source, Table) or hasattr(source, "columns") or hasattr(source, "shape")
            else f"a {type(source).__name__}"
        )
        raise InputError(
            f"{held} has no parts",
            parameter="parts",
            value=parts,
            hint="pass a file, a folder, a pattern, a list of them, an address, an Arrow dataset, "
            "a Dask or a lazy polars frame; to make rows on the fly, use Parts.of.",
        )
    return None, "", True, 0


def _kind_of(
    source: Any,
) -> Literal["dataset", "dask", "lazy", "made", "paths", "frames"] | None:
    """Return what a source that is neither a path nor a table in parts is; None for one piece."""
    module = type(source).__module__
    if module.startswith("pyarrow.") and hasattr(source, "get_fragments"):
        return "dataset"
    if module.startswith("dask.") and hasattr(source, "to_delayed"):
        return "dask"
    if module.startswith("polars.") and type(source).__name__ == "LazyFrame":
        return "lazy"
    if not isinstance(source, Sequence) or isinstance(source, str | bytes) or not len(source):
        return None
    if all(isinstance(one, MadeRows) for one in source):
        return "made"
    if all(isinstance(one, str | os.PathLike) for one in source):
        return "paths"
    if all(hasattr(one, "columns") and not isinstance(one, Table) for one in source):
        return "frames"
    return None


def _cells(frame: Any) -> int:
    import polars as pl

    with computing("lazy frame", frame):
        n_rows = int(frame.select(pl.len()).collect().item())
        return n_rows * len(frame.collect_schema())


def _dataset(source: Any) -> Named:
    fragments = list(source.get_fragments())
    names = [str(getattr(f, "path", f"fragment {i}")) for i, f in enumerate(fragments, start=1)]
    return [(n, FragmentRows(f, source.schema)) for n, f in zip(names, fragments, strict=True)]


def _cells_in(dataset: Any) -> int:
    return int(dataset.count_rows()) * len(dataset.schema)


def _partitions(source: Any) -> Named:
    partitions = enumerate(source.to_delayed(), start=1)
    return [(f"partition {i}", DaskRows(each, i)) for i, each in partitions]


def _rows_in(source: Any, partitions: Named) -> int:
    """Count the rows of a Dask frame; where that fails, name the partition and the cause."""
    try:
        return len(source)
    except Exception:
        for _, rows in partitions:
            for _ in rows.batches(BATCH_ROWS, None):
                pass
        raise


def _files(
    paths: list[str], origin: str, request: Request, *, parts: bool | None
) -> tuple[Named | None, str, bool, int]:
    listed = [list_files(path) for path in paths]
    files = [file for found, _ in listed for file in found]
    is_one = len(paths) == 1 and not listed[0][1] and not is_address(paths[0])
    if is_one and parts is False:
        return None, origin, True, 0
    tables = [file for file in files if _ending(file) in (*_PARQUET, *_TEXT)]
    if is_one:
        check_exists(Path(files[0].path).expanduser())
        if not tables or (parts is None and not _may_be_large(tables[0])):
            if parts:
                raise _unknown(files[0])
            return None, origin, True, 0
    if not tables:
        if len(files) == 1:
            raise _unknown(files[0])
        hint = "known: .parquet, .csv, .tsv and other text files, also .gz."
        raise unreadable(paths[0], f"{origin} has no file that holds a table", hint)
    _say_what_is_left_out(files, tables, origin)
    endings = {_ending(file) in _PARQUET for file in tables}
    if len(endings) > 1:
        a = next(file.name for file in tables if _ending(file) in _PARQUET)
        b = next(file.name for file in tables if _ending(file) not in _PARQUET)
        raise unreadable(
            paths[0],
            f"{origin} has both Parquet files ({a}) and text files ({b})",
            "a table is in files of one kind; name those to read, such as folder/*.parquet.",
        )
    if endings == {True}:
        return *_parquet(tables, paths, origin), is_one, _parquet_bytes(tables)
    text = _csv(tables, paths, request.text_file)
    n_bytes = sum(f.size * (_UNPACKED if f.name.lower().endswith(".gz") else 1) for f in tables)
    return text, origin, is_one, n_bytes


def _ending(file: File) -> str:
    path = Path(file.name.lower())
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _may_be_large(file: File) -> bool:
    """Whether it is worth looking into one file before it is read as ever."""
    free = free_memory()
    return free is not None and file.size * _TABLES * _UNPACKED > free


def _unknown(file: File) -> InputError:
    return unreadable(
        file.path,
        f"{file.name} cannot be read in parts",
        "Parquet files and delimited text can; known: .parquet, .csv, .tsv, also .gz.",
    )


def _say_what_is_left_out(files: list[File], tables: list[File], origin: str) -> None:
    others = [file.name for file in files if file not in tables]
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        tell(f"files in {origin} that are no tables are left out: {shown}")


def _parquet(files: list[File], paths: list[str], origin: str) -> tuple[Named, str]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet files in parts", extra="arrow") from None
    if len(paths) == 1 and any(_of_folders(file, paths[0]) for file in files):
        return _partitioned(files, paths[0]), origin
    named: Named = []
    for file in files:
        try:
            with opened(file.path) as source, pq.ParquetFile(source) as table:
                rows = [table.metadata.row_group(i).num_rows for i in range(table.num_row_groups)]
        except (OSError, ValueError) as error:
            raise broken(file, error) from error
        named += _divided(file, rows)
    return named, origin


def _divided(file: File, rows: list[int]) -> Iterator[tuple[str, Rows]]:
    """Divide a file into parts of whole row groups, about a million rows each."""
    pieces: list[list[int]] = [[]]
    held = 0
    for group, n_rows in enumerate(rows):
        if held and held + n_rows > PART_ROWS:
            pieces.append([])
            held = 0
        pieces[-1].append(group)
        held += n_rows
    for i, groups in enumerate(pieces, start=1):
        name = file.name if len(pieces) == 1 else f"{file.name} ({i} of {len(pieces)})"
        yield name, ParquetRows(file, tuple(groups))


def _of_folders(file: File, source: str) -> tuple[tuple[str, str], ...]:
    """Return the values that the names of folders state, year=2024, below a source."""
    start = before_pattern(str(Path(source).expanduser()) if not is_address(source) else source)
    inside = shown_address(file.path).replace(os.sep, "/").removeprefix(start)
    named = (folder.split("=", maxsplit=1) for folder in inside.split("/")[:-1] if "=" in folder)
    return tuple((name, unquote(value)) for name, value in named)


def _partitioned(files: list[File], source: str) -> Named:
    """Return Parquet files in folders that are named by values: year=2024."""
    import pyarrow as pa
    from pyarrow import dataset

    system, _ = filesystem_of(files[0])
    start = before_pattern(source)
    base = start.split("://", maxsplit=1)[-1] if is_address(source) else start
    try:
        found = dataset.dataset(
            [filesystem_of(file)[1] for file in files],
            filesystem=system,
            format="parquet",
            partitioning="hive",
            partition_base_dir=base,
        )
    except (OSError, pa.ArrowInvalid) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        message = f"the files of {shown_address(source)} are not one table: {reason}"
        raise unreadable(source, message) from error
    return _dataset(found)


def _parquet_bytes(files: list[File]) -> int:
    import pyarrow.parquet as pq

    n_bytes = 0
    for file in files:
        with opened(file.path) as source:
            found = pq.read_metadata(source)
        n_bytes += found.num_rows * found.num_columns * _CELL
    return n_bytes


def _csv(files: list[File], paths: list[str], options: TextFile) -> Named:
    try:
        import pyarrow as pa  # noqa: F401 - batches are Arrow's
    except ImportError:
        raise MissingExtraError("reading text files in parts", extra="arrow") from None
    named: Named = []
    for file in files:
        with on_this_machine(file.path) as path:
            beside = _of_folders(file, paths[0]) if len(paths) == 1 else ()
            named.append((file.name, CsvRows(file, scan_csv(path, file.name, options), beside)))
    return _alike(named)


def _alike(named: Sequence[tuple[str, Rows]]) -> Named:
    """Read as numbers the columns that are numbers in all files, which have the same columns."""
    first, *others = [(name, rows) for name, rows in named if isinstance(rows, CsvRows)]
    wanted = first[1].names
    for name, rows in others:
        here = rows.names
        if set(here) != set(wanted):
            raise differing(name, here, wanted, first[0])
    scans = [rows.scan for _, rows in named if isinstance(rows, CsvRows)]
    numeric = frozenset.intersection(*(scan.numeric for scan in scans))
    return [
        (name, replace(rows, scan=replace(rows.scan, numeric=numeric)))
        for name, rows in named
        if isinstance(rows, CsvRows)
    ]
