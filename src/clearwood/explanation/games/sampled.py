"""The game of a model that can only be asked: components by averages over drawn rows.

The component of a set S at x is Σ_{T ⊆ S} (−1)^{|S| − |T|} times the mean of f(x_T, b_{−T}) over
background rows b. All terms use the same rows, so each row gives one number, and the spread of
these numbers says how far the mean can be off when the rows were drawn from a larger table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.games.game import BoundGame, Floats, Game, Players, Step
from clearwood.explanation.games.moments import Moments
from clearwood.explanation.games.sampled_moments import Cross, crossed, variances

__all__ = ["BoundSample", "SampledGame", "Shared"]

Index = NDArray[np.intp]
#: Predictions of rows put together from others: (rows, columns) positions to (rows, outputs).
Ask = Callable[[Index], Floats]
#: Shapley values of rows and their standard errors, by positions of rows and background weights.
Shared = Callable[[Index, Floats, Step | None], tuple[Floats, Floats]]

# Numbers that the predictions of one block of rows may fill.
_NUMBERS_PER_BLOCK = 4_000_000
# Fewer rows than this of either kind tell nothing about a variance.
_FEWEST_ROWS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledGame(Game):
    """A model that can only be asked; codes are positions of the rows that columns come from.

    Parameters
    ----------
    reader
        Keeps the user's rows where the model can be asked about them, and gives their positions.
    ask
        Predicts rows put together from rows that were read.
    share
        Estimates Shapley values.
    n_rows
        How many rows the user has; the background is drawn from them.
    interacting
        The columns whose interactions are looked at; the others' are part of the remainder.
    allowance
        Evaluations of the model that measuring the components may take; None for as many as all
        drawn rows need.
    seed
        Fixes which drawn rows are used for what.
    """

    reader: Callable[[Any], Rows]
    ask: Ask
    share: Shared
    n_rows: int
    interacting: tuple[int, ...]
    allowance: int | None = None
    seed: int = 0

    @property
    def points(self) -> tuple[int, int]:
        return 40, 12

    def rows(self, data: Any) -> Rows:
        return self.reader(data)

    def predict(self, codes: Floats, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        return self.ask(codes.astype(np.intp))

    @property
    def longest(self) -> int:
        return len(self.columns)

    def sets(self, max_order: int) -> list[Players]:
        alone: list[Players] = [(k,) for k in range(len(self.columns))]
        orders = range(2, max_order + 1)
        return alone + [s for size in orders for s in combinations(self.interacting, size)]

    def bind(self, codes: Floats, weights: Floats | None, *, n_jobs: int = 1) -> "BoundSample":
        share = np.ones(len(codes)) if weights is None else weights
        share = share / share.sum()
        behind = self.predict(codes, n_jobs=n_jobs)
        return BoundSample(
            baseline=share @ behind,
            game=self,
            positions=codes.astype(np.intp),
            share=share,
            behind=behind,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundSample(BoundGame):
    """A model that can only be asked, with its background.

    Parameters
    ----------
    game
        The model.
    positions
        Of the background rows, one column per player.
    share
        Weights of the background rows; they sum to one.
    behind
        The prediction of each background row.
    """

    game: SampledGame
    positions: Index
    share: Floats
    behind: Floats
    _errors: list[Floats] = field(default_factory=list)

    @property
    def last_errors(self) -> Floats:
        """Standard errors of what was given last, of its shape."""
        return self._errors[-1]

    def components(
        self,
        codes: Floats,
        sets: Sequence[Players],
        *,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> Floats:
        del n_jobs
        held = codes.astype(np.intp)
        parts = sorted({t for s in sets for t in _subsets(s) if t}, key=lambda t: (len(t), t))
        n_outputs = len(self.baseline)
        found = np.zeros((len(codes), len(sets), n_outputs))
        errors = np.zeros_like(found)
        per_row = len(self.share) * n_outputs * (len(parts) + 1)
        block = max(1, _NUMBERS_PER_BLOCK // per_row)
        for first in range(0, len(codes), block):
            rows = slice(first, min(first + block, len(codes)))
            worth = {t: self._against(held[rows], t) for t in parts}
            worth[()] = np.broadcast_to(self.behind, (rows.stop - first, *self.behind.shape))
            for at, players in enumerate(sets):
                each = sum((-1) ** (len(players) - len(t)) * worth[t] for t in _subsets(players))
                found[rows, at], errors[rows, at] = self._averaged(np.asarray(each))
            if step is not None:
                step(rows.stop - first)
        self._errors[:] = [errors]
        return found

    def _against(self, held: Index, players: Players) -> Floats:
        """Predict every row with every background row for the other columns."""
        return self._mixed(held, players, self.positions)

    def _mixed(self, held: Index, players: Players, behind: Index) -> Floats:
        n_rows, n_behind = len(held), len(behind)
        if len(players) == len(self.game.columns):
            whole = self.game.ask(held)[:, None]
            return np.broadcast_to(whole, (n_rows, n_behind, whole.shape[2]))
        mixed = np.tile(behind, (n_rows, 1))
        columns = list(players)
        mixed[:, columns] = np.repeat(held[:, columns], n_behind, axis=0)
        return self.game.ask(mixed).reshape(n_rows, n_behind, -1)

    def _averaged(self, each: Floats) -> tuple[Floats, Floats]:
        mean = np.einsum("b,rbo->ro", self.share, each)
        spread = np.einsum("b,rbo->ro", self.share**2, (each - mean[:, None]) ** 2)
        few = len(self.share) / max(len(self.share) - 1, 1)
        left = max(1 - len(self.share) / self.game.n_rows, 0.0)
        return mean, np.sqrt(few * spread * left)

    def sampled_moments(self, sets: Sequence[Players], kept: Players) -> Moments:
        parts = sorted({t for s in sets for t in _subsets(s) if t}, key=lambda t: (len(t), t))
        n_at, n_behind = self._sizes(len(parts))
        cross = crossed(self.share, n_at, n_behind, self.game.n_rows, self.game.seed)
        at, behind = self.positions[cross.at], self.positions[cross.behind]
        worth: dict[Players, Floats] = {
            (): np.broadcast_to(self.behind[cross.behind], (len(at), *self._shape(cross)))
        }
        with progress("measuring components", total=len(parts)) as step:
            for players in parts:
                worth[players] = self._mixed(at, players, behind)
                step(1, note=" × ".join(self.game.columns[k] for k in players))

        def component(players: Players) -> Floats:
            signs = ((-1) ** (len(players) - len(t)) * worth[t] for t in _subsets(players))
            return np.asarray(sum(signs))

        whole = self._mixed(at, kept, behind) - self.behind[cross.behind]

        def remainder() -> Floats:
            rest = whole.copy()
            for players in sets:
                rest -= component(players)
            # what rounding leaves of a sum that is complete
            rest[np.abs(rest) < 1e-12 * (1 + np.abs(self.behind).max())] = 0.0
            return rest

        each = [partial(component, players) for players in sets]
        found, replicates = variances([*each, remainder, lambda: whole], cross)
        if replicates is not None:
            replicates = replicates[:, :-1]
        return Moments(found[:-2], found[-2], found[-1], replicates)

    def _shape(self, cross: Cross) -> tuple[int, int]:
        return len(cross.behind), len(self.baseline)

    def _sizes(self, n_parts: int) -> tuple[int, int]:
        """Say at how many rows components are measured, over how many."""
        n_drawn = len(self.share)
        cells = n_drawn**2 if self.game.allowance is None else self.game.allowance // n_parts
        if cells >= n_drawn**2 and (self.game.allowance is None or n_drawn == self.game.n_rows):
            return n_drawn, n_drawn
        if n_drawn < 2 * _FEWEST_ROWS:
            return n_drawn, n_drawn
        n_behind = int(np.clip(np.sqrt(cells), _FEWEST_ROWS, n_drawn // 2))
        return int(np.clip(cells // n_behind, _FEWEST_ROWS, n_drawn - n_behind)), n_behind

    def shapley(
        self,
        codes: Floats,
        *,
        interactions: bool = False,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> tuple[Floats, Floats | None]:
        del n_jobs
        if interactions:
            raise InputError(
                "pairwise Shapley interactions are for models that can be taken apart exactly",
                hint="effect(a, b) gives the interaction of two columns.",
            )
        values, errors = self.game.share(codes.astype(np.intp), self.share, step)
        self._errors[:] = [errors]
        return values, None

    def dependence(self, codes: Floats, players: Players, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        if not players:
            return np.broadcast_to(self.baseline, (len(codes), len(self.baseline))).copy()
        held = codes.astype(np.intp)
        block = max(1, _NUMBERS_PER_BLOCK // (len(self.share) * len(self.baseline)))
        parts = [
            self._averaged(self._against(held[first : first + block], players))
            for first in range(0, len(held), block)
        ]
        self._errors[:] = [np.concatenate([errors for _, errors in parts])]
        return np.concatenate([values for values, _ in parts])

    def few_dependence(self, codes: Floats, players: Players, *, n_jobs: int = 1) -> Floats:
        return self.dependence(codes, players, n_jobs=n_jobs)


def _subsets(players: Players) -> list[Players]:
    return [t for size in range(len(players) + 1) for t in combinations(players, size)]
