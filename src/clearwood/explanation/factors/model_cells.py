"""The cells of all columns of a model, from its steps, knots and curves, and scores in them."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.explanation.factors.cells import (
    CHECKED,
    NODES,
    ColumnSteps,
    FactorAxis,
    coefficients,
    evaluated,
    is_polynomial,
    least_squares_bands,
    middles,
    shifted,
    steps_of,
    thinned,
    user_cuts,
)
from clearwood.explanation.games.from_model import learner_players
from clearwood.explanation.games.game import Game, Players
from clearwood.models import Learner
from clearwood.table import NUMERIC, Column, Table

__all__ = ["ModelCells"]

#: What a score is in a column of numbers.
_Shape = Literal["steps", "pieces", "curve"]

#: Cells of a column with a curve that is not a polynomial, unless the user says how many.
_BANDS = 50
#: Of a column with a curve: cells before they are joined, and rows in which the curve is looked at.
_FINE_CELLS = 500
_CURVES = 8
#: By how much polynomials may miss the score, relative to its size, and values that they must meet.
_PRECISION = 2e-13
_VALUES_MET = 200
#: The weight of fine cells without rows, of all: bands should not ignore the tails.
_EMPTY = 1e-3


@dataclass(frozen=True, eq=False)
class ModelCells:
    """The cells of all columns, before any are joined, and codes of numbers in them.

    Parameters
    ----------
    learner, game
        The model.
    table, weights
        Its features in the rows of the data, and their weights, which sum to one.
    max_cells
        The most cells of a column of numbers.
    pieces
        Whether curves may be written as polynomials.
    """

    learner: Learner
    game: Game
    table: Table
    weights: Floats
    max_cells: int | None
    pieces: bool = True

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
        without_cells = {
            k for k in used if not self.column(k).is_coded and self.column(k).kind not in NUMERIC
        }
        for k in without_cells:
            column = self.column(k)
            if self._changes_score(k):
                raise InputError(
                    f"column {column.name!r} is a {column.kind}, which has no cells in a table",
                    parameter="model",
                    value=column.name,
                    hint="fit the model without it, or with the year or month as columns.",
                )
        return tuple(k for k in used if k not in without_cells)

    def _changes_score(self, k: int) -> bool:
        """Whether the score changes with a column; a linear model may have chosen others."""
        if any(k in players and len(players) > 1 for players in self.sets):
            return True
        own = self.column(k)
        first = self.table.take(np.zeros(self.table.n_rows, np.intp))
        columns = tuple(own if one.name == own.name else one for one in first.columns)
        scores = self.score(self.game.rows(replace(first, columns=columns)).codes)
        return bool(np.ptp(scores) > 0)

    def column(self, k: int) -> Column:
        """Return the user's column of a player."""
        return self.table.column(self.game.columns[k])

    def levels(self, k: int) -> tuple[str, ...]:
        """Return the levels of a category in the training rows; the rows may have more."""
        return self.learner.schema_[self.game.columns[k]].levels

    def numbers(self) -> list[int]:
        """Return the players that are numbers."""
        return [k for k in self.used if not self.column(k).is_coded]

    def rows_at(self, values: Mapping[int, Floats]) -> Table:
        """Return the first row, repeated, with columns at values; the last one repeats."""
        longest = max(map(len, values.values()), default=1)
        first = self.table.take(np.zeros(longest, np.intp))
        changed = {}
        for k, own in values.items():
            column = self.column(k)
            padded = own[np.minimum(np.arange(longest), len(own) - 1)]
            changed[column.name] = replace(column, values=padded.astype(column.values.dtype))
        columns = tuple(changed.get(column.name, column) for column in first.columns)
        return replace(first, columns=columns)

    def codes(self, values: Mapping[int, Floats]) -> Floats:
        """Return codes of the first row, repeated, with columns at values; the last one repeats."""
        with warnings.catch_warnings():  # that nothing is known of these rows
            warnings.simplefilter("ignore", ClearwoodWarning)
            return self.game.rows(self.rows_at(values)).codes

    @cached_property
    def takes_missing(self) -> frozenset[int]:
        """The players for which the model has a rule if they are missing."""
        return self._taken({k: self.missing(k) for k in self.used})

    @cached_property
    def takes_other(self) -> frozenset[int]:
        """The players for which the model has a rule if their level is a new one."""
        coded = [k for k in self.used if self.column(k).is_coded]
        return self._taken({k: np.array([float(len(self.levels(k)))]) for k in coded})

    def _taken(self, values: Mapping[int, Floats]) -> frozenset[int]:
        """Return the players for whose value there is a score."""
        if self._takes(values):
            return frozenset(values)
        return frozenset(k for k, own in values.items() if self._takes({k: own}))

    def _takes(self, values: Mapping[int, Floats]) -> bool:
        try:
            return bool(np.isfinite(self.score(self.codes(values))).all())
        except (InputError, ValueError, TypeError, IndexError):
            return False

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
    def _steps(self) -> ColumnSteps:
        return steps_of(self.game)

    @cached_property
    def _located(self) -> dict[tuple[int, float], float]:
        """The user's number of each threshold and knot of a column of the codes."""
        steps, groups = self._steps, np.asarray(self.game.groups)
        numbers = set(self.numbers())
        wanted: dict[int, list[tuple[int, float]]] = {}
        for by_column in (steps.thresholds, *steps.bends.values()):
            for j, own in by_column.items():
                if int(groups[j]) in numbers:
                    wanted.setdefault(int(groups[j]), []).extend((j, cut) for cut in own.tolist())
        lists = {k: list(dict.fromkeys(own)) for k, own in wanted.items()}
        found = _user_cuts(lists, self.codes)
        return {
            key: cut for k, own in lists.items() for key, cut in zip(own, found[k], strict=True)
        }

    @cached_property
    def _knots_before(self) -> dict[int, Floats]:
        """Knots of a step that comes before a linear model, by player, as the user's numbers."""
        steps = getattr(self.learner.estimator_, "steps", ())
        knots = getattr(steps[0][1], "knots_", None) if steps else None
        if knots is None:
            return {}
        _, groups = learner_players(self.learner)
        wanted: dict[int, list[tuple[int, float]]] = {}
        for j, own in enumerate(knots):
            if int(groups[j]) in self.numbers():
                wanted.setdefault(int(groups[j]), []).extend((j, float(cut)) for cut in own)
        return _user_cuts(
            wanted, lambda values: self.learner.encoder_.transform(self.rows_at(values))
        )

    def _breaks(self, k: int, players: Players) -> Floats:
        """Return the user's numbers between which terms of players are polynomials."""
        steps, groups = self._steps, np.asarray(self.game.groups)
        wanted = [(j, cut) for j, own in steps.thresholds.items() for cut in own.tolist()]
        for bent, by_column in steps.bends.items():
            if set(players) <= set(bent):
                wanted += [(j, cut) for j, own in by_column.items() for cut in own.tolist()]
        own = [self._located[key] for key in wanted if int(groups[key[0]]) == k]
        cuts = np.unique(np.concatenate([own, self._knots_before.get(k, np.empty(0))]))
        return np.asarray(cuts[np.isfinite(cuts)])

    def stretches(self, k: int, cuts: Floats) -> tuple[Floats, Floats]:
        """Return the ends of cells; outer ones reach as far beyond the data as it is wide."""
        known = self.column(k).values[~self.column(k).missing]
        low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        width = float(high - low) or max(1.0, abs(float(low)))
        first = min([low, *cuts[:1]]) - width
        last = max([high, *cuts[-1:]]) + width
        ends = np.concatenate([[first], cuts, [last]])
        return ends[:-1], ends[1:]

    @cached_property
    def _shapes(self) -> dict[int, _Shape]:
        """What the score is in each column of numbers, between its breaks."""
        smooth = [k for k in self.numbers() if k in self._steps.smooth]
        shapes: dict[int, _Shape] = dict.fromkeys(self.numbers(), "steps")
        if not self.pieces:
            return shapes | dict.fromkeys(smooth, "curve")
        nodes = {k: self._checked_nodes(k) for k in smooth}
        met = {k: self._values_met(k) for k in smooth}
        curves = self._curves({k: np.concatenate([nodes[k].ravel(), met[k]]) for k in smooth})
        for k, curve in curves.items():
            at_nodes, at_values = np.split(curve, [nodes[k].size])
            at_nodes = at_nodes.reshape(*nodes[k].shape, -1)
            shapes[k] = self._shape(k, at_nodes, met[k], at_values)
        return shapes

    @cached_property
    def pieced(self) -> frozenset[int]:
        """The columns in which the score is a polynomial between breaks, but no steps alone."""
        return frozenset(k for k, shape in self._shapes.items() if shape == "pieces")

    def _checked_nodes(self, k: int) -> Floats:
        """Return numbers in each cell at which polynomials are told from curves, (cells, nodes)."""
        low, high = self.stretches(k, self._breaks(k, (k,)))
        values = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * CHECKED
        # a cut belongs to the cell before it, so the first point is just behind it
        return np.asarray(np.clip(values, np.nextafter(low, np.inf)[:, None], high[:, None]))

    def _values_met(self, k: int) -> Floats:
        """Return some of the data's own values."""
        known = self.column(k).values[~self.column(k).missing]
        if not len(known):
            return np.empty(0)
        return np.asarray(np.quantile(known, np.linspace(0, 1, _VALUES_MET), method="nearest"))

    def _shape(self, k: int, curves: Floats, some: Floats, at_some: Floats) -> _Shape:
        """Find out whether polynomials meet the score, between breaks and at the data's values."""
        precision = _PRECISION * max(1.0, float(np.abs(curves).max()))
        if not np.isfinite(curves).all() or not is_polynomial(curves, precision).all():
            return "curve"
        fitted = coefficients(curves[:, : len(NODES)], precision / 8)
        cuts = self._breaks(k, (k,))
        if len(some):
            low, high = self.stretches(k, cuts)
            at = np.searchsorted(cuts, some)
            t = (some - low[at]) / (high - low)[at] * 2 - 1
            met = evaluated(np.moveaxis(fitted[at], 1, -1), t)
            if np.abs(met - at_some).max() > 10 * precision:
                return "curve"
        if not fitted[:, 1:].any():
            return "steps"
        return "pieces" if self.max_cells is None else "curve"

    @cached_property
    def _fine(self) -> dict[int, Floats]:
        """Where the model steps, for columns of numbers; between all values, for curves."""
        result = {}
        for k in self.numbers():
            if self._shapes[k] != "curve":
                result[k] = self._breaks(k, (k,))
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
        most = {}
        for k in self.numbers():
            smooth = self._shapes[k] == "curve"
            allowed = self.max_cells or (_BANDS if smooth else None)
            if k not in self.pieced and allowed and (smooth or len(self._fine[k]) >= allowed):
                most[k] = allowed
        axes = {k: FactorAxis(self.column(k).name, None, self._fine[k]) for k in most}
        values = {k: self.typical(k, axis) for k, axis in axes.items()}
        result = {}
        for k, curves in self._curves(values).items():
            places = axes[k].places(self.column(k))
            weights = np.bincount(places, self.weights, minlength=axes[k].n_known + 1)[:-1]
            weights = weights + _EMPTY * max(weights.sum(), _EMPTY) / len(weights)
            starts = least_squares_bands(curves, weights, most[k])
            chosen = []  # of each band, the row nearest to the weighted mean of its curves
            for start, end in pairwise([*starts, len(curves)]):
                mean = np.average(curves[start:end], axis=0, weights=weights[start:end])
                distances = ((curves[start:end] - mean) ** 2).sum(axis=1)
                chosen.append(start + int(np.argmin(distances)))
            result[k] = self._fine[k][np.array(starts[1:], np.intp) - 1], values[k][chosen]
        return result

    def _curves(self, values: Mapping[int, Floats]) -> dict[int, Floats]:
        """Return the score at values of each of some columns in a few rows, (values, rows)."""
        if not values:
            return {}
        some = np.linspace(0, self.table.n_rows - 1, _CURVES).astype(np.intp)
        others = self.game.rows(self.table.take(some)).codes
        codes, groups = self.codes(values), np.asarray(self.game.groups)
        curves = {}
        for k, own in values.items():
            mixed = np.where(groups == k, codes[: len(own), None, :], others[None, :, :])
            scores = self.score(mixed.reshape(-1, mixed.shape[2]))
            curves[k] = scores.reshape(len(own), len(some))
        return curves

    @property
    def banded(self) -> frozenset[int]:
        """The columns of which the table is an approximation."""
        return frozenset(self.bands_of)

    def axis(self, k: int, players: Players) -> FactorAxis:
        """Return the cells of a column in the term of some players."""
        column = self.column(k)
        if column.is_coded:
            return FactorAxis(column.name, self.levels(k), np.empty(0), column.header)
        cuts = self.bands_of[k][0] if k in self.bands_of else self._breaks(k, players)
        return FactorAxis(column.name, None, cuts, column.header)

    def values(self, k: int, axis: FactorAxis) -> Floats:
        """Return a value in each cell."""
        if axis.levels is not None:
            return np.arange(axis.n_known, dtype=np.float64)
        return self.bands_of[k][1].copy() if k in self.bands_of else self.typical(k, axis)

    def typical(self, k: int, axis: FactorAxis) -> Floats:
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

    def polynomials(self, k: int, axis: FactorAxis, origins: Floats, values: Floats) -> Floats:
        """Turn scores at the nodes of the cells of numbers into coefficients about origins.

        ``values`` has the shape (cells, nodes, others), missing last, and so has the result with
        powers in the place of nodes.
        """
        low, high = self.stretches(k, axis.cuts)
        size = max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
        half = (high - low) / 2
        local = coefficients(values[:-1], _PRECISION / 8 * size)
        known = shifted(local, (origins[:-1] - low) / half - 1, 1 / half)
        last = np.zeros_like(values[-1:])
        last[:, 0] = values[-1:, 0]
        return np.concatenate([known, last])

    def nodes(self, k: int, axis: FactorAxis) -> Floats:
        """Return the numbers of each cell at which polynomials are determined, (cells, nodes)."""
        low, high = self.stretches(k, axis.cuts)
        return np.asarray((low + high)[:, None] / 2 + (high - low)[:, None] / 2 * NODES)


def _user_cuts(
    wanted: Mapping[int, list[tuple[int, float]]],
    codes_of: Callable[[Mapping[int, Floats]], Floats],
) -> dict[int, Floats]:
    """Find the user's numbers of thresholds, given by player as columns and numbers of codes."""
    listed = {
        k: (np.array([j for j, _ in own], np.intp), np.array([cut for _, cut in own]))
        for k, own in wanted.items()
        if own
    }
    found = user_cuts(listed, codes_of)
    return {k: found.get(k, np.empty(0)) for k in wanted}
