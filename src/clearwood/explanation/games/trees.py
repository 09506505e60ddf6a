"""The game of a tree ensemble, solved exactly over the whole background."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.adapter.supported import NotTakenApartError
from clearwood.explanation.games.game import BoundGame, Floats, Game, Players, Step
from clearwood.forest import Forest
from clearwood.kernels import (
    Background,
    Trees,
    component_sets,
    components,
    interventional,
    path_dependent,
)

__all__ = ["BoundTrees", "TreeGame"]

#: More components than this are refused: nobody reads them and they fill the memory.
MOST_SETS = 50_000

# What one call of the kernel may fill: enough rows to make preparing its tables cheap.
_BYTES_PER_CALL = 1 << 28


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeGame(Game):
    """A forest and who plays.

    Parameters
    ----------
    forest
        The trees, asked about the model's columns directly: without encoder or levels.
    reader
        Turns the user's data into rows of the model's columns.
    """

    forest: Forest
    reader: Callable[[Any], Rows]

    def __post_init__(self) -> None:
        if not self.forest.is_linear:
            raise NotTakenApartError(
                f"{self.kind} takes a median of its trees, which is not a sum over trees",
                hint="use another ensemble than AdaBoost.R2, or cw.shapley(..., sample=1000).",
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

    def rows(self, data: Any) -> Rows:
        return self.reader(data)

    def predict(self, codes: Floats, *, n_jobs: int = 1) -> Floats:
        raw = self.forest.predict_raw(codes, n_jobs=n_jobs)
        return raw.reshape(len(codes), -1)

    @cached_property
    def trees(self) -> Trees:
        """The forest as the kernels take it."""
        return Trees(self.forest, self.groups.astype(np.int32), len(self.columns))

    @cached_property
    def longest(self) -> int:
        """The most players that one path asks about."""
        return longest_path(self.forest, self.groups, len(self.columns))

    def sets(self, max_order: int) -> list[Players]:
        # every subset of a path has a component, so the longest path alone may be too much
        at_least = sum(comb(self.longest, order) for order in range(1, max_order + 1))
        found = component_sets(self.trees, max_order=max_order) if at_least <= MOST_SETS else ()
        if max(at_least, len(found)) > MOST_SETS:
            raise InputError(
                f"the decomposition up to order {max_order} has more than {MOST_SETS:,} "
                f"components: one path of the model asks about {self.longest} columns",
                hint="ask for a smaller max_order: what lies beyond is kept as a remainder.",
            )
        return list(found)

    def bind(self, codes: Floats, weights: Floats | None, *, n_jobs: int = 1) -> "BoundTrees":
        background = Background.of(self.trees, codes, weights=weights, n_jobs=n_jobs)
        baseline = components(self.trees, codes[:0], background, ()).baseline
        return BoundTrees(
            baseline=baseline, game=self, background=background, rows=codes, weights=weights
        )

    def path_dependent(
        self,
        codes: Floats,
        *,
        interactions: bool = False,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> tuple[Floats, Floats | None, Floats]:
        """Give Shapley values and interactions of the path-dependent value function.

        Returns
        -------
        tuple
            Values (rows, players, outputs), interactions or None, the baseline (outputs,).
        """
        found = path_dependent(
            self.trees, codes, interactions=interactions, n_jobs=n_jobs, progress=step
        )
        return found.values, found.interactions, found.baseline


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundTrees(BoundGame):
    """A forest with its counted background.

    Parameters
    ----------
    game
        The forest.
    background
        Its counts.
    rows, weights
        The background itself, which coalitions with merged players are counted from anew.
    """

    game: TreeGame
    background: Background
    rows: Floats
    weights: Floats | None
    _merged: dict[Players, Background] = field(default_factory=dict)

    def components(
        self,
        codes: Floats,
        sets: Sequence[Players],
        *,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> Floats:
        n_outputs = len(self.baseline)
        found = np.empty((len(codes), len(sets), n_outputs))
        if not len(sets):
            return found
        block = max(1024, _BYTES_PER_CALL // (8 * len(sets) * n_outputs))
        for first in range(0, len(codes), block):
            part = codes[first : first + block]
            found[first : first + block] = components(
                self.game.trees, part, self.background, sets, n_jobs=n_jobs, progress=step
            ).values
        return found

    def shapley(
        self,
        codes: Floats,
        *,
        interactions: bool = False,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> tuple[Floats, Floats | None]:
        found = interventional(
            self.game.trees,
            codes,
            self.background,
            interactions=interactions,
            n_jobs=n_jobs,
            progress=step,
        )
        return found.values, found.interactions

    def dependence(self, codes: Floats, players: Players, *, n_jobs: int = 1) -> Floats:
        if players not in self._merged:
            self._merged[players] = self._merge(players, n_jobs=n_jobs)
        background = self._merged[players]
        found = components(background.trees, codes, background, [(0,)], n_jobs=n_jobs)
        return np.asarray(found.values[:, 0] + found.baseline)

    def _merge(self, players: Players, *, n_jobs: int) -> Background:
        """Count the background anew with the coalition as one player and the rest as another.

        The coalition's value is then the baseline plus the one player's component, whatever the
        depth of the trees.
        """
        merged = np.where(np.isin(self.game.groups, players), 0, 1).astype(np.int32)
        trees = Trees(self.game.forest, merged, 2)
        return Background.of(trees, self.rows, weights=self.weights, n_jobs=n_jobs)


def longest_path(forest: Forest, groups: NDArray[np.intp], n_players: int) -> int:
    """Give the most different players that one path of one tree asks about."""
    longest = 0
    ends = np.append(forest.roots[1:], forest.n_nodes)
    for first, last in zip(forest.roots, ends, strict=True):
        asked = np.zeros((last - first, n_players), bool)
        level = np.array([first])
        while len(level := level[~forest.is_leaf[level]]):
            for child in (forest.left[level], forest.right[level]):
                asked[child - first] = asked[level - first]
                asked[child - first, groups[forest.feature[level]]] = True
            level = np.concatenate([forest.left[level], forest.right[level]])
        longest = max(longest, int(asked.sum(axis=1).max(initial=0)))
    return longest
