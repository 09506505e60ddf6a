"""Components of one or two columns over a grid of their values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation.decomposition.grid import Grid, grid_of
from clearwood.explanation.games.game import BoundGame, Game, Players
from clearwood.explanation.games.spread import BoundSpread
from clearwood.explanation.rows.rows import Rows

__all__ = ["Surface", "curves_of", "surface_of"]


@dataclass(frozen=True, eq=False)
class Surface:
    """Values over a grid.

    Parameters
    ----------
    grids
        One for each column.
    values
        Of shape (values of the first column[, of the second], outputs).
    shares
        The share of the background nearest to each point, without the last axis.
    errors
        Standard errors, of the shape of ``values``; None where they are exact.
    deviations
        How far the model's own values vary, with a last axis of deviations; None where the model
        does not know.
    """

    grids: tuple[Grid, ...]
    values: Floats
    shares: Floats
    errors: Floats | None = None
    deviations: Floats | None = None


def surface_of(
    bound: BoundGame,
    rows: Rows,
    weights: Floats | None,
    players: Players,
    *,
    most: int,
    partial_dependence: bool,
    spread: BoundSpread | None = None,
) -> Surface:
    """Evaluate the component of one or two columns, or their partial dependence.

    It is shown at values that occur in the background, ``rows`` with ``weights``: at most ``most``
    of a column of numbers.
    """
    grids = tuple(grid_of(rows.columns[k], weights, most) for k in players)
    shape = tuple(len(grid) for grid in grids)
    crossed = rows.with_codes(_crossed(bound.game, rows.codes, players, grids))
    ordered = tuple(sorted(players))
    deviations = None
    if partial_dependence:
        result = bound.few_dependence(crossed, ordered)
        if spread is not None:
            deviations = spread.dependence(crossed, ordered)
    else:
        result = bound.components(crossed, [ordered])
        if spread is not None:
            deviations = spread.components(crossed, [ordered])[:, 0]
    return Surface(
        grids,
        result.values.reshape(*shape, -1),
        _shares(grids, weights, len(rows)),
        None if result.errors is None else result.errors.reshape(*shape, -1),
        None if deviations is None else deviations.reshape(*shape, *deviations.shape[1:]),
    )


def curves_of(
    bound: BoundGame,
    rows: Rows,
    weights: Floats | None,
    players: Sequence[int],
    *,
    most: int,
    spread: BoundSpread | None = None,
) -> list[Surface]:
    """Evaluate the components of several columns, each alone, in one go.

    A component of one column looks at no other, so one table of rows serves all: its k-th row holds
    the k-th value of every column.
    """
    grids = [grid_of(rows.columns[k], weights, most) for k in players]
    n_points = max((len(grid) for grid in grids), default=0)
    codes = np.repeat(rows.codes[:1], n_points, axis=0)
    for player, grid in zip(players, grids, strict=True):
        mine = bound.game.groups == player
        at = grid.rows[np.minimum(np.arange(n_points), len(grid) - 1)]
        codes[:, mine] = rows.codes[at][:, mine]
    points, sets = rows.with_codes(codes), [(player,) for player in players]
    result = bound.components(points, sets)
    deviations = None if spread is None else spread.components(points, sets)
    return [
        Surface(
            (grid,),
            result.values[: len(grid), k],
            grid.shares,
            None if result.errors is None else result.errors[: len(grid), k],
            None if deviations is None else deviations[: len(grid), k],
        )
        for k, grid in enumerate(grids)
    ]


def _crossed(game: Game, codes: Floats, players: Players, grids: tuple[Grid, ...]) -> Floats:
    """Make rows for all points of the grids; columns that do not matter are the first row's."""
    index = np.indices([len(grid) for grid in grids]).reshape(len(grids), -1)
    crossed = np.repeat(codes[:1], index.shape[1], axis=0)
    for player, grid, at in zip(players, grids, index, strict=True):
        mine = game.groups == player
        crossed[:, mine] = codes[grid.rows[at]][:, mine]
    return crossed


def _shares(grids: tuple[Grid, ...], weights: Floats | None, n_rows: int) -> Floats:
    if len(grids) == 1:
        return grids[0].shares
    shape = tuple(len(grid) for grid in grids)
    weight = np.ones(n_rows) if weights is None else weights
    cell = np.ravel_multi_index(tuple(grid.nearest for grid in grids), shape)
    counts = np.bincount(cell, weight, minlength=int(np.prod(shape)))
    return np.asarray(counts.reshape(shape) / weight.sum())
