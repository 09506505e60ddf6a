"""Boosted trees of all folds as plain arrays on the columns' own scale."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.kernels import BoostedTrees
from clearwood.models.shared.binning import Binned
from clearwood.models.shared.score import TreeArrays

__all__ = ["deviating_trees", "jackknife", "tree_arrays"]

#: Splits values from missing ones: every value is below.
_ANY_VALUE = float(np.finfo(np.float64).max)


def tree_arrays(
    boosted: BoostedTrees,
    binned: Binned,
    *,
    n_folds: int,
    n_outputs: int,
    categorical: Sequence[int],
    orders: NDArray[np.uint8],
    scale: float,
) -> TreeArrays:
    """Join the trees of all folds to one sum that is the mean over the folds.

    Parameters
    ----------
    boosted, binned
        The trees, and the bins they are made of.
    n_folds, n_outputs
        Trees of each fold and round: one for each output.
    categorical, orders
        Positions of categories, and the order of their bins in each fold and output.
    scale
        What leaves are multiplied by, beside 1 / folds.
    """
    n_trees, n_nodes = len(boosted.roots), len(boosted.left)
    sizes = np.diff(np.append(boosted.roots, n_nodes))
    tree_of_node = np.repeat(np.arange(n_trees), sizes)
    tree_output = (np.arange(n_trees) % n_outputs).astype(np.int32)
    fold_of_tree = np.arange(n_trees) // max(boosted.rounds * n_outputs, 1)
    n_columns = len(binned.n_bins)
    split = np.flatnonzero(boosted.feature >= 0)
    is_category = np.isin(boosted.feature, list(categorical))
    threshold = np.zeros(n_nodes)
    ends = [np.append(edges, _ANY_VALUE) for edges in binned.edges]
    starts = np.concatenate([[0], np.cumsum([len(edges) for edges in ends])])[:n_columns]
    numbers = split[~is_category[split]]
    threshold[numbers] = np.concatenate(ends)[
        starts[boosted.feature[numbers]] + boosted.last[numbers] - 1
    ]
    sets = _left_sets(
        boosted, binned, np.flatnonzero(is_category), fold_of_tree[tree_of_node],
        tree_output[tree_of_node], categorical, orders,
    )  # fmt: skip
    return TreeArrays(
        roots=boosted.roots,
        left=boosted.left,
        right=boosted.right,
        feature=boosted.feature,
        threshold=threshold,
        default_left=boosted.missing_left,
        value=(boosted.value * (scale / n_folds)).reshape(-1, 1),
        cover=boosted.cover,
        tree_output=tree_output,
        n_features=n_columns,
        n_outputs=n_outputs,
        **sets,
    )


def _left_sets(
    boosted: BoostedTrees,
    binned: Binned,
    nodes: Index,
    fold: NDArray[Any],
    output: NDArray[Any],
    categorical: Sequence[int],
    orders: NDArray[np.uint8],
) -> dict[str, Any]:
    """Return the codes that go left at nodes that split on categories, as bits."""
    if not len(nodes):
        return {}
    n_nodes = len(boosted.left)
    start, size = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
    words = []
    used = 0
    for place, column in enumerate(categorical):
        mine = nodes[boosted.feature[nodes] == column]
        n_levels = int(binned.n_bins[column])
        ranks = orders[fold[mine], output[mine], place, 1 : n_levels + 1]
        bits = np.zeros((len(mine), -(-n_levels // 32) * 32), bool)
        bits[:, :n_levels] = ranks <= boosted.last[mine, None]
        packed = np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)
        start[mine] = used + packed.shape[1] * np.arange(len(mine))
        size[mine] = packed.shape[1]
        words.append(packed.ravel())
        used += packed.size
    return {
        "category_start": start,
        "category_size": size,
        "category_words": np.concatenate(words),
        "unseen_left": boosted.missing_left.copy(),
    }


def deviating_trees(trees: TreeArrays, n_folds: int) -> TreeArrays:
    """Return, for each output and fold, what the fold's trees differ from their mean by.

    The deviations are scaled for the delete-a-group jackknife: their squares add up to the
    variance of the mean.
    """
    n_trees, n_outputs = len(trees.roots), trees.n_outputs
    sizes = np.diff(np.append(trees.roots, len(trees.left)))
    of_node = np.repeat(np.arange(n_trees), sizes)
    fold = np.arange(n_trees) // max(n_trees // n_folds, 1)
    factors = jackknife(n_folds)[fold[of_node]]  # nodes by folds
    value = np.zeros((len(trees.left), n_outputs, n_folds))
    value[np.arange(len(of_node)), trees.tree_output[of_node]] = trees.value * (factors * n_folds)
    fields = {
        name: getattr(trees, name)
        for name in trees.__dataclass_fields__
        if name not in ("value", "tree_output", "n_outputs")
    }
    return TreeArrays(
        **fields,
        value=value.reshape(len(value), -1),
        tree_output=np.full(n_trees, -1, np.int32),
        n_outputs=n_outputs * n_folds,
    )


def jackknife(n_folds: int) -> Floats:
    """Return the matrix from the models of folds to scaled deviations: folds by deviations.

    Examples
    --------
    >>> jackknife(2)
    array([[ 0.35355339, -0.35355339],
           [-0.35355339,  0.35355339]])
    """
    centred = np.eye(n_folds) - 1 / n_folds
    return np.asarray(np.sqrt((n_folds - 1) / n_folds) * centred)
