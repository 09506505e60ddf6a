"""Fitting a learner to a table in parts: encoded rows go to a file, the library reads its bins."""

import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import Draw, InputError, Option, Scan, Setting, Text, words
from clearwood._shared.memory import free_memory
from clearwood._shared.progress import progress
from clearwood.files import atomic_write
from clearwood.models import catalogue
from clearwood.models.entries.entry import Entry, Job
from clearwood.models.entries.stages import MORE, QUICK_RATE, best_stage, checked_rate
from clearwood.models.entries.streams import (
    AfterRound,
    Grown,
    Moments,
    Newton,
    Recipe,
    Scratch,
    Streams,
)
from clearwood.models.over_parts.encoded_rows import Encoding
from clearwood.models.over_parts.sums import fit_by_newton, fit_to_moments
from clearwood.models.separation import warn_of_divergence_in_parts
from clearwood.models.shared.unit import multiply
from clearwood.parallel import cluster
from clearwood.table import Parts, Task

if TYPE_CHECKING:
    from clearwood.models.learners import Learner

__all__ = ["check_streams", "fit_in_parts"]

#: Trees between two writings of a checkpoint.
SLICE = 50
#: Bytes that a library keeps for each row in addition to its bins: target, prediction, gradients.
_ROW_BYTES = 32
_MOST_TREES = 1_000
_PATIENCE = 25


def check_streams(entry: Entry, categories: str | None, settings: Mapping[str, Any]) -> None:
    """Refuse learners and settings that need all rows in memory, and name those that do not."""
    if entry.streams is None:
        able = ", ".join(repr(one.name) for one in catalogue.entries() if one.streams is not None)
        raise InputError(
            f"learner {entry.name!r} needs all rows in memory, but this table is in parts",
            parameter="learner",
            value=entry.name,
            hint=words(
                f"learners that fit in parts: {able}; or fit to a sample of the rows, ",
                Draw(value=200_000),
                ", or to all of them if they fit into memory, ",
                Scan(value=False),
                ".",
            ),
        )
    streams = entry.streams
    known = streams.settings if isinstance(streams, Moments | Newton) else {}
    for name, values in known.items():
        if settings[name] not in values:
            raise InputError(
                words(Setting(name, settings[name]), " needs all rows in memory"),
                parameter=name,
                value=settings[name],
                hint=_or_fit_to_sample("setting"),
            )
    if categories == "target":
        raise InputError(
            words(Option("categories", "target"), " needs all rows in memory"),
            parameter="categories",
            value=categories,
            hint=_or_fit_to_sample("option"),
        )


def _or_fit_to_sample(what: str) -> Text:
    return words(
        f"this table is read in parts: leave the {what} out, or fit to a sample of the rows, ",
        Draw(),
        ".",
    )


def fit_in_parts(
    learner: "Learner",
    parts: Parts,
    task: Task,
    job: Job,
    checkpoint: Path | None,
    *,
    distributed: bool | None,
) -> tuple[Any, Job]:
    """Fit the estimator of a learner whose encoder is learned, and return it with its job."""
    entry, encoder = learner.entry, learner.encoder_
    classes = getattr(learner, "classes_", None)
    streams, stages = entry.streams, entry.stages
    assert streams is not None
    if distributed and cluster() is None:
        raise InputError(
            words(Option("distributed", value=True), " needs a Dask cluster"),
            parameter="distributed",
            value=distributed,
            hint="connect to one with distributed.Client(ADDRESS), and call fit inside "
            "joblib.parallel_config('dask').",
        )
    encoding = Encoding(encoder, classes, parts, job.seed)
    encoding = encoding.with_unit(task, entry.build(entry.resolved(job)), n_jobs=job.n_jobs)
    if isinstance(streams, Moments | Newton):
        _refuse_checkpoint(checkpoint, entry)
        if isinstance(streams, Moments):
            return fit_to_moments(entry, job, encoding), job
        return fit_by_newton(entry, job, encoding, warn=warn_of_divergence_in_parts), job
    assert stages is not None
    with _rows(encoding, streams, distributed=distributed) as rows:
        job = entry.resolved(
            replace(
                job,
                n_rows=parts.n_rows,
                zeros=0.0 if task.is_classification else rows.n_zeros / parts.n_rows,
            )
        )
        estimator = _shell(entry, job, task, len(classes) if classes is not None else 0)
        recipe = streams.recipe(estimator, job)
        kept = _Checkpoint(checkpoint, learner, parts)
        if learner.all_settings[stages.setting] is None:
            number = kept.trees or _best_trees(recipe, job, rows, stages.setting)
            job = replace(job, settings={**job.settings, stages.setting: number})
        rounds = int(job.settings[stages.setting])
        kept.trees = rounds
        estimator.set_params(**{stages.setting: rounds})
        with progress(f"growing trees on {parts.n_rows:,} rows", total=rounds) as step:
            shown = 0 if kept.grown is None else kept.grown.rounds
            step(shown, note=rows.note)

            def after_round(done: int, written: Any) -> None:
                nonlocal shown
                step(max(0, done - shown), note=rows.note)
                shown = max(shown, done)
                if done % SLICE == 0 and done < rounds:
                    kept.save(done, written)

            booster = rows.fit(recipe, rounds, grown=kept.grown, after_round=after_round)
        kept.remove()
    # what a model file keeps too: the library's model in the place of the estimator's own
    estimator._Booster = booster  # noqa: SLF001
    multiply(estimator, encoding.unit.target)
    return estimator, job


