"""Ranges that tuning searches, with their scale."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Choice", "Dimension", "Real", "Whole"]


@dataclass(frozen=True)
class Real:
    """A real number between two bounds, searched evenly or, with ``log``, by magnitude.

    Examples
    --------
    >>> Real(0.01, 1.0, log=True).grid(3)
    [0.01, 0.1, 1.0]
    """

    low: float
    high: float
    log: bool = False

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self._at(rng.uniform())

    def grid(self, n: int) -> list[float]:
        """Spread n values over the range, both ends included."""
        return [self._at(u) for u in np.linspace(0.0, 1.0, n)]

    def _at(self, u: float) -> float:
        if self.log:
            value = self.low * (self.high / self.low) ** u
        else:
            value = self.low + (self.high - self.low) * u
        return float(f"{min(max(value, self.low), self.high):.12g}")


@dataclass(frozen=True)
class Whole:
    """A whole number between two bounds, both included.

    Examples
    --------
    >>> Whole(1, 9).grid(3)
    [1, 5, 9]
    """

    low: int
    high: int
    log: bool = False

    def sample(self, rng: np.random.Generator) -> int:
        """Draw one value."""
        if not self.log:
            return int(rng.integers(self.low, self.high + 1))
        return round(Real(self.low, self.high, log=True).sample(rng))

    def grid(self, n: int) -> list[int]:
        """Spread at most n distinct values over the range, both ends included."""
        return sorted({round(value) for value in Real(self.low, self.high, self.log).grid(n)})


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Examples
    --------
    >>> Choice("uniform", "distance").grid(10)
    ['uniform', 'distance']
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return self.values[int(rng.integers(len(self.values)))]

    def grid(self, n: int) -> list[Any]:  # noqa: ARG002 - the same call for every dimension
        """Return all values, whatever n is."""
        return list(self.values)


Dimension = Real | Whole | Choice
