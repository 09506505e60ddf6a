"""What an effect is computed from, and what a method gives: between the verb and the methods."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import EffectKind
from clearwood._shared.clock import Clock
from clearwood.explanation.adapter.blocks import Evaluated, evaluated_in_blocks
from clearwood.explanation.adapter.explained import Explained
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.explanation.effects.extrapolation import Region, support_of
from clearwood.explanation.effects.given import Given
from clearwood.explanation.effects.grid import Points, points_of

__all__ = ["Measured", "Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """The options of an effect, checked.

    Parameters
    ----------
    explained, predictor
        The model with its data, and both as a function of rows.
    positions
        The columns.
    kind, centred, derivative, exact
        As the user chose.
    most
        The most values of a column.
    given
        Values that the user gave, by the position of their column.
    rows, weights
        The rows to average over.
    draws
        Of the band.
    confidence
        Its coverage.
    extrapolation
        How rows outside the data are found; None for not at all.
    clock
        Until when the work may go on.
    seed, n_jobs
        As the user chose.
    """

    explained: Explained
    predictor: Predictor
    positions: tuple[int, ...]
    kind: EffectKind
    most: int
    rows: Index
    weights: Floats
    centred: bool
    derivative: bool
    draws: int
    confidence: float
    extrapolation: str | None
    exact: bool
    seed: int
    n_jobs: int
    clock: Clock
    given: Mapping[int, Given] = field(default_factory=dict)

    def points(self) -> Points:
        """Choose the values at which the effect is shown."""
        predictor = self.predictor
        return points_of(
            predictor.columns, self.positions, predictor.weights, self.most, self.given
        )

    def support(self) -> Region:
        """Learn where data lie around the columns."""
        how = self.extrapolation or "distance"
        return support_of(self.predictor, self.positions, how=how, seed=self.seed)

    def shares(self, points: Points) -> Floats:
        """Give the share of the data at each point."""
        predictor = self.predictor
        whole = np.ones(len(predictor)) if predictor.weights is None else predictor.weights
        return points.shares(whole)

    def evaluated(self, evaluate: Any, per_row: int) -> Evaluated[Any]:
        """Evaluate the rows, as far as the time limit allows."""
        return evaluated_in_blocks(
            self.rows, evaluate, per_row=per_row, seed=self.seed, clock=self.clock
        )

    def narrowed(self, rows: Index) -> "Request":
        """Go on with some of the rows."""
        place = np.searchsorted(self.rows, rows)
        return replace(self, rows=rows, weights=self.weights[place])


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method gives, before it is put into a result.

    Parameters
    ----------
    grid, values, shares, outside, is_ordered
        As in the result, but for a last axis of outputs that is always there.
    rows, weights
        The rows that were evaluated.
    replicates
        The values under each draw of the rows; None for no band.
    curves
        Those of single rows, in the order of ``rows``.
    near
        For each row nearly its prediction and, after that, how far that may be off, where they
        are known: (rows, outputs + 1).
    exact
        Whether the values were read off a decomposition.
    left_out, stopped
        What the user is warned of.
    notes
        What is only noted.
    """

    grid: tuple[NDArray[Any], ...]
    values: Floats
    shares: Floats
    outside: Floats
    is_ordered: tuple[bool, ...]
    rows: Index
    weights: Floats
    replicates: Floats | None = None
    curves: Floats | None = None
    near: Floats | None = None
    exact: bool = False
    left_out: str | None = None
    stopped: str | None = None
    notes: tuple[str, ...] = ()
