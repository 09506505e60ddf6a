"""Tables whose rows stay where they are: files, folders, addresses, lazy frames."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack
from urllib.parse import unquote

from clearwood._shared.calls import remembers_options
from clearwood._shared.errors import InputError, MissingExtraError, Option, Scan, words
from clearwood._shared.memory import memory_limit
from clearwood._shared.messages import tell
from clearwood._shared.numbers import size
from clearwood.table.exposure import ZeroExposure
from clearwood.table.identical import IDENTICAL_ROWS
from clearwood.table.parts.parts import BATCH_ROWS, PART_ROWS, Parts
from clearwood.table.parts.rows import (
    CsvRows,
    DaskRows,
    FragmentRows,
    FrameRows,
    LazyRows,
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
from clearwood.table.parts.survey import alike, survey
from clearwood.table.roles.labels import Labels
from clearwood.table.roles.request import ReadRequest, TextOptions
from clearwood.table.roles.roles import KindSetting
from clearwood.table.schema import Schema
from clearwood.table.sources.csv import TextFile, scan_csv
from clearwood.table.sources.files import check_exists
from clearwood.table.sources.frames import computing
from clearwood.table.table import Table
from clearwood.table.types import Role, Task

__all__ = ["check_memory", "is_many", "rows_to_read", "scan", "scan_as"]

_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt", ".tab", ".psv", ".dat")
#: Memory that reading, fitting, explaining and a report take at their peak, in sizes of the table.
_TABLES = 7
#: Bytes of a cell in memory, and what text files that are compressed grow to.
_CELL, _UNPACKED = 8, 4

Named = list[tuple[str, Rows]]


@remembers_options
def scan(
    source: Any,
    *,
    target: str | int | None = None,
    weight: str | None = None,
    exposure: str | None = None,
    group: str | None = None,
    time: str | None = None,
    protected: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    kinds: Mapping[str, KindSetting] | None = None,
    task: str | Task | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    labels: Labels | None = None,
    monotone: Mapping[str, str] | None = None,
    zero_exposure: ZeroExposure = "error",
) -> Parts:
    """Return a table whose rows stay where they are: names, kinds, roles, and where to find rows.

    All rows are read once, batch by batch, to find what `read` finds, to the bit; no rows are
    kept. `evaluate`, `benchmark`, `explain`, `report` and learners such as "lightgbm", "xgboost",
    "glm" and "ridge" then read them again as they need them.

    Parameters
    ----------
    source
        The path of a Parquet file or of a CSV or TSV file (both may be gzipped); a folder, a
        pattern such as ``"2024-*.parquet"``, an address (``s3://...``), or a list of these; an
        Arrow dataset; a Dask or a lazy polars frame; a list of data frames; or a table in parts
        whose roles are to be set again.
    target, weight, exposure, group, time, protected, ignore, kinds, task
        As for `read`.
    decimal, thousands, missing, delimiter, encoding, labels, monotone, zero_exposure
        As for `read`.

    Returns
    -------
    Parts

    See Also
    --------
    clearwood.table.Parts.of : Rows that a function makes when they are needed.

    Examples
    --------
    >>> import pandas as pd
    >>> import clearwood as cw
    >>> first = pd.DataFrame({"age": [31, 45, 28], "claims": [0, 1, 0]})
    >>> data = cw.scan([first, first], target="claims", task="count")
    >>> data.n_rows, len(data.parts), data.features
    (6, 2, ('age',))
    """
    request = ReadRequest.of(
        target=target,
        weight=weight,
        exposure=exposure,
        group=group,
        time=time,
        protected=protected,
        ignore=ignore,
        kinds=kinds,
        task=task,
        decimal=decimal,
        thousands=thousands,
        missing=missing,
        delimiter=delimiter,
        encoding=encoding,
        labels=labels,
        monotone=monotone,
        zero_exposure=zero_exposure,
    )
    return _surveyed(source, request)


def scan_as(
    source: Any,
    schema: Schema,
    *,
    zero_exposure: ZeroExposure = "error",
    **options: Unpack[TextOptions],
) -> Parts:
    """Scan a table with the target, weight, exposure and groups of another.

    Columns with these roles may be absent: rows to predict need no target.

    Parameters
    ----------
    source
        What `scan` takes.
    schema
        The schema of the table that a model was fitted to.
    zero_exposure
        As for `read`.
    **options
        How cells are written: decimal, thousands, missing, delimiter, encoding, as for `read`.

    Returns
    -------
    Parts

    Examples
    --------
    >>> import pandas as pd
    >>> import clearwood as cw
    >>> first = pd.DataFrame({"age": [31, 45, 28, 60, 45], "claims": [0, 1, 0, 2, 1]})
    >>> schema = cw.read(first, target="claims", task="count").schema
    >>> again = scan_as([first, first[["age", "claims"]]], schema)
    >>> again.n_rows, again.target, str(again.task)
    (10, 'claims', 'count')
    """
    by_role = {column.role: column.header or column.name for column in schema.columns}
    request = ReadRequest.of(
        optional=True,
        target=by_role.get(Role.TARGET),
        weight=by_role.get(Role.WEIGHT),
        exposure=by_role.get(Role.EXPOSURE),
        group=IDENTICAL_ROWS if schema.keeps_identical else by_role.get(Role.GROUP),
        task=schema.task,
        zero_exposure=zero_exposure,
        **options,
    )
    return _surveyed(source, request)


def _surveyed(source: Any, request: ReadRequest) -> Parts:
    rows = _find_rows(source, request.text_file)
    return survey(rows.named, request, rows.origin)


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Where the rows of a source are.

    Parameters
    ----------
    named
        The rows of each part, with the name of the part.
    origin
        What they come from, in words.
    """

    named: Named
    origin: str


def is_many(source: Any) -> bool:
    """Return whether a source is many: a folder, a pattern, an address, a list, lazy frames.

    Examples
    --------
    >>> is_many("rows.csv"), is_many("gs://bucket/*.parquet"), is_many(["a.csv", "b.csv"])
    (False, True, True)
    """
    if isinstance(source, str | os.PathLike):
        text = as_address(str(source))
        path = Path(text).expanduser()
        return is_address(text) or path.is_dir() or (not path.exists() and is_pattern(text))
    return isinstance(source, Parts) or _kind_of(source) is not None


def rows_to_read(source: Any, text_file: TextFile, *, draw_rows: int | None) -> FoundRows | None:
    """Return rows that are read part by part; None for what is read in one piece.

    A table that the machine has no memory for is refused, unless a few rows are drawn.
    """
    many = is_many(source)
    is_path = isinstance(source, str | os.PathLike)
    if not many and not (is_path and Path(source).is_file()):
        return None
    is_one = not many or _kind_of(source) in ("dask", "lazy")
    if is_one and (draw_rows is None or _fits(_bytes_of(source))):
        return None
    if draw_rows is None:
        check_memory(source)
    return _find_rows(source, text_file)


def check_memory(source: Any) -> None:
    """Refuse a table that is too large for this machine, however much of it is free now."""
    n_bytes = _bytes_of(source)
    if _fits(n_bytes):
        return
    is_path = isinstance(source, str | os.PathLike)
    what = shown_address(str(source)) if is_path else f"the {type(source).__name__}"
    raise InputError(
        f"{what} is about {size(n_bytes)} as a table; reading it and working with it takes about "
        f"{_TABLES} times as much, and this machine has {size(memory_limit() or 0)} of memory",
        parameter="source",
        value=source if is_path else None,
        hint=words(
            "leave the rows where they are, ",
            Scan(),
            ", or read some of them, ",
            Option("draw_rows", 200_000),
            ".",
        ),
    )


def _fits(n_bytes: int) -> bool:
    limit = memory_limit()
    return limit is None or n_bytes * _TABLES <= limit


def _bytes_of(source: Any) -> int:
    """Return about how many bytes a source is as a table; 0 for what is in memory already."""
    if isinstance(source, Parts):
        return _CELL * source.n_rows * len(source.names)
    if isinstance(source, str | os.PathLike):
        return _bytes_of_files([as_address(str(source))])
    kind = _kind_of(source)
    if kind == "paths":
        return _bytes_of_files([as_address(str(one)) for one in source])
    if kind == "dataset":
        return _CELL * int(source.count_rows()) * len(source.schema)
    if kind == "dask":
        return _CELL * len(source.columns) * _rows_in(source, _partitions(source))
    return _CELL * _cells(source) if kind == "lazy" else 0


def _bytes_of_files(paths: list[str]) -> int:
    files = [file for path in paths for file in list_files(path)[0]]
    n_bytes = 0
    for file in files:
        ending = _ending(file)
        if ending in _TEXT:
            n_bytes += file.size * (_UNPACKED if file.name.lower().endswith(".gz") else 1)
        elif ending in _PARQUET:
            # a small file is not opened twice
            n_bytes += file.size if _fits(file.size * _CELL * len(files)) else _parquet_bytes(file)
    return n_bytes


def _find_rows(source: Any, text_file: TextFile) -> FoundRows:
    """Find the rows of a source in parts."""
    if isinstance(source, Parts):
        return FoundRows([(part.name, part.rows) for part in source.parts], source.source)
    if isinstance(source, str | os.PathLike):
        path = as_address(str(source))
        return _files([path], shown_address(path), text_file)
    kind = _kind_of(source)
    if kind == "dataset":
        return FoundRows(_dataset(source), "pyarrow data")
    if kind == "dask":
        return FoundRows(_partitions(source), "dask data")
    if kind == "lazy":
        return FoundRows([("lazy frame", LazyRows(source))], "polars data")
    if kind == "paths":
        paths = [as_address(str(one)) for one in source]
        return _files(paths, f"{len(paths)} files", text_file)
    if kind == "frames":
        frames: Named = [(f"frame {i}", FrameRows(one)) for i, one in enumerate(source, start=1)]
        return FoundRows(frames, f"{len(frames)} frames")
    held = (
        "a table in memory"
        if isinstance(source, Table) or hasattr(source, "columns") or hasattr(source, "shape")
        else f"a {type(source).__name__}"
    )
    raise InputError(
        f"{held} has no parts",
        parameter="source",
        hint="pass a file, a folder, a pattern, a list of them, an address, an Arrow dataset, "
        "a Dask or a lazy polars frame; to make rows on the fly, use Parts.of.",
    )


def _kind_of(
    source: Any,
) -> Literal["dataset", "dask", "lazy", "paths", "frames"] | None:
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


def _files(paths: list[str], origin: str, text_file: TextFile) -> FoundRows:
    listed = [list_files(path) for path in paths]
    files = [file for found, _ in listed for file in found]
    if len(paths) == 1 and not listed[0][1] and not is_address(paths[0]):
        check_exists(Path(files[0].path).expanduser())
    tables = [file for file in files if _ending(file) in (*_PARQUET, *_TEXT)]
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
    named = _parquet(tables, paths) if endings == {True} else _csv(tables, paths, text_file)
    return FoundRows(named, origin)


def _ending(file: File) -> str:
    path = Path(file.name.lower())
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


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


def _parquet(files: list[File], paths: list[str]) -> Named:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading Parquet files in parts", extra="arrow") from None
    if len(paths) == 1 and any(_of_folders(file, paths[0]) for file in files):
        return _partitioned(files, paths[0])
    named: Named = []
    for file in files:
        try:
            with opened(file.path) as source, pq.ParquetFile(source) as table:
                rows = [table.metadata.row_group(i).num_rows for i in range(table.num_row_groups)]
        except (OSError, ValueError) as error:
            raise broken(file, error) from error
        named += _divided(file, rows)
    return named


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


def _parquet_bytes(file: File) -> int:
    import pyarrow.parquet as pq

    with opened(file.path) as source:
        found = pq.read_metadata(source)
    return int(found.num_rows) * int(found.num_columns) * _CELL


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
    return alike(named)
