"""Shallow trees boosted on starting scores: the step between a matrix and the kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, softmax

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.kernels import boost
from clearwood.models.catalogue.glass.screen import chosen_pairs
from clearwood.models.catalogue.glass.trees import tree_arrays
from clearwood.models.shared.binning import bin_columns, category_orders
from clearwood.models.shared.score import TreeArrays

__all__ = ["MANY_ROWS", "Boosted", "BoostedLoss", "boost_folds"]

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
