"""How far a model's score varies from sample to sample, as a game of its own.

A model may have deviations whose squares add up to the variance of its score: columns of a root of
the covariance of its coefficients, or scaled differences of the models of folds from their mean.
Each is a function of the same columns, so it is decomposed like the score, and the variance of
anything linear in the score (a component, a partial dependence, a main effect) is the sum of the
squares of its deviations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import SpreadSource
from clearwood.explanation.games.game import BoundGame, Game, Players
from clearwood.explanation.rows.rows import EncodedRows

__all__ = ["BoundSpread", "GameSpread", "half_widths", "satterthwaite", "standard_errors"]

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
    further
        Further deviations, independent of these, with degrees of freedom of their own.
    """

    game: Game
    count: int
    freedom: float
    source: SpreadSource
    further: "GameSpread | None" = None

    @property
    def freedoms(self) -> Floats:
        """Degrees of freedom of every deviation of an output, the further ones last."""
        own = np.full(self.count, self.freedom)
        return own if self.further is None else np.append(own, self.further.freedoms)

    def deviations(self, rows: EncodedRows) -> Floats:
        """Compute the deviations of the score at rows, of shape (rows, outputs, deviations)."""
        own = self.game.predict(rows)
        own = own.reshape(len(own), -1, self.count)
        if self.further is None:
            return own
        return np.concatenate([own, self.further.deviations(rows)], axis=-1)

    def bind(
        self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1, seed: int = 0
    ) -> "BoundSpread":
        """Count a background."""
        return self.bound_by(lambda game: game.bind(rows, weights, n_jobs=n_jobs), seed)

    def bound_by(self, bind: Callable[[Game], BoundGame], seed: int = 0) -> "BoundSpread":
        """Bind every game of deviations."""
        further = None if self.further is None else self.further.bound_by(bind, seed)
        return BoundSpread(bind(self.game), self, seed, further)


@dataclass(frozen=True, eq=False)
class BoundSpread:
    """Deviations over a background; ``seed`` fixes the draws of simultaneous bands."""

    bound: BoundGame
    spread: GameSpread
    seed: int = 0
    further: "BoundSpread | None" = None

    def components(self, rows: EncodedRows, sets: Sequence[Players]) -> Floats:
        """Compute deviations of components, of shape (rows, sets, outputs, deviations).

        That of the mean prediction is added, so that a band says where the curve lies, not only
        what shape it has. Without it, bands of a component are too narrow where the component is
        close to zero (Marra and Wood 2012, section 2).
        """
        own = self._split(self.bound.baseline + self.bound.components(rows, sets).values)
        if self.further is None:
            return own
        return np.concatenate([own, self.further.components(rows, sets)], axis=-1)

    def dependence(self, rows: EncodedRows, players: Players) -> Floats:
        """Compute deviations of a partial dependence, of shape (rows, outputs, deviations)."""
        own = self._split(self.bound.few_dependence(rows, players).values)
        if self.further is None:
            return own
        return np.concatenate([own, self.further.dependence(rows, players)], axis=-1)

    def _split(self, values: Floats) -> Floats:
        return values.reshape(*values.shape[:-1], -1, self.spread.count)

    def half_widths(self, deviations: Floats, confidence: float, *, simultaneous: bool) -> Floats:
        """Compute half the width of a band over points, given (points..., outputs, deviations)."""
        return half_widths(
            deviations,
            confidence,
            self.spread.freedoms,
            simultaneous=simultaneous,
            seed=self.seed,
        )

    def least_freedom(self, deviations: Floats) -> float:
        """Return the least degrees of freedom of any point."""
        return float(np.min(satterthwaite(deviations, self.spread.freedoms), initial=np.inf))


def standard_errors(deviations: Floats) -> Floats:
    """Compute standard errors from deviations, which are the last axis.

    Examples
    --------
    >>> standard_errors(np.array([[3.0, 4.0]]))
    array([5.])
    """
    return np.asarray(np.sqrt(np.einsum("...k,...k->...", deviations, deviations)))


def satterthwaite(deviations: Floats, freedoms: Floats) -> Floats:
    """Return the degrees of freedom of sums of squares of deviations (Satterthwaite 1946).

    Deviations with the same degrees of freedom belong together.

    Examples
    --------
    >>> satterthwaite(np.array([3.0, 4.0]), np.array([7.0, 7.0]))
    array(7.)
    >>> satterthwaite(np.array([1.0, 1.0]), np.array([7.0, np.inf]))
    array(28.)
    """
    squares = deviations**2
    parts = [
        (squares[..., freedoms == one].sum(axis=-1), float(one)) for one in np.unique(freedoms)
    ]
    whole = np.asarray(sum(part for part, _ in parts))
    unsure = np.asarray(sum(part**2 / one for part, one in parts))
    out = np.full(whole.shape, np.inf)
    np.divide(whole**2, unsure, out=out, where=unsure > 0)
    return out


def half_widths(
    deviations: Floats,
    confidence: float,
    freedom: float | Floats,
    *,
    simultaneous: bool,
    seed: int = 0,
) -> Floats:
    """Compute half the width of a band over points, given (points..., outputs, deviations).

    ``freedom`` are the degrees of freedom of all deviations, or of each. A pointwise band covers
    each point with the given confidence; a simultaneous one covers the whole curve of an output, by
    the largest standardised deviation over all of its points.

    Examples
    --------
    >>> line = np.array([[[0.0]], [[1.0]], [[2.0]]])
    >>> half_widths(line, 0.9, np.inf, simultaneous=False).ravel().round(3)
    array([0.   , 1.645, 3.29 ])
    """
    errors = standard_errors(deviations)
    freedoms = np.broadcast_to(np.asarray(freedom, np.float64), deviations.shape[-1:])
    if not simultaneous:
        each = satterthwaite(deviations, freedoms)
        return np.asarray(stats.t.ppf((1 + confidence) / 2, each) * errors)
    flat = deviations.reshape(-1, *deviations.shape[-2:])
    flat_errors = errors.reshape(-1, flat.shape[1])
    factor = np.empty(flat.shape[1])
    for output in range(flat.shape[1]):
        known = flat_errors[:, output] > 1e-12 * flat_errors[:, output].max(initial=0.0)
        unit = flat[known, output] / flat_errors[known, output, None]
        factor[output] = _largest(unit, confidence, freedoms, seed)
    return np.asarray(errors * factor)


def _largest(unit: Floats, confidence: float, freedoms: Floats, seed: int) -> float:
    """Compute the quantile of the largest of |t| over points, given deviations of length one."""
    if not len(unit):
        return 0.0
    generator = np.random.default_rng(seed)
    draws = generator.standard_normal((DRAWS, unit.shape[1]))
    for one in np.unique(freedoms[np.isfinite(freedoms)]):
        draws[:, freedoms == one] /= np.sqrt(generator.chisquare(one, DRAWS) / one)[:, None]
    largest = np.zeros(DRAWS)
    block = max(1, _CELLS_PER_BLOCK // DRAWS)
    for first in range(0, len(unit), block):
        np.maximum(largest, np.abs(draws @ unit[first : first + block].T).max(axis=1), out=largest)
    return float(np.quantile(largest, confidence))
