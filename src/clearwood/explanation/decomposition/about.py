"""What every explanation says about itself: which value function, which background, which scale."""

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["About", "BackgroundInfo", "ValueFunction"]

ValueFunction = Literal["interventional", "path_dependent", "observational"]


@dataclass(frozen=True)
class BackgroundInfo:
    """The rows that stand in for what a coalition does not know.

    Parameters
    ----------
    n_rows
        How many.
    weighted
        Whether they have weights.
    source
        Where they came from, in words.
    """

    n_rows: int
    weighted: bool = False
    source: str = ""

    def __str__(self) -> str:
        rows = "1 background row" if self.n_rows == 1 else f"{self.n_rows:,} background rows"
        return f"{'weighted ' if self.weighted else ''}{rows}"

    def to_json(self) -> dict[str, Any]:
        """Give it as plain JSON values."""
        return {"rows": self.n_rows, "weighted": self.weighted, "source": self.source}


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
    scale
        "raw": what the model adds up, before any link.
    unit
        What the raw prediction is: "log odds", "prediction", ...
    outputs
        Names of the outputs.
    """

    model: str
    value: ValueFunction
    background: BackgroundInfo | None
    scale: str
    unit: str
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        where = "no background" if self.background is None else f"{self.background}"
        return f"{self.value}, {where}, {self.unit}"

    def to_json(self) -> dict[str, Any]:
        """Give it as plain JSON values."""
        return {
            "model": self.model,
            "value": self.value,
            "background": None if self.background is None else self.background.to_json(),
            "scale": self.scale,
            "unit": self.unit,
            "outputs": list(self.outputs),
        }
