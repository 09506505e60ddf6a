"""A linear model near one row, with its local fit and its instability."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import number, percent
from clearwood._shared.results import Result, html_table
from clearwood.fitted import Unit

__all__ = ["Lime"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Lime(Result):
    """A sparse linear model near one row. Made by `clearwood.lime`; its frame has a row per term.

    Parameters
    ----------
    terms
        In words, in the order in which they were chosen: "age", "town = Bern".
    coefficients
        Per unit of a number; of a level, the difference between having it and not.
    standardised
        Per standard deviation over the data, which makes terms comparable.
    draws
        The coefficients of the same terms in each draw: (draws, terms).
    selected
        Share of draws in which the term would have been chosen.
    sign_agreement
        Share of draws in which the coefficient has the same sign.
    widths, by_width, r2_by_width
        Other kernel widths, the coefficients there (NaN where too few rows are near) and the fit.
    stable
        Whether the sign is the same in nine of ten draws and at every width.
    values
        The explained row's value of each term.
    prediction, local_prediction
        Of the model and of the linear model at the row.
    r2
        Share of the weighted variance of the predictions that the linear model fits.
    kernel_width
        In standard deviations.
    effective_rows, n_rows
        Rows near the explained one, counted by weight, and all that were drawn.
    n_zero_weight
        Rows of the data that have a weight of zero and are left out.
    select
        How terms were chosen.
    model, unit, output
        What is explained.
    notes
        What the reader should know.
    """

    terms: tuple[str, ...]
    coefficients: Floats
    standardised: Floats
    draws: Floats
    selected: Floats
    sign_agreement: Floats
    widths: Floats
    by_width: Floats
    r2_by_width: Floats
    stable: NDArray[np.bool_]
    values: Floats
    prediction: float
    local_prediction: float
    r2: float
    kernel_width: float
    effective_rows: float
    n_rows: int
    select: str
    model: str
    unit: Unit
    output: str
    n_zero_weight: int = 0
    notes: tuple[str, ...] = ()

    @property
    def spread(self) -> Floats:
        """Standard deviation of each coefficient over the draws."""
        return np.asarray(self.draws.std(axis=0, ddof=1))

    def __len__(self) -> int:
        return len(self.terms)

    def _headline(self) -> str:
        return (
            f"LIME of {self.model} ({self.output}, {self.unit}): prediction "
            f"{number(self.prediction)}, linear model {number(self.local_prediction)}, "
            f"weighted R² {self.r2:.2f}, kernel width {number(self.kernel_width)}"
        )

    def __repr__(self) -> str:
        long = max((len(term) for term in self.terms), default=0)
        lines = [self._headline()]
        for k, term in enumerate(self.terms):
            doubt = "" if self.stable[k] else "  sign not stable"
            value, spread = number(self.coefficients[k]), number(self.spread[k])
            lines.append(f"  {term:<{long}}  {value:>10} ± {spread}{doubt}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        rows = [
            (
                term,
                number(self.coefficients[k]),
                number(self.spread[k]),
                percent(self.sign_agreement[k]),
                "yes" if self.stable[k] else "no",
            )
            for k, term in enumerate(self.terms)
        ]
        headings = ("term", "coefficient", "over draws ±", "draws of this sign", "stable")
        return html_table(self._headline(), headings, rows, self.notes)

    def _columns(self) -> dict[str, Any]:
        return {
            "term": list(self.terms),
            "value": self.values,
            "coefficient": self.coefficients,
            "standardised": self.standardised,
            "spread": self.spread,
            "selected": self.selected,
            "sign_agreement": self.sign_agreement,
            "stable": ["yes" if stable else "no" for stable in self.stable],
        }

    def plot(self, kind: str = "draws") -> Any:
        """Draw the coefficients over draws, or over kernel widths (Altair).

        Parameters
        ----------
        kind
            "draws" or "widths".
        """
        from clearwood.plot import plot_lime

        return plot_lime(self, kind)
