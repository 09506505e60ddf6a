"""A scorecard as one small tree for each column, whose leaves are the bands."""

from collections.abc import Sequence

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.scorecard.bands import Bands
from clearwood.models.shared.score import TreeArrays

__all__ = ["band_trees"]

#: Divides values from missing ones: every value is below.
_ANY_VALUE = float(np.finfo(np.float64).max)


def band_trees(columns: Sequence[Bands], effects: Sequence[Floats], n_features: int) -> TreeArrays:
    """Make the trees; ``effects`` are what the bands of each column add, missing values last."""
    grower = _Grower()
    roots = []
    for bands, added in zip(columns, effects, strict=True):
        roots.append(len(grower.nodes))
        grower.grow(bands, added)
    nodes = grower.nodes
    start, size, words = _sets([node.levels for node in nodes])
    return TreeArrays(
        roots=np.array(roots, np.int32),
        left=np.array([node.left for node in nodes], np.int32),
        right=np.array([node.right for node in nodes], np.int32),
        feature=np.array([node.feature for node in nodes], np.int32),
        threshold=np.array([node.threshold for node in nodes], np.float64),
        # missing values and unseen levels are always on the right
        default_left=np.zeros(len(nodes), bool),
        value=np.array([node.value for node in nodes], np.float64).reshape(-1, 1),
        cover=np.array([node.cover for node in nodes], np.float64),
        tree_output=np.zeros(len(roots), np.int32),
        n_features=n_features,
        n_outputs=1,
        category_start=start,
        category_size=size,
        category_words=words,
        unseen_left=np.zeros(len(nodes), bool),
    )


class _Node:
    """One node; a leaf until it has children."""

    def __init__(self, cover: float) -> None:
        self.left = self.right = self.feature = -1
        self.threshold = 0.0
        self.levels: list[int] | None = None
        self.value, self.cover = 0.0, cover


class _Grower:
    """Adds the nodes of one tree after another."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []

    def grow(self, bands: Bands, added: Floats) -> None:
        """Divide known values from missing ones, then the bands by halves."""
        self._bands, self._added = bands, added
        self._mass = bands.events + bands.others
        known = list(range(bands.n_bands))
        root = self._node([*known, bands.n_bands])
        self._split(root, known, [bands.n_bands], _ANY_VALUE)

    def _node(self, members: list[int]) -> int:
        self.nodes.append(_Node(float(self._mass[members].sum())))
        return len(self.nodes) - 1

    def _split(self, at: int, low: list[int], high: list[int], threshold: float) -> None:
        """Give a node two children: the bands up to a threshold, and those above."""
        node, bands = self.nodes[at], self._bands
        node.feature = bands.column
        if bands.groups is None:
            node.threshold = threshold
        else:
            node.levels = np.flatnonzero(np.isin(bands.groups, low)).tolist()
        node.left = self._below(low)
        node.right = self._below(high)

    def _below(self, members: list[int]) -> int:
        """Add the node of some bands, and those below it."""
        at = self._node(members)
        if len(members) == 1:
            self.nodes[at].value = float(self._added[members[0]])
            return at
        half = len(members) // 2
        last = members[half - 1]
        cut = self._bands.cuts[last] if self._bands.groups is None else 0.0
        self._split(at, members[:half], members[half:], float(cut))
        return at


def _sets(
    levels: Sequence[list[int] | None],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pack sets of levels into bits."""
    start, size = np.full(len(levels), -1, np.int32), np.zeros(len(levels), np.int32)
    words: list[np.ndarray] = []
    used = 0
    for at, own in enumerate(levels):
        if own is None:
            continue
        bits = np.zeros(-(-(max(own) + 1) // 32) * 32, bool)
        bits[own] = True
        packed = np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)
        start[at], size[at] = used, len(packed)
        words.append(packed)
        used += len(packed)
    return start, size, np.concatenate(words) if words else np.empty(0, np.uint32)
