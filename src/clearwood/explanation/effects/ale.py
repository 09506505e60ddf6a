"""Accumulated local effects, of one column and of two, as defined and centred.

Hiabu (2024), definitions 7.3.3 and 7.4.6. Two worked examples of these notes, for
f(x) = x1 + x2 + 2 x1 x2 of normal columns with correlation 0.3, slip in their arithmetic:

- Example 23 writes the slope as 1 + x2; it is ∂f/∂x1 = 1 + 2 x2, with mean 1 + 0.6 z given x1 = z.
  The effect that is printed, z + 0.3 z², is that of the right slope.
- Example 24 prints the centred interaction as x1 x2 − 0.3 (x1² + x2²). The second derivative is 2;
  so the surface before centring is 2 x1 x2, its own first-order effects are 0.3 x1² and 0.3 x2²,
  and what is left is 2 x1 x2 − 0.3 (x1² + x2²), with mean zero. The notes' own parts add up to f
  only with the factor 2.

The tests hold the code to these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood.checks import is_ordered, ranks
from clearwood.explanation.effects.bands import resampled_weights
from clearwood.explanation.effects.extrapolation import Region
from clearwood.explanation.effects.grid import Given, common_levels, levels_note
from clearwood.explanation.effects.request import EffectRequest, MeasuredEffect
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Column, Kind

__all__ = ["AleAxis", "ale", "axis_of", "level_order", "spread_over"]


@dataclass(frozen=True, eq=False)
class AleAxis:
    """Values z_0, z_1, ..., z_B of a column and the steps between them.

    A row of numbers lies in one step, (z_{j-1}, z_j], and half of it counts for either end. A row
    with a level lies at one node and counts for both steps that meet there.
    """

    values: NDArray[Any]  # the nodes as the user writes them
    sources: Index  # a row that has each of these values
    steps: Index  # (rows, 2): the steps a row counts for, -1 for none
    #: (rows, 2): the nodes a row counts for, each with weight one half; the same node twice for
    #: levels, -1 for rows that are not shown.
    nodes: Index
    is_ordered: bool  # whether the nodes lie on an axis
    missing: Bools  # rows that have no value
    note: str = ""  # what was left out
    given: Given | None = None  # the values, where the user gave them

    @property
    def lookups(self) -> Index:
        """A row of the data with each node's value, or the nearest to it."""
        return self.sources if self.given is None else self.given.near

    @property
    def beyond(self) -> Bools:
        """Which nodes lie beyond the values of the data."""
        return np.zeros(len(self.sources), bool) if self.given is None else self.given.beyond

    @property
    def n_steps(self) -> int:
        """How many steps there are, one less than nodes."""
        return len(self.sources) - 1

    def at_nodes(self, rows: Index) -> csr_array:
        """Compute how much each of some rows counts for each node: (rows, nodes)."""
        return spread_over([self.nodes[rows, side] for side in (0, 1)], len(self.sources), 0.5)


def spread_over(places: Sequence[Index], n_places: int, share: float) -> csr_array:
    """Build the matrix that adds up weights of rows by place: (rows, places), -1 for nowhere.

    Examples
    --------
    >>> spread_over([np.array([0, 1, -1]), np.array([1, 1, 0])], 2, 0.5).toarray()
    array([[0.5, 0.5],
           [0. , 1. ],
           [0.5, 0. ]])
    """
    row = np.concatenate([np.flatnonzero(place >= 0) for place in places])
    column = np.concatenate([place[place >= 0] for place in places])
    size = (len(places[0]), n_places)
    return csr_array((np.full(len(row), share), (row, column)), shape=size)


