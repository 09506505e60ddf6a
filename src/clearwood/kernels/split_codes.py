"""Values as small integers, so that every split of a forest is a test of an integer."""
# ruff: noqa: D102 - clearwood.forest.Forest documents the fields that TreesLike lists

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["MISSING", "ZERO", "Floats", "Integers", "SplitCodes", "TreesLike"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

#: LightGBM's bound for "zero" where zeros count as missing: the float32 nearest 1e-35.
ZERO = float(np.float32(1e-35))

#: The code of missing values in a column of ranks.
MISSING = 0xFFFF

# A column of 16-bit codes has room for this many thresholds or classes.
_MOST_THRESHOLDS = 65_000


class TreesLike(Protocol):
    """The fields of a forest that the kernels read, as in `clearwood.forest.Forest`."""

    @property
    def roots(self) -> Integers: ...
    @property
    def left(self) -> Integers: ...
    @property
    def right(self) -> Integers: ...
    @property
    def feature(self) -> Integers: ...
    @property
    def threshold(self) -> Floats: ...
    @property
    def default_left(self) -> NDArray[np.bool_]: ...
    @property
    def zero_missing(self) -> NDArray[np.bool_]: ...
    @property
    def category_start(self) -> Integers: ...
    @property
    def category_size(self) -> Integers: ...
    @property
    def category_words(self) -> NDArray[np.uint32]: ...
    @property
    def unseen_left(self) -> NDArray[np.bool_]: ...
    @property
    def cover(self) -> Floats: ...
    @property
    def leaf_value(self) -> Floats: ...
    @property
    def base(self) -> Floats: ...
    @property
    def tree_output(self) -> Integers: ...
    @property
    def groups(self) -> Integers: ...
    @property
    def precision(self) -> str: ...
    def goes_left(self, node: int, x: Floats) -> NDArray[np.bool_]: ...


@dataclass(frozen=True, eq=False)
class SplitCodes:
    """The column of codes that each node tests, and the codes that go left.

    Columns split at thresholds have ranks. Columns split by sets of categories, or by splits that
    treat zero as missing, have classes: values that all of these splits send the same way have the
    same class. So each split is evaluated once for a class, not once for a row.
    """

    ranked: NDArray[np.intp]  # the model's column of each column of ranks
    thresholds: NDArray[Any]  # of all columns of ranks, end to end, in the forest's precision
    offsets: NDArray[np.int64]
    classes: tuple["_Classes", ...]  # the columns behind those of ranks
    column: Integers
    start: NDArray[np.uint16]
    width: NDArray[np.uint16]
    set: NDArray[np.int64]  # where the words of a node's set start, -1 without one
    words: NDArray[np.uint32]
    single: bool  # whether values are compared as float32

    @classmethod
    def of(cls, forest: TreesLike) -> "SplitCodes":
        """Lay out the columns of a forest's splits."""
        inner = forest.left >= 0
        by_set = inner & ((forest.category_start >= 0) | forest.zero_missing)
        plain = np.flatnonzero(inner & ~by_set)
        column = np.full(len(inner), -1, np.int32)
        start = np.zeros(len(inner), np.uint16)
        width = np.zeros(len(inner), np.uint16)
        ranked: list[int] = []
        cuts: list[Floats] = []
        for feature, nodes in _by_feature(forest, plain):
            unique, rank = np.unique(forest.threshold[nodes], return_inverse=True)
            for begin in range(0, len(unique), _MOST_THRESHOLDS):
                mine = (rank >= begin) & (rank < begin + _MOST_THRESHOLDS)
                chosen = nodes[mine]
                column[chosen] = len(ranked)
                # a missing value is code -1: the interval starts there if it goes left
                start[chosen] = np.where(forest.default_left[chosen], MISSING, 0)
                width[chosen] = rank[mine] - begin + forest.default_left[chosen]
                ranked.append(feature)
                cuts.append(unique[begin : begin + _MOST_THRESHOLDS])
        offsets = np.zeros(len(cuts) + 1, np.int64)
        np.cumsum([len(cut) for cut in cuts], out=offsets[1:])
        thresholds = np.concatenate(cuts) if cuts else np.empty(0)
        single = forest.precision == "float32"

        word_start = np.full(len(inner), -1, np.int64)
        words: list[NDArray[np.uint32]] = []
        n_words = 0
        classes: list[_Classes] = []
        for feature, nodes in _by_feature(forest, np.flatnonzero(by_set)):
            alike = _alike(forest, nodes)
            for made, groups in _Classes.of(forest, feature, alike):
                for group, words_of_set in zip(groups, made.left_words, strict=True):
                    column[group] = len(ranked) + len(classes)
                    word_start[group] = n_words
                    words.append(words_of_set)
                    n_words += len(words_of_set)
                classes.append(made)
        return cls(
            ranked=np.array(ranked, np.intp),
            thresholds=_as_float32(thresholds) if single else thresholds,
            offsets=offsets,
            classes=tuple(classes),
            column=column,
            start=start,
            width=width,
            set=word_start,
            words=np.concatenate(words) if words else np.empty(0, np.uint32),
            single=single,
        )

    @property
    def n_columns(self) -> int:
        """How many columns of codes a row has."""
        return len(self.ranked) + len(self.classes)

    @property
    def n_classes(self) -> Integers:
        """How many classes each column of codes has; 0 for columns of ranks."""
        counts = [0] * len(self.ranked) + [made.n_classes for made in self.classes]
        return np.array(counts, np.int32)

    @property
    def n_codes(self) -> Integers:
        """How many codes the values of each column can have, that of missing values included."""
        counts = [*(np.diff(self.offsets) + 2), *(made.n_classes for made in self.classes)]
        return np.array(counts, np.int32)

    def encode(self, X: Floats, *, n_jobs: SupportsIndex | None = 1) -> NDArray[np.uint16]:
        """Turn rows of the model's columns into codes, in column-major order."""
        n_ranked = len(self.ranked)
        codes = np.empty((len(X), self.n_columns), np.uint16, order="F")
        identity = n_ranked == X.shape[1] and (self.ranked == np.arange(n_ranked)).all()
        _core.rank_columns(
            X if identity else X[:, self.ranked],
            self.thresholds,
            self.offsets,
            or_equal=False,
            codes=codes[:, :n_ranked],
            n_threads=threads(n_jobs),
        )
        for k, classes in enumerate(self.classes, n_ranked):
            codes[:, k] = classes.of_values(X[:, classes.feature], n_jobs=n_jobs)
        return codes


@dataclass(frozen=True, eq=False)
class _Classes:
    """Classes of the values of one column, and the classes that go left at each of its splits.

    The values between two neighbouring cuts, a cell, go the same way at every split; cells that go
    the same way everywhere are one class.
    """

    feature: int
    cuts: NDArray[Any]
    class_of_cell: NDArray[np.uint16]  # the last entry is that of missing values
    n_classes: int
    left_words: NDArray[np.uint32]  # splits by words

    @classmethod
    def of(
        cls, forest: TreesLike, feature: int, alike: Sequence[NDArray[np.intp]]
    ) -> list[tuple["_Classes", Sequence[NDArray[np.intp]]]]:
        """Make classes for groups of equal splits; more than one column where codes run out."""
        first = np.array([group[0] for group in alike])
        cuts = _cuts(forest, first)
        # a cell reaches up to its cut, which is its own largest value
        cells = np.concatenate([cuts.astype(np.float64), [np.inf, np.nan]])
        left = np.zeros((len(cells), -(-len(first) // 8)), np.uint8)
        for k, node in enumerate(first):
            left[:, k // 8] |= forest.goes_left(int(node), cells).astype(np.uint8) << (k % 8)
        rows, class_of_cell = np.unique(left, axis=0, return_inverse=True)
        if len(rows) > _MOST_THRESHOLDS:  # one split alone has two classes
            half = len(alike) // 2
            return [
                *cls.of(forest, feature, alike[:half]),
                *cls.of(forest, feature, alike[half:]),
            ]
        outcomes = np.unpackbits(rows, axis=1, count=len(first), bitorder="little").T
        padded = np.zeros((len(first), -(-len(rows) // 32) * 32), np.uint8)
        padded[:, : len(rows)] = outcomes
        words = np.packbits(padded, axis=1, bitorder="little").view("<u4").astype(np.uint32)
        made = cls(feature, cuts, class_of_cell.ravel().astype(np.uint16), len(rows), words)
        return [(made, alike)]

    def of_values(self, x: Floats, *, n_jobs: SupportsIndex | None = 1) -> NDArray[np.uint16]:
        """Return the class of each value."""
        cell = np.empty((len(x), 1), np.int32, order="F")
        _core.rank_columns(
            x[:, None],
            self.cuts,
            np.array([0, len(self.cuts)], np.int64),
            or_equal=False,
            codes=cell,
            n_threads=threads(n_jobs),
        )
        # missing values have the largest number there is
        return self.class_of_cell[np.minimum(cell[:, 0], len(self.class_of_cell) - 1)]


def _by_feature(forest: TreesLike, nodes: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return each feature with those of the nodes that split on it."""
    ordered = nodes[np.argsort(forest.feature[nodes], kind="stable")]
    features, first = np.unique(forest.feature[ordered], return_index=True)
    groups = np.split(ordered, first)[1:]
    return [(int(feature), group) for feature, group in zip(features, groups, strict=True)]


def _alike(forest: TreesLike, nodes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Group nodes whose splits send every value the same way."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for node in nodes:
        start, size = int(forest.category_start[node]), int(forest.category_size[node])
        words = forest.category_words[start : start + size].tobytes() if start >= 0 else None
        threshold = None if start >= 0 else float(forest.threshold[node])
        flags = (forest.default_left[node], forest.zero_missing[node], forest.unseen_left[node])
        groups.setdefault((threshold, words, *map(bool, flags)), []).append(int(node))
    return [np.array(group) for group in groups.values()]


def _cuts(forest: TreesLike, nodes: NDArray[np.intp]) -> NDArray[Any]:
    """Return where the splits of some nodes can change sides; x lies above a cut t if t < x."""
    sets = nodes[forest.category_start[nodes] >= 0]
    cuts = [forest.threshold[nodes[forest.category_start[nodes] < 0]]]
    if len(sets):
        members = np.zeros(int(forest.category_size[sets].max()), np.uint32)
        for start, size in zip(
            forest.category_start[sets], forest.category_size[sets], strict=True
        ):
            members[:size] |= forest.category_words[start : start + size]
        bits = np.unpackbits(members.astype("<u4").view(np.uint8), bitorder="little")
        seen = np.flatnonzero(bits).astype(np.float64)
        ends = np.unique(forest.category_size[sets]).astype(np.float64) * 32
        # category c are the values from c up to but not including c + 1
        begins = np.concatenate([seen, seen + 1, ends, [0.0]])
        cuts.append(np.nextafter(begins, -np.inf))
    if forest.zero_missing[nodes].any():
        cuts.append(np.array([np.nextafter(-ZERO, -np.inf), ZERO]))
    together = np.concatenate(cuts)
    return np.unique(_as_float32(together) if forest.precision == "float32" else together)


def _as_float32(thresholds: Floats) -> NDArray[np.float32]:
    """Round thresholds to float32 such that every float32 compares with them as before.

    For a float32 x, t < x holds exactly if it holds for the largest float32 that is not above t.
    """
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
        return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)
