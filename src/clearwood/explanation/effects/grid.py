"""The points at which an effect is shown, as rows that have those values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import percent
from clearwood.explanation.decomposition.grid import Grid, grid_of
from clearwood.explanation.effects.given import Given
from clearwood.table import Column

__all__ = ["Points", "checked_column", "common_levels", "levels_note", "points_of"]


#: The most levels of a category that are shown.
MOST_LEVELS = 50


@dataclass(frozen=True, eq=False)
class Points:
    """All combinations of the values of one or two columns."""

    positions: tuple[int, ...]
    grids: tuple[Grid, ...]  # ``nearest`` is -1 for rows whose level is not shown
    notes: tuple[str, ...]  # what was left out
    given: Mapping[int, Given]  # values that the user gave, by the position of their column

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(len(grid) for grid in self.grids)

    @property
    def size(self) -> int:
        """How many points there are."""
        return int(np.prod(self.shape))

    @property
    def sources(self) -> dict[int, Index]:
        """For each column, the row that has its value at each point (points in C order)."""
        return self._crossed([grid.rows for grid in self.grids])

    @property
    def lookups(self) -> dict[int, Index]:
        """For each column, a row of the data with its value at each point, or the nearest to it."""
        return self._crossed(
            [
                self.given[position].near if position in self.given else grid.rows
                for position, grid in zip(self.positions, self.grids, strict=True)
            ]
        )

    @property
    def beyond(self) -> Bools:
        """Which points have a value beyond those of the data."""
        result = np.zeros(self.shape, bool)
        for axis, position in enumerate(self.positions):
            if position in self.given:
                size = [1] * len(self.shape)
                size[axis] = -1
                result |= self.given[position].beyond.reshape(size)
        return result.ravel()

    def _crossed(self, rows: Sequence[Index]) -> dict[int, Index]:
        index = np.indices(self.shape).reshape(len(self.shape), -1)
        return {k: own[at] for k, own, at in zip(self.positions, rows, index, strict=True)}

    @property
    def values(self) -> tuple[NDArray[Any], ...]:
        """The values as the user writes them."""
        return tuple(grid.values for grid in self.grids)

    def cells(self) -> Index:
        """Return for each row the point it is nearest to; -1 where its level is not shown."""
        nearest = [grid.nearest for grid in self.grids]
        shown = np.all([at >= 0 for at in nearest], axis=0)
        result = np.full(len(nearest[0]), -1)
        kept = tuple(at[shown] for at in nearest)
        result[shown] = np.ravel_multi_index(kept, self.shape)
        return result

    def shares(self, weights: Floats) -> Floats:
        """Compute the share of the rows' weight that is nearest to each point."""
        cells = self.cells()
        shown = cells >= 0
        counts = np.bincount(cells[shown], weights[shown], minlength=self.size)
        return np.asarray(counts.reshape(self.shape) / weights.sum())


def points_of(
    columns: Sequence[Column],
    positions: Sequence[int],
    weights: Floats | None,
    most: int,
    given: Mapping[int, Given],
) -> Points:
    """Choose the values of one or two columns: all that occur, quantiles where there are many."""
    grids, notes = [], []
    for position in positions:
        column = columns[position]
        if position in given:
            grids.append(given[position].grid(column, weights))
            continue
        grid = grid_of(column, weights, most)
        if not grid.is_ordered and len(grid) > MOST_LEVELS:
            grid, note = _common(column, grid)
            notes.append(note)
        grids.append(grid)
    return Points(tuple(positions), tuple(grids), tuple(notes), given)


def _common(column: Column, grid: Grid) -> tuple[Grid, str]:
    kept = common_levels(grid.shares)
    place = np.full(len(grid), -1)
    place[kept] = np.arange(len(kept))
    note = levels_note(column, len(grid), len(kept), float(grid.shares[kept].sum()))
    smaller = replace(
        grid,
        values=grid.values[kept],
        rows=grid.rows[kept],
        nearest=place[grid.nearest],
        shares=grid.shares[kept],
    )
    return smaller, note


def levels_note(column: Column, n_levels: int, n_shown: int, share: float) -> str:
    """Say that only the most common levels are shown."""
    return (
        f"column {column.name!r} has {n_levels:,} levels; the {n_shown} most common are shown, "
        f"with {percent(share)} of the rows"
    )


def common_levels(shares: Floats) -> Index:
    """Return the positions of the most common levels that occur, in their own order."""
    common = np.argsort(-shares, kind="stable")[:MOST_LEVELS]
    return np.sort(common[shares[common] > 0])


def checked_column(column: Column) -> None:
    """Refuse columns that have no effect to show."""
    missing = column.missing
    if missing.all():
        raise InputError(
            f"column {column.name!r} is all missing", hint="choose one that has values."
        )
    present = column.values[~missing]
    if not missing.any() and bool((present == present[0]).all()):
        value = column.labels()[0]
        shown = f"{value:g}" if isinstance(value, float | np.floating) else repr(str(value))
        raise InputError(
            f"column {column.name!r} is constant in these rows: it is {shown} everywhere",
            hint="choose one that varies, or give more rows.",
        )
