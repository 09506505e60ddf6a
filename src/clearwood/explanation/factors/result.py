"""The table of factors: what it holds, how it predicts and how it is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import unknown_choice
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result, document
from clearwood.explanation.factors.cells import FactorAxis, evaluated
from clearwood.explanation.linear.result import ColumnTest
from clearwood.fitted import Unit
from clearwood.table import Schema, Table, as_table

if TYPE_CHECKING:
    from clearwood.explanation.factors.points import Points

__all__ = ["FactorLosses", "FactorTerm", "Factors"]

_RATIOS = {Unit.LOG_MEAN: "relativity", Unit.LOG_ODDS: "odds ratio"}
#: Rows for which polynomials are evaluated at a time.
_BLOCK = 100_000


@dataclass(frozen=True, eq=False)
class FactorTerm:
    """What one column, or two together, add to the score of the base.

    Parameters
    ----------
    axes
        The cells of each column.
    effects
        What is added in each cell, where it is a polynomial at its origin; NaN where the model does
        not take a missing value or a new level.
    shares
        The share of the weight in each cell.
    origins
        For each column a number in each cell, or the code of its level; NaN for missing numbers.
    powers
        Coefficients of polynomials about the origins, (cells of each column..., powers of each
        column...), those of power 0 being the effects; None where cells are constant.
    errors
        The standard error of each effect; of a straight line over all numbers, that of one unit.
        None where there are none.
    """

    axes: tuple[FactorAxis, ...]
    effects: Floats
    shares: Floats
    origins: tuple[Floats, ...]
    powers: Floats | None = None
    errors: Floats | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(axis.column for axis in self.axes)

    @property
    def is_line(self) -> bool:
        """Whether it is one straight line over all numbers of a column."""
        return self.powers is not None and self.powers.shape == (2, 2)

    def of(self, table: Table) -> Floats:
        """Return what is added to each row."""
        own = [table.column(axis.column) for axis in self.axes]
        places = tuple(a.places(c) for a, c in zip(self.axes, own, strict=True))
        if self.powers is None:
            return np.asarray(self.effects[places])
        from_origin = []
        for axis, column, origins, at in zip(self.axes, own, self.origins, places, strict=True):
            if axis.levels is None:
                from_origin.append(np.where(column.missing, 0.0, column.values - origins[at]))
            else:
                from_origin.append(np.zeros(len(at)))
        added = np.empty(table.n_rows)
        for start in range(0, table.n_rows, _BLOCK):
            part = slice(start, start + _BLOCK)
            sums = self.powers[tuple(at[part] for at in places)]
            for values in from_origin[::-1]:
                sums = evaluated(sums, values[part])
            added[part] = sums
        return added

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

    @property
    def lost(self) -> float:
        """By how much the table's loss is larger."""
        return self.table - self.model


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
        To the model's prediction, over all rows of the data and ``n_mixed`` others, recomputed from
        the text of `to_csv`: relative to it where the link is the log, else absolute.
    is_exact
        Whether no column is approximated, and the effects add up to the model's score in double
        precision, up to rounding, in all rows that were compared.
    n_rows, n_mixed
        Rows of the data that were compared, and rows put together at random from its columns.
    losses
        What the approximation costs on the data; None where the data has no target.
    rebalancing
        The model's total prediction over the table's, by weight: the factor of the base value that
        restores the total.
    sha256
        Of the model's file, as `clearwood.save` writes it; several are joined by a space.
    errors
        Which standard errors these are: "model", "robust", "cluster", "curves" for those of the
        model's own curves, "refits"; None where there are none.
    confidence
        Of the intervals.
    freedom
        Degrees of freedom of Student's t for intervals and p-values; infinite for the normal.
    tests
        Whether each column has any effect.
    notes
        What the reader should know.
    points
        The table as whole points, where they were wanted.
    ranges
        Between what pictures show a column of numbers: its 1st and 99th percentiles in the data.
    """

    base: Mapping[str, Any]
    base_score: float
    terms: tuple[FactorTerm, ...]
    unit: Unit
    outcome: str
    model: str
    banded: tuple[str, ...] = ()
    largest_difference: float = np.nan
    is_exact: bool = False
    n_rows: int = 0
    n_mixed: int = 0
    losses: FactorLosses | None = None
    rebalancing: float = 1.0
    sha256: str = ""
    errors: str | None = None
    confidence: float = 0.9
    freedom: float = np.inf
    tests: tuple[ColumnTest, ...] = ()
    notes: tuple[str, ...] = ()
    points: "Points | None" = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    schema: Schema

    @property
    def base_value(self) -> float:
        """The prediction for the base."""
        return float(self._linked(np.array([self.base_score]))[0])

    @property
    def ratio_name(self) -> str | None:
        """What the exponential of an effect is called; None where effects are differences."""
        return _RATIOS.get(self.unit)

    def ratio_of(self, effect: float) -> float:
        """Return the factor of an effect: its exponential, or itself where there is no link."""
        return effect if self.ratio_name is None else _exp(effect)

    def range_of(self, term: FactorTerm) -> tuple[float, float]:
        """Return between which numbers a column is drawn."""
        axis = term.axes[0]
        known = (*axis.cuts, *term.origins[0][: axis.n_known], self.base.get(axis.column, 0.0))
        low, high = self.ranges.get(axis.column, (min(known), max(known)))
        return (float(low), float(high)) if low < high else (float(low) - 1, float(high) + 1)

    def plot(self, kind: Literal["factors", "nomogram"] = "factors") -> Any:
        """Draw what each column does to the base value, with intervals; or a nomogram.

        Parameters
        ----------
        kind
            "factors" draws cells and curves, a panel for each column. "nomogram" draws an axis for
            each column, whose points add up to the prediction; models with pairs have none.
        """
        from clearwood.plot import plot_factors, plot_nomogram

        drawn = {"factors": plot_factors, "nomogram": plot_nomogram}
        if kind not in drawn:
            raise unknown_choice("kind", kind, drawn)
        return drawn[kind](self)

    def score(self, data: Any) -> Floats:
        """Return the sum of the base score and the effects, before the link."""
        table = as_table(data, schema=self.schema)
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
        with np.errstate(over="ignore"):
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
        from clearwood.explanation.factors.files import select

        return select(self, table)

    def to_csv(self) -> str:
        """Write the table as CSV, with the model's SHA-256 and the comparison with the model.

        `clearwood.explanation.read_factors` reads it again, and predicts from nothing else.
        """
        from clearwood.explanation.factors.files import written

        return written(self)

    def lines(self) -> list[dict[str, Any]]:
        """Return one line for the base and one for each cell."""
        powers = self._powers()
        empty: dict[str, Any] = {"kind": "base"}
        empty |= dict.fromkeys(f"{name}{k}" for k in ("", "_2") for name in _CELL)
        empty |= dict.fromkeys(["effect", "relativity", "per_unit", *powers.values()])
        empty |= dict.fromkeys(["share", *(_ERRORS if self.errors else ())])
        base = {"effect": self.base_score, "relativity": _exp(self.base_score)}
        lines = [{**empty, **base}]
        for term in self.terms:
            lines += [{**empty, **self._line(term, cell, powers)} for cell in term.cells()]
        if self.ratio_name is None:
            for line in lines:
                del line["relativity"]
        return lines

    def _powers(self) -> dict[tuple[int, ...], str]:
        """Name the columns of the polynomial coefficients that occur, without the first."""
        used = {
            power
            for term in self.terms
            if term.powers is not None
            for power in np.ndindex(term.powers.shape[len(term.axes) :])
            if sum(power) and np.nanmax(np.abs(term.powers[(..., *power)])) > 0
        }
        return {p: "power_" + "_".join(map(str, p)) for p in sorted(used - {(1,)})}

    def _line(
        self, term: FactorTerm, cell: tuple[int, ...], powers: Mapping[tuple[int, ...], str]
    ) -> dict[str, Any]:
        """Describe one cell of a term."""
        line: dict[str, Any] = {"kind": "column" if len(cell) == 1 else "pair"}
        for k, (axis, at) in enumerate(zip(term.axes, cell, strict=True)):
            more = "_2" if k else ""
            line |= {name + more: v for name, v in _cell(axis, at).items()}
            is_number = axis.levels is None and at < axis.n_known
            line["origin" + more] = float(term.origins[k][at]) if is_number else None
        effect = float(term.effects[cell])
        line |= {"effect": effect, "relativity": _exp(effect), "share": float(term.shares[cell])}
        if term.powers is not None:
            own = term.powers[cell]
            named = {(1,): "per_unit", **powers}
            line |= {
                name: float(own[power])
                for power, name in named.items()
                if len(power) == own.ndim
                and all(p < n for p, n in zip(power, own.shape, strict=True))
                and own[power]
            }
        if term.errors is not None:
            is_line = term.is_line and cell[0] == 0
            value = float(term.powers[0, 1]) if is_line and term.powers is not None else effect
            line |= self.uncertainty_of(value, float(term.errors[cell]))
        return line

    def uncertainty_of(self, effect: float, error: float) -> dict[str, float | None]:
        """Return the standard error, the ends of the interval and the p-value of an effect."""
        if not np.isfinite(error):
            return dict.fromkeys(_ERRORS)
        distribution = stats.t(self.freedom) if np.isfinite(self.freedom) else stats.norm()
        reach = float(distribution.ppf(0.5 + self.confidence / 2)) * error
        p_value = 2 * float(distribution.sf(abs(effect) / error)) if error > 0 else None
        ends = (error, effect - reach, effect + reach, p_value)
        return dict(zip(_ERRORS, ends, strict=True))

    def _columns(self) -> Mapping[str, Any]:
        lines = self.lines()
        return {name: [line[name] for line in lines] for name in lines[0]}

    def check(self) -> dict[str, Any]:
        """Return what was compared with the model, and how well it agrees."""
        return {
            "exact": self.is_exact,
            "largest_difference": self.largest_difference,
            "relative": self.unit is Unit.LOG_MEAN,
            "rows": self.n_rows,
            "mixed_rows": self.n_mixed,
            "banded": list(self.banded),
            "rebalancing": self.rebalancing,
            "losses": None if self.losses is None else self.losses.to_json(),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the table and the check as plain JSON values."""
        return document(
            {
                "model": self.model,
                "sha256": self.sha256,
                "outcome": self.outcome,
                "unit": str(self.unit),
                "base": dict(self.base),
                "base_score": self.base_score,
                "base_value": self.base_value,
                "errors": self.errors,
                "confidence": self.confidence,
                "tests": [test.to_json() for test in self.tests],
                "lines": self.lines(),
                "check": self.check(),
                "notes": list(self.notes),
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
        return f"{text}; multiply by {number(self.rebalancing, 6)} to keep the model's total"

    @property
    def headlines(self) -> tuple[str, ...]:
        """What the table is, its base value and size, and how well it agrees with the model."""
        pairs = sum(len(term.axes) == 2 for term in self.terms)
        columns = count(len(self.terms) - pairs, "column")
        cells = count(sum(1 for term in self.terms for _ in term.cells()), "cell")
        named = {"relativity": "relativities", "odds ratio": "odds ratios", None: "differences"}
        outcome = " ".join(self.outcome.split())
        title = f"Factors of {self.model}: {named[self.ratio_name]} of {outcome}"
        parts = f"{columns}, {count(pairs, 'pair')}, {cells}"
        base = f"base value {number(self.base_value, 4)}; {parts}"
        if self.errors is None:
            return title, base, self.statement
        errors = f"{_ERROR_NAMES[self.errors]}, {percent(self.confidence)} intervals"
        return title, base, errors, self.statement

    def __repr__(self) -> str:
        return "\n".join([*self.headlines, *(f"note: {note}" for note in self.notes)])


_CELL = ("column", "level", "low", "high", "missing", "other", "origin")
_ERRORS = ("standard_error", "effect_low", "effect_high", "p_value")
_ERROR_NAMES = {
    "model": "standard errors by the model",
    "robust": "robust standard errors (HC1)",
    "cluster": "standard errors clustered by group",
    "curves": "standard errors of the model's own curves",
    "refits": "standard errors by refits to resampled rows",
}


def _exp(effect: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(effect))


def _cell(axis: FactorAxis, at: int) -> dict[str, Any]:
    """Describe a cell of a column."""
    cell: dict[str, Any] = {
        **dict.fromkeys(_CELL),
        "column": axis.column,
        "missing": at == axis.n_known,
        "other": axis.levels is not None and at == len(axis.levels),
    }
    if cell["missing"] or cell["other"]:
        return cell
    if axis.levels is not None:
        return {**cell, "level": axis.levels[at]}
    low, high = axis.ends(at)
    return {
        **cell,
        "low": low if np.isfinite(low) else None,
        "high": high if np.isfinite(high) else None,
    }
