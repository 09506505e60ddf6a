"""The values of each column that neither a diagram nor an ensemble separates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.condensing.tree.diagram import Diagram
from clearwood.condensing.tree.doubles import just_below, last_double
from clearwood.forest import ZERO, Forest, goes_left, rounded

__all__ = ["JointRanks", "joint_ranks"]

Asker = Diagram | Forest


@dataclass(frozen=True, eq=False)
class _Column:
    is_set: bool
    cuts: Floats  # interval: rank r holds what lies above cuts[r - 1] up to cuts[r]
    missing: bool  # interval: whether missing values have their own place
    places: Floats  # set: one value of each place


@dataclass(frozen=True, eq=False)
class JointRanks:
    """Places of every column, and the questions of all askers in them."""

    columns: tuple[_Column, ...]  # one per column of the model
    cut: tuple[NDArray[np.int32], ...]  # per asker and node: rank of the threshold, or set
    sets: tuple[Bools, ...]  # which places of its column each set holds

    def arrays(self) -> dict[str, Any]:
        """Return the columns as the kernel reads them."""
        words = [_words(held) for held in self.sets]
        sizes = [len(c.places) if c.is_set else len(c.cuts) for c in self.columns]
        return {
            "is_set": np.array([c.is_set for c in self.columns], np.int32),
            "size": np.array(sizes, np.int32),
            "missing": np.array([c.missing for c in self.columns], np.int32),
            "set_words": np.concatenate([np.empty(0, np.uint64), *words]),
            "set_start": np.cumsum([0, *map(len, words)]).astype(np.int64),
        }

    def point(self, box: Sequence[Any], levels: Sequence[Any]) -> Floats:
        """Return a row inside a box of the kernel, in numbers short to write."""
        row = np.empty(len(self.columns))
        for j, (column, region) in enumerate(zip(self.columns, box, strict=True)):
            if column.is_set:
                row[j] = _known(column.places[np.asarray(region)], levels[j])
            else:
                low, high, _ = region
                row[j] = _inside(column.cuts, low, high) if low <= high else np.nan
        return row


def joint_ranks(askers: Sequence[Asker], n_features: int, *, missing: bool = True) -> JointRanks:
    """Find the places of every column under all questions of a diagram and an ensemble.

    Without ``missing``, missing values among numbers have no place.
    """
    cuts = tuple(np.zeros(len(asker.feature), np.int32) for asker in askers)
    columns: list[_Column] = []
    sets: list[Bools] = []
    ordered = []
    for asker in askers:
        order = np.argsort(asker.feature, kind="stable")
        ordered.append((order, np.searchsorted(asker.feature[order], np.arange(n_features + 1))))
    for j in range(n_features):
        nodes = [order[starts[j] : starts[j + 1]] for order, starts in ordered]
        # a leaf of a forest may name any column; only children make it a question
        nodes = [at[asker.left[at] >= 0] for asker, at in zip(askers, nodes, strict=True)]
        if any(
            (asker.category_start[at] >= 0).any() or asker.zero_missing[at].any()
            for asker, at in zip(askers, nodes, strict=True)
        ):
            columns.append(_set_column(askers, nodes, cuts, sets))
        else:
            column = _interval_column(askers, nodes, cuts)
            columns.append(replace(column, missing=column.missing and missing))
    return JointRanks(tuple(columns), cuts, tuple(sets))


def _interval_column(
    askers: Sequence[Asker],
    nodes: Sequence[Index],
    cuts: Sequence[NDArray[np.int32]],
) -> _Column:
    last = [
        last_double(asker.threshold[at], asker.precision)
        for asker, at in zip(askers, nodes, strict=True)
    ]
    both = np.concatenate(last)
    values = np.unique(both[both < np.inf])  # every number goes left at infinity
    for at, into, threshold in zip(nodes, cuts, last, strict=True):
        into[at] = np.searchsorted(values, threshold)
    left = np.concatenate([a.default_left[at] for a, at in zip(askers, nodes, strict=True)])
    rank = np.searchsorted(values, both)
    # missing values need no place where they always go with the numbers of one rank
    first = int(rank[~left].max(initial=-1)) + 1
    follows = first <= int(rank[left].min(initial=len(values))) and first <= len(values)
    return _Column(is_set=False, cuts=values, missing=not follows, places=np.empty(0))


def _set_column(
    askers: Sequence[Asker],
    nodes: Sequence[Index],
    cuts: Sequence[NDArray[np.int32]],
    sets: list[Bools],
) -> _Column:
    edges = [np.empty(0)]
    for asker, at in zip(askers, nodes, strict=True):
        numeric = at[asker.category_start[at] < 0]
        edges.append(last_double(asker.threshold[numeric], asker.precision))
        if asker.zero_missing[at].any():
            edges.append(just_below(np.array([-ZERO]), asker.precision))
            edges.append(last_double(np.array([ZERO]), asker.precision))
        if len(numeric) < len(at):
            n_codes = int(asker.category_size[at].max()) * 32
            edges.append(just_below(np.arange(n_codes + 1.0), asker.precision))
    ends = np.unique(np.concatenate(edges))
    values = np.concatenate([ends[ends < np.inf], [np.inf, np.nan]])
    masks = []
    for asker, at in zip(askers, nodes, strict=True):
        like: Any = asker
        seen = rounded(like, values)
        masks += [goes_left(like, np.full(len(values), node, np.intp), seen) for node in at]
    table = np.array(masks).reshape(-1, len(values))
    _, first = np.unique(table, axis=1, return_index=True)
    kept = np.sort(first)
    # a place is shown by the code of a category where it has one
    shown = _representatives(values, table, kept)
    row = 0
    known: dict[bytes, int] = {}
    for at, into in zip(nodes, cuts, strict=True):
        for node in at:
            held = table[row, kept]
            number = known.setdefault(held.tobytes(), len(sets))
            if number == len(sets):
                sets.append(held)
            into[node] = number
            row += 1
    return _Column(is_set=True, cuts=np.empty(0), missing=False, places=shown)


def _representatives(values: Floats, table: Bools, kept: Index) -> Floats:
    """Return one value per place: the first whole number in it, else its largest value."""
    shown = values[kept].copy()
    for i, at in enumerate(kept):
        same = np.flatnonzero((table == table[:, at : at + 1]).all(axis=0))
        for place in same:
            low = values[place - 1] if place else -np.inf
            whole = np.floor(low) + 1 if np.isfinite(low) else np.floor(values[place])
            if np.isfinite(whole) and low < whole <= values[place]:
                shown[i] = whole
                break
    return shown


def _known(values: Floats, levels: Sequence[Any] | None) -> float:
    """Choose a value that the user has a word for, where there is one."""
    if levels is not None:
        codes = values[(values >= 0) & (values < len(levels)) & (values == np.floor(values))]
        if len(codes):
            return float(codes[0])
        if np.isnan(values).any():
            return float("nan")
    finite = values[np.isfinite(values)]
    return float(finite[0]) if len(finite) else float(values[0])


def _inside(cuts: Floats, low: int, high: int) -> float:
    """Return a number above ``cuts[low - 1]`` and not above ``cuts[high]``, with few digits."""
    below = float(cuts[low - 1]) if low else -np.inf
    last = float(cuts[high]) if high < len(cuts) else np.inf
    if below < 0 <= last:
        return 0.0
    if np.isinf(last):
        candidate = np.floor(below) + 1
        return float(candidate) if candidate > below else float(np.nextafter(below, np.inf))
    if np.isinf(below):
        candidate = np.floor(last)
        return float(candidate) if candidate <= last else last
    for digits in range(1, 17):
        candidate = float(f"{below + (last - below) / 2:.{digits}g}")
        if below < candidate <= last:
            return candidate
    return last


def _words(held: Bools) -> NDArray[np.uint64]:
    padded = np.zeros(-(-len(held) // 64) * 64, bool)
    padded[: len(held)] = held
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
