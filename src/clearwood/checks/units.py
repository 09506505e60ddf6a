"""Repeated units: several rows of one person or thing, told by a key or by columns together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import norm

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result
from clearwood.checks.left_over import as_numbers, left_over, pairs_of
from clearwood.checks.twins import drawn_anew, some_sets
from clearwood.table import Column, Kind, Role, Table, as_table, identical_rows, row_hashes

__all__ = ["RepeatedUnits", "repeated_units"]

#: At least this share of the rows belongs to units with several rows, but at most so many, and
#: there are at least so many of these units. Otherwise they are levels of a category.
LEAST_SHARE, MOST_ROWS_EACH, FEWEST_UNITS = 0.5, 10, 30
#: A smaller correlation of the targets of a unit hardly changes an estimate.
LEAST_AGREEMENT = 0.05
_LEVEL = 0.001
#: Single columns that are looked at, and where several columns are not searched for units.
_MOST_CANDIDATES, _MOST_COLUMNS, _MOST_ROWS = 6, 60, 20_000
#: Columns together are units if resampled rows have more different values, by this share of rows.
_LEAST_UNEXPECTED = 0.2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RepeatedUnits(Result):
    """Rows that belong to the same person or thing; computed by `checks.repeated_units`.

    Parameters
    ----------
    columns
        The key, or the columns that identify a unit together; empty if none was found.
    n_rows, n_units
        Rows, and different values of these columns.
    n_repeated, largest
        Rows of units with several rows, and the most rows of one unit.
    agreement
        The correlation between the targets of a unit's rows once a forest that was fitted to other
        rows is taken off, less that between units with adjacent values of the columns: 0 where the
        key says no more than a smooth effect of its numbers would.
    p_value
        Of a test that it is 0.
    """

    columns: tuple[str, ...] = ()
    n_rows: int
    n_units: int = 0
    n_repeated: int = 0
    largest: int = 0
    agreement: float = 0.0
    p_value: float = 1.0
    _derived: ClassVar[tuple[str, ...]] = ("agree",)

    @property
    def agree(self) -> bool:
        """Whether the targets of a unit's rows are alike, more than chance and features explain."""
        return bool(self.columns) and self.p_value < _LEVEL and self.agreement >= LEAST_AGREEMENT

    @property
    def name(self) -> str:
        """The columns in words."""
        return " and ".join(self.columns)

    def __repr__(self) -> str:
        if not self.columns:
            return f"RepeatedUnits: none found in {count(self.n_rows, 'row')}"
        than = "more than" if self.agree else "no more than"
        return (
            f"RepeatedUnits: {self.name} has {count(self.n_units, 'value')} in "
            f"{count(self.n_rows, 'row')}, at most {self.largest:,} each. Targets of the same "
            f"value agree {than} the other columns explain (correlation {number(self.agreement)})"
        )


def repeated_units(data: object, *, seed: int = 0) -> RepeatedUnits:
    """Find a key column, or columns together, that tell which rows belong to the same unit.

    If a person is in the table several times, resampling by rows tests a model on people it was
    fitted to, and it looks better than it is for new people. A key has many different values with
    few rows each, whose targets are alike. Where no column is a key, columns that are the same in
    all rows of a person, such as a birthday and a sex, identify the person together. Pass such a
    column to ``clearwood.read(..., group=...)``.

    Parameters
    ----------
    data
        A table with a target.
    seed
        Fixes every draw.

    Returns
    -------
    RepeatedUnits
        The one whose targets agree most; ``columns`` is empty if there is none.

    Examples
    --------
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(200), 3)
    >>> y = rng.normal(size=200)[patient] + rng.normal(size=600)
    >>> data = cw.read({"patient": patient, "dose": rng.normal(size=600), "y": y}, target="y")
    >>> found = repeated_units(data)
    >>> found.columns, found.n_units, found.agree
    (('patient',), 200, True)
    """
    table = as_table(data)
    if table.target is None:
        raise InputError("the table has no target", parameter="target")
    rng = np.random.default_rng(seed)
    keys: list[tuple[tuple[str, ...], Index]] = []
    for name in _candidates(table):
        units = _units([table.column(name)])
        if _is_key(units):
            keys.append(((name,), units))
    keys = sorted(keys, key=lambda key: -int((np.bincount(key[1]) > 1).sum()))[:_MOST_CANDIDATES]
    several = _together(table, rng)
    if several is not None:
        keys.append(several)
    features = [table.column(name) for name in table.features]
    best = RepeatedUnits(n_rows=table.n_rows)
    for columns, units in keys:
        order = _by_value([table.column(name) for name in columns], units)
        rows = some_sets(units, rng)
        agreement, p = _beyond_neighbours(left_over(table, rows, []), order[rows])
        # most columns are cleared by the target itself, without a forest
        if p * len(keys) < _LEVEL and agreement >= LEAST_AGREEMENT:
            left = left_over(table, rows, features, units)
            agreement, p = _beyond_neighbours(left, order[rows])
        sizes = np.bincount(units)
        found = RepeatedUnits(
            columns=columns,
            n_rows=table.n_rows,
            n_units=len(sizes),
            n_repeated=int(sizes[sizes > 1].sum()),
            largest=int(sizes.max()),
            agreement=agreement,
            p_value=min(1.0, p * len(keys)),
        )
        if found.agree and found.agreement > best.agreement:
            best = found
    return best


