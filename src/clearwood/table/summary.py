"""A table in a few lines: for the terminal and for a notebook."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from clearwood._shared.errors import Text
from clearwood._shared.numbers import cell, count
from clearwood._shared.results import html_table
from clearwood.table.column import Column
from clearwood.table.types import Kind, Role, Task

__all__ = ["as_html", "as_text", "describe_values"]

WIDTH = 80
MOST_COLUMNS = 20
_NAME_WIDTH = 22
_HEADINGS = ("column", "kind", "role", "missing", "values")


class Summarised(Protocol):
    """What a summary needs of a table, wherever its rows are."""

    @property
    def n_rows(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def roles(self) -> Mapping[str, Role]: ...
    @property
    def task(self) -> Task | None: ...
    @property
    def target(self) -> str | None: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def missing(self) -> Mapping[str, int]: ...
    @property
    def dropped(self) -> int: ...
    @property
    def notes(self) -> tuple[Text, ...]: ...
    @property
    def keeps_identical(self) -> bool: ...


def as_text(
    table: Summarised, columns: Sequence[Column], *, held: str | None = None, n_zero_weight: int = 0
) -> str:
    """Write a table at 80 columns: what it is, then a line for each column.

    Parameters
    ----------
    table
        The table.
    columns
        Its columns, with all values or a few that show what they hold.
    held
        Where its rows are, if they are not in memory.
    n_zero_weight
        How many rows have the weight 0.
    """
    rows = _rows(table, columns)
    cells = [_HEADINGS, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(4)]
    widths[0] = min(widths[0], _NAME_WIDTH)
    lines = [_headline(table, held, n_zero_weight), ""]
    for name, kind, role, missing, values in cells:
        line = (
            f"  {_cut(name, widths[0]):<{widths[0]}}  {kind:<{widths[1]}}  {role:<{widths[2]}}  "
            f"{missing:>{widths[3]}}  {values}"
        )
        lines.append(_cut(line.rstrip(), WIDTH))
    more = len(table.names) - len(rows)
    if more > 0:
        lines.append(f"  … and {more} more")
    return "\n".join(lines)


def as_html(
    table: Summarised, columns: Sequence[Column], *, held: str | None = None, n_zero_weight: int = 0
) -> str:
    """Write a table for a notebook, as `as_text`; every name and value is escaped."""
    rows = _rows(table, columns)
    more = len(table.names) - len(rows)
    notes = [*map(str, table.notes), *([f"… and {more} more columns"] if more > 0 else [])]
    return html_table(_headline(table, held, n_zero_weight), _HEADINGS, rows, notes)


def describe_values(column: Column) -> str:
    """Describe the values of a column: their range, or the first levels.

    Examples
    --------
    >>> describe_values(Column("age", Kind.WHOLE, np.array([18.0, 80.0])))
    '18 to 80'
    >>> describe_values(Column("town", Kind.CATEGORY, np.zeros(1, np.int32), ("Bern", "Chur")))
    'Bern, Chur'
    """
    present = column.values[~column.missing]
    if column.is_coded:
        shown = ", ".join(column.levels[:4])
        return f"{len(column.levels):,} levels: {shown}, …" if len(column.levels) > 4 else shown
    if not len(present):
        return "-"
    if column.kind is Kind.TEXT:
        return f"such as {present[0]!r}"
    low, high = present.min(), present.max()
    if column.kind is Kind.DATE:
        return f"{np.datetime_as_string(low, 'D')} to {np.datetime_as_string(high, 'D')}"
    unit = f" {column.unit}" if column.unit and not column.header else ""
    return f"{cell(low)} to {cell(high)}{unit}"


def _headline(table: Summarised, held: str | None, n_zero_weight: int) -> str:
    parts = [count(table.n_rows, "row"), count(len(table.names), "column")]
    parts += [] if held is None else [held]
    if table.target is not None:
        parts.append(f"{table.task} of {table.outcome!r}")
    if Role.WEIGHT in table.roles.values():
        parts.append(f"weighted{f' ({n_zero_weight:,} of weight 0)' if n_zero_weight else ''}")
    if table.dropped:
        parts.append(f"{count(table.dropped, 'row')} without a target left out")
    if table.keeps_identical:
        parts.append("identical rows are one group")
    return f"{type(table).__name__}: " + ", ".join(parts)


def _rows(table: Summarised, columns: Sequence[Column]) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            column.name.replace("\n", " "),
            column.kind.value,
            table.roles.get(column.name, Role.FEATURE).value,
            f"{table.missing[column.name]:,}" if table.missing[column.name] else "-",
            describe_values(column).replace("\n", " "),
        )
        for column in columns[:MOST_COLUMNS]
    ]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
