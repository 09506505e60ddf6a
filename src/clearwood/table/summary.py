"""A table in a few lines: for the terminal and for a notebook."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from clearwood.table.column import Column
from clearwood.table.reading.raw import number_text
from clearwood.table.types import Kind, Role

if TYPE_CHECKING:
    from clearwood.table.table import Table

__all__ = ["as_html", "as_text", "describe_values"]

WIDTH = 80
MOST_COLUMNS = 20
_NAME_WIDTH = 22
_HEADINGS = ("column", "kind", "role", "missing", "values")


def as_text(table: "Table") -> str:
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
    more = len(table.columns) - len(rows)
    if more > 0:
        lines.append(f"  … and {more} more")
    return "\n".join(lines)


def as_html(table: "Table") -> str:
    """Write the table for a notebook; every name and value is escaped."""
    head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
    rows = _rows(table)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    more = len(table.columns) - len(rows)
    notes = [*table.notes, *([f"… and {more} more columns"] if more > 0 else [])]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f'<div class="clearwood-table"><p>{escape(_headline(table))}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{listed}</ul>" if listed else "")
        + "</div>"
    )


def describe_values(column: Column) -> str:
    """Say what a column's values are: their range, or the first levels.

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
    return f"{_short(low)} to {_short(high)}"


def _headline(table: "Table") -> str:
    parts = [f"{table.n_rows:,} rows", f"{len(table.columns):,} columns"]
    if table.target is not None:
        parts.append(f"{table.task} of {table.target!r}")
    if table.dropped:
        parts.append(f"{table.dropped:,} rows without a target left out")
    return "Table: " + ", ".join(parts)


def _rows(table: "Table") -> list[tuple[str, str, str, str, str]]:
    return [
        (
            column.name.replace("\n", " "),
            column.kind.value,
            table.roles.get(column.name, Role.FEATURE).value,
            f"{column.n_missing:,}" if column.n_missing else "-",
            describe_values(column).replace("\n", " "),
        )
        for column in table.columns[:MOST_COLUMNS]
    ]


def _short(value: float) -> str:
    return f"{value:.4g}" if not float(value).is_integer() else number_text(value)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
