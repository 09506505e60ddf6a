"""Fitting a learner to a table in parts: encoded rows go to a file, the library reads its bins."""

import json
import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import size
from clearwood._shared.progress import progress
from clearwood.files import atomic_write
from clearwood.models import catalogue
from clearwood.models.entry import Entry, Job
from clearwood.models.estimators.stages import MORE, QUICK_RATE, best_stage, checked_rate
from clearwood.models.estimators.streams import Grown, Scratch
from clearwood.table import (
    Column,
    Encoder,
    Kind,
    Parts,
    Role,
    Table,
    Task,
    calendar_features,
    row_hashes,
)

if TYPE_CHECKING:
    from clearwood.models.learners import Learner

__all__ = ["check_streams", "fit_in_parts", "learn_encoder"]

#: Trees between two writings of a checkpoint.
SLICE = 50
#: One row in so many is held out where the number of trees is chosen.
_SHARE = 10
_MOST_TREES = 1_000
_PATIENCE = 25


def check_streams(entry: Entry, categories: str | None) -> None:
    """Refuse learners that need all rows in memory, and name those that do not."""
    if entry.streams is None:
        able = ", ".join(repr(one.name) for one in catalogue.entries() if one.streams is not None)
        raise InputError(
            f"learner {entry.name!r} needs all rows in memory, but this table is read in parts",
            parameter="learner",
            value=entry.name,
            hint=words(
                f"learners that fit in parts: {able}; or fit to a sample of the rows, "
                "data.sample(200_000), or to all of them if they fit into memory, data.to_table()."
            ),
        )
    if categories == "target":
        raise InputError(
            words(Option("categories", "target"), " needs all rows in memory"),
            parameter="categories",
            value=categories,
            hint="this table is read in parts: leave the option out, or fit to data.sample(...).",
        )


def learn_encoder(encoder: Encoder, parts: Parts) -> Encoder:
    """Learn an encoding that takes missing values as they are, from all rows.

    What such an encoding depends on is which levels occur, whether values are missing and which
    parts of dates vary. Few rows that show all of it teach the encoder the same as all rows.
    """
    return encoder.fit(_telling_rows(parts).select(parts.features))


def _telling_rows(parts: Parts) -> Table:
    names = [
        column.name
        for column in parts.empty.columns
        if column.name in parts.features and (column.is_coded or column.kind is Kind.DATE)
    ]
    weights = [n for n, r in parts.roles.items() if r in (Role.WEIGHT, Role.EXPOSURE)]
    told: dict[str, NDArray[Any]] = {name: parts.empty.column(name).values for name in names}
    if names:
        for batch in parts.batches(columns=[*names, *weights]):
            rows = slice(None) if batch.weights is None else batch.weights > 0
            for name in names:
                told[name] = _telling(batch.column(name).values[rows], told[name])
    n_rows = max([1, *map(len, told.values())])
    columns = tuple(
        _padded(column, told.get(column.name), n_rows) for column in parts.empty.columns
    )
    return replace(parts.empty, columns=columns)


