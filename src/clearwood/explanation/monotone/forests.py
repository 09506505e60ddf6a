"""The least step of a forest along one column, over the whole space.

From one cell of the column to the next, only trees with a split between the two change, and each
by a function of its other columns that is constant in boxes. The least sum of these functions is
searched for exactly: trees that share no column are independent of each other, so for pairs of
columns it is Σ_k min over x_k (each x_k occurs in one term); else boxes are intersected, tree by
tree, and a branch ends where the least that is left to add cannot beat the best sum so far.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.forest import Forest
from clearwood.table import Column, Kind

__all__ = [
    "Box",
    "ColumnLine",
    "ForestAxis",
    "ForestSplits",
    "LeastStep",
    "axes_of",
    "cells",
    "least_step",
    "line_of",
    "ordered_codes",
]

#: Values of a code that are all looked at.
_FEW = 10
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class ColumnLine:
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


def line_of(rows: EncodedRows, column: Column, own: Index) -> ColumnLine | None:
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
        return ColumnLine(at, 1.0, 0.0)
    if np.array_equal(code, values.astype(np.float32)):
        return ColumnLine(at, 1.0, 0.0)
    low, high = int(np.argmin(values)), int(np.argmax(values))
    if values[high] == values[low]:
        return None
    slope = (code[high] - code[low]) / (values[high] - values[low])
    offset = code[low] - slope * values[low]
    if slope == 0 or not np.isfinite([slope, offset]).all():
        return None
    if np.abs(slope * values + offset - code).max() > 1e-9 * np.abs(code).max():
        return None
    return ColumnLine(at, float(slope), float(offset))


@dataclass(frozen=True, eq=False)
class ForestAxis:
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


def axes_of(forest: Forest, rows: EncodedRows, groups: Index) -> list[ForestAxis]:
    """Return axes of all columns that the forest splits on."""
    used = np.unique(forest.feature[~forest.is_leaf])
    result = []
    for player in np.unique(groups[used]).tolist():
        own = np.flatnonzero(groups == player)
        mine = own[np.isin(own, used)]
        result += _axes_of_player(forest, rows, player, own, mine)
    return result


def _axes_of_player(
    forest: Forest, rows: EncodedRows, player: int, own: Index, used: Index
) -> list[ForestAxis]:
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
        return [ForestAxis(player, used, codes, shown)]
    return [_alone(forest, player, int(at), rows.codes[:, at]) for at in used]


def _thresholds(forest: Forest, at: int) -> tuple[Floats, int]:
    """Return the thresholds of a code, and how many codes its sets of categories have."""
    nodes = ~forest.is_leaf & (forest.feature == at)
    sets = nodes & forest.is_categorical
    return forest.threshold[nodes & ~sets], int(32 * forest.category_size[sets].max(initial=0))


def _lined(forest: Forest, column: Column, player: int, line: ColumnLine) -> ForestAxis:
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
    return ForestAxis(
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


def _alone(forest: Forest, player: int, at: int, values: Floats) -> ForestAxis:
    """Make the axis of a code by itself, of which any number is thought possible."""
    cuts, n_codes = _thresholds(forest, at)
    codes = cells(cuts, values, narrow=forest.precision == "float32")
    if len(observed := np.unique(values[~np.isnan(values)])) <= _FEW:
        codes = np.union1d(codes, observed)
    every = np.concatenate([codes, np.arange(n_codes), _others(forest, at, n_codes)])
    return ForestAxis(player, np.array([at]), every[:, None], (None,) * len(every))


def _one_hot(
    rows: EncodedRows, column: Column, used: Index
) -> tuple[Floats, tuple[Any, ...]] | None:
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


def ordered_codes(axis: ForestAxis, column: Column) -> Sequence[int]:
    """Return the places of an axis that are in the order of the user's values."""
    known = [k for k, value in enumerate(axis.shown) if value is not None]
    if column.is_coded:
        return known
    return sorted(known, key=lambda k: float(axis.shown[k]))


#: A box: for some axes, which of their values are inside, as bits.
Box = dict[int, int]


class _BudgetError(Exception):
    """The search has looked at as many boxes as it may."""


@dataclass
class _BoxBudget:
    """How many more boxes may be looked at."""

    left: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _BudgetError


@dataclass(frozen=True)
class LeastStep:
    """The least change from one cell of a column to the next.

    Parameters
    ----------
    change
        The change; a lower bound of it where ``place`` is None.
    before, after
        Places of the two cells on the axis.
    place
        Where the change occurs: the place on every other axis that it depends on.
    """

    change: float
    before: int
    after: int
    place: dict[int, int] | None