def axis_of(
    columns: Sequence[Column],
    position: int,
    bins: int,
    given: Given | None = None,
    weights: Floats | None = None,
) -> AleAxis:
    """Lay out the axis of a column: quantile bins of numbers and dates, levels one by one.

    Edges and levels are those of the rows that have weight; all rows get their place.

    Equal quantiles are one edge, so a value that many rows share makes fewer bins, never an empty
    one. The edges are values that occur, or those that the user gave; rows beyond these are left
    out.
    """
    column = columns[position]
    weight = np.ones(len(column)) if weights is None else weights
    if given is not None:
        return _given_axis(column, given)
    if column.is_coded or column.kind is Kind.TEXT:
        return _level_axis(columns, position, weight)
    missing = column.missing
    present = np.flatnonzero(~missing & (weight > 0))
    distinct, first, inverse = np.unique(
        column.values[present], return_index=True, return_inverse=True
    )
    sources = present[first]
    if len(distinct) > bins + 1:
        below = np.cumsum(np.bincount(inverse, weight[present]))
        # the smallest value with at least that share of the weight at or below it
        at = np.searchsorted(below, np.linspace(0, 1, bins + 1) * below[-1])
        place = np.unique(at.clip(0, len(distinct) - 1))
        distinct, sources = distinct[place], sources[place]
    present = np.flatnonzero(~missing)
    values = column.values[present]
    step = (np.searchsorted(distinct, values, side="left") - 1).clip(0, max(len(distinct) - 2, 0))
    steps = np.full((len(column), 2), -1)
    nodes = np.full((len(column), 2), -1)
    if len(distinct) > 1:
        steps[present, 0] = step
        nodes[present] = np.column_stack([step, step + 1])
    else:
        nodes[present] = 0
    return AleAxis(distinct, sources, steps, nodes, is_ordered=True, missing=missing)


def _given_axis(column: Column, given: Given) -> AleAxis:
    missing = column.missing
    if given.is_ordered:
        steps, nodes = np.full((len(column), 2), -1), np.full((len(column), 2), -1)
        own = np.flatnonzero(~missing)
        values = column.values[own]
        inside = own[(values >= given.values[0]) & (values <= given.values[-1])]
        place = np.searchsorted(given.values, column.values[inside], side="left") - 1
        steps[inside, 0] = place.clip(0)
        nodes[inside] = np.column_stack([steps[inside, 0], steps[inside, 0] + 1])
        left_out = len(own) - len(inside)
    else:
        node = given.place(column)
        steps, nodes = _around(node, len(given.values))
        left_out = int(((node < 0) & ~missing).sum())
    note = f"{left_out:,} rows have values beyond the grid of {column.name!r}" if left_out else ""
    return AleAxis(
        given.values, given.rows, steps, nodes, given.is_ordered, missing, note=note, given=given
    )


def _level_axis(columns: Sequence[Column], position: int, weight: Floats) -> AleAxis:
    column = columns[position]
    missing = column.missing
    labels = column.labels()
    codes = np.full(len(column), -1)
    names, codes[~missing] = np.unique(labels[~missing].astype(str), return_inverse=True)
    if column.is_coded:  # in the order of the levels, not of the alphabet
        used = np.unique(column.values[~missing])
        place = np.full(len(column.levels), -1)
        place[used] = np.arange(len(used))
        codes = np.where(missing, -1, place[column.values])
        names = np.array(column.levels, dtype=object)[used]
    counts = np.asarray(np.bincount(codes[~missing], weight[~missing], minlength=len(names)), float)
    kept = common_levels(counts)
    n_levels = int((counts > 0).sum())
    note = ""
    if len(kept) < n_levels:
        share = float(counts[kept].sum() / weight.sum())
        note = levels_note(column, n_levels, len(kept), share)
    order = kept
    if column.kind is not Kind.ORDERED and len(kept) > 2:
        others = [c for k, c in enumerate(columns) if k != position]
        narrowed = np.full(len(names), -1)
        narrowed[kept] = np.arange(len(kept))
        own = np.where(codes >= 0, narrowed[codes], -1)
        order = kept[level_order(own, len(kept), others, weight)]
    node_of = np.full(len(names) + 1, -1)
    node_of[order] = np.arange(len(order))
    node = node_of[codes]  # codes of -1 read the last, which is -1
    sources = np.array([np.flatnonzero(node == k)[0] for k in range(len(order))])
    steps, nodes = _around(node, len(order))
    return AleAxis(
        labels[sources], sources, steps, nodes, is_ordered=False, missing=missing, note=note
    )


def _around(node: Index, n_nodes: int) -> tuple[Index, Index]:
    """Return the steps on both sides of each row's node, and the node twice."""
    after = np.where(node < n_nodes - 1, node, -1)  # -1 stays: a row that is not shown
    return np.column_stack([np.where(node > 0, node - 1, -1), after]), np.stack([node] * 2, axis=1)


