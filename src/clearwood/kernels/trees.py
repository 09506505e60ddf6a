"""Trees and rows as the integers that the Shapley kernels work on."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.split_codes import Floats, Integers, SplitCodes, TreesLike

__all__ = ["Trees"]

# What the results of a forest depend on, besides its precision.
_DEFINING = (
    "roots",
    "left",
    "right",
    "feature",
    "threshold",
    "default_left",
    "zero_missing",
    "category_start",
    "category_size",
    "category_words",
    "unseen_left",
    "cover",
    "leaf_value",
    "base",
    "tree_output",
)


@dataclass(frozen=True, eq=False)
class Trees:
    """A forest prepared for the Shapley kernels.

    Every column that is split at thresholds becomes one column of ranks; every column that is split
    by sets of categories (or by splits that treat zero as missing) becomes one of classes. So all
    splits are tests of integers, and a player is the set of columns that are known or unknown
    together.

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
        gone = ("kernel", "arrangements")
        return {name: value for name, value in self.__dict__.items() if name not in gone}

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
        return self.splits.n_columns

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
        return self.splits.encode(X, n_jobs=n_jobs)

    @cached_property
    def kernel(self) -> "_core.ShapleyForest":
        """The compiled side."""
        forest, splits = self.forest, self.splits
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
            splits.set,
            splits.words,
            splits.n_classes,
            player.astype(np.int32),
            np.ascontiguousarray(forest.cover, np.float64),
            np.ascontiguousarray(value, np.float64),
            np.ascontiguousarray(output, np.int32),
            self.n_players,
            self.n_outputs,
        )

    @cached_property
    def splits(self) -> SplitCodes:
        """The columns of codes, and the codes that go left at each node."""
        return SplitCodes.of(self.forest)

    @cached_property
    def arrangements(self) -> dict[tuple[tuple[int, ...], ...], Any]:
        """How sets of players are laid out for the kernel, as far as they have been asked for."""
        return {}

    @cached_property
    def own_column(self) -> dict[int, int]:
        """The column of codes of each player that has one and no more."""
        inner = self.forest.left >= 0
        players = self.players[self.forest.feature[inner]]
        pairs = np.unique(np.stack([players, self.splits.column[inner]]), axis=1)
        found, first, n_columns = np.unique(pairs[0], return_index=True, return_counts=True)
        alone = n_columns == 1
        return dict(zip(found[alone].tolist(), pairs[1, first[alone]].tolist(), strict=True))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of splits, values and players: equal for trees with the same results."""
        digest = hashlib.sha256(f"{self.forest.precision} {self.n_players}".encode())
        for name in _DEFINING:
            array = np.ascontiguousarray(getattr(self.forest, name))
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.tobytes())
        digest.update(np.asarray(self.players, np.int32).tobytes())
        return digest.hexdigest()

    def equals(self, other: "Trees") -> bool:
        """Whether backgrounds counted for one serve the other."""
        return self is other or self.fingerprint == other.fingerprint

    def regrouped(self, players: Integers, n_players: int) -> "Trees":
        """Return the same trees with other players; rows have the same codes."""
        other = Trees(self.forest, players, n_players)
        other.__dict__["splits"] = self.splits
        return other
