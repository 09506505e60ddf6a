"""A table in a few lines: for the terminal and for a notebook."""

from typing import TYPE_CHECKING

import numpy as np

from clearwood._shared.numbers import cell, count
from clearwood._shared.results import html_table
from clearwood.table.column import Column
from clearwood.table.table import Table
from clearwood.table.types import Kind, Role

if TYPE_CHECKING:
    from clearwood.table.parts.parts import Parts

__all__ = ["as_html", "as_text", "describe_values"]

WIDTH = 80
MOST_COLUMNS = 20
_NAME_WIDTH = 22
_HEADINGS = ("column", "kind", "role", "missing", "values")


def as_text(table: "Table | Parts") -> str:
    """Write the table at 80 columns: what it is, then a line for each column."""
    rows = _rows(table)
    cells = [_HEADINGS, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(4)]
    widths[0] = min(widths[0], _NAME_WIDTH)
    lines = [_headline(table), ""]
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


def as_html(table: "Table | Parts") -> str:
    """Write the table for a notebook; every name and value is escaped."""
    rows = _rows(table)
    more = len(table.names) - len(rows)
    notes = [*map(str, table.notes), *([f"… and {more} more columns"] if more > 0 else [])]
    return html_table(_headline(table), _HEADINGS, rows, notes)


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


def _headline(table: "Table | Parts") -> str:
    parts = [count(table.n_rows, "row"), count(len(table.names), "column")]
    if not isinstance(table, Table):
        parts.append(f"in {count(len(table.parts), 'part')}")
    if table.target is not None:
        parts.append(f"{table.task} of {table.outcome!r}")
    if Role.WEIGHT in table.roles.values():
        weights = table.row_weights if isinstance(table, Table) else None
        zero = 0 if weights is None else int(np.count_nonzero(weights == 0))
        parts.append(f"weighted{f' ({zero:,} of weight 0)' if zero else ''}")
    if table.dropped:
        parts.append(f"{count(table.dropped, 'row')} without a target left out")
    if table.keeps_identical:
        parts.append("identical rows are one group")
    return f"{type(table).__name__}: " + ", ".join(parts)


def _rows(table: "Table | Parts") -> list[tuple[str, str, str, str, str]]:
    columns = table.columns if isinstance(table, Table) else table.shown
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
