"""Proofs that a model rises along a column, for each kind of sum that a model is read as."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation.factors.cells import user_cuts
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.pipelines import Terms
from clearwood.explanation.games.products import ProductGame
from clearwood.explanation.games.sums import SumGame
from clearwood.explanation.games.terms import TermsGame
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.monotone.forests import (
    Box,
    ForestSplits,
    LeastStep,
    axes_of,
    cells,
    least_step,
    line_of,
    ordered_codes,
)
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.models import ProductTerm
from clearwood.table import Column

__all__ = ["Counterexample", "Proof", "Prover", "rises", "slope_terms"]

_DEPTH = 12
_NODES = np.array([0.0, 1 / 3, 2 / 3, 1.0])
#: From values at the four nodes to the coefficients of Bernstein's form of degree 3.
_TO_BERNSTEIN = np.linalg.inv(
    np.array([[(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s**2 * (1 - s), s**3] for s in _NODES])
)


@dataclass(frozen=True, eq=False)
class _SlopeTerm:
    """One term along the column: its values on a grid, and stretches of the other column."""

    of: Callable[[Floats, Floats | None], Floats]
    stretches: tuple[tuple[float, float], ...] | None


def breaks_of(basis: Any) -> Floats | None:
    """Return the points between which the functions of a basis are polynomials; None if unknown."""
    method = getattr(basis, "breaks", None)
    breaks = None if method is None else method()
    return None if breaks is None else np.asarray(breaks, np.float64)


def slope_terms(
    terms: Sequence[ProductTerm], at: int, coefficients: Callable[[Floats], Floats]
) -> tuple[list[_SlopeTerm], Floats] | None:
    """Return the terms of a column, and the breaks of their bases; None where they are not known.

    Parameters
    ----------
    terms
        Those in which the column occurs.
    at
        The column of the codes.
    coefficients
        From coefficients with an axis of outputs to those of the output that is looked at.
    """
    result, breaks = [], [np.empty(0)]
    for term in terms:
        place = term.columns.index(at)
        own = breaks_of(term.bases[place])
        if own is None or len(term.columns) > 2 or not len(own):
            return None
        breaks.append(own)
        matrix = coefficients(np.asarray(term.coefficients))
        if len(term.columns) == 1:
            result.append(_SlopeTerm(_curve(term.bases[0], matrix), None))
            continue
        other = term.bases[1 - place]
        stretches = _stretches(other)
        if stretches is None:
            return None
        table = matrix if place == 0 else matrix.T
        result.append(_SlopeTerm(_product(term.bases[place], other, table), stretches))
    return result, np.unique(np.concatenate(breaks))


def _curve(basis: Any, coefficients: Floats) -> Callable[[Floats, Floats | None], Floats]:
    return lambda values, _: np.asarray(basis(values) @ coefficients)[:, None]


def _product(basis: Any, other: Any, table: Floats) -> Callable[[Floats, Floats | None], Floats]:
    return lambda values, others: np.asarray(basis(values) @ table @ other(others).T)


def _stretches(basis: Any) -> tuple[tuple[float, float], ...] | None:
    """Return stretches of the other column, one of no length for a missing value or a level."""
    points = getattr(basis, "codes_of_levels", None)
    gap = ((np.nan, np.nan),)
    if points is not None:
        return (*((float(code), float(code)) for code in points()), *gap)
    breaks = breaks_of(basis)
    if breaks is None or not len(breaks):
        return None
    return (*pairwise(_outer(breaks).tolist()), *gap)


def _outer(breaks: Floats) -> Floats:
    """Add a stretch on either side; a straight line that goes on is seen there."""
    span = max(float(np.ptp(breaks)), 1e-3 * float(np.abs(breaks).max()), 1e-6)
    return np.concatenate([[breaks[0] - span], breaks, [breaks[-1] + span]])


def rises(terms: Sequence[_SlopeTerm], breaks: Floats, *, tolerance: float) -> bool | None:
    """Return whether the sum of terms rises everywhere; None where that cannot be decided."""
    outer = _outer(breaks)
    for low, high in pairwise(outer.tolist()):
        if not _rises_between(terms, low, high, tolerance, _DEPTH):
            return None
    return True


def _rises_between(
    terms: Sequence[_SlopeTerm], low: float, high: float, tolerance: float, depth: int
) -> bool:
    """Return whether the bounds of derivatives prove that the sum rises on a stretch."""
    values = low + (high - low) * _NODES
    # a break belongs to both sides: functions are continuous
    bound = sum(_least_slope(term, values) for term in terms)
    if bound >= -tolerance:
        return True
    middle = low / 2 + high / 2
    if depth == 0 or not low < middle < high:
        return False
    return all(
        _rises_between(terms, *ends, tolerance, depth - 1)
        for ends in ((low, middle), (middle, high))
    )


def _least_slope(term: _SlopeTerm, values: Floats) -> float:
    """Return a lower bound of what a term changes by along the stretch of four values."""
    if term.stretches is None:
        return float(_slopes(term.of(values, None)).min())
    least = np.inf
    for low, high in term.stretches:
        if low == high or np.isnan(low):
            slopes = _slopes(term.of(values, np.array([low])))
        else:
            grid = term.of(values, low + (high - low) * _NODES)
            slopes = _slopes(grid) @ _TO_BERNSTEIN.T
        least = min(least, float(slopes.min()))
    return least


def _slopes(values: Floats) -> Floats:
    """Return the derivative's coefficients along the first axis, from values at the nodes."""
    return np.asarray(3 * np.diff(_TO_BERNSTEIN @ values, axis=0))


