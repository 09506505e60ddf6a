"""Writing results to files: checked before the work, written whole after it."""

import csv
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError, MissingExtraError, did_you_mean
from clearwood.cli.support.console import json_text, written

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


class _TrialError(Exception):
    """Ends a write that only tries whether writing is possible."""


def check_output(
    path: Path, *endings: str, force: bool, inputs: Iterable[Path] = (), needs_ending: bool = False
) -> None:
    """Raise, before hours of work, if a file could not be written afterwards.

    Parameters
    ----------
    path
        Where the output will go.
    endings
        What its name may end in: each stands for a format that can be written.
    force
        Whether it may replace what is there.
    inputs
        Files that will be read; the output never replaces one of them.
    needs_ending
        Whether a name without an ending leaves open which format is meant.
    """
    from clearwood.files import atomic_write

    for source in inputs:
        if path.is_file() and source.is_file() and path.samefile(source):
            raise InputError(
                f"'{path}' is both an input and the output", hint="name another output with -o."
            )
    ending = path.suffix.lower()
    if ending not in endings and (ending or needs_ending) and not path.is_dir():
        raise InputError(
            f"'{path}' has no format that can be written here: its name ends in "
            f"{ending or 'nothing'!r}",
            hint=did_you_mean(ending, endings),
        )
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device or pipe: opening it is already using it
    if is_parquet(path):
        require_parquet()
    with suppress(_TrialError), atomic_write(path, force=force):
        raise _TrialError


def require_folder(path: Path) -> None:
    """Raise if the folder for the output does not exist or is a file."""
    if path.is_dir():
        return
    if path.exists():
        raise InputError(f"'{path}' is a file, not a folder", hint="choose a folder with -o.")
    raise InputError(
        f"the folder '{path}' does not exist", hint=f"make it: mkdir -p {shlex.quote(str(path))}"
    )


def is_parquet(path: Path) -> bool:
    """Whether a file's name stands for Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def require_parquet() -> None:
    """Raise, with the install command, if Parquet cannot be written."""
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
    """Write columns as CSV, numbers with all their digits."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def write_json(path: Path, document: Mapping[str, Any], *, force: bool) -> None:
    """Write one JSON document."""
    from clearwood.files import atomic_write

    with atomic_write(path, force=force, text=True) as file:
        file.write(json_text(document))
    written.append(path)