class ForestSplits:
    """A forest with the sides to which the values of axes go at its nodes.

    Parameters
    ----------
    forest
        The trees.
    axes
        Values of its columns.
    values
        What each node adds; leaves only.
    """

    def __init__(self, forest: Forest, axes: Sequence[ForestAxis], values: Floats) -> None:
        self.axes = axes
        self.values = values.tolist()
        self.left = forest.left.tolist()
        self.right = forest.right.tolist()
        self.tree = forest.node_tree
        self.roots = forest.roots.tolist()
        self.full = [(1 << len(axis.codes)) - 1 for axis in axes]
        self.axis = np.full(len(forest.left), -1)
        self.goes_left: list[int] = [0] * len(forest.left)
        for a, axis in enumerate(axes):
            for place, at in enumerate(axis.at.tolist()):
                for node in np.flatnonzero(~forest.is_leaf & (forest.feature == at)).tolist():
                    self.axis[node] = a
                    sides = forest.goes_left(node, axis.codes[:, place])
                    packed = np.packbits(sides, bitorder="little").tobytes()
                    self.goes_left[node] = int.from_bytes(packed, "little")
        self.axis_of = self.axis.tolist()
        parent = np.full(len(forest.left), -1)
        inner = np.flatnonzero(~forest.is_leaf)
        parent[forest.left[inner]] = inner
        parent[forest.right[inner]] = inner
        self.parent = parent.tolist()

    def apart(self, axis: int, order: Sequence[int]) -> tuple[dict[int, list[int]], set[int]]:
        """Return the nodes that part each step of an axis, and trees that clearly rise along it.

        A tree clearly rises where no leaf on the lower side of a split on the axis is above a leaf
        on its upper side, as libraries ensure that keep a constraint.
        """
        parting: dict[int, list[int]] = {}
        rising, low, high = set(range(len(self.roots))), *self._ranges
        for node in np.flatnonzero(self.axis == axis).tolist():
            sides = [self.goes_left[node] >> place & 1 for place in order]
            steps = [k for k, (one, other) in enumerate(pairwise(sides)) if one != other]
            for step in steps:
                parting.setdefault(step, []).append(node)
            if not steps:
                continue
            first, second = self.left[node], self.right[node]
            if not sides[0]:
                first, second = second, first
            if len(steps) > 1 or high[first] > low[second]:
                rising.discard(int(self.tree[node]))
        return parting, rising

    @property
    def _ranges(self) -> tuple[list[float], list[float]]:
        """The least and the largest leaf below each node."""
        low, high = list(self.values), list(self.values)
        for node in range(len(self.left) - 1, -1, -1):  # children come after their parent
            if self.left[node] >= 0:
                children = (self.left[node], self.right[node])
                low[node] = min(low[child] for child in children)
                high[node] = max(high[child] for child in children)
        return low, high

    def changes(
        self,
        axis: int,
        before: int,
        after: int,
        apart: Sequence[int],
        fixed: Box,
        budget: _BoxBudget,
    ) -> list[list[tuple[Box, float]]]:
        """Return, for each tree that changes, by what in which boxes; they fill the space."""
        above: set[int] = set()
        for node in apart:
            at = node
            while at >= 0 and at not in above:
                above.add(at)
                at = self.parent[at]
        result = []
        for tree in np.unique(self.tree[apart]).tolist():
            boxes: list[tuple[Box, float]] = []
            stack = [(self.roots[tree], self.roots[tree], fixed)]
            while stack:
                budget.spend()
                low, high, box = stack.pop()
                if low == high and low not in above:
                    boxes.append((box, 0.0))
                    continue
                at = low if self.left[low] >= 0 else high
                if self.left[at] < 0:
                    boxes.append((box, self.values[high] - self.values[low]))
                    continue
                if low == high and self.axis_of[at] == axis:
                    stack.append((self._side(at, before), self._side(at, after), box))
                    continue
                for node, inside in self._branches(at, axis, box, before if at == low else after):
                    moved = (node if at == low else low, node if at == high else high)
                    stack.append((*moved, inside))
            result.append(boxes)
        return result

    def _side(self, node: int, place: int) -> int:
        """Return the child to which a value of the node's axis goes."""
        is_left = self.goes_left[node] >> place & 1
        return int(self.left[node] if is_left else self.right[node])

    def _branches(self, node: int, axis: int, box: Box, place: int) -> Iterable[tuple[int, Box]]:
        """Return the children that a box reaches, and the part of it that does."""
        own = self.axis_of[node]
        if own == axis:
            yield self._side(node, place), box
            return
        inside = box.get(own, self.full[own])
        for child, side in (
            (self.left[node], self.goes_left[node]),
            (self.right[node], ~self.goes_left[node]),
        ):
            if inside & side:
                yield child, {**box, own: inside & side}


