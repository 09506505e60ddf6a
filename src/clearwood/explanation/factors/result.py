"""The table of factors: what it holds, how it predicts and how it is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result, document
from clearwood.explanation.factors.cells import Axis
from clearwood.explanation.scales import Unit
from clearwood.table import Schema, Table, as_table

__all__ = ["FactorLosses", "FactorTerm", "Factors"]

_RATIOS = {Unit.LOG_MEAN: "relativity", Unit.LOG_ODDS: "odds ratio"}


@dataclass(frozen=True, eq=False)
class FactorTerm:
    """What one column, or two together, add to the score of the base.

    Parameters
    ----------
    axes
        The cells of each column.
    effects
        What is added in each cell; zero in the base, NaN where the model does not take a missing
        value.
    shares
        The share of the weight in each cell.
    slope, origin
        Of a column in which the score is a straight line: what one unit more adds, and the number
        at which nothing is added.
    """

    axes: tuple[Axis, ...]
    effects: Floats
    shares: Floats
    slope: float = 0.0
    origin: float = 0.0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(axis.column for axis in self.axes)

    def of(self, table: Table) -> Floats:
        """Return what is added to each row."""
        own = [table.column(axis.column) for axis in self.axes]
        places = tuple(a.places(c) for a, c in zip(self.axes, own, strict=True))
        added = self.effects[places]
        if self.slope:
            added = added + np.where(
                own[0].missing, 0.0, self.slope * (own[0].values - self.origin)
            )
        return np.asarray(added)

    def cells(self) -> Iterator[tuple[int, ...]]:
        """List the cells that the model takes."""
        for cell in product(*(range(size) for size in self.effects.shape)):
            if not np.isnan(self.effects[cell]):
                yield cell


@dataclass(frozen=True)
class FactorLosses(Result):
    """The mean loss of the model and of the table, on the rows of the data.

    Parameters
    ----------
    name
        What it is called.
    model, table
        The mean losses.
    """

    name: str
    model: float
    table: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Factors(Result):
    """A model as a table: a base value, and what each cell of a column does to it.

    Made by `clearwood.factors`. With a log link, the prediction is the base value times the
    relativities of the cells that a row lies in; for log odds, the base odds times odds ratios;
    otherwise differences are added.

    Parameters
    ----------
    base
        The cell of each column that others are compared with: a level, or a number in it.
    base_score
        The score of the base, before the link.
    terms
        First those of one column, then those of two.
    unit
        What the effects add up to.
    outcome
        What is predicted.
    model
        The learner.
    banded
        Columns whose curve or steps are replaced by fewer cells: there the table is an
        approximation.
    largest_difference
        To the model's prediction, over all rows of the data and ``n_mixed`` others: relative to it
        where the link is the log, else absolute.
    is_exact
        Whether no column is approximated, and the effects add up to the model's score in double
        precision, up to rounding, in all rows that were compared.
    n_rows, n_mixed
        Rows of the data that were compared, and rows put together at random from its columns.
    losses
        What the approximation costs on the data; None where the data has no target.
    """

    base: Mapping[str, Any]
    base_score: float
    terms: tuple[FactorTerm, ...]
    unit: Unit
    outcome: str
    model: str
    banded: tuple[str, ...]
    largest_difference: float
    is_exact: bool
    n_rows: int
    n_mixed: int
    losses: FactorLosses | None
    _schema: Schema

    @property
    def base_value(self) -> float:
        """The prediction for the base."""
        return float(self._linked(np.array([self.base_score]))[0])

    @property
    def ratio_name(self) -> str | None:
        """What the exponential of an effect is called; None where effects are differences."""
        return _RATIOS.get(self.unit)

    def score(self, data: Any) -> Floats:
        """Return the sum of the base score and the effects, before the link."""
        table = as_table(data, schema=self._schema)
        total = np.full(table.n_rows, self.base_score)
        for term in self.terms:
            total += term.of(table)
        return total

    def predict(self, data: Any) -> Floats:
        """Predict from the table; for classes, the probability of the second one.

        NaN where a value is missing that the model does not take.
        """
        return self._linked(self.score(data))

    def _linked(self, score: Floats) -> Floats:
        if self.unit is Unit.LOG_MEAN:
            return np.exp(score)
        if self.unit is Unit.LOG_ODDS:
            return np.asarray(1 / (1 + np.exp(-score)))
        return score

    def to_sql(self, *, table: str = "data") -> str:
        """Write one SELECT that predicts every row of a table.

        Parameters
        ----------
        table
            The name of the table.
        """
        from clearwood.explanation.factors.sql import select

        return select(self, table)

    def lines(self) -> list[dict[str, Any]]:
        """Return one line for the base and one for each cell."""
        empty = dict.fromkeys(f"{name}{k}" for k in ("", "_2") for name in _CELL)
        ratio = self.ratio_name
        first = {**empty, "effect": self.base_score, "per_unit": None, "origin": None}
        lines = [{**first, "relativity": np.exp(self.base_score), "share": None}]
        for term in self.terms:
            for cell in term.cells():
                line = dict(empty)
                for k, (axis, at) in enumerate(zip(term.axes, cell, strict=True)):
                    line |= {name + ("_2" if k else ""): v for name, v in _cell(axis, at).items()}
                effect, slope = float(term.effects[cell]), term.slope
                line |= {"effect": effect, "per_unit": None, "origin": None}
                if slope and cell[0] < term.axes[0].n_known:
                    line |= {"per_unit": slope, "origin": term.origin}
                lines.append(
                    {**line, "relativity": np.exp(effect), "share": float(term.shares[cell])}
                )
        if ratio is None:
            for line in lines:
                del line["relativity"]
        return lines

    def _columns(self) -> Mapping[str, Any]:
        lines = self.lines()
        return {name: [line[name] for line in lines] for name in lines[0]}

    def to_json(self) -> dict[str, Any]:
        """Return the table and the check as plain JSON values."""
        return document(
            {
                "model": self.model,
                "outcome": self.outcome,
                "unit": str(self.unit),
                "base": dict(self.base),
                "base_score": self.base_score,
                "base_value": self.base_value,
                "lines": self.lines(),
                "check": {
                    "exact": self.is_exact,
                    "largest_difference": self.largest_difference,
                    "relative": self.unit is Unit.LOG_MEAN,
                    "rows": self.n_rows,
                    "mixed_rows": self.n_mixed,
                    "banded": list(self.banded),
                    "losses": None if self.losses is None else self.losses.to_json(),
                },
            }
        )

    @property
    def statement(self) -> str:
        """What was compared with the model, and the largest difference."""
        kind = "relative difference" if self.unit is Unit.LOG_MEAN else "difference"
        text = (
            f"largest {kind} to the model: {number(self.largest_difference)} over "
            f"{count(self.n_rows, 'row')} and {self.n_mixed} mixed ones"
        )
        if not self.banded:
            return text if self.is_exact else f"{text}; an approximation"
        text += f"; an approximation: cells replace the curves of {', '.join(self.banded)}"
        if self.losses is not None:
            own = self.losses
            text += f"; {own.name} {number(own.table, 4)}, of the model {number(own.model, 4)}"
        return text

    @property
    def headlines(self) -> tuple[str, ...]:
        """What the table is, its base value and size, and how well it agrees with the model."""
        pairs = sum(len(term.axes) == 2 for term in self.terms)
        columns = count(len(self.terms) - pairs, "column")
        cells = count(sum(1 for term in self.terms for _ in term.cells()), "cell")
        named = {"relativity": "relativities", "odds ratio": "odds ratios", None: "differences"}
        title = f"Factors of {self.model}: {named[self.ratio_name]} of {self.outcome}"
        parts = f"{columns}, {count(pairs, 'pair')}, {cells}"
        base = f"base value {number(self.base_value, 4)}; {parts}"
        return title, base, self.statement

    def __repr__(self) -> str:
        return "\n".join(self.headlines)


_CELL = ("column", "level", "low", "high", "missing")


def _cell(axis: Axis, at: int) -> dict[str, Any]:
    """Describe a cell of a column."""
    cell: dict[str, Any] = {**dict.fromkeys(_CELL), "column": axis.column, "missing": False}
    if at == axis.n_known:
        return {**cell, "missing": True}
    if axis.levels is not None:
        return {**cell, "level": axis.levels[at]}
    low, high = axis.ends(at)
    return {
        **cell,
        "low": low if np.isfinite(low) else None,
        "high": high if np.isfinite(high) else None,
    }
