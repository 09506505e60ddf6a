"""Tables in files: which reader for which file extension."""

import difflib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from clearwood._shared.errors import Call, InputError, MissingExtraError, Text, words
from clearwood._shared.messages import tell
from clearwood.table.duck import connect, fetch, literal_path
from clearwood.table.raw import Raw
from clearwood.table.sources.csv import TextFile, read_csv

__all__ = ["check_exists", "read_file"]

_TEXT = (".csv", ".tsv", ".txt", ".tab", ".psv", ".dat")
_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow", ".ipc")
_JSON = (".jsonl", ".ndjson", ".json")
_SHEETS = (".xlsx", ".xls", ".ods")
_MODEL = ".cw"
_TABLE_FIRST = "pass a table; commands that take both take the model first."
#: An address on the network, as a path writes it.
_ADDRESS = re.compile(r"[a-z][a-z0-9+]+:/", re.IGNORECASE)


def read_file(path: Path, options: TextFile) -> list[Raw]:
    """Read the columns of a file, by its extension or, if they contradict it, its first bytes."""
    path = path.expanduser()
    check_exists(path)
    ending = path.suffix.lower()
    if ending == ".gz":
        ending = Path(path.stem).suffix.lower()
    elif (
        ending not in (*_SHEETS, _MODEL)
        and (content := _content(path)) is not None
        and ending not in content.endings
    ):
        if content.endings[0] not in (*_PARQUET, *_FEATHER, *_JSON):
            raise _unreadable(path, f"{path.name} is {content.name}, not a table", content.hint)
        tell(f"{path.name} is {content.name}, whatever its name says, and is read as that")
        ending = content.endings[0]
    if ending in _TEXT or not ending:
        if ending in (".tsv", ".tab") and options.delimiter is None:
            options = replace(options, delimiter="\t")
        return read_csv(path, options)
    if path.stat().st_size == 0:
        raise _unreadable(path, f"{path.name} is empty")
    if ending in _PARQUET:
        return _read_with_duckdb(path, "read_parquet(?)", "Parquet")
    if ending in _JSON:
        return _read_with_duckdb(
            path,
            "read_json(?, sample_size = -1)",
            "JSON lines",
            hint='each line holds one row, such as {"age": 31, "town": "Lund"}.',
        )
    if ending in _FEATHER:
        return _read_feather(path)
    if ending == _MODEL:
        raise _unreadable(path, f"{path.name} is a model file, not a table", _TABLE_FIRST)
    if ending in _SHEETS:
        message = f"{path.name} is a workbook, which Clearwood does not read"
        raise _unreadable(path, message, _SAVE_AS_CSV)
    raise _unreadable(
        path,
        f"{path.name} has an unknown file extension",
        f"known: {', '.join((*_TEXT, *_PARQUET, *_FEATHER, *_JSON))}.",
    )


@dataclass(frozen=True)
class _Content:
    """What a file holds, by its first bytes, and the extensions that go with it."""

    name: str
    endings: tuple[str, ...]
    hint: Text | None = None


_SAVE_AS_CSV = words(
    "save the sheet as CSV; with pandas: ", Call("read", ("pandas.read_excel(...)",)), "."
)
_GZIP = _Content(
    "compressed by gzip", (".gz",), "add .gz to its name, such as table.csv.gz, or unpack it."
)
_WORKBOOK = _Content("an Excel or LibreOffice workbook", _SHEETS, _SAVE_AS_CSV)
_FIRST_BYTES = {
    b"PAR1": _Content("a Parquet file", _PARQUET),
    b"ARROW1": _Content("a Feather file", _FEATHER),
    b"\xd0\xcf\x11\xe0": _WORKBOOK,
    b"\x1f\x8b": _GZIP,
    b"PK\x03\x04": _Content("a zip archive", (".zip",), "unpack it first."),
    b"%PDF-": _Content("a PDF document", (".pdf",)),
    b"SQLite format 3\0": _Content("an SQLite database", (".db",), "export the table as CSV."),
}


def _content(path: Path) -> _Content | None:
    """Recognise files that are not text, and JSON; None for all others."""
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(b"PK\x03\x04") and b"manifest.json" in head[:64]:
        return _Content("a model file", (_MODEL,), _TABLE_FIRST)
    if head.startswith(b"PK\x03\x04") and re.search(rb"\[Content_Types]|mimetype|xl/", head):
        return _WORKBOOK
    if re.match(rb"(\xef\xbb\xbf)?\s*(\{\s*\"|\[\s*\{)", head):
        return _Content("JSON", _JSON)
    if re.match(rb"\s*<(!doctype html|html)", head, re.IGNORECASE):
        return _Content("an HTML page", (".html", ".htm"), "download the table itself.")
    return next((kind for first, kind in _FIRST_BYTES.items() if head.startswith(first)), None)


def check_exists(path: Path) -> None:
    """Refuse a path that is not a file that can be read, and offer the nearest names."""
    if path.is_dir():
        raise _unreadable(path, f"{path} is a folder, not a file", hint="name a file in it.")
    if path.exists():
        if not path.is_file():
            raise _unreadable(
                path, f"{path} is a pipe or a device", hint="save it to a file first."
            )
        if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
            raise _unreadable(
                path, f"you do not have permission to read {path}", hint="check its permissions."
            )
        return
    if _ADDRESS.match(str(path)):
        raise _unreadable(path, f"{path} is not a file on this machine", hint="download it first.")
    if not path.parent.is_dir():
        raise _unreadable(path, f"there is no file {path}: the folder {path.parent} does not exist")
    names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    near = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "check the spelling."
    raise _unreadable(path, f"there is no file {path}", hint=hint)


def _unreadable(path: Path, message: str, hint: Text | None = None) -> InputError:
    return InputError(message, parameter="source", value=str(path), hint=hint)


def _read_with_duckdb(path: Path, scan: str, name: str, *, hint: str | None = None) -> list[Raw]:
    import duckdb

    with connect() as connection:
        try:
            connection.execute(f"CREATE TABLE data AS FROM {scan}", [literal_path(path)])
        except duckdb.Error as error:
            reason = str(error).split("\n", maxsplit=1)[0].split("Error: ", maxsplit=1)[-1]
            message = f"{path.name} cannot be read as {name}: {reason}"
            raise _unreadable(path, message, hint=hint) from error
        columns = fetch(connection, "data")
    if not columns or not len(columns[0].values):
        raise _unreadable(path, f"{path.name} has no rows", hint="is it the right file?")
    return columns


def _read_feather(path: Path) -> list[Raw]:
    from clearwood.table.sources.frames import from_frame

    for reader in (_feather_by_pyarrow, _feather_by_polars):
        try:
            frame = reader(path)
        except ImportError:
            continue
        except Exception as error:  # every library has its own class for a broken file
            raise _unreadable(path, f"{path.name} cannot be read as Feather: {error}") from error
        return from_frame(frame)
    raise MissingExtraError("reading Feather files", extra="arrow")


def _feather_by_pyarrow(path: Path) -> object:
    import pyarrow.feather

    frame: object = pyarrow.feather.read_table(path)
    return frame


def _feather_by_polars(path: Path) -> object:
    import polars as pl

    return pl.read_ipc(path)