def _refuse_checkpoint(checkpoint: Path | None, entry: Entry) -> None:
    if checkpoint is not None:
        raise InputError(
            words(Option("checkpoint"), f" keeps trees, and learner {entry.name!r} has none"),
            parameter="checkpoint",
            value=str(checkpoint),
            hint="leave it out: this fit reads all rows a few times, and that is all.",
        )


class RowsToFit(Protocol):
    """Encoded rows, here or on the workers of a cluster, to which trees are grown."""

    n_zeros: int

    @property
    def can_choose(self) -> bool:
        """Whether both held-out and other rows have targets that differ."""

    @property
    def note(self) -> str:
        """Workers and what happened to them, for the display of progress."""

    def held_out_losses(self, recipe: Recipe, rounds: int, patience: int) -> Floats:
        """Return the loss on held-out rows after each round of a fit to the others."""

    def fit(
        self, recipe: Recipe, rounds: int, *, grown: Grown | None, after_round: AfterRound
    ) -> Any:
        """Return the library's model of all rows."""


@contextmanager
def _rows(encoding: Encoding, streams: Streams, *, distributed: bool | None) -> Iterator[RowsToFit]:
    """Encode all rows, here or on the workers of the cluster."""
    from clearwood.models.over_parts.on_cluster import rows_on_cluster

    client = cluster()
    if client is not None and (distributed or (distributed is None and not _bins_fit(encoding))):
        with rows_on_cluster(client, encoding, streams, every=SLICE) as there:
            yield there
        return
    with _encoded(encoding) as scratch:
        yield _RowsHere(encoding, streams, scratch)


def _bins_fit(encoding: Encoding) -> bool:
    """Whether this machine has room for the bins, at two bytes a value, and for each row's sums."""
    free = free_memory()
    needed = encoding.parts.n_rows * (2 * encoding.n_columns + _ROW_BYTES)
    return free is None or needed <= free / 2


class _RowsHere:
    """Encoded rows in a file of this machine."""

    note = ""

    def __init__(self, encoding: Encoding, streams: Streams, scratch: Scratch) -> None:
        self._encoding, self._streams, self._scratch = encoding, streams, scratch
        self.n_zeros = int(np.count_nonzero(scratch.y == 0))

    @cached_property
    def _held_out(self) -> Bools:
        return self._encoding.held_out()

    @property
    def can_choose(self) -> bool:
        y = self._scratch.y
        sides = (y[self._held_out], y[~self._held_out])
        return all(len(side) and side.min() < side.max() for side in sides)

    def held_out_losses(self, recipe: Recipe, rounds: int, patience: int) -> Floats:
        return self._streams.held_out_losses(
            recipe, self._scratch, self._held_out, rounds, patience=patience
        )

    def fit(
        self, recipe: Recipe, rounds: int, *, grown: Grown | None, after_round: AfterRound
    ) -> Any:
        return self._streams.fit(
            recipe, self._scratch, rounds, grown=grown, after_round=after_round
        )


def _shell(entry: Entry, job: Job, task: Task, n_classes: int) -> Any:
    """Return an estimator of the right classes and columns, fitted to next to nothing."""
    assert entry.stages is not None
    quick = replace(job, settings={**job.settings, entry.stages.setting: 1})
    y = np.arange(n_classes) if task.is_classification else np.array([1.0, 2.0])
    options = dict(entry.fit_options(quick)) if entry.fit_options else {}
    return entry.build(quick).fit(np.zeros((len(y), job.n_columns)), y, **options)


def _best_trees(recipe: Recipe, job: Job, rows: RowsToFit, setting: str) -> int:
    """Choose the number of trees on one row in ten, held out by hash; groups stay together."""
    rate = checked_rate(job.settings["learning_rate"])
    if not rows.can_choose:
        return int(job.settings[setting])
    quick_rate = max(rate, QUICK_RATE)
    quick = replace(recipe, params={**recipe.params, "learning_rate": quick_rate})
    with progress("choosing the number of trees"):
        losses = rows.held_out_losses(quick, _MOST_TREES, _PATIENCE)
    return math.ceil(MORE * best_stage(losses) * quick_rate / rate)


@contextmanager
def _encoded(encoding: Encoding) -> Iterator[Scratch]:
    """Write the encoded rows to a file, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        path = Path(folder) / "rows"
        parts = encoding.parts
        with progress("encoding rows", total=parts.n_rows) as step:
            y, weight = encoding.write(path, parts, after_batch=step)
        with path.open("rb", buffering=0) as file:
            yield Scratch((file,), encoding.n_columns, y, weight)


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
                hint="name another file, or remove this one to start again.",
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
