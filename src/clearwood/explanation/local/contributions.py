"""Linear models read as sums: what each column adds to a prediction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.frames import unique_name
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result, html_table
from clearwood._shared.rounding import without_rounding
from clearwood.explanation.decomposition.decompose import chosen_output
from clearwood.explanation.games.products import as_additive
from clearwood.fitted import Unit
from clearwood.table import Column

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["Contributions", "contributions", "linear_terms", "standardised"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contributions(Result):
    """What each column adds to the prediction of each row of a linear model.

    Made by `clearwood.contributions`. Its frame has the constant, what each column adds and the
    total of each row.

    Parameters
    ----------
    columns
        The user's columns.
    rows
        Labels of the rows.
    values
        What each column adds, of shape (rows, columns).
    constant
        What a row with all columns at zero has; for learners at the encoder's zero, the mean of
        numbers and the reference level, and for pipelines at the zero of the last step's matrix.
    unit
        What is added up: "log odds", "prediction", ...
    output, model
        Names of the output and the model.
    """

    columns: tuple[str, ...]
    rows: NDArray[Any]
    values: Floats
    constant: float
    unit: Unit
    output: str
    model: str
    _derived = ("total",)

    @property
    def total(self) -> Floats:
        """The sum for each row: the constant and everything added."""
        result: Floats = self.constant + self.values.sum(axis=1)
        return result

    @property
    def probability(self) -> Floats:
        """The probability that log odds mean."""
        from scipy.special import expit

        if self.unit is not Unit.LOG_ODDS:
            raise InputError(f"the sum is a {self.unit}, not log odds")
        return np.asarray(expit(self.total))

    def __repr__(self) -> str:
        n_rows = count(len(self.rows), "row")
        head = f"Contributions ({self.unit}) to {n_rows}: constant {number(self.constant)}"
        if len(self.rows) > 1:
            return head
        parts = ", ".join(f"{name} {value}" for name, value in self._written())
        return f"{head}, {parts}; total {number(float(self.total[0]))}"

    def _repr_html_(self) -> str:
        if len(self.rows) > 1:
            return html_table(repr(self), ("",), ())
        rows = [
            ("constant", f"{self.constant:+.4g}"),
            *self._written(),
            ("total", f"{float(self.total[0]):+.4g}"),
        ]
        return html_table(f"Contributions, {self.unit}", ("column", "adds"), rows)

    def _written(self) -> list[tuple[str, str]]:
        """Write what each column adds to the first row."""
        values = self.without_rounding().values[0]
        return [
            (name, f"{value:+.4g}" if value else "0")
            for name, value in zip(self.columns, values, strict=True)
        ]

    def without_rounding(self) -> "Contributions":
        """Return the same with zero for terms that rounding alone left, as it is shown.

        They are tiny compared with the sum of the row's constant and terms.
        """
        return replace(self, values=without_rounding(self.values, self.constant, axis=1))

    def _columns(self) -> dict[str, Any]:
        taken = list(self.columns)
        result: dict[str, Any] = {unique_name("row", taken): self.rows}
        result[unique_name("constant", taken)] = np.full(len(self.rows), self.constant)
        result |= {name: self.values[:, k] for k, name in enumerate(self.columns)}
        result[unique_name("total", taken)] = self.total
        return result

    def plot(self, **options: Any) -> Any:
        """Draw what each column adds to one row (Altair)."""
        from clearwood.plot import plot_contributions

        return plot_contributions(self, **options)


def contributions(self: "Explanation", rows: Any = None, *, output: Any = None) -> Contributions:
    """Compute what each column adds to the prediction of rows, for a linear model.

    The parameters are those of `clearwood.contributions` without model and data.
    """
    return linear_terms(self, rows, output=output)[0]


def linear_terms(
    explanation: "Explanation", rows: Any = None, *, output: Any = None
) -> tuple[Contributions, tuple[Column, ...]]:
    """Read a linear or additive model as a sum over columns; return also the columns' values."""
    game = explanation.game
    additive = as_additive(game)
    if additive is None:
        raise InputError(
            f"{game.kind} is not a sum over its columns",
            parameter="model",
            hint="coefficients and contributions are for linear models; use Shapley values.",
        )
    read = explanation.rows(rows)
    codes = read.codes if additive is game else additive.own_codes(read).codes
    output = explanation.output if output is None else output
    at = range(len(game.outputs))[chosen_output(game, output)]
    if len(at) > 1:
        raise InputError(
            f"the model has {len(at)} outputs",
            parameter="output",
            hint=words("choose one: ", Option("output", game.outputs[0]), "."),
        )
    terms = Contributions(
        columns=game.columns,
        rows=read.labels,
        values=additive.terms(codes)[:, :, at[0]],
        constant=float(additive.constant[at[0]]),
        unit=game.unit,
        output=game.outputs[at[0]],
        model=game.kind,
    )
    return terms, read.columns


def standardised(terms: Floats, columns: Sequence[Column], weights: Floats) -> Floats:
    """Compute the spread of each column's terms, signed by the slope for numbers."""
    mean = np.average(terms, axis=0, weights=weights)
    spread: Floats = np.sqrt(np.average((terms - mean) ** 2, axis=0, weights=weights))
    for k, column in enumerate(columns):
        if column.is_coded or column.values.dtype.kind != "f":
            continue
        known = np.isfinite(column.values) & (weights > 0)
        if known.any():
            at, weight = column.values[known], weights[known]
            slope = weight @ ((at - np.average(at, weights=weight)) * terms[known, k])
            spread[k] *= -1.0 if slope < 0 else 1.0
    return spread
