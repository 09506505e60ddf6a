"""The axis of an accumulated local effect: its nodes, and which rows count for which step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.checks import is_ordered, ranks
from clearwood.explanation.effects.given import Given
from clearwood.explanation.effects.grid import common_levels, levels_note
from clearwood.table import Column, Kind

__all__ = ["Axis", "axis_of", "level_order", "spread_over"]


@dataclass(frozen=True, eq=False)
class Axis:
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
) -> Axis:
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
    return Axis(distinct, sources, steps, nodes, is_ordered=True, missing=missing)


def _given_axis(column: Column, given: Given) -> Axis:
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
    return Axis(
        given.values, given.rows, steps, nodes, given.is_ordered, missing, note=note, given=given
    )


def _level_axis(columns: Sequence[Column], position: int, weight: Floats) -> Axis:
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
    return Axis(
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
