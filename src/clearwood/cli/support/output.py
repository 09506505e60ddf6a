"""Writing results to files: checked before the work, written whole after it."""

import csv
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError, MissingExtraError
from clearwood.cli.support.console import plain, written

if TYPE_CHECKING:
    import io

__all__ = [
    "check_output",
    "is_parquet",
    "require_folder",
    "require_parquet",
    "write_columns",
    "write_csv",
    "write_json",
]


class _NotYetError(Exception):
    """Ends a write that was only a try."""


def check_output(path: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Raise, before hours of work, where a file could not be written afterwards.

    Parameters
    ----------
    path
        Where the output will go.
    force
        Whether it may replace what is there.
    inputs
        Files that are about to be read; the output replaces none of them, force or not.
    """
    from clearwood.files import atomic_write

    for source in inputs:
        if path.is_file() and source.is_file() and path.samefile(source):
            raise InputError(
                f"'{path}' would be read and replaced at once", hint="name another output with -o."
            )
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device or pipe: opening it is already using it
    if is_parquet(path):
        require_parquet()
    with suppress(_NotYetError), atomic_write(path, force=force):
        raise _NotYetError


def require_folder(path: Path) -> None:
    """Raise where a folder that is to hold the output is none."""
    if path.is_dir():
        return
    if path.exists():
        raise InputError(f"'{path}' is a file, not a folder", hint="choose a folder with -o.")
    raise InputError(
        f"the folder '{path}' does not exist", hint=f"make it: mkdir -p {shlex.quote(str(path))}"
    )


def is_parquet(path: Path) -> bool:
    """Whether a name asks for a Parquet file."""
    return path.suffix.lower() in (".parquet", ".pq")


def require_parquet() -> None:
    """Raise, naming the install command, where Parquet cannot be written."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet files", extra="arrow")


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]], *, force: bool) -> None:
    """Write named columns as Parquet or, by any other ending, as CSV."""
    from clearwood.files import atomic_write

    if is_parquet(path):
        require_parquet()
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
        with atomic_write(path, force=force) as file:
            pq.write_table(table, file)
    else:
        with atomic_write(path, force=force, text=True) as file:
            write_csv(file, columns)
    written.append(path)


def write_csv(file: "io.TextIOBase | Any", columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as CSV, numbers with every digit that tells them apart."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def write_json(path: Path, document: Mapping[str, Any], *, force: bool) -> None:
    """Write one JSON document."""
    from clearwood.files import atomic_write

    with atomic_write(path, force=force, text=True) as file:
        json.dump(plain(document), file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    written.append(path)
