"""The run store: every finished fit in one SQLite file, so that nothing is fitted twice.

Numbers are kept as plain bytes, everything else as JSON; nothing in the file is ever run.
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
from clearwood.benchmarking.running.work import Context, Outcome, Trial

if TYPE_CHECKING:
    from clearwood.benchmarking.running.contenders import Contender
    from clearwood.benchmarking.running.design import Design
    from clearwood.benchmarking.tuning.tune import Result

__all__ = ["Store", "identity_of"]

FORMAT = 1

#: Seconds between two signs of life of a run, and after which a silent one counts as dead.
_SIGN_EVERY = 2.0
_DEAD_AFTER = 30.0

#: Seconds to wait for another process to finish writing.
_PATIENCE = 60.0

_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS learners (name TEXT PRIMARY KEY, identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (
    unit TEXT PRIMARY KEY, losses BLOB, losses_form TEXT, predictions BLOB, predictions_form TEXT,
    settings TEXT NOT NULL, archive TEXT NOT NULL, notes TEXT NOT NULL,
    seconds REAL NOT NULL, fit_seconds REAL NOT NULL, failure TEXT
);
CREATE TABLE IF NOT EXISTS trials (
    unit TEXT NOT NULL, trial TEXT NOT NULL, losses BLOB, losses_form TEXT,
    seconds REAL NOT NULL, failure TEXT, PRIMARY KEY (unit, trial)
);
CREATE TABLE IF NOT EXISTS claims (unit TEXT PRIMARY KEY, owner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS owners (
    owner TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, seen REAL NOT NULL
);
"""


def identity_of(context: Context, design: "Design", plan: str) -> dict[str, Any]:
    """What decides the numbers of a run, apart from the learners, in plain values."""
    tuning = context.tuning
    return {
        "table": context.table.fingerprint(),
        "loss": context.loss.name,
        "plan": f"{plan}, {len(design.splits)} splits",
        "pairs": design.pairs,
        "seed": context.seed,
        "tuning": None
        if tuning is None
        else {
            "search": tuning.search,
            "trials": tuning.trials,
            "inner": tuning.inner,
            "rule": tuning.rule,
            "racing": tuning.racing,
            "budget": tuning.seconds is not None,
        },
        "versions": {name: version(name) for name in ("clearwood", "scikit-learn", "numpy")},
        "learners": {name: one.identity() for name, one in context.contenders.items()},
    }


#: What differs, and what to say of it.
_REASONS = {
    "table": "another table (the values, columns or roles differ)",
    "loss": "another loss",
    "plan": "another resampling plan",
    "pairs": "another choice of fits for the interval",
    "seed": "another seed",
    "tuning": "another tuning",
    "versions": "other versions",
}


