"""Shapley values from coalitions: all of them, or a weighted regression on drawn ones."""

import math

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step
from clearwood.explanation.sampling.value_functions import (
    ROWS_PER_CALL,
    OutOfTimeError,
    ShapleyEstimate,
    Stopping,
    ValueFunction,
    over_background,
)

__all__ = ["all_coalitions", "by_kernel_regression", "by_subsets", "shapley_weights", "size_shares"]


def by_subsets(game: ValueFunction, row: int, stopping: Stopping, step: Step) -> ShapleyEstimate:
    """Use the value of every coalition (Hiabu 2024, theorem 7.1.2).

    Exact for the value function and the background rows that stand in; where these are drawn from
    a larger background, or each coalition has draws of its own, the standard errors show what that
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
        return ShapleyEstimate(
            values + (game.predictions[row] - game.empty) / n_players, np.sqrt(noise)
        )
    each += (game.predictions[row] - game.background[game.chosen]) / n_players
    values, variance = over_background(game, row, each)
    return ShapleyEstimate(values, np.sqrt(variance))


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


#: Up to this many players every coalition is a single player or the complement of one.
_ALL_EVALUATED = 3
#: Pairs of a round, per player: enough that the first standard errors mean something.
_PAIRS_PER_PLAYER = 4


def by_kernel_regression(
    game: ValueFunction,
    row: int,
    stopping: Stopping,
    step: Step,
    generator: np.random.Generator,
) -> ShapleyEstimate:
    """Draw pairs of coalitions until the values are precise enough.

    The standard errors allow for the draw of coalitions (a sandwich estimate over pairs) and, where
    not all background rows stand in, for the draw of these.
    """
    n_players = game.n_players
    if n_players <= _ALL_EVALUATED:
        return by_subsets(game, row, stopping, step)
    pairs = _CoalitionPairs(game, row)
    pairs.evaluate(np.eye(n_players, dtype=np.bool_), stopping)
    shares = size_shares(n_players)
    middle = shares.copy()
    middle[[1, n_players - 1]] = 0.0
    rest = middle.sum()
    per_pair = 2 * len(game.chosen)
    while True:
        n_new = _PAIRS_PER_PLAYER * n_players
        n_new = max(n_new, pairs.n_drawn // 2)  # rounds grow, so checking stays cheap
        n_left = (stopping.most - pairs.n_evaluated * per_pair) // per_pair
        # fewer draws than players determine nothing
        n_new = max(min(n_new, n_left), 2 * n_players - pairs.n_drawn)
        if 2 * (pairs.n_evaluated + n_new) >= 2**n_players:
            return by_subsets(game, row, stopping, step)  # no dearer, and nothing is drawn
        try:
            pairs.evaluate(draw_coalitions(n_players, middle / rest, n_new, generator), stopping)
        except OutOfTimeError:
            if pairs.n_drawn < 2 * n_players:
                raise
            return pairs.solve(float(rest), stopping)
        result = pairs.solve(float(rest), stopping)
        step(0, note=f"{2 * pairs.n_evaluated} coalitions")
        if result.reached or (pairs.n_evaluated + n_players) * per_pair > stopping.most:
            return result


def size_shares(n_players: int) -> Floats:
    """Return the share of the Shapley kernel's weight on coalitions of each size, 0 to p.

    Examples
    --------
    >>> size_shares(4).round(3)
    array([0.   , 0.364, 0.273, 0.364, 0.   ])
    """
    sizes = np.arange(1, n_players)
    weights = 1 / (sizes * (n_players - sizes))
    return np.concatenate([[0.0], weights / weights.sum(), [0.0]])


def draw_coalitions(
    n_players: int, shares: Floats, n: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw coalitions: the size by its share, the members all alike likely."""
    # systematic draws of the size: each occurs as often as its share says, to within one
    places = (np.arange(n) + generator.random()) / n
    sizes = np.searchsorted(np.cumsum(shares), places, side="right")
    sizes = generator.permutation(np.clip(sizes, 1, n_players - 1))
    ranks = generator.random((n, n_players)).argsort(axis=1).argsort(axis=1)
    return np.asarray(ranks < sizes[:, None])


class _CoalitionPairs:
    """Coalitions evaluated so far, each with its complement; the first are the single players."""

    def __init__(self, game: ValueFunction, row: int) -> None:
        self.game = game
        self.row = row
        n_players = game.n_players
        self.basis = np.linalg.qr(
            np.column_stack([np.ones(n_players), np.eye(n_players)[:, : n_players - 1]])
        )[0][:, 1:]
        self.coalitions = np.empty((0, n_players), np.bool_)
        self.differences = np.empty((0, game.n_outputs))
        self.by_background: list[Floats] = []

    @property
    def n_evaluated(self) -> int:
        return len(self.coalitions)

    @property
    def n_drawn(self) -> int:
        return self.n_evaluated - self.game.n_players

    def evaluate(self, coalitions: NDArray[np.bool_], stopping: Stopping) -> None:
        """Evaluate coalitions and their complements."""
        per_call = max(1, ROWS_PER_CALL // (2 * max(len(self.game.chosen), 1)))
        for first in range(0, len(coalitions), per_call):
            if stopping.is_late:
                raise OutOfTimeError
            part = coalitions[first : first + per_call]
            value = self.game.at(self.row, np.concatenate([part, ~part]))
            self.coalitions = np.concatenate([self.coalitions, part])
            means = value.mean[: len(part)] - value.mean[len(part) :]
            self.differences = np.concatenate([self.differences, means])
            if value.by_background is not None:
                cube = value.by_background
                self.by_background.append(cube[: len(part)] - cube[len(part) :])

    def solve(self, rest: float, stopping: Stopping) -> ShapleyEstimate:
        """Solve the constrained regression.

        Parameters
        ----------
        rest
            The share of the kernel's weight on coalitions that are drawn.
        stopping
            Says whether the standard errors are small enough.
        """
        game, n_players = self.game, self.game.n_players
        n_drawn = self.n_drawn
        weights = np.concatenate(
            [np.full(n_players, (1 - rest) / n_players), np.full(n_drawn, rest / n_drawn)]
        )
        design = self.coalitions @ self.basis
        bread = np.linalg.inv(design.T @ (weights[:, None] * design))
        solve = self.basis @ bread @ (weights[:, None] * design).T  # (players, pairs)
        # a pair whose players do as the mean player does differs by (2|S| − p) t / p
        tilt = (2 * self.coalitions.sum(axis=1) - n_players) / n_players
        total = game.predictions[self.row] - game.empty
        values = total / n_players + solve @ (self.differences - tilt[:, None] * total) / 2
        fitted = design @ (self.basis.T @ values)
        residual = (self.differences - tilt[:, None] * total) / 2 - fitted
        scores = solve[:, n_players:, None] * residual[n_players:]
        scores -= scores.mean(axis=1, keepdims=True)
        few = n_drawn / max(n_drawn - n_players + 1, 1)
        variance = few * (scores**2).sum(axis=1)
        reached = stopping.is_enough(values, np.sqrt(variance))
        if self.by_background:
            cube = np.concatenate(self.by_background)
            totals = game.predictions[self.row] - game.background[game.chosen]
            each = np.tensordot(solve, cube - tilt[:, None, None] * totals, 1) / 2
            each += totals / n_players
            values, drawn = over_background(game, self.row, each)
            variance = variance + drawn
        return ShapleyEstimate(values, np.sqrt(variance), reached)
