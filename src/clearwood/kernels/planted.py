"""Random planted forests on binned columns."""

from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["PlantedLeaves", "PlantedLoss", "plant"]

PlantedLoss = Literal["squared", "logistic", "softmax", "poisson"]
_LOSSES: tuple[PlantedLoss, ...] = ("squared", "logistic", "softmax", "poisson")
#: Columns of a leaf, at most.
_MOST_COLUMNS = 3
#: One step of a score before a link is at most this.
_BOUND = 2.0


@dataclass(frozen=True, eq=False)
class PlantedLeaves:
    """The leaves of all families; a row's score is the sum of those it lies in, by family.

    Parameters
    ----------
    family
        The family of each leaf.
    column
        The columns that bound each leaf, of shape (leaves, 3); -1 where there are fewer.
    low, high
        Bins from ``low + 1`` to ``high`` are inside.
    missing
        Whether missing values are inside.
    value
        What the leaf adds, of shape (leaves, outputs).
    cover
        The weight of the rows inside.
    """

    family: NDArray[np.int32]
    column: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    missing: NDArray[np.bool_]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]


def plant(
    bins: NDArray[np.uint8],
    n_bins: NDArray[np.int32],
    y: NDArray[Any],
    *,
    start: NDArray[Any],
    loss: PlantedLoss = "squared",
    weight: NDArray[Any] | None = None,
    n_families: int = 50,
    order: int = 2,
    n_splits: int = 100,
    n_thresholds: int = 10,
    max_candidates: int = 50,
    share: float = 0.4,
    least: float = 5.0,
    l2: float = 1.0,
    rate: float = 1.0,
    bootstrap: bool = True,
    seed: int = 0,
    n_jobs: SupportsIndex | None = 1,
) -> PlantedLeaves:
    """Grow families of planted trees (Hiabu, Mammen and Meyer 2020, algorithm 1).

    A family has one tree for each set of columns. It starts from the empty set, whose one leaf
    holds all rows. A split by a column of the leaf's own set replaces the leaf; a split by another
    column keeps the leaf and plants two leaves in the tree of the larger set. Either way, each of
    the two new leaves takes a Newton step of the loss, which for squared error is the mean of the
    residuals.

    Parameters
    ----------
    bins, n_bins
        Columns by rows: 0 where a value is missing, else its bin from 1 on; and the largest of
        each column.
    y
        The target: numbers, 0 and 1 for "logistic", class numbers for "softmax".
    start
        The score before any split, of each output.
    loss
        What is minimised; "poisson" has a log link.
    weight
        A weight for each row.
    n_families
        How many.
    order
        Columns of a tree at most, 1 to 3.
    n_splits
        Splits of a family.
    n_thresholds
        Thresholds that are drawn for each leaf and column tried.
    max_candidates, share
        Pairs of a leaf and a column tried for each split: this share of them, and at most so many.
    least, l2, rate
        The least weight of a leaf, the penalty added to the second derivatives of a step, and the
        factor of a step.
    bootstrap
        Whether each family has its own draw of the rows.
    seed
        Fixes the draws.
    n_jobs
        Threads over families; the result does not depend on it.

    Examples
    --------
    >>> bins = np.tile(np.array([1, 2], np.uint8), 50)[None, :]
    >>> leaves = plant(
    ...     bins, np.array([2], np.int32), np.tile([0.0, 1.0], 50), start=np.array([0.5]),
    ...     n_families=1, n_splits=1, l2=0.0, bootstrap=False,
    ... )
    >>> leaves.value.ravel(), leaves.high[:, 0]
    (array([ 0.5, -0.5,  0.5]), array([0, 1, 2], dtype=int32))
    """
    n_rows = bins.shape[1]
    options = {
        "loss": _LOSSES.index(loss),
        "order": order,
        "n_splits": n_splits,
        "n_thresholds": n_thresholds,
        "max_candidates": max_candidates,
        "share": share,
        "least": least,
        "l2": l2,
        "rate": rate,
        "bound": 0.0 if loss == "squared" else _BOUND,
        "bootstrap": bootstrap,
        "seed": seed,
    }
    result = _core.plant(
        np.ascontiguousarray(bins),
        np.asarray(n_bins, np.int32),
        np.asarray(y, np.float64),
        np.ones(n_rows) if weight is None else np.asarray(weight, np.float64),
        np.asarray(start, np.float64),
        n_families,
        options,
        threads(n_jobs),
    )
    n_leaves = len(result["family"])
    sides = {
        name: result[name].reshape(n_leaves, _MOST_COLUMNS)
        for name in ("column", "low", "high", "missing")
    }
    return PlantedLeaves(
        family=result["family"],
        column=sides["column"],
        low=sides["low"],
        high=sides["high"],
        missing=sides["missing"].astype(bool),
        value=result["value"].reshape(n_leaves, -1),
        cover=result["cover"],
    )
