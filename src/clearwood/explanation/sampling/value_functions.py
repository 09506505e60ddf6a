"""Value functions of coalitions of columns, for any model, and when to stop estimating."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.rows.predictor import Predictor

__all__ = [
    "CoalitionValues",
    "Coalitions",
    "Interventional",
    "OutOfTimeError",
    "ShapleyEstimate",
    "Stopping",
    "ValueFunction",
    "over_background",
]

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


#: Rows of one call at most: large enough to be quick, small enough to be stopped in between.
ROWS_PER_CALL = 100_000


class OutOfTimeError(Exception):
    """The time is over before a row has values."""


@dataclass(frozen=True, eq=False)
class ShapleyEstimate:
    """The Shapley values of one row.

    Parameters
    ----------
    values
        Of shape (players, outputs); they add up to the prediction less the baseline.
    errors
        Their standard errors.
    reached
        Whether the required precision was reached.
    """

    values: Floats
    errors: Floats
    reached: bool = True


@dataclass(frozen=True)
class Stopping:
    """When drawing ends.

    Parameters
    ----------
    precision
        Enough once no standard error is larger than this share of the spread of the row's values.
    most
        Evaluations of the model for one row at most.
    deadline
        The time, on the monotonic clock, at which everything ends; None for never.
    orders
        Orders that are drawn, whatever the precision; None to go by that.
    """

    precision: float
    most: int
    deadline: float | None = None
    orders: int | None = None

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def is_enough(self, values: Floats, errors: Floats) -> bool:
        """Whether the standard errors are small compared with the spread of the values.

        Examples
        --------
        >>> stopping = Stopping(precision=0.01, most=1000)
        >>> values = np.array([[1.0], [-1.0]])
        >>> stopping.is_enough(values, np.array([[0.01], [0.01]]))
        True
        """
        spread = values.max(axis=0) - np.minimum(values.min(axis=0), 0.0)
        # what rounding alone can leave of values that are all zero
        rounding = 1e-12 * (1 + np.abs(values).max(initial=0.0))
        return bool((errors <= self.precision * spread + rounding).all())


def over_background(game: ValueFunction, row: int, by_background: Floats) -> tuple[Floats, Floats]:
    """Average the values that single background rows give, with the standard error of drawing them.

    ``by_background`` has the shape (players, chosen background rows, outputs). For each background
    row the values add up to the prediction less that row's own. The mean of this sum over the
    *whole* background is known, so it serves as a control variate: with it, values add up to the
    prediction less the exact baseline, and vary less. Returns the values and the variance that
    comes from the draw, each (players, outputs).
    """
    share = game.weights[game.chosen] / game.weights[game.chosen].sum()
    mean = np.einsum("b,pbo->po", share, by_background)
    known = game.predictions[row] - game.empty
    if game.is_whole:
        return _efficient(mean, known), np.zeros_like(mean)
    total = game.predictions[row] - game.background[game.chosen]
    slope, scatter = control_slopes(by_background, total, share)
    left = 1 - len(game.chosen) / len(game.weights)
    variance = left * np.einsum("b,pbo->po", share**2, scatter**2)
    few = len(share) / max(len(share) - 2, 1)
    return _efficient(mean - slope * (share @ total - known), known), few * variance


def control_slopes(parts: Floats, total: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Regress parts on the total that they add up to, per output.

    Returns slopes (players, outputs), which sum to one, and residuals of the shape of ``parts``.
    """
    centred = total - share @ total
    spread = np.einsum("b,bo->o", share, centred**2)
    deviation = parts - np.einsum("b,pbo->po", share, parts)[:, None]
    moves = np.einsum("b,pbo,bo->po", share, deviation, centred)
    flat = spread <= 1e-24 * (1 + np.abs(total).max(initial=0.0)) ** 2
    slope = np.where(flat, 1 / len(parts), moves / np.where(flat, 1.0, spread))
    return slope, deviation - slope[:, None] * centred


def _efficient(values: Floats, total: Floats) -> Floats:
    """Take rounding out of the sum."""
    return np.asarray(values + (total - values.sum(axis=0)) / len(values))
