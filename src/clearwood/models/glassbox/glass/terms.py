"""How much each curve, pair and triple contributes: shares of the variance of the score."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.kernels import Background, Trees, component_sets, components
from clearwood.models.glassbox.score import ScoreParts, TreeArrays

__all__ = ["LEAST_SHARE", "TermShare", "term_shares"]

#: Terms with a smaller share of the variance are put together as the rest.
LEAST_SHARE = 0.001


@dataclass(frozen=True)
class TermShare:
    """One line of the table of terms.

    Parameters
    ----------
    columns
        Positions in the matrix; empty for the rest.
    share
        Variance of the term over rows, as a share of the sum over terms.
    count
        Number of terms: one, except for the rest.
    """

    columns: tuple[int, ...]
    share: float
    count: int = 1


def term_shares(parts: ScoreParts, rows: Floats) -> tuple[TermShare, ...]:
    """Return the terms of a score by their share of variance, largest first.

    The score is decomposed exactly, with the rows themselves as background (Hiabu 2024, section
    7.4). Variances are added up over classes.

    Parameters
    ----------
    parts
        The score; its products are of one column each.
    rows
        Rows of the matrix over which variances are taken.
    """
    values: dict[tuple[int, ...], Floats] = defaultdict(lambda: np.zeros(()))
    for term in parts.products.terms:
        curve = term(rows)
        values[term.columns] = values[term.columns] + (curve - curve.mean(axis=0))
    if parts.trees is not None:
        forest = _Forest(parts.trees)
        players = np.arange(parts.trees.n_features, dtype=np.int32)
        trees = Trees(forest, players, len(players))
        sets = component_sets(trees)
        found = components(trees, rows, Background.of(trees, rows), sets).values
        for place, columns in enumerate(sets):
            values[columns] = values[columns] + found[:, place]
    variance = {columns: float(value.var(axis=0).sum()) for columns, value in values.items()}
    total = sum(variance.values())
    if total <= 0:
        return ()
    shares = {columns: share / total for columns, share in variance.items()}
    large = [TermShare(columns, share) for columns, share in shares.items() if share >= LEAST_SHARE]
    rest = [share for share in shares.values() if share < LEAST_SHARE]
    large.sort(key=lambda term: -term.share)
    return (*large, *([TermShare((), sum(rest), len(rest))] if rest else []))


class _Forest:
    """Trees with the fields that the kernels of components read."""

    precision = "float64"

    def __init__(self, trees: TreeArrays) -> None:
        arrays = trees.split_arrays()
        self.roots: NDArray[np.int32] = arrays["roots"]
        self.left: NDArray[np.int32] = arrays["left"]
        self.right: NDArray[np.int32] = arrays["right"]
        self.feature: NDArray[np.int32] = arrays["feature"]
        self.threshold: Floats = arrays["threshold"]
        self.default_left: NDArray[np.bool_] = arrays["default_left"]
        self.zero_missing = np.zeros(len(self.left), bool)
        self.category_start: NDArray[np.int32] = arrays["category_start"]
        self.category_size: NDArray[np.int32] = arrays["category_size"]
        self.category_words: NDArray[np.uint32] = arrays["category_words"]
        self.unseen_left: NDArray[np.bool_] = arrays["unseen_left"]
        self.cover: Floats = arrays["cover"]
        self.tree_output: NDArray[np.int32] = arrays["tree_output"]
        self.base = np.zeros(trees.n_outputs)
        self.groups = np.arange(trees.n_features, dtype=np.int32)
        sizes = np.diff(np.append(self.roots, len(self.left)))
        self.leaf_value = np.zeros((len(self.left), trees.n_outputs))
        output = np.repeat(self.tree_output, sizes)
        self.leaf_value[np.arange(len(self.left)), output] = trees.value[:, 0]

    def goes_left(self, node: int, x: Floats) -> NDArray[np.bool_]:
        """Whether values of the node's column go left."""
        missing = np.isnan(x)
        if self.category_start[node] < 0:
            left = x <= self.threshold[node]
        else:
            start, size = self.category_start[node], self.category_size[node]
            code = np.where(missing, 0, x).astype(np.int64)
            known = (code >= 0) & (code < 32 * size)
            code = np.where(known, code, 0)
            bits = (self.category_words[start + code // 32] >> (code % 32).astype(np.uint32)) & 1
            left = np.where(known, bits == 1, self.unseen_left[node])
        return np.asarray(np.where(missing, self.default_left[node], left))
