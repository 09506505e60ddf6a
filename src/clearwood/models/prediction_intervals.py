"""Predictions with the interval in which a new target, or its mean, lies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.results import Result, html_table

__all__ = ["PredictionIntervals"]

_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionIntervals(Result):
    """Predictions with intervals, one for each row.

    Made by `clearwood.Learner.predict_interval`.

    Parameters
    ----------
    predictions, low, high
        The prediction and the ends of its interval; for two classes, of the probability of the
        second.
    confidence
        The probability of the interval, if the model is right.
    of
        "row": a new row's target lies within. "mean": its mean, or probability, does.
    outcome
        What is predicted.
    model
        The learner.
    """

    predictions: Floats
    low: Floats
    high: Floats
    confidence: float
    of: Literal["row", "mean"]
    outcome: str
    model: str

    def _columns(self) -> Mapping[str, Any]:
        return {"prediction": self.predictions, "low": self.low, "high": self.high}

    def _headline(self) -> str:
        what = "new rows" if self.of == "row" else "the mean"
        return (
            f"{self.model}: {self.outcome}, {percent(self.confidence)} intervals of {what}, "
            f"{count(len(self.predictions), 'row')}"
        )

    def _cells(self) -> list[list[str]]:
        numbers = zip(self.predictions[:_SHOWN], self.low[:_SHOWN], self.high[:_SHOWN], strict=True)
        return [
            [str(k), *(number(value, IN_TABLES) for value in row)] for k, row in enumerate(numbers)
        ]

    def __repr__(self) -> str:
        table = [["row", "prediction", "low", "high"], *self._cells()]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = [
            "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            for cells in table
        ]
        more = len(self.predictions) - _SHOWN
        return "\n".join(
            [self._headline(), "", *lines, *([f"… {more:,} more"] if more > 0 else [])]
        )

    def _repr_html_(self) -> str:
        return html_table(self._headline(), ["row", "prediction", "low", "high"], self._cells())

    def plot(self) -> Any:
        """Draw the rows in the order of their predictions, each with its interval (Altair)."""
        from clearwood.plot import plot_prediction_intervals

        return plot_prediction_intervals(self)
