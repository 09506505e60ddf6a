"""Where a forest can tell values of a column apart: one value for each cell, and its codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.rows.rows import Rows
from clearwood.forest import Forest
from clearwood.table import Column, Kind

__all__ = ["Axis", "Line", "axes_of", "cells", "line_of", "ordered_codes"]

#: Values of a code that are all looked at.
_FEW = 10
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Line:
    """Of a column whose known values have one code each, slope · value + offset.

    Parameters
    ----------
    at
        The column of the codes.
    slope, offset
        The line.
    """

    at: int
    slope: float
    offset: float

    @property
    def is_identity(self) -> bool:
        """Whether codes are the values themselves."""
        return self.slope == 1.0 and self.offset == 0.0

    def values(self, codes: Floats) -> Floats:
        """Return the values that codes stand for."""
        return codes if self.is_identity else (codes - self.offset) / self.slope


def line_of(rows: Rows, column: Column, own: Index) -> Line | None:
    """Find the code that varies with a column, where that is one, on a line; else None."""
    known = ~column.missing
    if not known.any():
        return None
    values, codes = column.values[known].astype(np.float64), rows.codes[known][:, own]
    varying = np.flatnonzero((codes != codes[:1]).any(axis=0))
    if len(varying) == 0 and len(own) == 1:
        varying = np.zeros(1, np.intp)
    if len(varying) != 1:
        return None
    code = codes[:, varying[0]]
    at = int(own[varying[0]])
    if np.array_equal(code, values):
        return Line(at, 1.0, 0.0)
    if np.array_equal(code, values.astype(np.float32)):
        return Line(at, 1.0, 0.0)
    low, high = int(np.argmin(values)), int(np.argmax(values))
    if values[high] == values[low]:
        return None
    slope = (code[high] - code[low]) / (values[high] - values[low])
    offset = code[low] - slope * values[low]
    if slope == 0 or not np.isfinite([slope, offset]).all():
        return None
    if np.abs(slope * values + offset - code).max() > 1e-9 * np.abs(code).max():
        return None
    return Line(at, float(slope), float(offset))


@dataclass(frozen=True, eq=False)
class Axis:
    """Values of one column, or of one code, that stand for all others.

    Parameters
    ----------
    player
        The user's column.
    at
        The columns of the codes.
    codes
        Of shape (values, codes).
    shown
        The user's values; None for missing ones and those that have no name.
    """

    player: int
    at: Index
    codes: Floats
    shown: tuple[Any, ...]


def cells(
    thresholds: Floats, values: Floats, *, whole: bool = False, narrow: bool = False
) -> Floats:
    """Return one number for each stretch between thresholds, rising; empty stretches are left out.

    Parameters
    ----------
    thresholds
        Where stretches end; the threshold belongs to the lower one.
    values
        Numbers of the data, which say how far the outer stretches are looked at.
    whole
        Whether only whole numbers occur.
    narrow
        Whether numbers are rounded to single precision before they are compared.

    Examples
    --------
    >>> cells(np.array([1.5, 1.7, 3.0]), np.array([0.0, 5.0]))
    array([0.  , 1.6 , 2.35, 5.  ])
    >>> cells(np.array([1.5, 1.7, 3.0]), np.array([0.0, 5.0]), whole=True)
    array([0., 3., 5.])
    """
    cuts = np.unique(thresholds[np.isfinite(thresholds) & (np.abs(thresholds) < _LARGEST)])
    low = float(np.nanmin(values, initial=np.inf))
    high = float(np.nanmax(values, initial=-np.inf))
    ends = [-np.inf, *cuts.tolist(), np.inf]
    result = []
    for below, above in pairwise(ends):
        candidates = _candidates(below, above, low, high, whole=whole)
        for number in candidates:
            with np.errstate(over="ignore"):
                rounded = float(np.float32(number)) if narrow else number
            if below < rounded <= above and np.isfinite(rounded):
                result.append(number)
                break
    return np.array(result, np.float64)


def _candidates(below: float, above: float, low: float, high: float, *, whole: bool) -> list[float]:
    """List numbers of a stretch, the most natural first."""
    if below == -np.inf and above == np.inf:
        return [low if np.isfinite(low) else 0.0]
    if below == -np.inf:
        first = min(low, above)
        return [np.floor(first) if whole else first, above, _down(above)]
    if above == np.inf:
        wide = below + max(1.0, 1e-3 * abs(below))
        return [high, np.floor(below) + 1 if whole else wide, wide]
    if whole:
        return [float(np.floor(above))]
    return [below / 2 + above / 2, above, _down(above)]


def _down(number: float) -> float:
    """Return the largest number of single precision that is not above."""
    with np.errstate(over="ignore"):
        narrow = np.float32(number)
        below = np.nextafter(narrow, np.float32(-np.inf))
        return float(narrow if float(narrow) <= number else below)


def axes_of(forest: Forest, rows: Rows, groups: Index) -> list[Axis]:
    """Return axes of all columns that the forest splits on."""
    used = np.unique(forest.feature[~forest.is_leaf])
    result = []
    for player in np.unique(groups[used]).tolist():
        own = np.flatnonzero(groups == player)
        mine = own[np.isin(own, used)]
        result += _axes_of_player(forest, rows, player, own, mine)
    return result


def _axes_of_player(forest: Forest, rows: Rows, player: int, own: Index, used: Index) -> list[Axis]:
    """Make the axis of a column; one for each code where codes do not say what the values are."""
    column = rows.columns[player]
    line = line_of(rows, column, own)
    if line is not None and used.tolist() == [line.at]:
        return [_lined(forest, column, player, line)]
    if line is not None and line.at in used:
        # others, as "is missing", are the same in all rows in which the value is known
        rest = [_alone(forest, player, int(at), rows.codes[:, at]) for at in used if at != line.at]
        return [_lined(forest, column, player, line), *rest]
    together = _one_hot(rows, column, used) if len(used) > 1 else None
    if together is not None:
        codes, shown = together
        return [Axis(player, used, codes, shown)]
    return [_alone(forest, player, int(at), rows.codes[:, at]) for at in used]


def _thresholds(forest: Forest, at: int) -> tuple[Floats, int]:
    """Return the thresholds of a code, and how many codes its sets of categories know."""
    nodes = ~forest.is_leaf & (forest.feature == at)
    sets = nodes & forest.is_categorical
    return forest.threshold[nodes & ~sets], int(32 * forest.category_size[sets].max(initial=0))


def _lined(forest: Forest, column: Column, player: int, line: Line) -> Axis:
    """Make the axis of a column of numbers or levels on a line."""
    cuts, n_codes = _thresholds(forest, line.at)
    if column.is_coded:
        values = np.arange(len(column.levels), dtype=np.float64)
        codes = line.slope * values + line.offset
        shown: list[Any] = list(column.levels)
    else:
        whole = column.kind is Kind.WHOLE and line.is_identity
        known = column.values[~column.missing].astype(np.float64)
        narrow = forest.precision == "float32"
        codes = cells(cuts, line.slope * known + line.offset, whole=whole, narrow=narrow)
        shown = line.values(codes).tolist()
    extra = _others(forest, line.at, n_codes)
    return Axis(
        player,
        np.array([line.at]),
        np.concatenate([codes, extra])[:, None],
        (*shown, *(None for _ in extra)),
    )


def _others(forest: Forest, at: int, n_codes: int) -> Floats:
    """Return codes that have an order of their own: missing, unseen, and zero where it is."""
    result = [np.nan] if forest.accepts_missing else []
    if n_codes:
        result += [float(n_codes), -1.0]
    if forest.zero_missing[forest.feature == at].any():
        result.append(0.0)
    return np.array(result, np.float64)


def _alone(forest: Forest, player: int, at: int, values: Floats) -> Axis:
    """Make the axis of a code by itself, of which any number is thought possible."""
    cuts, n_codes = _thresholds(forest, at)
    codes = cells(cuts, values, narrow=forest.precision == "float32")
    if len(observed := np.unique(values[~np.isnan(values)])) <= _FEW:
        codes = np.union1d(codes, observed)
    every = np.concatenate([codes, np.arange(n_codes), _others(forest, at, n_codes)])
    return Axis(player, np.array([at]), every[:, None], (None,) * len(every))


def _one_hot(rows: Rows, column: Column, used: Index) -> tuple[Floats, tuple[Any, ...]] | None:
    """List the codes of levels, where each has one code of ones; None for other codes."""
    codes = rows.codes[:, used]
    if not np.isin(codes, (0.0, 1.0)).all() or codes.sum(axis=1).max(initial=0) > 1:
        return None
    every = np.concatenate([np.eye(len(used)), np.zeros((1, len(used)))])
    labels = column.labels()
    shown: list[Any] = []
    for code in every:
        rows_with = np.flatnonzero((codes == code).all(axis=1) & ~column.missing)
        shown.append(labels[rows_with[0]] if len(rows_with) else None)
    return every, tuple(shown)


def ordered_codes(axis: Axis, column: Column) -> Sequence[int]:
    """Return the places of an axis that are in the order of the user's values."""
    known = [k for k, value in enumerate(axis.shown) if value is not None]
    if column.is_coded:
        return known
    return sorted(known, key=lambda k: float(axis.shown[k]))
