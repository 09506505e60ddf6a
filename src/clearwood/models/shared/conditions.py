"""Conditions on one column, and rules that join them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.numbers import number
from clearwood.models.shared.rows import in_levels

__all__ = ["Among", "Between", "Condition", "Line", "Rule"]


@dataclass(frozen=True)
class Between:
    """A value above ``low`` and at most ``high``.

    Parameters
    ----------
    low, high
        The bounds, infinite where there is none; both plus infinity for missing values only.
    missing
        Whether a missing value meets the condition.

    Examples
    --------
    >>> Between(1.0, 3.0, missing=True)(np.array([1.0, 3.0, 4.0, np.nan]))
    array([False,  True, False,  True])
    """

    low: float
    high: float
    missing: bool

    def __call__(self, values: Floats) -> Bools:
        """Return which values meet the condition."""
        inside = (values > self.low) & (values <= self.high)
        return inside | np.isnan(values) if self.missing else inside

    def joined(self, other: "Between") -> "Between":
        """Require both conditions."""
        both = self.missing and other.missing
        return Between(max(self.low, other.low), min(self.high, other.high), missing=both)

    @property
    def size(self) -> int:
        """Number of bounds."""
        return max(math.isfinite(self.low) + math.isfinite(self.high), 1)

    def written(self, name: str, levels: tuple[str, ...] = (), *, gaps: bool = True) -> str:  # noqa: ARG002
        """Write the condition for a column of this name; missing values only if it has ``gaps``."""
        low, high = number(self.low, 4), number(self.high, 4)
        if self.low == math.inf:
            return f"{name} is missing"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{name} is not missing"
        if math.isinf(self.low):
            text = f"{name} ≤ {high}"
        elif math.isinf(self.high):
            text = f"{name} > {low}"
        else:
            text = f"{low} < {name} ≤ {high}"
        return f"({text} or missing)" if self.missing and gaps else text


@dataclass(frozen=True, eq=False)
class Among:
    """A category in a set of levels.

    Parameters
    ----------
    member
        For each code, and last for missing values and unseen levels, whether it is in the set.

    Examples
    --------
    >>> Among(np.array([True, False, False]))(np.array([0.0, 1.0, np.nan]))
    array([ True, False, False])
    """

    member: Bools

    def __call__(self, values: Floats) -> Bools:
        """Return which values meet the condition."""
        return in_levels(self.member, values)

    def joined(self, other: "Among") -> "Among":
        """Require both conditions."""
        return Among(self.member & other.member)

    @property
    def size(self) -> int:
        """Number of conditions that it reads as."""
        return 1

    def written(self, name: str, levels: tuple[str, ...] = (), *, gaps: bool = True) -> str:
        """Write the condition for a column of this name; missing values only if it has ``gaps``."""

        def names(codes: Bools) -> list[str]:
            known = np.flatnonzero(codes[:-1])
            listed = [levels[code] if code < len(levels) else str(code) for code in known]
            return [*listed, *(["missing"] if codes[-1] and gaps else [])]

        inside, outside = names(self.member), names(~self.member)
        if outside and len(outside) < len(inside):
            return f"{name} is not {' or '.join(outside)}"
        return f"{name} is {' or '.join(inside)}"


Condition = Between | Among


@dataclass(frozen=True, eq=False)
class Rule:
    """Conditions that must all hold.

    Parameters
    ----------
    conditions
        By position of the column.
    """

    conditions: Mapping[int, Condition]

    def __call__(self, X: Floats) -> Bools:
        """Return which rows meet the rule."""
        inside = np.ones(len(X), bool)
        for column, condition in self.conditions.items():
            inside &= condition(X[:, column])
        return inside

    def joined(self, column: int, condition: Condition) -> "Rule":
        """Add a condition; conditions on the same column become one."""
        known = self.conditions.get(column)
        # a column has numbers or categories, so both are of one kind
        both = condition if known is None else known.joined(condition)  # type: ignore[arg-type]
        return Rule({**self.conditions, column: both})

    @property
    def size(self) -> int:
        """How long the rule reads."""
        return sum(condition.size for condition in self.conditions.values())


@dataclass(frozen=True)
class Line:
    """A column cut off at outer quantiles, less its centre; 0 where missing.

    Examples
    --------
    >>> Line(0.0, 10.0, 4.0)(np.array([-5.0, 6.0, 99.0, np.nan])).ravel()
    array([-4.,  2.,  6.,  0.])
    """

    low: float
    high: float
    centre: float

    def __call__(self, values: Floats) -> Floats:
        """Compute the line, of shape (rows, 1)."""
        cut = np.clip(values, self.low, self.high) - self.centre
        return np.where(np.isnan(values), 0.0, cut)[:, None]

    def written(self, name: str) -> str:
        """Write the line for a column of this name."""
        sign, centre = "+" if self.centre < 0 else "−", number(abs(self.centre), 4)
        low, high = number(self.low, 4), number(self.high, 4)
        return f"({name} {sign} {centre}), {name} held within {low} and {high}"
