"""Components of one or two columns over a grid of their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.explanation.games.game import BoundGame, Game, Players
from clearwood.explanation.games.spread import BoundSpread
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.table import Column, Kind

__all__ = ["Grid", "Surface", "curves_of", "grid_of", "surface_of"]


@dataclass(frozen=True, eq=False)
class Grid:
    """Chosen values of one column, each with a background row that has it.

    Only values that occur are shown: nothing is evaluated where there are no data in this
    column.

    Parameters
    ----------
    values
        Numbers, dates or, for categories, levels as written; the last one is None where values
        are missing (NaN and NaT for numbers and dates).
    rows
        A background row with that value.
    nearest
        For each background row, the position of the grid value it is nearest to.
    shares
        The share of the background's weight that is nearest to each value.
    is_ordered
        Whether the values lie on an axis (numbers and dates) rather than in a list.
    """

    values: NDArray[Any]
    rows: NDArray[np.intp]
    nearest: NDArray[np.intp]
    shares: Floats
    is_ordered: bool

    def __len__(self) -> int:
        return len(self.values)


def grid_of(column: Column, weights: Floats | None, most: int) -> Grid:
    """Choose values of a column: all of them, or quantiles where there are more than ``most``.

    Examples
    --------
    >>> age = Column("age", Kind.NUMBER, np.array([40.0, np.nan, 20.0, 40.0]))
    >>> grid = grid_of(age, None, 10)
    >>> grid.values, grid.shares
    (array([20., 40., nan]), array([0.25, 0.5 , 0.25]))
    """
    weight = np.ones(len(column)) if weights is None else weights
    counts = weight > 0  # a value that only rows of weight zero have does not occur
    missing = column.missing & counts
    present = np.flatnonzero(~column.missing & counts)
    ordered = not column.is_coded and column.kind is not Kind.TEXT
    values = column.values[present]
    if column.kind is Kind.TEXT:
        values = values.astype(str)
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    chosen = np.arange(len(distinct))
    if ordered and len(distinct) > most:
        chosen = _quantiles(np.bincount(inverse, weight[present]).astype(np.float64), most)
    nearest = np.zeros(len(column), np.intp)
    nearest[present] = _nearest(distinct, chosen)[inverse]
    nearest[missing] = len(chosen)
    rows = present[first[chosen]]
    if missing.any():
        rows = np.append(rows, np.flatnonzero(missing)[0])
    shares = np.bincount(nearest, weight, minlength=len(rows)) / weight.sum()
    return Grid(column.labels()[rows], rows, nearest, shares, ordered)


def _quantiles(weight: Floats, most: int) -> NDArray[np.intp]:
    """Return positions of distinct values at equal steps of rank, the smallest and largest too."""
    middle = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    wanted = np.linspace(0, 1, most)
    at = np.searchsorted(middle, wanted).clip(0, len(weight) - 1)
    return np.unique(np.concatenate([[0], at, [len(weight) - 1]]))


def _nearest(distinct: NDArray[Any], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each distinct value the position of the nearest chosen one."""
    if len(chosen) == len(distinct):
        return np.arange(len(distinct))
    kept = distinct[chosen]
    right = np.searchsorted(kept, distinct).clip(1, len(kept) - 1)
    left_is_nearer = distinct - kept[right - 1] <= kept[right] - distinct
    return np.asarray(right - left_is_nearer, np.intp)


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
    rows: EncodedRows,
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
    rows: EncodedRows,
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
