"""How far two accounts of one column differ, and what the difference may come from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.checks import bins_of, comparable, strength, strengths
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.results.outputs import axis_numbers
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Column, Kind

__all__ = ["difference", "differing_shapes", "observed_gap", "partners_of"]

_GOES_WITH = 0.3
_INTERACTS = 0.1


def difference(effect: Effect, curve: Effect) -> float:
    """Compute the root mean square difference of two effects, both centred; 0 within chance."""
    n_points = len(effect.grid[0])
    values = effect.values.reshape(n_points, -1)
    assert effect.low is not None
    assert effect.high is not None
    # half of a 95 % band over 1.96 is a standard error
    error = (effect.high - effect.low).reshape(n_points, -1) / 3.92
    weight = effect.shares / effect.shares.sum()
    gap = values - _at(curve, effect.grid[0])
    gap = gap - weight @ gap
    square, chance = float((weight @ gap**2).sum()), float((weight @ error**2).sum())
    # neighbouring points err together, so all of them count as one or two
    return float(np.sqrt(square - chance)) if square > 4 * chance else 0.0


def observed_gap(column: Column, curve: Effect, predicted: Floats, weights: Floats) -> float:
    """Measure how far the mean of those who have a value differs from the partial dependence there.

    Rows are put into bins of the column. Were both the same, the prediction less the partial
    dependence at the row's own value would have the same mean in every bin.
    """
    rest = predicted - _at(curve, column.labels())
    known = np.isfinite(rest).all(axis=1)
    _, bins = np.unique(bins_of(column, weights)[known], return_inverse=True)
    rest, w = rest[known], weights[known]
    counts = np.bincount(bins, w)
    weight = counts / counts.sum()
    square, chance, spread = 0.0, 0.0, 0.0
    for output in rest.T:
        mean = np.bincount(bins, w * output) / counts
        within = np.bincount(bins, w * (output - mean[bins]) ** 2) / np.maximum(counts - 1, 1)
        square += float(weight @ (mean - weight @ mean) ** 2)
        chance += float(weight @ (within / counts))
        spread += float(2 * (weight**2) @ (within / counts) ** 2)
    beyond = square - chance
    return float(np.sqrt(beyond)) if beyond > 3 * np.sqrt(spread) + 1e-20 else 0.0


def _at(curve: Effect, wanted: NDArray[Any]) -> Floats:
    """Return a curve at some values; NaN at levels that it does not show."""
    values = curve.values.reshape(len(curve.grid[0]), -1)
    if not curve.is_ordered[0]:
        place = {str(level): k for k, level in enumerate(curve.grid[0])}
        padded = np.vstack([values, np.full((1, values.shape[1]), np.nan)])
        return padded[[place.get(str(level), len(values)) for level in wanted]]
    own, at = axis_numbers(curve.grid[0]), axis_numbers(wanted)
    known = np.isfinite(own)
    result = np.empty((len(at), values.shape[1]))
    for k in range(values.shape[1]):
        result[:, k] = np.interp(at, own[known], values[known, k])
        result[~np.isfinite(at), k] = values[-1, k]
    return result


def partners_of(predictor: Predictor, position: int) -> tuple[tuple[str, float], ...]:
    """Return the columns that a column goes with, at most three, with the strength from 0 to 1."""
    associated = strengths(predictor.profiles, position)
    associated[position] = 0
    best = np.argsort(-associated, kind="stable")[:3]
    return tuple(
        (predictor.names[k], round(float(associated[k]), 3))
        for k in best
        if associated[k] > _GOES_WITH
    )


def differing_shapes(
    predictor: Predictor, each: Effect, position: int, rows: Index, weights: Floats, scale: float
) -> tuple[float, str | None]:
    """Measure how far curves differ in shape, and find which column their shape depends on."""
    assert each.curves is not None
    curves = each.curves.reshape(len(each.curves), len(each.grid[0]), -1)
    weight = each.shares / each.shares.sum()
    centred = curves - np.einsum("j,ijk->ik", weight, curves)[:, None]
    apart = centred - np.average(centred, axis=0, weights=weights)
    total = float(np.einsum("i,j,ijk->", weights, weight, apart**2))
    size = float(np.sqrt(total / weights.sum())) / scale
    if size < _INTERACTS:
        return size, None
    flat = (apart * np.sqrt(weight)[None, :, None]).reshape(len(apart), -1)
    _, _, directions = np.linalg.svd(flat * np.sqrt(weights)[:, None], full_matrices=False)
    main = comparable(Column("shape", Kind.NUMBER, flat @ directions[0]), weights)
    associated = [
        0.0 if k == position else strength(main, comparable(column.take(rows), weights))
        for k, column in enumerate(predictor.columns)
    ]
    best = int(np.argmax(associated))
    return size, predictor.names[best] if associated[best] > _GOES_WITH else None
