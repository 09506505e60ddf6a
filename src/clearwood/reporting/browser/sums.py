"""Models that add up one function a column, as tables of levels and pieces of polynomials.

What a column adds is not read from the model but probed: levels one by one, and numbers at values
that are chosen where they are needed. A polynomial through a few of them has to meet the
others; where it does not, the stretch is halved. Linear models are one piece then, splines a few
around each knot, steps end between two neighbouring doubles, and logarithms become enough pieces to
be right to ten digits.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation import AdditiveGame
from clearwood.reporting.browser.columns import (
    NotCarriedError,
    Probe,
    column_of,
    limits,
    mixed_rows,
    parts_of,
    widened,
)
from clearwood.reporting.browser.hints import known_knots
from clearwood.reporting.page.pack import plain_numbers
from clearwood.table import NUMERIC, Column, Kind

__all__ = ["sum_in_page"]


_DEGREE = 5
#: A polynomial has to meet what it was not fitted to this well, relative to the column's size.
_PRECISION = 1e-11
_MOST_PIECES = 600
_MOST_HALVINGS = 60
_MOST_WHOLE_NUMBERS = 3_000
_CHECKED_ROWS = 300

_FITTED = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
_CHECKED = np.array([-1.0, -0.83, -0.37, 0.07, 0.61, 1.0])
_PLACES = np.concatenate([_FITTED, _CHECKED])
# From values at the places to coefficients, by how many of them there are.
_SOLVE = {n: np.linalg.pinv(np.vander(_FITTED, n, increasing=True)) for n in range(1, _DEGREE + 2)}


@dataclass(frozen=True, eq=False)
class _Piece:
    """A stretch of a column and the coefficients there, (degree + 1, outputs)."""

    low: float
    high: float
    coefficients: Floats

    def at(self, values: Floats) -> Floats:
        """Return the polynomial at values, in the stretch's own coordinate."""
        half = (self.high - self.low) / 2
        t = np.zeros(len(values)) if half == 0 else (values - self.low) / half - 1
        return np.vander(t, len(self.coefficients), increasing=True) @ self.coefficients


def sum_in_page(probe: Probe, *, model: Any = None, seed: int) -> dict[str, Any]:
    """Return a model that adds up one function a column.

    ``columns`` has one entry a player, each with ``missing`` (what a missing value adds, None
    where the model does not take it) and: ``levels``, what each adds; or ``pieces``,
    ``[low, high, coefficients]`` rising; or ``calendar``, what each calendar feature of a date is
    multiplied with, the last one being the constant. ``ends`` are given where the pieces must not
    be followed beyond.
    """
    game = probe.game
    assert isinstance(game, AdditiveGame)
    curves = _Curves(probe, len(game.outputs), known_knots(model, probe))
    columns = curves.all()
    data = {"kind": "sum", "columns": columns, "constant": plain_numbers(game.constant)}
    curves.close(columns)
    for table in (probe.table, mixed_rows(probe, _CHECKED_ROWS, seed)):
        own = game.terms(probe.of(table))
        for k, column in enumerate(probe.columns):
            mine = _evaluated(columns[k], column, table.column(column.name), own.shape[2])
            size = np.abs(own[:, k]).max(initial=0) + np.abs(game.constant).max(initial=0)
            if not np.allclose(mine, own[:, k], rtol=0, atol=1e-9 * (1e-12 + size)):
                raise NotCarriedError(
                    f"what the model adds for the column {column.name!r} could not be written as "
                    "a table or as pieces of polynomials"
                )
    return data