class Store:
    """A file of finished fits.

    Several processes may work on one store at a time: each claims a unit before it begins it, and
    the claims of a process that has died are void.

    Parameters
    ----------
    path
        The file; made when it does not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.owner = uuid.uuid4().hex
        self._contenders: Mapping[str, Contender] = {}
        self._local = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "owner": self.owner, "_contenders": self._contenders}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._local = threading.local()

    @contextmanager
    def opened(self, identity: Mapping[str, Any], contenders: Mapping[str, Any]) -> Iterator[Self]:
        """Check that the store is of this run, and show signs of life while it is open."""
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

    def _check_place(self) -> None:
        if not self.path.parent.is_dir():
            raise InputError(
                f"the folder {str(self.path.parent)!r} does not exist",
                hint=f"make it first: mkdir -p {self.path.parent}",
            )
        if self.path.is_dir():
            raise InputError(f"{str(self.path)!r} is a folder", hint="give the name of a file.")

    def _prepare(self, identity: Mapping[str, Any]) -> None:
        with self._write() as base:
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
                    raise self._refusal(
                        f"{name!r} was another learner there, or had other settings"
                    )
            base.executemany("INSERT OR IGNORE INTO learners VALUES (?, ?)", stored.items())

    def _check(self, known: Mapping[str, str], identity: Mapping[str, Any]) -> None:
        if known.get("format", str(FORMAT)) != str(FORMAT):
            raise self._refusal(f"it has format {known['format']}, this version reads {FORMAT}")
        for key, reason in _REASONS.items():
            text = json.dumps(identity[key], sort_keys=True)
            if known.get(key, text) == text:
                continue
            said = reason
            if key != "table":
                there, here = _spelled(known[key], text)
                said += f": {there} there, {here} here"
            raise self._refusal(f"it is of {said}")

    def _refusal(self, reason: str) -> InputError:
        return InputError(
            f"the store {str(self.path)!r} cannot be used: {reason}",
            hint="give each benchmark a store of its own, or make the call that began this one.",
        )

    def outcomes(self, units: Iterable[str] | None = None) -> dict[str, Outcome]:
        """What is known of units, of all of them when none is named."""
        columns = (
            "unit, losses, losses_form, predictions, predictions_form, settings, archive, notes, "
            "seconds, fit_seconds, failure"
        )
        with self._read() as base:
            if units is None:
                rows = base.execute(f"SELECT {columns} FROM outcomes").fetchall()  # noqa: S608 - constants
            else:
                rows = [
                    row
                    for unit in units
                    for row in base.execute(
                        f"SELECT {columns} FROM outcomes WHERE unit = ?",  # noqa: S608 - constants
                        (unit,),
                    )
                ]
        return {row[0]: self._outcome(*row) for row in rows}

    def _outcome(
        self,
        unit: str,
        losses: bytes | None,
        losses_form: str | None,
        predictions: bytes | None,
        predictions_form: str | None,
        settings: str,
        archive: str,
        notes: str,
        seconds: float,
        fit_seconds: float,
        failure: str | None,
    ) -> Outcome:
        contender = self._contenders.get(unit.rsplit("/", 3)[0])
        return Outcome(
            _array(losses, losses_form),
            _array(predictions, predictions_form),
            _settings(json.loads(settings), contender),
            seconds,
            fit_seconds,
            failure,
            tuple(_trial(one, contender) for one in json.loads(archive)),
            tuple(json.loads(notes)),
        )

    def add(self, unit: str, outcome: Outcome) -> None:
        """Keep a finished unit; its trials, now summed up in it, and its claim go."""
        contender = self._contenders.get(unit.rsplit("/", 3)[0])
        archive = [
            {**vars(trial), "settings": _encoded(trial.settings, contender)}
            for trial in outcome.archive
        ]
        row = (
            unit,
            *_bytes(outcome.losses),
            *_bytes(outcome.predictions),
            json.dumps(_encoded(outcome.settings, contender)),
            json.dumps(archive),
            json.dumps(outcome.notes),
            outcome.seconds,
            outcome.fit_seconds,
            outcome.failure,
        )
        with self._write() as base:
            places = ", ".join("?" * len(row))
            base.execute(f"INSERT OR REPLACE INTO outcomes VALUES ({places})", row)  # noqa: S608 - constants
            base.execute("DELETE FROM trials WHERE unit = ?", (unit,))
            base.execute("DELETE FROM claims WHERE unit = ?", (unit,))

    def trials(self, unit: str, keys: Sequence[str]) -> "dict[str, Result]":
        """Fits of tuning that an earlier run has finished."""
        from clearwood.benchmarking.tuning.tune import Result

        found: dict[str, Result] = {}
        with self._read() as base:
            for key in keys:
                row = base.execute(
                    "SELECT losses, losses_form, seconds, failure FROM trials "
                    "WHERE unit = ? AND trial = ?",
                    (unit, key),
                ).fetchone()
                if row is not None:
                    found[key] = Result(_array(row[0], row[1]), row[2], row[3])
        return found

    def add_trials(self, unit: str, results: "Mapping[str, Result]") -> None:
        """Keep fits of tuning as soon as they are done."""
        rows = [
            (unit, key, *_bytes(result.losses), result.seconds, result.failure)
            for key, result in results.items()
        ]
        with self._write() as base:
            base.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?)", rows)

    def claim(self, unit: str) -> bool:
        """Take a unit on; False where it is done or another living process has it."""
        with self._write() as base:
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
        """How many finished fits it holds, those of tuning included."""
        total = 0
        with self._read() as base:
            for table in ("outcomes", "trials"):
                there = base.execute(
                    "SELECT 1 FROM sqlite_master WHERE name = ?", (table,)
                ).fetchone()
                if there is not None:
                    total += base.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]  # noqa: S608 - constants
        return total

    def note(self, key: str, value: Any) -> None:
        """Keep a plain value beside the run, such as the command that began it."""
        with self._write() as base:
            base.execute("CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT)")
            base.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, json.dumps(value)))

    def noted(self, key: str) -> Any:
        """A value kept by `note`; None where there is none."""
        with self._read() as base:
            tables = base.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchone()
            if tables is None:
                return None
            row = base.execute("SELECT value FROM notes WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _sign(self) -> None:
        with self._write() as base:
            base.execute(
                "INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)",
                (self.owner, socket.gethostname(), os.getpid(), time.time()),
            )

    def _forget_dead(self) -> None:
        """Take out what runs that were killed have left behind."""
        with self._write() as base:
            known = base.execute("SELECT owner, host, pid, seen FROM owners").fetchall()
            dead = [(owner,) for owner, *signs in known if not _lives(*signs)]
            base.executemany("DELETE FROM claims WHERE owner = ?", dead)
            base.executemany("DELETE FROM owners WHERE owner = ?", dead)

    def _keep_signing(self, over: threading.Event) -> None:
        try:
            while not over.wait(_SIGN_EVERY):
                self._sign()
        except InputError:
            # the run itself will meet the same trouble and tell of it
            return
        finally:
            self.close()

    def _leave(self) -> None:
        try:
            with self._write() as base:
                base.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))
                base.execute("DELETE FROM owners WHERE owner = ?", (self.owner,))
        except InputError:
            return  # nobody minds: the claims of a run that has ended are void anyway

    def _connection(self) -> sqlite3.Connection:
        # a connection belongs to one thread of one process
        held = getattr(self._local, "held", None)
        if held is None or held[0] != os.getpid():
            self._check_place()
            base = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            held = self._local.held = (os.getpid(), base)
        connection: sqlite3.Connection = held[1]
        return connection

    def close(self) -> None:
        """Close this thread's connection."""
        held = getattr(self._local, "held", None)
        if held is not None and held[0] == os.getpid():
            held[1].close()
        self._local.held = None

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._explained():
            yield self._connection()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
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

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ones that name the file and say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            where = f"the store {str(self.path)!r}"
            # the low byte is the kind of error; errors raised by Python itself have no code
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
            if kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise InputError(
                    f"cannot write {where}: {error}",
                    hint="make room and make the same call again; what was finished is kept.",
                ) from error
            if kind in (sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_BUSY):
                raise InputError(
                    f"{where} has been held by another run for {_PATIENCE:g} seconds",
                    hint="wait for it, or give this run a store of its own.",
                ) from error
            # our statements are right, so an error in one means that the tables are not ours
            if kind in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
                raise InputError(
                    f"{where} is no store of benchmarks: {error}", hint="choose another file."
                ) from error
            raise InputError(
                f"cannot use {where}: {error}", hint="choose a file in a folder you may write to."
            ) from error


def _spelled(one: str, other: str) -> tuple[str, str]:
    """Two values in JSON, in words; of mappings what they differ in."""
    first, second = json.loads(one), json.loads(other)
    if isinstance(first, dict) and isinstance(second, dict):
        differing = [key for key in first if first[key] != second.get(key)]
        first, second = ({key: each.get(key) for key in differing} for each in (first, second))
    return _in_words(first), _in_words(second)


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "none" if value is None else str(value)


def _lives(host: str | None, pid: int | None, seen: float | None) -> bool:
    """Whether the process that claimed something is still at work."""
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
        raise InputError(f"the store holds numbers of the unknown kind {kind!r}")
    return np.frombuffer(data, dtype=np.dtype(kind)).reshape(shape).astype(kind[1:])


def _encoded(settings: Mapping[str, Any], contender: "Contender | None") -> dict[str, Any]:
    return dict(settings) if contender is None else contender.encoded(settings)


def _settings(encoded: Mapping[str, Any], contender: "Contender | None") -> dict[str, Any]:
    return dict(encoded) if contender is None else contender.decoded(encoded)


def _trial(values: Mapping[str, Any], contender: "Contender | None") -> Trial:
    return Trial(**{**values, "settings": _settings(values["settings"], contender)})
