"""The game of an additive model: every column plays on its own.

f(x) = c + Σ_k g_k(x_k), so the component of a column is g_k less its mean over the background, its
Shapley value is the same, and all interactions are zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.games.game import BoundGame, Floats, Game, Players, Step

__all__ = ["AdditiveGame", "BoundSum"]


@dataclass(frozen=True, eq=False, kw_only=True)
class AdditiveGame(Game):
    """An additive model; codes are what each column adds to each output.

    Parameters
    ----------
    reader
        Turns the user's data into what its columns add: codes with one column per player and
        output, outputs changing fastest.
    constant
        What the terms are added to, of shape (outputs,).
    """

    reader: Callable[[Any], Rows]
    constant: Floats

    def rows(self, data: Any) -> Rows:
        return self.reader(data)

    def terms(self, codes: Floats) -> Floats:
        """Give codes as (rows, players, outputs)."""
        return codes.reshape(len(codes), len(self.columns), len(self.outputs))

    def predict(self, codes: Floats, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        total: Floats = self.constant + self.terms(codes).sum(axis=1)
        return total

    @property
    def longest(self) -> int:
        return 1

    def sets(self, max_order: int) -> list[Players]:
        return [(k,) for k in range(len(self.columns))] if max_order else []

    def bind(self, codes: Floats, weights: Floats | None, *, n_jobs: int = 1) -> "BoundSum":
        del n_jobs
        means = np.average(self.terms(codes), axis=0, weights=weights)
        return BoundSum(baseline=self.constant + means.sum(axis=0), game=self, means=means)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundSum(BoundGame):
    """An additive model with the means of its terms over a background.

    Parameters
    ----------
    game
        The model.
    means
        Of shape (players, outputs).
    """

    game: AdditiveGame
    means: Floats

    def components(
        self,
        codes: Floats,
        sets: Sequence[Players],
        *,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> Floats:
        del n_jobs
        centred = self.game.terms(codes) - self.means
        found = np.zeros((len(codes), len(sets), len(self.baseline)))
        for at, players in enumerate(sets):
            if len(players) == 1:
                found[:, at] = centred[:, players[0]]
        if step is not None:
            step(len(codes))
        return found

    def shapley(
        self,
        codes: Floats,
        *,
        interactions: bool = False,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> tuple[Floats, Floats | None]:
        n_players = len(self.means)
        everyone = [(k,) for k in range(n_players)]
        values = self.components(codes, everyone, n_jobs=n_jobs, step=step)
        if not interactions:
            return values, None
        matrix = np.zeros((len(codes), n_players, n_players, len(self.baseline)))
        matrix[:, np.arange(n_players), np.arange(n_players)] = values
        return values, matrix

    def dependence(self, codes: Floats, players: Players, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        centred = self.game.terms(codes) - self.means
        value: Floats = self.baseline + centred[:, list(players)].sum(axis=1)
        return value
