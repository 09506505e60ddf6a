"""How much each column matters to a model, and each component to the variance of predictions."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import ImportanceKind
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.frames import frame
from clearwood._shared.numbers import IN_TABLES, interval, number, percent
from clearwood._shared.results import Result, document, html_table
from clearwood.explanation.results.about import About, rows_used
from clearwood.fitted import Unit

__all__ = ["TITLES", "ComponentVariances", "Importance", "Interactions", "joined"]


def joined(columns: tuple[str, ...]) -> str:
    """Name a component.

    Examples
    --------
    >>> joined(("age", "power"))
    'age × power'
    """
    return " × ".join(columns)


def _shares(variance: Floats, remainder: Any) -> Floats:
    """Divide variances, the remainder's last, by their sum; where that is zero so are shares."""
    whole = np.concatenate([variance, np.asarray(remainder)[..., None]], axis=-1)
    total = whole.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(whole, total, out=np.zeros_like(whole), where=total > 0))


@dataclass(frozen=True, eq=False)
class ComponentVariances:
    """The variance of every component over the background, and shares of it by column.

    A share is a part of the sum of all components' variances, the remainder's included; shares of
    components and the remainder's add up to one. The sum equals the variance of the prediction if
    the columns are independent. Where they are not, the components are correlated and the two
    differ: both are given.

    Parameters
    ----------
    columns
        The user's columns.
    components
        The set of columns of each component.
    variance
        Of each component, of shape (components, outputs).
    remainder
        Variance of what lies beyond the order of the decomposition, of shape (outputs,).
    prediction
        Variance of the prediction, of shape (outputs,).
    replicates
        None where everything is exact. Else the variances of the components and, last, of the
        remainder with groups of rows left out, from which the standard errors follow.
    """

    columns: tuple[str, ...]
    components: tuple[tuple[str, ...], ...]
    variance: Floats
    remainder: Floats
    prediction: Floats
    replicates: Floats | None = None

    @property
    def share(self) -> Floats:
        """Of each component, its variance over the sum of all."""
        return _shares(self.variance.sum(axis=-1), self.remainder.sum())[:-1]

    @property
    def of_prediction(self) -> float:
        """The sum of all components' variances over the variance of the prediction.

        One where columns are independent. Above one, components pull in opposite directions: the
        share of a component of the variance of the prediction is its `share` times this.
        """
        total = float(self.variance.sum() + self.remainder.sum())
        whole = float(self.prediction.sum())
        return total / whole if whole > 0 else 1.0

    @property
    def remainder_share(self) -> float:
        """The share of what lies beyond the order of the decomposition."""
        return float(_shares(self.variance.sum(axis=-1), self.remainder.sum())[-1])

    @property
    def main(self) -> Floats:
        """For each column, the share of its main effect."""
        return self.share @ self._members(alone=True, together=False)

    @property
    def interaction(self) -> Floats:
        """For each column, the share of all interactions it takes part in."""
        return self.share @ self._members(alone=False, together=True)

    @property
    def total(self) -> Floats:
        """For each column, the share of all components it takes part in."""
        return self.share @ self._members(alone=True, together=True)

    @property
    def share_errors(self) -> Floats | None:
        """Standard errors of ``share``; None where it is exact."""
        return self._errors(np.eye(len(self.components)))

    @property
    def main_errors(self) -> Floats | None:
        """Standard errors of ``main``; None where it is exact."""
        return self._errors(self._members(alone=True, together=False))

    @property
    def total_errors(self) -> Floats | None:
        """Standard errors of ``total``; None where it is exact."""
        return self._errors(self._members(alone=True, together=True))

    def _members(self, *, alone: bool, together: bool) -> Floats:
        """Return the matrix that adds up shares of components by column: (components, columns)."""
        result = np.zeros((len(self.components), len(self.columns)))
        position = {name: k for k, name in enumerate(self.columns)}
        for at, names in enumerate(self.components):
            if (len(names) == 1 and alone) or (len(names) > 1 and together):
                result[at, [position[name] for name in names]] = 1.0
        return result

    def _errors(self, added: Floats) -> Floats | None:
        if self.replicates is None:
            return None
        summed = self.replicates.sum(axis=-1)
        return _jackknife_errors(_shares(summed[:, :-1], summed[:, -1])[:, :-1] @ added)

    def interactions(self, about: About) -> "Interactions":
        """Return the components of two and more columns, largest variance first."""
        variance, share, errors = self.variance.sum(axis=1), self.share, self.share_errors
        several = [k for k, names in enumerate(self.components) if len(names) > 1]
        order = sorted(several, key=lambda k: (-variance[k], k))
        return Interactions(
            components=tuple(self.components[k] for k in order),
            variance=variance[order],
            share=share[order],
            about=about,
            share_errors=None if errors is None else errors[order],
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "columns": [
                    {"column": name, "main": main, "interaction": interaction, "total": total}
                    for name, main, interaction, total in zip(
                        self.columns, self.main, self.interaction, self.total, strict=True
                    )
                ],
                "components": [
                    {"columns": names, "variance": variance, "share": share}
                    for names, variance, share in zip(
                        self.components, self.variance, self.share, strict=True
                    )
                ],
                "remainder": {"variance": self.remainder, "share": self.remainder_share},
                "prediction": {"variance": self.prediction},
                "standard_errors": None
                if self.replicates is None
                else {
                    "share": self.share_errors,
                    "main": self.main_errors,
                    "total": self.total_errors,
                },
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Result):
    """Components of two and more columns, the largest variance first.

    Made by `Decomposition.interactions`. Its frame has one row per interaction.

    Parameters
    ----------
    components
        The sets of columns.
    variance
        Of each component, summed over outputs.
    share
        Of the sum of all components' variances, main effects and remainder included.
    about
        Value function, background and scale.
    share_errors
        Standard errors of ``share``; None where it is exact.
    """

    components: tuple[tuple[str, ...], ...]
    variance: Floats
    share: Floats
    about: About
    share_errors: Floats | None = None

    def __len__(self) -> int:
        return len(self.components)

    def __repr__(self) -> str:
        if not self.components:
            return f"No interactions ({self.about})"
        best = ", ".join(
            f"{joined(names)} {percent(share)}"
            for names, share in zip(self.components[:5], self.share[:5], strict=True)
        )
        return f"{len(self.components)} interactions (shares of variance): {best} ({self.about})"

    def _repr_html_(self) -> str:
        rows = [
            (joined(names), percent(share))
            for names, share in zip(self.components[:30], self.share[:30], strict=True)
        ]
        return html_table(f"Interactions ({self.about})", ("columns", "share of variance"), rows)

    def _columns(self) -> dict[str, Any]:
        result: dict[str, Any] = {
            "component": [joined(names) for names in self.components],
            "order": np.array([len(names) for names in self.components], np.int64),
            "variance": self.variance,
            "share": self.share,
        }
        if self.share_errors is not None:
            result["standard error"] = self.share_errors
        return result

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "components": [
                    {"columns": names, "variance": variance, "share": share}
                    for names, variance, share in zip(
                        self.components, self.variance, self.share, strict=True
                    )
                ],
                "standard_errors": self.share_errors,
                "about": self.about.to_json(),
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw bars, the largest interactions first (Altair)."""
        from clearwood.plot import plot_interactions

        return plot_interactions(self, **options)


def _jackknife_errors(replicates: Floats) -> Floats:
    """Compute standard errors from values with each group left out: (2 · groups, ...) to (...).

    One half leaves out groups of the rows that are measured, the other groups of the rows that are
    averaged over; the draws of both add up.
    """
    n_groups = len(replicates) // 2
    total = np.zeros(replicates.shape[1:])
    for half in (replicates[:n_groups], replicates[n_groups:]):
        total += (n_groups - 1) / n_groups * ((half - half.mean(axis=0)) ** 2).sum(axis=0)
    return np.sqrt(total)


TITLES: dict[str, str] = {
    "components": "Shares of variance",
    "permutation": "Permutation importance",
    "impurity": "Impurity importance",
    "variance": "Variance of main effects",
    "shapley": "Mean absolute Shapley value",
    "loco": "Leave-one-column-out importance",
    "coefficients": "Standardised coefficients",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Importance(Result):
    """One number per column (or group of columns), with an interval.

    Made by `clearwood.importance` and by the methods of what `clearwood.explain` returns.

    Parameters
    ----------
    kind
        The method.
    columns
        The user's columns, or names of groups, in their own order.
    values
        How much each matters, in the unit of ``measure``.
    low, high
        The interval of each; NaN where there is none, and equal to the value where it is exact.
    confidence
        The coverage that the intervals aim at.
    measure
        What the numbers are, in words.
    model
        The kind of model, in words.
    unit
        What the predictions that were compared are.
    n_rows
        How many rows were used.
    n_data
        How many rows the data has, where fewer were used; None where all were.
    n_zero_weight
        How many further rows have a weight of zero and are left out.
    is_sampled
        Whether the numbers are estimated from drawn rows or coalitions.
    variances
        For "components": the variance of every component, from which the shares follow.
    about
        For "components": value function, background and scale.
    notes
        When the numbers mislead, and what else the reader should know.
    """

    kind: ImportanceKind
    columns: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    confidence: float
    measure: str
    model: str
    unit: Unit
    n_rows: int
    n_data: int | None = None
    n_zero_weight: int = 0
    is_sampled: bool = False
    variances: ComponentVariances | None = None
    about: About | None = None
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> Index:
        """The columns' positions, the most important first."""
        return np.argsort(-np.abs(self.values), kind="stable")

    @property
    def title(self) -> str:
        """What it shows, in words."""
        return TITLES[self.kind]

    def __getitem__(self, column: str) -> float:
        """Return the value of one column."""
        return float(self.values[self.columns.index(column)])

    # Shares of components

    @property
    def _variances(self) -> ComponentVariances:
        if self.variances is None:
            raise InputError(
                f"{TITLES[self.kind].lower()} has no shares of components",
                parameter="kind",
                value=self.kind,
                hint=words("use ", Option("kind", "components"), "."),
            )
        return self.variances

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The set of columns of each component."""
        return self._variances.components

    @property
    def share(self) -> Floats:
        """Of each component, its variance over the sum of all."""
        return self._variances.share

    @property
    def remainder_share(self) -> float:
        """The share of what lies beyond the order of the decomposition."""
        return self._variances.remainder_share

    @property
    def share_errors(self) -> Floats | None:
        """Standard errors of ``share``; None where it is exact."""
        return self._variances.share_errors

    @property
    def main_errors(self) -> Floats | None:
        """Standard errors of ``main``; None where it is exact."""
        return self._variances.main_errors

    @property
    def total_errors(self) -> Floats | None:
        """Standard errors of ``total``; None where it is exact."""
        return self._variances.total_errors

    @property
    def main(self) -> Floats:
        """For each column, the share of its main effect."""
        return self._variances.main

    @property
    def interaction(self) -> Floats:
        """For each column, the share of all interactions it takes part in."""
        return self._variances.interaction

    @property
    def total(self) -> Floats:
        """For each column, the share of all components it takes part in."""
        return self._variances.total

    def interactions(self) -> Interactions:
        """Return the components of two and more columns, largest variance first."""
        variances = self._variances
        assert self.about is not None
        return variances.interactions(self.about)

    # How it is shown and kept

    def __repr__(self) -> str:
        best = ", ".join(f"{self.columns[k]} {self._written(k)}" for k in self.order[:8])
        beyond = ""
        if self.variances is not None and self.variances.remainder.any():
            beyond = f"; beyond the order {percent(self.remainder_share)}"
        how = f"{self.about}" if self.about is not None else rows_used(self.n_rows, self.n_data)
        return f"{self.title} ({self.measure}): {best}{beyond} ({how})"

    def _written(self, k: int) -> str:
        if self.kind == "components":
            return percent(float(self.values[k]))
        return number(float(self.values[k]))

    def _repr_html_(self) -> str:
        if self.variances is not None:
            rows = [
                (
                    self.columns[k],
                    percent(self.main[k]),
                    percent(self.interaction[k]),
                    percent(self.total[k]),
                )
                for k in self.order[:30]
            ]
            return html_table(repr(self), ("column", "main", "interaction", "total"), rows)
        rows_of = [
            (
                self.columns[k],
                number(self.values[k], IN_TABLES),
                interval(self.low[k], self.high[k], IN_TABLES),
            )
            for k in self.order[:30]
        ]
        headings = ("column", self.measure, f"{percent(self.confidence)} interval")
        return html_table(self.title, headings, rows_of, self.notes)

    def to_frame(
        self, library: str | None = None, *, by: Literal["column", "component"] = "column"
    ) -> Any:
        """Return one row per column, or per component, the most important first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        by
            "component" gives the variance and the share of each component.
        """
        if by == "component":
            return frame(self._by_component(), library)
        order = self.order
        columns: dict[str, Any] = {
            "column": [self.columns[k] for k in order],
            "importance": self.values[order],
            "low": self.low[order],
            "high": self.high[order],
        }
        if self.variances is not None:
            columns["main"] = self.main[order]
            columns["interaction"] = self.interaction[order]
            if self.total_errors is not None:
                columns["standard error"] = self.total_errors[order]
        return frame(columns, library)

    def _by_component(self) -> dict[str, Any]:
        variances = self._variances
        order = np.argsort(-variances.share, kind="stable")
        columns: dict[str, Any] = {
            "component": [joined(variances.components[k]) for k in order],
            "order": np.array([len(variances.components[k]) for k in order], np.int64),
            "variance": variances.variance.sum(axis=1)[order],
            "share": variances.share[order],
        }
        if variances.share_errors is not None:
            columns["standard error"] = variances.share_errors[order]
        return columns

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "kind": self.kind,
                "measure": self.measure,
                "columns": [
                    {"column": name, "importance": value, "low": low, "high": high}
                    for name, value, low, high in zip(
                        self.columns, self.values, self.low, self.high, strict=True
                    )
                ],
                "confidence": self.confidence,
                "model": self.model,
                "unit": str(self.unit),
                "rows": self.n_rows,
                "rows_of_data": self.n_data,
                "n_zero_weight": self.n_zero_weight,
                "sampled": self.is_sampled,
                "variances": None if self.variances is None else self.variances.to_json(),
                "about": None if self.about is None else self.about.to_json(),
                "notes": self.notes,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw bars with their intervals, the most important first (Altair)."""
        from clearwood.plot import plot_importance

        return plot_importance(self, **options)
