"""Results for every row of a table in parts, written as one Parquet file for each part."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import Draw, InputError, MissingExtraError, Option, words
from clearwood._shared.frames import frame
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result, document, html_table
from clearwood.files import atomic_write, removing_unfinished
from clearwood.parallel.engine import VERSION, Run, n_recorded, over
from clearwood.parallel.ledger import State

__all__ = ["Written", "needs_folder", "write_parts"]

#: Computes columns for a batch of rows, given the number of the first of them.
Columns = Callable[[Any, int], Mapping[str, NDArray[Any]]]


class Batched(Protocol):
    """A part whose rows can be read batch by batch."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        ...

    def batches(self, *, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Read the rows."""
        ...


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Written(Result):
    """Results that were written to files, one for each part of a table.

    Parameters
    ----------
    what
        What they are, in words.
    folder
        Where the files are.
    files
        Their names, in the order of the parts.
    n_rows
        Lines in all files together.
    columns
        The columns of the files that hold numbers.
    sums, absolute_sums
        Of each of these columns, over all lines.
    parts
        How many parts there were, the workers, retries, and parts that were left out.
    about
        What the numbers are, as JSON values; the files have it in their metadata.
    notes
        What the reader should know.
    """

    what: str
    folder: Path
    files: tuple[str, ...]
    n_rows: int
    columns: tuple[str, ...]
    sums: NDArray[np.float64]
    absolute_sums: NDArray[np.float64]
    parts: Run = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return "\n".join([self._headline(), *(f"note: {note}" for note in self.notes)])

    def _headline(self) -> str:
        return (
            f"Wrote {self.what} of {count(self.n_rows, 'row')} to {str(self.folder)!r}, "
            f"{count(len(self.files), 'file')} ({self.parts.described})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (name, number(float(mean)), number(float(size)))
            for name, mean, size in zip(self.columns, *self._means(), strict=True)
        ]
        headings = ("column", "mean", "mean absolute value")
        return html_table(self._headline(), headings, rows, self.notes)

    def _means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lines = max(self.n_rows, 1)
        return self.sums / lines, self.absolute_sums / lines

    def _columns(self) -> dict[str, Any]:
        mean, size = self._means()
        return {"column": list(self.columns), "mean": mean, "mean absolute value": size}

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "what": self.what,
                "folder": str(self.folder),
                "files": self.files,
                "rows": self.n_rows,
                "sums": dict(zip(self.columns, self.sums.tolist(), strict=True)),
                "absolute_sums": dict(zip(self.columns, self.absolute_sums.tolist(), strict=True)),
                "work": self.parts.to_json(),
                "about": dict(self.about),
                "notes": self.notes,
            }
        )


def needs_folder(what: str) -> InputError:
    """Make the error for results of every row of a table in parts that have nowhere to go."""
    return InputError(
        f"{what} of a table that is read in parts do not fit into memory",
        parameter="to",
        hint=words(
            "name a folder for them, ",
            Option("to", "folder/"),
            ", or take some of the rows: ",
            Draw(value=10_000),
            ".",
        ),
    )


def write_parts(
    parts: Sequence[Batched],
    columns_of: Columns,
    to: str | Path,
    *,
    what: str,
    read: Sequence[str] | None = None,
    about: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    force: bool = False,
    identity: Mapping[str, Any] | None = None,
    ledger: str | Path | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    n_jobs: int | None = 1,
) -> Written:
    """Compute columns for all rows and write them, one Parquet file for each part.

    Every file is written aside and renamed when it is whole, so that whatever ends the work leaves
    no half file. With a ledger, the same call goes on after the files that are there.

    Parameters
    ----------
    parts
        The rows.
    columns_of
        Computes columns for a batch, given the number of its first row among all rows.
    to
        The folder, which is made if it does not exist.
    what
        What is written, in words.
    read
        The columns to read; all of them when None.
    about
        What the numbers are, as JSON values: each file has it in its metadata, under "clearwood",
        with what is written, the notes and the version.
    notes
        What the reader should know.
    force
        Replace files that are there.
    identity, ledger, on_error, n_jobs
        As for `over`.

    Returns
    -------
    Written
    """
    _require_arrow()
    folder = _folder(to)
    names = _file_names([part.name for part in parts])
    identity = None if identity is None else {**identity, "to": str(folder)}
    if not force and not n_recorded(ledger, identity):
        _check_free(folder, names)
    starts = np.cumsum([0, *(part.n_rows for part in parts)])
    placed = [
        _Placed(part, int(start), name)
        for part, start, name in zip(parts, starts[:-1], names, strict=True)
    ]
    work = _Writing(
        columns_of,
        str(folder),
        None if read is None else tuple(read),
        json.dumps({"what": what, **(about or {}), "notes": notes, "version": VERSION}),
    )
    with removing_unfinished(folder):
        run = over(
            placed,
            work,
            _joined,
            title=f"writing {what}",
            identity=identity,
            ledger=ledger,
            holds=partial(_is_there, folder),
            on_error=on_error,
            n_jobs=n_jobs,
        )
    state = run.state or State({"rows": 0, "files": [], "columns": []}, {"sums": np.zeros((2, 0))})
    return Written(
        what=what,
        folder=folder,
        files=tuple(name for name, _ in state.values["files"]),
        n_rows=state.values["rows"],
        columns=tuple(state.values["columns"]),
        sums=state.arrays["sums"][0],
        absolute_sums=state.arrays["sums"][1],
        parts=run,
        about=about or {},
        notes=notes,
    )


def _require_arrow() -> None:
    try:
        import pyarrow  # noqa: F401, ICN001 - whether it is there
    except ImportError as error:
        raise MissingExtraError("writing Parquet files", extra="arrow") from error


def _folder(to: str | Path) -> Path:
    if "://" in str(to):
        raise InputError(
            f"{str(to)!r} is not a folder of this machine",
            parameter="to",
            value=str(to),
            hint="write to a folder that all workers see, and copy the files from there.",
        )
    folder = Path(to)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(
            f"{str(to)!r} is a file", parameter="to", value=str(to), hint="name a folder."
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot make the folder {str(to)!r}: {(error.strerror or str(error)).lower()}",
            parameter="to",
            value=str(to),
            hint="choose another place.",
        ) from error
    return folder.resolve()


def _check_free(folder: Path, names: Sequence[str]) -> None:
    """Refuse a folder with files of these names before any work is done."""
    taken = [name for name in names if (folder / name).exists()]
    if taken:
        raise InputError(
            f"{str(folder)!r} has {count(len(taken), 'file')} of the same name already, such as "
            f"{taken[0]!r}",
            parameter="to",
            value=str(folder),
            hint=words(
                "choose another folder, or replace them with ", Option("force", value=True), "."
            ),
        )


def _file_names(parts: Sequence[str]) -> list[str]:
    """Name a file for each part: its position, which keeps the order, and what it is called.

    Examples
    --------
    >>> _file_names(["2024/a b.parquet", "rows 10 to 20"])
    ['part-0-2024-a-b.parquet', 'part-1-rows-10-to-20.parquet']
    """
    width = len(str(max(len(parts) - 1, 0)))
    result = []
    for k, name in enumerate(parts):
        short = re.sub(r"[^\w.]+", "-", name.removesuffix(".parquet")).strip("-.")[-60:]
        result.append(f"part-{k:0{width}d}-{short}.parquet")
    return result


def _is_there(folder: Path, state: State) -> bool:
    """Whether the files that were recorded are still there as they were written."""
    files = [(folder / name, size) for name, size in state.values["files"]]
    return all(file.is_file() and file.stat().st_size == size for file, size in files)


@dataclass(frozen=True)
class _Placed:
    """A part, the number of its first row, and the file for its results."""

    part: Any
    start: int
    file: str

    @property
    def name(self) -> str:
        return str(self.part.name)


@dataclass(frozen=True, eq=False)
class _Writing:
    """Writes the results of one part, batch by batch, and adds up their columns."""

    columns_of: Columns
    folder: str
    read: tuple[str, ...] | None
    metadata: str

    def __call__(self, placed: _Placed) -> State:
        import pyarrow.parquet as pq

        path = Path(self.folder) / placed.file
        n_lines, at = 0, placed.start
        names: tuple[str, ...] = ()
        sums = np.zeros((2, 0))
        writer: Any = None
        with atomic_write(path, force=True) as file:
            try:
                for batch in placed.part.batches(columns=self.read):
                    columns = self.columns_of(batch, at)
                    at += len(batch)
                    table = frame(columns, "pyarrow")
                    if writer is None:
                        schema = table.schema.with_metadata({"clearwood": self.metadata})
                        writer = pq.ParquetWriter(file, schema)
                        names = _numbers(columns)
                        sums = np.zeros((2, len(names)))
                    writer.write_table(table)
                    n_lines += len(table)
                    for k, name in enumerate(names):
                        sums[:, k] += columns[name].sum(), np.abs(columns[name]).sum()
            finally:
                if writer is not None:
                    writer.close()
        if writer is None:
            # a part without rows has no file: nothing says what its columns would be
            path.unlink()
            return State({"rows": 0, "files": [], "columns": []}, {"sums": sums})
        size = path.stat().st_size
        values = {"rows": n_lines, "files": [[placed.file, size]], "columns": list(names)}
        return State(values, {"sums": sums})


def _numbers(columns: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        name
        for name, values in columns.items()
        if isinstance(values, np.ndarray) and values.dtype.kind == "f"
    )


def _joined(one: State, other: State) -> State:
    """Put the results of two parts together."""
    if not other.values["files"]:
        return one
    if not one.values["files"]:
        return other
    values = {
        "rows": one.values["rows"] + other.values["rows"],
        "files": [*one.values["files"], *other.values["files"]],
        "columns": one.values["columns"],
    }
    return State(values, {"sums": one.arrays["sums"] + other.arrays["sums"]})
