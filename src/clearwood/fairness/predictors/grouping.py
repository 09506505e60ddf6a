"""Rows by the levels of their protected columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood.fairness.groups.grouping import Standing, has_levels, standings_of, word_for_missing
from clearwood.fairness.predictors.law import Law, distinct
from clearwood.table import Kind, Table, number_text

__all__ = ["Groups", "groups_of", "protected_columns"]

#: More groups than these are too many to compare, and too small.
MOST_GROUPS = 50


def protected_columns(protected: Any, table: Table) -> tuple[str, ...]:
    """Return the protected columns: those named, else those with that role in the table."""
    names = (protected,) if isinstance(protected, str) else tuple(protected or table.protected)
    if not names:
        raise InputError(
            "no column is protected",
            parameter="protected",
            hint=words("name some: ", Option("protected", ["gender"]), "."),
        )
    for name in names:
        if name not in table.names and name not in (c.header for c in table.columns):
            raise InputError(
                f"there is no column {name!r} to protect",
                parameter="protected",
                value=name,
                hint=did_you_mean(str(name), table.names),
            )
    columns = dict.fromkeys(table.column(name).name for name in names)
    for name in columns:
        column = table.column(name)
        if column.kind is Kind.TEXT:
            raise bad_value("protected", name, "it holds free text, which no model uses")
        if name == table.target:
            raise bad_value("protected", name, "it is the target")
        if not len(column) or (column.labels()[:1] == column.labels()).all():
            raise InputError(
                f"every row has the same value of the protected column {name!r}",
                parameter="protected",
                value=name,
                hint="give rows of at least two groups.",
            )
    return tuple(columns)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of rows that protected columns make.

    Parameters
    ----------
    cells
        The protected columns: one row for each group.
    which
        The group of each row.
    """

    cells: Table
    which: Index

    def __len__(self) -> int:
        return self.cells.n_rows

    @property
    def labels(self) -> tuple[str, ...]:
        """What each group is called: its level, or levels joined by " & "."""
        law = Law(self.cells, self.which[:0].astype(float))
        gap = word_for_missing(str(one) for labels in law.labels for one in labels)
        return tuple(
            " & ".join(gap if one is None else _label(one) for one in labels)
            for labels in law.labels
        )

    def take(self, rows: Index) -> "Groups":
        """Return the same groups of some rows."""
        return Groups(self.cells, self.which[rows])

    def standings(
        self, weights: Floats | None, min_rows: int, min_share: float
    ) -> tuple[Standing, ...]:
        """Return which groups are judged, by the same rule as the measures of an audit.

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
        are_missing = np.any([column.missing for column in self.cells.columns], axis=0)
        shares = totals / max(float(totals.sum()), 1e-300)
        return tuple(standings_of(are_missing.tolist(), rows, shares, min_rows, min_share))


def groups_of(table: Table, names: Sequence[str]) -> Groups:
    """Return the groups of a table; columns of many numbers or too many levels are refused.

    Examples
    --------
    >>> import clearwood as cw
    >>> groups_of(cw.datasets.insurance(100), ["gender"]).labels
    ('female', 'male')
    """
    for name in names:
        column = table.column(name)
        if not has_levels(column):
            raise InputError(
                f"the protected column {name!r} holds {_held(column.kind)}, which make no groups",
                parameter="protected",
                value=name,
                hint="make bands of it, such as 'under 25', and protect these.",
            )
    cells, which = distinct(table, names)
    if cells.n_rows > MOST_GROUPS:
        raise InputError(
            f"{' and '.join(map(repr, names))} make {cells.n_rows:,} groups; at most {MOST_GROUPS} "
            "can be compared",
            parameter="protected",
            value=list(names),
            hint="join levels before reading the table.",
        )
    return Groups(cells, which)


def _label(value: Any) -> str:
    """Write a level, or one of few whole numbers."""
    return number_text(value) if isinstance(value, float) else str(value)


def _held(kind: Kind) -> str:
    return "dates" if kind is Kind.DATE else "numbers"
