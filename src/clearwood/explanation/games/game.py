"""What a decomposition asks of a model: the game its columns play.

The value of a coalition of columns is the mean prediction when they are held at the explained row
and all others take the values of a background row: the interventional value function (Hiabu 2024,
definition 7.1.3). A game knows the model; bound to a background it knows the values.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.rows import Rows

if TYPE_CHECKING:
    from clearwood.explanation.games.moments import Moments

__all__ = ["BoundGame", "Game", "Players", "Step", "checked_weights"]

Floats = NDArray[np.float64]
#: Positions of the players of a component, rising.
Players = tuple[int, ...]
#: Called with the number of rows done.
Step = Callable[[int], object]


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(ABC):
    """A model whose prediction can be taken apart exactly.

    Parameters
    ----------
    columns
        The players: the user's columns.
    groups
        The player that each column of the codes belongs to.
    outputs
        Names of the numbers a prediction has: one, or one per class.
    unit
        What the raw prediction is, in words.
    is_step
        Whether the model is piecewise constant, as trees are.
    kind
        What it was made from, in words.
    """

    columns: tuple[str, ...]
    groups: NDArray[np.intp]
    outputs: tuple[str, ...]
    unit: str
    is_step: bool
    kind: str

    @property
    def points(self) -> tuple[int, int]:
        """Values shown of a column of numbers: alone, and beside another."""
        return 200, 30

    @abstractmethod
    def rows(self, data: Any) -> Rows:
        """Read the user's data; names decide which column is which."""

    @abstractmethod
    def predict(self, codes: Floats, *, n_jobs: int = 1) -> Floats:
        """Give the raw prediction, of shape (rows, outputs), added up in double precision."""

    @property
    @abstractmethod
    def longest(self) -> int:
        """The most players that interact."""

    @abstractmethod
    def sets(self, max_order: int) -> list[Players]:
        """Give the sets of players whose component may differ from zero, by size, then order."""

    @abstractmethod
    def bind(self, codes: Floats, weights: Floats | None, *, n_jobs: int = 1) -> "BoundGame":
        """Count a background."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundGame(ABC):
    """A game with its background.

    Parameters
    ----------
    baseline
        The mean prediction over the background, of shape (outputs,).
    """

    baseline: Floats = field()

    @property
    def last_errors(self) -> Floats | None:
        """Standard errors of the components or values given last; None where they are exact."""
        return None

    @abstractmethod
    def components(
        self,
        codes: Floats,
        sets: Sequence[Players],
        *,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> Floats:
        """Give the components of sets at rows, of shape (rows, sets, outputs)."""

    @abstractmethod
    def shapley(
        self,
        codes: Floats,
        *,
        interactions: bool = False,
        n_jobs: int = 1,
        step: Step | None = None,
    ) -> tuple[Floats, Floats | None]:
        """Give values (rows, players, outputs) and interactions (rows, players, players, outputs).

        Off the diagonal an interaction is half of the pair's Shapley interaction index; on it is
        what is left, so that every row of the matrix adds up to the player's value.
        """

    @abstractmethod
    def dependence(self, codes: Floats, players: Players, *, n_jobs: int = 1) -> Floats:
        """Give the value of one coalition at rows, of shape (rows, outputs)."""

    def few_dependence(self, codes: Floats, players: Players, *, n_jobs: int = 1) -> Floats:
        """Give the value of a coalition of one or two: the baseline and the components within."""
        within = [s for size in (1, 2) for s in combinations(players, size)]
        parts = self.components(codes, within, n_jobs=n_jobs)
        return np.asarray(self.baseline + parts.sum(axis=1))

    def sampled_moments(self, sets: Sequence[Players], kept: Players) -> "Moments | None":
        """Estimate the variances of components; None where they are had exactly, row by row.

        ``kept`` are the columns whose components of every order add up to what is explained.
        """
        del sets, kept
        return None


def checked_weights(weights: Any, n_rows: int) -> Floats | None:
    """Check the weights of background rows; None stays None."""
    if weights is None:
        return None
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_rows,):
        raise InputError(
            f"the weights have shape {found.shape}; the background has {n_rows} rows",
            hint="give one weight per row.",
        )
    if not np.isfinite(found).all() or (found < 0).any():
        at = int(np.flatnonzero(~(found >= 0) | ~np.isfinite(found))[0])
        raise InputError(
            f"the weight of background row {at} is {found[at]:g}",
            hint="weights must be finite and not negative.",
        )
    if not found.sum() > 0:
        raise InputError(
            "the weights of the background sum to zero",
            hint="give at least one row a positive weight.",
        )
    return found
