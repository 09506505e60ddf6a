"""A direct effect: contrasts with bands, extrapolated pairs, and the conditions it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.choices import Claim, Gaps
from clearwood._shared.errors import Option, words
from clearwood._shared.frames import unique_name
from clearwood._shared.numbers import IN_TABLES, cell, count, interval, number, percent
from clearwood._shared.results import Result, document, html_table
from clearwood.causal.direct.conditions import Condition
from clearwood.explanation import About, Unit
from clearwood.table import gaps_listed

__all__ = ["DirectEffect"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DirectEffect(Result):
    """The average natural direct effect of columns, as contrasts with the first of some values.

    Parameters
    ----------
    columns
        The columns that are set.
    others
        The other features, which stay as they are.
    at
        The values of each column, one for each contrast; the first is the reference.
    effect
        By how much the mean prediction differs from that at the reference: (values,) or, with
        several classes, (values, classes).
    means
        The mean prediction at each value: the partial dependence.
    low, high
        The band of the effect; NaN where it is the same for every row and no model was fitted
        again, so that nothing shows how exact it is.
    standard_errors
        Of the effect; NaN where there is no band.
    confidence
        The coverage that the band aims at, at each value.
    band
        What the band shows: how far the effect could move with other "rows", for this model, or
        with other training data, by models fitted again ("refits").
    n_refits
        How many models were fitted again.
    outside
        At each value the share of rows that lie outside the data once the columns are set: pairs
        of a value and of the other columns at which the model extrapolates.
    conditions
        What must hold for a causal reading; each holds, fails or is not checked.
    claim
        "model" for the effect on the prediction, "world" for that on the target.
    target
        The target, where it is known.
    about
        Model, value function, background and scale.
    n_rows
        How many rows were averaged over.
    n_data
        How many rows the data has, where fewer were averaged over; None where all were.
    seed
        Fixes what was drawn.
    gaps
        What became of rows with gaps: "fill" for the model as it was, "complete" for a model of
        the complete rows only, "impute" for models of tables whose gaps are filled by draws.
    gap_shares
        The share of the rows in which features are missing, for those that have gaps.
    n_imputations
        How many imputed tables there are; None where none was imputed.
    """

    columns: tuple[str, ...]
    others: tuple[str, ...]
    at: Mapping[str, tuple[Any, ...]]
    effect: Floats
    means: Floats
    low: Floats
    high: Floats
    standard_errors: Floats
    confidence: float
    band: Literal["rows", "refits"]
    n_refits: int
    outside: Floats
    conditions: tuple[Condition, ...]
    claim: Claim
    target: str | None
    about: About
    n_rows: int
    n_data: int | None = None
    seed: int = 0
    gaps: Gaps = "fill"
    gap_shares: Mapping[str, float] = field(default_factory=dict)
    n_imputations: int | None = None

    @property
    def unit(self) -> Unit:
        """What the numbers are."""
        return self.about.unit

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.about.outputs

    @property
    def reference(self) -> dict[str, Any]:
        """The value of each column that the others are compared with."""
        return {name: values[0] for name, values in self.at.items()}

    @property
    def ratios(self) -> Floats:
        """The mean prediction at each value over that at the reference; NaN where that is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.means[:1] == 0, np.nan, self.means / self.means[:1])

    @property
    def holds(self) -> bool | None:
        """Whether all conditions hold: False where one fails, None where one is not checked."""
        states = [condition.holds for condition in self.conditions]
        if False in states:
            return False
        return None if None in states else True

    @property
    def outside_share(self) -> float:
        """The share of all pairs at which the model extrapolates, values counting the same."""
        return float(np.mean(self.outside))

    @property
    def has_band(self) -> Bools:
        """At which contrasts there is a band: (values - 1,), or with several classes one each."""
        return np.asarray(np.isfinite(self.standard_errors[1:]))

    @property
    def title(self) -> str:
        """What it is, in words."""
        names = " and ".join(self.columns)
        whose = self.about.rate or self.target
        if self.claim == "world":
            return f"Direct effect of {names} on {whose}"
        return f"Direct effect of {names} on the prediction" + (f" of {whose}" if whose else "")

    def _places(self) -> list[str]:
        """Return the values of each contrast, written."""
        rows = zip(*self.at.values(), strict=True)
        return [", ".join(_written(value) for value in row) for row in rows]

    @property
    def statements(self) -> tuple[str, ...]:
        """What the reader should know: the band, extrapolation and conditions."""
        rows = "" if self.n_data is None else f" of {self.n_data:,}"
        about = f"averaged over {self.n_rows:,}{rows} rows; {self.about.quantity}"
        source = "how far the effect could move with other rows, for this model as it is"
        if self.n_refits:
            source = f"{count(self.n_refits, 'model')} fitted to resampled rows"
        if self.n_imputations is not None:
            source += f", and over {count(self.n_imputations, 'imputed table')} (seed {self.seed})"
        band = f"{percent(self.confidence)} bands show {source}"
        if not self.has_band.any():
            band = str(
                words(
                    "the effect is the same for every row, so other rows would not move it; ",
                    Option("n_refits", 100),
                    " gives a band of models fitted again",
                )
            )
        elif not self.has_band.all():
            band += "; there is none where the effect is the same for every row"
        rests_on_fill = self.gap_shares and self.gaps == "fill"
        filled = (_filled(self.gap_shares),) if rests_on_fill else ()
        outside = (
            f"at {percent(self.outside_share)} of the pairs of a value and a row the model "
            "extrapolates"
        )
        return (about, band, outside, *filled, *(str(condition) for condition in self.conditions))

    def _table(self) -> list[tuple[str, ...]]:
        """Return one line for each contrast and output."""
        several = len(self.outputs) > 1
        lines: list[tuple[str, ...]] = []
        for k, place in enumerate(self._places()):
            for j, output in enumerate(self.outputs):
                at = (k, j) if several else (k,)
                named = f"{place}: {output}" if several else place
                if k == 0:
                    shown = ("reference", "")
                else:
                    ends = ""
                    if np.isfinite(self.standard_errors[at]):
                        ends = interval(self.low[at], self.high[at])
                    shown = (number(self.effect[at], IN_TABLES), ends)
                lines.append(
                    (named, number(self.means[at], IN_TABLES), *shown, percent(self.outside[k]))
                )
        return lines

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(len(row[c]) for row in table) for c in range(3)]
        lines = [f"{self.title}, compared with {self._places()[0]}"]
        for name, mean, effect, band, outside in table[:40]:
            ends = f"  ({band})" if band else ""
            lines.append(
                f"  {name:<{widths[0]}}  mean {mean:>{widths[1]}}  {effect:>{widths[2]}}{ends}"
                f"  {outside} outside the data"
            )
        if len(table) > 40:
            lines.append(f"  … {len(table)} in all")
        return "\n".join([*lines, *self.statements])

    def _repr_html_(self) -> str:
        headings = (" and ".join(self.columns), "mean", "effect", "band", "outside the data")
        return html_table(self.title, headings, self._table(), self.statements)

    def _columns(self) -> Mapping[str, Any]:
        """Return one row for each value and output."""
        several = len(self.outputs) > 1
        n_outputs = len(self.outputs)
        taken = list(self.at)
        result: dict[str, Any] = {
            name: [value for value in values for _ in range(n_outputs)]
            for name, values in self.at.items()
        }
        if several:
            result[unique_name("output", taken)] = list(self.outputs) * len(self.outside)
        numbers = {
            "mean": self.means,
            "effect": self.effect,
            "low": self.low,
            "high": self.high,
            "standard error": self.standard_errors,
            "ratio": self.ratios,
            "outside": np.repeat(self.outside, n_outputs),
        }
        for name, values in numbers.items():
            result[unique_name(name, taken)] = np.asarray(values).ravel()
        return result

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "columns": self.columns,
                "others": self.others,
                "at": self.at,
                "reference": self.reference,
                "effect": self.effect,
                "means": self.means,
                "ratios": self.ratios,
                "low": self.low,
                "high": self.high,
                "standard_errors": self.standard_errors,
                "confidence": self.confidence,
                "band": self.band,
                "n_refits": self.n_refits,
                "outside": self.outside,
                "outside_share": self.outside_share,
                "claim": self.claim,
                "target": self.target,
                "conditions": [condition.to_json() for condition in self.conditions],
                "holds": self.holds,
                "about": self.about.to_json(),
                "rows": self.n_rows,
                "rows_of_data": self.n_data,
                "seed": self.seed,
                "gaps": self.gaps,
                "gap_shares": self.gap_shares,
                "imputed_tables": self.n_imputations,
            }
        )

    def plot(self) -> Any:
        """Draw each contrast with its band (Altair)."""
        from clearwood.plot import plot_direct_effect

        return plot_direct_effect(self)


def _filled(shares: Mapping[str, float]) -> str:
    """Say that the effect rests on filled gaps, and what to do."""
    return str(
        words(
            f"{gaps_listed(shares)}: there the effect is not adjusted for what is missing; ",
            Option("gaps", "complete"),
            " uses complete rows, and ",
            Option("gaps", "impute"),
            " fills gaps by draws",
        )
    )


def _written(value: Any) -> str:
    """Write a value: numbers with few digits, levels as they are."""
    return cell(float(value)) if isinstance(value, int | float) else str(value)
