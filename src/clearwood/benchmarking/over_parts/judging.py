"""Judging fitted learners on the held-out rows of a table in parts; losses stay on disk."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.weights import checked_weights
from clearwood.benchmarking.fitting.work import Context, collected, in_words, judge
from clearwood.benchmarking.over_parts.fitting import codes_of
from clearwood.benchmarking.over_parts.risks import Block, HeldOutRisks, by_group, risks_of
from clearwood.losses import Loss
from clearwood.parallel import Ledger, Run, State, over
from clearwood.resampling import HeldOutRows, PartsSplit
from clearwood.table import Role, Table

__all__ = ["Judging", "LossFile", "digest_of"]

#: What losses, weights and models read.
_READ = (
    Role.FEATURE,
    Role.PROTECTED,
    Role.TARGET,
    Role.WEIGHT,
    Role.EXPOSURE,
)


class LossFile(Ledger):
    """A file of the losses of held-out rows, part by part, and of finished learners."""

    parameter = "store"
    title = "store"
    contents = "benchmarks"
    kept = "finished learners"


@dataclass(frozen=True, eq=False)
class Judging:
    """Judges learners on the rows that a split holds out.

    Parameters
    ----------
    split
        The rows.
    context
        Loss and classes.
    file
        Where losses are kept.
    identity
        What they depend on beside the learner, in plain values.
    n_jobs
        Processes.
    """

    split: PartsSplit
    context: Context
    file: LossFile
    identity: Mapping[str, Any]
    n_jobs: int | None
    runs: dict[str, Run] = field(default_factory=dict)
    _known: dict[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    def judge(
        self, name: str, model: Any, about: Mapping[str, Any]
    ) -> tuple[str | None, list[str]]:
        """Write the losses of a learner; return why it failed, if it did, and what it warned of.

        ``about`` is what its losses depend on, the fitted model included.
        """
        parts = self.split.test
        names = tuple(one for one in parts.names if parts.role(one) in _READ)
        run = over(
            parts.parts,
            _Losses(model, self.context.loss, self.context.classes, names),
            _told,
            title=f"judging {name}",
            identity=self._page_of(about),
            ledger=self.file,
            n_jobs=self.n_jobs,
        )
        assert run.state is not None
        failure, notes = run.state.values["failure"], run.state.values["notes"]
        self.known(name, about, replace(run, state=None))
        return failure, list(notes)

    def known(self, name: str, about: Mapping[str, Any], run: Run | None = None) -> None:
        """Remember where the losses of a learner are."""
        self._known[name] = about
        if run is not None:
            self.runs[name] = run

    def _page_of(self, about: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.identity, **about, "work": "losses"}

    def n_without_weight(self) -> int:
        """Count the rows of weight zero, of all rows."""
        return int(self._rows().state.values["zeros"]) if self._is_weighted else 0

    @property
    def _is_weighted(self) -> bool:
        roles = self.split.test.roles.values()
        return Role.WEIGHT in roles or Role.EXPOSURE in roles

    def _rows(self) -> Any:
        """Read weights and groups of the rows, once; parts that the file has are not read."""
        parts = self.split.test
        beside = [n for n in parts.names if parts.role(n) in (Role.WEIGHT, Role.EXPOSURE)]
        names = tuple(dict.fromkeys([*self.split.held_out.columns, *beside]))
        work = _Weights(self.split.held_out, names)
        return over(
            parts.parts,
            work,
            _zeros,
            title="weights and groups",
            identity={**self.identity, "work": "weights and groups"},
            ledger=self.file,
            n_jobs=self.n_jobs,
        )

    def risks(self, names: Sequence[str]) -> HeldOutRisks:
        """Average the losses of learners that were judged."""
        is_grouped = bool(self.split.held_out.tied)
        has_rows = is_grouped or self._is_weighted
        if has_rows:
            self._rows()
        blocks = _Blocks(self, tuple(names), has_rows=has_rows)
        if not is_grouped:
            return risks_of(blocks.plain, names, is_grouped=False)
        whole = by_group(blocks.read(), names)
        return risks_of(lambda: [whole], names, is_grouped=True)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Reads losses from the file, part by part."""

    judging: Judging
    names: tuple[str, ...]
    has_rows: bool

    def read(self) -> Iterator[tuple[NDArray[np.uint64], Block]]:
        """Read the groups of held-out rows, and their losses with weights."""
        judging = self.judging
        identity = judging.identity
        pages = {
            name: judging.file.page(judging._page_of(judging._known[name]))  # noqa: SLF001
            for name in self.names
        }
        rows = (
            judging.file.page({**identity, "work": "weights and groups"}) if self.has_rows else None
        )
        try:
            for k, part in enumerate(judging.split.test.parts):
                losses = {name: page.state(k).arrays["losses"] for name, page in pages.items()}
                n_rows = len(next(iter(losses.values()))) if losses else part.n_rows
                beside = {} if rows is None else rows.state(k).arrays
                weights = beside.get("weights", np.ones(n_rows))
                units = beside.get("units", np.empty(0, np.uint64))
                yield units, Block({name: one * weights for name, one in losses.items()}, weights)
        finally:
            judging.file.close()

    def plain(self) -> Iterator[Block]:
        """Read the losses, where rows are the units."""
        return (block for _, block in self.read())


