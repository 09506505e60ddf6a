"""What every explanation states about itself: value function, background, scale."""

from dataclasses import dataclass
from typing import Any

from clearwood._shared.choices import ValueFunction
from clearwood._shared.numbers import count
from clearwood.fitted import Scale, Unit

__all__ = ["About", "BackgroundInfo"]


@dataclass(frozen=True)
class BackgroundInfo:
    """The rows over which columns outside a coalition are averaged.

    Parameters
    ----------
    n_rows
        How many.
    weighted
        Whether they have weights.
    source
        Where they came from, in words.
    drawn_from
        Of how many rows they were drawn, where averages over all would take too long or fewer were
        asked for; None where they are all of them.
    seed
        Fixed that draw.
    """

    n_rows: int
    weighted: bool = False
    source: str = ""
    drawn_from: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        weighted = "weighted " if self.weighted else ""
        drawn = "" if self.drawn_from is None else f" drawn from {self.drawn_from:,}"
        return count(self.n_rows, f"{weighted}background row") + drawn

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        drawn = {"drawn_from": self.drawn_from, "seed": self.seed}
        if self.drawn_from is None:
            drawn = {}
        return {"rows": self.n_rows, "weighted": self.weighted, "source": self.source, **drawn}


@dataclass(frozen=True)
class About:
    """What is explained and how.

    Parameters
    ----------
    model
        The kind of model, in words.
    value
        The value function.
    background
        None where the value function needs none.
    unit
        What the numbers are.
    outputs
        Names of the outputs.
    is_sampled
        Whether the numbers are estimated from drawn rows, with standard errors.
    rate
        What is predicted per unit of an exposure, such as "claims per year"; empty where the model
        has no exposure.
    """

    model: str
    value: ValueFunction | None
    background: BackgroundInfo | None
    unit: Unit
    outputs: tuple[str, ...]
    is_sampled: bool = False
    rate: str = ""

    @property
    def quantity(self) -> str:
        """What the numbers are, with the rate that is predicted: for axes."""
        return f"{self.unit}, {self.rate}" if self.rate else str(self.unit)

    @property
    def scale(self) -> Scale:
        """The scale of the numbers."""
        if self.unit.is_probability:
            return Scale.PROBABILITY
        return Scale.RESPONSE if self.unit is Unit.PREDICTION else Scale.MARGIN

    def __str__(self) -> str:
        where = "no background" if self.background is None else f"{self.background}"
        parts = [self.value, where, self.quantity, "sampled" if self.is_sampled else None]
        return ", ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "model": self.model,
            "value": self.value,
            "background": None if self.background is None else self.background.to_json(),
            "scale": str(self.scale),
            "unit": str(self.unit),
            "outputs": list(self.outputs),
            "sampled": self.is_sampled,
            **({"rate": self.rate} if self.rate else {}),
        }