def _telling(values: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
    """Return values that tell as much as all: each code, and dates at the ends of each feature."""
    if values.dtype.kind != "M":
        # counting beats sorting where codes are few
        return np.union1d(before, np.flatnonzero(np.bincount(values + 1)) - 1).astype(np.int32)
    dates = np.concatenate([before, values])
    known = dates[~np.isnat(dates)]
    if not len(known):
        return dates[:1]
    ends = [
        place for part in calendar_features(known) for place in (np.argmin(part), np.argmax(part))
    ]
    gap = dates[np.isnat(dates)][:1]
    return np.concatenate([np.unique(known[ends]), gap])


def _padded(column: Column, told: NDArray[Any] | None, n_rows: int) -> Column:
    if told is None or not len(told):
        fill = {"f": 0.0, "i": -1, "M": np.datetime64("NaT"), "O": None}[column.values.dtype.kind]
        return replace(column, values=np.full(n_rows, fill, column.values.dtype))
    return replace(column, values=np.resize(told, n_rows))


def fit_in_parts(
    learner: "Learner", parts: Parts, task: Task, job: Job, checkpoint: Path | None
) -> tuple[Any, Job]:
    """Fit the estimator of a learner whose encoder is learned, and return it with its job."""
    entry, encoder = learner.entry, learner.encoder_
    classes = getattr(learner, "classes_", None)
    assert entry.streams is not None
    with _encoded(parts, encoder, classes) as scratch:
        zeros = 0.0 if task.is_classification else float(np.mean(scratch.y == 0))
        job = entry.resolved(replace(job, n_rows=len(scratch), zeros=zeros))
        estimator = _shell(entry, job, task, len(classes) if classes is not None else 0)
        kept = _Checkpoint(checkpoint, learner, parts)
        stages = entry.stages
        assert stages is not None
        if learner.all_settings[stages.setting] is None:
            number = kept.trees or _best_trees(entry, estimator, job, scratch, parts)
            job = replace(job, settings={**job.settings, stages.setting: number})
        rounds = int(job.settings[stages.setting])
        kept.trees = rounds
        estimator.set_params(**{stages.setting: rounds})
        with progress(f"growing trees on {len(scratch):,} rows", total=rounds) as step:
            grown = kept.grown
            step(0 if grown is None else grown.rounds)

            def after_round(number: int, written: Any) -> None:
                done = (0 if grown is None else grown.rounds) + number
                step(1)
                if done % SLICE == 0 and done < rounds:
                    kept.save(done, written)

            booster = entry.streams.fit(
                estimator, job, scratch, rounds, grown=grown, after_round=after_round
            )
        kept.remove()
    # what a model file keeps too: the library's model in the place of the estimator's own
    estimator._Booster = booster  # noqa: SLF001
    return estimator, job


def _shell(entry: Entry, job: Job, task: Task, n_classes: int) -> Any:
    """Return an estimator of the right classes and columns, fitted to next to nothing."""
    assert entry.stages is not None
    quick = replace(job, settings={**job.settings, entry.stages.setting: 1})
    y = np.arange(n_classes) if task.is_classification else np.array([1.0, 2.0])
    options = dict(entry.fit_options(quick)) if entry.fit_options else {}
    return entry.build(quick).fit(np.zeros((len(y), job.n_columns)), y, **options)


def _best_trees(entry: Entry, estimator: Any, job: Job, scratch: Scratch, parts: Parts) -> int:
    """Choose the number of trees on one row in ten, held out by hash; groups stay together."""
    assert entry.stages is not None
    assert entry.streams is not None
    rate = checked_rate(job.settings["learning_rate"])
    held_out = _held_out(parts, job.seed)
    fallback = int(job.settings[entry.stages.setting])
    for rows in (held_out, ~held_out):
        if not rows.any() or len(np.unique(scratch.y[rows])) < 2:
            return fallback
    quick_rate = max(rate, QUICK_RATE)
    quick = replace(job, settings={**job.settings, "learning_rate": quick_rate})
    with progress("choosing the number of trees"):
        losses = entry.streams.held_out_losses(
            estimator, quick, scratch, held_out, _MOST_TREES, _PATIENCE
        )
    return math.ceil(MORE * best_stage(losses) * quick_rate / rate)


def _held_out(parts: Parts, seed: int) -> Bools:
    group = parts.group
    tied = list(parts.features) if parts.keeps_identical else [group] if group else []
    if not tied:
        number = Column("row", Kind.NUMBER, np.arange(parts.n_rows, dtype=np.float64))
        return _is_drawn([number], seed)
    held = [_is_drawn(batch.columns, seed) for batch in parts.batches(columns=tied)]
    return np.concatenate(held)


def _is_drawn(columns: Sequence[Column], seed: int) -> Bools:
    return np.asarray(row_hashes(columns, seed=seed) % np.uint64(_SHARE) == 0)


@contextmanager
def _encoded(parts: Parts, encoder: Encoder, classes: NDArray[Any] | None) -> Iterator[Scratch]:
    """Write the encoded rows to a file, which is gone afterwards."""
    n_columns = len(encoder.columns_)
    needed = parts.n_rows * n_columns * 8
    y = np.empty(parts.n_rows, np.float32)
    weight: NDArray[np.float32] | None = None
    names = list(dict.fromkeys([*encoder.used_, *_beside(parts)]))
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        _check_disk(Path(folder), needed)
        path = Path(folder) / "rows"
        start = 0
        with (
            path.open("wb") as file,
            progress("encoding rows", total=parts.n_rows) as step,
        ):
            for batch in parts.batches(columns=names):
                rows = slice(start, start + batch.n_rows)
                y[rows] = batch.y if classes is None else np.searchsorted(classes, batch.y)
                if batch.weights is not None:
                    weight = np.empty(len(y), np.float32) if weight is None else weight
                    weight[rows] = batch.weights
                _write(file, encoder.transform(batch), needed)
                start = rows.stop
                step(batch.n_rows)
        with path.open("rb", buffering=0) as rows_file:
            yield Scratch(rows_file, n_columns, y, weight)


def _beside(parts: Parts) -> list[str]:
    used = (Role.TARGET, Role.WEIGHT, Role.EXPOSURE)
    return [name for name, role in parts.roles.items() if role in used]


def _write(file: Any, block: Floats, needed: int) -> None:
    try:
        file.write(np.ascontiguousarray(block).data)
    except OSError as error:
        raise _no_room(Path(file.name).parent, needed) from error


def _check_disk(folder: Path, needed: int) -> None:
    if shutil.disk_usage(folder).free < needed:
        raise _no_room(folder, needed)


def _no_room(folder: Path, needed: int) -> InputError:
    return InputError(
        f"the encoded rows take {size(needed)}, and the disk of {folder.parent} has less",
        parameter="data",
        value=needed,
        hint="set the environment variable TMPDIR to a folder on a larger disk, or fit to "
        "data.sample(...).",
    )


class _Checkpoint:
    """Trees grown so far, in a file, so that a fit that was interrupted goes on."""

    def __init__(self, path: Path | None, learner: "Learner", parts: Parts) -> None:
        self.path = path
        self.grown: Grown | None = None
        self.trees = 0
        settings = {
            k: v for k, v in learner.get_params().items() if k not in ("n_jobs", "settings")
        }
        self._identity = json.dumps([settings, parts.fingerprint()], default=str, sort_keys=True)
        if path is not None and path.exists():
            self._load(path)

    def _load(self, path: Path) -> None:
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            identity, rounds, trees, model = (
                held[key] for key in ("identity", "rounds", "trees", "model")
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} is not a checkpoint of a fit",
                parameter="checkpoint",
                value=str(path),
                hint="name another file, or remove this one.",
            ) from error
        if identity != self._identity:
            raise InputError(
                f"{path} is the checkpoint of another fit: the settings or the files differ",
                parameter="checkpoint",
                value=str(path),
                hint="name another file, or remove this one to begin anew.",
            )
        self.grown, self.trees = Grown(int(rounds), str(model)), int(trees)

    def save(self, rounds: int, written: Any) -> None:
        """Write the trees so far; what was there is replaced only by a whole file."""
        if self.path is None:
            return
        held = {
            "identity": self._identity,
            "rounds": rounds,
            "trees": self.trees,
            "model": written(),
        }
        with atomic_write(self.path, force=True) as file:
            file.write(json.dumps(held).encode("utf-8"))

    def remove(self) -> None:
        """Forget the checkpoint of a fit that is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
