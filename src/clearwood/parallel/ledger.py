"""The ledger: every finished part in one SQLite file, so that no part is worked on twice.

Numbers are stored as plain arrays, everything else as JSON; nothing in the file is ever executed.
Only the process that gives out the work writes to it, so workers need not see the file.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import NDArray

from clearwood.files import Database, from_array, from_json, to_array, to_json

__all__ = ["Ledger", "Page", "State"]

FORMAT = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS ledger (format INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS stages (stage TEXT PRIMARY KEY, about BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS parts (
    stage TEXT NOT NULL, part INTEGER NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL,
    seconds REAL NOT NULL, PRIMARY KEY (stage, part)
);
CREATE TABLE IF NOT EXISTS arrays (
    stage TEXT NOT NULL, part INTEGER NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (stage, part, name)
);
"""


@dataclass(frozen=True, eq=False)
class State:
    """The result of work on some rows.

    Parameters
    ----------
    values
        JSON values.
    arrays
        Arrays of numbers.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class Ledger(Database):
    """A file of finished parts, of any number of stages.

    A stage is one kind of work over one set of parts; what determines its numbers (model, parts,
    settings, versions) is its identity. Work of another identity is kept beside it.

    Parameters
    ----------
    path
        The file; created if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> page = Ledger(Path(tempfile.mkdtemp()) / "run.ledger").page({"work": "counting"})
    >>> page.add(3, "part-3.parquet", State({"rows": 10}), seconds=0.1)
    >>> page.finished, page.state(3).values
    ({3}, {'rows': 10})
    """

    parameter = "ledger"
    title = "ledger"
    contents = "parts"
    kept = "finished parts"

    def page(self, identity: Mapping[str, Any]) -> "Page":
        """Open the page of a stage."""
        about = from_json(identity)
        stage = hashlib.sha256(about).hexdigest()
        with self.writing() as base:
            held = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            names = {row["name"] for row in held}
            if names and "ledger" not in names:
                message = f"{str(self.path)!r} is a database, but not a ledger"
                raise self.error(message, "use another file.")
            for statement in filter(str.strip, _TABLES.split(";")):
                base.execute(statement)
            known = base.execute("SELECT format FROM ledger").fetchone()
            if known is None:
                base.execute("INSERT INTO ledger VALUES (?)", (FORMAT,))
            elif known["format"] != FORMAT:
                message = (
                    f"the ledger {str(self.path)!r} has format {known['format']}, this version "
                    f"reads {FORMAT}"
                )
                raise self.error(message, "use another file.")
            base.execute("INSERT OR IGNORE INTO stages VALUES (?, ?)", (stage, about))
            rows = base.execute("SELECT part FROM parts WHERE stage = ?", (stage,)).fetchall()
        return Page(self, stage, {row["part"] for row in rows})


@dataclass(frozen=True, eq=False)
class Page:
    """The finished parts of one stage, by their positions."""

    ledger: Ledger
    stage: str
    finished: set[int]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.ledger.close()

    def add(self, part: int, name: str, state: State, *, seconds: float) -> None:
        """Record a finished part."""
        arrays = [(self.stage, part, key, from_array(array)) for key, array in state.arrays.items()]
        row = (self.stage, part, name, from_json(dict(state.values)), seconds)
        with self.ledger.writing() as base:
            base.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", row)
            base.executemany("INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?)", arrays)
        self.finished.add(part)

    def state(self, part: int) -> State:
        """Return what a finished part gave."""
        with self.ledger.reading() as base:
            row = base.execute(
                "SELECT content FROM parts WHERE stage = ? AND part = ?", (self.stage, part)
            ).fetchone()
            arrays = base.execute(
                "SELECT name, content FROM arrays WHERE stage = ? AND part = ?",
                (self.stage, part),
            ).fetchall()
        return State(
            to_json(row["content"], member="the ledger"),
            {each["name"]: to_array(each["content"], member="the ledger") for each in arrays},
        )
