"""What one or two columns do to a model's prediction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.choices import BandSource, EffectKind
from clearwood._shared.frames import frame
from clearwood._shared.numbers import IN_TABLES, number, percent
from clearwood._shared.results import Result, document, html_table
from clearwood.explanation.results.about import About, grid_columns, rows_used
from clearwood.explanation.results.shape import sentence_of
from clearwood.fitted import Unit
from clearwood.table import gaps_listed

__all__ = ["BANDS", "EXTRAPOLATES", "FEW_FREEDOM", "TITLES", "Effect"]

#: A grid point extrapolates if more than this share of the rows there lie outside the data.
EXTRAPOLATES = 0.2

#: Fewer degrees of freedom than this are stated with a band: intervals of 90 % are 3 % wider.
FEW_FREEDOM = 30
#: What a band shows, in words.
BANDS: dict[BandSource, str] = {
    "rows": "resampled rows",
    "refits": "models fitted to resampled rows",
    "draws": "drawn rows",
    "covariance": "the covariance of the coefficients, smoothing included",
    "posterior": "the posterior of the coefficients",
    "folds": "the covariance of curves and a jackknife over folds",
    "bootstrap": "a bootstrap of the whole fit",
}

TITLES: dict[str, str] = {
    "pdp": "Partial dependence",
    "ice": "Individual conditional expectation",
    "marginal": "Marginal (conditional) mean",
    "ale": "Accumulated local effect",
    "supported_pdp": "Partial dependence where data lie",
    "component": "Component",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Effect(Result):
    """The effect of one or two columns on the prediction of a model.

    Made by `clearwood.effect` and by the methods of what `clearwood.explain` returns.

    Parameters
    ----------
    kind
        "pdp", "ice", "marginal", "ale", "supported_pdp", or "component": a component of the
        decomposition, measured from the baseline.
    columns
        One or two of the user's columns.
    grid
        For each column its values: numbers, dates, or levels as written. A missing value is a
        value of its own, the last: NaN, NaT or None.
    values
        One axis for each column, then one for outputs where there are several; NaN where no rows
        lie.
    shares
        The share of the rows that is nearest to each point of the grid: the density of the data.
    outside
        At each point of the grid, the share of the rows evaluated there that lie outside the data;
        zero where the method evaluates rows only as they are.
    baseline
        The mean prediction: a number, or one per output. For "ale" of more than 2,000 rows, nearly.
    is_ordered
        For each column, whether its values lie on an axis: numbers and dates.
    is_step
        Whether the model is constant between its jumps, as trees are.
    about
        Model, value function, background and scale.
    n_rows
        How many rows were averaged over.
    n_data
        How many rows the data has, where fewer were averaged over; None where all were.
    n_zero_weight
        How many further rows have a weight of zero and are left out.
    evaluations
        How many predictions of the model it took; 0 where it was read off the model.
    low, high
        The band, of the shape of ``values``; None where there is none.
    confidence
        The coverage that the band aims at.
    band
        What the band shows: how far the mean could move with other "rows", or with the rows that
        were drawn ("draws"), for this model as it is; or how far the model could move with other
        training data, by models fitted again ("refits"), by the "covariance" or the "posterior"
        of its coefficients or by its models of "folds" or of a "bootstrap". None where there is no
        band.
    band_freedom
        Degrees of freedom of Student's t in the band, at the point where there are fewest; infinite
        for the normal distribution.
    is_simultaneous
        Whether the band aims at covering the whole curve rather than each of its points.
    standard_errors
        Of a component that is sampled, or of a model that has its own, of the shape of
        ``values``; None elsewhere.
    curves
        For "ice": of shape (rows, values[, outputs]).
    rows
        Labels of the rows of the curves.
    centred
        Whether values are measured from their mean (curves from their first value).
    derivative
        Whether the curves are slopes between neighbouring values.
    exact
        Whether it was read off the model's exact decomposition.
    notes
        What the reader should know.
    gap_shares
        The share of the rows in which columns of the model are missing, for those that have gaps:
        there the effect of another column is not adjusted for them.
    """

    kind: EffectKind
    columns: tuple[str, ...]
    grid: tuple[NDArray[Any], ...]
    values: Floats
    shares: Floats
    outside: Floats
    baseline: Any
    is_ordered: tuple[bool, ...]
    is_step: bool
    about: About
    n_rows: int
    n_data: int | None = None
    n_zero_weight: int = 0
    evaluations: int = 0
    low: Floats | None = None
    high: Floats | None = None
    confidence: float = 0.9
    band: BandSource | None = None
    band_freedom: float = np.inf
    is_simultaneous: bool = False
    standard_errors: Floats | None = None
    curves: Floats | None = None
    rows: NDArray[Any] | None = None
    centred: bool = False
    derivative: bool = False
    exact: bool = False
    notes: tuple[str, ...] = ()
    gap_shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def gap_note(self) -> str:
        """Which columns have gaps, and what that means for the effect; empty where none has."""
        if not self.gap_shares:
            return ""
        return (
            f"{gaps_listed(self.gap_shares)}: there the model has a stand-in, so effects are not "
            "adjusted for what is missing"
        )

    @property
    def model(self) -> str:
        """The kind of model, in words."""
        return self.about.model

    @property
    def unit(self) -> Unit:
        """What the numbers are."""
        return self.about.unit

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.about.outputs

    @property
    def extrapolates(self) -> Bools:
        """At which points of the grid more than a fifth of the rows lie outside the data."""
        return np.asarray(self.outside > EXTRAPOLATES)

    @property
    def title(self) -> str:
        """What it shows, in words."""
        names = " and ".join(self.columns)
        if self.kind == "component":
            return f"Effect of {names}" if len(self.columns) == 1 else f"Interaction of {names}"
        title = TITLES[self.kind]
        if self.derivative:
            title = "Slopes of individual curves"
        if self.kind == "ale" and len(self.columns) == 2:
            title = "Accumulated local interaction"
        return f"{title}: {names}"

    @property
    def summary(self) -> str:
        """The scale, the rows and the band, in words."""
        value = [] if self.about.value is None else [str(self.about.value)]
        parts = [*value, self.about.quantity, rows_used(self.n_rows, self.n_data)]
        if self.centred and self.kind != "component":
            parts.append("centred")
        if self.exact:
            parts.append("exact")
        if self.about.is_sampled:
            parts.append("sampled")
        if self.low is not None:
            kind = "simultaneous" if self.is_simultaneous else "pointwise"
            source = "" if self.band is None else f" from {BANDS[self.band]}"
            if self.band_freedom < FEW_FREEDOM:
                source += f" ({number(self.band_freedom)} degrees of freedom)"
            parts.append(f"{percent(self.confidence)} {kind} band{source}")
        return ", ".join(parts)

    @property
    def sentence(self) -> str:
        """What the curve of one column does within the supported range, in words; else empty."""
        if len(self.columns) > 1 or self.derivative:
            return ""
        text = sentence_of(self)
        return f"{text[:1].upper()}{text[1:]}."

    def _head(self) -> str:
        """Return everything but what is said of gaps."""
        size = " × ".join(f"{len(values)}" for values in self.grid)
        low, high = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        outside = ""
        if self.extrapolates.any():
            outside = f"; extrapolates at {self.extrapolates.sum()} of {self.extrapolates.size}"
        values = f"{size} values, from {number(low)} to {number(high)}"
        return f"{self.title}: {values} ({self.summary}){outside}" + (
            f"\n{self.sentence}" if self.sentence else ""
        )

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self._head(), self.gap_note]))

    def _repr_html_(self) -> str:
        notes = (*self.notes, *filter(None, [self.gap_note]))
        if len(self.columns) == 2 or self.values.ndim > 1:
            return html_table(self._head(), ("",), (), notes)
        step = max(1, len(self.grid[0]) // 12)
        rows = [
            (
                str(self.grid[0][k]),
                number(float(self.values[k]), IN_TABLES),
                percent(self.shares[k]),
                "extrapolates" if self.extrapolates[k] else "",
            )
            for k in range(0, len(self.grid[0]), step)
        ]
        headings = (self.columns[0], str(self.unit), "share", "")
        return html_table(self._head(), headings, rows, notes)

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per point of the grid (and output): value, band, density, extrapolation.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        named = {
            self.kind: self.values,
            "low": self.low,
            "high": self.high,
            "standard error": self.standard_errors,
            "share": self.shares,
            "outside": None if self.kind == "component" else self.outside,
        }
        return frame(grid_columns(self.columns, self.grid, self.outputs, named), library)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "kind": self.kind,
                "columns": self.columns,
                "grid": [list(values) for values in self.grid],
                "values": self.values,
                "low": self.low,
                "high": self.high,
                "confidence": self.confidence,
                "band": self.band,
                "band_freedom": self.band_freedom,
                "simultaneous": self.is_simultaneous,
                "standard_errors": self.standard_errors,
                "shares": self.shares,
                "outside": self.outside,
                "extrapolates": self.extrapolates,
                "curves": self.curves,
                "baseline": self.baseline,
                "centred": self.centred,
                "derivative": self.derivative,
                "exact": self.exact,
                "rows": self.n_rows,
                "rows_of_data": self.n_data,
                "n_zero_weight": self.n_zero_weight,
                "sentence": self.sentence,
                "evaluations": self.evaluations,
                "about": self.about.to_json(),
                "notes": self.notes,
                "gap_shares": self.gap_shares,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw a curve over the data's density, points or bars by level, or a heat map (Altair).

        Points at which the method extrapolates are drawn dotted.
        """
        from clearwood.plot import plot_effect

        return plot_effect(self, **options)
