"""How far methods agree about every column of a model, as data and in words."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from clearwood._shared.numbers import number, percent
from clearwood._shared.results import Result, document, html_table

__all__ = ["Agreement", "ColumnAgreement", "Comparison"]

# In standard deviations of the prediction: smaller differences do not matter.
_DIFFERS = 0.1
# Share of the importance that one measure gives and the other does not.
_SHARE_DIFFERS = 0.1


# What the frame has of each column, besides its name and the words.
_NUMBERS = (
    "pdp_ale",
    "interventional_observational",
    "impurity",
    "permutation",
    "interaction",
    "extrapolates",
)


class Comparison(StrEnum):
    """Pairs of methods that are compared."""

    PDP_ALE = "pdp against ale"
    VALUE_FUNCTIONS = "interventional against observational"
    IMPORTANCES = "impurity against permutation"


@dataclass(frozen=True, kw_only=True)
class ColumnAgreement:
    """How far methods agree about one column.

    Parameters
    ----------
    column
        Its name.
    pdp_ale
        How far partial dependence and accumulated local effect differ: root mean square over the
        data, in standard deviations of the prediction; 0 where chance explains it.
    interventional_observational
        The same for partial dependence and the mean prediction of rows with the value.
    impurity, permutation
        Shares of importance by either measure; None where there are no trees or no target.
    associated_with
        Columns it is associated with, with the strength from 0 to 1.
    interacts_with
        The column that its curves depend on most; None where they are nearly parallel.
    interaction
        How far individual curves differ in shape, in standard deviations of the prediction.
    extrapolates
        The share of the grid at which the partial dependence relies on rows outside the data.
    """

    column: str
    pdp_ale: float
    interventional_observational: float
    impurity: float | None
    permutation: float | None
    associated_with: tuple[tuple[str, float], ...]
    interacts_with: str | None
    interaction: float
    extrapolates: float

    @property
    def agrees(self) -> bool:
        """Whether all methods agree."""
        return not self.disagreements

    @property
    def curves_differ(self) -> bool:
        """Whether partial dependence and accumulated local effect differ."""
        return self.pdp_ale > _DIFFERS

    @property
    def is_proxy(self) -> bool:
        """Whether rows with different values also differ in other columns that matter."""
        return self.interventional_observational > _DIFFERS

    @property
    def disagreements(self) -> tuple[Comparison, ...]:
        """The comparisons that differ."""
        differs = {
            Comparison.PDP_ALE: self.curves_differ,
            Comparison.VALUE_FUNCTIONS: self.is_proxy,
            Comparison.IMPORTANCES: _shares_differ(self.impurity, self.permutation),
        }
        return tuple(comparison for comparison, is_so in differs.items() if is_so)

    @property
    def words(self) -> str:
        """What differs and why, in a sentence."""
        if self.agrees:
            return f"{self.column}: all methods agree"
        why = self._reasons()
        reason = f"; likely because {' and '.join(why)}" if why else "; no reason was found"
        return f"{self.column}: {' and '.join(self._differences())}{reason}"

    def _differences(self) -> list[str]:
        texts = []
        if self.curves_differ:
            texts.append(
                f"partial dependence and accumulated local effect differ by {number(self.pdp_ale)} "
                "standard deviations of the prediction"
            )
        if self.is_proxy:
            texts.append(
                "partial dependence and the mean prediction of rows with the value differ by "
                f"{number(self.interventional_observational)} standard deviations"
            )
        if _shares_differ(self.impurity, self.permutation):
            texts.append(
                f"impurity gives it {percent(self.impurity or 0.0)} of the importance, permutation "
                f"{percent(self.permutation or 0.0)}"
            )
        return texts

    def _reasons(self) -> list[str]:
        why = []
        if self.associated_with:
            listed = ", ".join(
                f"{n!r} ({number(strength)})" for n, strength in self.associated_with
            )
            why.append(f"it is associated with {listed}")
        if self.interacts_with is not None:
            why.append(f"it interacts with {self.interacts_with!r}")
        if self.extrapolates > 0:
            why.append(f"{percent(self.extrapolates)} of its grid extrapolates")
        if not why and Comparison.IMPORTANCES in self.disagreements:
            why.append("impurity favours columns with many values and rewards overfitting")
        return why


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How far methods agree about every column, the largest difference first.

    Made by `clearwood.agreement`. Its frame has one row per column.

    Parameters
    ----------
    columns
        One entry per column.
    model
        The model in words.
    n_rows
        How many rows were used.
    n_zero_weight
        How many further rows have a weight of zero and are left out.
    notes
        What was not compared, and why.
    """

    columns: tuple[ColumnAgreement, ...]
    model: str
    n_rows: int
    n_zero_weight: int = 0
    notes: tuple[str, ...] = ()

    def __getitem__(self, column: str) -> ColumnAgreement:
        """Return the entry of one column."""
        return next(entry for entry in self.columns if entry.column == column)

    def __repr__(self) -> str:
        differing = [entry for entry in self.columns if not entry.agrees]
        if not differing:
            return f"Agreement: all methods agree about {len(self.columns)} columns"
        lines = [f"  {entry.words}" for entry in differing[:10]]
        head = f"Agreement: methods disagree about {len(differing)} of {len(self.columns)} columns"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                entry.column,
                f"{entry.pdp_ale:.2f}",
                f"{entry.interventional_observational:.2f}",
                entry.words,
            )
            for entry in self.columns
        ]
        headings = ("column", "pdp against ale", "interventional against observational", "in words")
        return html_table("Where methods disagree", headings, rows, self.notes)

    def _columns(self) -> dict[str, Any]:
        table: dict[str, Any] = {"column": [entry.column for entry in self.columns]}
        for name in _NUMBERS:
            values = [getattr(entry, name) for entry in self.columns]
            table[name] = np.array([np.nan if value is None else value for value in values])
        return table | {"words": [entry.words for entry in self.columns]}

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "columns": [
                    {**vars(entry), "words": entry.words, "disagreements": entry.disagreements}
                    for entry in self.columns
                ],
                "model": self.model,
                "rows": self.n_rows,
                "rows_of_zero_weight": self.n_zero_weight,
                "notes": self.notes,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw the differences as bars, with what is thought negligible shaded (Altair)."""
        from clearwood.plot import plot_agreement

        return plot_agreement(self, **options)


def _shares_differ(impurity: float | None, permutation: float | None) -> bool:
    if impurity is None or permutation is None:
        return False
    return abs(impurity - permutation) > _SHARE_DIFFERS
