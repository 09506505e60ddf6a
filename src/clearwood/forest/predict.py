"""The leaf each row reaches, and the sum over the leaves."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import ZERO, PackedForest

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["ZERO", "apply", "goes_left", "pack", "predict_raw", "raw_of_leaves", "rounded"]


def rounded(forest: "Forest", X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round values to the precision in which the model compares them."""
    if forest.precision == "float64":
        return X
    with np.errstate(over="ignore"):  # values beyond float32's range become infinite
        return X.astype(np.float32).astype(np.float64)


def goes_left(
    forest: "Forest", nodes: NDArray[np.intp], x: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether each (rounded) value goes left at its node; nodes and values come in pairs."""
    left = x <= forest.threshold[nodes]
    sets = np.flatnonzero(forest.category_start[nodes] >= 0)
    if len(sets):
        at, value = nodes[sets], x[sets]
        bits = forest.category_size[at].astype(np.float64) * 32
        inside = (value >= 0) & (value < bits)
        code = np.where(inside, value, 0).astype(np.int64)
        words = np.append(forest.category_words, np.uint32(0))
        word = words[np.where(inside, forest.category_start[at] + code // 32, len(words) - 1)]
        member = (word >> (code % 32).astype(np.uint32)) & 1 == 1
        left[sets] = np.where(inside, member, forest.unseen_left[at])
    missing = np.isnan(x) | (forest.zero_missing[nodes] & (np.abs(x) <= ZERO))
    return np.where(missing, forest.default_left[nodes], left)


def raw_of_leaves(forest: "Forest", leaves: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the sum over one leaf per tree, added as the library does: rows by outputs."""
    if forest.aggregation == "weighted median":
        return _weighted_median(forest, leaves)
    dtype: Any = np.dtype(forest.accumulate)
    total = np.repeat(forest.base.astype(dtype)[None, :], len(leaves), axis=0)
    value, weight = forest.value.astype(dtype), forest.tree_weight.astype(dtype)
    for tree, output in enumerate(forest.tree_output):
        gain = value[leaves[:, tree]] * weight[tree]
        if output < 0:
            total += gain
        else:
            total[:, output] += gain[:, 0]
    return _divided(forest, total.astype(np.float64))


def _divided(forest: "Forest", total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide sums by the total weight where the aggregation is a mean or a vote."""
    return total if forest.aggregation == "sum" else total / forest.divisor


def _weighted_median(forest: "Forest", leaves: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the smallest tree prediction at which half of the trees' weight is reached."""
    predictions = forest.value[leaves, 0]
    order = np.argsort(predictions, axis=1)
    reached = np.cumsum(forest.tree_weight[order], axis=1, dtype=np.float64)
    median = np.argmax(reached >= 0.5 * reached[:, -1:], axis=1)
    rows = np.arange(len(leaves))
    chosen: NDArray[np.float64] = predictions[rows, order[rows, median]]
    return chosen[:, None]


def _shaped(forest: "Forest", raw: NDArray[np.float64]) -> NDArray[np.float64]:
    return raw[:, 0] if forest.n_outputs == 1 else raw


def pack(forest: "Forest") -> PackedForest:
    """Arrange the trees for the kernel, with the weights multiplied into the values."""
    dtype: Any = np.dtype(forest.accumulate)
    weight = forest.tree_weight.astype(dtype)[forest.node_tree]
    return PackedForest(
        roots=forest.roots,
        left=forest.left,
        right=forest.right,
        feature=forest.feature,
        threshold=forest.threshold,
        default_left=forest.default_left,
        zero_missing=forest.zero_missing,
        category_start=forest.category_start,
        category_size=forest.category_size,
        category_words=forest.category_words,
        unseen_left=forest.unseen_left,
        value=(forest.value.astype(dtype) * weight[:, None]).astype(np.float64),
        tree_output=forest.tree_output,
        n_features=forest.n_features,
        n_outputs=forest.n_outputs,
        compare_float32=forest.precision == "float32",
        add_float32=forest.accumulate == "float32",
    )


def apply(forest: "Forest", X: NDArray[Any], *, n_jobs: int = 1) -> NDArray[np.int32]:
    """Return the leaf of each row in each tree."""
    return forest.packed.leaves(X, n_jobs=n_jobs)


def predict_raw(forest: "Forest", X: NDArray[Any], *, n_jobs: int = 1) -> NDArray[np.float64]:
    """Return the raw prediction."""
    if forest.aggregation == "weighted median":
        return _shaped(forest, _weighted_median(forest, apply(forest, X, n_jobs=n_jobs)))
    total = forest.packed.sum(X, base=forest.base, n_jobs=n_jobs)
    return _shaped(forest, _divided(forest, total))
