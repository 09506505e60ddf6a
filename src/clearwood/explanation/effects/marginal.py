"""Marginal (conditional) means: the mean prediction of the rows that have a value."""

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.effects.bands import resampled_weights
from clearwood.explanation.effects.request import Measured, Request

__all__ = ["marginal"]

# Means of fewer rows than this vary more than resampling these rows shows.
_FEW = 10


def marginal(request: Request) -> Measured:
    """Average the prediction over the rows nearest to each point; NaN where there are none.

    It estimates E[m(X) | X_S = x_S] (Hiabu 2024, section 7.3.2). Every row is predicted as it is,
    so nothing is extrapolated; but a column that the model ignores gets the effect of those it is
    associated with (example 22).
    """
    points = request.points()
    request, predicted, stopped = request.in_time(request.predictor.predict, 1)
    cells = points.cells()[request.rows]
    means = _means(predicted, cells, request.weights, points.size)
    replicates = None
    if request.options.bands:
        drawn = resampled_weights(request.weights, request.options.bands, request.seed)
        replicates = np.stack(
            [_means(predicted, cells, w, points.size) for block in drawn for w in block]
        )
        _widen_few(replicates, predicted, means, cells, request.seed)
    return request.measured(points, means, replicates, stopped=stopped)


def _widen_few(
    replicates: Floats, predicted: Floats, means: Floats, cells: Index, seed: int
) -> None:
    """Vary means of few rows as their number suggests: resampling them shows little of it.

    Their variance is taken to be the average one within cells.
    """
    shown = cells >= 0
    counts = np.bincount(cells[shown], minlength=len(means))
    few = np.flatnonzero((counts > 0) & (counts < _FEW))
    left = max(int(shown.sum() - (counts > 0).sum()), 1)
    within = ((predicted[shown] - means[cells[shown]]) ** 2).sum(axis=0) / left
    noise = np.random.default_rng(seed).standard_normal((len(replicates), len(few), len(within)))
    replicates[:, few] = means[few] + noise * np.sqrt(within / counts[few, None])


def _means(predicted: Floats, cells: Index, weights: Floats, n_points: int) -> Floats:
    shown = cells >= 0
    total = np.bincount(cells[shown], weights[shown], minlength=n_points)
    result = np.empty((n_points, predicted.shape[1]))
    for k in range(predicted.shape[1]):
        sums = np.bincount(cells[shown], (weights * predicted[:, k])[shown], minlength=n_points)
        result[:, k] = np.divide(sums, total, out=np.full(n_points, np.nan), where=total > 0)
    return result
