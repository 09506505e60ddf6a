"""Where the rows of a part are: in a file, in a frame, or in a function that makes them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from clearwood._shared.arrays import Bools
from clearwood._shared.errors import InputError
from clearwood.table.export import fingerprint
from clearwood.table.kinds.written_numbers import without_words
from clearwood.table.parts.storage import (
    File,
    on_this_machine,
    opened,
    shown_address,
    unreadable,
)
from clearwood.table.raw import Raw
from clearwood.table.roles.settle import as_columns
from clearwood.table.sources.csv import CsvScan
from clearwood.table.sources.frames import computing, from_frame, from_memory
from clearwood.table.table import Table

__all__ = [
    "CsvRows",
    "DaskRows",
    "ExposedRows",
    "FragmentRows",
    "FrameRows",
    "LazyRows",
    "MadeRows",
    "ParquetRows",
    "Rows",
    "zero_rows",
]


#: How a folder is named whose rows lack a value.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class Rows(Protocol):
    """Rows that can be read again and again, in batches; small, without open handles."""

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Read some columns, all of them where None, at most so many rows at a time."""

    def identity(self) -> Sequence[Any]:
        """Return plain values that differ where the rows may differ."""


@dataclass(frozen=True)
class ParquetRows:
    """Some row groups of a Parquet file.

    Parameters
    ----------
    file
        The file.
    groups
        The row groups, by number.
    """

    file: File
    groups: tuple[int, ...]

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Read the row groups one after the other."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with opened(self.file.path) as source, pq.ParquetFile(source) as file:
                strings = [f.name for f in file.schema_arrow if pa.types.is_string(f.type)]
            with (
                opened(self.file.path) as source,
                pq.ParquetFile(source, read_dictionary=strings) as file,
            ):
                batches = file.iter_batches(
                    rows, row_groups=list(self.groups), columns=columns, use_threads=False
                )
                for batch in batches:
                    yield _of_file(batch)
        except (OSError, pa.ArrowInvalid) as error:
            raise broken(self.file, error) from error

    def identity(self) -> Sequence[Any]:
        """Return the path, what the file was like, and the row groups."""
        return [self.file.path, self.file.size, self.file.changed, list(self.groups)]


@dataclass(frozen=True)
class CsvRows:
    """A file of delimited text.

    Parameters
    ----------
    file
        The file.
    scan
        How it is read.
    beside
        Columns with one value each, which the names of its folders state: year=2024.
    """

    file: File
    scan: CsvScan
    beside: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns of the file, and those of its folders."""
        return [*self.scan.dialect.names, *(name for name, _ in self.beside)]

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Read the file from its beginning."""
        decimal = self.scan.decimal
        wanted = set(self.names if columns is None else columns)
        # rows are counted by a column of the file, also where none is wanted
        read = [name for name in self.scan.dialect.names if name in wanted]
        read = read or list(self.scan.dialect.names[:1])
        with on_this_machine(self.file.path) as path:
            for batch in self.scan.batches(path, self.file.name, rows, read):
                raws = [raw for raw in _of_file(batch) if raw.name in wanted]
                raws = [replace(raw, decimal=decimal) for raw in raws] if decimal else raws
                same = (one for one in self.beside if one[0] in wanted)
                yield [*raws, *(_constant(*one, batch.num_rows) for one in same)]

    def checked(self) -> "CsvRows":
        """Return the rows with the columns that are numbers to the end of the file."""
        with on_this_machine(self.file.path) as path:
            return replace(self, scan=self.scan.checked(path))

    def identity(self) -> Sequence[Any]:
        """Return the path, what the file was like, and how it is read."""
        return [self.file.path, self.file.size, self.file.changed, sorted(self.scan.numeric)]


@dataclass(frozen=True)
class MadeRows:
    """Rows from ``start`` to ``stop`` that a function makes.

    Parameters
    ----------
    function
        Makes a frame, an array or a dict of columns from the number of its first row and the number
        after its last.
    start, stop
        The rows of the part.
    """

    function: Callable[[int, int], Any]
    start: int
    stop: int

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Make the rows, a batch at a time."""
        for start in range(self.start, self.stop, rows):
            stop = min(start + rows, self.stop)
            raws = _only(from_memory(self.function(start, stop)), columns)
            wrong = next((len(raw.values) for raw in raws if len(raw.values) != stop - start), None)
            if wrong is not None:
                raise InputError(
                    f"the function made {wrong:,} rows where rows {start:,} to {stop:,} were to be "
                    "made",
                    parameter="function",
                    hint="function(start, stop) gives stop - start rows.",
                )
            yield raws

    def identity(self) -> Sequence[Any]:
        """Return the name of the function and the rows."""
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return [f"{self.function.__module__}.{name}", self.start, self.stop]


@dataclass(frozen=True, eq=False)
class FrameRows:
    """A data frame in memory, one of several.

    Parameters
    ----------
    frame
        The frame.
    """

    frame: Any

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Cut the frame into batches."""
        yield from _cut(_only(from_memory(self.frame), columns), rows)

    def identity(self) -> Sequence[Any]:
        """Return a hash of names and values."""
        return [fingerprint(Table(as_columns(self.frame)))]


