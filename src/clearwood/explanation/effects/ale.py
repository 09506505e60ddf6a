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
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.explanation.effects.ale_axis import Axis, spread_over
from clearwood.explanation.effects.extrapolation import Region
from clearwood.explanation.effects.request import Request

__all__ = ["LocalEffects", "first_order", "second_order"]


class Accumulate(Protocol):
    """From weights of the rows to the effect at the nodes."""

    def __call__(self, w: Floats, *, centred: bool) -> Floats:
        """Give values of shape (draws, nodes..., outputs) for weights of shape (draws, rows)."""


@dataclass(frozen=True, eq=False)
class LocalEffects:
    """What the model said about every step; the effect for any weights of the rows follows.

    Parameters
    ----------
    accumulate
        From weights of the rows and whether to centre, to the effect.
    rows, weights
        The rows that were evaluated.
    shares
        The share of the rows that counts for each node.
    outside
        At each node, the share of the rows evaluated there that lie outside the data.
    near
        For each row the mean of its predictions, which is nearly its own prediction, and
        after that by how much they differ: (rows, outputs + 1).
    empty
        How many cells had no rows and were filled (two columns only).
    stopped
        Why not all rows were evaluated; None where they were.
    """

    accumulate: Accumulate
    rows: Index
    weights: Floats
    shares: Floats
    outside: Floats
    near: Floats
    empty: int = 0
    stopped: str | None = None


# One column


@dataclass(frozen=True, eq=False)
class _Ends:
    """What the model said about both ends of the steps of some rows.

    Parameters
    ----------
    who, step
        The row, as a position among those evaluated, and the step.
    difference
        The prediction at the upper end less that at the lower: (steps, outputs).
    gone, absent
        Rows without a value, and their prediction less that at the middle node.
    near
        As in `LocalEffects`.
    """

    who: Index
    step: Index
    difference: Floats
    gone: Index
    absent: Floats
    near: Floats


