"""Shapley values by all subsets of the players."""

import math

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step
from clearwood.explanation.sampling.estimate import (
    ROWS_PER_CALL,
    Estimate,
    OutOfTimeError,
    Stopping,
    over_background,
)
from clearwood.explanation.sampling.value_functions import ValueFunction

__all__ = ["all_coalitions", "by_subsets", "shapley_weights"]


def by_subsets(game: ValueFunction, row: int, stopping: Stopping, step: Step) -> Estimate:
    """Use the value of every coalition (Hiabu 2024, theorem 7.1.2).

    Exact for the value function and the background rows that stand in; where these are drawn from
    a larger background, or each coalition has draws of its own, the standard errors say what that
    costs.
    """
    coalitions = all_coalitions(game.n_players)
    weights = shapley_weights(coalitions)
    n_players = game.n_players
    per_call = max(1, ROWS_PER_CALL // max(len(game.chosen), 1))
    values = np.zeros((n_players, game.n_outputs))
    noise = np.zeros_like(values)
    each: Floats | None = None
    for first in range(1, len(coalitions) - 1, per_call):
        if stopping.is_late:
            raise OutOfTimeError
        part = slice(first, min(first + per_call, len(coalitions) - 1))
        value = game.at(row, coalitions[part])
        values += weights[:, part] @ value.mean
        if value.noise is not None:
            noise += weights[:, part] ** 2 @ value.noise
        if value.by_background is not None:
            result = np.einsum("pk,kbo->pbo", weights[:, part], value.by_background)
            each = result if each is None else each + result
        step(0, note=f"{first} of {len(coalitions)} coalitions")
    # nobody and everybody, whose value is known, count 1/p for each player
    if each is None:
        return Estimate(values + (game.predictions[row] - game.empty) / n_players, np.sqrt(noise))
    each += (game.predictions[row] - game.background[game.chosen]) / n_players
    values, variance = over_background(game, row, each)
    return Estimate(values, np.sqrt(variance))


def all_coalitions(n_players: int) -> NDArray[np.bool_]:
    """Return every coalition, one per line; nobody first, everybody last.

    Examples
    --------
    >>> all_coalitions(2).astype(int)
    array([[0, 0],
           [1, 0],
           [0, 1],
           [1, 1]])
    """
    codes = np.arange(1 << n_players)[:, None]
    return np.asarray((codes >> np.arange(n_players)) & 1, np.bool_)


def shapley_weights(coalitions: NDArray[np.bool_]) -> Floats:
    """Return what the value of each coalition adds to each player's value, (players, coalitions).

    A coalition of s players counts (s − 1)! (p − s)! / p! for its members and
    −s! (p − s − 1)! / p! for all others.

    Examples
    --------
    >>> shapley_weights(all_coalitions(2))
    array([[-0.5,  0.5, -0.5,  0.5],
           [-0.5, -0.5,  0.5,  0.5]])
    """
    n_players = coalitions.shape[1]
    size = coalitions.sum(axis=1)
    inside = np.array([0.0, *(1 / (s * math.comb(n_players, s)) for s in range(1, n_players + 1))])
    outside = np.array(
        [*(1 / ((n_players - s) * math.comb(n_players, s)) for s in range(n_players)), 0.0]
    )
    return np.where(coalitions, inside[size, None], -outside[size, None]).T