def level_order(
    codes: Index, n_levels: int, others: Sequence[Column], weights: Floats | None = None
) -> Index:
    """Order levels so that neighbours are alike in the other columns.

    The distance of two levels is the sum, over the other columns, of the largest difference of
    the distribution functions (numbers, dates, ordered levels) or half the summed difference of
    the shares (levels); the order is along the first axis of classical scaling (Apley and Zhu
    2020, section 5). Rows of one level are then evaluated at a level whose rows are like them.

    Examples
    --------
    >>> size = Column("size", Kind.NUMBER, np.array([1.0, 2, 4, 8, 9, 10, 3, 5, 9.5]))
    >>> level_order(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), 3, [size])
    array([0, 2, 1])
    """
    shown = codes >= 0
    weight = np.ones(len(codes)) if weights is None else weights
    distance = np.zeros((n_levels, n_levels))
    for column in others:
        distance += _level_distance(column, shown, codes[shown], weight, n_levels)
    if not distance.any():
        return np.arange(n_levels)
    centre = np.eye(n_levels) - 1 / n_levels
    _, vectors = np.linalg.eigh(-0.5 * centre @ distance**2 @ centre)
    place = vectors[:, -1]
    if place @ (np.arange(n_levels) - (n_levels - 1) / 2) < 0:
        place = -place  # the sign is arbitrary; stay close to the order as written
    return np.argsort(place, kind="stable")


def _level_distance(
    column: Column, shown: Bools, own: Index, weight: Floats, n_levels: int
) -> Floats:
    if is_ordered(column):
        place = ranks(column, weight)[shown]
        known = ~np.isnan(place)
        cut = np.minimum((place[known] * 50).astype(np.intp), 49)
        table = np.zeros((n_levels, 50))
        np.add.at(table, (own[known], cut), weight[shown][known])
        sums = table.sum(axis=1, keepdims=True)
        shares = np.cumsum(table, axis=1) / np.where(sums > 0, sums, 1)
        return np.asarray(np.abs(shares[:, None] - shares[None]).max(axis=2))
    values = (
        column.values
        if column.is_coded
        else np.unique(column.values.astype(str), return_inverse=True)[1]
    )
    _, code = np.unique(values[shown], return_inverse=True)
    n_codes = int(code.max(initial=0)) + 1
    if n_codes > 1000:
        return np.zeros((n_levels, n_levels))  # names and the like say nothing about levels
    table = np.zeros((n_levels, n_codes))
    np.add.at(table, (own, code), weight[shown])
    shares = table / table.sum(axis=1, keepdims=True)
    return np.array([0.5 * np.abs(shares - line).sum(axis=1) for line in shares])


# How far a row moves in a step, in the coordinates of distances (ranks times the root of 12), with
# some allowance for ties; coarser axes than this many steps do not count as ordinary.
_ONE_STEP, _ORDINARY_STEPS = 1.5 * np.sqrt(12), 20


def ale(request: EffectRequest) -> MeasuredEffect:
    """Accumulate the mean differences of the prediction over small steps."""
    predictor, options = request.predictor, request.options
    axes = tuple(
        axis_of(predictor.columns, k, request.most, request.given.get(k), request.data_weights)
        for k in request.positions
    )
    support = request.support() if options.extrapolation else None
    notes: list[str] = []
    if len(axes) == 1:
        local = _first_order(request, axes[0], support)
        values = [_with_missing(axes[0].values, len(local.shares))]
    else:
        local = _second_order(request, (axes[0], axes[1]), support)
        values = [axis.values for axis in axes]
        notes = _surface_notes(local, axes)
    drawn = None
    if options.n_bootstrap:
        drawn = np.concatenate(
            [
                local.accumulate(block, centred=options.is_centred)
                for block in resampled_weights(local.weights, options.n_bootstrap, request.seed)
            ]
        )
    return MeasuredEffect(
        grid=tuple(values),
        values=local.accumulate(local.weights[None], centred=options.is_centred)[0],
        shares=local.shares,
        outside=local.outside,
        is_ordered=tuple(axis.is_ordered for axis in axes),
        rows=local.rows,
        weights=local.weights,
        replicates=drawn,
        near=local.near,
        left_out="; ".join(axis.note for axis in axes if axis.note) or None,
        stopped=local.stopped,
        notes=tuple(notes),
    )


