"""Files on this machine and in object stores, by path or address."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearwood._shared.errors import InputError, MissingExtraError

__all__ = [
    "File",
    "as_address",
    "before_pattern",
    "filesystem_of",
    "is_address",
    "is_pattern",
    "list_files",
    "on_this_machine",
    "opened",
    "shown_address",
    "unreadable",
]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_LOST_SLASH = re.compile(r"^([a-z][a-z0-9+.-]+):/(?!/)", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[]")
#: Options of a file system after an address, and who reads it before the place: Arrow's spelling.
_OPTIONS = re.compile(r"\?\w+=[^/]*$")
_READER = re.compile(r"(?<=://)[^/@]*@")


@dataclass(frozen=True)
class File:
    """A file as it was when it was listed.

    Parameters
    ----------
    path
        Where it is: a path, or an address such as s3://bucket/table.parquet.
    size, changed
        Its bytes, and when it was changed, in seconds; 0 where that is not known.
    """

    path: str
    size: int
    changed: float

    @property
    def name(self) -> str:
        """What messages call it."""
        return shown_address(self.path).rsplit("/", maxsplit=1)[-1]


def is_address(path: str) -> bool:
    """Whether a text is an address and no path.

    Examples
    --------
    >>> is_address("s3://bucket/table.parquet"), is_address("C:/table.csv")
    (True, False)
    """
    return _ADDRESS.match(path) is not None


def is_pattern(path: str) -> bool:
    """Whether a text has signs that stand for several files.

    Examples
    --------
    >>> is_pattern("s3://rows/part-?.csv"), is_pattern("s3://rows/a.csv?region=eu-west-1")
    (True, False)
    """
    return _PATTERN.search(shown_address(path)) is not None


def shown_address(path: str) -> str:
    """Return an address without keys and options of its file system; a path as it is.

    Examples
    --------
    >>> shown_address("gs://anonymous@rows/a.csv?endpoint_override=localhost:9099")
    'gs://rows/a.csv'
    """
    return _READER.sub("", _OPTIONS.sub("", path)) if is_address(path) else path


def _like(address: str, place: str) -> str:
    """Return the address of another place in the file system of an address."""
    scheme, reader, options = (
        address.split("://", maxsplit=1)[0],
        _READER.search(address),
        _OPTIONS.search(address),
    )
    ends = ("" if found is None else found[0] for found in (reader, options))
    return f"{scheme}://{next(ends)}{place.lstrip('/')}{next(ends)}"


def as_address(path: str) -> str:
    """Return an address as it is written; a path object takes one of its slashes away.

    Examples
    --------
    >>> as_address("s3:/bucket/table.parquet"), as_address("folder/table.csv")
    ('s3://bucket/table.parquet', 'folder/table.csv')
    """
    return _LOST_SLASH.sub(r"\1://", path)


def unreadable(path: str, message: str, hint: str | None = None) -> InputError:
    """Return the error for a file or folder that cannot be read."""
    return InputError(message, parameter="source", value=shown_address(path), hint=hint)


def _filesystem(address: str) -> tuple[Any, str]:
    """Return pyarrow's file system for an address, and the path in it."""
    scheme, shown = address.split("://", maxsplit=1)[0], shown_address(address)
    if scheme in {"http", "https", "ftp"}:  # which list no files, and are read again for each pass
        raise unreadable(address, f"{shown} is not a file on this machine", "download it first.")
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingExtraError("reading addresses", extra="arrow") from None
    try:
        return fs.FileSystem.from_uri(address)  # type: ignore[no-any-return]
    except (OSError, ValueError, NotImplementedError) as error:
        reason = _first_line(error)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise unreadable(
            address,
            f"{shown} cannot be read: {reason}",
            f"addresses of {scheme}:// may need fsspec: pip install fsspec.",
        ) from None
    try:
        files, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise unreadable(
            address,
            f"{shown} cannot be read: {_first_line(error)}",
            "copy the files to this machine, or install what the message names.",
        ) from error
    return fs.PyFileSystem(fs.FSSpecHandler(files)), path


def _first_line(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0]


def list_files(source: str) -> tuple[list[File], bool]:
    """Return the files that a path, a pattern or an address stands for, and if it is a folder.

    Files whose names begin with a dot or an underscore are not listed.
    """
    try:
        return _list_remote(source) if is_address(source) else _list_local(source)
    except PermissionError as error:
        where = error.filename or source
        raise unreadable(
            str(where), f"you do not have permission to read {where}", "check its permissions."
        ) from error
    except OSError as error:
        hint = "check the address, the network and your keys." if is_address(source) else None
        message = f"{shown_address(source)} cannot be read: {_first_line(error)}"
        raise unreadable(source, message, hint) from error