@dataclass(frozen=True, eq=False)
class _Curves:
    """Finds what columns add, all columns in one go."""

    probe: Probe
    n_outputs: int
    knots: Mapping[int, Sequence[float]]

    def terms(self, values: dict[int, Sequence[Any]]) -> dict[int, Floats]:
        """Return what columns add at values, (values, outputs)."""
        if not values:
            return {}
        table = self.probe.at(values).reshape(-1, len(self.probe.columns), self.n_outputs)
        return {k: table[: len(own), k] for k, own in values.items()}

    def all(self) -> list[dict[str, Any]]:
        columns = self.probe.columns
        coded = {k: range(len(c.levels)) for k, c in enumerate(columns) if c.is_coded and c.levels}
        levels = self.terms({k: list(codes) for k, codes in coded.items()})
        numbers = [k for k, c in enumerate(columns) if c.kind in NUMERIC]
        pieces = self._pieces([k for k in numbers if not np.isnan(columns[k].values).all()])
        missing = self._missing()
        entries = []
        for k, column in enumerate(columns):
            entry: dict[str, Any] = {"missing": missing[k]}
            if column.is_coded:
                entry["levels"] = plain_numbers(levels[k]) if k in levels else []
            elif column.kind is Kind.DATE:
                entry["calendar"] = self._calendar(k)
            else:
                entry["pieces"] = [
                    [p.low, p.high, plain_numbers(p.coefficients)] for p in pieces.get(k, ())
                ]
            entries.append(entry)
        return entries

    def _missing(self) -> list[list[Any] | None]:
        """Return what a missing value of each column adds; None if the model does not take it."""
        refused = self.probe.refuses_missing
        kinds = [column.kind for column in self.probe.columns]
        taken = [k for k, kind in enumerate(kinds) if k not in refused and kind is not Kind.TEXT]
        added = self.terms({k: [None] for k in taken})
        nothing = [0] * self.n_outputs
        return [
            plain_numbers(added[k][0]) if k in added else None if k in refused else nothing
            for k in range(len(kinds))
        ]

    def _calendar(self, k: int) -> list[Any]:
        """Find what each calendar feature of a date is multiplied with."""
        column = self.probe.columns[k]
        # a century of dates: within few years the features nearly determine one another
        first, last = np.array(["1950", "2050"], "datetime64[us]").astype(np.int64).tolist()
        dates = np.round(np.random.default_rng(k).uniform(first, last, 400))
        parts = parts_of(column, dates)
        middle, spread = parts.mean(axis=0), parts.std(axis=0)
        spread[spread == 0] = 1.0
        matrix = np.column_stack([(parts - middle) / spread, np.ones(len(parts))])
        added = self.terms({k: dates.tolist()})[k]
        solved = np.linalg.lstsq(matrix, added, rcond=None)[0]
        factors = solved[:-1] / spread[:, None]
        constant = solved[-1] - middle @ factors
        return plain_numbers(np.vstack([factors, constant]))

    def _pieces(self, players: Sequence[int]) -> dict[int, list[_Piece]]:
        """Halve stretches until a polynomial meets the model on each."""
        spans = self._spans(players)
        todo = {k: self._parted(k, *span) for k, span in spans.items()}
        done: dict[int, list[_Piece]] = {k: [] for k in players}
        # what a column adds is a difference of scores, so their size sets what rounding leaves
        constant = getattr(self.probe.game, "constant", np.zeros(1))
        sizes = dict.fromkeys(players, float(np.abs(constant).max(initial=1e-300)))
        for _ in range(_MOST_HALVINGS):
            values = {
                k: np.concatenate([_spread(*s) for s in own]) for k, own in todo.items() if own
            }
            if not values:
                break
            added = self.terms({k: own.tolist() for k, own in values.items()})
            for k, own in added.items():
                sizes[k] = max(sizes[k], float(np.abs(own).max()))
                stretches, todo[k] = todo[k], []
                blocks = own.reshape(len(stretches), len(_PLACES), self.n_outputs)
                for (low, high), block in zip(stretches, blocks, strict=True):
                    piece = _fitted(low, high, block, sizes[k])
                    middle = low + (high - low) / 2
                    if piece is not None:
                        done[k].append(piece)
                    elif not low < middle < high:  # a step between neighbouring doubles
                        done[k] += _two_constants(low, high, block)
                    else:
                        todo[k] += [(low, middle), (middle, high)]
                if len(todo[k]) + len(done[k]) > _MOST_PIECES:
                    done[k], todo[k] = self._whole_numbers(k, *spans[k]), []
        return {k: _merged(sorted(own, key=lambda p: p.low), sizes[k]) for k, own in done.items()}

    def _parted(self, k: int, low: float, high: float) -> list[tuple[float, float]]:
        """Part a stretch at the knots that are known."""
        inside = [knot for knot in self.knots.get(k, ()) if low < knot < high]
        ends = [low, *sorted(set(inside)), high]
        return list(pairwise(ends))

    def _whole_numbers(self, k: int, low: float, high: float) -> list[_Piece]:
        """Return one constant for each whole number, where those are all a column can hold.

        Steps that were fitted to whole numbers may cut off what comes after the point, so that the
        curve is a stair between any two of them.
        """
        column = self.probe.columns[k]
        low, high = np.ceil(low), np.floor(high)
        if column.kind is not Kind.WHOLE or high - low >= _MOST_WHOLE_NUMBERS:
            raise NotCarriedError(
                f"the curve of the column {column.name!r} would need more than {_MOST_PIECES} "
                "pieces"
            )
        values = np.arange(low, high + 1)
        added = self.terms({k: values.tolist()})[k]
        return [_Piece(x, x, added[i : i + 1]) for i, x in enumerate(values.tolist())]

    def _spans(self, players: Sequence[int]) -> dict[int, tuple[float, float]]:
        """Take as much beyond the data on both sides as the data covers, where the model can."""
        narrow = {k: limits(self.probe.columns[k]) for k in players}
        wide = {k: widened(*ends) for k, ends in narrow.items()}
        within = self._tried(wide)
        return {k: wide[k] if k in within else narrow[k] for k in players}

    def close(self, columns: Sequence[dict[str, Any]]) -> None:
        """Mark the columns whose outer pieces do not go on as the model does, far out."""
        pieces = {k: entry["pieces"] for k, entry in enumerate(columns) if entry.get("pieces")}
        ends = {k: (own[0][0], own[-1][1]) for k, own in pieces.items()}
        far = {
            k: (low - 20 * (high - low), high + 20 * (high - low))
            for k, (low, high) in ends.items()
        }
        beyond = self._tried(far)
        for k, both in ends.items():
            column = column_of(self.probe.columns[k], far[k])
            mine = _evaluated(columns[k], column, column, self.n_outputs)
            own = beyond.get(k, np.full_like(mine, np.nan))
            size = np.abs(own).max(initial=1e-300)
            if not np.allclose(mine, own, rtol=1e-7, atol=1e-9 * size):
                columns[k]["ends"] = list(both)

    def _tried(self, ends: dict[int, tuple[float, float]]) -> dict[int, Floats]:
        """Return what columns add at two values, for those where the model predicts."""
        try:
            return self._finite(self.terms(dict(ends)))
        except ValueError:  # one column is enough for that: ask them one by one
            added: dict[int, Floats] = {}
            for k, own in ends.items():
                with suppress(ValueError):
                    added |= self._finite(self.terms({k: own}))
            return added

    @staticmethod
    def _finite(added: dict[int, Floats]) -> dict[int, Floats]:
        return {k: own for k, own in added.items() if np.isfinite(own).all()}


