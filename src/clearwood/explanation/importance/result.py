"""How much each column matters to a model, by any of the methods."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.frames import frame
from clearwood._shared.numbers import number
from clearwood._shared.results import document, html_table

__all__ = ["ModelImportance"]

Floats = NDArray[np.float64]

TITLES: dict[str, str] = {
    "permutation": "Permutation importance",
    "impurity": "Impurity importance",
    "variance": "Variance of main effects",
    "shapley": "Mean absolute Shapley value",
    "loco": "Leave-one-column-out importance",
    "coefficients": "Standardised coefficients",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelImportance:
    """One number per column (or group of columns), with an interval.

    Made by `clearwood.importance`.

    Parameters
    ----------
    kind
        The method.
    columns
        The user's columns, or names of groups, in their own order.
    values
        How much each matters, in the unit of ``measure``.
    lower, upper
        The interval of each.
    level
        The coverage that the intervals aim at.
    measure
        What the numbers are, in words.
    model
        The model in words.
    n_rows
        How many rows were used.
    notes
        When the numbers mislead, and what else the reader should know.
    """

    kind: str
    columns: tuple[str, ...]
    values: Floats
    lower: Floats
    upper: Floats
    level: float
    measure: str
    model: str
    n_rows: int
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> NDArray[np.intp]:
        """The columns' positions, the most important first."""
        return np.argsort(-np.abs(self.values), kind="stable")

    @property
    def title(self) -> str:
        """What it shows, in words."""
        return TITLES[self.kind]

    def __getitem__(self, column: str) -> float:
        """Give the value of one column."""
        return float(self.values[self.columns.index(column)])

    def __repr__(self) -> str:
        best = ", ".join(f"{self.columns[k]} {number(self.values[k])}" for k in self.order[:6])
        return f"{self.title} ({self.measure}, {self.n_rows:,} rows): {best}"

    def _repr_html_(self) -> str:
        rows = [
            (
                self.columns[k],
                number(self.values[k]),
                f"{number(self.lower[k])} to {number(self.upper[k])}",
            )
            for k in self.order[:30]
        ]
        headings = ("column", self.measure, f"{self.level:.0%} interval")
        return html_table(self.title, headings, rows, self.notes)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per column, the most important first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        order = self.order
        return frame(
            {
                "column": [self.columns[k] for k in order],
                "importance": self.values[order],
                "lower": self.lower[order],
                "upper": self.upper[order],
            },
            library,
        )

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "kind": self.kind,
                "measure": self.measure,
                "columns": [
                    {"column": name, "importance": value, "lower": low, "upper": high}
                    for name, value, low, high in zip(
                        self.columns, self.values, self.lower, self.upper, strict=True
                    )
                ],
                "level": self.level,
                "model": self.model,
                "rows": self.n_rows,
                "notes": self.notes,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw bars with their intervals, the most important first (Altair)."""
        from clearwood.plot.any_importance import plot_model_importance

        return plot_model_importance(self, **options)
