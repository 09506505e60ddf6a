"""The shape of an effect in words: whether it rises, falls or peaks."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.explanation.effects.result import Effect

__all__ = ["Shape", "shape_of"]

Trend = Literal["flat", "rises", "falls", "peaks", "dips", "varies", "levels"]

# Of all ups and downs, the share that may go against a trend and leave it one.
_AGAINST = 0.15
# Levels rarer than this are not named.
_RARE = 0.01


@dataclass(frozen=True)
class Shape:
    """What a curve does, at which values of the column.

    Parameters
    ----------
    trend
        "rises", "falls", "peaks" (up, then down), "dips" (down, then up), "varies", "flat", or
        "levels" for a column without an order.
    at
        The values of the column that describe the curve: first and last for a trend, with the
        turning point between them for a peak or a dip; lowest and highest where it only varies,
        and for levels.
    values
        The effect there.
    is_within
        Whether all of these values lie within the data.
    """

    trend: Trend
    at: tuple[Any, ...]
    values: tuple[float, ...]
    is_within: bool = True

    @property
    def span(self) -> float:
        """How far the effect reaches from its least to its largest value."""
        return max(self.values) - min(self.values)


def shape_of(effect: Effect, *, output: int = -1, negligible: float = 0.0) -> Shape:
    """Describe the effect of one column.

    Points at which the method relies on rows outside the data are left out where at least half
    remain, and so is what happens at missing values.

    Parameters
    ----------
    effect
        Of one column.
    output
        Which of several outputs, by position; the last by default.
    negligible
        Effects that span less are called flat.

    Examples
    --------
    >>> import clearwood as cw
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> shape = shape_of(cw.effect(lambda X: 1 - X[:, 0] ** 2, X, "x0", points=21))
    >>> shape.trend, round(float(shape.at[1]), 1) + 0.0
    ('peaks', 0.0)
    """
    grid = effect.grid[0]
    values = effect.values.reshape(len(grid), -1)[:, output]
    known = np.isfinite(values) & ~_absent(grid)
    if not effect.is_ordered[0]:
        return _of_levels(grid, values, known, effect.shares, negligible)
    inside = known & ~effect.extrapolates
    is_within = inside.sum() >= max(2, known.sum() / 2)
    kept = inside if is_within else known
    return replace(_of_curve(grid[kept], values[kept], negligible), is_within=bool(is_within))


def _absent(grid: NDArray[Any]) -> NDArray[np.bool_]:
    if grid.dtype.kind == "M":
        return np.asarray(np.isnat(grid))
    if grid.dtype.kind == "f":
        return np.asarray(np.isnan(grid))
    return np.array([value is None for value in grid], dtype=bool)


def _of_levels(
    grid: NDArray[Any],
    values: Floats,
    known: NDArray[np.bool_],
    shares: Floats,
    negligible: float,
) -> Shape:
    common = known & (shares >= _RARE)
    kept = np.flatnonzero(common if common.sum() > 1 else known)
    if not len(kept):
        return Shape("flat", (None,), (0.0,))
    least, most = kept[values[kept].argmin()], kept[values[kept].argmax()]
    trend: Trend = "flat" if values[most] - values[least] <= negligible else "levels"
    return Shape(trend, (grid[least], grid[most]), (float(values[least]), float(values[most])))


def _of_curve(grid: NDArray[Any], values: Floats, negligible: float) -> Shape:
    def at(trend: Trend, *places: int) -> Shape:
        return Shape(trend, tuple(grid[k] for k in places), tuple(float(values[k]) for k in places))

    if not len(values):
        return Shape("flat", (None,), (0.0,))
    last, least, most = len(values) - 1, int(values.argmin()), int(values.argmax())
    if values[most] - values[least] <= negligible:
        return at("flat", 0, last)
    steps = np.diff(values)
    up, down = np.maximum(steps, 0), np.maximum(-steps, 0)
    total = float(up.sum() + down.sum())
    if down.sum() <= _AGAINST * total:
        return at("rises", 0, last)
    if up.sum() <= _AGAINST * total:
        return at("falls", 0, last)
    if up[:most].sum() + down[most:].sum() >= (1 - _AGAINST) * total:
        return at("peaks", 0, most, last)
    if down[:least].sum() + up[least:].sum() >= (1 - _AGAINST) * total:
        return at("dips", 0, least, last)
    return at("varies", least, most)
