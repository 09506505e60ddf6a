"""Average natural direct effects in a model whose mechanism is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import IN_TABLES, number
from clearwood._shared.results import Result

__all__ = ["TrueEffect", "average_natural_direct_effect"]

Values = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False, repr=False)
class TrueEffect(Result):
    """The direct effect of setting columns to values.

    Parameters
    ----------
    at
        The values, by column.
    effect
        By how much the mean of the target changes.
    standard_error
        Of the effect, from the random draws.
    draws
        How many policies were drawn.
    """

    at: Mapping[str, tuple[Any, ...]]
    effect: Floats
    standard_error: Floats
    draws: int

    def _columns(self) -> Mapping[str, Any]:
        """Return one row per value."""
        columns = {"effect": self.effect, "standard_error": self.standard_error}
        return {**{name: list(values) for name, values in self.at.items()}, **columns}

    def __repr__(self) -> str:
        names = ", ".join(self.at)
        lines = [f"direct effect of {names} ({self.draws:,} draws)"]
        points = zip(*self.at.values(), self.effect, self.standard_error, strict=True)
        for *values, effect, error in list(points)[:12]:
            place = ", ".join(f"{v:g}" if isinstance(v, int | float) else str(v) for v in values)
            lines.append(f"  {place:>12}  {number(effect, IN_TABLES)} ± {number(error, 2)}")
        if len(self.effect) > 12:
            lines.append(f"  … {len(self.effect)} in all")
        return "\n".join(lines)


def average_natural_direct_effect(
    mean: Callable[[Values], Floats],
    others: Values,
    drawn: Values,
    points: Values,
    shown: Mapping[str, tuple[Any, ...]],
) -> TrueEffect:
    """Average the change from drawn values to chosen ones, all else as under the drawn ones.

    This is Hiabu (2024), Definition 8.2.1: the mean of ``m(x_S, X_R) - m(X'_S, X_R)``, where
    ``X'_S`` comes from its marginal distribution and ``X_R``, the rest, from ``do(X_S = X'_S)``.
    """
    natural = mean({**others, **drawn})
    draws = len(natural)
    n_points = len(next(iter(points.values())))
    effect, error = np.empty(n_points), np.empty(n_points)
    for i in range(n_points):
        held = {name: np.broadcast_to(values[i], draws) for name, values in points.items()}
        change = mean({**others, **held}) - natural
        effect[i] = change.mean()
        error[i] = change.std(ddof=1) / np.sqrt(draws)
    return TrueEffect(shown, effect, error, draws)
