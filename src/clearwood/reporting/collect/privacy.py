"""What a page without rows may show: nothing from which a single row could be read back.

Whatever fewer rows than a handful have in common is left out. Values of a column that nearly all
rows share with others are shown as they are; others are rounded to about a fiftieth of the range
that most rows lie in, and the outer ends of the column are left out.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import number
from clearwood.checks import Drift
from clearwood.reporting.collect.findings import HANDFUL, Performance
from clearwood.table import Column, Kind, Profile
from clearwood.table import profile as profile_of

__all__ = ["coarse_drift", "coarse_grid", "coarse_performance", "coarse_profile"]

# Extreme quantiles of groups with fewer rows are single rows.
_ROWS_OF_QUANTILES = 50
_OUTER = 0.05
_STEPS = 50
_POINTS = 15
_BINS = 10
_NEARLY = 0.9
# Values are rounded already, or shared by many rows.
_DIGITS = 6


def coarse_grid(column: Column) -> list[Any] | None:
    """Return rounded values at which the effect of a column is shown; None if there are none.

    Examples
    --------
    >>> coarse_grid(Column("pay", Kind.NUMBER, np.linspace(1003.7, 2011.9, 100)))[:3]
    [1060.0, 1120.0, 1180.0]
    >>> coarse_grid(Column("year", Kind.WHOLE, np.array([2011.0, 2012] * 9 + [2207])))
    [2011.0, 2012.0]
    """
    if column.is_coded:
        levels = _common_levels(column)
        return list(levels) if len(levels) > 1 else None
    if column.kind is Kind.TEXT:
        return None
    common = _common_values(column)
    if len(common) > 1:
        picked = np.unique(np.linspace(0, len(common) - 1, _POINTS).round().astype(np.intp))
        return [float(value) for value in common[picked]]
    numbers, step = _numbers(column)
    if not len(numbers):
        return None
    places = np.quantile(numbers, np.linspace(_OUTER, 1 - _OUTER, _POINTS))
    grid = np.unique(np.round(places / step) * step)
    return None if len(grid) < 2 else _as_written(column, grid)


def coarse_profile(profile: Profile, column: Column, weights: Floats | None = None) -> Profile:
    """Return the distribution of a column without its ends and without rare values."""
    if profile.edges is None:
        kept = np.flatnonzero(profile.counts >= HANDFUL)
        names = tuple(profile.levels[k] for k in kept)
        return replace(
            profile,
            levels=names,
            counts=profile.counts[kept],
            weights=None if profile.weights is None else profile.weights[kept],
            values=", ".join(names) or "only rare values",
        )
    if weights is not None:
        column, weights = column.take(weights > 0), weights[(weights > 0)]
    common = _common_values(column)
    if len(common):
        shared = np.isin(column.values, common)
        own = profile_of(column.take(shared), weights=None if weights is None else weights[shared])
        ends = [number(end, _DIGITS) for end in (common[0], common[-1])]
        return replace(
            profile,
            counts=np.where(own.counts < HANDFUL, 0, own.counts),
            weights=own.weights,
            edges=own.edges,
            values=f"mostly {ends[0]} to {ends[1]}",
        )
    numbers, step = _numbers(column)
    none = None if profile.weights is None else np.zeros(0)
    nothing = replace(
        profile, counts=np.zeros(0, np.int64), weights=none, edges=profile.edges[:0], values=""
    )
    if not len(numbers):
        return nothing
    low, high = np.round(np.quantile(numbers, [_OUTER, 1 - _OUTER]) / step) * step
    if high - low < step:
        return nothing
    edges = np.array(_as_written(column, np.linspace(low, high, _BINS + 1)))
    is_date = column.kind is Kind.DATE
    bins = edges.astype(np.float64) if is_date else edges
    counts, _ = np.histogram(numbers, bins)
    if weights is not None:
        weights, _ = np.histogram(numbers, bins, weights=weights[~column.missing])
        weights = np.where(counts < HANDFUL, 0.0, weights)
    ends = [str(edges[k]) if is_date else number(edges[k], _DIGITS) for k in (0, -1)]
    return replace(
        profile,
        counts=np.where(counts < HANDFUL, 0, counts).astype(np.int64),
        weights=weights,
        edges=edges.astype("datetime64[us]") if is_date else edges,
        values=f"mostly {ends[0]} to {ends[1]}",
    )


def coarse_performance(performance: Performance) -> Performance:
    """Leave out figures whose groups of rows are so small that they show single rows."""
    calibration, residuals = performance.calibration, performance.residuals
    if calibration is not None and calibration.rows.min() < HANDFUL:
        calibration = None
    if residuals is not None and residuals.rows.min() < _ROWS_OF_QUANTILES:
        residuals = None
    return replace(performance, calibration=calibration, residuals=residuals)


def coarse_drift(drift: Drift) -> Drift:
    """Leave out typical values and the names of new levels."""
    columns = tuple(replace(e, first="-", second="-", new_levels=()) for e in drift.columns)
    return replace(drift, columns=columns)


def _numbers(column: Column) -> tuple[Floats, float]:
    """Return the known values, dates as days, and the step to which they are rounded."""
    known: NDArray[Any] = column.values[~column.missing]
    numbers = (
        known.astype("datetime64[D]").astype(np.float64) if column.kind is Kind.DATE else known
    )
    if len(numbers) < HANDFUL:
        return numbers[:0], 1.0
    low, high = np.quantile(numbers, [_OUTER, 1 - _OUTER])
    rough = max((high - low) / _STEPS, 1e-300)
    step = 10.0 ** np.floor(np.log10(rough)) * 2
    return np.asarray(numbers, np.float64), max(step, 1.0) if column.kind is Kind.WHOLE else step


def _common_values(column: Column) -> Floats:
    """Return numbers that a handful of rows or more have each, where nearly all rows have one."""
    if column.kind is Kind.DATE:
        return np.zeros(0)
    values, counts = np.unique(column.values[~column.missing], return_counts=True)
    is_common = counts >= HANDFUL
    return values[is_common] if counts[is_common].sum() >= _NEARLY * counts.sum() else values[:0]


def _common_levels(column: Column) -> tuple[str, ...]:
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    return tuple(level for level, n in zip(column.levels, counts, strict=True) if n >= HANDFUL)


def _as_written(column: Column, numbers: Floats) -> list[Any]:
    if column.kind is Kind.DATE:
        months = np.round(numbers).astype(np.int64).astype("datetime64[D]").astype("datetime64[M]")
        return list(np.unique(months).astype("datetime64[D]"))
    return [float(f"{value:.6g}") for value in numbers]
