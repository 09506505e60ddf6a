"""A forest in ranks: the values of each column that no question of the forest separates.

An *interval* column has the ranks of its numbers among the thresholds, in order, and perhaps a
place of its own for missing values. A *set* column (categories, or numbers whose zeros count as
missing) has places without order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.forest import ZERO, Forest, goes_left

__all__ = ["Atoms", "Column", "atoms_of"]


@dataclass(frozen=True, eq=False)
class Column:
    """The places the values of one column fall into."""

    is_set: bool  # whether the places have no order
    cuts: Floats  # thresholds, rising; rank r holds the values above cuts[r - 1] up to cuts[r]
    missing_rank: int  # interval: the rank missing values always share; -1: a place of their own
    representatives: Floats  # one value per place; missing values with their own place come last
    place: NDArray[np.int32]  # set: the place of every rank, then of missing values

    @property
    def n_atoms(self) -> int:
        """How many places there are."""
        return len(self.representatives)

    def places(self, values: Floats) -> NDArray[np.int32]:
        """Return the place of each (rounded) value; -1 for missing values with their own place."""
        missing = np.isnan(values)
        rank = np.searchsorted(self.cuts, values).astype(np.int32)
        if self.is_set:
            return self.place[np.where(missing, len(self.place) - 1, rank)]
        return np.where(missing, np.int32(self.missing_rank), rank)


@dataclass(frozen=True, eq=False)
class Atoms:
    """A forest's questions in ranks."""

    columns: tuple[Column, ...]  # one per column of the model
    cut: NDArray[np.int32]  # per node: rank of the threshold, or number of the set of places
    default_left: NDArray[np.int32]  # per node: the side of missing values
    set_words: NDArray[np.uint64]  # the sets of places that go left, as bits
    set_start: NDArray[np.int64]
    set_node: NDArray[np.int32]  # a node of the forest with each set

    def places(self, X: Floats) -> NDArray[np.int32]:
        """Return the places of the (rounded) values of a matrix."""
        places = [column.places(X[:, j]) for j, column in enumerate(self.columns)]
        return np.column_stack(places) if places else np.empty((len(X), 0), np.int32)


def atoms_of(forest: Forest) -> Atoms:
    """Find the places of every column and each node's question in them."""
    inner = np.flatnonzero(~forest.is_leaf)
    cut = np.full(forest.n_nodes, -1, np.int32)
    default_left = np.zeros(forest.n_nodes, np.int32)
    columns: list[Column] = []
    sets: list[NDArray[np.uint64]] = []
    set_node: list[int] = []
    order = inner[np.argsort(forest.feature[inner], kind="stable")]
    starts = np.searchsorted(forest.feature[order], np.arange(forest.n_features + 1))
    for j in range(forest.n_features):
        nodes = order[starts[j] : starts[j + 1]]
        if (forest.category_start[nodes] >= 0).any() or forest.zero_missing[nodes].any():
            column, masks = _set_column(forest, nodes)
            known: dict[bytes, int] = {}
            for node, mask in zip(nodes, masks, strict=True):
                number = known.setdefault(mask.tobytes(), len(sets))
                if number == len(sets):
                    sets.append(_words(mask))
                    set_node.append(int(node))
                cut[node] = number
        else:
            column = _interval_column(forest, nodes)
            cut[nodes] = np.searchsorted(column.cuts, _canonical(forest, forest.threshold[nodes]))
            default_left[nodes] = forest.default_left[nodes]
        columns.append(column)
    lengths = [len(words) for words in sets]
    return Atoms(
        columns=tuple(columns),
        cut=cut,
        default_left=default_left,
        set_words=np.concatenate([np.empty(0, np.uint64), *sets]),
        set_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        set_node=np.array(set_node, np.int32),
    )


def _canonical(forest: Forest, threshold: Floats) -> Floats:
    """Return the largest number of the comparison's precision that is not above each threshold."""
    if forest.precision == "float64":
        return threshold
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
        down = np.nextafter(near, np.float32(-np.inf))
    return np.where(near.astype(np.float64) > threshold, down, near).astype(np.float64)


def _below(forest: Forest, values: Floats) -> Floats:
    dtype: Any = np.float32 if forest.precision == "float32" else np.float64
    return np.asarray(np.nextafter(values.astype(dtype), dtype(-np.inf)).astype(np.float64))


def _interval_column(forest: Forest, nodes: Index) -> Column:
    threshold = _canonical(forest, forest.threshold[nodes])
    # every number goes left at infinity, so nothing lies beyond it
    cuts = np.unique(threshold[threshold < np.inf])
    rank = np.searchsorted(cuts, threshold)
    left = forest.default_left[nodes]
    first = int(rank[~left].max(initial=-1)) + 1
    rides = first <= int(rank[left].min(initial=len(cuts))) and first <= len(cuts)
    values = np.append(cuts, np.inf)
    return Column(
        is_set=False,
        cuts=cuts,
        missing_rank=first if rides else -1,
        representatives=values if rides else np.append(values, np.nan),
        place=np.empty(0, np.int32),
    )


def _set_column(forest: Forest, nodes: Index) -> tuple[Column, Bools]:
    numeric = nodes[forest.category_start[nodes] < 0]
    edges = [_canonical(forest, forest.threshold[numeric])]
    if forest.zero_missing[nodes].any():
        edges += [_below(forest, np.array([-ZERO])), np.array([ZERO])]
    if len(numeric) < len(nodes):
        codes = np.arange(int(forest.category_size[nodes].max()) * 32 + 1, dtype=np.float64)
        edges.append(_below(forest, codes))
    cuts = np.unique(np.concatenate(edges))
    cuts = cuts[cuts < np.inf]
    values = np.append(cuts, [np.inf, np.nan])
    masks = np.array(
        [goes_left(forest, np.full(len(values), node, np.intp), values) for node in nodes]
    )
    # places that every question treats alike are one
    _, first, place = np.unique(masks, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    column = Column(
        is_set=True,
        cuts=cuts,
        missing_rank=-1,
        representatives=values[first[order]],
        place=np.argsort(order)[place.ravel()].astype(np.int32),
    )
    return column, np.ascontiguousarray(masks[:, first[order]])


def _words(mask: Bools) -> NDArray[np.uint64]:
    padded = np.zeros(-(-len(mask) // 64) * 64, bool)
    padded[: len(mask)] = mask
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
