"""What one or two columns do to a model's prediction, by any of the five methods."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.frames import frame
from clearwood._shared.numbers import number
from clearwood._shared.results import document, html_table
from clearwood.explanation.effects.extrapolation import EXTRAPOLATES
from clearwood.explanation.outputs import grid_columns

__all__ = ["TITLES", "Kind", "ModelEffect"]

Floats = NDArray[np.float64]
Kind = Literal["pdp", "ice", "marginal", "ale", "supported_pdp"]

TITLES: dict[str, str] = {
    "pdp": "Partial dependence",
    "ice": "Individual conditional expectation",
    "marginal": "Marginal (conditional) mean",
    "ale": "Accumulated local effect",
    "supported_pdp": "Partial dependence where data lie",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelEffect:
    """The effect of one or two columns on the prediction of any model.

    Made by `clearwood.effect`.

    Parameters
    ----------
    kind
        "pdp", "ice", "marginal", "ale" or "supported_pdp".
    columns
        One or two of the user's columns.
    grid
        For each column its values: numbers, dates, or levels as written. A missing value is a
        value of its own, the last: NaN, NaT or None.
    values
        One axis for each column, then one for outputs where there are several; NaN where no rows
        lie.
    lower, upper
        The band, of the same shape; None where none was asked for.
    level
        The pointwise coverage that the band aims at.
    shares
        The share of the rows that is nearest to each point of the grid: the density of the data.
    outside
        At each point of the grid, the share of the rows asked there that lie outside the data;
        zero where the method only asks about rows as they are.
    curves
        For "ice": of shape (rows, values[, outputs]).
    rows
        Labels of the rows of the curves.
    baseline
        The mean prediction: a number, or one per output. For "ale" of more than 2,000 rows, nearly.
    centred
        Whether values are measured from their mean (curves from their first value).
    derivative
        Whether the curves are slopes between neighbouring values.
    is_ordered
        For each column, whether its values lie on an axis: numbers and dates.
    is_step
        Whether the model is constant between its jumps, as trees are.
    exact
        Whether it was read off the model's exact decomposition.
    model, unit, outputs
        The model, what is predicted, and the names of the outputs.
    n_rows
        How many rows were averaged over.
    evaluations
        How many predictions were asked of the model.
    notes
        What the reader should know.
    """

    kind: Kind
    columns: tuple[str, ...]
    grid: tuple[NDArray[Any], ...]
    values: Floats
    shares: Floats
    outside: Floats
    baseline: Any
    is_ordered: tuple[bool, ...]
    is_step: bool
    model: str
    unit: str
    outputs: tuple[str, ...]
    n_rows: int
    evaluations: int
    lower: Floats | None = None
    upper: Floats | None = None
    level: float = 0.95
    curves: Floats | None = None
    rows: NDArray[Any] | None = None
    centred: bool = False
    derivative: bool = False
    exact: bool = False
    notes: tuple[str, ...] = ()

    @property
    def extrapolates(self) -> NDArray[np.bool_]:
        """At which points of the grid more than a fifth of the rows asked lie outside the data."""
        return np.asarray(self.outside > EXTRAPOLATES)

    @property
    def title(self) -> str:
        """What it shows, in words."""
        words = TITLES[self.kind]
        if self.derivative:
            words = "Slopes of individual curves"
        if self.kind == "ale" and len(self.columns) == 2:
            words = "Accumulated local interaction"
        return f"{words}: {' and '.join(self.columns)}"

    @property
    def about(self) -> str:
        """The scale, the rows and the band, in words."""
        parts = [self.unit, "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"]
        if self.centred:
            parts.append("centred")
        if self.exact:
            parts.append("exact")
        if self.lower is not None:
            parts.append(f"{self.level:.0%} band")
        return ", ".join(parts)

    def __repr__(self) -> str:
        size = " × ".join(f"{len(values)}" for values in self.grid)
        low, high = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        told = ""
        if self.extrapolates.any():
            told = f"; extrapolates at {self.extrapolates.sum()} of {self.extrapolates.size}"
        values = f"{size} values, from {number(low)} to {number(high)}"
        return f"{self.title}: {values} ({self.about}){told}"

    def _repr_html_(self) -> str:
        if len(self.columns) == 2 or self.values.ndim > 1:
            return html_table(repr(self), ("",), (), self.notes)
        step = max(1, len(self.grid[0]) // 12)
        rows = [
            (
                str(value),
                number(float(effect)),
                f"{share:.1%}",
                "extrapolates" if outside else "",
            )
            for value, effect, share, outside in zip(
                self.grid[0][::step],
                self.values[::step],
                self.shares[::step],
                self.extrapolates[::step],
                strict=True,
            )
        ]
        headings = (self.columns[0], self.unit, "share of rows", "")
        return html_table(repr(self), headings, rows, self.notes)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per point of the grid (and output): value, band, density, extrapolation.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        named = {
            self.kind: self.values,
            "lower": self.lower,
            "upper": self.upper,
            "share": self.shares,
            "outside": self.outside,
        }
        return frame(grid_columns(self.columns, self.grid, self.outputs, named), library)

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "kind": self.kind,
                "columns": self.columns,
                "grid": [list(values) for values in self.grid],
                "values": self.values,
                "lower": self.lower,
                "upper": self.upper,
                "level": self.level,
                "shares": self.shares,
                "outside": self.outside,
                "extrapolates": self.extrapolates,
                "curves": self.curves,
                "baseline": self.baseline,
                "centred": self.centred,
                "derivative": self.derivative,
                "exact": self.exact,
                "model": self.model,
                "unit": self.unit,
                "outputs": self.outputs,
                "rows": self.n_rows,
                "evaluations": self.evaluations,
                "notes": self.notes,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw a curve over the data's density, bars by level or a heat map (Altair).

        Points at which the method extrapolates are drawn dotted.
        """
        from clearwood.plot.any_effects import plot_model_effect

        return plot_model_effect(self, **options)
