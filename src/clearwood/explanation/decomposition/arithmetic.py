"""The numbers behind a decomposition: a game over its background, in positions and arrays."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.rows import Rows, warn_of_new_gaps
from clearwood.explanation.decomposition.surface import Surface, curves_of, surface_of
from clearwood.explanation.games.game import BoundGame, Floats, Game, Players
from clearwood.explanation.games.moments import Moments, moments_of
from clearwood.explanation.outputs import one_output
from clearwood.explanation.shapley.sharing import shared_out

__all__ = ["Arithmetic", "Evaluated", "Shared"]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Components at rows, the last axis dropped where there is one output.

    Parameters
    ----------
    components
        Of shape (rows, components[, outputs]).
    remainder
        What they leave of the prediction: (rows[, outputs]).
    errors
        Standard errors of the components; None where they are exact.
    """

    components: Floats
    remainder: Floats
    errors: Floats | None


@dataclass(frozen=True, eq=False)
class Shared:
    """Shapley values of rows, the last axis dropped where there is one output.

    Parameters
    ----------
    values
        Of shape (rows, columns[, outputs]).
    interactions
        Of shape (rows, columns, columns[, outputs]); None where not asked for.
    errors
        Standard errors of the values; None where they are exact.
    """

    values: Floats
    interactions: Floats | None
    errors: Floats | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Arithmetic:
    """What a decomposition computes, once names are positions.

    Parameters
    ----------
    game, bound
        The model, and the model with its background.
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
    n_jobs
        Threads.
    """

    game: Game
    bound: BoundGame
    rows: Rows
    weights: Floats | None
    outputs: slice
    sets: tuple[Players, ...]
    order: int
    removed: Players = ()
    n_jobs: int = 1

    @property
    def is_complete(self) -> bool:
        """Whether the components add up to the prediction, with no remainder."""
        return self.order >= self.game.longest

    def without(self, players: Players) -> "Arithmetic":
        """Drop every component that touches some players."""
        gone = {*self.removed, *players}
        return replace(
            self,
            sets=tuple(s for s in self.sets if not set(s) & gone),
            removed=tuple(sorted(gone)),
        )

    def read(self, rows: Any) -> Rows:
        """Read the user's rows; the background's where None is given."""
        if rows is None:
            return self.rows
        read = self.game.rows(rows)
        warn_of_new_gaps(read, self.rows, "background")
        return read

    # Functions of columns

    def surface(self, players: Players, points: int | None, *, partial_dependence: bool) -> Surface:
        """Evaluate the component of one or two players, or their partial dependence."""
        found = surface_of(
            self.game,
            self.bound,
            self.rows,
            self.weights,
            players,
            most=points or self.game.points[len(players) - 1],
            partial_dependence=partial_dependence,
            n_jobs=self.n_jobs,
        )
        return self._explained(found)

    def curves(self, points: int | None) -> dict[int, Surface]:
        """Evaluate the component of every player that has one of its own."""
        players = [players[0] for players in self.sets if len(players) == 1]
        found = curves_of(
            self.game,
            self.bound,
            self.rows,
            self.weights,
            players,
            most=points or self.game.points[0],
            n_jobs=self.n_jobs,
        )
        return dict(zip(players, map(self._explained, found), strict=True))

    def _explained(self, surface: Surface) -> Surface:
        return replace(
            surface,
            values=self._one(surface.values),
            errors=None if surface.errors is None else self._one(surface.errors),
        )

    # Values of rows

    def evaluate(self, rows: Rows) -> Evaluated:
        """Give the components at rows, and what they leave."""
        with progress("decomposing", total=len(rows)) as step:
            found = self.bound.components(rows.codes, self.sets, n_jobs=self.n_jobs, step=step)
        errors = self._errors()
        rest = self._target(rows.codes) - self.bound.baseline - found.sum(axis=1)
        if self.is_complete:
            rest[:] = 0.0  # what is left is rounding
        return Evaluated(self._one(found), self._one(rest), errors)

    def shapley(self, rows: Rows, *, interactions: bool) -> Shared:
        """Share all components among their players, those beyond the order too."""
        if self.removed:
            values, pairs = self._shared(rows.codes, interactions=interactions)
        else:
            with progress("explaining", total=len(rows)) as step:
                values, pairs = self.bound.shapley(
                    rows.codes, interactions=interactions, n_jobs=self.n_jobs, step=step
                )
        return Shared(
            self._one(values),
            None if pairs is None else self._one(pairs),
            None if self.removed else self._errors(),
        )

    def _shared(self, codes: Floats, *, interactions: bool) -> tuple[Floats, Floats | None]:
        """Share components among their players; needs all of them."""
        if not self.is_complete:
            raise InputError(
                "Shapley values without some columns need components of every order, and this "
                f"decomposition stops at {self.order}",
                hint="cw.explain(model, data, max_order=None).without(...).",
            )
        parts = self.bound.components(codes, self.sets, n_jobs=self.n_jobs)
        return shared_out(parts, self.sets, len(self.game.columns), interactions=interactions)

    def _target(self, codes: Floats) -> Floats:
        """Give what all components of any order add up to: the prediction, or what is left of it.

        Without some players that is the partial dependence on the others.
        """
        if not self.removed:
            return self.game.predict(codes, n_jobs=self.n_jobs)
        return self.bound.dependence(codes, self._kept, n_jobs=self.n_jobs)

    @property
    def _kept(self) -> Players:
        """The players that were not removed."""
        return tuple(k for k in range(len(self.game.columns)) if k not in self.removed)

    # Variances over the background

    @cached_property
    def moments(self) -> Moments:
        """The variances of the components, of the remainder and of both together."""
        found = self.bound.sampled_moments(self.sets, self._kept) or moments_of(
            self.bound,
            self.sets,
            self.rows.codes,
            self.weights,
            self._target,
            complete=self.is_complete,
            n_jobs=self.n_jobs,
        )
        replicates = found.replicates
        return Moments(
            found.variance[..., self.outputs],
            found.remainder[..., self.outputs],
            found.prediction[..., self.outputs],
            None if replicates is None else replicates[..., self.outputs],
        )

    def _one(self, values: Floats) -> Floats:
        """Keep the outputs that are explained; drop their axis where there is one."""
        return one_output(np.asarray(values)[..., self.outputs])

    def _errors(self) -> Floats | None:
        """Give the standard errors of what the game gave last; None where it is exact."""
        errors = self.bound.last_errors
        return None if errors is None else self._one(errors)
