"""Outputs that appear under their name only when they are complete."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, overload

from clearwood._shared.errors import InputError, Option, words

__all__ = ["atomic_write", "removing_unfinished"]

# A file that is not complete.
_HIDDEN = ".clearwood-{}.part"

# What a write can fail with while the caller's own code runs; anything else raised there is the
# caller's, and passes unchanged.
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@overload
def atomic_write(
    path: str | os.PathLike[str], *, force: bool = ..., text: Literal[False] = ...
) -> contextlib.AbstractContextManager[IO[bytes]]: ...
@overload
def atomic_write(
    path: str | os.PathLike[str], *, force: bool = ..., text: Literal[True]
) -> contextlib.AbstractContextManager[IO[str]]: ...
def atomic_write(
    path: str | os.PathLike[str], *, force: bool = False, text: bool = False
) -> contextlib.AbstractContextManager[IO[Any]]:
    r"""Open a file for writing that takes its name when the block ends without an error.

    Until then the bytes go to a hidden file in the same folder. A process that is killed, a full
    disk or an error in the block leave what was there before; only a kill can leave the hidden
    file, whose name ends in ``.part``.

    Parameters
    ----------
    path
        Where the file will be. A device or a pipe (``/dev/stdout``) is written to directly.
    force
        Replace a file that is there.
    text
        Give a file for text, UTF-8 with line ends as written.

    Raises
    ------
    InputError
        Where the path exists and ``force`` is not set, its folder does not exist, or it cannot be
        written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "predictions.csv", text=True) as file:
    ...     _ = file.write("row,prediction\n")
    >>> [file.name for file in folder.iterdir()]
    ['predictions.csv']
    >>> with atomic_write(folder / "predictions.csv", text=True) as file:
    ...     pass
    Traceback (most recent call last):
    ...
    clearwood.InputError: ... exists already. Hint: choose another name, or replace it ...
    """
    return _atomic_write(Path(path), force=force, text=text)


@contextlib.contextmanager
def removing_unfinished(folder: Path) -> Iterator[None]:
    """Remove hidden files that processes which were killed during the block leave in a folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with removing_unfinished(folder):
    ...     (folder / ".clearwood-0123456789abcdef.part").touch()
    >>> list(folder.iterdir())
    []
    """
    before = set(folder.glob(_HIDDEN.format("*")))
    try:
        yield
    finally:
        for file in set(folder.glob(_HIDDEN.format("*"))) - before:
            with contextlib.suppress(OSError):
                file.unlink()


@contextlib.contextmanager
def _atomic_write(path: Path, *, force: bool, text: bool) -> Iterator[IO[Any]]:
    with _explained(path):
        existing = _check(path, force=force)
    if existing is not None and not stat.S_ISREG(existing.st_mode):
        with _explained(path, only=_DISK), _open(path, text=text) as file:
            yield file
        return

    # A link is followed, so that the file it names is replaced and the link stays.
    final = Path(os.path.realpath(path))
    temporary = final.with_name(_HIDDEN.format(secrets.token_hex(8)))
    try:
        with _explained(path):
            # O_EXCL: never through a file or link that someone else put there; 0o666 is cut down
            # by the umask, as for any file a program makes.
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with _explained(path, only=_DISK), _open(handle, text=text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _explained(path):
            if existing is not None:
                temporary.chmod(stat.S_IMODE(existing.st_mode))
            _take_name(temporary, final, path, force=force)
    finally:
        temporary.unlink(missing_ok=True)


def _check(path: Path, *, force: bool) -> os.stat_result | None:
    """Refuse what cannot be written before any work is done; give what is there now."""
    try:
        existing = path.stat()
    except FileNotFoundError:
        parent = path.parent
        if not parent.is_dir():
            raise InputError(
                f"the folder {str(parent)!r} does not exist",
                parameter="path",
                value=str(path),
                hint=f"create it first: mkdir -p {parent}",
            ) from None
        return None
    if stat.S_ISDIR(existing.st_mode):
        raise InputError(
            f"{str(path)!r} is a folder",
            parameter="path",
            value=str(path),
            hint="name a file in it.",
        )
    if stat.S_ISREG(existing.st_mode) and not force:
        raise _exists(path)
    return existing


def _exists(path: Path) -> InputError:
    return InputError(
        f"{str(path)!r} exists already",
        parameter="path",
        value=str(path),
        hint=words("choose another name, or replace it with ", Option("force", value=True), "."),
    )


def _open(where: Path | int, *, text: bool) -> IO[Any]:
    if text:
        return open(where, "w", encoding="utf-8", newline="")  # noqa: PTH123 - also descriptors
    return open(where, "wb")  # noqa: PTH123 - as above


def _take_name(temporary: Path, final: Path, path: Path, *, force: bool) -> None:
    if force:
        temporary.replace(final)
    else:
        # A link fails where the name is taken, a rename would silently win the race.
        try:
            os.link(temporary, final)
        except FileExistsError:
            raise _exists(path) from None
        except OSError:  # a file system without hard links
            temporary.replace(final)
    _sync_folder(final.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _explained(path: Path, *, only: set[int] | None = None) -> Iterator[None]:
    """Turn the system's errors into ones that name the path and what to do."""
    try:
        yield
    except OSError as error:
        if only is not None and error.errno not in only:
            raise
        raise InputError(
            f"cannot write {str(path)!r}: {_reason(error)}",
            parameter="path",
            value=str(path),
            hint=_hint(error),
        ) from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _hint(error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "free some space or write to another disk; what was there before is unchanged."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return "you have no permission to write there; choose another folder."
    return "choose another place; what was there before is unchanged."
