"""Sums of leaf values in whole numbers, so that bounds add up without rounding.

These bounds are the checker's own. The composer's are in ``compose/decision.py``, in floating point
with margins; neither uses the other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.forest import Forest, links

__all__ = ["WholeSums", "whole_sums"]

_ROOM = 57  # bits for the largest sum: differences and margins then stay within 64


@dataclass(frozen=True, eq=False, kw_only=True)
class WholeSums:
    """Leaf values times a power of two, rounded down and up."""

    gain: Floats  # what each node adds, weighed and rounded as the library does
    low: NDArray[np.int64]  # the same times 2**shift, rounded outward
    high: NDArray[np.int64]
    base_low: NDArray[np.int64]  # as low and high, of what the outputs start from
    base_high: NDArray[np.int64]
    shift: int
    # what outputs are multiplied with before the power of two: one over their divisors where these
    # differ, else one
    scale: Floats
    error: int  # how far the library's rounded sum can be from the true one, in whole numbers
    exact: bool  # whether the library never rounds, so that equal sums are equal
    divisor: Floats  # what sums are divided by to give raw predictions

    def inward(self, low: Floats, high: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return bounds on raw predictions as bounds on sums, at most as wide."""
        least = np.nextafter(low * self._sum_of_one(), np.inf)
        greatest = np.nextafter(high * self._sum_of_one(), -np.inf)
        room = 2.0 ** (_ROOM + 2)
        with np.errstate(over="ignore", invalid="ignore"):
            least = np.ceil(np.clip(np.ldexp(least, self.shift), -room, room))
            greatest = np.floor(np.clip(np.ldexp(greatest, self.shift), -room, room))
        return _whole(least), _whole(greatest)

    def _sum_of_one(self) -> Floats:
        return self.divisor * self.scale

    def cut(self, forest: Forest) -> tuple[int, float]:
        """Return the largest sum, in whole numbers, and raw score that mean the first class."""
        total = _last_negative(forest, lambda total: total / float(self.divisor[0]))
        raw = _last_negative(forest, lambda raw: raw)
        scaled = np.ldexp(total, self.shift)
        room = 2.0 ** (_ROOM + 2)
        return int(np.floor(np.clip(scaled, -room, room))), raw


def whole_sums(forest: Forest) -> WholeSums:
    """Scale the leaf values of a forest into whole numbers."""
    dtype: Any = np.dtype(forest.accumulate)
    divides = forest.aggregation not in ("sum", "weighted median")
    gain = forest.value
    if forest.aggregation != "weighted median":
        weight = forest.tree_weight.astype(dtype)[forest.node_tree]
        gain = (forest.value.astype(dtype) * weight[:, None]).astype(np.float64)
    gain = np.where(forest.is_leaf[:, None], gain, 0.0)
    base = forest.base.astype(dtype).astype(np.float64)
    divisor = forest.divisor if divides else np.ones(forest.n_outputs)
    same = bool((divisor == divisor[0]).all())
    scale = np.ones(forest.n_outputs) if same else 1.0 / divisor
    reach = _reach(forest, gain, base)
    exact = same and _is_exact(gain[forest.is_leaf], base, reach, dtype)
    largest = float(np.max(reach * scale, initial=0.0))
    shift = int(np.clip(_ROOM - np.ceil(np.log2(max(largest, 1e-290))), -900, 900))
    output = forest.tree_output[forest.node_tree]
    per_node = np.where(output[:, None] < 0, scale[None, : gain.shape[1]], scale[output][:, None])
    low, high = _outward(gain * per_node, shift, exact=exact or same)
    base_low, base_high = _outward(base * scale, shift, exact=exact or same)
    # sequential sums of n + 1 terms are off by at most ((1 + u)^n - 1) times the sum of sizes;
    # quotients that are to differ must be some units apart
    unit = float(np.finfo(dtype).eps) / 2
    n = forest.n_trees + 1
    off = np.expm1(n * np.log1p(unit)) + 16 * np.finfo(np.float64).eps
    error = 0 if exact else int(np.ceil(np.ldexp(largest * off, shift))) + 2
    return WholeSums(
        gain=np.ascontiguousarray(gain),
        low=low,
        high=high,
        base_low=base_low,
        base_high=base_high,
        shift=shift,
        scale=scale,
        error=error,
        exact=exact,
        divisor=np.asarray(divisor, np.float64),
    )


def _reach(forest: Forest, gain: Floats, base: Floats) -> Floats:
    """Return the largest sum of sizes that trees and base can reach, per output."""
    per_tree = np.maximum.reduceat(np.abs(gain), forest.roots, axis=0)
    total = np.abs(base)
    every = forest.tree_output < 0
    if every.any():
        total = total + per_tree[every].sum(axis=0)
    np.add.at(total, forest.tree_output[~every], per_tree[~every, 0])
    return np.asarray(total)


def _is_exact(gain: Floats, base: Floats, reach: Floats, dtype: Any) -> bool:
    """Whether all sums are multiples of one unit with so few digits that none is ever rounded."""
    values = np.abs(np.concatenate([gain.ravel(), base]))
    values = values[values > 0]
    if len(values) == 0:
        return True
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    unit = int((lowest + exponent - 53).min())
    digits = np.log2(float(reach.max())) - unit
    # a bit to spare for the sum; and quotients of neighbouring sums must differ
    return bool(digits < (22 if dtype == np.float32 else 46))


def _outward(
    values: Floats, shift: int, *, exact: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low = values if exact else np.nextafter(values, -np.inf)
    high = values if exact else np.nextafter(values, np.inf)
    return _whole(np.floor(np.ldexp(low, shift))), _whole(np.ceil(np.ldexp(high, shift)))


def _whole(values: Floats) -> NDArray[np.int64]:
    return np.ascontiguousarray(np.nan_to_num(values).astype(np.int64))


def _last_negative(forest: Forest, raw_of: Any) -> float:
    """Find by halving the largest number that the forest's link still takes for the first class."""
    assert forest.classes is not None

    def positive(number: float) -> bool:
        label = links.predict(forest, np.array([raw_of(number)]))[0]
        return bool(label == forest.classes[1])  # type: ignore[index]

    # whole numbers that order as doubles do
    def double(order: int) -> float:
        bits = order if order >= 0 else (1 << 63) - order
        return float(np.array([bits], np.uint64).view(np.float64)[0])

    largest = int(np.array([1e300]).view(np.uint64)[0])
    low, high = -largest, largest
    while high - low > 1:
        middle = (low + high) // 2
        if positive(double(middle)):
            high = middle
        else:
            low = middle
    return double(low)
