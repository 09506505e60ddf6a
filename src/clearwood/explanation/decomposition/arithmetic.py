"""The numbers behind a decomposition: a game over its background, in positions and arrays."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.progress import progress
from clearwood.explanation.decomposition.surface import Surface, curves_of, surface_of
from clearwood.explanation.games.game import (
    BoundGame,
    Game,
    GameValues,
    Players,
    Reader,
    shared_out,
)
from clearwood.explanation.games.moments import ComponentMoments, sums_of, target_of
from clearwood.explanation.games.spread import BoundSpread, standard_errors
from clearwood.explanation.results.about import one_output
from clearwood.explanation.rows.rows import EncodedRows, warn_of_new_gaps
from clearwood.parallel import needs_folder

if TYPE_CHECKING:
    from clearwood.explanation.games.in_parts import InParts

__all__ = ["Arithmetic"]


# What the components of one block of rows may fill.
_BYTES_PER_BLOCK = 1 << 28


def _no_spread() -> None:
    """Stand for the spread of a model that has none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Arithmetic:
    """What a decomposition computes, once names are positions.

    Parameters
    ----------
    bound
        The model with its background.
    rows, weights
        The background.
    outputs
        The outputs that are explained.
    sets
        The players of each component.
    order
        The most players a component has.
    removed
        Players whose components were dropped.
    reading
        Reads rows that the user gives.
    bound_spread
        Binds how far the model varies to the background, when that is first needed.
    in_parts
        The background, where its rows stay where they are; ``rows`` are then a sample of them, at
        whose values functions are shown.
    """

    bound: BoundGame
    rows: EncodedRows
    weights: Floats | None
    outputs: slice
    sets: tuple[Players, ...]
    order: int
    reading: Reader
    removed: Players = ()
    bound_spread: Callable[[], BoundSpread | None] = _no_spread
    in_parts: "InParts | None" = None

    @property
    def game(self) -> Game:
        """The model."""
        return self.bound.game

    @property
    def is_complete(self) -> bool:
        """Whether the components add up to the prediction, with no remainder."""
        return self.order >= self.game.order

    def without(self, players: Players) -> "Arithmetic":
        """Drop every component that touches some players."""
        gone = {*self.removed, *players}
        return replace(
            self,
            sets=tuple(s for s in self.sets if not set(s) & gone),
            removed=tuple(sorted(gone)),
        )

    def read(self, rows: Any) -> EncodedRows:
        """Read the user's rows; the background's where None is given."""
        if rows is None:
            if self.in_parts is not None:
                raise needs_folder("values")
            return self.rows.with_all_codes()
        read = self.reading(rows)
        warn_of_new_gaps(read, self.rows, "background")
        return read

    # Functions of columns

    def surface(self, players: Players, points: int | None, *, partial_dependence: bool) -> Surface:
        """Evaluate the component of one or two players, or their partial dependence."""
        result = surface_of(
            self.bound,
            self.rows,
            self.weights,
            players,
            most=points or self.game.points[len(players) - 1],
            partial_dependence=partial_dependence,
            spread=self.bound_spread(),
        )
        return self._explained(result)

    def curves(self, points: int | None) -> dict[int, Surface]:
        """Evaluate the component of every player that has one of its own."""
        players = [players[0] for players in self.sets if len(players) == 1]
        most = points or self.game.points[0]
        result = curves_of(
            self.bound,
            self.rows,
            self.weights,
            players,
            most=most,
            spread=self.bound_spread(),
        )
        return dict(zip(players, map(self._explained, result), strict=True))

    def _explained(self, surface: Surface) -> Surface:
        return replace(
            surface,
            values=self._one(surface.values),
            errors=self._maybe(surface.errors),
            deviations=None
            if surface.deviations is None
            else surface.deviations[..., self.outputs, :],
        )

    # Values of rows

    def evaluate(self, rows: EncodedRows) -> tuple[GameValues, Floats]:
        """Compute the components at rows, and what they leave."""
        with progress("decomposing", total=len(rows)) as step:
            parts = self.bound.components(rows, self.sets, step=step)
        rest = self._target(rows) - self.bound.baseline - parts.values.sum(axis=1)
        if self.is_complete:
            rest[:] = 0.0  # what is left is rounding
        return GameValues(self._one(parts.values), self._maybe(parts.errors)), self._one(rest)

    def own_errors(self, rows: EncodedRows) -> Floats | None:
        """Compute the model's own standard errors of the components at rows, block by block."""
        spread = self.bound_spread()
        if spread is None:
            return None
        width = max(1, len(self.sets) * len(spread.bound.baseline))
        block = max(1, _BYTES_PER_BLOCK // (8 * width))
        result = np.empty((len(rows), len(self.sets), len(self.bound.baseline)))
        for first in range(0, len(rows), block):
            part = rows.with_codes(rows.codes[first : first + block])
            result[first : first + block] = standard_errors(spread.components(part, self.sets))
        return self._one(result)

    def shapley(self, rows: EncodedRows, *, interactions: bool) -> GameValues:
        """Share all components among their players, those beyond the order too."""
        if self.removed:
            shared = self._shared(rows, interactions=interactions)
        else:
            with progress("explaining", total=len(rows)) as step:
                shared = self.bound.shapley(rows, interactions=interactions, step=step)
        return GameValues(
            self._one(shared.values),
            self._maybe(shared.errors),
            self._maybe(shared.interactions),
        )

    def _shared(self, rows: EncodedRows, *, interactions: bool) -> GameValues:
        """Share components among their players; needs all of them."""
        if not self.is_complete:
            raise InputError(
                "Shapley values without some columns need components of every order, and this "
                f"decomposition stops at {self.order}",
                parameter="max_order",
                value=self.order,
                hint=words("explain with ", Option("max_order", None), "."),
            )
        parts = self.bound.components(rows, self.sets).values
        return shared_out(parts, self.sets, len(self.game.columns), interactions=interactions)

    def _target(self, rows: EncodedRows) -> Floats:
        """Compute what all components of any order add up to: the prediction, or what is left."""
        return target_of(self.bound, rows, self._kept if self.removed else None)

    @property
    def _kept(self) -> Players:
        """The players that were not removed."""
        return tuple(k for k in range(len(self.game.columns)) if k not in self.removed)

    # Variances over the background

    @cached_property
    def moments(self) -> ComponentMoments:
        """The variances of the components, of the remainder and of both together."""
        sampled = self.bound.sampled_moments(self.sets, self._kept)
        result = self._measured() if sampled is None else sampled
        replicates = result.replicates
        return ComponentMoments(
            result.variance[..., self.outputs],
            result.remainder[..., self.outputs],
            result.prediction[..., self.outputs],
            None if replicates is None else replicates[..., self.outputs],
        )

    def _measured(self) -> ComponentMoments:
        """Go through the background once."""
        kept = self._kept if self.removed else None
        if self.in_parts is not None:
            return self.in_parts.moments(
                self.bound, self.sets, is_complete=self.is_complete, kept=kept
            )
        with progress("measuring components", total=len(self.rows)) as step:
            sums = sums_of(
                self.bound,
                self.rows,
                self.weights,
                self.sets,
                is_complete=self.is_complete,
                kept=kept,
                step=step,
            )
        return sums.moments()

    def _one(self, values: Floats) -> Floats:
        """Keep the outputs that are explained; drop their axis where there is one."""
        return one_output(np.asarray(values)[..., self.outputs])

    def _maybe(self, values: Floats | None) -> Floats | None:
        return None if values is None else self._one(values)
