"""The table of coefficients, and how those of several imputed tables are joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.choices import Gaps
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.pooling import pool, pooled_test
from clearwood._shared.results import Result, html_table
from clearwood.explanation.linear.covariance import Errors, Family
from clearwood.fitted import Unit

__all__ = ["Coefficients", "ColumnTest", "ImputedEstimate", "joined"]

_ERRORS = {
    "model": "standard errors by the model",
    "robust": "robust standard errors (HC1)",
    "cluster": "standard errors clustered by group",
    "posterior": "posterior intervals next to those of the prior",
}


@dataclass(frozen=True)
class ColumnTest(Result):
    """Whether a column has any effect: the test that all its coefficients are zero.

    Parameters
    ----------
    column
        The user's column.
    statistic, freedom
        Wald's chi-squared by the standard errors shown, and its degrees of freedom; for the curves
        of an additive model its own test, whose statistic is not kept.
    p_value
        The probability of so large a statistic if the column had no effect.
    likelihood_ratio, likelihood_p_value
        The same by the likelihood of a fit without the column, which is right if the model and its
        variance are; NaN where there is none.
    """

    column: str
    statistic: float
    freedom: float
    p_value: float
    likelihood_ratio: float = np.nan
    likelihood_p_value: float = np.nan


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Coefficients(Result):
    """The coefficients of a linear model, in the units and levels of the table.

    Made by `clearwood.coefficients`. The first line is the constant: the score where all numbers
    are zero and all categories have their base level. The others are for one unit more of a number,
    one step more of a rank, or a level compared with the base level of its column.

    Parameters
    ----------
    columns
        The user's column of each line; empty for the constant.
    levels
        The level of each line, "missing", or a part of a date; empty for numbers.
    bases
        What the level is compared with; empty for numbers.
    is_base
        Whether the line is that of the base level, whose coefficient is zero.
    shares
        The share of the rows, by weight and exposure, that have the level.
    values
        The coefficients.
    standard_errors, low, high, p_values
        Of the coefficients, with the interval; NaN where they are not known.
    tests
        One test for each column.
    errors
        Which standard errors these are; None where there are none.
    confidence
        The coverage of the intervals.
    unit
        What the coefficients add up to: "prediction", "log of the mean" or "log odds".
    outcome
        What is predicted: the target, per unit of exposure where there is one.
    model
        The learner.
    counted_by
        What `shares` are of: "rows", or what they count by, such as "exposure".
    n_rows, n_groups
        Rows with weight; groups, for clustered errors.
    dispersion
        The variance as a multiple of what the distribution implies, estimated; 1 for classes.
    notes
        What the reader should know.
    prior_low, prior_high
        The interval of the prior, for a model that has one; infinite where it is flat.
    r_hat, effective_size
        For a posterior of which draws were made: how well chains agree, and how many independent
        draws are as exact.
    chosen_by
        Which rows chose the columns: "same rows", whose standard errors ignore the choice, or
        "other rows"; None where nothing was chosen.
    chooser
        The learner that chose them; empty where nothing was chosen.
    distribution
        The distribution of the target that standard errors follow from; None where there are none.
    gaps
        What became of rows with gaps: "fill" for the model as it was fitted, "complete" for a fit
        to complete rows only, "impute" for fits to tables whose gaps are filled by draws.
    gap_shares
        The share of the rows in which columns of the model are missing, for those that have gaps.
    n_imputations
        How many imputed tables the model was fitted to; None where none was imputed.
    freedom, unknown
        Degrees of freedom of each line's interval, and the fraction of missing information, for
        imputed tables; None elsewhere.
    """

    columns: tuple[str, ...]
    levels: tuple[str, ...]
    bases: tuple[str, ...]
    is_base: Bools
    shares: Floats
    values: Floats
    standard_errors: Floats
    low: Floats
    high: Floats
    p_values: Floats
    tests: tuple[ColumnTest, ...]
    errors: Errors | Literal["posterior"] | None
    confidence: float
    unit: Unit
    outcome: str
    model: str
    n_rows: int
    n_groups: int | None
    dispersion: float
    counted_by: str = "rows"
    notes: tuple[str, ...] = ()
    prior_low: Floats | None = None
    prior_high: Floats | None = None
    r_hat: Floats | None = None
    effective_size: Floats | None = None
    chosen_by: Literal["same rows", "other rows"] | None = None
    chooser: str = ""
    distribution: Family | None = None
    gaps: Gaps = "fill"
    gap_shares: Mapping[str, float] = field(default_factory=dict)
    n_imputations: int | None = None
    freedom: Floats | None = None
    unknown: Floats | None = None
    _derived = ("ratios", "ratio_low", "ratio_high")

    @property
    def ratio_name(self) -> str | None:
        """What the exponential of a coefficient is called; None on the scale of the target."""
        return {Unit.LOG_MEAN: "ratio", Unit.LOG_ODDS: "odds ratio"}.get(self.unit)

    @property
    def ratios(self) -> Floats | None:
        """The factor by which a line multiplies the mean or the odds: a relativity."""
        return None if self.ratio_name is None else np.exp(self.values)

    @property
    def ratio_low(self) -> Floats | None:
        """The lower ends of the ratios' intervals."""
        return None if self.ratio_name is None else np.exp(self.low)

    @property
    def ratio_high(self) -> Floats | None:
        """The upper ends of the ratios' intervals."""
        return None if self.ratio_name is None else np.exp(self.high)

    def names(self) -> tuple[str, ...]:
        """Return the name of each line: "constant", "age", "region = city"."""
        return tuple(
            "constant" if not column else f"{column} = {level}" if base else _joined(column, level)
            for column, level, base in zip(self.columns, self.levels, self.bases, strict=True)
        )

    def _columns(self) -> Mapping[str, Any]:
        columns = {
            "column": list(self.columns),
            "level": list(self.levels),
            "base": list(self.bases),
            "share": self.shares,
            "coefficient": self.values,
            "standard_error": self.standard_errors,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_values,
        }
        more = ("prior_low", "prior_high", "r_hat", "effective_size", "freedom", "unknown")
        columns |= {name: getattr(self, name) for name in more if getattr(self, name) is not None}
        if self.ratio_name is not None:
            columns |= {
                "ratio": self.ratios,
                "ratio_low": self.ratio_low,
                "ratio_high": self.ratio_high,
            }
        return columns

    def _headlines(self) -> tuple[str, str]:
        rows = count(self.n_rows, "row")
        groups = "" if self.n_groups is None else f" in {count(self.n_groups, 'group')}"
        errors = "no standard errors" if self.errors is None else _ERRORS[self.errors]
        if self.distribution is not None and self.unit is Unit.LOG_MEAN:
            errors += f", {self.distribution}"
            if self.distribution != "negative-binomial":  # its variance is in a note
                errors += f" with dispersion {number(self.dispersion)}"
        if self.n_imputations is not None:
            errors += f", {count(self.n_imputations, 'imputed table')}"
        return f"Coefficients of {self.model}: {self.unit} of {self.outcome}", (
            f"{rows}{groups}, {errors}"
        )

    def _posterior_cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table of a posterior: the interval of each line next to its prior's."""
        assert self.prior_low is not None
        assert self.prior_high is not None
        share = percent(self.confidence)
        headings = ["", "coefficient", f"{share} posterior", f"{share} prior"]
        headings += [] if self.ratio_name is None else [self.ratio_name]
        chains = self.r_hat is not None and self.effective_size is not None
        headings += ["R-hat", "ESS"] if chains else []
        lines = []
        for k, name in enumerate(self.names()):
            cells = [name, "base", "", ""]
            if not self.is_base[k]:
                prior = "flat"
                if np.isfinite(self.prior_low[k]):
                    prior = f"{_written(self.prior_low[k])} to {_written(self.prior_high[k])}"
                ends = f"{_written(self.low[k])} to {_written(self.high[k])}"
                cells = [name, _written(self.values[k]), ends, prior]
            cells += [] if self.ratios is None else [_written(self.ratios[k])]
            if self.r_hat is not None and self.effective_size is not None:
                cells += [_written(self.r_hat[k]), _written(np.round(self.effective_size[k]))]
            lines.append(cells)
        return headings, lines

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        if self.prior_low is not None:
            return self._posterior_cells()
        headings = ["", "coefficient", "se", f"{percent(self.confidence)} interval", "p"]
        if self.ratio_name is not None:
            headings.append(self.ratio_name)
        lines = []
        for k, name in enumerate(self.names()):
            if self.is_base[k]:
                cells = [name, "base", "", "", ""]
            else:
                ends = f"{_written(self.low[k])} to {_written(self.high[k])}"
                known = bool(np.isfinite(self.standard_errors[k]))
                cells = [
                    name,
                    _written(self.values[k]),
                    _written(self.standard_errors[k]) if known else "–",
                    ends if known else "–",
                    _p_written(self.p_values[k]) if known else "–",
                ]
            if self.ratios is not None:
                cells.append(_written(self.ratios[k]))
            lines.append(cells)
        return headings, lines

    def __repr__(self) -> str:
        headings, lines = self._cells()
        widths = [max(map(len, cells)) for cells in zip(headings, *lines, strict=True)]
        widths[0] = min(widths[0], 30)
        text = [*self._headlines(), ""]
        for cells in (headings, *lines):
            first = cells[0] if len(cells[0]) <= widths[0] else cells[0][: widths[0] - 1] + "…"
            rest = [f"{cell:>{w}}" for cell, w in zip(cells[1:], widths[1:], strict=True)]
            text.append("  ".join([f"{first:<{widths[0]}}", *rest]).rstrip())
        return "\n".join([*text, *(f"note: {note}" for note in self.notes)])

    def plot(self) -> Any:
        """Draw the coefficients, or ratios, with their intervals (Altair)."""
        from clearwood.plot import plot_coefficients

        return plot_coefficients(self)

    def _repr_html_(self) -> str:
        headings, lines = self._cells()
        return html_table("; ".join(self._headlines()), headings, lines, self.notes)


