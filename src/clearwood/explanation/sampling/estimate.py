"""Estimated Shapley values of one row: when to stop, and what a drawn background costs."""

import time
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation.sampling.value_functions import ValueFunction

__all__ = ["Estimate", "OutOfTimeError", "Stopping", "over_background"]


#: Rows of one call at most: large enough to be quick, small enough to be stopped in between.
ROWS_PER_CALL = 100_000


class OutOfTimeError(Exception):
    """The time is over before a row has values."""


@dataclass(frozen=True, eq=False)
class Estimate:
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
        """Whether the standard errors are small beside the spread of the values.

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
    """Average the values that single background rows give, and say what drawing them costs.

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
