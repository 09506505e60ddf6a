"""Groups of people: the levels of protected columns, bands of numbers, and their combinations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.numbers import number
from clearwood._shared.weights import quantiles
from clearwood.table import (
    NUMERIC,
    Column,
    Kind,
    Table,
    are_few_levels,
    identical_rows,
    number_text,
)

__all__ = [
    "Grouping",
    "Standing",
    "cross",
    "cut_points_by_column",
    "distinct",
    "group_by",
    "groups_of",
    "has_levels",
    "one_line",
    "protected_columns",
    "protected_names",
    "standings_of",
    "values_of",
    "word_for_missing",
]

#: More levels than these are no groups that an audit can compare.
MOST_LEVELS = 50
_MISSING = "missing"


class Standing(StrEnum):
    """Whether a group is judged, and if not, why.

    Examples
    --------
    >>> str(Standing.FEW_ROWS)
    'too few rows to tell'
    """

    JUDGED = "judged"
    FEW_ROWS = "too few rows to tell"
    SMALL_SHARE = "too small a share to tell"
    MISSING = "value missing, counted only"


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows in groups.

    Parameters
    ----------
    columns
        The protected columns: one, or several that are crossed.
    levels
        For each group, its level in every column; None for a missing value.
    which
        The group of each row.
    cells
        The protected columns with one row for each group; none where groups are bands.
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[str | None, ...], ...]
    which: Index
    cells: Table = field(default_factory=lambda: Table(()))

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def names(self) -> tuple[str, ...]:
        """What each group is called."""
        gap = word_for_missing(level for group in self.levels for level in group)
        return tuple(
            " / ".join(gap if level is None else one_line(level) for level in group)
            for group in self.levels
        )

    @property
    def title(self) -> str:
        """The columns in words."""
        return " × ".join(self.columns)

    def of_rows(self, rows: Index, others: Index) -> "Grouping":
        """Return the same groups for other rows of the table.

        Parameters
        ----------
        rows
            The position in the table of each row that is grouped.
        others
            The positions to find the groups of; each of them is among the rows.
        """
        by_row = np.full(max(rows.max(initial=-1), others.max(initial=-1)) + 1, -1, dtype=np.intp)
        by_row[rows] = self.which
        return replace(self, which=by_row[others])

    @property
    def are_missing(self) -> list[bool]:
        """Of each group, whether some value is missing."""
        return [None in group for group in self.levels]

    def take(self, rows: Index) -> "Grouping":
        """Return the same groups of some rows."""
        return replace(self, which=self.which[rows])

    def standings(
        self, weights: Floats | None, min_rows: int, min_share: float
    ) -> tuple[Standing, ...]:
        """Return which groups are judged.

        Parameters
        ----------
        weights
            Of the rows; those of weight 0 do not count.
        min_rows, min_share
            Groups with fewer rows or a smaller share of the weight are not judged.
        """
        own = np.ones(len(self.which)) if weights is None else weights
        rows = np.bincount(self.which[own > 0], minlength=len(self))
        totals = np.bincount(self.which, own, minlength=len(self))
        shares = totals / max(float(totals.sum()), 1e-300)
        return tuple(standings_of(self.are_missing, rows, shares, min_rows, min_share))


def standings_of(
    are_missing: Sequence[bool], rows: Index, shares: Floats, least: int, share: float
) -> list[Standing]:
    """Return which groups are judged: not those of missing values, of few rows or a small share.

    Examples
    --------
    >>> [str(one) for one in standings_of([False, True], np.array([50, 50]), np.ones(2), 30, 0.02)]
    ['judged', 'value missing, counted only']
    """
    return [
        Standing.MISSING
        if is_missing
        else Standing.FEW_ROWS
        if n < least
        else Standing.SMALL_SHARE
        if part < share
        else Standing.JUDGED
        for is_missing, n, part in zip(are_missing, rows.tolist(), shares.tolist(), strict=True)
    ]


def word_for_missing(levels: Iterable[str | None]) -> str:
    """Return what rows without a value are called: a word that is not a level."""
    return "no value" if _MISSING in set(levels) else _MISSING


def one_line(level: str) -> str:
    """Write a level without line breaks; one without any letter in quotes."""
    return " ".join(level.split()) or repr(level)


def protected_names(table: Table, protected: Any, schema: Any = None) -> tuple[str, ...]:
    """Return the protected columns: those named, or those with the role; refuse if none is left."""
    if protected is None:
        of_model = () if schema is None else schema.columns
        names = table.protected or tuple(
            c.name for c in of_model if c.role == "protected" and c.name in table.names
        )
        if not names:
            raise InputError(
                "no column is protected",
                parameter="protected",
                hint=words("name some: ", Option("protected", ["gender"]), "."),
            )
        return names
    named = [protected] if isinstance(protected, str) else list(protected)
    if not named:
        raise bad_value("protected", protected, "name at least one column")
    names = tuple(dict.fromkeys(_column(table, name).name for name in named))
    for name in names:
        if name == table.target:
            raise bad_value("protected", name, "it is the target, which cannot be protected")
    return names


def protected_columns(protected: Any, table: Table) -> tuple[str, ...]:
    """Return the protected columns of a model, which must hold several values and no free text."""
    names = protected_names(table, protected)
    for name in names:
        column = table.column(name)
        if column.kind is Kind.TEXT:
            raise bad_value("protected", name, "it holds free text, which no model uses")
        if not len(column) or (column.labels()[:1] == column.labels()).all():
            raise InputError(
                f"every row has the same value of the protected column {name!r}",
                parameter="protected",
                value=name,
                hint="give rows of at least two groups.",
            )
    return names


def _column(table: Table, name: Any) -> Column:
    try:
        return table.column(name)
    except InputError as error:
        raise InputError(
            f"there is no column {name!r} to protect",
            parameter="protected",
            value=name,
            hint=error.hint,
        ) from None


def group_by(column: Column, weights: Floats, cut_points: Any = None) -> Grouping:
    """Return the groups of one protected column, missing values as one of their own.

    Parameters
    ----------
    column
        The protected column.
    weights
        Of the rows; those of weight 0 belong to a group and do not make one.
    cut_points
        For numbers: the values at which one band ends and the next begins, or how many bands of
        about equal weight. Few different whole numbers are groups without bands.

    Examples
    --------
    >>> age = Column("age", Kind.NUMBER, np.array([20.0, 30.0, 70.0, np.nan]))
    >>> group_by(age, np.ones(4), [25, 65]).names
    ('below 25', '25 to below 65', '65 and more', 'missing')
    """
    if column.is_coded:
        if cut_points is not None:
            raise bad_value(
                "cut_points", cut_points, f"{column.name!r} has levels, and bands are of numbers"
            )
        names, codes = list(column.levels), column.values.astype(np.intp)
    elif column.kind is Kind.TEXT:
        raise InputError(
            f"the protected column {column.name!r} holds text",
            parameter="protected",
            value=column.name,
            hint="an audit compares groups: turn it into a column of few levels.",
        )
    elif cut_points is None and has_levels(column):
        distinct, where = np.unique(column.values[~column.missing], return_inverse=True)
        names, codes = [number_text(value) for value in distinct], np.full(len(column), -1, np.intp)
        codes[~column.missing] = where
    else:
        names, codes = _banded(column, weights, cut_points)
    known = (codes >= 0) & (weights > 0)
    used = np.flatnonzero(np.bincount(codes[known], minlength=len(names)))
    if len(used) > MOST_LEVELS:
        raise InputError(
            f"the protected column {column.name!r} has {len(used):,} levels",
            parameter="protected",
            value=column.name,
            hint=f"an audit compares groups: join levels until there are {MOST_LEVELS} or fewer.",
        )
    if len(used) < 2:
        only = f"has the value {names[used[0]]!r} only" if len(used) else "has no values"
        raise InputError(
            f"the protected column {column.name!r} {only}",
            parameter="protected",
            value=column.name,
            hint="an audit compares groups, so it needs rows of two or more.",
        )
    place = np.full(len(names) + 1, -1, dtype=np.intp)
    place[used] = np.arange(len(used))
    which = place[codes]
    levels: list[tuple[str | None]] = [(names[k],) for k in used]
    if (codes < 0).any():
        which[codes < 0] = len(used)
        levels.append((None,))
    # rows of weight 0 whose level no other row has belong to no group
    return Grouping((column.name,), tuple(levels), which)


def groups_of(table: Table, names: Sequence[str]) -> Grouping:
    """Return the groups of a table; columns of many numbers or too many levels are refused.

    Examples
    --------
    >>> import clearwood as cw
    >>> groups_of(cw.datasets.insurance(100), ["gender"]).names
    ('female', 'male')
    """
    for name in names:
        column = table.column(name)
        if not has_levels(column):
            held = "dates" if column.kind is Kind.DATE else "numbers"
            raise InputError(
                f"the protected column {name!r} holds {held}, which make no groups",
                parameter="protected",
                value=name,
                hint="make bands of it, such as 'under 25', and protect these.",
            )
    cells, which = distinct(table, names)
    if cells.n_rows > MOST_LEVELS:
        raise InputError(
            f"{' and '.join(map(repr, names))} make {cells.n_rows:,} groups; at most {MOST_LEVELS} "
            "can be compared",
            parameter="protected",
            value=list(names),
            hint="join levels before reading the table.",
        )
    levels = tuple(
        tuple(None if one is None else _level(one) for one in group) for group in values_of(cells)
    )
    return Grouping(tuple(names), levels, which, cells)


def distinct(table: Table, names: Sequence[str]) -> tuple[Table, Index]:
    """Return the combinations of values of some columns, and the one that each row has.

    Combinations are in the order of levels or numbers, missing values last.
    """
    columns = [table.column(name) for name in names]
    numbers = identical_rows(columns)
    first = np.unique(numbers, return_index=True)[1]
    keys = []
    for column in reversed(columns):
        values = column.values[first]
        missing = column.missing[first]
        ordered = np.where(missing, values[~missing][0], values) if (~missing).any() else values
        keys += [ordered, missing]
    order = np.lexsort(keys)
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    cells = Table(tuple(column.take(first[order]) for column in columns))
    return cells, place[numbers]


def values_of(cells: Table) -> tuple[tuple[Any, ...], ...]:
    """Return the values of each row of a few columns as plain values, None for missing."""
    columns = [
        [
            None if gap else label
            for gap, label in zip(column.missing, column.labels().tolist(), strict=True)
        ]
        for column in cells.columns
    ]
    return tuple(zip(*columns, strict=True))


def _level(value: Any) -> str:
    """Write a level, or one of few whole numbers."""
    return number_text(value) if isinstance(value, float) else str(value)


def has_levels(column: Column) -> bool:
    """Whether a column makes groups as it is: by its levels, or by few whole numbers.

    Examples
    --------
    >>> has_levels(Column("race", Kind.WHOLE, np.repeat([1.0, 2.0, 5.0], 20)))
    True
    """
    return column.is_coded or (column.kind in NUMERIC and are_few_levels(column.values))


def _banded(column: Column, weights: Floats, cut_points: Any) -> tuple[list[str], Index]:
    """Return the bands of numbers, from lowest to highest."""
    if column.kind not in NUMERIC:
        raise InputError(
            f"the protected column {column.name!r} holds dates",
            parameter="protected",
            value=column.name,
            hint="an audit compares groups: turn it into a column of few levels.",
        )
    values = np.asarray(column.values, dtype=np.float64)
    known = np.isfinite(values)
    if cut_points is None:
        raise InputError(
            f"the protected column {column.name!r} holds numbers, and an audit compares groups",
            parameter="cut_points",
            value=column.name,
            hint=words(
                "set the values between bands, such as ", Option("cut_points", [25, 65]), "."
            ),
        )
    if isinstance(cut_points, int | np.integer) and not isinstance(cut_points, bool):
        if cut_points < 2 or not known.any():
            raise bad_value(
                "cut_points", cut_points, "it must be 2 or more bands, or the values between"
            )
        levels = np.arange(1, cut_points) / cut_points
        counted = known & (weights > 0)
        edges = np.unique(quantiles(values[counted], levels, weights[counted]))
        edges = edges[edges > values[counted].min()]
    else:
        try:
            edges = np.array([float(edge) for edge in cut_points])
        except (TypeError, ValueError):
            edges = np.zeros(0)
        if not len(edges) or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
            raise bad_value("cut_points", cut_points, "it must be rising numbers, such as [25, 65]")
    codes = np.where(known, np.searchsorted(edges, values, side="right"), -1).astype(np.intp)
    if not len(edges):
        return ["all values"], codes
    texts = [number(edge, 6).replace(",", "") for edge in edges]
    middle = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *middle, f"{texts[-1]} and more"], codes


def cut_points_by_column(cut_points: Any, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the bands of each column; without names, those of the only column of numbers."""
    numbers = [column.name for column in columns if column.kind in NUMERIC]
    if cut_points is None:
        return {}
    if isinstance(cut_points, Mapping):
        known = {column.name for column in columns}
        for name in cut_points:
            if name not in known:
                raise bad_value("cut_points", cut_points, f"{name!r} is not a protected column")
        return dict(cut_points)
    if len(numbers) != 1:
        raise bad_value(
            "cut_points",
            cut_points,
            "no protected column holds numbers"
            if not numbers
            else "several protected columns hold numbers, so give bands by column",
            hint=None
            if not numbers
            else words("such as ", Option("cut_points", {numbers[0]: [25, 65]}), "."),
        )
    return {numbers[0]: cut_points}


def cross(groupings: Iterable[Grouping], weights: Floats) -> Grouping:
    """Return all combinations of groups that occur, in order.

    Examples
    --------
    >>> sex = Grouping(("sex",), (("f",), ("m",)), np.array([0, 1, 1]))
    >>> old = Grouping(("old",), (("no",), ("yes",)), np.array([0, 0, 1]))
    >>> cross([sex, old], np.ones(3)).names
    ('f / no', 'm / no', 'm / yes')
    """
    parts = list(groupings)
    code = np.zeros(len(parts[0].which), dtype=np.intp)
    for part in parts:
        code = code * (len(part.levels) + 1) + part.which + 1
    codes, which = np.unique(code[weights > 0], return_inverse=True)
    full = np.full(len(code), -1, dtype=np.intp)
    full[weights > 0] = which
    levels = []
    for code_of_cell in codes.tolist():
        names: list[str | None] = []
        rest = code_of_cell
        for part in reversed(parts):
            rest, place = divmod(rest, len(part.levels) + 1)
            names.insert(0, None if place == 0 else part.levels[place - 1][0])
        levels.append(tuple(names))
    columns = tuple(name for part in parts for name in part.columns)
    return Grouping(columns, tuple(levels), full)
