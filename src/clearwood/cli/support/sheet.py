"""A frame on a terminal: no number is broken, whatever the width."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from clearwood.cli.support.console import figure

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["sheet"]

#: Lines that are shown of a long frame, the middle left out.
_MOST_LINES = 40
#: Text that is longer belongs into a file; on a terminal, sentences stand above the numbers.
_LONGEST_TEXT = 30
_GAP = 3


def sheet(columns: Mapping[str, Sequence[Any]], width: int) -> "Table":
    """Lay out named columns: one line for each row or, where that is too wide, for each column.

    Parameters
    ----------
    columns
        Values by name, all of one length.
    width
        Characters that a line may have.

    Returns
    -------
    rich.table.Table
        The middle rows of a long frame are left out; of a wide one, the rows that do not fit.
    """
    cells = {name: [_cell(value) for value in _some(values)] for name, values in columns.items()}
    short = {name: texts for name, texts in cells.items() if _widest(texts) <= _LONGEST_TEXT}
    cells = short or cells
    numeric = {
        name: all(value is None or isinstance(value, int | float) for value in columns[name])
        for name in cells
    }
    needed = sum(max(_widest(texts), len(name)) + _GAP for name, texts in cells.items())
    if needed <= width:
        return _drawn(list(cells), list(numeric.values()), zip(*cells.values(), strict=True))
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

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(names, numeric, strict=True):
        made.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for line in lines:
        made.add_row(*map(Text, line))
    return made


def _some(values: Sequence[Any]) -> list[Any]:
    half = _MOST_LINES // 2
    return list(values) if len(values) <= _MOST_LINES else [*values[:half], ..., *values[-half:]]


def _cell(value: Any) -> str:
    if value is ...:
        return "…"
    if value is None or value != value:  # NaN differs from itself
        return ""
    return figure(value) if isinstance(value, float) else str(value)


def _widest(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)
