"""Shallow boosted trees on binned columns, all folds grown in step."""

from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["BoostedTrees", "Loss", "boost"]

Loss = Literal["squared", "logistic", "softmax", "poisson", "gamma"]
_LOSSES: tuple[Loss, ...] = ("squared", "logistic", "softmax", "poisson", "gamma")

#: A Newton step of a log link is at most this: exp of a larger one is far outside the range in
#: which the loss resembles a parabola.
_LOG_STEP = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class BoostedTrees:
    """Trees of all folds, fold by fold, round by round, and one for each output.

    Parameters
    ----------
    curve
        Held-out loss pooled over the folds, with no tree, after one round, after two, ...
    rounds
        The number of rounds with the least pooled loss; trees are those of these rounds.
    roots
        First node of each tree.
    left, right
        Children; -1 at leaves.
    feature, last, missing_left
        A node's column (-1 at leaves), the last bin that goes left, and where missing values go.
        Bins of categories are counted in the order of their fold.
    value, cover
        What a leaf adds to the score, and the second derivatives of the rows in a node.
    """

    curve: NDArray[np.float64]
    rounds: int
    roots: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]
    last: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]


def boost(
    bins: NDArray[np.uint8],
    n_bins: NDArray[np.int32],
    y: NDArray[Any],
    *,
    fold_of_row: NDArray[Any],
    offset: NDArray[Any],
    loss: Loss = "squared",
    weight: NDArray[Any] | None = None,
    categories: tuple[int, ...] = (),
    orders: NDArray[np.uint8] | None = None,
    monotone: tuple[int, ...] = (),
    pairs: NDArray[np.bool_] | None = None,
    learning_rate: float = 0.05,
    l2: float = 1.0,
    least: float = 5.0,
    max_leaves: int = 4,
    max_depth: int = 2,
    order: int = 2,
    random_thresholds: bool = True,
    max_rounds: int = 3_000,
    patience: int = 60,
    seed: int = 0,
    n_jobs: SupportsIndex | None = 1,
) -> BoostedTrees:
    """Boost shallow trees on the rows each fold keeps, and stop all folds at the same round.

    In every round each fold grows a tree on the rows it keeps by Newton steps of the loss. The
    losses on the rows held out are added up over the folds, so that each row counts once, and the
    number of rounds is where their sum is least.

    Parameters
    ----------
    bins
        Columns by rows: 0 where a value is missing, else its bin from 1 on.
    n_bins
        The largest bin of each column.
    y
        The target; class numbers from 0 on for "softmax", 0 and 1 for "logistic".
    fold_of_row
        The fold that holds each row out, from 0 on.
    offset
        Scores to start from, of shape (folds, outputs, rows).
    loss
        What is minimised. "poisson" and "gamma" have a log link.
    weight
        A weight for each row.
    categories, orders
        Columns of categories, and the place of each of their 256 possible bins in the order of each
        fold and output, of shape (folds, outputs, categories, 256). A missing value stays 0.
    monotone
        For each column 1 (the score may not fall), -1 (may not rise) or 0.
    pairs
        Columns by columns: which may stand on one path of a tree. None allows all.
    learning_rate, l2, least
        The factor of each leaf's value, the penalty added to its second derivatives, and the least
        sum of second derivatives a leaf must have.
    max_leaves, max_depth, order
        Leaves of a tree (at most 16), splits and distinct columns on a path (at most 3).
    random_thresholds
        One random threshold for each column and leaf; otherwise the best threshold of a histogram.
    max_rounds, patience
        Rounds at most, and rounds without a smaller held-out loss after which growing stops.
    seed
        For random thresholds.
    n_jobs
        Threads over folds; the result does not depend on it.

    Examples
    --------
    A step is learned from its bins:

    >>> bins = np.tile(np.array([1, 2], np.uint8), 50)[None, :]
    >>> trees = boost(
    ...     bins, np.array([2], np.int32), np.tile([0.0, 1.0], 50),
    ...     fold_of_row=np.arange(100) // 50, offset=np.full((2, 1, 100), 0.5), learning_rate=0.5,
    ...     max_rounds=20,
    ... )
    >>> trees.rounds, bool(trees.curve[-1] < 1e-3)
    (20, True)
    """
    n_columns, n_rows = bins.shape
    n_folds, n_outputs = offset.shape[:2]
    if orders is None:
        orders = np.zeros((n_folds, n_outputs, 0, 256), np.uint8)
    options = {
        "loss": _LOSSES.index(loss),
        "rate": learning_rate,
        "l2": l2,
        "least": least,
        "bound": _LOG_STEP if loss in ("poisson", "gamma") else float(np.finfo(np.float32).max),
        "max_leaves": max_leaves,
        "max_depth": max_depth,
        "order": order,
        "drawn": random_thresholds,
        "seed": seed,
        "max_rounds": max_rounds,
        "patience": patience,
    }
    result = _core.boost(
        np.ascontiguousarray(bins),
        np.asarray(n_bins, np.int32),
        np.asarray(y, np.float32),
        np.ones(n_rows, np.float32) if weight is None else np.asarray(weight, np.float32),
        np.ascontiguousarray(offset, np.float32),
        np.asarray(fold_of_row, np.int32),
        np.asarray(categories, np.int32),
        np.ascontiguousarray(orders),
        np.asarray(monotone or (0,) * n_columns, np.int8),
        np.zeros((0, 0), np.uint8) if pairs is None else np.ascontiguousarray(pairs, np.uint8),
        options,
        threads(n_jobs),
    )
    return BoostedTrees(**{**result, "missing_left": result["missing_left"].astype(bool)})