def _spread(low: float, high: float) -> Floats:
    return np.clip(low + (high - low) * (_PLACES + 1) / 2, low, high)


def _fitted(low: float, high: float, block: Floats, size: float) -> _Piece | None:
    """Fit the simplest polynomial that will do: noise in more coefficients would grow far out."""
    for n, solve in _SOLVE.items():
        coefficients = solve @ block[: len(_FITTED)]
        met = np.vander(_PLACES, n, increasing=True) @ coefficients
        if np.abs(met - block).max() <= _PRECISION * size:
            return _Piece(low, high, coefficients)
    return None


def _two_constants(low: float, high: float, block: Floats) -> list[_Piece]:
    first, last = block[len(_FITTED)], block[-1]
    return [_Piece(low, low, first[None]), _Piece(high, high, last[None])]


def _merged(pieces: Sequence[_Piece], size: float) -> list[_Piece]:
    """Let a piece go on where the next ones follow the same polynomial."""
    kept: list[_Piece] = []
    for piece in pieces:
        if kept:
            before = kept[-1]
            wider = before if before.high - before.low >= piece.high - piece.low else piece
            joined = _stretched(wider, before.low, piece.high)
            if all(
                np.abs(joined.at(x) - one.at(x)).max() <= 10 * _PRECISION * size
                for one in (before, piece)
                for x in [np.linspace(one.low, one.high, 7)]
            ):
                kept[-1] = joined
                continue
        kept.append(piece)
    return kept


def _stretched(piece: _Piece, low: float, high: float) -> _Piece:
    """Return the same polynomial in the coordinate of a longer stretch."""
    values = low + (high - low) * (_FITTED + 1) / 2
    return _Piece(low, high, _SOLVE[len(piece.coefficients)] @ piece.at(values))


def _evaluated(entry: dict[str, Any], own: Column, column: Column, n_outputs: int) -> Floats:
    """Return what a column adds, as the page finds it."""
    added = np.zeros((len(column), n_outputs))
    gaps = column.missing
    if column.kind is Kind.TEXT:
        return added
    if column.is_coded:
        table = np.array(entry["levels"], np.float64).reshape(-1, n_outputs)
        added[~gaps] = table[column.values[~gaps]]
    elif column.kind is Kind.DATE:
        values = column.values[~gaps].astype(np.int64).astype(np.float64)
        parts = np.column_stack([parts_of(own, values), np.ones(len(values))])
        added[~gaps] = parts @ np.array(entry["calendar"], np.float64)
    elif entry["pieces"]:
        pieces = [_Piece(low, high, np.array(c, np.float64)) for low, high, c in entry["pieces"]]
        starts = np.array([piece.low for piece in pieces])
        values = column.values
        at = np.clip(np.searchsorted(starts, values, side="right") - 1, 0, len(pieces) - 1)
        for number, piece in enumerate(pieces):
            mine = ~gaps & (at == number)
            added[mine] = piece.at(values[mine])
    if gaps.any():
        added[gaps] = np.array(entry["missing"], np.float64)
    return added
