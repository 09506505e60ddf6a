"""Trees and rows as the integers that the Shapley kernels work on."""
# ruff: noqa: D102 - clearwood.forest.Forest documents the fields that TreesLike lists

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["Trees", "TreesLike"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

# A column of 16-bit codes has room for this many thresholds; the largest code means missing.
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
class Trees:
    """A forest prepared for the Shapley kernels.

    Every column that is split at thresholds becomes one column of ranks; every set
    of categories (and every split that treats zero as missing) becomes a column of outcomes of its
    own. So all splits are tests of integers, and a player is the set of columns that are known or
    unknown together.

    Parameters
    ----------
    forest
        The trees. Make the object once and use it for many calls.
    players
        The player each column of the model belongs to; by default ``forest.groups``, the user's
        columns.
    n_players
        How many there are; players without a split get zeros.
    """

    forest: TreesLike
    players: Integers
    n_players: int

    def __getstate__(self) -> dict[str, Any]:
        # compiled objects stay in their process and are built again where they are needed
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    @classmethod
    def of(cls, forest: TreesLike, *, players: Integers | None = None) -> "Trees":
        """Prepare a forest; by default its groups are the players."""
        chosen = np.asarray(forest.groups if players is None else players, np.int32)
        return cls(forest, chosen, int(chosen.max(initial=-1)) + 1)

    @property
    def n_outputs(self) -> int:
        """How many numbers a raw prediction has."""
        return len(self.forest.base)

    @property
    def n_codes(self) -> int:
        """How many columns of codes a row has."""
        return len(self._splits.ranked) + len(self._splits.special)

    @cached_property
    def path_baseline(self) -> Floats:
        """Mean of the raw prediction over the training rows, as the covers record them."""
        forest = self.forest
        weight = np.zeros(len(forest.left))
        weight[forest.roots] = 1.0
        level = forest.roots[forest.left[forest.roots] >= 0]
        while len(level):
            for children in (forest.left[level], forest.right[level]):
                known = forest.cover[level] > 0
                share = np.full(len(level), 0.5)
                share[known] = forest.cover[children[known]] / forest.cover[level[known]]
                weight[children] = weight[level] * share
            children = np.concatenate([forest.left[level], forest.right[level]])
            level = children[forest.left[children] >= 0]
        leaf = forest.left < 0
        mean: Floats = forest.base + weight[leaf] @ forest.leaf_value[leaf]
        return mean

    def encode(self, X: Floats, *, n_jobs: SupportsIndex | None = 1) -> NDArray[np.uint16]:
        """Turn rows into codes, one column per test the trees make.

        Parameters
        ----------
        X
            Rows of the model's columns, NaN for missing.
        n_jobs
            Threads.

        Returns
        -------
        ndarray of shape (n_rows, n_codes)
            In column-major order.
        """
        splits = self._splits
        n_ranked = len(splits.ranked)
        codes = np.empty((len(X), n_ranked + len(splits.special)), np.uint16, order="F")
        identity = n_ranked == X.shape[1] and (splits.ranked == np.arange(n_ranked)).all()
        values = X if identity else X[:, splits.ranked]
        single = self.forest.precision == "float32"
        thresholds = _as_float32(splits.thresholds) if single else splits.thresholds
        _core.rank_columns(
            values,
            thresholds,
            splits.offsets,
            or_equal=False,
            codes=codes[:, :n_ranked],
            n_threads=threads(n_jobs),
        )
        for k, node in enumerate(splits.special):
            left = self.forest.goes_left(int(node), X[:, self.forest.feature[node]])
            codes[:, n_ranked + k] = ~left
        return codes

    @cached_property
    def kernel(self) -> "_core.ShapleyForest":
        """The compiled side."""
        forest, splits = self.forest, self._splits
        output = forest.tree_output
        value = forest.leaf_value
        if (output >= 0).all() and self.n_outputs > 1:
            sizes = np.diff(np.append(forest.roots, len(forest.left)))
            value = value[np.arange(len(value)), np.repeat(output, sizes)][:, None]
        elif self.n_outputs == 1:
            output = np.full(len(forest.roots), -1, np.int32)
        inner = forest.left >= 0
        player = np.where(inner, self.players[np.where(inner, forest.feature, 0)], -1)
        return _core.ShapleyForest(
            np.ascontiguousarray(forest.roots, np.int32),
            np.ascontiguousarray(forest.left, np.int32),
            np.ascontiguousarray(forest.right, np.int32),
            splits.column,
            splits.start,
            splits.width,
            player.astype(np.int32),
            np.ascontiguousarray(forest.cover, np.float64),
            np.ascontiguousarray(value, np.float64),
            np.ascontiguousarray(output, np.int32),
            self.n_codes,
            self.n_players,
            self.n_outputs,
        )

    @cached_property
    def _splits(self) -> "_Splits":
        return _Splits.of(self.forest)


def _as_float32(thresholds: Floats) -> NDArray[np.float32]:
    """Round thresholds to float32 such that every float32 compares with them as before.

    For a float32 x, t < x holds exactly if it holds for the largest float32 that is not above t.
    """
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
        return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


@dataclass(frozen=True, eq=False)
class _Splits:
    """The column of codes that each node tests, and the codes that go left."""

    ranked: NDArray[np.intp]  # the model's column of each column of ranks
    thresholds: Floats  # of all columns of ranks, end to end
    offsets: NDArray[np.int64]
    special: NDArray[np.intp]  # a node for each column of outcomes
    column: Integers
    start: NDArray[np.uint16]
    width: NDArray[np.uint16]

    @classmethod
    def of(cls, forest: TreesLike) -> "_Splits":
        inner = forest.left >= 0
        odd = inner & ((forest.category_start >= 0) | forest.zero_missing)
        plain = np.flatnonzero(inner & ~odd)
        column = np.full(len(inner), -1, np.int32)
        start = np.zeros(len(inner), np.uint16)
        width = np.zeros(len(inner), np.uint16)
        ranked: list[int] = []
        cuts: list[Floats] = []
        by_feature = plain[np.argsort(forest.feature[plain], kind="stable")]
        features, first = np.unique(forest.feature[by_feature], return_index=True)
        for feature, nodes in zip(features, np.split(by_feature, first)[1:], strict=True):
            unique, rank = np.unique(forest.threshold[nodes], return_inverse=True)
            for begin in range(0, len(unique), _MOST_THRESHOLDS):
                mine = (rank >= begin) & (rank < begin + _MOST_THRESHOLDS)
                chosen = nodes[mine]
                column[chosen] = len(ranked)
                # a missing value is code -1: the interval starts there if it goes left
                start[chosen] = np.where(forest.default_left[chosen], 0xFFFF, 0)
                width[chosen] = rank[mine] - begin + forest.default_left[chosen]
                ranked.append(int(feature))
                cuts.append(unique[begin : begin + _MOST_THRESHOLDS])
        known: dict[tuple[object, ...], int] = {}
        special: list[int] = []
        for node in np.flatnonzero(odd):
            key = _split_key(forest, int(node))
            if key not in known:
                known[key] = len(ranked) + len(special)
                special.append(int(node))
            column[node] = known[key]
        offsets = np.zeros(len(cuts) + 1, np.int64)
        np.cumsum([len(cut) for cut in cuts], out=offsets[1:])
        return cls(
            ranked=np.array(ranked, np.intp),
            thresholds=np.concatenate(cuts) if cuts else np.empty(0),
            offsets=offsets,
            special=np.array(special, np.intp),
            column=column,
            start=start,
            width=width,
        )


def _split_key(forest: TreesLike, node: int) -> tuple[object, ...]:
    """A key that is equal for nodes whose splits send every value the same way."""
    start, size = int(forest.category_start[node]), int(forest.category_size[node])
    words = forest.category_words[start : start + size].tobytes() if start >= 0 else None
    threshold = None if start >= 0 else float(forest.threshold[node])
    flags = (forest.default_left[node], forest.zero_missing[node], forest.unseen_left[node])
    return (int(forest.feature[node]), threshold, words, *map(bool, flags))
