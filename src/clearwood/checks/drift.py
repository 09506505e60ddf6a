"""Whether two tables look alike: rows learned from and rows met later."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from clearwood._shared.errors import InputError
from clearwood._shared.frames import frame
from clearwood._shared.results import document, html_table
from clearwood.checks.association import is_ordered
from clearwood.table import Column, Kind, Table, as_table

__all__ = ["ColumnDrift", "Drift", "drift"]

Floats = NDArray[np.float64]

#: Distributions nearer than this are alike for all purposes, however sure the difference.
SMALL = 0.1
#: The chance of a false alarm, over all columns together.
_LEVEL = 0.01
_MOST_ROWS = 5000
_FEWEST_ROWS = 5


@dataclass(frozen=True, kw_only=True)
class ColumnDrift:
    """How far one column differs between two tables.

    Parameters
    ----------
    column
        Its name.
    distance
        From 0 (alike) to 1 (nothing in common): the largest difference of the two cumulative
        shares for numbers and dates, half the sum of differences of shares for levels. Missing
        values are a value of their own.
    p_value
        The chance of a distance as large were both tables drawn alike, Holm-adjusted for the
        number of columns.
    first, second
        What is typical: the median, or the most frequent level.
    new_levels
        Levels that only the second table has.
    """

    column: str
    distance: float
    p_value: float
    first: str
    second: str
    new_levels: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether it differs by more than chance and by enough to matter."""
        return self.distance > SMALL and self.p_value < _LEVEL


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """How far two tables differ, column by column, the largest distance first.

    Made by `clearwood.checks.drift`.

    Parameters
    ----------
    columns
        One entry a column.
    first, second
        What the tables are, in words.
    n_first, n_second
        Their rows that were used.
    """

    columns: tuple[ColumnDrift, ...]
    first: str
    second: str
    n_first: int
    n_second: int

    @property
    def differing(self) -> tuple[ColumnDrift, ...]:
        """The columns that differ by more than chance and by enough to matter."""
        return tuple(entry for entry in self.columns if entry.differs)

    def __getitem__(self, column: str) -> ColumnDrift:
        return next(entry for entry in self.columns if entry.column == column)

    def __repr__(self) -> str:
        differing = self.differing
        head = f"Drift from {self.first} to {self.second}"
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

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per column, the largest distance first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        return frame(
            {
                "column": [e.column for e in self.columns],
                "distance": np.array([e.distance for e in self.columns]),
                "p_value": np.array([e.p_value for e in self.columns]),
                "differs": np.array([e.differs for e in self.columns]),
                "first": [e.first for e in self.columns],
                "second": [e.second for e in self.columns],
            },
            library,
        )

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "columns": [{**vars(e), "differs": e.differs} for e in self.columns],
                "first": {"name": self.first, "rows": self.n_first},
                "second": {"name": self.second, "rows": self.n_second},
            }
        )


def drift(
    first: Any,
    second: Any,
    *,
    columns: Sequence[str] | None = None,
    names: tuple[str, str] = ("training rows", "test rows"),
    sample: int = _MOST_ROWS,
    seed: int = 0,
) -> Drift:
    """Say which columns differ between two tables by more than chance.

    A model is known to work on rows like those it learned from. Numbers and dates are compared by
    the Kolmogorov-Smirnov distance, categories by the total variation distance with a chi-squared
    test; p-values are adjusted for the number of columns (Holm 1979).

    Parameters
    ----------
    first, second
        Tables, or what `clearwood.read` takes; both with the columns that are compared.
    columns
        Which ones; the features of the first table, and its target where both have it, when None.
    names
        What the tables are, in words.
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
    for table, name in zip((one, two), names, strict=True):
        if table.n_rows < _FEWEST_ROWS:
            raise InputError(f"the {name} are {table.n_rows}; at least {_FEWEST_ROWS} are needed")
    one, two = _thinned(one, sample, seed), _thinned(two, sample, seed + 1)
    found = [_compare(one.column(name), two.column(name)) for name in columns]
    adjusted = _holm(np.array([entry.p_value for entry in found]))
    entries = [
        ColumnDrift(**{**vars(entry), "p_value": float(p)})
        for entry, p in zip(found, adjusted, strict=True)
    ]
    entries.sort(key=lambda entry: -entry.distance)
    return Drift(tuple(entries), *names, one.n_rows, two.n_rows)


def _thinned(table: Table, most: int, seed: int) -> Table:
    if table.n_rows <= most:
        return table
    return table.take(
        np.sort(np.random.default_rng(seed).choice(table.n_rows, most, replace=False))
    )


def _compare(first: Column, second: Column) -> ColumnDrift:
    if is_ordered(first) and not first.is_coded and first.kind is second.kind:
        return _along_an_axis(first, second)
    return _by_level(first, second)


def _along_an_axis(first: Column, second: Column) -> ColumnDrift:
    known = [_numbers(column) for column in (first, second)]
    sizes = [len(column) for column in (first, second)]
    places = np.unique(np.concatenate(known))
    # cumulative shares of all rows: what a column lacks stays below one at the end
    shares = [
        np.searchsorted(np.sort(values), places, side="right") / size
        for values, size in zip(known, sizes, strict=True)
    ]
    distance = float(np.abs(shares[0] - shares[1]).max(initial=0.0))
    effective = sizes[0] * sizes[1] / sum(sizes)
    p_value = float(stats.kstwobign.sf(distance * np.sqrt(effective)))
    return ColumnDrift(
        column=first.name,
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


def _by_level(first: Column, second: Column) -> ColumnDrift:
    words = [_words(column) for column in (first, second)]
    levels, codes = np.unique(np.concatenate(words), return_inverse=True)
    parts = codes[: len(first)], codes[len(first) :]
    counts = np.array([np.bincount(part, minlength=len(levels)) for part in parts])
    shares = counts / counts.sum(axis=1, keepdims=True)
    p_value = 1.0
    if len(levels) > 1:
        p_value = float(stats.chi2_contingency(counts).pvalue)
    new = [str(level) for level, n in zip(levels, counts.T, strict=True) if n[0] == 0 and n[1]]
    return ColumnDrift(
        column=first.name,
        distance=float(np.abs(shares[0] - shares[1]).sum() / 2),
        p_value=p_value,
        first=str(levels[shares[0].argmax()]) or "missing",
        second=str(levels[shares[1].argmax()]) or "missing",
        new_levels=tuple(new),
    )


def _words(column: Column) -> NDArray[Any]:
    return np.array(["" if value is None else str(value) for value in column.labels()], dtype=str)


def _typical(column: Column) -> str:
    known = _numbers(column)
    if not len(known):
        return "missing"
    middle = float(np.median(known))
    if column.kind is Kind.DATE:
        return str(np.datetime64(int(middle), "us").astype("datetime64[D]"))
    return f"{middle:.4g}"


def _holm(p_values: Floats) -> Floats:
    """Adjust for many tests: the smallest times their number, the next times one less, ..."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return adjusted
