"""Shallow trees boosted on starting scores: the step between a matrix and the kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.kernels import BoostedTrees, boost
from clearwood.models.shared.binning import Binned, bin_columns, category_orders
from clearwood.models.shared.score import TreeArrays

__all__ = [
    "MANY_ROWS",
    "Boosted",
    "BoostedLoss",
    "boost_folds",
    "chosen_pairs",
    "deviating_trees",
    "jackknife",
    "tree_arrays",
]


# Which pairs of columns to combine: the best table of two by two cells on what curves leave.
#
# For every pair, residuals and second derivatives are added up on a grid of bins. The statistic
# is how much four cells gain over the better of two halves, at the best two thresholds (Lou and
# others 2013, the FAST screen).


#: Bins of a column on the grid.
GRID = 32


def chosen_pairs(
    binned: Binned, residuals: Floats, curvature: Floats, count: int, categorical: Sequence[int]
) -> Bools:
    """Return which pairs to keep, of shape (columns, columns), symmetric.

    Parameters
    ----------
    binned
        The columns.
    residuals, curvature
        Negative first and second derivatives of the loss, of shape (outputs, rows).
    count
        How many pairs to keep.
    categorical
        Positions of categories; their levels are ordered by their mean residual.
    """
    n_columns = len(binned.n_bins)
    gains = np.zeros((n_columns, n_columns))
    for g, h in zip(residuals, curvature, strict=True):
        codes = [
            _coarse(binned, column, g, h, is_category=column in categorical)
            for column in range(n_columns)
        ]
        for first, second in combinations(range(n_columns), 2):
            gains[first, second] += _gain(codes[first], codes[second], g, h)
    order = np.argsort(-gains, axis=None, kind="stable")[:count]
    kept = np.zeros((n_columns, n_columns), bool)
    kept.flat[order[gains.flat[order] > 0]] = True
    return kept | kept.T


def _coarse(
    binned: Binned, column: int, g: Floats, h: Floats, *, is_category: bool
) -> tuple[Index, int]:
    """Return the grid cell of each row, and how many there are; missing values have their own."""
    bins = binned.bins[column].astype(np.intp)
    counts = np.bincount(bins, minlength=256)
    if is_category:
        means = np.bincount(bins, g, 256) / (np.bincount(bins, h, 256) + 1.0)
        order = np.argsort(means, kind="stable")
    else:
        order = np.append(np.arange(1, 256), 0)
    reached = np.cumsum(counts[order])
    cell = np.empty(256, np.intp)
    cell[order] = np.minimum((reached - counts[order] / 2) * GRID / len(bins), GRID - 1)
    if not is_category and counts[0]:
        cell[0] = GRID
    used, compact = np.unique(cell[bins], return_inverse=True)
    return compact, len(used)


def _gain(first: tuple[Index, int], second: tuple[Index, int], g: Floats, h: Floats) -> float:
    """Return the largest gain of four cells over two halves."""
    (a, n_first), (b, n_second) = first, second
    if n_first < 2 or n_second < 2:
        return 0.0
    cell = a * n_second + b
    sums_g, sums_h = (
        np.bincount(cell, values, n_first * n_second)
        .reshape(n_first, n_second)
        .cumsum(axis=0)
        .cumsum(axis=1)
        for values in (g, h)
    )
    least = h.mean()
    corners_g, corners_h = _corners(sums_g), _corners(sums_h)
    four = sum(_score(x, y, least) for x, y in zip(corners_g, corners_h, strict=True))
    rows = _score(corners_g[0] + corners_g[1], corners_h[0] + corners_h[1], least) + _score(
        corners_g[2] + corners_g[3], corners_h[2] + corners_h[3], least
    )
    columns = _score(corners_g[0] + corners_g[2], corners_h[0] + corners_h[2], least) + _score(
        corners_g[1] + corners_g[3], corners_h[1] + corners_h[3], least
    )
    filled = np.min(corners_h, axis=0) > least
    return float(np.max(np.where(filled, four - np.maximum(rows, columns), 0.0)))


def _corners(sums: Floats) -> list[Floats]:
    """Return the four sums around every pair of thresholds, from sums up to each cell."""
    upper_left = sums[:-1, :-1]
    upper_right = sums[:-1, -1:] - upper_left
    lower_left = sums[-1:, :-1] - upper_left
    return [
        upper_left,
        upper_right,
        lower_left,
        sums[-1, -1] - upper_left - upper_right - lower_left,
    ]


def _score(g: Floats, h: Floats, least: float) -> Floats:
    return np.asarray(g**2 / (h + 1e-3 * least))


# Boosted trees of all folds as plain arrays on the columns' own scale.


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
        What leaves are multiplied by, in addition to 1 / folds.
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


#: From this many rows on, thresholds are the best of a histogram, with fewer folds and larger
#: steps; below, random thresholds give smoother shapes and a lower loss.
MANY_ROWS = 5_000
#: Leaves of a tree: a path may split on the same column again.
LEAVES = 8
PATIENCE = 100

BoostedLoss = Literal["squared", "logistic", "softmax", "poisson", "gamma"]


@dataclass(frozen=True, eq=False)
class Boosted:
    """Trees of all folds.

    Parameters
    ----------
    trees
        Fold by fold; their sum is the mean over the folds. None where they do not help.
    curve
        Held-out loss, pooled over the folds, by the number of rounds.
    rounds
        The number of rounds with the least loss.
    pairs
        Which columns may be combined, of shape (columns, columns); None where all may.
    """

    trees: TreeArrays | None
    curve: Floats
    rounds: int
    pairs: Bools | None


def boost_folds(
    matrix: Floats,
    y: Floats,
    offset: Floats,
    fold_of_row: Index,
    *,
    loss: BoostedLoss,
    weights: Floats | None = None,
    categorical: Sequence[int] = (),
    monotone: Sequence[int] = (),
    order: int = 2,
    pairs: int | None = None,
    learning_rate: float | None = None,
    l2: float = 1.0,
    min_rows: float = 5.0,
    max_trees: int = 3_000,
    seed: int = 0,
    n_jobs: int = 1,
) -> Boosted:
    """Boost shallow trees on what starting scores leave, all folds in step.

    Parameters
    ----------
    matrix
        Rows, with NaN where a value is missing.
    y
        The target: 0 and 1 for "logistic", class numbers for "softmax".
    offset
        Starting scores, of shape (folds, outputs, rows). Those of a fold must not have been fitted
        to the rows it holds out.
    fold_of_row
        The fold that holds each row out.
    loss
        What is minimised.
    weights
        Of rows. On average below one, they are taken as relative weights; else a row of weight 2
        counts as two rows.
    categorical, monotone
        Positions of categories, and 1, -1 or 0 for each column.
    order, pairs
        Columns that may be combined, and how many pairs of them; None for all.
    learning_rate, l2, min_rows, max_trees, seed, n_jobs
        As in `GlassRegressor`.
    """
    n_rows, n_columns = matrix.shape
    n_folds, n_outputs = offset.shape[:2]
    many = n_rows >= MANY_ROWS
    weights = np.ones(n_rows) if weights is None else weights
    binned = bin_columns(matrix, categorical)
    targets = y[None, :]
    if loss == "softmax":
        targets = (np.arange(n_outputs)[:, None] == y).astype(np.float64)
    orders = category_orders(binned, targets, weights, fold_of_row, n_folds, categorical)
    # the kernel computes in single precision: residuals about zero of unit size keep its digits
    centre, scale = np.zeros(n_rows), 1.0
    if loss == "squared":
        centre = offset[fold_of_row, 0, np.arange(n_rows)]
        scale = float(np.sqrt(np.average((y - centre) ** 2, weights=weights))) or 1.0
    unit = min(1.0, float(weights[weights > 0].mean()))
    if loss == "poisson":
        unit *= float(np.average(y, weights=weights))
    least = min_rows * unit * (0.15 if loss in ("logistic", "softmax") else 1.0)
    allowed = None
    if pairs is not None and n_columns > 1:
        g, h = _derivatives(loss, y, offset, fold_of_row, weights)
        allowed = chosen_pairs(binned, g, h, pairs, categorical)
    grown = boost(
        binned.bins,
        binned.n_bins,
        (y - centre) / scale,
        fold_of_row=fold_of_row,
        offset=(offset - centre) / scale,
        loss=loss,
        weight=weights,
        categories=tuple(categorical),
        orders=orders,
        monotone=tuple(monotone),
        pairs=allowed,
        learning_rate=learning_rate or (0.2 if many else 0.1),
        l2=l2 * unit,
        least=least,
        max_leaves=LEAVES,
        max_depth=LEAVES - 1,
        order=order,
        random_thresholds=not many,
        max_rounds=max_trees,
        patience=PATIENCE,
        seed=seed,
        n_jobs=n_jobs,
    )
    if not grown.rounds:
        return Boosted(None, grown.curve, 0, allowed)
    trees = tree_arrays(
        grown,
        binned,
        n_folds=n_folds,
        n_outputs=n_outputs,
        categorical=categorical,
        orders=orders,
        scale=scale,
    )
    return Boosted(trees, grown.curve, grown.rounds, allowed)


def _derivatives(
    loss: BoostedLoss, y: Floats, offset: Floats, fold_of_row: Index, weights: Floats
) -> tuple[Floats, Floats]:
    """Return the derivatives of the loss at the held-out scores, of shape (outputs, rows)."""
    score = np.take_along_axis(offset, fold_of_row[None, None, :], axis=0)[0]
    match loss:
        case "squared":
            g, h = y - score, np.ones_like(score)
        case "logistic":
            mean = expit(score)
            g, h = y - mean, mean * (1 - mean)
        case "softmax":
            mean = softmax(score, axis=0)
            g, h = (np.arange(len(score))[:, None] == y) - mean, mean * (1 - mean)
        case "poisson":
            mean = np.exp(score)
            g, h = y - mean, mean
        case "gamma":
            g, h = y * np.exp(-score) - 1, np.ones_like(score)
    return weights * g, weights * h
