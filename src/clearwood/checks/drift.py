"""Drift: columns whose distribution differs between two tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import cell
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted, effective, quantiles
from clearwood.checks.column_pairs import is_ordered
from clearwood.table import Column, Kind, Table, as_table

__all__ = ["ColumnDrift", "Drift", "drift"]

#: Distances below this are too small to matter, however significant they are.
SMALL = 0.1
#: The chance of a false alarm, over all columns together.
_LEVEL = 0.01
_MOST_ROWS = 5000
_FEWEST_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class ColumnDrift(Result):
    """How far the distribution of one column differs between two tables.

    Parameters
    ----------
    column
        Its name.
    distance
        From 0 (same distribution) to 1 (no overlap): the largest difference of the two cumulative
        shares for numbers and dates, half the sum of differences of shares for levels. Missing
        counts as a value of its own.
    p_value
        The probability of a distance this large if both tables came from one distribution,
        Holm-adjusted for the number of columns.
    first, second
        A typical value in each table: the median, or the most frequent level.
    new_levels
        Levels that only the second table has.
    """

    column: str
    distance: float
    p_value: float
    first: str
    second: str
    new_levels: tuple[str, ...] = ()

    _derived = ("differs",)

    @property
    def differs(self) -> bool:
        """Whether the difference is significant and large enough to matter."""
        return self.distance > SMALL and self.p_value < _LEVEL


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result):
    """How far two tables differ, column by column, the largest distance first.

    Computed by `clearwood.checks.drift`.

    Parameters
    ----------
    columns
        One entry per column.
    first, second
        What the tables are called.
    n_first, n_second
        How many of their rows were used.
    is_weighted
        Whether the rows of a table count by their weight.
    """

    columns: tuple[ColumnDrift, ...]
    first: str
    second: str
    n_first: int
    n_second: int
    is_weighted: bool = False

    @property
    def differing(self) -> tuple[ColumnDrift, ...]:
        """The columns whose difference is significant and large enough to matter."""
        return tuple(entry for entry in self.columns if entry.differs)

    def __getitem__(self, column: str) -> ColumnDrift:
        return next(entry for entry in self.columns if entry.column == column)

    def __repr__(self) -> str:
        differing = self.differing
        head = f"Drift from {self.first} to {self.second}{', weighted' if self.is_weighted else ''}"
        if not differing:
            return f"{head}: none of {len(self.columns)} columns differs"
        shown = ", ".join(f"{entry.column} {entry.distance:.2f}" for entry in differing[:6])
        return f"{head}: {len(differing)} of {len(self.columns)} columns differ: {shown}"

    def _repr_html_(self) -> str:
        rows = [
            (e.column, f"{e.distance:.2f}", f"{e.p_value:.2g}", e.first, e.second)
            for e in self.columns[:30]
        ]
        headings = ("column", "distance", "p-value", self.first, self.second)
        return html_table(repr(self), headings, rows)

    def _columns(self) -> Mapping[str, Any]:
        """Return one row per column, the largest distance first."""
        return {
            "column": [e.column for e in self.columns],
            "distance": np.array([e.distance for e in self.columns]),
            "p_value": np.array([e.p_value for e in self.columns]),
            "differs": np.array([e.differs for e in self.columns]),
            "first": [e.first for e in self.columns],
            "second": [e.second for e in self.columns],
        }

    def plot(self, **options: Any) -> Any:
        """Draw the distance of each column between the two tables (Altair)."""
        from clearwood.plot import plot_drift

        return plot_drift(self, **options)


def drift(
    first: Any,
    second: Any,
    *,
    columns: Sequence[str] | None = None,
    names: tuple[str, str] = ("training rows", "test rows"),
    sample: int = _MOST_ROWS,
    seed: int = 0,
) -> Drift:
    """Find the columns whose distribution differs between two tables by more than chance.

    A model's performance is known only for rows like those it was fitted to. Numbers and dates are
    compared by the Kolmogorov-Smirnov distance, categories by the total variation distance with a
    chi-squared test; p-values are adjusted for the number of columns (Holm 1979). Rows count by
    their weight; the tests take as many rows as are as exact as the weighted ones, and rows of one
    group as one.

    Parameters
    ----------
    first, second
        Tables, or what `clearwood.read` takes; both with the columns that are compared.
    columns
        The columns to compare; when None, the features of the first table, and its target where
        both tables have it.
    names
        What the tables are called in the result.
    sample
        The most rows used of each.
    seed
        Fixes the draw of rows.

    Returns
    -------
    Drift

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old = {"age": rng.normal(40, 9, 500), "power": rng.normal(90, 20, 500)}
    >>> new = {"age": rng.normal(52, 9, 500), "power": rng.normal(90, 20, 500)}
    >>> [entry.column for entry in drift(old, new).differing]
    ['age']
    """
    one, two = as_table(first), as_table(second)
    if columns is None:
        target = (one.target,) if one.target is not None and one.target in two.names else ()
        columns = (*one.features, *target)
    for table, name, parameter in zip((one, two), names, ("first", "second"), strict=True):
        if table.n_rows < _FEWEST_ROWS:
            raise InputError(
                f"too few rows: {table.n_rows} {name}; at least {_FEWEST_ROWS} are needed",
                parameter=parameter,
                value=table.n_rows,
            )
    is_weighted = one.weights is not None or two.weights is not None
    one, two = _drawn(one, sample, seed), _drawn(two, sample, seed + 1)
    entries = [_compare(_Sample.of(one, name), _Sample.of(two, name)) for name in columns]
    adjusted = _holm(np.array([entry.p_value for entry in entries]))
    entries = [replace(entry, p_value=float(p)) for entry, p in zip(entries, adjusted, strict=True)]
    entries.sort(key=lambda entry: -entry.distance)
    return Drift(tuple(entries), *names, one.n_rows, two.n_rows, is_weighted)


def _drawn(table: Table, most: int, seed: int) -> Table:
    counting, _ = counted(table.weights, table.n_rows)
    if len(counting) == table.n_rows <= most:
        return table
    return table.take(counting[draw_rows(len(counting), most, seed=seed)])


@dataclass(frozen=True, eq=False)
class _Sample:
    """One column of a table, with the weights of its rows."""

    column: Column
    weights: Floats
    size: float  # as many independent, equally weighted rows are as exact

    @classmethod
    def of(cls, table: Table, name: str) -> "_Sample":
        """Take a column of a table."""
        _, weights = counted(table.weights, table.n_rows)
        units = np.arange(table.n_rows)
        if table.groups is not None:
            units = np.unique(table.groups, return_inverse=True)[1]
        # a rate is compared with a rate, not with a count over another exposure
        column = table.target_column if name == table.target else table.column(name)
        return cls(column, weights, effective(weights, units))


def _compare(first: _Sample, second: _Sample) -> ColumnDrift:
    one, two = first.column, second.column
    if is_ordered(one) and not one.is_coded and one.kind is two.kind:
        return _along_an_axis(first, second)
    return _by_level(first, second)


def _along_an_axis(first: _Sample, second: _Sample) -> ColumnDrift:
    known = [_numbers(sample.column) for sample in (first, second)]
    places = np.unique(np.concatenate(known))
    # shares of all rows, missing ones too: with missing values the last share is below one
    shares = []
    for values, sample in zip(known, (first, second), strict=True):
        present = sample.weights[~sample.column.missing]
        counts = np.bincount(np.searchsorted(places, values), present, len(places))
        shares.append(np.cumsum(counts) / sample.weights.sum())
    distance = float(np.abs(shares[0] - shares[1]).max(initial=0.0))
    effective = first.size * second.size / (first.size + second.size)
    p_value = float(stats.kstwobign.sf(distance * np.sqrt(effective)))
    return ColumnDrift(
        column=first.column.name,
        distance=distance,
        p_value=p_value,
        first=_typical(first),
        second=_typical(second),
    )


def _numbers(column: Column) -> Floats:
    present = column.values[~column.missing]
    if column.kind is Kind.DATE:
        return present.astype("datetime64[us]").astype(np.float64)
    return present.astype(np.float64)


def _by_level(first: _Sample, second: _Sample) -> ColumnDrift:
    labels = [_labels(sample.column) for sample in (first, second)]
    levels, codes = np.unique(np.concatenate(labels), return_inverse=True)
    parts = np.split(codes, [len(labels[0])])
    counts = np.array(
        [
            np.bincount(part, sample.weights, len(levels))
            for part, sample in zip(parts, (first, second), strict=True)
        ]
    )
    shares = counts / counts.sum(axis=1, keepdims=True)
    p_value = 1.0
    if len(levels) > 1:
        # frequencies as they would be among as many independent rows
        frequencies = shares * np.array([[first.size], [second.size]])
        p_value = float(stats.chi2_contingency(frequencies).pvalue)
    new = [str(level) for level, n in zip(levels, counts.T, strict=True) if n[0] == 0 and n[1]]
    return ColumnDrift(
        column=first.column.name,
        distance=float(np.abs(shares[0] - shares[1]).sum() / 2),
        p_value=p_value,
        first=str(levels[shares[0].argmax()]) or "missing",
        second=str(levels[shares[1].argmax()]) or "missing",
        new_levels=tuple(new),
    )


def _labels(column: Column) -> NDArray[Any]:
    return np.array(["" if value is None else str(value) for value in column.labels()], dtype=str)


def _typical(sample: _Sample) -> str:
    column = sample.column
    known = _numbers(column)
    if not len(known):
        return "missing"
    middle = float(quantiles(known, 0.5, sample.weights[~column.missing]))
    if column.kind is Kind.DATE:
        return str(np.datetime64(int(middle), "us").astype("datetime64[D]"))
    return cell(middle)


def _holm(p_values: Floats) -> Floats:
    """Adjust for many tests: the smallest times their number, the next times one less, ..."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted
