"""The points at which an effect is shown, as rows that have those values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import percent
from clearwood.explanation.decomposition.surface import Grid, grid_of
from clearwood.explanation.results.about import axis_numbers
from clearwood.explanation.rows.compose import perturbed
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Column, Kind

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = [
    "Given",
    "GridPoints",
    "checked_column",
    "common_levels",
    "given_values",
    "levels_note",
    "points_of",
]


@dataclass(frozen=True, eq=False)
class Given:
    """The values of one column that the user wants shown."""

    values: NDArray[Any]  # numbers and dates rising, levels in the order in which they were given
    rows: Index  # rows of the predictor, after the data, with each of them
    near: Index  # a row of the data with the nearest value
    beyond: Bools  # values beyond those of the data
    is_ordered: bool  # whether they lie on an axis

    def place(self, column: Column) -> Index:
        """Return for each row of a column the value it is nearest to, by position; -1 for none."""
        result = np.full(len(column), -1)
        present = np.flatnonzero(~column.missing)
        if not self.is_ordered:
            position = {str(level): k for k, level in enumerate(self.values)}
            labels = column.labels()
            result[present] = [position.get(str(labels[row]), -1) for row in present]
            return result
        result[present] = _nearest(axis_numbers(self.values), axis_numbers(column.values[present]))
        return result

    def grid(self, column: Column, weights: Floats | None) -> Grid:
        """Return them as the grid of a partial dependence."""
        nearest = self.place(column)
        weight = np.ones(len(column)) if weights is None else weights
        shown = nearest >= 0
        counts = np.bincount(nearest[shown], weight[shown], minlength=len(self.values))
        return Grid(self.values, self.rows, nearest, counts / weight.sum(), self.is_ordered)


def given_values(
    explanation: "Explanation",
    predictor: Predictor,
    wanted: Mapping[int, Sequence[Any]],
    *,
    output: Any,
    scale: Any,
    n_jobs: int,
) -> tuple[Predictor, dict[int, Given]]:
    """Read the values of some columns, by position, and make a predictor that has rows with them.

    Its rows are those of the data and after them one for each value, though it counts only those
    of the data.
    """
    read = {k: _read(predictor.columns[k], values) for k, values in wanted.items()}
    n_rows, n_new = len(predictor), sum(len(values) for values in read.values())
    taken: dict[int, Index] = {}
    written: dict[int, NDArray[Any]] = {}
    result: dict[int, Given] = {}
    first = 0
    for k, values in read.items():
        column = predictor.columns[k]
        mine = slice(first, first + len(values))
        first = mine.stop
        rows = n_rows + np.arange(mine.start, mine.stop)
        present = np.flatnonzero(~column.missing)
        if _is_ordered(column):
            own = column.values[present]
            near = present[_closest(axis_numbers(own), axis_numbers(values))]
            written[k] = np.full(n_new, own[0], dtype=values.dtype)
            written[k][mine] = values
            beyond = (values < own.min()) | (values > own.max())
        else:
            labels = column.labels()
            near = np.array([present[_first(labels[present], level)] for level in values])
            taken[k] = np.full(n_new, present[0])
            taken[k][mine] = near
            beyond = np.zeros(len(values), bool)
        result[k] = Given(values, rows, near, beyond, _is_ordered(column))
    data = explanation.data
    new = perturbed(data, predictor.names, np.zeros(n_new, np.intp), taken, written)
    longer, _ = explanation.stacked(
        new,
        background_first=True,
        form_of_rows=True,
        output=output,
        scale=scale,
        n_jobs=n_jobs,
    )
    return replace(predictor, compose=longer.compose, scorer=longer.scorer), result


def _is_ordered(column: Column) -> bool:
    return not column.is_coded and column.kind is not Kind.TEXT


def _read(column: Column, given: Sequence[Any]) -> NDArray[Any]:
    """Take values as the column's kind has them."""
    listed = list(given)
    if len(listed) < 2:
        raise InputError(f"the grid of {column.name!r} has {len(listed)} values; give at least 2")
    if not _is_ordered(column):
        known = dict.fromkeys(str(label) for label in column.labels()[~column.missing])
        for level in listed:
            if str(level) not in known:
                raise InputError(
                    f"column {column.name!r} has no level {level!r}",
                    hint=did_you_mean(str(level), known),
                )
        different = list(dict.fromkeys(map(str, listed)))
        made = np.empty(len(different), object)
        made[:] = different
        return made
    kind = "datetime64[us]" if column.kind is Kind.DATE else np.float64
    try:
        values = np.array(listed, dtype=kind)
    except (ValueError, TypeError):
        words = "dates, such as '2024-02-29'" if column.kind is Kind.DATE else "numbers"
        raise InputError(
            f"the grid of {column.name!r} holds {listed[0]!r}; it takes {words}"
        ) from None
    odd = np.isnat(values) if column.kind is Kind.DATE else ~np.isfinite(values)
    if odd.any():
        raise InputError(f"the grid of {column.name!r} has a value that is missing or infinite")
    return np.unique(values)


def _first(labels: NDArray[Any], level: Any) -> int:
    return next(k for k, label in enumerate(labels) if str(label) == str(level))


def _nearest(grid: Floats, values: Floats) -> Index:
    """Return the position in a rising grid of what each value is nearest to."""
    right = np.searchsorted(grid, values).clip(1, len(grid) - 1)
    left_is_nearer = values - grid[right - 1] <= grid[right] - values
    return np.asarray(right - left_is_nearer, np.intp)


def _closest(values: Floats, wanted: Floats) -> Index:
    """Return the position of the value that is closest to each that is wanted."""
    order = np.argsort(values, kind="stable")
    if len(order) == 1:
        return np.zeros(len(wanted), np.intp)
    return np.asarray(order[_nearest(values[order], wanted)])


#: The most levels of a category that are shown.
MOST_LEVELS = 50


@dataclass(frozen=True, eq=False)
class GridPoints:
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
) -> GridPoints:
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
    return GridPoints(tuple(positions), tuple(grids), tuple(notes), given)


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
