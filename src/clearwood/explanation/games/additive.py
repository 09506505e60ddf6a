"""The game of an additive model: every column plays on its own.

f(x) = c + Σ_k g_k(x_k), so the component of a column is g_k less its mean over the background, its
Shapley value is the same, and all interactions are zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, softmax

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.game import (
    BoundGame,
    Counts,
    Game,
    GameValues,
    Players,
    shared_out,
)
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.fitted import both_signs

__all__ = ["LINKS", "AdditiveGame", "BoundSum", "GameCall"]


class Adds(Protocol):
    """Computes what columns add."""

    def of(self, matrix: Floats) -> Floats:
        """Return (rows, players × outputs) for rows of a model's own columns."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class AdditiveGame(Game):
    """An additive model; codes are what each column adds to each output.

    Parameters
    ----------
    constant
        What the terms are added to, of shape (outputs,).
    adds
        Computes what columns add from the model's own columns, (rows, players × outputs), outputs
        changing fastest; None where the reader does.
    """

    constant: Floats
    adds: Adds | None = None

    def own_codes(self, rows: EncodedRows) -> EncodedRows:
        return rows if self.adds is None else rows.with_codes(self.adds.of(rows.codes))

    def terms(self, codes: Floats) -> Floats:
        """Return codes as (rows, players, outputs)."""
        n_outputs = len(self.outputs)
        return codes.reshape(len(codes), codes.shape[1] // n_outputs, n_outputs)

    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        total: Floats = self.constant + self.terms(rows.codes).sum(axis=1)
        return total

    @property
    def order(self) -> int:
        return 1

    def sets(self, max_order: int) -> list[Players]:
        return [(k,) for k in range(len(self.columns))] if max_order else []

    def count(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> Counts:
        del n_jobs
        terms = self.terms(rows.codes)
        if weights is None:
            return {"sums": terms.sum(axis=0), "total": np.array(float(len(rows)))}
        return {
            "sums": (weights[:, None, None] * terms).sum(axis=0),
            "total": np.asarray(weights.sum()),
        }

    def bound_to(self, counts: Counts, *, n_jobs: int = 1) -> "BoundSum":
        means = np.asarray(counts["sums"] / counts["total"])
        baseline = self.constant + means.sum(axis=0)
        return BoundSum(game=self, baseline=baseline, n_jobs=n_jobs, means=means)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundSum(BoundGame):
    """An additive model with the means of its terms, (players, outputs), over a background."""

    game: AdditiveGame
    means: Floats

    def _centred(self, rows: EncodedRows) -> Floats:
        return self.game.terms(rows.codes) - self.means

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        centred = self._centred(rows)
        values = np.zeros((len(rows), len(sets), len(self.baseline)))
        for at, players in enumerate(sets):
            if len(players) == 1:
                values[:, at] = centred[:, players[0]]
        step(len(rows))
        return GameValues(values)

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        # every component is one column's own, so nothing is shared
        values = self._centred(rows)
        step(len(rows))
        if not interactions:
            return GameValues(values)
        sets = self.game.sets(1)
        return shared_out(values, sets, len(sets), interactions=True)

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        return GameValues(self.baseline + self._centred(rows)[:, list(players)].sum(axis=1))


@dataclass(frozen=True, eq=False)
class GameCall:
    """Prediction of an additive game through a link: rows come as its codes."""

    game: Game
    link: Callable[[Floats], Floats]

    def __call__(self, codes: Floats) -> Floats:
        """Predict."""
        rows = EncodedRows(codes=codes, columns=(), labels=np.arange(len(codes)))
        return self.link(self.game.predict(rows))


def _logistic(scores: Floats) -> Floats:
    positive = expit(scores[:, 0])
    return np.column_stack([1 - positive, positive])


def _softmax(scores: Floats) -> Floats:
    return np.asarray(softmax(scores, axis=1))


def _single(scores: Floats) -> Floats:
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _both(scores: Floats) -> Floats:
    return both_signs(scores[:, 0])


def _exponential(scores: Floats) -> Floats:
    return np.exp(np.minimum(_single(scores), 700.0))


#: From what an additive model adds up, (rows, outputs), to what it predicts.
LINKS: tuple[Callable[[Floats], Floats], ...] = (_single, _logistic, _softmax, _both, _exponential)
