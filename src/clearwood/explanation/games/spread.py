"""How far a model's score varies from sample to sample, as a game of its own.

A model may know deviations whose squares add up to the variance of its score: columns of a root of
the covariance of its coefficients, or scaled differences of the models of folds from their mean.
Each is a function of the same columns, so it is decomposed like the score, and the variance of
anything linear in the score (a component, a partial dependence, a main effect) is the sum of the
squares of its deviations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import SpreadSource
from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.games.game import BoundGame, Game, Players

__all__ = ["BoundSpread", "GameSpread", "half_widths", "standard_errors"]

#: Draws of the deviations from which simultaneous bands are computed.
DRAWS = 10_000
# Cells of the draws at points of a grid that are held at a time.
_CELLS_PER_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class GameSpread:
    """Deviations of the outputs of a game.

    Parameters
    ----------
    game
        A game with the same columns, whose outputs are deviations: those of output ``o`` from
        ``o * count`` on.
    count
        Deviations of each output.
    freedom
        Degrees of freedom of the t distribution of bands; infinite for the normal one.
    source
        What the deviations come from.
    """

    game: Game
    count: int
    freedom: float
    source: SpreadSource

    def bind(
        self, rows: Rows, weights: Floats | None, *, n_jobs: int = 1, seed: int = 0
    ) -> "BoundSpread":
        """Count a background."""
        return BoundSpread(self.game.bind(rows, weights, n_jobs=n_jobs), self, seed)


@dataclass(frozen=True, eq=False)
class BoundSpread:
    """Deviations over a background; ``seed`` fixes the draws of simultaneous bands."""

    bound: BoundGame
    spread: GameSpread
    seed: int = 0

    def components(self, rows: Rows, sets: Sequence[Players]) -> Floats:
        """Compute deviations of components, of shape (rows, sets, outputs, deviations).

        That of the mean prediction is added, so that a band says where the curve lies, not only
        what shape it has. Without it, bands of a component are too narrow where the component is
        close to zero (Marra and Wood 2012, section 2).
        """
        return self._split(self.bound.baseline + self.bound.components(rows, sets).values)

    def dependence(self, rows: Rows, players: Players) -> Floats:
        """Compute deviations of a partial dependence, of shape (rows, outputs, deviations)."""
        return self._split(self.bound.few_dependence(rows, players).values)

    def _split(self, values: Floats) -> Floats:
        return values.reshape(*values.shape[:-1], -1, self.spread.count)

    def half_widths(self, deviations: Floats, confidence: float, *, simultaneous: bool) -> Floats:
        """Compute half the width of a band over points, given (points..., outputs, deviations)."""
        return half_widths(
            deviations,
            confidence,
            self.spread.freedom,
            simultaneous=simultaneous,
            seed=self.seed,
        )


def standard_errors(deviations: Floats) -> Floats:
    """Compute standard errors from deviations, which are the last axis.

    Examples
    --------
    >>> standard_errors(np.array([[3.0, 4.0]]))
    array([5.])
    """
    return np.asarray(np.sqrt(np.einsum("...k,...k->...", deviations, deviations)))


def half_widths(
    deviations: Floats, confidence: float, freedom: float, *, simultaneous: bool, seed: int = 0
) -> Floats:
    """Compute half the width of a band over points, given (points..., outputs, deviations).

    A pointwise band covers each point with the given confidence; a simultaneous one covers the
    whole curve of an output, by the largest standardised deviation over all of its points.

    Examples
    --------
    >>> line = np.array([[[0.0]], [[1.0]], [[2.0]]])
    >>> half_widths(line, 0.9, np.inf, simultaneous=False).ravel().round(3)
    array([0.   , 1.645, 3.29 ])
    """
    errors = standard_errors(deviations)
    if not simultaneous:
        return np.asarray(stats.t.ppf((1 + confidence) / 2, freedom) * errors)
    flat = deviations.reshape(-1, *deviations.shape[-2:])
    flat_errors = errors.reshape(-1, flat.shape[1])
    factor = np.empty(flat.shape[1])
    for output in range(flat.shape[1]):
        known = flat_errors[:, output] > 1e-12 * flat_errors[:, output].max(initial=0.0)
        unit = flat[known, output] / flat_errors[known, output, None]
        factor[output] = _largest(unit, confidence, freedom, seed)
    return np.asarray(errors * factor)


def _largest(unit: Floats, confidence: float, freedom: float, seed: int) -> float:
    """Compute the quantile of the largest of |t| over points, given deviations of length one."""
    if not len(unit):
        return 0.0
    generator = np.random.default_rng(seed)
    draws = generator.standard_normal((DRAWS, unit.shape[1]))
    if np.isfinite(freedom):
        draws /= np.sqrt(generator.chisquare(freedom, DRAWS) / freedom)[:, None]
    largest = np.zeros(DRAWS)
    block = max(1, _CELLS_PER_BLOCK // DRAWS)
    for first in range(0, len(unit), block):
        np.maximum(largest, np.abs(draws @ unit[first : first + block].T).max(axis=1), out=largest)
    return float(np.quantile(largest, confidence))