def _surface_notes(local: "_LocalEffects", axes: Sequence[AleAxis]) -> list[str]:
    notes = []
    if local.empty:
        n_cells = axes[0].n_steps * axes[1].n_steps
        notes.append(
            f"{local.empty} of {n_cells} cells have no rows; they take the difference of the "
            "nearest cell that has some"
        )
    if any(axis.missing.any() for axis in axes):
        notes.append("rows with a missing value in one of the columns are left out")
    return notes


def _with_missing(values: NDArray[Any], n_nodes: int) -> NDArray[Any]:
    if n_nodes == len(values):
        return values
    if values.dtype.kind == "M":
        return np.append(values, np.datetime64("NaT"))
    if values.dtype.kind == "f":
        return np.append(values, np.nan)
    return np.append(values.astype(object), [None])


class _Accumulate(Protocol):
    """From weights of the rows to the effect at the nodes."""

    def __call__(self, w: Floats, *, centred: bool) -> Floats:
        """Compute values of shape (draws, nodes..., outputs) for weights (draws, rows)."""


@dataclass(frozen=True, eq=False)
class _LocalEffects:
    """The model's predictions at every step; the effect for any weights of the rows follows."""

    accumulate: _Accumulate
    rows: Index  # those that were evaluated
    weights: Floats
    shares: Floats  # of the rows that count for each node
    outside: Floats  # at each node, of the rows evaluated there, that lie outside the data
    #: The mean of each row's predictions, which is nearly its own prediction, and after that by
    #: how much they differ: (rows, outputs + 1).
    near: Floats
    empty: int = 0  # cells that had no rows and were filled (two columns only)
    stopped: str | None = None  # why not all rows were evaluated


# One column


@dataclass(frozen=True, eq=False)
class _Ends:
    """Predictions at both ends of the steps of some rows."""

    who: Index  # the row, as a position among those evaluated, and its step
    step: Index
    difference: Floats  # the prediction at the upper end less that at the lower: (steps, outputs)
    gone: Index  # rows without a value, and their prediction less that at the middle node
    absent: Floats
    near: Floats  # as in `_LocalEffects`


def _first_order(request: EffectRequest, axis: AleAxis, support: Region | None) -> _LocalEffects:
    """Predict both ends of each row's own step (Hiabu 2024, definition 7.3.3).

    The uncentred effect at z_j is the sum over the steps up to j of the mean difference over the
    step's rows; centred, its mean over the rows is zero (definition 7.4.6). Rows without a value
    are evaluated at theirs and at the middle node: the effect of "missing" is that difference
    on top of the middle node's effect.
    """
    predictor, position = request.predictor, request.positions[0]
    middle = _middle(axis, request.rows, request.weights)
    answers = request.evaluated(lambda rows: _ends(predictor, position, axis, rows, middle), 2)
    request = request.narrowed(answers.rows)
    ends = _joined(answers.blocks, answers.sizes)
    n_rows, n_outputs = len(request.rows), ends.difference.shape[1]
    steps = _StepMeans(ends.who, ends.step, ends.difference, n_rows, axis.n_steps)
    at_nodes = axis.at_nodes(request.rows)
    m = len(ends.gone)

    def node_weights(w: Floats) -> Floats:
        whole = w @ at_nodes
        return np.column_stack([whole, w[:, ends.gone].sum(axis=1)]) if m else whole

    plain = steps.of(request.weights[None])[0]
    if n_rows < len(predictor):  # the rows of some steps may not be among them
        full = np.isfinite(plain).all(axis=1)
        if not full.any():
            raise InputError(
                f"none of the {n_rows:,} rows that are averaged over has a value of "
                f"{predictor.names[position]!r}",
                parameter="sample",
                value=request.options.sample,
                hint="use more rows.",
            )
        plain = _nearest_full(full, (axis.n_steps, 1)) @ np.where(full[:, None], plain, 0.0)
    outside = _outside(request, support, [axis], ends.who, [ends.step])
    whole = request.data_weights
    at_all = axis.at_nodes(np.arange(len(whole)))
    shares = np.append(whole @ at_all, [whole[axis.missing].sum()] * min(m, 1))

    def accumulate(w: Floats, *, centred: bool) -> Floats:
        mean = steps.of(w)
        mean = np.where(np.isfinite(mean), mean, plain)  # a draw without the step's rows
        values = np.concatenate([np.zeros((len(w), 1, n_outputs)), np.cumsum(mean, axis=1)], axis=1)
        if m:
            own = w[:, ends.gone]
            own = np.where(own.sum(axis=1, keepdims=True) > 0, own, 1.0)
            shift = (own @ ends.absent) / own.sum(axis=1, keepdims=True)
            values = np.concatenate([values, values[:, [middle]] + shift[:, None]], axis=1)
        if centred:
            at = node_weights(w)
            mean = np.einsum("dn,dno->do", at, values) / at.sum(axis=1)[:, None]
            values = values - mean[:, None]
        return values

    return _LocalEffects(
        accumulate,
        rows=request.rows,
        weights=request.weights,
        shares=shares / whole.sum(),
        outside=np.append(outside, np.zeros(min(m, 1))),
        near=ends.near,
        stopped=answers.stopped,
    )


