"""A background whose rows stay where they are: counted and measured part by part.

A pass over the parts reads every row once, in batches, and keeps what adds up: counts of a game, or
sums of components and of their squares. Counts of unweighted rows of trees are whole numbers, so
any number of parts and workers gives the same bits; other sums agree within rounding.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import joblib
import numpy as np

from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import size
from clearwood._shared.weights import checked_weights
from clearwood.explanation.games.game import (
    BoundGame,
    Counts,
    Game,
    Players,
)
from clearwood.explanation.games.moments import ComponentMoments, ComponentSums, sums_of
from clearwood.explanation.games.spread import BoundSpread, GameSpread
from clearwood.explanation.games.sums import SumGame
from clearwood.explanation.games.trees import BoundTrees, TreeGame
from clearwood.explanation.rows.rows import EncodedRows, no_background
from clearwood.kernels import Background, Trees
from clearwood.parallel import Run, State, Written, over, write_parts
from clearwood.table import Parts, Role, Table

__all__ = ["SAMPLE", "InParts"]

#: Rows that are drawn for whatever needs rows in memory: grids, distances, pictures.
SAMPLE = 200_000

# What rows that are kept, of trees whose paths are too long to count, may take.
_MOST_KEPT = 2 << 30

_READ = (Role.FEATURE, Role.PROTECTED, Role.WEIGHT, Role.EXPOSURE)


@dataclass(frozen=True, eq=False)
class InParts:
    """Rows in parts, over which a model is explained.

    Parameters
    ----------
    parts
        The table.
    ledger
        The file that keeps finished parts; None for none.
    on_error
        Whether a part that fails ends the work or is left out.
    runs
        How each pass over the parts went, by what it was for.
    """

    parts: Parts
    ledger: str | Path | None = None
    on_error: Literal["raise", "skip"] = "raise"
    runs: dict[str, Run] = field(default_factory=dict)
    _samples: dict[tuple[int, int], Table] = field(default_factory=dict, repr=False)

    def sample(self, n: int, *, seed: int) -> Table:
        """Draw rows, once: all parts are read for it."""
        if (n, seed) not in self._samples:
            self._samples[n, seed] = self.parts.sample(n, seed=seed)
        return self._samples[n, seed]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a pass reads."""
        return tuple(name for name in self.parts.names if self.parts.role(name) in _READ)

    def bind(self, game: Game, *, n_jobs: int) -> BoundGame:
        """Count all rows, and bind the game to them."""
        self._check_size(game)
        counts = self._counted(game, "counting rows", n_jobs)
        bound = game.bound_to(counts, n_jobs=n_jobs)
        if isinstance(game, TreeGame) and isinstance(bound, BoundTrees):
            recount = _PartRecount(self, game, n_jobs)
            return replace(bound, recount=recount)
        return bound

    def bind_spread(self, spread: GameSpread, game: Game, *, n_jobs: int, seed: int) -> BoundSpread:
        """Count all rows for the deviations of a game."""

        def bind(inner: Game) -> BoundGame:
            counts = self._counted(game, "counting rows for the band", n_jobs, spread=inner)
            return inner.bound_to(counts, n_jobs=n_jobs)

        return spread.bound_by(bind, seed)

    def _counted(self, game: Game, title: str, n_jobs: int, spread: Game | None = None) -> Counts:
        run = self._over(
            _PartCounting(game, spread, self.columns), _Adding(spread or game), title, game, n_jobs
        )
        if run.state is None or not run.state.arrays:
            raise no_background()
        checked_weights(run.state.arrays["weight"][None], 1)
        return {name: counts for name, counts in run.state.arrays.items() if name != "weight"}

    def moments(
        self, bound: BoundGame, sets: Sequence[Players], *, is_complete: bool, kept: Players | None
    ) -> ComponentMoments:
        """Measure the components over all rows.

        ``kept`` are the players that were not removed; None for all of them.
        """
        if kept is not None and isinstance(bound, BoundTrees):
            bound.merge(kept)  # here, where the rows can be recounted
        work = _PartMeasuring(bound, tuple(sets), is_complete, kept, self.columns)
        settings = {"sets": [list(players) for players in sets], "kept": kept}
        run = self._over(
            work, _added_sums, "measuring components", bound.game, bound.n_jobs, settings
        )
        assert run.state is not None
        arrays = run.state.arrays
        return ComponentSums(arrays["first"], arrays["second"], float(arrays["weight"])).moments()

    def write(
        self,
        rows: Parts,
        game: Game,
        columns_of: Callable[[Table, int], Mapping[str, Any]],
        to: str | Path,
        *,
        what: str,
        force: bool,
        settings: Mapping[str, Any],
        about: Mapping[str, Any],
        notes: tuple[str, ...],
        n_jobs: int,
    ) -> Written:
        """Write columns that are computed for all rows of some table in parts."""
        names = tuple(name for name in rows.names if rows.role(name) in _READ)
        identity = None
        if self.ledger is not None:
            identity = {
                **self._identity(game, what, settings),
                "rows": rows.fingerprint(),
            }
        return write_parts(
            rows.parts,
            columns_of,
            to,
            what=what,
            read=names,
            about=about,
            notes=notes,
            force=force,
            identity=identity,
            ledger=self.ledger,
            on_error=self.on_error,
            n_jobs=n_jobs,
        )

    def _over(
        self,
        work: Callable[[Any], State],
        merge: Callable[[State, State], State],
        title: str,
        game: Game,
        n_jobs: int,
        settings: Mapping[str, Any] | None = None,
    ) -> Run:
        identity = None if self.ledger is None else self._identity(game, title, settings or {})
        run = over(
            self.parts.parts,
            work,
            merge,
            title=title,
            identity=identity,
            ledger=self.ledger,
            on_error=self.on_error,
            n_jobs=n_jobs,
        )
        self.runs[title] = run
        return run

    def _identity(self, game: Game, title: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return what determines the numbers of a pass."""
        return {
            "work": title,
            "model": _digest(game),
            "parts": self.parts.fingerprint(),
            "settings": dict(settings),
        }

    def _check_size(self, game: Game) -> None:
        """Refuse trees with paths too long to count where their rows would fill the memory."""
        for one in game.games if isinstance(game, SumGame) else (game,):
            if not isinstance(one, TreeGame) or not one.trees.kernel.needs_rows:
                continue
            kept = 2 * one.trees.n_codes * self.parts.n_rows
            if kept > _MOST_KEPT:
                raise InputError(
                    "the trees have paths too long to count patterns of: all rows would be kept, "
                    f"{size(kept)}",
                    parameter="n_background",
                    value="all",
                    hint=words(
                        "average over drawn rows, ",
                        Option("n_background", 20_000),
                        ", with standard errors; without a number, as many are drawn as the time "
                        "allows.",
                    ),
                )


def _digest(game: Game) -> str:
    """Identify a model by what its predictions and players follow from."""
    try:
        fields = {name: getattr(game, name) for name in game.__dataclass_fields__}
        return str(joblib.hash(fields))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InputError(
            f"the model cannot be identified, so a ledger cannot be matched to it: {error}",
            parameter="ledger",
            hint="explain without a ledger.",
        ) from error


@dataclass(frozen=True, eq=False)
class _PartRecount:
    """Recounts the rows of parts for trees with other players."""

    rows: InParts
    game: TreeGame
    n_jobs: int

    def __getstate__(self) -> dict[str, Any]:
        # a worker never counts other rows than those of its part
        return {}

    def __call__(self, trees: Trees) -> Background:
        names = tuple(f"player {k}" for k in range(trees.n_players))
        merged = replace(self.game, columns=names, groups=np.asarray(trees.players, np.intp))
        merged.__dict__["trees"] = trees
        bound = self.rows.bind(merged, n_jobs=self.n_jobs)
        assert isinstance(bound, BoundTrees)
        return bound.background


# In a worker


def _rows_of(game: Game, part: Any, columns: Sequence[str]) -> Any:
    """Read a part as rows that the game is played with, and their weights, batch by batch."""
    for batch in part.batches(columns=columns):
        rows: EncodedRows = game.rows(batch)
        weights = batch.weights
        yield rows, checked_weights(weights, batch.n_rows, may_be_zero=True)


@dataclass(frozen=True, eq=False)
class _PartCounting:
    """Counts the rows of a part; for the deviations of a game, where these are given."""

    game: Game
    spread: Game | None
    columns: tuple[str, ...]

    def __call__(self, part: Any) -> State:
        counted = self.spread or self.game
        total: Counts | None = None
        weight = 0.0
        for rows, weights in _rows_of(self.game, part, self.columns):
            counts = counted.count(rows, weights)
            total = counts if total is None else counted.add_counts(total, counts)
            weight += float(len(rows) if weights is None else weights.sum())
        if total is None:
            return State()
        return State({}, {**total, "weight": np.array(weight)})


@dataclass(frozen=True, eq=False)
class _Adding:
    """Adds counts of two parts."""

    game: Game

    def __call__(self, one: State, other: State) -> State:
        if not one.arrays or not other.arrays:
            return one if one.arrays else other
        first, second = dict(one.arrays), dict(other.arrays)
        weight = first.pop("weight") + second.pop("weight")
        return State({}, {**self.game.add_counts(first, second), "weight": weight})


@dataclass(frozen=True, eq=False)
class _PartMeasuring:
    """Adds up components, and their squares, over the rows of a part."""

    bound: BoundGame
    sets: tuple[Players, ...]
    is_complete: bool
    kept: Players | None
    columns: tuple[str, ...]

    def __call__(self, part: Any) -> State:
        total = ComponentSums.nothing(len(self.sets), len(self.bound.baseline))
        for rows, weights in _rows_of(self.bound.game, part, self.columns):
            total = total + sums_of(
                self.bound,
                rows,
                weights,
                self.sets,
                is_complete=self.is_complete,
                kept=self.kept,
            )
        arrays = {"first": total.first, "second": total.second, "weight": np.array(total.weight)}
        return State({}, arrays)


def _added_sums(one: State, other: State) -> State:
    return State({}, {name: array + other.arrays[name] for name, array in one.arrays.items()})
