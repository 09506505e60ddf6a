"""The game of a tree ensemble, solved exactly over the whole background."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.game import (
    BoundGame,
    Counts,
    Game,
    GameValues,
    NotDecomposableError,
    Players,
)
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.forest import Forest
from clearwood.kernels import (
    Background,
    Trees,
    component_sets,
    components,
    interventional,
    path_dependent,
    prepared,
)

__all__ = ["BoundTrees", "TreeGame"]

#: More components than this are refused: too many to read, and they fill the memory.
MOST_SETS = 50_000

# What Shapley values of a thousand rows may take where trees have long paths, and the fewest rows
# of a background that is cut for it.
_SECONDS = 30.0
_FEWEST_ROWS = 500
# For each leaf and background row, on one core: a thousand times what comparing two rows at a leaf
# takes. Measured; right within a factor of two.
_SECONDS_PER_LEAF_AND_ROW = 1.3e-7

# What one call of the kernel may fill: enough rows to make preparing its tables cheap.
_BYTES_PER_CALL = 1 << 28


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeGame(Game):
    """A forest and who plays.

    Parameters
    ----------
    forest
        The trees as functions of the model's own columns: without encoder or levels.
    imported
        The forest as it was imported, with the encoder and the names that it came with.
    """

    forest: Forest
    imported: Forest

    def __post_init__(self) -> None:
        if not self.forest.is_linear:
            raise NotDecomposableError(
                f"{self.kind} takes a median of its trees, which is not a sum over trees",
                hint="use another ensemble than AdaBoost.R2; without an exact decomposition, "
                "explanations of it are sampled.",
            )
        values = self.forest.leaf_value[self.forest.is_leaf]
        if np.isnan(values).any():
            raise InputError(
                f"{int(np.isnan(values).any(axis=1).sum())} leaves of the model have no value "
                "(NaN)",
                hint="fit the model again; a prediction that is not a number has no parts.",
            )
        # The sums of components are in double precision, so what they are compared with is too.
        bare = replace(
            self.forest,
            encoder=None,
            columns=(),
            groups=np.empty(0, np.int32),
            levels=(),
            missing_value=None,
            accumulate="float64",
        )
        object.__setattr__(self, "forest", bare)

    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        margin = self.forest.predict_raw(rows.codes, n_jobs=n_jobs)
        return margin.reshape(len(rows), -1)

    @cached_property
    def trees(self) -> Trees:
        """The forest as the kernels take it."""
        return Trees(self.forest, self.groups.astype(np.int32), len(self.columns))

    @cached_property
    def order(self) -> int:
        """The most players that one path splits on."""
        return longest_path(self.forest, self.groups, len(self.columns))

    def affordable_rows(self, n_rows: int, seconds: float | None = None) -> int:
        """Estimate over how many background rows a thousand rows can be explained in a time.

        Over all of them, unless the trees have paths too long to count patterns of: then every
        explained row is compared with every background row at every leaf.
        """
        if not self.trees.kernel.needs_rows:
            return n_rows
        budget = _SECONDS if seconds is None else seconds
        per_row = self.forest.n_leaves * _SECONDS_PER_LEAF_AND_ROW
        return int(np.clip(budget / per_row, min(_FEWEST_ROWS, n_rows), n_rows))

    def sets(self, max_order: int) -> list[Players]:
        # every subset of a path has a component, so the longest path alone may be too much
        at_least = sum(comb(self.order, order) for order in range(1, max_order + 1))
        result = component_sets(self.trees, max_order=max_order) if at_least <= MOST_SETS else ()
        if max(at_least, len(result)) > MOST_SETS:
            raise InputError(
                f"the decomposition up to order {max_order} has more than {MOST_SETS:,} "
                f"components: one path of the model splits on {self.order} columns",
                hint=words(
                    "set a smaller ",
                    Option("max_order"),
                    ": what lies beyond is kept as a remainder.",
                ),
            )
        return list(result)

    def bind(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> "BoundTrees":
        bound = self.bound_to(self.count(rows, weights, n_jobs=n_jobs), n_jobs=n_jobs)
        return replace(bound, recount=_TreeRecount(rows.codes, weights, n_jobs))

    def bind_few(
        self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1
    ) -> "BoundTrees":
        # the baseline of trees with long paths is found faster from the predictions
        mean = np.average(self.predict(rows, n_jobs=n_jobs), axis=0, weights=weights)
        recount = _TreeRecount(rows.codes, weights, n_jobs)
        return BoundTrees(
            game=self,
            baseline=np.asarray(mean),
            n_jobs=n_jobs,
            background=recount(self.trees),
            recount=recount,
        )

    def count(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> Counts:
        return _counts(Background.of(self.trees, rows.codes, weights=weights, n_jobs=n_jobs))

    def add_counts(self, one: Counts, other: Counts) -> Counts:
        return _counts(_background(self.trees, one) + _background(self.trees, other))

    def bound_to(self, counts: Counts, *, n_jobs: int = 1) -> "BoundTrees":
        background = _background(self.trees, counts)
        baseline = components(self.trees, self._no_rows, background, ()).baseline
        return BoundTrees(game=self, baseline=baseline, n_jobs=n_jobs, background=background)

    @property
    def _no_rows(self) -> Floats:
        return np.empty((0, len(self.groups)))

    def path_dependent(
        self, rows: EncodedRows, *, interactions: bool = False, n_jobs: int = 1, step: Step = silent
    ) -> tuple[GameValues, Floats]:
        """Compute Shapley values of the path-dependent value function, and their baseline."""
        result = path_dependent(
            self.trees, rows.codes, interactions=interactions, n_jobs=n_jobs, progress=step
        )
        return GameValues(result.values, interactions=result.interactions), result.baseline


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundTrees(BoundGame):
    """A forest with its counted background.

    Parameters
    ----------
    background
        The counts.
    recount
        Counts the same background for trees with other players, which coalitions of merged
        players need.
    """

    game: TreeGame
    background: Background
    recount: Callable[[Trees], Background] | None = None
    _merged: dict[Players, Background] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        n_outputs = len(self.baseline)
        block = max(1024, _BYTES_PER_CALL // (8 * max(1, len(sets)) * n_outputs))
        if len(sets) and len(rows) <= block:
            return GameValues(self._components(rows.codes, sets, step))
        values = np.empty((len(rows), len(sets), n_outputs))
        for first in range(0, len(rows) if len(sets) else 0, block):
            part = rows.codes[first : first + block]
            values[first : first + block] = self._components(part, sets, step)
        return GameValues(values)

    def rows_at_once(self, sets: Sequence[Players]) -> int:
        if not len(sets) or prepared(self.background, sets, n_jobs=self.n_jobs):
            return super().rows_at_once(sets)
        # large tables are rebuilt in each call
        return max(1024, _BYTES_PER_CALL // (8 * (len(sets) + 2) * len(self.baseline)))

    def _components(self, codes: Floats, sets: Sequence[Players], step: Step) -> Floats:
        """Compute components in one call of the kernel."""
        return components(
            self.game.trees, codes, self.background, sets, n_jobs=self.n_jobs, progress=step
        ).values

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        result = interventional(
            self.game.trees,
            rows.codes,
            self.background,
            interactions=interactions,
            n_jobs=self.n_jobs,
            progress=step,
        )
        return GameValues(result.values, interactions=result.interactions)

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        background = self.merge(players)
        result = components(background.trees, rows.codes, background, [(0,)], n_jobs=self.n_jobs)
        return GameValues(np.asarray(result.values[:, 0] + result.baseline))

    def merge(self, players: Players) -> Background:
        """Count the background with a coalition as one player, once."""
        with self._lock:
            if players not in self._merged:
                self._merged[players] = self._merge(players)
            return self._merged[players]

    def _merge(self, players: Players) -> Background:
        """Recount the background with the coalition as one player and the rest as another.

        The coalition's value is then the baseline plus the one player's component, whatever the
        depth of the trees.
        """
        merged = np.where(np.isin(self.game.groups, players), 0, 1).astype(np.int32)
        trees = self.game.trees.regrouped(merged, 2)
        assert self.recount is not None
        return self.recount(trees)


@dataclass(frozen=True, eq=False)
class _TreeRecount:
    """Counts rows that are in memory."""

    codes: Floats
    weights: Floats | None
    n_jobs: int

    def __call__(self, trees: Trees) -> Background:
        return Background.of(trees, self.codes, weights=self.weights, n_jobs=self.n_jobs)


def _counts(background: Background) -> Counts:
    """Return a background as arrays."""
    values, arrays = background.state()
    numbers = np.array([values["n_rows"], values["total_weight"]])
    return {**arrays, "numbers": numbers}


def _background(trees: Trees, counts: Counts) -> Background:
    """Return counted rows as a background of the trees that they were counted for."""
    n_rows, total_weight = counts["numbers"]
    values = {"trees": trees.fingerprint, "n_rows": n_rows, "total_weight": total_weight}
    return Background.from_state(trees, values, counts)


def longest_path(forest: Forest, groups: Index, n_players: int) -> int:
    """Return the most different players that one path of one tree splits on."""
    longest = 0
    ends = np.append(forest.roots[1:], forest.n_nodes)
    for first, last in zip(forest.roots, ends, strict=True):
        seen = np.zeros((last - first, n_players), bool)
        level = np.array([first])
        while len(level := level[~forest.is_leaf[level]]):
            for child in (forest.left[level], forest.right[level]):
                seen[child - first] = seen[level - first]
                seen[child - first, groups[forest.feature[level]]] = True
            level = np.concatenate([forest.left[level], forest.right[level]])
        longest = max(longest, int(seen.sum(axis=1).max(initial=0)))
    return longest