def _middle(axis: AleAxis, rows: Index, weights: Floats) -> int:
    at = np.cumsum(weights @ axis.at_nodes(rows))
    return int(np.searchsorted(at, at[-1] / 2).clip(0, len(at) - 1))


def _ends(predictor: Predictor, position: int, axis: AleAxis, rows: Index, middle: int) -> _Ends:
    steps = axis.steps[rows]
    who, side = np.nonzero(steps >= 0)
    step = steps[who, side]
    gone = np.flatnonzero(axis.missing[rows])
    # both ends of a step one after the other: they take nearly the same way through trees
    ends = np.column_stack([axis.sources[step + 1], axis.sources[step]])
    absent = np.column_stack([rows[gone], np.full(len(gone), axis.sources[middle])])
    base = np.concatenate([np.repeat(rows[who], 2), np.repeat(rows[gone], 2)])
    if not len(base):
        nothing = np.empty((0, len(predictor.outputs)))
        return _Ends(who, step, nothing, gone, nothing, np.zeros((len(rows), nothing.shape[1] + 1)))
    result = predictor.predict(base, {position: np.concatenate([ends.ravel(), absent.ravel()])})
    upper, lower = result[: 2 * len(who) : 2], result[1 : 2 * len(who) : 2]
    own, there = result[2 * len(who) :: 2], result[2 * len(who) + 1 :: 2]
    near = _row_means(who, (upper + lower) / 2, upper - lower, len(rows))
    near[gone, :-1], near[gone, -1] = own, 0.0
    return _Ends(who, step, upper - lower, gone, own - there, near)


def _row_means(who: Index, values: Floats, apart: Floats, n_rows: int) -> Floats:
    """Average the predictions of each row; without any, nothing is sure."""
    counts = np.bincount(who, minlength=n_rows)
    parts = [*values.T, np.abs(apart).sum(axis=1)]
    sums = np.column_stack([np.bincount(who, part, minlength=n_rows) for part in parts])
    result: Floats = sums / np.maximum(counts, 1)[:, None]
    result[counts == 0, -1] = np.inf
    return result


def _joined(blocks: Sequence[_Ends], sizes: Sequence[int]) -> _Ends:
    """Put blocks together; positions then count among all rows."""
    starts = np.cumsum([0, *sizes])
    return _Ends(
        who=np.concatenate([b.who + first for b, first in zip(blocks, starts, strict=False)]),
        step=np.concatenate([b.step for b in blocks]),
        difference=np.concatenate([b.difference for b in blocks]),
        gone=np.concatenate([b.gone + first for b, first in zip(blocks, starts, strict=False)]),
        absent=np.concatenate([b.absent for b in blocks]),
        near=np.concatenate([b.near for b in blocks]),
    )


class _StepMeans:
    """Means over the rows of each step, for any weights of the rows."""

    def __init__(
        self, who: Index, step: Index, difference: Floats, n_rows: int, n_steps: int
    ) -> None:
        size = (n_rows, n_steps)
        self.counts = csr_array((np.ones(len(who)), (who, step)), shape=size)
        self.sums = [csr_array((part, (who, step)), shape=size) for part in difference.T]

    def of(self, w: Floats) -> Floats:
        """Compute the means under weights of shape (draws, rows): (draws, steps, outputs)."""
        total = w @ self.counts
        result = np.full((*total.shape, len(self.sums)), np.nan)
        for k, part in enumerate(self.sums):
            np.divide(w @ part, total, out=result[..., k], where=total > 0)
        return result


