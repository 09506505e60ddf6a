"""Trend: whether the target changes with time, or along the rows, beyond what columns explain."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count, percent
from clearwood._shared.results import Result
from clearwood._shared.weights import counted
from clearwood.checks.left_over import left_over
from clearwood.table import NUMERIC, Column, Kind, Role, Table, as_table

__all__ = ["Trend", "trend"]

#: A trend that accounts for less of what is left hardly changes an estimate.
LEAST_SHARE = 0.01
_LEVEL = 0.001
_SPANS, _FEWEST_ROWS, _MOST_ROWS = 10, 100, 5000
_YEARS = (1900, 2100)
#: A column that numbers the rows rises by at most so much from row to row, on average.
_MOST_STEPS = 2
#: Rows are sorted by the target, and not by time, from this rank correlation on, or if classes
#: change at most so many times as often as there are classes.
_SORTED, _RUNS = 0.9, 3


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trend(Result):
    """How the target changes with time; computed by `clearwood.checks.trend`.

    Parameters
    ----------
    column
        The column that orders the rows in time; None for the order of the rows in the table.
    n_rows
        Rows that were looked at.
    share
        The share of what a forest of the other columns leaves of the target that is due to ten
        spans of time, adjusted for their number: 0 without a trend.
    p_value
        Of a test that spans do not differ.
    """

    column: str | None = None
    n_rows: int
    share: float = 0.0
    p_value: float = 1.0
    _derived: ClassVar[tuple[str, ...]] = ("is_clear",)

    @property
    def is_clear(self) -> bool:
        """Whether there is a trend of some size, beyond chance."""
        return self.p_value < _LEVEL and self.share >= LEAST_SHARE

    @property
    def along(self) -> str:
        """What the target changes along, in words."""
        return "the order of the rows" if self.column is None else self.column

    def __repr__(self) -> str:
        if not self.is_clear:
            return f"Trend: none found in {count(self.n_rows, 'row')}"
        return (
            f"Trend: the target changes along {self.along}, by {percent(self.share)} of what the "
            f"other columns leave ({count(self.n_rows, 'row')})"
        )


def trend(data: Any, *, seed: int = 0) -> Trend:
    """Find out whether the target changes with time, or along the rows of the table.

    Resampling that mixes rows of all times tests a model on the time it was fitted to. Where the
    target changes with time, the model looks better than it will be for later rows. Time is any
    column of dates or years; without one, tables are often sorted by time. Pass the column to
    ``clearwood.read(..., time=...)``, which trains on the past and tests on what follows.

    Parameters
    ----------
    data
        A table with a target.
    seed
        Fixes the draw of rows.

    Returns
    -------
    Trend
        The clearest; see ``is_clear``.

    Examples
    --------
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> year = np.repeat(np.arange(2010, 2020), 60)
    >>> y = 0.2 * (year - 2010) + rng.normal(size=600)
    >>> order = rng.permutation(600)
    >>> data = {"year": year[order], "x": rng.normal(size=600), "y": y[order]}
    >>> found = trend(cw.read(data, target="y"))
    >>> found.column, found.is_clear
    ('year', True)
    """
    table = as_table(data)
    if table.target is None:
        raise InputError("the table has no target", parameter="target")
    counting, _ = counted(table.weights, table.n_rows)
    rows = counting[draw_rows(len(counting), _MOST_ROWS, seed=seed)]
    best = Trend(n_rows=len(rows))
    if len(rows) < _FEWEST_ROWS:
        return best
    candidates = list(_times(table, rows))
    timely = {name for name, _ in candidates}
    features = [table.column(name) for name in table.features if name not in timely]
    raw = left_over(table, rows, [])
    groups = None if table.groups is None else np.unique(table.groups[rows], return_inverse=True)[1]
    # most tables are cleared by the target itself, without a forest
    if not any(_of_spans(raw, times, groups, len(candidates))[0] for _, times in candidates):
        return best
    left = left_over(table, rows, features, table_units(groups, rows, table.n_rows))
    for name, times in candidates:
        is_clear, share, p_value = _of_spans(left, times, groups, len(candidates))
        if is_clear and share > best.share:
            best = Trend(column=name, n_rows=len(rows), share=share, p_value=p_value)
    return best


def table_units(groups: Index | None, rows: Index, n_rows: int) -> Index | None:
    """Return the groups of the rows of a table, where some rows have one."""
    if groups is None:
        return None
    units = np.zeros(n_rows, np.intp)
    units[rows] = groups
    return units


def _times(table: Table, rows: Index) -> Iterator[tuple[str | None, NDArray[Any]]]:
    """Yield what orders rows in time: columns of dates and years, and the order of the rows."""
    for column in table.columns:
        if table.role(column.name) not in (Role.FEATURE, Role.IGNORED, Role.PROTECTED):
            continue
        some = column.take(rows)
        if (_is_time(some) or _is_index(column)) and not some.missing.any():
            yield column.name, some.values
    if not _is_sorted_by_target(table):
        yield None, rows


def _is_time(column: Column) -> bool:
    if column.kind is Kind.DATE:
        return True
    if column.kind not in NUMERIC or column.missing.any():
        return False
    values = np.asarray(column.values, np.float64)
    is_year = (np.floor(values) == values).all() and _YEARS[0] <= values.min()
    return bool(is_year and values.max() <= _YEARS[1] and len(np.unique(values)) >= 3)


def _is_index(column: Column) -> bool:
    """Whether a column numbers the rows in their order, as days since the first do."""
    if column.kind is not Kind.WHOLE or column.missing.any():
        return False
    steps = np.diff(np.asarray(column.values, np.float64))
    return bool((steps > 0).all() and steps.sum() <= _MOST_STEPS * len(steps))


def _is_sorted_by_target(table: Table) -> bool:
    """Whether the table is sorted by what is predicted, as some files are."""
    target = table.target_column
    values = np.asarray(target.values, np.float64)
    if target.is_coded:
        return bool((np.diff(values) != 0).sum() < _RUNS * len(np.unique(values)))
    if len(np.unique(values)) < 2:
        return True
    return bool(abs(stats.spearmanr(np.arange(len(values)), values).statistic) >= _SORTED)


def _of_spans(
    left: Floats, times: NDArray[Any], groups: Index | None, n_looked: int
) -> tuple[bool, float, float]:
    """Return whether spans of time differ, the share that is due to them, and the p-value."""
    place = np.unique(times, return_inverse=True)[1].astype(np.float64)
    if groups is not None:  # rows of a group count once
        sizes = np.bincount(groups)
        place = np.bincount(groups, place) / sizes
        left = np.column_stack([np.bincount(groups, one) / sizes for one in left.T])
    order = stats.rankdata(place, method="min") - 1
    spans = np.unique((order * _SPANS / len(order)).astype(np.intp), return_inverse=True)[1]
    sizes = np.bincount(spans)
    n, k = len(left), len(sizes)
    if k < 2 or n < _FEWEST_ROWS / 2:
        return False, 0.0, 1.0
    around = left - left.mean(axis=0)
    total = float((around**2).sum())
    means = np.column_stack([np.bincount(spans, one) / sizes for one in around.T])
    between = float((sizes[:, None] * means**2).sum())
    within = (total - between) / (n - k)
    if not within > 0 or not total > 0:
        return False, 0.0, 1.0
    share = 1 - within / (total / (n - 1))
    # classes share their degrees of freedom, as their indicators add up to 1
    p = float(stats.f.sf(between / (k - 1) / within, k - 1, n - k)) * n_looked
    return p < _LEVEL and share >= LEAST_SHARE, share, min(p, 1.0)
