"""The run store: every finished fit in one SQLite file, so that nothing is fitted twice.

Numbers are stored as plain bytes, everything else as JSON; nothing in the file is ever executed.
"""

import json
import os
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.benchmarking.fitting.work import Context, Outcome, Trial, Unit
from clearwood.benchmarking.tuning.tune import FoldResult
from clearwood.files import Database
from clearwood.resampling import Plan

if TYPE_CHECKING:
    from clearwood.benchmarking.fitting.contenders import Contender
    from clearwood.benchmarking.running.design import Design

__all__ = ["Store", "identity_of"]

FORMAT = 4

#: Seconds between two signs of life of a run, and after which a silent one counts as dead.
_SIGN_EVERY = 2.0
_DEAD_AFTER = 30.0

_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS learners (name TEXT PRIMARY KEY, identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (
    unit TEXT PRIMARY KEY, learner TEXT NOT NULL, losses BLOB, losses_form TEXT,
    predictions BLOB, predictions_form TEXT, reference BLOB, reference_form TEXT,
    settings TEXT NOT NULL, archive TEXT NOT NULL, notes TEXT NOT NULL,
    seconds REAL NOT NULL, fit_seconds REAL NOT NULL, failure TEXT, selected TEXT
);
CREATE TABLE IF NOT EXISTS trials (
    unit TEXT NOT NULL, trial TEXT NOT NULL, losses BLOB, losses_form TEXT,
    seconds REAL NOT NULL, failure TEXT, is_past_best INTEGER NOT NULL, PRIMARY KEY (unit, trial)
);
CREATE TABLE IF NOT EXISTS claims (unit TEXT PRIMARY KEY, owner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS owners (
    owner TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, seen REAL NOT NULL
);
"""


def identity_of(context: Context, design: "Design", plan: Plan) -> dict[str, Any]:
    """Return what determines the numbers of a run, in plain values."""
    tuning = context.tuning
    return {
        "table": [context.table.fingerprint(), context.table.schema.to_json()],
        "group": context.table.group,
        "loss": context.loss.name,
        "plan": {**plan.to_json(), "splits": len(design.splits)},
        "pairs": design.pairs,
        "seed": context.seed,
        "tuning": None
        if tuning is None
        else {**vars(tuning), "time_limit": tuning.time_limit is not None},
        "versions": {name: version(name) for name in ("clearwood", "scikit-learn", "numpy")},
        "learners": {name: one.identity() for name, one in context.contenders.items()},
    }


#: How a store that does not fit a run differs from it, by the key of the identity.
_REASONS = {
    "table": "another table (the values, columns or roles differ)",
    "group": "other groups of rows",
    "loss": "another loss",
    "plan": "another resampling plan",
    "pairs": "another choice of fits for the interval",
    "seed": "another seed",
    "tuning": "another tuning",
    "versions": "other versions",
}


class Store(Database):
    """A file of finished fits.

    Several processes may work on one store at the same time: each claims a fit before it begins
    it, and the claims of a process that has died are void.

    Parameters
    ----------
    path
        The file; created if it does not exist.
    """

    parameter = "store"
    title = "store"
    contents = "benchmarks"
    kept = "finished fits"

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self.owner = uuid.uuid4().hex
        self._contenders: Mapping[str, Contender] = {}

    @contextmanager
    def opened(self, identity: Mapping[str, Any], contenders: Mapping[str, Any]) -> Iterator[Self]:
        """Check that the store belongs to this run, and show signs of life while it is open."""
        self._contenders = contenders
        self._prepare(identity)
        self._forget_dead()
        over = threading.Event()
        self._sign()
        alive = threading.Thread(target=self._keep_signing, args=(over,), daemon=True)
        alive.start()
        try:
            yield self
        finally:
            over.set()
            alive.join()
            self._leave()
            self.close()

    def _prepare(self, identity: Mapping[str, Any]) -> None:
        with self.writing() as base:
            # one statement at a time: executescript would commit before it begins
            for statement in filter(str.strip, _TABLES.split(";")):
                base.execute(statement)
            known = dict(base.execute("SELECT key, value FROM about").fetchall())
            self._check(known, identity)
            about = {key: value for key, value in identity.items() if key != "learners"}
            rows = [("format", str(FORMAT))]
            rows += [(key, json.dumps(value, sort_keys=True)) for key, value in about.items()]
            base.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", rows)
            stored = dict(base.execute("SELECT name, identity FROM learners").fetchall())
            for name, one in identity["learners"].items():
                text = json.dumps(one, sort_keys=True)
                if stored.setdefault(name, text) != text:
                    raise self._refusal(f"{name!r} is another learner there, or has other settings")
            base.executemany("INSERT OR IGNORE INTO learners VALUES (?, ?)", stored.items())

    def _check(self, known: Mapping[str, str], identity: Mapping[str, Any]) -> None:
        if known.get("format", str(FORMAT)) != str(FORMAT):
            raise self._refusal(f"it has format {known['format']}, this version reads {FORMAT}")
        for key, reason in _REASONS.items():
            text = json.dumps(identity[key], sort_keys=True)
            if known.get(key, text) == text:
                continue
            difference = ""
            if key != "table":
                there, here = _spelled(known[key], text)
                difference = f": {there} there, {here} here"
            raise self._refusal(f"it belongs to {reason}{difference}")

    def _refusal(self, reason: str) -> InputError:
        message = f"the store {str(self.path)!r} cannot be used: {reason}"
        return self.error(message, "use another file, or repeat the call that began this one.")

    def outcomes(self, units: Iterable[str] | None = None) -> dict[str, Outcome]:
        """Return the outcomes of units that are finished; of all of them by default."""
        statement = "SELECT * FROM outcomes"
        with self.reading() as base:
            if units is None:
                rows = base.execute(statement).fetchall()
            else:
                one = f"{statement} WHERE unit = ?"
                rows = [row for unit in units for row in base.execute(one, (unit,))]
        return {row["unit"]: self._outcome(row) for row in rows}

    def _outcome(self, row: sqlite3.Row) -> Outcome:
        contender = self._contenders.get(row["learner"])
        return Outcome(
            _array(row["losses"], row["losses_form"]),
            _array(row["predictions"], row["predictions_form"]),
            _settings(json.loads(row["settings"]), contender),
            row["seconds"],
            row["fit_seconds"],
            row["failure"],
            tuple(
                Trial(**{**one, "settings": _settings(one["settings"], contender)})
                for one in json.loads(row["archive"])
            ),
            tuple(json.loads(row["notes"])),
            _array(row["reference"], row["reference_form"]),
            None if row["selected"] is None else tuple(json.loads(row["selected"])),
        )

    def add(self, unit: Unit, outcome: Outcome) -> None:
        """Store a finished unit, and delete its claim and its trials, which the outcome sums up."""
        contender = self._contenders.get(unit.learner)
        archive = [
            {**vars(trial), "settings": _encoded(trial.settings, contender)}
            for trial in outcome.archive
        ]
        row = (
            unit.key,
            unit.learner,
            *_bytes(outcome.losses),
            *_bytes(outcome.predictions),
            *_bytes(outcome.reference),
            json.dumps(_encoded(outcome.settings, contender)),
            json.dumps(archive),
            json.dumps(outcome.notes),
            outcome.seconds,
            outcome.fit_seconds,
            outcome.failure,
            None if outcome.selected is None else json.dumps(outcome.selected),
        )
        with self.writing() as base:
            places = ", ".join("?" * len(row))
            base.execute(f"INSERT OR REPLACE INTO outcomes VALUES ({places})", row)  # noqa: S608 - constants
            base.execute("DELETE FROM trials WHERE unit = ?", (unit.key,))
            base.execute("DELETE FROM claims WHERE unit = ?", (unit.key,))

    def trials(self, unit: str, keys: Sequence[str]) -> dict[str, FoldResult]:
        """Return fits of tuning that an earlier run has finished."""
        finished: dict[str, FoldResult] = {}
        with self.reading() as base:
            for key in keys:
                row = base.execute(
                    "SELECT losses, losses_form, seconds, failure, is_past_best FROM trials "
                    "WHERE unit = ? AND trial = ?",
                    (unit, key),
                ).fetchone()
                if row is not None:
                    losses = _array(row[0], row[1])
                    finished[key] = FoldResult(losses, row[2], row[3], is_past_best=bool(row[4]))
        return finished

    def add_trials(self, unit: str, results: Mapping[str, FoldResult]) -> None:
        """Store fits of tuning as soon as they are done."""
        rows = [
            (unit, key, *_bytes(one.losses), one.seconds, one.failure, one.is_past_best)
            for key, one in results.items()
        ]
        with self.writing() as base:
            base.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def claim(self, unit: str) -> bool:
        """Claim a unit; False if it is done or another living process has it."""
        with self.writing() as base:
            if base.execute("SELECT 1 FROM outcomes WHERE unit = ?", (unit,)).fetchone():
                return False
            row = base.execute(
                "SELECT owner, host, pid, seen FROM claims LEFT JOIN owners USING (owner) "
                "WHERE unit = ?",
                (unit,),
            ).fetchone()
            if row is not None and row[0] != self.owner and _lives(*row[1:]):
                return False
            base.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (unit, self.owner))
        return True

    def count(self) -> int:
        """Return how many finished fits it holds, those of tuning and of parts included."""
        total = 0
        with self.reading() as base:
            for table in ("outcomes", "trials", "parts"):
                there = base.execute(
                    "SELECT 1 FROM sqlite_master WHERE name = ?", (table,)
                ).fetchone()
                if there is not None:
                    total += base.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608 - constants
        return total

    def note(self, key: str, value: Any) -> None:
        """Store a plain value beside the run, such as the command that began it."""
        with self.writing() as base:
            base.execute("CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT)")
            base.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, json.dumps(value)))

    def noted(self, key: str) -> Any:
        """Return a value stored by `note`; None if there is none."""
        with self.reading() as base:
            tables = base.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchone()
            if tables is None:
                return None
            row = base.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _sign(self) -> None:
        with self.writing() as base:
            base.execute(
                "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)",
                (self.owner, socket.gethostname(), os.getpid(), time.time()),
            )

    def _forget_dead(self) -> None:
        """Delete the claims of runs that were killed."""
        with self.writing() as base:
            known = base.execute("SELECT owner, host, pid, seen FROM owners").fetchall()
            dead = [(owner,) for owner, *signs in known if not _lives(*signs)]
            base.executemany("DELETE FROM claims WHERE owner = ?", dead)
            base.executemany("DELETE FROM owners WHERE owner = ?", dead)

    def _keep_signing(self, over: threading.Event) -> None:
        try:
            while not over.wait(_SIGN_EVERY):
                self._sign()
        except InputError:
            # the run itself will fail in the same way and report it
            return
        finally:
            self.close()

    def _leave(self) -> None:
        try:
            with self.writing() as base:
                base.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))
                base.execute("DELETE FROM owners WHERE owner = ?", (self.owner,))
        except InputError:
            return  # the claims of a run that has ended are void anyway


def _spelled(one: str, other: str) -> tuple[str, str]:
    """Write two JSON values in words; of mappings only what differs."""
    first, second = json.loads(one), json.loads(other)
    if isinstance(first, dict) and isinstance(second, dict):
        keys = dict.fromkeys((*first, *second))
        differing = [key for key in keys if first.get(key) != second.get(key)]
        first, second = ({key: each.get(key) for key in differing} for each in (first, second))
    return _in_words(first), _in_words(second)


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "none" if value is None else str(value)


def _lives(host: str | None, pid: int | None, seen: float | None) -> bool:
    """Return whether the process that claimed something is still running."""
    if host is None or pid is None or seen is None or time.time() - seen > _DEAD_AFTER:
        return False
    # on Windows signal 0 is Ctrl-C; there the signs of life have to do
    if host != socket.gethostname() or pid == os.getpid() or os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it is there but not ours
    return True


def _bytes(array: NDArray[Any] | None) -> tuple[bytes | None, str | None]:
    if array is None:
        return None, None
    array = np.ascontiguousarray(array)
    little = array.astype(array.dtype.newbyteorder("<"))
    return little.tobytes(), json.dumps([little.dtype.str, list(little.shape)])


def _array(data: bytes | None, form: str | None) -> NDArray[Any] | None:
    if data is None or form is None:
        return None
    kind, shape = json.loads(form)
    if kind not in ("<f4", "<f8"):
        raise InputError(f"the store holds numbers of the unknown type {kind!r}", parameter="store")
    return np.frombuffer(data, dtype=np.dtype(kind)).reshape(shape).astype(kind[1:])


def _encoded(settings: Mapping[str, Any], contender: "Contender | None") -> dict[str, Any]:
    return dict(settings) if contender is None else contender.encoded(settings)


def _settings(encoded: Mapping[str, Any], contender: "Contender | None") -> dict[str, Any]:
    return dict(encoded) if contender is None else contender.decoded(encoded)
