"""Partial dependence that averages only over made-up rows that lie where data are."""

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.explanation.effects.extrapolation import Region
from clearwood.explanation.effects.grid import Points

__all__ = ["supported_curves", "supported_means"]


def supported_curves(predictor: Predictor, points: Points, rows: Index, support: Region) -> Floats:
    """Give the individual curves where they lie within the data.

    Only rows within the data are predicted; the others are NaN.

    Returns
    -------
    ndarray of shape (rows, points, outputs)
    """
    n_points, n_rows = int(np.prod(points.shape)), len(rows)
    base = np.tile(rows, n_points)
    looked = {k: np.repeat(source, n_rows) for k, source in points.lookups.items()}
    inside = ~(support.outside(base, looked) | np.repeat(points.beyond, n_rows))
    held = {k: np.repeat(source, n_rows) for k, source in points.sources.items()}
    result = np.full((len(base), len(predictor.outputs)), np.nan)
    kept = {k: source[inside] for k, source in held.items()}
    if inside.any():
        result[inside] = predictor.predict(base[inside], kept)
    return result.reshape(n_points, n_rows, -1).transpose(1, 0, 2)


def supported_means(found: Floats, weights: Floats) -> Floats:
    """Average over the rows within the data: the ratio of integrals of section 7.3.2.

    Examples
    --------
    >>> inside = np.array([[[1.0], [np.nan]], [[3.0], [np.nan]]])
    >>> supported_means(inside, np.ones(2))[:, 0]
    array([ 2., nan])
    """
    known = np.isfinite(found)
    total = np.einsum("i,ijk->jk", weights, known)
    sums = np.einsum("i,ijk->jk", weights, np.where(known, found, 0.0))
    mean: Floats = np.full(total.shape, np.nan)
    np.divide(sums, total, out=mean, where=total > 0)
    return mean
