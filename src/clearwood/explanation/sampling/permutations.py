"""Shapley values by orders in which players join, each walked in both directions."""

from collections.abc import Iterator
from dataclasses import replace

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
    control_slopes,
)

__all__ = ["by_permutations"]


#: Orders before a standard error is believed, and without which there is none.
_FIRST_ORDERS = 20
_FEWEST = 5
#: Turns of each background row before the spread within rows is believed: in fewer, a row whose
#: orders differ may show the same order by chance, and an error of zero.
_TURNS = 8


def by_permutations(
    game: ValueFunction,
    row: int,
    stopping: Stopping,
    step: Step,
    generator: np.random.Generator,
) -> ShapleyEstimate:
    """Draw orders until the values are precise enough (Hiabu 2024, section 7.1.1).

    Every order is walked forwards and backwards: what two players do together is then shared
    equally by each draw, not only on average. Interventional values take one background row per
    order, another each time, rather than all of them: many orders with one row each vary less
    than few orders with many rows. The mean of the predictions of all background rows is known and
    serves as a control variate.
    """
    n_players = game.n_players
    background = _shuffled_forever(game, generator)
    result = np.empty((n_players, 0, game.n_outputs))
    drawn = np.empty(0, np.intp)
    n_rows = len(game.weights)
    # evaluations of one order in both directions
    per_coalition = 1 if _takes_single_rows(game) else max(len(game.chosen), 1)
    cost = max(2 * (n_players - 1), 1) * per_coalition
    per_call = max(1, ROWS_PER_CALL // cost)
    most = stopping.orders or stopping.most // cost
    if (
        most >= n_rows and not stopping.orders
    ):  # an end where every row has had its turn has smaller errors
        most -= most % n_rows
    while True:
        n_new = stopping.orders or max(_FIRST_ORDERS, len(drawn) // 2)
        if len(drawn) + n_new > n_rows:  # rounds then end when every row has had its turn
            n_new += -(len(drawn) + n_new) % n_rows
        n_new = max(min(n_new, most - len(drawn)), _FEWEST - len(drawn))
        for first in range(0, n_new, per_call):
            size = min(per_call, n_new - first)
            if stopping.is_late:
                if len(drawn) < _FEWEST:
                    raise OutOfTimeError
                return _summed(game, row, result, drawn, stopping)
            orders = _orders(n_players, size, generator)
            rows = np.array([next(background) for _ in range(size)], np.intp)
            result = np.concatenate([result, _walk(game, row, orders, rows)], axis=1)
            drawn = np.concatenate([drawn, rows])
        estimate = _summed(game, row, result, drawn, stopping)
        step(0, note=f"{len(drawn)} orders")
        if stopping.orders:
            return replace(estimate, reached=True)
        if estimate.reached or len(drawn) >= most:
            return estimate


def _takes_single_rows(game: ValueFunction) -> bool:
    return type(game).against is not ValueFunction.against


def _shuffled_forever(game: ValueFunction, generator: np.random.Generator) -> Iterator[int]:
    """Return background rows: all of them before any comes again, or by weight."""
    n_rows = len(game.weights)
    even = np.allclose(game.weights, 1 / n_rows)
    while True:
        if even:
            yield from generator.permutation(n_rows).tolist()
        else:
            yield from generator.choice(n_rows, n_rows, p=game.weights).tolist()


def _orders(n_players: int, n: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Draw orders with all their rotations: every player is then at every place equally often."""
    drawn = generator.random((-(-n // n_players), n_players)).argsort(axis=1)
    places = np.arange(n_players)
    turned = drawn[:, (places[:, None] + places) % n_players].reshape(-1, n_players)
    return np.asarray(generator.permutation(turned)[:n])


def _walk(
    game: ValueFunction, row: int, orders: NDArray[np.intp], rows: NDArray[np.intp]
) -> Floats:
    """Return what each player added, the mean of both directions: (players, orders, outputs)."""
    n_orders, n_players = orders.shape
    rank = orders.argsort(axis=1)
    # coalition j of an order: the players among its first j; backwards, among its last j
    steps = np.arange(1, n_players)[None, :, None]
    forwards = rank[:, None, :] < steps
    backwards = rank[:, None, :] >= n_players - steps
    coalitions = np.stack([forwards, backwards], axis=1).reshape(-1, n_players)
    which = np.repeat(rows, 2 * (n_players - 1))
    values_inside = game.against(row, coalitions, which)
    nobody = game.background[rows]
    if values_inside is None:
        values_inside = game.at(row, coalitions).mean
        nobody = np.broadcast_to(game.empty, nobody.shape)
    value = np.empty((n_orders, 2, n_players + 1, game.n_outputs))
    value[:, :, 1:-1] = values_inside.reshape(n_orders, 2, n_players - 1, game.n_outputs)
    value[:, :, 0] = nobody[:, None]
    value[:, :, -1] = game.predictions[row]
    added = np.diff(value, axis=2)
    everyone = np.arange(n_orders)[:, None]
    parts = (added[everyone, 0, rank] + added[everyone, 1, n_players - 1 - rank]) / 2
    return np.asarray(parts.transpose(1, 0, 2))


def _summed(
    game: ValueFunction, row: int, result: Floats, drawn: NDArray[np.intp], stopping: Stopping
) -> ShapleyEstimate:
    n_orders = result.shape[1]
    share = np.full(n_orders, 1 / n_orders)
    known = game.predictions[row] - game.empty
    single = _takes_single_rows(game)
    totals = (
        game.predictions[row] - game.background[drawn] if single else np.tile(known, (n_orders, 1))
    )
    slope, scatter = control_slopes(result, totals, share)
    values = result.mean(axis=1) - slope * (totals.mean(axis=0) - known)
    values += (known - values.sum(axis=0)) / len(values)
    counts = np.bincount(drawn, minlength=len(game.weights))
    if single and counts.min() == counts.max() >= _TURNS:
        errors = _errors_within_rows(result, drawn, int(counts[0]))
    else:
        errors = np.sqrt((scatter**2).sum(axis=1) / max(n_orders - 2, 1) / n_orders)
    return ShapleyEstimate(values, errors, stopping.is_enough(values, errors))


def _errors_within_rows(result: Floats, drawn: NDArray[np.intp], times: int) -> Floats:
    """Return standard errors where every background row has had its turn equally often.

    Then only the draw of the orders is random, not that of the rows.
    """
    n_players, n_orders, n_outputs = result.shape
    by_row = result[:, np.argsort(drawn, kind="stable")].reshape(n_players, -1, times, n_outputs)
    return np.asarray(np.sqrt(by_row.var(axis=2, ddof=1).mean(axis=1) / n_orders))