def _outside(
    request: EffectRequest,
    support: Region | None,
    axes: Sequence[AleAxis],
    who: Index,
    steps: Sequence[Index],
) -> Floats:
    """Count at each node the share of the rows evaluated there that lie outside the data.

    A row that moves by no more than an ordinary step stays near itself, and so within the data,
    however closely other columns follow this one.
    """
    shape = tuple(axis.n_steps + 1 for axis in axes)
    if support is None or not len(who):
        return np.zeros(shape)
    positions, base = request.positions, request.rows[who]
    corners = list(product((0, 1), repeat=len(axes)))
    nodes = [
        np.concatenate([step + corner[k] for corner in corners]) for k, step in enumerate(steps)
    ]
    held = {
        position: axis.lookups[node]
        for position, axis, node in zip(positions, axes, nodes, strict=True)
    }
    base = np.tile(base, len(corners))
    out = support.outside(base, held)
    if all(axis.is_ordered for axis in axes):
        part = support.parts
        moved = [np.abs(part[k][at] - part[k][base]).max(axis=1) for k, at in held.items()]
        limits = [_ONE_STEP / max(axis.n_steps, _ORDINARY_STEPS) for axis in axes]
        out &= ~np.all([move <= limit for move, limit in zip(moved, limits, strict=True)], axis=0)
    node = np.ravel_multi_index(tuple(nodes), shape)
    n_nodes = int(np.prod(shape))
    weight = np.tile(request.weights[who], len(corners))
    total = np.bincount(node, weight, minlength=n_nodes)
    sums = np.bincount(node, weight * out, minlength=n_nodes)
    result: Floats = (sums / np.where(total > 0, total, 1.0)).reshape(shape)
    for k, axis in enumerate(axes):
        np.moveaxis(result, k, 0)[axis.beyond] = 1.0
    return result


# Two columns


def _second_order(
    request: EffectRequest, axes: tuple[AleAxis, AleAxis], support: Region | None
) -> _LocalEffects:
    """Predict the four corners of each row's own cell (definition 7.3.3, two columns).

    A cell without rows takes the mean second difference of the nearest cell that has some, counted
    in steps relative to their number; ties are averaged. Centred, both first-order effects of the
    surface itself are taken away and then its mean (definition 7.4.6), so what is left is the
    interaction alone. Rows without a value in one of the columns are left out.
    """
    predictor, positions = request.predictor, request.positions
    both = np.logical_and.reduce([(axis.steps[request.rows] >= 0).any(axis=1) for axis in axes])
    if not both.any():
        raise InputError(
            "no rows have values of both columns that differ from each other",
            hint=words(
                "an interaction needs two values of either, besides missing; ",
                Option("kind", "pdp"),
                " shows missing as a value of its own.",
            ),
        )
    first, second = axes
    shape = (first.n_steps, second.n_steps)
    n_cells = shape[0] * shape[1]
    answers = request.evaluated(
        lambda rows: _corners(predictor, (positions[0], positions[1]), axes, rows), 4
    )
    request = request.narrowed(answers.rows)
    rows = request.rows
    who, one, two = _cells(first, second, rows)
    difference, mean, apart = (np.concatenate(p) for p in zip(*answers.blocks, strict=True))
    cell = np.ravel_multi_index((one, two), shape)
    steps = _StepMeans(who, cell, difference, len(rows), n_cells)
    nearest = _nearest_full(np.bincount(cell, minlength=n_cells) > 0, shape)
    plain = steps.of(request.weights[None])[0]
    spread = _LocalSpread(first, second, rows)

    def accumulate(w: Floats, *, centred: bool) -> Floats:
        mean = steps.of(w)
        mean = np.where(np.isfinite(mean), mean, plain)
        filled = np.einsum("ab,dbk->dak", nearest, np.where(np.isfinite(mean), mean, 0.0))
        values = np.zeros((len(w), shape[0] + 1, shape[1] + 1, filled.shape[-1]))
        cells = filled.reshape(len(w), *shape, -1)
        values[:, 1:, 1:] = np.cumsum(np.cumsum(cells, axis=1), axis=2)
        return spread.centred(values, w) if centred else values

    whole = request.data_weights
    at = _LocalSpread(first, second, np.arange(len(whole))).nodes(whole[None])[0]
    return _LocalEffects(
        accumulate,
        rows=rows,
        weights=request.weights,
        shares=at / whole.sum(),
        outside=_outside(request, support, axes, who, (one, two)),
        near=_row_means(who, mean, apart, len(rows)),
        empty=int((~np.isfinite(plain[:, 0])).sum()),
        stopped=answers.stopped,
    )