def digest_of(losses: NDArray[Any], predictions: NDArray[Any]) -> str:
    """Return what tells a fitted model from another: its predictions, to the bit."""
    return hashlib.sha256(losses.tobytes() + predictions.tobytes()).hexdigest()


# In a worker


@dataclass(frozen=True, eq=False)
class _Losses:
    """Predicts the rows of a part and returns their losses."""

    model: Any
    loss: Loss
    classes: NDArray[Any] | None
    columns: tuple[str, ...]

    def __call__(self, part: Any) -> State:
        losses = [np.empty(0)]
        with collected() as notes:
            for batch in part.batches(columns=self.columns):
                try:
                    losses.append(self._judged(batch))
                except Exception as error:  # the learner's, which another try would not change
                    return State({"failure": in_words(error), "notes": []}, {"losses": losses[0]})
        return State({"failure": None, "notes": notes}, {"losses": np.concatenate(losses)})

    def _judged(self, batch: Table) -> NDArray[np.float64]:
        codes = codes_of(batch, self.classes)
        return judge(self.model, batch, codes, self.loss, self.classes)[0]


def _told(one: State, other: State) -> State:
    notes = list(dict.fromkeys([*one.values["notes"], *other.values["notes"]]))
    return State({"failure": one.values["failure"] or other.values["failure"], "notes": notes})


@dataclass(frozen=True, eq=False)
class _Weights:
    """Reads the weights and the groups of the rows of a part that are held out."""

    held_out: HeldOutRows
    columns: tuple[str, ...]

    def __call__(self, part: Any) -> State:
        weights, units = [np.empty(0)], [np.empty(0, np.uint64)]
        zeros, first, is_weighted = 0, part.first, False
        for batch in replace(part, only=None).batches(columns=self.columns):
            used = self.held_out(batch, first)
            first += batch.n_rows
            if batch.weights is not None:
                is_weighted = True
                zeros += int(np.count_nonzero(batch.weights == 0))
                checked = checked_weights(batch.weights, batch.n_rows, may_be_zero=True)
                weights.append(checked[used])
            if self.held_out.tied:
                units.append(self.held_out.units(batch)[used])
        arrays: dict[str, NDArray[Any]] = {}
        if is_weighted:
            arrays["weights"] = np.concatenate(weights)
        if self.held_out.tied:
            arrays["units"] = np.concatenate(units)
        return State({"zeros": zeros}, arrays)


def _zeros(one: State, other: State) -> State:
    return State({"zeros": one.values["zeros"] + other.values["zeros"]})