def first_order(request: Request, axis: Axis, support: Region | None) -> LocalEffects:
    """Ask the model at both ends of each row's own step (Hiabu 2024, definition 7.3.3).

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

    return LocalEffects(
        accumulate,
        rows=request.rows,
        weights=request.weights,
        shares=node_weights(request.weights[None])[0] / request.weights.sum(),
        outside=_outside(support, position, request.rows, ends, axis, has_missing=bool(m)),
        near=ends.near,
        stopped=answers.stopped,
    )


def _middle(axis: Axis, rows: Index, weights: Floats) -> int:
    at = np.cumsum(weights @ axis.at_nodes(rows))
    return int(np.searchsorted(at, at[-1] / 2).clip(0, len(at) - 1))


def _ends(predictor: Predictor, position: int, axis: Axis, rows: Index, middle: int) -> _Ends:
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
        """Give the means under weights of shape (draws, rows): (draws, steps, outputs)."""
        total = w @ self.counts
        result = np.full((*total.shape, len(self.sums)), np.nan)
        for k, part in enumerate(self.sums):
            np.divide(w @ part, total, out=result[..., k], where=total > 0)
        return result


def _outside(
    support: Region | None,
    position: int,
    rows: Index,
    ends: _Ends,
    axis: Axis,
    *,
    has_missing: bool,
) -> Floats:
    """Give for each node the share of the rows evaluated there that lie outside the data."""
    n_nodes = axis.n_steps + 1
    result = np.zeros(n_nodes + has_missing)
    if support is None or not len(ends.who):
        return result
    base = rows[ends.who]
    at = np.concatenate([ends.step, ends.step + 1])
    out = support.outside(np.tile(base, 2), {position: axis.lookups[at]})
    counts = np.bincount(at, minlength=n_nodes)
    result[:n_nodes] = np.bincount(at, out, minlength=n_nodes) / np.maximum(counts, 1)
    result[:n_nodes][axis.beyond] = 1.0
    return result


# Two columns


def second_order(request: Request, axes: tuple[Axis, Axis], support: Region | None) -> LocalEffects:
    """Ask the model at the four corners of each row's own cell (definition 7.3.3, two columns).

    A cell without rows takes the mean second difference of the nearest cell that has some, counted
    in steps relative to their number; ties are averaged. Centred, both first-order effects of the
    surface itself are taken away and then its mean (definition 7.4.6), so what is left is the
    interaction alone. Rows without a value in one of the columns are left out.
    """
    predictor, positions = request.predictor, request.positions
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
    spread = _Spread(first, second, rows)

    def accumulate(w: Floats, *, centred: bool) -> Floats:
        mean = steps.of(w)
        mean = np.where(np.isfinite(mean), mean, plain)
        filled = np.einsum("ab,dbk->dak", nearest, np.where(np.isfinite(mean), mean, 0.0))
        values = np.zeros((len(w), shape[0] + 1, shape[1] + 1, filled.shape[-1]))
        cells = filled.reshape(len(w), *shape, -1)
        values[:, 1:, 1:] = np.cumsum(np.cumsum(cells, axis=1), axis=2)
        return spread.centred(values, w) if centred else values

    at = spread.nodes(request.weights[None])[0]
    return LocalEffects(
        accumulate,
        rows=rows,
        weights=request.weights,
        shares=at / request.weights.sum(),
        outside=_outside_cells(support, positions, axes, rows, (who, one, two)),
        near=_row_means(who, mean, apart, len(rows)),
        empty=int((~np.isfinite(plain[:, 0])).sum()),
        stopped=answers.stopped,
    )


def _corners(
    predictor: Predictor, positions: tuple[int, int], axes: tuple[Axis, Axis], rows: Index
) -> tuple[Floats, Floats, Floats]:
    """Give, of every cell a row speaks for, the second difference, the mean and the range."""
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


def _outside_cells(
    support: Region | None,
    positions: tuple[int, ...],
    axes: tuple[Axis, Axis],
    rows: Index,
    cells: tuple[Index, Index, Index],
) -> Floats:
    """Give for each node the share of the rows evaluated there that lie outside the data."""
    who, one, two = cells
    shape = (axes[0].n_steps + 1, axes[1].n_steps + 1)
    result = np.zeros(shape)
    if support is None or not len(who):
        return result
    corners = [(a, b) for a in (0, 1) for b in (0, 1)]
    along = np.concatenate([one + a for a, _ in corners])
    across = np.concatenate([two + b for _, b in corners])
    held = {positions[0]: axes[0].lookups[along], positions[1]: axes[1].lookups[across]}
    out = support.outside(np.tile(rows[who], 4), held)
    node = np.ravel_multi_index((along, across), shape)
    counts = np.bincount(node, minlength=result.size)
    sums = np.bincount(node, out, minlength=result.size)
    result = (sums / np.maximum(counts, 1)).reshape(shape)
    result[axes[0].beyond] = 1.0
    result[:, axes[1].beyond] = 1.0
    return result


def _cells(first: Axis, second: Axis, rows: Index) -> tuple[Index, Index, Index]:
    """Give (row, step of the first, step of the second) for every cell a row speaks for."""
    one, two = first.steps[rows], second.steps[rows]
    both = (one[:, :, None] >= 0) & (two[:, None, :] >= 0)
    # row by row, so that blocks of rows follow one another
    who, a, b = np.nonzero(both)
    return who, one[who, a], two[who, b]


def _nearest_full(full: NDArray[np.bool_], shape: tuple[int, int]) -> Floats:
    """Give the matrix that carries means of cells with rows to the cells without."""
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


class _Spread:
    """How rows are spread over the nodes of two axes, for centring."""

    def __init__(self, first: Axis, second: Axis, rows: Index) -> None:
        self.shape = (first.n_steps + 1, second.n_steps + 1)
        one, two = first.nodes[rows], second.nodes[rows]
        self._nodes = _pairs(one, two, self.shape, 0.25)
        self._along = _pairs(first.steps[rows], two, (first.n_steps, self.shape[1]), 0.5)
        self._across = _pairs(second.steps[rows], one, (second.n_steps, self.shape[0]), 0.5)

    def nodes(self, w: Floats) -> Floats:
        """Give the weight at each pair of nodes: (draws, nodes, nodes)."""
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
    """Give the matrix that adds up weights over pairs of places, of which a row has two each."""
    places = [
        np.where((one[:, a] >= 0) & (two[:, b] >= 0), one[:, a] * size[1] + two[:, b], -1)
        for a in (0, 1)
        for b in (0, 1)
    ]
    return spread_over(places, size[0] * size[1], share)


def _effect(values: Floats, at: Floats) -> Floats:
    """Give the first-order effect of surfaces along their first axis."""
    rise = np.diff(values, axis=1)
    at = at.reshape(rise.shape[:3])
    total = at.sum(axis=2)
    mean = np.einsum("dab,dabk->dak", at, rise) / np.where(total > 0, total, 1)[..., None]
    start = np.zeros((len(values), 1, values.shape[3]))
    return np.concatenate([start, np.cumsum(mean, axis=1)], axis=1)
