"""Tables on a terminal of any width, with every number whole."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import IN_TABLES, number

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["terminal_table"]

#: Lines that are shown of a long table; the middle is left out.
_MOST_LINES = 40
#: Longer texts go to files only; on a terminal, sentences are printed above the table.
_LONGEST_TEXT = 30
_GAP = 3


def terminal_table(
    columns: Mapping[str, Sequence[Any]], width: int, *, spare: Sequence[str] = ()
) -> "Table":
    """Lay out named columns: one line per row or, where that is too wide, one line per column.

    Parameters
    ----------
    columns
        Values by name, all of one length.
    width
        The number of characters in a line.
    spare
        Columns that are left out, in this order, while lines are too long.

    Returns
    -------
    rich.table.Table
        A long table without its middle rows; a wide one without the rows that do not fit.
    """
    cells = {name: [_cell(value) for value in _some(values)] for name, values in columns.items()}
    short = {name: texts for name, texts in cells.items() if _widest(texts) <= _LONGEST_TEXT}
    cells = short or cells
    numeric = {
        name: all(value is None or isinstance(value, int | float) for value in columns[name])
        for name in cells
    }
    needed = {name: max(_widest(texts), len(name)) + _GAP for name, texts in cells.items()}
    fewer = list(cells)
    for name in spare:
        if sum(needed[kept] for kept in fewer) > width and name in fewer:
            fewer.remove(name)
    if sum(needed[kept] for kept in fewer) <= width:
        lines = zip(*(cells[kept] for kept in fewer), strict=True)
        return _drawn(fewer, [numeric[kept] for kept in fewer], lines)
    return _turned(cells, width)


def _turned(cells: Mapping[str, list[str]], width: int) -> "Table":
    """Draw one line for each column but the first, whose values become the headings."""
    (first, headings), *others = cells.items()
    needed = [
        _GAP + max(len(heading), *(len(texts[row]) for _, texts in others))
        for row, heading in enumerate(headings)
    ]
    room = width - _GAP - max(len(name) for name in cells)
    fitting = len(headings)
    if sum(needed) > room:
        room -= _GAP + 1  # for the sign that rows are left out
        fitting = max(1, sum(total <= room for total in accumulate(needed)))
    more = ["…"] if fitting < len(headings) else []
    lines = ([name, *texts[:fitting], *more] for name, texts in others)
    names = [first, *headings[:fitting], *more]
    return _drawn(names, [False, *([True] * (len(names) - 1))], lines)


def _drawn(names: Sequence[str], numeric: Sequence[bool], lines: Any) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(names, numeric, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def _some(values: Sequence[Any]) -> list[Any]:
    half = _MOST_LINES // 2
    return list(values) if len(values) <= _MOST_LINES else [*values[:half], ..., *values[-half:]]


def _cell(value: Any) -> str:
    if value is ...:
        return "…"
    if value is None or value != value:  # NaN differs from itself
        return ""
    return number(value, IN_TABLES) if isinstance(value, float) else str(value)


def _widest(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)