def least_step(
    splits: ForestSplits,
    axis: int,
    order: Sequence[int],
    *,
    fixed: Box | None = None,
    tolerance: float,
    budget: int,
) -> LeastStep | None:
    """Find the least change between neighbouring cells, over all values of the other columns.

    The search ends at the first change below ``-tolerance``, which is a witness. With ``fixed``,
    only values inside a box count.

    Returns
    -------
    LeastStep or None
        None where the budget was not enough.
    """
    left = _BoxBudget(budget)
    least = LeastStep(np.inf, order[0], order[0], None)
    parting, rising = splits.apart(axis, order)
    try:
        for place, (before, after) in enumerate(pairwise(order)):
            nodes = parting.get(place, [])
            step = _one_step(
                splits, axis, (before, after), nodes, rising, fixed or {}, tolerance, left
            )
            if step.change < least.change:
                least = step
            if least.change < -tolerance:
                break
    except _BudgetError:
        return None
    return least


def _one_step(
    splits: ForestSplits,
    axis: int,
    step: tuple[int, int],
    apart: Sequence[int],
    rising: set[int],
    fixed: Box,
    tolerance: float,
    budget: _BoxBudget,
) -> LeastStep:
    """Find the least change from one cell to the next; a lower bound where that is enough."""
    doubtful = [node for node in apart if int(splits.tree[node]) not in rising]
    bound = 0.0
    if doubtful:
        trees = splits.changes(axis, *step, doubtful, fixed, budget)
        bound = sum(min(change for _, change in boxes) for boxes in trees)
    if bound >= -tolerance:
        return LeastStep(bound, *step, None)
    total, place = 0.0, {}
    for group in _independent(splits.changes(axis, *step, apart, fixed, budget)):
        change, box = _least_sum(group, budget)
        total += change
        for a, inside in box.items():
            place[a] = (inside & -inside).bit_length() - 1
    return LeastStep(total, *step, place)


def _independent(
    trees: list[list[tuple[Box, float]]],
) -> list[list[list[tuple[Box, float]]]]:
    """Group trees so that those of different groups share no axis."""
    groups: list[tuple[set[int], list[list[tuple[Box, float]]]]] = []
    for boxes in trees:
        axes = {a for box, _ in boxes for a in box}
        joined = [boxes]
        rest = []
        for own, members in groups:
            if own & axes:
                axes |= own
                joined += members
            else:
                rest.append((own, members))
        groups = [*rest, (axes, joined)]
    return [members for _, members in groups]


def _least_sum(trees: list[list[tuple[Box, float]]], budget: _BoxBudget) -> tuple[float, Box]:
    """Find the least sum of functions of boxes, and a box in which it is taken."""
    ordered = [sorted(boxes, key=lambda one: one[1]) for boxes in trees]
    ordered.sort(key=lambda boxes: boxes[0][1])
    rest = [0.0]
    for boxes in reversed(ordered):
        rest.insert(0, rest[0] + boxes[0][1])
    best: tuple[float, Box] = (np.inf, {})
    stack: list[tuple[int, int, float, Box]] = [(0, 0, 0.0, {})]
    while stack:
        depth, at, total, box = stack.pop()
        if depth == len(ordered):
            if total < best[0]:
                best = (total, box)
            continue
        boxes = ordered[depth]
        while at < len(boxes):
            own, change = boxes[at]
            if total + change + rest[depth + 1] >= best[0]:
                break
            budget.spend()
            at += 1
            joined = _joined(box, own)
            if joined is not None:
                stack.append((depth, at, total, box))
                stack.append((depth + 1, 0, total + change, joined))
                break
    return best


def _joined(one: Box, other: Box) -> Box | None:
    """Intersect two boxes; None where they have nothing in common."""
    result = dict(one)
    for a, inside in other.items():
        common = inside & result.get(a, inside)
        if not common:
            return None
        result[a] = common
    return result
