"""What the methods say about every column of a model, and how it is told."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.frames import frame
from clearwood._shared.results import document, html_table

__all__ = ["Agreement", "ColumnAgreement"]

# In standard deviations of the prediction: smaller differences change no story.
_DIFFERS = 0.1
# Share of the importance that one measure gives and the other does not.
_SHARE_DIFFERS = 0.1


@dataclass(frozen=True, kw_only=True)
class ColumnAgreement:
    """What the methods say about one column.

    Parameters
    ----------
    column
        Its name.
    pdp_ale
        How far partial dependence and accumulated local effect differ: root mean square over the
        data, in standard deviations of the prediction; 0 where chance explains it.
    interventional_observational
        The same for partial dependence and the mean of those who have the value.
    impurity, permutation
        Shares of importance by either measure; None where there are no trees or no target.
    goes_with
        Columns it depends on, with the strength from 0 to 1.
    interacts_with
        The column that its curves depend on most; None where they are nearly parallel.
    interaction
        How far individual curves differ in shape, in standard deviations of the prediction.
    extrapolates
        The share of the grid at which the partial dependence asks about rows outside the data.
    """

    column: str
    pdp_ale: float
    interventional_observational: float
    impurity: float | None
    permutation: float | None
    goes_with: tuple[tuple[str, float], ...]
    interacts_with: str | None
    interaction: float
    extrapolates: float

    @property
    def agrees(self) -> bool:
        """Whether all methods tell the same story."""
        return not self.stories

    @property
    def curves_differ(self) -> bool:
        """Whether partial dependence and accumulated local effect differ."""
        return self.pdp_ale > _DIFFERS

    @property
    def is_proxy(self) -> bool:
        """Whether rows with different values also differ in other columns that matter."""
        return self.interventional_observational > _DIFFERS

    @property
    def stories(self) -> tuple[str, ...]:
        """The comparisons that differ."""
        found = []
        if self.curves_differ:
            found.append("pdp against ale")
        if self.is_proxy:
            found.append("interventional against observational")
        if _shares_differ(self.impurity, self.permutation):
            found.append("impurity against permutation")
        return tuple(found)

    @property
    def words(self) -> str:
        """What differs and why, in a sentence."""
        if self.agrees:
            return f"{self.column}: all methods tell the same story"
        why = self._reasons()
        reason = f"; likely because {' and '.join(why)}" if why else "; no reason was found"
        return f"{self.column}: {' and '.join(self._differences())}{reason}"

    def _differences(self) -> list[str]:
        told = []
        if self.pdp_ale > _DIFFERS:
            told.append(
                f"partial dependence and accumulated local effect differ by {self.pdp_ale:.2f} "
                "standard deviations of the prediction"
            )
        if self.interventional_observational > _DIFFERS:
            told.append(
                "the model's own effect and the mean of those who have the value differ by "
                f"{self.interventional_observational:.2f}"
            )
        if _shares_differ(self.impurity, self.permutation):
            told.append(
                f"impurity gives it {self.impurity:.0%} of the importance, permutation "
                f"{self.permutation:.0%}"
            )
        return told

    def _reasons(self) -> list[str]:
        why = []
        if self.goes_with:
            listed = ", ".join(f"{name!r} ({strength:.2f})" for name, strength in self.goes_with)
            why.append(f"it goes with {listed}")
        if self.interacts_with is not None:
            why.append(f"it interacts with {self.interacts_with!r}")
        if self.extrapolates > 0:
            why.append(f"{self.extrapolates:.0%} of its grid extrapolates")
        if not why and "impurity against permutation" in self.stories:
            why.append(
                "impurity favours columns with many values and counts what was learned by heart"
            )
        return why


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """What the methods say about every column, the largest difference first.

    Made by `clearwood.agreement`.

    Parameters
    ----------
    columns
        One entry per column.
    model
        The model in words.
    n_rows
        How many rows were used.
    notes
        What was not compared, and why.
    """

    columns: tuple[ColumnAgreement, ...]
    model: str
    n_rows: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, column: str) -> ColumnAgreement:
        """Give the entry of one column."""
        return next(entry for entry in self.columns if entry.column == column)

    def __repr__(self) -> str:
        differing = [entry for entry in self.columns if not entry.agrees]
        if not differing:
            return f"Agreement: all methods tell the same story of {len(self.columns)} columns"
        lines = [f"  {entry.words}" for entry in differing[:10]]
        head = f"Agreement: stories differ for {len(differing)} of {len(self.columns)} columns"
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
        return html_table("Where methods tell different stories", headings, rows, self.notes)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per column, the largest difference first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        made = self.columns
        return frame(
            {
                "column": [entry.column for entry in made],
                "pdp_ale": np.array([entry.pdp_ale for entry in made]),
                "interventional_observational": np.array(
                    [entry.interventional_observational for entry in made]
                ),
                "impurity": np.array([_number(entry.impurity) for entry in made]),
                "permutation": np.array([_number(entry.permutation) for entry in made]),
                "interaction": np.array([entry.interaction for entry in made]),
                "extrapolates": np.array([entry.extrapolates for entry in made]),
                "words": [entry.words for entry in made],
            },
            library,
        )

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "columns": [
                    {**vars(entry), "words": entry.words, "stories": entry.stories}
                    for entry in self.columns
                ],
                "model": self.model,
                "rows": self.n_rows,
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


def _number(value: float | None) -> float:
    return np.nan if value is None else value
