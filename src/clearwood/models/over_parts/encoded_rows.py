"""Rows of a table in parts as a learner's matrix, written to a file."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import Draw, InputError, words
from clearwood._shared.numbers import size
from clearwood.models.shared.unit import TargetUnit, unit_of_means
from clearwood.parallel import State, over
from clearwood.table import Column, Encoder, Kind, Part, Parts, Role, Task, row_hashes

__all__ = ["Encoding", "drawn_rows"]

#: One row in so many is held out where the number of trees is chosen.
_SHARE = 10


@dataclass(frozen=True, eq=False)
class Encoding:
    """How rows become numbers for a learner.

    Parameters
    ----------
    encoder
        Learned from all rows.
    classes
        The classes of the target, in the order of their codes; None for numbers.
    parts
        All rows.
    seed
        Decides which rows are held out where the number of trees is chosen.
    unit
        What targets and weights are divided by.
    """

    encoder: Encoder
    classes: NDArray[Any] | None
    parts: Parts
    seed: int
    unit: TargetUnit = field(default_factory=TargetUnit)

    @property
    def n_columns(self) -> int:
        """Numbers in an encoded row."""
        return len(self.encoder.columns_)

    def write(
        self,
        path: Path,
        rows: Part | Parts,
        *,
        after_batch: Callable[[int], None] = lambda _: None,
        see: Callable[[int, Floats], None] = lambda _, __: None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """Write some rows to a file, and return their targets, and weights where they have them.

        Parameters
        ----------
        path
            The file.
        rows
            One part, or all.
        after_batch
            Called with the number of rows that were written.
        see
            Called with the number of rows written before, and the next.
        """
        needed = rows.n_rows * self.n_columns * 8
        if shutil.disk_usage(path.parent).free < needed:
            raise _no_room(path.parent, needed)
        y = np.empty(rows.n_rows, np.float32)
        weight: NDArray[np.float32] | None = None
        start = 0
        with path.open("wb") as file:
            for block, target, share in self.batches(rows):
                here = slice(start, start + len(block))
                y[here] = target
                if share is not None:
                    weight = np.empty(len(y), np.float32) if weight is None else weight
                    weight[here] = share
                _write(file, block, needed)
                see(start, block)
                start = here.stop
                after_batch(len(block))
        return y[:start], None if weight is None else weight[:start]

    def batches(self, rows: Part | Parts) -> Iterator[tuple[Floats, NDArray[Any], Floats | None]]:
        """Encode rows batch by batch, with their targets (codes of classes) and weights.

        Rows of weight 0 are left out.
        """
        classes = self.classes
        names = list(dict.fromkeys([*self.encoder.used_, *self.role_columns]))
        for read in rows.batches(columns=names):
            batch = read.without_zero_weights()
            if not batch.n_rows:
                continue
            if classes is None:
                target = self.unit.targets(batch.y)
            else:
                target = np.searchsorted(classes, batch.y)
            yield self.encoder.transform(batch), target, self.unit.weights(batch.weights)

    def with_unit(self, task: Task, estimator: Any, *, n_jobs: int = 1) -> "Encoding":
        """Return the encoding in the unit of a fit, which is found by reading the targets once."""
        if task.is_classification or (self.parts.exposure is None and task is not Task.AMOUNT):
            return self
        work = _Totals(self.without_rows())
        run = over(self.parts.parts, work, _added, title="adding up targets", n_jobs=n_jobs)
        assert run.state is not None
        rows, weight, target = run.state.arrays["totals"]
        if not weight > 0:
            return self
        each = None if self.parts.exposure is None else float(weight / rows)
        unit = unit_of_means(task, estimator, each, float(target / weight))
        return replace(self, unit=unit)

    def without_rows(self) -> "Encoding":
        """Return the encoding without the rows, to be sent to the processes that have them."""
        return replace(self, parts=replace(self.parts, parts=()))

    @property
    def role_columns(self) -> list[str]:
        """The columns of the target, the weight and the exposure."""
        used = (Role.TARGET, Role.WEIGHT, Role.EXPOSURE)
        return [name for name, role in self.parts.roles.items() if role in used]

    def held_out(self, part: Part | None = None, start: int = 0) -> Bools:
        """Return which rows are held out: those of a part, the first of which has a number, or all.

        Rows of one group are held out together; those of weight 0 are left out, as in `batches`.
        """
        rows: Part | Parts = self.parts if part is None else part
        group = self.parts.group
        identical = self.parts.keeps_identical
        tied = list(self.parts.features) if identical else [group] if group else []
        if tied:
            parts = [
                row_hashes(batch.columns, seed=self.seed) % np.uint64(_SHARE) == 0
                for batch in rows.batches(columns=tied)
            ]
            held = np.concatenate([np.zeros(0, bool), *parts])
        else:
            held = drawn_rows(start, rows.n_rows, self.seed, _SHARE)
        if Role.WEIGHT not in self.parts.roles.values():
            return held
        weights = [batch.weights for batch in rows.batches(columns=self.role_columns)]
        return held[np.concatenate([np.zeros(0), *weights]) > 0]


@dataclass(frozen=True, eq=False)
class _Totals:
    """Adds up the weights of one part without and with exposures, and its weighted targets."""

    encoding: Encoding

    def __call__(self, part: Part) -> State:
        totals = np.zeros(3)
        for batch in part.batches(columns=self.encoding.role_columns):
            weight = np.ones(batch.n_rows) if batch.weights is None else batch.weights
            times = weight if batch.exposures is None else weight / batch.exposures
            totals += times.sum(), weight.sum(), weight @ batch.y
        return State({}, {"totals": totals})


def _added(one: State, other: State) -> State:
    return State({}, {"totals": one.arrays["totals"] + other.arrays["totals"]})


def drawn_rows(start: int, n_rows: int, seed: int, one_in: int) -> Bools:
    """Draw one row in so many, by the numbers of the rows, whatever part they are in."""
    numbers = np.arange(start, start + n_rows, dtype=np.float64)
    hashes = row_hashes([Column("row", Kind.NUMBER, numbers)], seed=seed)
    return np.asarray(hashes % np.uint64(one_in) == 0)


def _write(file: Any, block: Floats, needed: int) -> None:
    try:
        file.write(np.ascontiguousarray(block).data)
    except OSError as error:
        raise _no_room(Path(file.name).parent, needed) from error


def _no_room(folder: Path, needed: int) -> InputError:
    return InputError(
        f"the encoded rows take {size(needed)}, and the disk of {folder.parent} has less",
        parameter="data",
        value=needed,
        hint=words(
            "set the environment variable TMPDIR to a folder on a larger disk, or fit to a sample "
            "of the rows, ",
            Draw(),
            ".",
        ),
    )
