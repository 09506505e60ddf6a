"""Value functions: the value of a coalition of columns at a row, for any model."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.rows.predictor import Predictor

__all__ = ["CoalitionValues", "Coalitions", "Interventional", "ValueFunction"]

#: One line per coalition, one column per player: who takes part.
Coalitions = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CoalitionValues:
    """The values of coalitions at one row: their mean, of shape (coalitions, outputs).

    ``by_background`` has the prediction for each background row, (coalitions, background rows,
    outputs), where the same rows stand in for every coalition. ``noise`` is the variance of the
    mean, where each coalition was averaged over draws of its own.
    """

    mean: Floats
    by_background: Floats | None = None
    noise: Floats | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueFunction(ABC):
    """The value of coalitions of columns at the rows that are explained.

    Parameters
    ----------
    predictor
        The model, over the explained rows followed by the background rows.
    n_rows
        How many rows are explained.
    members
        The columns of each player.
    weights
        Of the background rows; they sum to one.
    chosen
        Positions of the background rows that stand in when a coalition is averaged.
    predictions
        Of the explained rows: (rows, outputs).
    background
        Predictions of the background rows: (background rows, outputs).
    """

    predictor: Predictor
    n_rows: int
    members: tuple[tuple[int, ...], ...]
    weights: Floats
    chosen: Index
    predictions: Floats
    background: Floats

    @property
    def n_players(self) -> int:
        """How many players there are."""
        return len(self.members)

    @property
    def n_outputs(self) -> int:
        """How many numbers a prediction has."""
        return int(self.predictions.shape[1])

    @property
    def empty(self) -> Floats:
        """The value of the empty coalition: the mean prediction over the whole background."""
        return np.asarray(self.weights @ self.background)

    @property
    def is_whole(self) -> bool:
        """Whether every background row stands in for every coalition."""
        return len(self.chosen) == len(self.weights)

    @abstractmethod
    def at(self, row: int, coalitions: Coalitions) -> CoalitionValues:
        """Return the values of coalitions at a row."""

    def against(self, row: int, coalitions: Coalitions, background: Index) -> Floats | None:
        """Return the prediction with each coalition held and one background row for the others.

        Of shape (coalitions, outputs); None where a coalition cannot be met by single rows.
        """
        del row, coalitions, background
        return None

    def mixed(self, row: int, coalitions: Coalitions, others: Index) -> Floats:
        """Predict with coalitions held at the row and the other columns at given rows."""
        held: Mapping[int, Index] = {
            column: np.where(coalitions[:, player], row, others)
            for player, columns in enumerate(self.members)
            for column in columns
        }
        return self.predictor.predict(others, held)


@dataclass(frozen=True, eq=False, kw_only=True)
class Interventional(ValueFunction):
    """Columns outside a coalition take the values of background rows, whatever those inside are.

    Hiabu (2024), definition 7.1.3.
    """

    def at(self, row: int, coalitions: Coalitions) -> CoalitionValues:
        """Average over the chosen background rows."""
        n_coalitions, n_chosen = len(coalitions), len(self.chosen)
        others = np.tile(self.n_rows + self.chosen, n_coalitions)
        result = self.mixed(row, np.repeat(coalitions, n_chosen, axis=0), others)
        cube = result.reshape(n_coalitions, n_chosen, -1)
        share = self.weights[self.chosen] / self.weights[self.chosen].sum()
        return CoalitionValues(np.einsum("b,kbo->ko", share, cube), cube)

    def against(self, row: int, coalitions: Coalitions, background: Index) -> Floats:
        """Predict with one background row for each coalition."""
        return self.mixed(row, coalitions, self.n_rows + background)
