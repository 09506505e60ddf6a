"""Accumulated local effects, of one column and of two, as defined and centred."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood.explain._ale_axis import Axis
from clearwood.explain._extrapolation import Support
from clearwood.explain._predictor import Predictor
from clearwood.explain._predictor_rows import Index

__all__ = ["LocalEffects", "first_order", "second_order"]

Floats = NDArray[np.float64]


class Accumulate(Protocol):
    """From weights of the rows to the effect at the nodes."""

    def __call__(self, w: Floats, *, centred: bool) -> Floats:
        """Give values of shape (nodes..., outputs)."""


@dataclass(frozen=True, eq=False)
class LocalEffects:
    """What the model said about every step; the effect for any weights of the rows follows.

    Parameters
    ----------
    accumulate
        From weights of the rows and whether to centre, to values of shape (nodes..., outputs).
    shares
        The share of the rows that counts for each node.
    outside
        At each node, the share of the rows asked about its steps that lie outside the data.
    empty
        How many cells had no rows and were filled (two columns only).
    """

    accumulate: Accumulate
    shares: Floats
    outside: Floats
    empty: int = 0


def first_order(
    predictor: Predictor,
    position: int,
    axis: Axis,
    rows: Index,
    weights: Floats,
    support: Support | None,
) -> LocalEffects:
    """Ask the model at both ends of each row's own step (Hiabu 2024, definition 7.3.3).

    The uncentred effect at z_j is the sum over the steps up to j of the mean difference over the
    step's rows; centred, its mean over the rows is zero (definition 7.4.6). Rows without a value
    are asked about theirs and about the middle node: the effect of "missing" is that difference
    on top of the middle node's effect.
    """
    steps = axis.steps[rows]
    who, side = np.nonzero(steps >= 0)
    step = steps[who, side]
    gone = np.flatnonzero(axis.missing[rows])
    middle = _middle(axis, rows, weights)
    base = np.concatenate([rows[who], rows[who], rows[gone], rows[gone]])
    source = np.concatenate(
        [
            axis.sources[step + 1],
            axis.sources[step],
            rows[gone],
            np.full(len(gone), axis.sources[middle]),
        ]
    )
    found = predictor.predict(base, {position: source})
    n, m = len(who), len(gone)
    difference = found[:n] - found[n : 2 * n]
    absent = found[2 * n : 2 * n + m] - found[2 * n + m :]
    n_outputs = found.shape[1]
    plain = _step_means(difference, step, weights[who], axis.n_steps)

    def node_weights(w: Floats) -> Floats:
        full = np.zeros(len(axis.missing))
        full[rows] = w
        whole = axis.node_weights(full)
        return np.append(whole, w[gone].sum()) if m else whole

    def accumulate(w: Floats, *, centred: bool) -> Floats:
        mean = _step_means(difference, step, w[who], axis.n_steps)
        mean = np.where(np.isfinite(mean), mean, plain)  # a draw without the step's rows
        values = np.vstack([np.zeros((1, n_outputs)), np.cumsum(mean, axis=0)])
        if m:
            total = w[gone].sum()
            shift = (w[gone, None] * absent).sum(axis=0) / total if total else absent.mean(axis=0)
            values = np.vstack([values, values[middle] + shift])
        if centred:
            at = node_weights(w)
            values = values - (at @ values) / at.sum()
        return values

    return LocalEffects(
        accumulate,
        shares=node_weights(weights) / weights.sum(),
        outside=_outside(
            support, position, base[: 2 * n], source[: 2 * n], step, axis, has_missing=bool(m)
        ),
    )


def _middle(axis: Axis, rows: Index, weights: Floats) -> int:
    full = np.zeros(len(axis.missing))
    full[rows] = weights
    at = np.cumsum(axis.node_weights(full))
    return int(np.searchsorted(at, at[-1] / 2).clip(0, len(at) - 1))


def _step_means(difference: Floats, step: Index, weights: Floats, n_steps: int) -> Floats:
    total = np.bincount(step, weights, minlength=n_steps)
    found = np.full((n_steps, difference.shape[1]), np.nan)
    for k in range(difference.shape[1]):
        sums = np.bincount(step, weights * difference[:, k], minlength=n_steps)
        np.divide(sums, total, out=found[:, k], where=total > 0)
    return found


def _outside(
    support: Support | None,
    position: int,
    base: Index,
    source: Index,
    step: Index,
    axis: Axis,
    *,
    has_missing: bool,
) -> Floats:
    """Give for each node the share outside the data of the rows asked about its steps."""
    n_nodes = axis.n_steps + 1
    found = np.zeros(n_nodes + has_missing)
    if support is None or not len(base):
        return found
    out = support.outside(base, {position: source}).reshape(2, -1).mean(axis=0)
    ends = np.concatenate([step, step + 1])
    counts = np.bincount(ends, minlength=n_nodes)
    found[:n_nodes] = np.bincount(ends, np.tile(out, 2), minlength=n_nodes) / np.maximum(counts, 1)
    return found


def second_order(
    predictor: Predictor,
    positions: tuple[int, int],
    axes: tuple[Axis, Axis],
    rows: Index,
    weights: Floats,
) -> LocalEffects:
    """Ask the model at the four corners of each row's own cell (definition 7.3.3, two columns).

    A cell without rows takes the mean second difference of the nearest cell that has some, counted
    in steps relative to their number; ties are averaged. Centred, both first-order effects of the
    surface itself are taken away and then its mean (definition 7.4.6), so what is left is the
    interaction alone. Rows without a value in one of the columns are left out.
    """
    first, second = axes
    who, one, two = _cells(first, second, rows)
    shape = (first.n_steps, second.n_steps)
    cell = np.ravel_multi_index((one, two), shape)
    base = np.tile(rows[who], 4)
    held = {
        positions[0]: np.concatenate(
            [first.sources[one + 1], first.sources[one], first.sources[one + 1], first.sources[one]]
        ),
        positions[1]: np.concatenate(
            [
                second.sources[two + 1],
                second.sources[two + 1],
                second.sources[two],
                second.sources[two],
            ]
        ),
    }
    corners = predictor.predict(base, held).reshape(4, len(who), -1)
    difference = (corners[0] - corners[1]) - (corners[2] - corners[3])
    n_outputs = difference.shape[1]
    nearest = _nearest_full(np.bincount(cell, minlength=shape[0] * shape[1]) > 0, shape)
    plain = _step_means(difference, cell, weights[who], shape[0] * shape[1])
    spread = _Spread(first, second, rows)

    def accumulate(w: Floats, *, centred: bool) -> Floats:
        mean = _step_means(difference, cell, w[who], shape[0] * shape[1])
        mean = np.where(np.isfinite(mean), mean, plain)
        filled = np.einsum("ab,bk->ak", nearest, np.where(np.isfinite(mean), mean, 0.0))
        steps = filled.reshape(*shape, n_outputs)
        values = np.zeros((shape[0] + 1, shape[1] + 1, n_outputs))
        values[1:, 1:] = np.cumsum(np.cumsum(steps, axis=0), axis=1)
        return spread.centred(values, w) if centred else values

    at = spread.nodes(weights)
    return LocalEffects(
        accumulate,
        shares=at / weights.sum(),
        outside=np.zeros(at.shape),
        empty=int((~np.isfinite(plain[:, 0])).sum()),
    )


def _cells(first: Axis, second: Axis, rows: Index) -> tuple[Index, Index, Index]:
    """Give (row, step of the first, step of the second) for every cell a row speaks for."""
    found = []
    for a in (0, 1):
        for b in (0, 1):
            one, two = first.steps[rows, a], second.steps[rows, b]
            who = np.flatnonzero((one >= 0) & (two >= 0))
            found.append((who, one[who], two[who]))
    who, one, two = (np.concatenate(part) for part in zip(*found, strict=True))
    return who, one, two


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
        self.first, self.second, self.rows = first, second, rows
        self.shape = (first.n_steps + 1, second.n_steps + 1)

    def _sum(self, one: Index, two: Index, size: tuple[int, int], weights: Floats) -> Floats:
        """Add up weights over pairs of positions, leaving out -1."""
        shown = (one >= 0) & (two >= 0)
        cell = np.ravel_multi_index((one[shown], two[shown]), size)
        total = np.bincount(cell, weights[shown], minlength=size[0] * size[1])
        return np.asarray(total.reshape(size))

    def nodes(self, weights: Floats) -> Floats:
        """Give the weight at each pair of nodes."""
        one, two = self.first.nodes[self.rows], self.second.nodes[self.rows]
        total: Floats = np.sum(
            [
                0.25 * self._sum(one[:, a], two[:, b], self.shape, weights)
                for a in (0, 1)
                for b in (0, 1)
            ],
            axis=0,
        )
        return total

    def centred(self, values: Floats, weights: Floats) -> Floats:
        """Take away the first-order effects of the surface itself, then its mean."""
        along = self._effect(values, self.first, self.second, weights)
        across = self._effect(values.transpose(1, 0, 2), self.second, self.first, weights)
        values = values - along[:, None] - across[None, :]
        at = self.nodes(weights)
        return np.asarray(values - np.einsum("ab,abk->k", at, values) / at.sum())

    def _effect(self, values: Floats, axis: Axis, other: Axis, weights: Floats) -> Floats:
        """Give the first-order effect of a surface along its first axis."""
        steps, nodes = axis.steps[self.rows], other.nodes[self.rows]
        size = (axis.n_steps, values.shape[1])
        at = np.sum(
            [
                0.5 * self._sum(steps[:, a], nodes[:, b], size, weights)
                for a in (0, 1)
                for b in (0, 1)
            ],
            axis=0,
        )
        rise = np.diff(values, axis=0)
        total = at.sum(axis=1)
        mean = np.einsum("ab,abk->ak", at, rise) / np.where(total > 0, total, 1)[:, None]
        return np.vstack([np.zeros((1, values.shape[2])), np.cumsum(mean, axis=0)])
