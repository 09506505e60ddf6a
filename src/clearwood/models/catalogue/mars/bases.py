"""The functions of one column that MARS multiplies."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.numbers import number
from clearwood.models.shared.rows import in_levels

__all__ = ["Factor", "Hinge", "InLevels", "IsMissing", "Stacked"]


@dataclass(frozen=True)
class Hinge:
    """A hinge max(0, x - knot) or max(0, knot - x), or the line x - knot; 0 where missing.

    Parameters
    ----------
    knot
        Where it is zero.
    shape
        "up", "down" or "line".
    low, high
        The range beyond which it is constant.

    Examples
    --------
    >>> Hinge(2.0, "up", 0.0, 5.0)(np.array([1.0, 3.0, 9.0, np.nan])).ravel()
    array([0., 1., 3., 0.])
    """

    knot: float
    shape: Literal["up", "down", "line"]
    low: float
    high: float

    def __call__(self, values: Floats) -> Floats:
        """Compute the function, of shape (rows, 1)."""
        from_knot = np.clip(values, self.low, self.high) - self.knot
        if self.shape == "down":
            from_knot = -from_knot
        if self.shape != "line":
            from_knot = np.maximum(from_knot, 0.0)
        return np.where(np.isnan(values), 0.0, from_knot)[:, None]

    def breaks(self) -> Floats:
        """Return the values between which the function is a straight line."""
        return np.unique([self.low, min(max(self.knot, self.low), self.high), self.high])

    def written(self, name: str, levels: tuple[str, ...] = ()) -> str:  # noqa: ARG002
        """Write the function of a column of this name."""
        knot = number(abs(self.knot), 4)
        if self.shape == "line":
            if knot == "0":
                return name
            return f"({name} {'−' if self.knot > 0 else '+'} {knot})"
        if self.shape == "up":
            inner = name if knot == "0" else f"{name} {'−' if self.knot > 0 else '+'} {knot}"
        else:
            inner = f"{'−' if self.knot < 0 and knot != '0' else ''}{knot} − {name}"
        return f"max(0, {inner})"


@dataclass(frozen=True, eq=False)
class InLevels:
    """One where a category is in a set of levels, else zero.

    Parameters
    ----------
    member
        For each code, and last for missing values and unseen levels, whether it is in the set.

    Examples
    --------
    >>> InLevels(np.array([True, False, True]))(np.array([0.0, 1.0, np.nan])).ravel()
    array([1., 0., 1.])
    """

    member: Bools

    def __call__(self, values: Floats) -> Floats:
        """Compute the indicator, of shape (rows, 1)."""
        return in_levels(self.member, values).astype(np.float64)[:, None]

    def codes_of_levels(self) -> Floats:
        """Return a code of each level, and one that is none of them."""
        return np.arange(len(self.member), dtype=np.float64)

    def written(self, name: str, levels: tuple[str, ...] = ()) -> str:
        """Write the indicator for a column of this name, with the names of its levels."""
        codes = np.flatnonzero(self.member[:-1])
        names = [levels[code] if code < len(levels) else str(code) for code in codes]
        if self.member[-1]:
            names.append("missing")
        return f"[{name} is {' or '.join(names)}]"


@dataclass(frozen=True)
class IsMissing:
    """One where the value is missing, else zero."""

    def __call__(self, values: Floats) -> Floats:
        """Compute the indicator, of shape (rows, 1)."""
        return np.isnan(values).astype(np.float64)[:, None]

    def breaks(self) -> Floats:
        """Return a value beside which the function is constant, as it is for all that are known."""
        return np.zeros(1)

    def written(self, name: str, levels: tuple[str, ...] = ()) -> str:  # noqa: ARG002
        """Write the indicator for a column of this name."""
        return f"[{name} is missing]"


Factor = Hinge | InLevels | IsMissing


@dataclass(frozen=True, eq=False)
class Stacked:
    """Several functions of one column, side by side."""

    functions: tuple[Factor, ...]

    def __call__(self, values: Floats) -> Floats:
        """Compute the functions, of shape (rows, functions)."""
        return np.hstack([function(values) for function in self.functions])

    def breaks(self) -> Floats | None:
        """Return the values between which all functions are straight lines; None for levels."""
        every = [one.breaks() for one in self.functions if not isinstance(one, InLevels)]
        return np.unique(np.concatenate(every)) if len(every) == len(self.functions) else None