def _joined(column: str, level: str) -> str:
    return f"{column}, {level}" if level else column


def _written(value: float) -> str:
    return number(value, IN_TABLES) if np.isfinite(value) else "–"


def _p_written(value: float) -> str:
    return "< 0.001" if value < 0.001 else number(value, 2)


@dataclass(frozen=True, eq=False)
class ImputedEstimate:
    """The coefficients of one fit.

    Parameters
    ----------
    table
        The coefficients.
    covariance
        Of its lines; None where they have no standard errors.
    freedom
        Degrees of freedom of its intervals.
    """

    table: Coefficients
    covariance: Floats | None = None
    freedom: float = np.inf


def joined(estimates: Sequence[ImputedEstimate]) -> Coefficients:
    """Join the coefficients of models that are fitted to imputed tables.

    Where one of them has no standard errors, the result has none. The tests of columns are those
    of Li, Raghunathan and Rubin (1991).
    """
    first = estimates[0].table
    for one in estimates[1:]:
        if one.table.names() != first.names():
            raise InputError(
                "the fits to imputed tables have different lines, so they cannot be joined: "
                f"{_difference(first, one.table)}",
                parameter="gaps",
                value="impute",
                hint="leave out levels of very few rows.",
            )
    values = np.stack([one.table.values for one in estimates])
    covariances = [one.covariance for one in estimates if one.covariance is not None]
    if len(covariances) < len(estimates):
        none = np.full(len(first.values), np.nan)
        without = next(one.table for one in estimates if one.covariance is None)
        return replace(
            without,
            values=values.mean(axis=0),
            standard_errors=none,
            low=none,
            high=none,
            p_values=none,
        )
    errors = np.stack([one.table.standard_errors for one in estimates])
    freedom = estimates[0].freedom
    pooled = pool(values, errors**2, freedom)
    distribution = stats.t(pooled.freedom)
    reach = distribution.ppf(0.5 + first.confidence / 2) * pooled.standard_errors
    reach[first.is_base] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * distribution.sf(np.abs(pooled.values) / pooled.standard_errors)
    p_values[first.is_base] = np.nan
    return replace(
        first,
        values=pooled.values,
        standard_errors=pooled.standard_errors,
        low=pooled.values - reach,
        high=pooled.values + reach,
        p_values=p_values,
        tests=_tests(first, values, np.stack(covariances), freedom),
        dispersion=float(np.mean([one.table.dispersion for one in estimates])),
        freedom=pooled.freedom,
        unknown=pooled.unknown,
        n_imputations=len(estimates),
    )


def _difference(first: Coefficients, other: Coefficients) -> str:
    names = [name for name in first.names() if name not in other.names()]
    names += [name for name in other.names() if name not in first.names()]
    return ", ".join(map(repr, names[:4]))


def _tests(
    table: Coefficients, values: Floats, covariances: Floats, freedom: float
) -> tuple[ColumnTest, ...]:
    """Test for each column that all its coefficients are zero."""
    tests = []
    known = np.isfinite(table.standard_errors) & ~table.is_base
    for test in table.tests:
        own = np.flatnonzero(known & (np.array(table.columns) == test.column))
        found = pooled_test(values[:, own], covariances[:, own[:, None], own], freedom)
        tests.append(ColumnTest(test.column, *found))
    return tuple(tests)