def _corners(
    predictor: Predictor, positions: tuple[int, int], axes: tuple[AleAxis, AleAxis], rows: Index
) -> tuple[Floats, Floats, Floats]:
    """Compute for each row and cell the second difference, the mean and the range."""
    who, one, two = _cells(*axes, rows)
    if not len(who):
        nothing = np.empty((0, len(predictor.outputs)))
        return nothing, nothing, nothing
    base = np.tile(rows[who], 4)
    held = {
        position: np.concatenate([axis.sources[step + k] for k in ends])
        for position, axis, step, ends in zip(
            positions, axes, (one, two), ((1, 0, 1, 0), (1, 1, 0, 0)), strict=True
        )
    }
    corners = predictor.predict(base, held).reshape(4, len(who), -1)
    second = (corners[0] - corners[1]) - (corners[2] - corners[3])
    return second, corners.mean(axis=0), np.ptp(corners, axis=0)


def _cells(first: AleAxis, second: AleAxis, rows: Index) -> tuple[Index, Index, Index]:
    """List (row, step of the first, step of the second) for every cell that a row counts for."""
    one, two = first.steps[rows], second.steps[rows]
    both = (one[:, :, None] >= 0) & (two[:, None, :] >= 0)
    # row by row, so that blocks of rows follow one another
    who, a, b = np.nonzero(both)
    return who, one[who, a], two[who, b]


def _nearest_full(full: Bools, shape: tuple[int, int]) -> Floats:
    """Build the matrix that carries means of cells with rows to the cells without."""
    n_cells = len(full)
    matrix = np.eye(n_cells)
    if full.all():
        return matrix
    at = np.indices(shape).reshape(2, -1).T / np.array(shape)
    known = np.flatnonzero(full)
    for empty in np.flatnonzero(~full):
        distance = ((at[known] - at[empty]) ** 2).sum(axis=1)
        tied = known[distance <= distance.min() * (1 + 1e-9)]
        matrix[empty] = 0.0
        matrix[empty, tied] = 1 / len(tied)
    return matrix


class _LocalSpread:
    """How rows are spread over the nodes of two axes, for centring."""

    def __init__(self, first: AleAxis, second: AleAxis, rows: Index) -> None:
        self.shape = (first.n_steps + 1, second.n_steps + 1)
        one, two = first.nodes[rows], second.nodes[rows]
        self._nodes = _pairs(one, two, self.shape, 0.25)
        self._along = _pairs(first.steps[rows], two, (first.n_steps, self.shape[1]), 0.5)
        self._across = _pairs(second.steps[rows], one, (second.n_steps, self.shape[0]), 0.5)

    def nodes(self, w: Floats) -> Floats:
        """Add up the weight at each pair of nodes: (draws, nodes, nodes)."""
        return np.asarray((w @ self._nodes).reshape(len(w), *self.shape))

    def centred(self, values: Floats, w: Floats) -> Floats:
        """Take away the first-order effects of the surface itself, then its mean."""
        along = _effect(values, w @ self._along)
        across = _effect(values.transpose(0, 2, 1, 3), w @ self._across)
        values = values - along[:, :, None] - across[:, None, :]
        at = self.nodes(w)
        mean = np.einsum("dab,dabk->dk", at, values) / at.sum(axis=(1, 2))[:, None]
        return np.asarray(values - mean[:, None, None])


def _pairs(one: Index, two: Index, size: tuple[int, int], share: float) -> csr_array:
    """Build the matrix that adds up weights over pairs of places, of which a row has two each."""
    places = [
        np.where((one[:, a] >= 0) & (two[:, b] >= 0), one[:, a] * size[1] + two[:, b], -1)
        for a in (0, 1)
        for b in (0, 1)
    ]
    return spread_over(places, size[0] * size[1], share)


def _effect(values: Floats, at: Floats) -> Floats:
    """Compute the first-order effect of surfaces along their first axis."""
    rise = np.diff(values, axis=1)
    at = at.reshape(rise.shape[:3])
    total = at.sum(axis=2)
    mean = np.einsum("dab,dabk->dak", at, rise) / np.where(total > 0, total, 1)[..., None]
    start = np.zeros((len(values), 1, values.shape[3]))
    return np.concatenate([start, np.cumsum(mean, axis=1)], axis=1)