def _list_local(source: str) -> tuple[list[File], bool]:
    path = Path(source).expanduser()
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if not _is_hidden(p.relative_to(path).as_posix()))
        # a folder that may not be read would look empty
        next(path.iterdir(), None)
        return [_local(p) for p in found if p.is_file()], True
    if path.exists() or not _PATTERN.search(source):
        return [_local(path)], False
    root = Path(path.anchor) if path.is_absolute() else Path()
    pattern = str(path.relative_to(path.anchor)) if path.is_absolute() else str(path)
    found = sorted(
        p for p in root.glob(pattern) if p.is_file() and not p.name.startswith((".", "_"))
    )
    if not found:
        raise unreadable(source, f"no file matches {source}", "check the pattern and the folder.")
    return [_local(p) for p in found], True


def _local(path: Path) -> File:
    if not path.exists():
        return File(str(path), 0, 0.0)  # its reader names it, with the nearest names
    stat = path.stat()
    return File(str(path), stat.st_size, stat.st_mtime)


def _is_hidden(relative: str) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in relative.split("/"))


def _list_remote(source: str) -> tuple[list[File], bool]:
    from pyarrow import fs

    place = shown_address(source).split("://", maxsplit=1)[1]
    sign = _PATTERN.search(place)
    start = place if sign is None else place[: sign.start()].rsplit("/", maxsplit=1)[0]
    files, path = _filesystem(_like(source, start))
    info = files.get_file_info(path)
    if info.type == fs.FileType.File:
        return [_remote(source, info)], False
    if info.type == fs.FileType.NotFound:
        raise unreadable(
            source, f"there is nothing at {shown_address(source)}", "check the address."
        )
    found = files.get_file_info(fs.FileSelector(path, recursive=True))
    listed = [
        _remote(source, one)
        for one in sorted(found, key=lambda one: str(one.path))
        if one.type == fs.FileType.File and not _is_hidden(one.path.removeprefix(path).strip("/"))
    ]
    if sign is not None:
        whole = re.compile(_as_expression(place.strip("/")))
        paths = (shown_address(one.path).split("://", maxsplit=1)[1].strip("/") for one in listed)
        listed = [one for one, p in zip(listed, paths, strict=True) if whole.fullmatch(p)]
    if not listed:
        message = f"no file matches {shown_address(source)}"
        raise unreadable(source, message, "check the address.")
    return listed, True


def _as_expression(pattern: str) -> str:
    """Return a pattern of file names as a regular expression; a star does not cross a folder."""
    signs = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*|\*|\?|\[[^\]]*\])", pattern)
    return "".join(
        signs.get(p, p if p.startswith("[") and p.endswith("]") else re.escape(p)) for p in pieces
    )


def _remote(source: str, info: Any) -> File:
    changed = info.mtime_ns / 1e9 if info.mtime_ns else 0.0
    return File(_like(source, str(info.path)), int(info.size or 0), changed)


def before_pattern(path: str) -> str:
    """Return the folder that a path, a pattern or an address begins with.

    Examples
    --------
    >>> before_pattern("rows/year=*/a.csv"), before_pattern("s3://me@rows/2024/")
    ('rows', 's3://rows/2024')
    """
    place = shown_address(path)
    sign = _PATTERN.search(place)
    return (place if sign is None else place[: sign.start()].rpartition("/")[0]).rstrip("/")


def filesystem_of(file: File) -> tuple[Any, str]:
    """Return pyarrow's file system of a file, and its path in it."""
    from pyarrow import fs

    return _filesystem(file.path) if is_address(file.path) else (fs.LocalFileSystem(), file.path)


@contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a file for Arrow, wherever it is."""
    if not is_address(path):
        yield path
        return
    files, inside = _filesystem(path)
    with files.open_input_file(inside) as file:
        yield file


@contextmanager
def on_this_machine(path: str) -> Iterator[Path]:
    """Give the path of a file, copied to this machine for a while if it is elsewhere."""
    if not is_address(path):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        copy = Path(folder) / shown_address(path).rsplit("/", maxsplit=1)[-1]
        files, inside = _filesystem(path)
        with files.open_input_stream(inside, compression=None) as file, copy.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
        yield copy
