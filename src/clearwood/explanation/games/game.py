"""The game that the columns of a model play, and the protocol that every decomposition uses.

The value of a coalition of columns is the mean prediction when they are held at the explained row
and all others take the values of a background row: the interventional value function (Hiabu 2024,
definition 7.1.3). A game holds the model; bound to a background it gives the values.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.progress import Step, silent
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.fitted import Unit, name_of
from clearwood.forest import SUPPORTED

if TYPE_CHECKING:
    from clearwood.explanation.games.groups import PlayerGroups
    from clearwood.explanation.games.moments import ComponentMoments
    from clearwood.explanation.games.spread import GameSpread

__all__ = [
    "EXPLAINED",
    "BoundGame",
    "Counts",
    "Game",
    "GameValues",
    "NotDecomposableError",
    "Players",
    "Reader",
    "shared_out",
    "unsupported",
]

EXPLAINED = (
    f"{SUPPORTED}; linear and generalised linear models of scikit-learn (least squares, ridge, "
    "lasso, elastic net, logistic, Poisson, gamma, Tweedie, linear discriminants and support "
    "vectors), alone, after column-wise steps in a Pipeline, or in a Learner (ols, ridge, lasso, "
    "logistic, glm, spline, ...); the Learners 'gam', 'glass', 'mars', "
    "'rules', 'planted' and 'ebm'"
)


class NotDecomposableError(InputError):
    """The model is fitted and sound, but its decomposition is not known exactly."""


def unsupported(model: Any) -> NotDecomposableError:
    """Make the error for a model without an exact decomposition."""
    return NotDecomposableError(
        f"{name_of(model)} has no exact decomposition",
        parameter="model",
        hint=f"these have one: {EXPLAINED}. Explanations of other models are sampled.",
    )


#: Positions of the players of a component, rising.
Players = tuple[int, ...]
#: What a game keeps of background rows, by name.
Counts = Mapping[str, NDArray[Any]]
#: Turns the user's data into rows of a model's own columns; names decide which is which.
Reader = Callable[[Any], EncodedRows]


@dataclass(frozen=True, eq=False)
class GameValues:
    """Numbers of rows with, where they are estimated, their standard errors.

    Parameters
    ----------
    values
        The numbers.
    errors
        Of the same shape; None where the values are exact.
    interactions
        Of Shapley values, where they are wanted: (rows, players, players, outputs).
    """

    values: Floats
    errors: Floats | None = None
    interactions: Floats | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(ABC):
    """A model whose prediction can be decomposed.

    Parameters
    ----------
    columns
        The players: the user's columns, or groups of them.
    groups
        The player that each column of the codes belongs to.
    outputs
        Names of the numbers a prediction has: one, or one per class.
    unit
        What the prediction is before any link.
    is_step
        Whether the model is piecewise constant, as trees are.
    kind
        What it was made from, in words.
    reader
        Reads the user's data as rows of the model's own columns.
    grouping
        Which columns play together; None where every column plays for itself.
    spread
        How far the score varies from sample to sample; None where that is not known.
    """

    columns: tuple[str, ...]
    groups: Index
    outputs: tuple[str, ...]
    unit: Unit
    is_step: bool
    kind: str
    reader: Reader
    grouping: "PlayerGroups | None" = None
    spread: "GameSpread | None" = None

    @property
    def points(self) -> tuple[int, int]:
        """Values shown of a column of numbers: alone, and with another."""
        return 200, 30

    def rows(self, data: Any) -> EncodedRows:
        """Read the user's data and encode it."""
        return self.encode(self.reader(data))

    def encode(self, rows: EncodedRows) -> EncodedRows:
        """Turn rows that the reader gave into rows that the game is played with."""
        encoded = self.own_codes(rows)
        return encoded if self.grouping is None else self.grouping.applied(encoded)

    def own_codes(self, rows: EncodedRows) -> EncodedRows:
        """Encode rows of the model's columns before columns are grouped."""
        return rows

    @abstractmethod
    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        """Compute the prediction before any link, (rows, outputs), in double precision."""

    @property
    @abstractmethod
    def order(self) -> int:
        """The most players that interact."""

    @abstractmethod
    def sets(self, max_order: int) -> list[Players]:
        """List the sets of players whose component may differ from zero, by size, then order."""

    def bind(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> "BoundGame":
        """Count a background and bind the game to it."""
        return self.bound_to(
            self.count(rows.with_all_codes(), weights, n_jobs=n_jobs), n_jobs=n_jobs
        )

    def bind_few(
        self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1
    ) -> "BoundGame":
        """Bind the game to a few rows, one of several groups of a background."""
        return self.bind(rows, weights, n_jobs=n_jobs)

    def count(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> Counts:
        """Count the rows of a background, or of a part of one.

        Counts are sums over rows, so those of parts can be added up: `add_counts`.
        """
        raise NotImplementedError

    def add_counts(self, one: Counts, other: Counts) -> Counts:
        """Return the counts of the rows of both."""
        return {name: counts + other[name] for name, counts in one.items()}

    def bound_to(self, counts: Counts, *, n_jobs: int = 1) -> "BoundGame":
        """Bind the game to a background of which these are the counts."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundGame(ABC):
    """A game with its background.

    Parameters
    ----------
    game
        The model.
    baseline
        The mean prediction over the background, of shape (outputs,).
    n_jobs
        Threads. Results do not depend on them.
    """

    game: Game
    baseline: Floats
    n_jobs: int = 1

    @abstractmethod
    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        """Compute the components of sets at rows, of shape (rows, sets, outputs)."""

    @abstractmethod
    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        """Compute values (rows, players, outputs), and interactions with players twice.

        Off the diagonal an interaction is half of the pair's Shapley interaction index; on it is
        what is left, so that every row of the matrix adds up to the player's value.
        """

    @abstractmethod
    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        """Compute the value of one coalition at rows, of shape (rows, outputs)."""

    def rows_at_once(self, sets: Sequence[Players]) -> int:
        """Return for how many rows components are computed at once: few enough for the cache."""
        return max(1024, (1 << 24) // (8 * (len(sets) + 2) * len(self.baseline)))

    def few_dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        """Compute the value of a coalition of one or two: baseline plus the components within."""
        within = [s for size in (1, 2) for s in combinations(players, size)]
        parts = self.components(rows, within)
        return GameValues(np.asarray(self.baseline + parts.values.sum(axis=1)))

    def sampled_moments(self, sets: Sequence[Players], kept: Players) -> "ComponentMoments | None":
        """Estimate the variances of components; None where they are computed row by row.

        ``kept`` are the columns whose components of every order add up to what is explained.
        """
        del sets, kept
        return None


def shared_out(
    parts: Floats, sets: Sequence[Players], n_players: int, *, interactions: bool
) -> GameValues:
    """Share components, (rows, components, outputs), equally among the players of each.

    Hiabu (2024), corollary 7.4.5.

    Examples
    --------
    >>> parts = np.array([[[1.0], [4.0]]])
    >>> shared_out(parts, [(0,), (0, 1)], 2, interactions=False).values[0, :, 0]
    array([3., 2.])
    """
    n_rows, _, n_outputs = parts.shape
    values = np.zeros((n_rows, n_players, n_outputs))
    pairs = np.zeros((n_rows, n_players, n_players, n_outputs)) if interactions else None
    for at, players in enumerate(sets):
        values[:, list(players)] += parts[:, at, None] / len(players)
        if pairs is not None:
            # the Shapley interaction index of a pair is Σ f_S / (|S| − 1) over sets with both
            for i, j in combinations(players, 2):
                half = 0.5 * parts[:, at] / (len(players) - 1)
                pairs[:, i, j] += half
                pairs[:, j, i] += half
    if pairs is not None:
        everyone = np.arange(n_players)
        pairs[:, everyone, everyone] = values - pairs.sum(axis=2)
    return GameValues(values, interactions=pairs)
