"""What one or two columns do to the prediction."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.frames import frame
from clearwood._shared.numbers import number
from clearwood._shared.results import document, html_table
from clearwood.explanation.decomposition.about import About
from clearwood.explanation.outputs import grid_columns

__all__ = ["Effect"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """The effect of one column, or the interaction of two, at values that occur in the background.

    Made by `Decomposition.effect` and `Decomposition.partial_dependence`.

    Parameters
    ----------
    columns
        One or two of the user's columns.
    grid
        For each column its values: numbers, dates, or levels as written. A missing value is a
        value of its own, the last: NaN, NaT or None.
    values
        One axis for each column, then one for outputs where there are several.
    shares
        The share of the background that is nearest to each point of the grid: small shares mean
        that few rows speak for what is shown there.
    quantity
        "effect" (a component, measured from the baseline) or "partial dependence" (the baseline
        plus all components within these columns).
    baseline
        The mean prediction over the background.
    is_ordered
        For each column, whether its values lie on an axis: numbers and dates.
    is_step
        Whether the model is constant between its jumps, as trees are.
    about
        Value function, background and scale.
    standard_errors
        None where the values are exact; else of the shape of ``values``.
    """

    columns: tuple[str, ...]
    grid: tuple[NDArray[Any], ...]
    values: Floats
    shares: Floats
    quantity: Literal["effect", "partial dependence"]
    baseline: Any
    is_ordered: tuple[bool, ...]
    is_step: bool
    about: About
    standard_errors: Floats | None = None

    @property
    def title(self) -> str:
        """What it shows, in words."""
        names = " and ".join(self.columns)
        if self.quantity == "partial dependence":
            return f"Partial dependence on {names}"
        return f"Effect of {names}" if len(self.columns) == 1 else f"Interaction of {names}"

    def __repr__(self) -> str:
        size = " × ".join(f"{len(values)}" for values in self.grid)
        low, high = float(self.values.min()), float(self.values.max())
        return f"{self.title}: {size} values, from {number(low)} to {number(high)} ({self.about})"

    def _repr_html_(self) -> str:
        if len(self.columns) == 2 or self.values.ndim > 1:
            return html_table(repr(self), ("",), ())
        step = max(1, len(self.grid[0]) // 10)
        rows = [
            (str(value), number(float(effect)), f"{share:.1%}")
            for value, effect, share in zip(
                self.grid[0][::step], self.values[::step], self.shares[::step], strict=True
            )
        ]
        return html_table(repr(self), (self.columns[0], self.quantity, "share of rows"), rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per point of the grid (and output): values, effect, share of the rows.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        named = {
            self.quantity: self.values,
            "standard error": self.standard_errors,
            "share": self.shares,
        }
        return frame(grid_columns(self.columns, self.grid, self.about.outputs, named), library)

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "columns": self.columns,
                "quantity": self.quantity,
                "grid": [list(values) for values in self.grid],
                "values": self.values,
                "standard_errors": self.standard_errors,
                "shares": self.shares,
                "baseline": self.baseline,
                "about": self.about.to_json(),
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw a curve or steps over a rug for one column, a heat map for two (Altair)."""
        from clearwood.plot.effects import plot_effect

        return plot_effect(self, **options)
