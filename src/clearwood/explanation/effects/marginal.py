"""Marginal (conditional) means: the mean prediction of the rows that have a value."""

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.effects.bands import resampled_weights
from clearwood.explanation.effects.grid import Points

__all__ = ["marginal_means", "marginal_replicates"]


def marginal_means(predicted: Floats, points: Points, rows: Index, weights: Floats) -> Floats:
    """Average the prediction over the rows nearest to each point; NaN where there are none.

    It estimates E[m(X) | X_S = x_S] (Hiabu 2024, section 7.3.2). Every row is predicted as it is,
    so nothing is extrapolated; but a column that the model ignores gets the effect of those it is
    associated with (example 22).

    Returns
    -------
    ndarray of shape (points, outputs)
    """
    cells = points.cells()[rows]
    return _means(predicted, cells, weights, int(np.prod(points.shape)))


def marginal_replicates(
    predicted: Floats, points: Points, rows: Index, weights: Floats, draws: int, seed: int
) -> Floats:
    """Give the means under each draw of the rows."""
    cells = points.cells()[rows]
    n_points = int(np.prod(points.shape))
    return np.stack(
        [
            _means(predicted, cells, drawn, n_points)
            for block in resampled_weights(weights, draws, seed)
            for drawn in block
        ]
    )


def _means(predicted: Floats, cells: Index, weights: Floats, n_points: int) -> Floats:
    shown = cells >= 0
    total = np.bincount(cells[shown], weights[shown], minlength=n_points)
    result = np.empty((n_points, predicted.shape[1]))
    for k in range(predicted.shape[1]):
        sums = np.bincount(cells[shown], (weights * predicted[:, k])[shown], minlength=n_points)
        result[:, k] = np.divide(sums, total, out=np.full(n_points, np.nan), where=total > 0)
    return result
