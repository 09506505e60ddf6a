"""The cells of all columns of a model, from its steps and curves, and scores in them."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.explanation.factors.cells import (
    Axis,
    levelled,
    middles,
    steps_of,
    thinned,
    user_cuts,
)
from clearwood.explanation.games.game import Game, Players
from clearwood.table import NUMERIC, Column, Table

__all__ = ["ModelCells"]

#: Cells of a column with a curve, unless the user says how many.
_BANDS = 50
_ON_A_LINE = 65
#: Of a column with a curve: cells before they are joined, and rows in which the curve is looked at.
_FINE_CELLS = 500
_CURVES = 8


@dataclass(frozen=True, eq=False)
class ModelCells:
    """The cells of all columns, before any are joined, and codes of numbers in them."""

    game: Game
    table: Table
    weights: Floats
    bands: int | None

    @cached_property
    def player(self) -> dict[str, int]:
        """The position of each column among the players."""
        return {name: k for k, name in enumerate(self.game.columns)}

    @cached_property
    def sets(self) -> list[Players]:
        """The columns and pairs that the model has."""
        return self.game.sets(2)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The columns that the model has, all of them numbers or levels."""
        used = sorted({k for players in self.sets for k in players})
        used = [k for k in used if (self.game.groups == k).any()]
        for k in used:
            column = self.column(k)
            if not column.is_coded and column.kind not in NUMERIC:
                raise InputError(
                    f"column {column.name!r} is a {column.kind}, which has no cells in a table",
                    parameter="model",
                    value=column.name,
                    hint="fit the model without it, or with the year or month as columns.",
                )
        return tuple(used)

    def column(self, k: int) -> Column:
        """Return the user's column of a player."""
        return self.table.column(self.game.columns[k])

    def numbers(self) -> list[int]:
        """Return the players that are numbers."""
        return [k for k in self.used if not self.column(k).is_coded]

    def codes(self, values: Mapping[int, Floats]) -> Floats:
        """Return codes of the first row, repeated, with columns at values; the last one repeats."""
        longest = max(map(len, values.values()), default=1)
        first = self.table.take(np.zeros(longest, np.intp))
        changed = {}
        for k, own in values.items():
            column = self.column(k)
            padded = own[np.minimum(np.arange(longest), len(own) - 1)]
            changed[column.name] = replace(column, values=padded.astype(column.values.dtype))
        columns = tuple(changed.get(column.name, column) for column in first.columns)
        return self.game.rows(replace(first, columns=columns)).codes

    @cached_property
    def takes_missing(self) -> frozenset[int]:
        """The players for which the model has a rule if they are missing."""
        return (
            frozenset(self.used)
            if self._takes(self.used)
            else frozenset(k for k in self.used if self._takes([k]))
        )

    def _takes(self, players: Iterable[int]) -> bool:
        try:
            return bool(np.isfinite(self.score(self.gaps(players))).all())
        except (InputError, ValueError, TypeError):
            return False

    def gaps(self, players: Iterable[int]) -> Floats:
        """Return the codes of a row in which columns are missing."""
        with warnings.catch_warnings():  # that nothing is known of this row
            warnings.simplefilter("ignore", ClearwoodWarning)
            return self.codes({k: self.missing(k) for k in players})

    def missing(self, k: int) -> Floats:
        """Return a missing value of a column."""
        return np.array([-1.0 if self.column(k).is_coded else np.nan])

    def score(self, codes: Floats) -> Floats:
        """Return the score of codes, before the link."""
        return self.game.predict(self._some.with_codes(codes))[:, -1]

    @cached_property
    def _some(self) -> Any:
        return self.game.rows(self.table.take(np.zeros(1, np.intp)))

    @cached_property
    def lines(self) -> dict[int, float]:
        """The slope of each column in which the score is a straight line, far beyond the data."""
        paired = {k for players in self.sets if len(players) == 2 for k in players}
        tried = {}
        for k in self.numbers():
            known = self.column(k).values[~self.column(k).missing]
            if k in self._steps.smooth and k not in paired and len(known):
                width = float(np.ptp(known)) or 1.0
                tried[k] = np.linspace(known.min() - width, known.max() + width, _ON_A_LINE)
        slopes = {}
        for k, values in tried.items():
            score = self.score(self.codes({k: values}))
            slope = (score[-1] - score[0]) / (values[-1] - values[0])
            line = score[0] + slope * (values - values[0])
            if np.abs(line - score).max() <= 1e-13 * max(1.0, np.abs(score).max()):
                slopes[k] = float(slope)
        return slopes

    @cached_property
    def _steps(self) -> Any:
        return steps_of(self.game)

    @cached_property
    def cuts(self) -> dict[int, Floats]:
        """Where the model steps, for columns of numbers; between all values, for curves."""
        wanted = {}
        groups = np.asarray(self.game.groups)
        for k in self.numbers():
            own = [j for j in np.flatnonzero(groups == k).tolist() if j in self._steps.thresholds]
            if k not in self._steps.smooth and own:
                cuts = [self._steps.thresholds[j] for j in own]
                wanted[k] = (np.repeat(own, list(map(len, cuts))), np.concatenate(cuts))
        result = user_cuts(wanted, self.codes)
        for k in self.numbers():
            if k in self.lines or k not in self._steps.smooth:
                result.setdefault(k, np.empty(0))
            else:
                values = self.column(k).values
                fine = thinned(middles(values), values, self.weights, _FINE_CELLS)
                # also evenly, as a curve may be steep where there are few rows
                even = np.linspace(fine[0], fine[-1], _FINE_CELLS // 2) if len(fine) else fine
                result[k] = np.union1d(fine, even)
        return result

    @cached_property
    def bands_of(self) -> dict[int, tuple[Floats, Floats]]:
        """Cuts, and a value in each cell, of the columns that are approximated by fewer cells."""
        result = {}
        for k in self.numbers():
            smooth = k in self._steps.smooth and k not in self.lines
            most = self.bands or (_BANDS if smooth else None)
            if most is None or not (smooth or len(self.cuts[k]) >= most):
                continue
            cuts = self.cuts[k]
            values = self.typical(k, Axis(self.column(k).name, None, cuts))
            curves = self._curves(k, values)
            starts = levelled(curves, most)
            chosen = [
                start + _nearest_to_middle(curves[start:end])
                for start, end in pairwise([*starts, len(values)])
            ]
            result[k] = cuts[np.array(starts[1:], np.intp) - 1], values[chosen]
        return result

    def _curves(self, k: int, values: Floats) -> Floats:
        """Return the score at values of a column in some rows, (values, rows)."""
        some = np.linspace(0, self.table.n_rows - 1, _CURVES).astype(np.intp)
        others = self.game.rows(self.table.take(some)).codes
        own = self.codes({k: values})
        mine = np.asarray(self.game.groups) == k
        codes = np.where(mine, own[:, None, :], others[None, :, :])
        return self.score(codes.reshape(-1, codes.shape[2])).reshape(len(values), len(some))

    @property
    def banded(self) -> frozenset[int]:
        """The columns of which the table is an approximation."""
        return frozenset(self.bands_of)

    def axis(self, k: int) -> Axis:
        """Return the cells of a column."""
        column = self.column(k)
        if column.is_coded:
            return Axis(column.name, column.levels, np.empty(0), column.header)
        cuts = self.bands_of[k][0] if k in self.bands_of else self.cuts[k]
        return Axis(column.name, None, cuts, column.header)

    def values(self, k: int, axis: Axis) -> Floats:
        """Return a value in each cell."""
        if axis.levels is not None:
            return np.arange(axis.n_known, dtype=np.float64)
        return self.bands_of[k][1].copy() if k in self.bands_of else self.typical(k, axis)

    def typical(self, k: int, axis: Axis) -> Floats:
        """Return the weighted median of each cell of numbers; its end where it has no rows."""
        last = np.nextafter(axis.cuts[-1:], np.inf) if len(axis.cuts) else np.zeros(1)
        values = np.concatenate([axis.cuts, last])
        column = self.column(k)
        places = axis.places(column)
        for cell in np.unique(places[~column.missing]).tolist():
            own = np.flatnonzero(places == cell)
            own = own[np.argsort(column.values[own], kind="stable")]
            passed = np.cumsum(self.weights[own])
            values[cell] = column.values[own[np.searchsorted(passed, passed[-1] / 2)]]
        return values


def _nearest_to_middle(curves: Floats) -> int:
    """Return the row that is nearest to the middle of the range of all curves."""
    middle = (curves.min(axis=0) + curves.max(axis=0)) / 2
    return int(np.argmin(np.abs(curves - middle).max(axis=1)))
