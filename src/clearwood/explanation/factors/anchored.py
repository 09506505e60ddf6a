"""The anchored components of a model: what each column and pair adds, compared with a base.

The components are anchored at a base b: F_j(x) = f(x, b) − f(b) and F_jk(x, z) = f(x, z, b) −
f(x, b) − f(z, b) + f(b), where all columns that are not named have the base. If no more than two
columns interact, f(b) and these add up to f, and each is zero where one of its columns is at the
base. They are differences of scores, so nothing is averaged over rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.explanation.factors.cells import FactorAxis, constant_of, shifted, trimmed
from clearwood.explanation.factors.model_cells import ModelCells
from clearwood.explanation.factors.result import FactorTerm
from clearwood.explanation.games.game import Players

__all__ = ["MOST_CELLS", "Anchored"]

#: Codes of some values of a column, and which of these the model does not take.
_Encoded = tuple[Floats, Bools]

MOST_CELLS = 2_000_000
#: Rounding: what scores differ by at most, relative to their size, that are equal.
_ROUNDING = 1e-14
#: The same for polynomials, which are determined from scores.
_ROUNDING_OF_PIECES = 1e-13


@dataclass(frozen=True, eq=False)
class _CellGrid:
    """Where the scores of a set of columns are computed: cells, a value in each, and points."""

    players: Players
    axes: list[FactorAxis]
    origins: list[Floats]
    points: list[Floats]


class Anchored:
    """Computes the anchored components of all columns and pairs.

    Parameters
    ----------
    cells
        Of the model.
    base
        The base of some players: a level, or a number.
    most_cells
        Of all pairs; more are refused.
    """

    def __init__(
        self, cells: ModelCells, base: Mapping[int, Any], most_cells: int = MOST_CELLS
    ) -> None:
        self.cells = cells
        self.most_cells = most_cells
        self.base_labels: dict[str, Any] = {}
        #: The number, or the code of the level, of the base of each player.
        self.base_at = {k: self._base(k, base.get(k)) for k in cells.used}
        self.base_codes = cells.codes({k: np.array([v]) for k, v in self.base_at.items()})[0]
        self.base_score = float(cells.score(self.base_codes[None])[0])
        self.tolerance = _ROUNDING * max(1.0, abs(self.base_score))
        self.terms = self._terms()

    def _base(self, k: int, wanted: Any) -> float:
        """Choose the base of a column, and note what it is called."""
        column, axis = self.cells.column(k), self.cells.axis(k, (k,))
        mass = np.bincount(axis.places(column), self.cells.weights, axis.n_known + 1)
        if axis.levels is not None:
            level = str(wanted) if wanted is not None else axis.levels[int(np.argmax(mass[:-2]))]
            self.base_labels[column.name] = level
            return float(axis.levels.index(level))
        if wanted is not None:
            value = float(wanted)
        elif k in self.cells.pieced:
            value = float(self.cells.typical(k, replace(axis, cuts=np.empty(0)))[0])
        else:
            value = float(self.cells.typical(k, axis)[int(np.argmax(mass[:-1]))])
        self.base_labels[column.name] = value
        return value

    def _terms(self) -> tuple[FactorTerm, ...]:
        sets = [s for s in self.cells.sets if all(k in self.base_at for k in s)]
        axes = {s: tuple(self.cells.axis(k, s) for k in s) for s in sets if len(s) == 2}
        n_cells = sum((one.n_known + 1) * (two.n_known + 1) for one, two in axes.values())
        if n_cells > self.most_cells:
            raise InputError(
                f"the pairs of columns have {n_cells:,} cells",
                parameter="max_cells",
                value=self.cells.max_cells,
                hint=words("allow fewer cells of a column: ", Option("max_cells", 20), "."),
            )
        singles = [self._grid((k,)) for k in self.base_at]
        # all columns at once, as each call encodes whole rows
        encoded = self._codes(
            {k: grid.points[0] for k, grid in zip(self.base_at, singles, strict=True)}
        )
        terms = [self._term(grid, encoded) for grid in singles]
        for players in axes:
            grid = self._grid(players)
            terms.append(
                self._term(grid, self._codes(dict(zip(players, grid.points, strict=True))))
            )
        return tuple(term for term in terms if term is not None)

    def _grid(self, players: Players) -> _CellGrid:
        """Return where the scores of a set of columns are computed."""
        axes = [self.cells.axis(k, players) for k in players]
        origins = [self._origins(k, axis) for k, axis in zip(players, axes, strict=True)]
        points = [
            self._points(k, axis, own) for k, axis, own in zip(players, axes, origins, strict=True)
        ]
        return _CellGrid(players, axes, origins, points)

    def _term(self, grid: _CellGrid, encoded: Mapping[int, _Encoded]) -> FactorTerm | None:
        """Compute the effects of a set of columns; None where they are zero everywhere."""
        players, axes, origins, points = grid.players, grid.axes, grid.origins, grid.points
        codes = [encoded[k] for k in players]
        effects = self._scores(players, codes) - self.base_score
        if len(players) == 2:
            first, second = ((k,) for k in players)
            effects = effects - (self._scores(first, codes[:1]) - self.base_score)[:, None]
            effects = effects - (self._scores(second, codes[1:]) - self.base_score)[None, :]
        shape = [n for own in points for n in own.shape]
        # cells first, then powers
        order = list(range(0, len(shape), 2)) + list(range(1, len(shape), 2))
        powers = effects.reshape(shape).transpose(order)
        unknown = np.isnan(powers)
        powers = np.where(unknown, 0.0, powers)
        for at, (k, axis) in enumerate(zip(players, axes, strict=True)):
            if points[at].shape[1] > 1:
                front = (at, len(players) + at)
                own = np.moveaxis(powers, front, (0, 1))
                own = self.cells.polynomials(k, axis, origins[at], own)
                powers = np.moveaxis(own, (0, 1), front)
        powers = np.where(unknown, np.nan, powers)
        if not unknown.any() and np.abs(powers).max() <= self.tolerance:
            return None
        return self._joined(players, [*axes], [*origins], powers)

    def _origins(self, k: int, axis: FactorAxis) -> Floats:
        """Return a number, or a code, in each cell; the base in its own; missing last."""
        values = self.cells.values(k, axis)
        if axis.levels is None:
            values[int(np.searchsorted(axis.cuts, self.base_at[k]))] = self.base_at[k]
        return np.concatenate([values, self.cells.missing(k)])

    def _points(self, k: int, axis: FactorAxis, origins: Floats) -> Floats:
        """Return where the score of each cell is computed, (cells, points)."""
        if k not in self.cells.pieced:
            return origins[:, None]
        nodes = self.cells.nodes(k, axis)
        return np.vstack([nodes, np.full((1, nodes.shape[1]), np.nan)])

    def _codes(self, points: Mapping[int, Floats]) -> dict[int, _Encoded]:
        """Encode values of columns, and return which of them the model does not take."""
        refused = {k: self._refused(k, own.ravel()) for k, own in points.items()}
        taken = {k: np.where(refused[k], self.base_at[k], own.ravel()) for k, own in points.items()}
        codes = np.asarray(self.cells.codes(taken), np.float64)
        return {k: (codes[: len(own)], refused[k]) for k, own in taken.items()}

    def _refused(self, k: int, values: Floats) -> Bools:
        """Whether the model does not take each of some values of a column."""
        is_coded = self.cells.column(k).is_coded
        refused = np.zeros(len(values), bool)
        if k not in self.cells.takes_missing:
            refused |= (values < 0) if is_coded else np.isnan(values)
        if is_coded and k not in self.cells.takes_other:
            refused |= values == len(self.cells.levels(k))
        return refused

    def _scores(self, players: Players, encoded: list[_Encoded]) -> Floats:
        """Return the score at codes of some columns, where the others are at the base."""
        shape = tuple(len(codes) for codes, _ in encoded)
        index = np.indices(shape).reshape(len(players), -1)
        rows = np.repeat(self.base_codes[None], index.shape[1], axis=0)
        groups = np.asarray(self.cells.game.groups)
        for k, (codes, _), at in zip(players, encoded, index, strict=True):
            mine = groups == k
            rows[:, mine] = codes[at][:, mine]
        scores = self.cells.score(rows).reshape(shape)
        for axis, (_, refused) in enumerate(encoded):
            np.moveaxis(scores, axis, 0)[refused] = np.nan
        return scores

    def _joined(
        self, players: Players, axes: list[FactorAxis], origins: list[Floats], powers: Floats
    ) -> FactorTerm | None:
        """Join neighbouring cells of numbers whose effects are equal, and drop powers of zero."""
        n = len(players)
        for at, k in enumerate(players):
            if axes[at].levels is None:
                own = np.moveaxis(powers, (at, n + at), (0, 1))
                kept = self._kept(k, axes[at], origins[at], own)
                axes[at] = replace(axes[at], cuts=axes[at].cuts[np.array(kept[1:], np.intp) - 1])
                cells = [*kept, len(origins[at]) - 1]
                origins[at] = origins[at][cells]
                powers = np.take(powers, cells, axis=at)
        powers = trimmed(powers, n)
        effects = powers[constant_of(n)]
        own_columns = [self.cells.column(k) for k in players]
        places = [a.places(c) for a, c in zip(axes, own_columns, strict=True)]
        flat = np.ravel_multi_index(tuple(places), effects.shape)
        mass = np.bincount(flat, self.cells.weights, effects.size)
        return FactorTerm(
            axes=tuple(axes),
            effects=effects,
            shares=np.asarray(mass, np.float64).reshape(effects.shape),
            origins=tuple(origins),
            powers=powers if effects.size < powers.size else None,
        )

    def _kept(self, k: int, axis: FactorAxis, origins: Floats, powers: Floats) -> list[int]:
        """List the cells that differ from the one before; ``powers`` is (cells, powers, others)."""
        pieced = powers.shape[1] > 1
        size = max(1.0, float(np.nanmax(np.abs(powers[:, 0]), initial=0.0)))
        tolerance = max(self.tolerance, _ROUNDING_OF_PIECES * size) if pieced else self.tolerance
        low, high = self.cells.stretches(k, axis.cuts)
        kept = [0]
        for cell in range(1, axis.n_known):
            one, two = powers[kept[-1]], powers[cell]
            if pieced:
                moved = shifted(
                    two[None], np.array([origins[kept[-1]] - origins[cell]]), np.ones(1)
                )[0]
                span = (high[cell] - low[kept[-1]]) ** np.arange(len(two))
                two = moved * span.reshape(-1, *(1,) * (two.ndim - 1))
                one = one * span.reshape(-1, *(1,) * (one.ndim - 1))
            if np.nanmax(np.abs(one - two), initial=0.0) > tolerance:
                kept.append(cell)
        return kept
