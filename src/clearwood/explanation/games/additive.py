"""The game of an additive model: every column plays on its own.

f(x) = c + Σ_k g_k(x_k), so the component of a column is g_k less its mean over the background, its
Shapley value is the same, and all interactions are zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.progress import Step, silent
from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.games.game import BoundGame, Game, Players, Values, shared_out
from clearwood.explanation.games.scores import Score

__all__ = ["AdditiveGame", "BoundSum", "Terms"]

# Rows whose terms are computed at a time.
_ROWS_PER_BLOCK = 1 << 13
# Rows on which known coefficients are compared with the model's own score.
_ROWS_COMPARED = 20


@dataclass(frozen=True, eq=False)
class Terms:
    """What each column adds to the score of a matrix, measured from a reference row.

    Parameters
    ----------
    score
        Of the model.
    groups
        The player of each of the model's columns.
    n_players
        How many players there are.
    reference
        The row of the model's columns at which those not looked at are held.
    """

    score: Score
    groups: Index
    n_players: int
    reference: Floats

    @property
    def constant(self) -> Floats:
        """The score of the reference, of shape (outputs,)."""
        return np.asarray(self.score.of(self.reference[None, :])[0])

    def of(self, matrix: Floats) -> Floats:
        """Compute (rows, players × outputs), outputs changing fastest."""
        constant = self.constant
        terms = np.zeros((len(matrix), self.n_players, len(constant)))
        coefficients = self._coefficients(matrix)
        if coefficients is not None:
            order = np.argsort(self.groups, kind="stable")
            starts = np.flatnonzero(np.diff(self.groups[order], prepend=-1))
            for mine in np.split(order, starts)[1:]:
                moved = matrix[:, mine] - self.reference[mine]
                terms[:, self.groups[mine[0]]] = moved @ coefficients[mine]
            return terms.reshape(len(matrix), -1)
        for first in range(0, len(matrix), _ROWS_PER_BLOCK):
            part = matrix[first : first + _ROWS_PER_BLOCK]
            held = np.repeat(self.reference[None, :], len(part), axis=0)
            for player in np.unique(self.groups):
                mine = self.groups == player
                held[:, mine] = part[:, mine]
                terms[first : first + _ROWS_PER_BLOCK, player] = self.score.of(held) - constant
                held[:, mine] = self.reference[mine]
        return terms.reshape(len(matrix), self.n_players * len(constant))

    def _coefficients(self, matrix: Floats) -> Floats | None:
        """Return the coefficients where they give the score, so that columns need not be held."""
        known = self.score.coefficients
        if known is None or self.score.steps or len(known) != matrix.shape[1]:
            return None
        if not len(matrix) or not np.isfinite(matrix).all():
            return None  # the model itself refuses missing values
        few = matrix[:_ROWS_COMPARED]
        total = self.constant + (few - self.reference) @ known
        return known if np.allclose(total, self.score.of(few), rtol=1e-9, atol=1e-9) else None


@dataclass(frozen=True, eq=False, kw_only=True)
class AdditiveGame(Game):
    """An additive model; codes are what each column adds to each output.

    Parameters
    ----------
    constant
        What the terms are added to, of shape (outputs,).
    adds
        Computes what columns add from the model's own columns; None where the reader does.
    """

    constant: Floats
    adds: Terms | None = None

    def own_codes(self, rows: Rows) -> Rows:
        return rows if self.adds is None else rows.with_codes(self.adds.of(rows.codes))

    def terms(self, codes: Floats) -> Floats:
        """Return codes as (rows, players, outputs)."""
        n_outputs = len(self.outputs)
        return codes.reshape(len(codes), codes.shape[1] // n_outputs, n_outputs)

    def predict(self, rows: Rows, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        total: Floats = self.constant + self.terms(rows.codes).sum(axis=1)
        return total

    @property
    def longest(self) -> int:
        return 1

    def sets(self, max_order: int) -> list[Players]:
        return [(k,) for k in range(len(self.columns))] if max_order else []

    def bind(self, rows: Rows, weights: Floats | None, *, n_jobs: int = 1) -> "BoundSum":
        means = np.average(self.terms(rows.codes), axis=0, weights=weights)
        baseline = self.constant + means.sum(axis=0)
        return BoundSum(game=self, baseline=baseline, n_jobs=n_jobs, means=means)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundSum(BoundGame):
    """An additive model with the means of its terms, (players, outputs), over a background."""

    game: AdditiveGame
    means: Floats

    def _centred(self, rows: Rows) -> Floats:
        return self.game.terms(rows.codes) - self.means

    def components(self, rows: Rows, sets: Sequence[Players], *, step: Step = silent) -> Values:
        centred = self._centred(rows)
        values = np.zeros((len(rows), len(sets), len(self.baseline)))
        for at, players in enumerate(sets):
            if len(players) == 1:
                values[:, at] = centred[:, players[0]]
        step(len(rows))
        return Values(values)

    def shapley(self, rows: Rows, *, interactions: bool = False, step: Step = silent) -> Values:
        sets = self.game.sets(1)
        parts = self.components(rows, sets, step=step).values
        return shared_out(parts, sets, len(sets), interactions=interactions)

    def dependence(self, rows: Rows, players: Players) -> Values:
        return Values(self.baseline + self._centred(rows)[:, list(players)].sum(axis=1))