def _candidates(table: Table) -> Iterator[str]:
    """Yield columns that may be keys: features, and identifiers that were left out."""
    for column in table.columns:
        may_be = table.role(column.name) in (Role.FEATURE, Role.IGNORED, Role.PROTECTED)
        if may_be and column.kind not in (Kind.DATE, Kind.YES_NO):
            yield column.name


def _units(columns: Sequence[Column]) -> Index:
    """Number the values; rows with a missing one are units of their own."""
    units = identical_rows(columns)
    missing = np.any([column.missing for column in columns], axis=0)
    units = np.where(missing, units.max() + 1 + np.arange(len(units)), units)
    return np.asarray(np.unique(units, return_inverse=True)[1], np.intp)


def _is_key(units: Index) -> bool:
    sizes = np.bincount(units)
    repeated = sizes[(sizes > 1) & (sizes <= MOST_ROWS_EACH)]
    return len(repeated) >= FEWEST_UNITS and bool(repeated.sum() >= LEAST_SHARE * len(units))


def _together(table: Table, rng: np.random.Generator) -> tuple[tuple[str, ...], Index] | None:
    """Return the features that are the same in rows of a unit, found by leaving out the others.

    Columns leave one by one: the one without which rows are identical most often, compared with
    resampled rows.
    """
    columns = [table.column(name) for name in table.features]
    if not 2 <= len(columns) <= _MOST_COLUMNS or table.n_rows > _MOST_ROWS:
        return None
    real = np.array([row_hashes([column], seed=k) for k, column in enumerate(columns)])
    if len(np.unique(real.sum(axis=0))) < table.n_rows / 2:
        return None  # identical rows have a check of their own
    drawn = drawn_anew(columns, rng)
    anew = np.array([row_hashes([column], seed=k) for k, column in enumerate(drawn)])
    chosen, best, most = np.arange(len(columns)), None, _LEAST_UNEXPECTED
    while len(chosen) > 2:
        gaps = [
            len(np.unique(anew[rest].sum(axis=0))) - len(np.unique(real[rest].sum(axis=0)))
            for rest in (np.delete(chosen, k) for k in range(len(chosen)))
        ]
        leaving = int(np.argmax(gaps))
        chosen = np.delete(chosen, leaving)
        if gaps[leaving] > most * table.n_rows:
            best, most = chosen, gaps[leaving] / table.n_rows
    if best is None:
        return None
    units = _units([columns[k] for k in best])
    return (tuple(columns[k].name for k in best), units) if _is_key(units) else None


def _by_value(columns: Sequence[Column], units: Index) -> Index:
    """Number units in the order of the values of their columns."""
    first = np.unique(units, return_index=True)[1]
    keys = [as_numbers(column.take(first)) for column in columns]
    place = np.empty(len(first), np.intp)
    place[np.lexsort(keys[::-1])] = np.arange(len(first))
    return place[units]


def _beyond_neighbours(left: Floats, order: Index) -> tuple[float, float]:
    """Return how much more rows of a unit agree than rows of adjacent units, and the p-value."""
    order = np.unique(order, return_inverse=True)[1]
    spread = (left**2).sum(axis=1).mean()
    within, squares, n_within = pairs_of(left, order)
    if not n_within or not spread > 0:
        return 0.0, 1.0
    # two units that follow each other have the pairs within both, and those between them
    between = between_squares = n_between = 0.0
    for start in (0, 1):
        total, its_squares, n_pairs = pairs_of(left, (order + start) // 2)
        between, between_squares = between + total, between_squares + its_squares
        n_between += n_pairs
    between, n_between = between - 2 * within, n_between - 2 * n_within
    between_squares -= 2 * squares
    apart = within / n_within - between / n_between
    se = np.sqrt(squares / n_within**2 + between_squares / n_between**2)
    return float(apart / spread), float(norm.sf(apart / se))