@dataclass(frozen=True, eq=False)
class FragmentRows:
    """A fragment of an Arrow dataset.

    Parameters
    ----------
    fragment
        The fragment.
    schema
        The dataset's, which fragments are brought to.
    """

    fragment: Any
    schema: Any

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Scan the fragment."""
        wanted = self.schema.names if columns is None else list(columns)
        for batch in self.fragment.to_batches(
            schema=self.schema, columns=wanted, batch_size=rows, use_threads=False
        ):
            if batch.num_rows:
                yield _of_file(batch)

    def identity(self) -> Sequence[Any]:
        """Return what the fragment is."""
        return [repr(self.fragment), str(self.schema)]


@dataclass(frozen=True, eq=False)
class DaskRows:
    """A partition of a Dask data frame.

    Parameters
    ----------
    partition
        The partition, not computed yet.
    number
        Its place in the frame, from 1.
    """

    partition: Any
    number: int

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Compute the partition here, and cut it into batches."""
        with computing(f"Dask partition {self.number}"):
            frame = self.partition.compute(scheduler="synchronous")
        yield from _cut(_only(from_frame(frame), columns), rows)

    def identity(self) -> Sequence[Any]:
        """Return Dask's key, which depends on how the partition is made."""
        return [str(self.partition.key)]


@dataclass(frozen=True, eq=False)
class LazyRows:
    """A lazy frame of polars, computed in batches whenever its rows are needed.

    Parameters
    ----------
    frame
        The lazy frame.
    """

    frame: Any

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Compute the frame, in batches where this version of polars can."""
        frame = self.frame if columns is None else self.frame.select(list(columns))
        with computing("lazy frame", self.frame):
            if not hasattr(frame, "collect_batches"):
                yield from _cut(from_frame(frame.collect()), rows)
                return
            for batch in frame.collect_batches(chunk_size=rows, maintain_order=True):
                if batch.height:
                    yield from _cut(from_frame(batch), rows)

    def identity(self) -> Sequence[Any]:
        """Return the plan that makes the frame."""
        with computing("lazy frame"):
            return [self.frame.explain(optimized=False)]


@dataclass(frozen=True, eq=False)
class ExposedRows:
    """Rows of another place, without those whose exposure is zero.

    Parameters
    ----------
    rows
        All rows.
    exposure
        The column of their exposure.
    gaps
        Words and numbers of that column that the user states as missing.
    """

    rows: Rows
    exposure: str
    gaps: frozenset[str] = frozenset()

    def batches(self, rows: int, columns: Sequence[str] | None) -> Iterator[list[Raw]]:
        """Read the rows and leave some out."""
        read = None if columns is None else list(dict.fromkeys([*columns, self.exposure]))
        for raws in self.rows.batches(rows, read):
            exposure = next((raw for raw in raws if raw.name == self.exposure), None)
            if exposure is None:
                yield raws  # the caller that needs it says that it is absent
                continue
            zero = zero_rows(without_words(exposure, self.gaps))
            if not zero.all():
                kept = _only(raws, columns)
                yield [raw.at(~zero) for raw in kept] if zero.any() else kept

    def identity(self) -> Sequence[Any]:
        """Return what the rows are, and the exposure."""
        return [*self.rows.identity(), "exposure above zero", self.exposure, sorted(self.gaps)]


def zero_rows(raw: Raw) -> Bools:
    """Return where a column is zero, also where it is written as text: 0, 0.00, 0 years.

    Examples
    --------
    >>> zero_rows(Raw("years", "string", np.array([0, 1, 2, -1]), ("0,00", "0,10", "-"))).tolist()
    [True, False, False, False]
    """
    if not raw.is_coded:
        zero: Bools = raw.values == 0
        return zero
    digits = [{letter for letter in level if letter.isdigit()} for level in raw.levels]
    by_level = np.array([*(found == {"0"} for found in digits), False])
    of_rows: Bools = by_level[raw.values]
    return of_rows


def _only(raws: list[Raw], columns: Sequence[str] | None) -> list[Raw]:
    return raws if columns is None else [raw for raw in raws if raw.name in set(columns)]


def _cut(raws: list[Raw], rows: int) -> Iterator[list[Raw]]:
    n_rows = len(raws[0].values) if raws else 0
    for start in range(0, n_rows, rows):
        if n_rows <= rows:
            yield raws
        else:
            yield [raw.at(slice(start, start + rows)) for raw in raws]


def _constant(name: str, value: str, n_rows: int) -> Raw:
    """Return a column with the same text in all rows."""
    if value == _NO_VALUE:
        return Raw(name, "string", np.full(n_rows, -1, np.int32), ())
    return Raw(name, "string", np.zeros(n_rows, np.int32), (value,))


def _of_file(batch: Any) -> list[Raw]:
    """Return the columns of a batch from a file, in which dictionaries are strings."""
    import pyarrow as pa

    raws = from_frame(pa.Table.from_batches([batch]))
    return [
        Raw(raw.name, "string", raw.values, raw.levels).at(slice(None))
        if raw.form in ("category", "ordered")
        else raw
        for raw in raws
    ]


def broken(file: File, error: Exception) -> InputError:
    """Return the error for a Parquet file that cannot be read."""
    if isinstance(error, PermissionError):
        message = f"you do not have permission to read {shown_address(file.path)}"
        return unreadable(file.path, message, "check its permissions.")
    if isinstance(error, FileNotFoundError):
        message = f"{shown_address(file.path)} is not there any more"
        return unreadable(file.path, message, "read the table again, or put the file back.")
    reason = str(error).split("\n", maxsplit=1)[0]
    return unreadable(
        file.path,
        f"{file.name} cannot be read as Parquet: {reason}",
        "the file is damaged or was not written to its end; write it again, or leave it out.",
    )
