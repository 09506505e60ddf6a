"""SQLite files that several processes may write to, with errors that name the file."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import duration

__all__ = ["Database"]

#: Seconds to wait for another process to finish writing.
_PATIENCE = 60.0


class Database:
    """A SQLite file; a connection belongs to one thread of one process.

    Subclasses say what it is called in messages.

    Parameters
    ----------
    path
        The file; created if it does not exist.
    """

    #: The option that names the file, what messages call it, what it is a file of, what it keeps.
    parameter: ClassVar[str]
    title: ClassVar[str]
    contents: ClassVar[str]
    kept: ClassVar[str]

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._local = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()

    def close(self) -> None:
        """Close this thread's connection."""
        held = getattr(self._local, "held", None)
        if held is not None and held[0] == os.getpid():
            held[1].close()
        self._local.held = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open the file for reading."""
        with self._explained():
            yield self._connection()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, which is undone if the block raises."""
        with self._explained():
            base = self._connection()
            base.execute("BEGIN IMMEDIATE")
            try:
                yield base
                base.execute("COMMIT")
            except BaseException:
                if base.in_transaction:
                    base.execute("ROLLBACK")
                raise

    def error(self, message: str, hint: str) -> InputError:
        """Make an error about the file."""
        return InputError(message, parameter=self.parameter, value=str(self.path), hint=hint)

    def _check_place(self) -> None:
        if not self.path.parent.is_dir():
            message = f"the folder {str(self.path.parent)!r} does not exist"
            raise self.error(message, f"create it first: mkdir -p {self.path.parent}")
        if self.path.is_dir():
            raise self.error(f"{str(self.path)!r} is a folder", f"a {self.title} is a file.")

    def _connection(self) -> sqlite3.Connection:
        held = getattr(self._local, "held", None)
        if held is None or held[0] != os.getpid():
            self._check_place()
            base = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            base.row_factory = sqlite3.Row
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            held = self._local.held = (os.getpid(), base)
        connection: sqlite3.Connection = held[1]
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ones that name the file and suggest a fix."""
        try:
            yield
        except sqlite3.Error as error:
            # the low byte is the kind of error; errors raised by Python itself have no code
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
            file = f"the {self.title} {str(self.path)!r}"
            if kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                message = f"cannot write {file}: {error}"
                hint = f"free some space and repeat the call; {self.kept} are kept."
            elif kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                message = f"{file} has been locked by another run for {duration(_PATIENCE)}"
                hint = "wait for it, or use another file for this run."
            # our statements are correct, so an error in one means that the tables are not ours
            elif kind in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
                message = f"{file} is not a {self.title} of {self.contents}: {error}"
                hint = "use another file."
            else:
                message = f"cannot use {file}: {error}"
                hint = "use a file in a folder you may write to."
            raise self.error(message, hint) from error