#: Boxes that a search may look at, for each column.
_BUDGET = 400_000
#: Rounding, relative to the size of scores, in double and single precision.
_ROUNDING = {"float64": 1e-10, "float32": 1e-6}


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Codes of two rows that differ in one column, and the user's values of what was chosen."""

    low: Floats
    high: Floats
    shown: Mapping[int, tuple[Any, Any]]


#: True: it holds everywhere. None: that is not known.
Proof = bool | Counterexample | None


@dataclass(eq=False)
class Prover:
    """Proves that a model's score rises, or falls, along columns.

    Parameters
    ----------
    game
        The model.
    rows
        The background, as the game is played with it.
    raw
        The same rows in the model's own columns.
    output
        From numbers with a last axis of outputs to those of the output that is looked at.
    """

    game: Game
    rows: EncodedRows
    raw: EncodedRows
    output: Callable[[Floats], Floats]
    _splits: dict[int, ForestSplits] = field(default_factory=dict)

    def __call__(self, player: int, sign: int) -> Proof:
        """Prove that the score rises (1) or falls (-1) with a column, all others being equal."""
        return self._proof(self.game, player, sign)

    def _proof(self, game: Game, player: int, sign: int) -> Proof:
        if isinstance(game, SumGame):
            # curves are continuous and trees constant between thresholds: a sum of both rises
            # exactly where both do; of other sums this is sufficient
            parts = [self._proof(part, player, sign) for part in game.games]
            return True if all(part is True for part in parts) else None
        if isinstance(game, TreeGame):
            return self._of_trees(game, player, sign)
        if isinstance(game, TermsGame):
            return self._of_tables(game, player, sign)
        if isinstance(game, ProductGame):
            return self._of_products(game, player, sign)
        if isinstance(game, AdditiveGame):
            return self._of_lines(game, player, sign)
        return None

    def _of_trees(self, game: TreeGame, player: int, sign: int) -> Proof:
        forest = game.forest
        key = id(game)
        if key not in self._splits:
            axes = axes_of(forest, self.rows, np.asarray(game.groups))
            values = self.output(forest.leaf_value)
            self._splits[key] = ForestSplits(forest, axes, values)
        splits = self._splits[key]
        mine = [a for a, axis in enumerate(splits.axes) if axis.player == player]
        if not mine:
            return True  # no tree has the column
        column = self.rows.columns[player]
        axis = splits.axes[mine[0]]
        if all(value is None for value in axis.shown):
            return None
        fixed = self._fixed(splits, mine[1:], column)
        if fixed is None:
            return None
        if forest.zero_missing[np.isin(forest.feature, axis.at)].any():
            return None
        order = ordered_codes(axis, column)
        signed = splits if sign > 0 else _negated(splits)
        size = float(np.abs(splits.values).max(initial=0.0))
        tolerance = _ROUNDING[game.imported.accumulate] * size
        step = least_step(signed, mine[0], order, fixed=fixed, tolerance=tolerance, budget=_BUDGET)
        if step is None:
            return None
        if step.change >= -tolerance:
            return True
        return self._counterexample(splits, mine[0], step)

    def _fixed(self, splits: ForestSplits, axes: list[int], column: Column) -> Box | None:
        """Return where other codes are while a column's value is known; None if that varies."""
        known = np.flatnonzero(~column.missing)
        result: Box = {}
        for a in axes:
            axis = splits.axes[a]
            codes = np.unique(self.rows.codes[known][:, axis.at[0]])
            place = np.flatnonzero(axis.codes[:, 0] == codes[0]) if len(codes) else codes
            if len(codes) != 1 or not len(place):
                return None
            result[a] = 1 << int(place[0])
        return result

    def _counterexample(self, splits: ForestSplits, axis: int, step: LeastStep) -> Counterexample:
        """Put together two rows from the first of the background."""
        codes = np.repeat(self.rows.codes[:1], 2, axis=0)
        shown: dict[int, tuple[Any, Any]] = {}
        chosen = {a: (at, at) for a, at in (step.place or {}).items()}
        chosen[axis] = (step.before, step.after)
        for a, both in chosen.items():
            own = splits.axes[a]
            for row, at in enumerate(both):
                codes[row, own.at] = own.codes[at]
            shown[own.player] = (own.shown[both[0]], own.shown[both[1]])
        return Counterexample(codes[:1], codes[1:], shown)

    def _of_tables(self, game: TermsGame, player: int, sign: int) -> Proof:
        """Add up the least steps of a column's tables, each over the other column."""
        terms = [term for term in game.terms if player in term.players]
        column = self.rows.columns[player]
        known = column.values[~column.missing].astype(np.float64)
        if not terms or not len(known):
            return True if not terms else None
        own = np.flatnonzero(self._own_groups() == player)
        line = line_of(self.raw, column, own)
        if line is None:
            return None

        def places(values: Floats) -> Floats:
            raw = np.repeat(self.raw.codes[:1], len(values), axis=0)
            raw[:, line.at] = line.slope * values + line.offset
            return game.places(raw)

        if column.is_coded:
            values = np.arange(len(column.levels), dtype=np.float64)
        else:
            values = cells(self._cuts(game, player, places), known)
        along = places(values).astype(np.intp)
        total = np.zeros(len(values) - 1)
        for term in terms:
            table = sign * self.output(term.table)
            if len(term.owner) == 1:
                total += np.diff(table[along[:, term.at[0]]])
                continue
            if term.owner[0] == term.owner[1]:
                return None
            place = term.owner.index(player)
            steps = np.diff(np.moveaxis(table, place, 0)[along[:, term.at[place]]], axis=0)
            total += steps.min(axis=1)
        size = max(float(np.abs(self.output(term.table)).max()) for term in terms)
        return True if total.min(initial=0.0) >= -_ROUNDING["float64"] * size else None

    def _cuts(self, game: TermsGame, player: int, places: Callable[[Floats], Floats]) -> Floats:
        """Find the numbers of a column at which its place in a table changes."""
        sizes = {
            at: size
            for term in game.terms
            for at, size, owner in zip(term.at, term.table.shape, term.owner, strict=False)
            if owner == player
        }
        at = np.repeat(list(sizes), list(sizes.values()))
        cuts = np.concatenate([np.arange(size) + 0.5 for size in sizes.values()])
        return user_cuts({0: (at, cuts)}, lambda values: places(values[0]))[0]

    def _own_groups(self) -> Any:
        """Return the player of each of the model's own columns."""
        reader: Any = self.game.reader
        encoder = getattr(reader, "encoder", None)
        if encoder is None:
            return np.arange(len(self.game.columns))
        position = {name: k for k, name in enumerate(reader.players)}
        return np.array([position[encoder.used_[k]] for k in encoder.sources_])

    def _of_products(self, game: ProductGame, player: int, sign: int) -> Proof:
        column = self.rows.columns[player]
        own = np.flatnonzero(np.asarray(game.groups) == player)
        terms = [t for t in game.products.terms if np.isin(t.columns, own).any()]
        if not terms:
            return True
        line = line_of(self.rows, column, own)
        if line is None or any(np.isin(t.columns, own).sum() > 1 for t in terms):
            return None
        # a further code of the value, such as "is missing", is the same in all known rows
        terms = [t for t in terms if line.at in t.columns]
        way = sign if line.slope > 0 else -sign
        parts = slope_terms(terms, line.at, lambda table: way * self.output(table))
        if parts is None:
            return None
        size = float(np.abs(self.output(game.predict(self.rows))).max())
        return rises(*parts, tolerance=_ROUNDING["float64"] * size)

    def _of_lines(self, game: AdditiveGame, player: int, sign: int) -> Proof:
        adds = game.adds
        if not isinstance(adds, Terms) or adds.score.steps or adds.score.coefficients is None:
            return None
        line = line_of(self.raw, self.rows.columns[player], np.flatnonzero(adds.groups == player))
        if line is None:
            return None
        slope = float(self.output(adds.score.coefficients[line.at])) * line.slope
        return True if sign * slope >= 0 else None


def _negated(splits: ForestSplits) -> ForestSplits:
    """Return the same forest with the signs of its leaves changed."""
    other = ForestSplits.__new__(ForestSplits)
    other.__dict__.update(splits.__dict__, values=[-value for value in splits.values])
    return other
