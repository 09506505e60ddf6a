"""How the cells of a sheet are written: mostly one number of decimals a column, bars to scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.numbers import IN_TABLES, number
from clearwood._shared.numbers import cell as written_value
from clearwood.reporting.page.blocks import Cell, Sheet

__all__ = ["Bar", "WrittenCell", "is_numeric", "written_rows"]

_LEAST = 2  # significant digits of the smallest number of a column; the largest has IN_TABLES
_WIDEST = 9  # characters of digits; a column that needs more is written number by number


@dataclass(frozen=True)
class Bar:
    """Where a bar lies in its cell, in percent of the cell's width."""

    start: float
    length: float
    negative: bool


@dataclass(frozen=True)
class WrittenCell:
    """A cell as it is shown; ``value`` is its exact number, if the text is rounded."""

    text: str
    value: str | None = None
    numeric: bool = False
    bar: Bar | None = None


def is_numeric(cells: Sequence[Cell]) -> bool:
    """Whether a column holds numbers only; empty cells do not count, but one number must."""
    filled = [cell for cell in map(_plain, cells) if cell is not None]
    return bool(filled) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in filled
    )


def written_rows(sheet: Sheet) -> list[list[WrittenCell]]:
    """Write a sheet's cells, row by row.

    Examples
    --------
    >>> sheet = Sheet("s", "", ("name", "share"), (("age", 0.5), ("power", 12.25)))
    >>> [[cell.text for cell in row] for row in written_rows(sheet)]
    [['age', '0.50'], ['power', '12.25']]
    """
    columns = [
        _written(
            tuple(row[place] for row in sheet.rows),
            bars=name in sheet.bars,
            mixed=name in sheet.mixed,
        )
        for place, name in enumerate(sheet.columns)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _plain(cell: Any) -> Cell:
    """Take NumPy's scalars as Python's, and a number that is none as an empty cell."""
    value: Cell = cell.item() if isinstance(cell, np.generic) else cell
    return None if isinstance(value, float) and math.isnan(value) else value


def _written(cells: Sequence[Cell], *, bars: bool, mixed: bool) -> list[WrittenCell]:
    plain = [_plain(cell) for cell in cells]
    if not is_numeric(plain):
        return [_written_word(cell) for cell in plain]
    numbers = [None if cell is None else float(cell) for cell in plain]
    form = None if mixed else _format([cell for cell in plain if cell is not None])
    spans = _bars(numbers) if bars else [None] * len(numbers)
    return [_written_number(cell, form, bar) for cell, bar in zip(plain, spans, strict=True)]


def _written_word(cell: Cell) -> WrittenCell:
    if isinstance(cell, bool):
        return WrittenCell("yes" if cell else "no")
    if isinstance(cell, int | float):
        return WrittenCell(number(cell, IN_TABLES), repr(cell))
    return WrittenCell(cell or "")


def _written_number(cell: Cell, form: str | None, bar: Bar | None) -> WrittenCell:
    if cell is None:
        return WrittenCell("", numeric=True)
    assert not isinstance(cell, str)
    if math.isinf(cell):
        return WrittenCell("∞" if cell > 0 else "−∞", str(cell), numeric=True)
    text = written_value(float(cell)) if form is None else format(cell, form)
    text = text.replace("-", "−")  # as wide as a plus, so that columns stay aligned
    exact = repr(cell)
    return WrittenCell(text, None if text == exact else exact, numeric=True, bar=bar)


def _format(cells: Sequence[Any]) -> str | None:
    """Return the format that suits every number of a column; None if none does."""
    decimals = 0 if all(isinstance(cell, int) for cell in cells) else _decimals(cells)
    # years and small counts read better without separators
    grouped = any(math.isfinite(cell) and abs(cell) >= 10_000 for cell in cells)
    return None if decimals is None else f"{',' if grouped else ''}.{decimals}f"


def _decimals(numbers: Sequence[float]) -> int | None:
    sizes = [abs(number) for number in numbers if number and math.isfinite(number)]
    if not sizes:
        return 0
    top, bottom = (math.floor(math.log10(size)) for size in (max(sizes), min(sizes)))
    decimals = max(IN_TABLES - 1 - top, _LEAST - 1 - bottom, 0)
    while decimals and all(
        math.isclose(size, round(size, decimals - 1), rel_tol=1e-12) for size in sizes
    ):
        decimals -= 1
    return decimals if decimals + max(top, 0) + 1 <= _WIDEST else None


def _bars(numbers: Sequence[float | None]) -> list[Bar | None]:
    finite = [n for n in numbers if n is not None and math.isfinite(n)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    span = high - low or 1.0
    return [
        Bar(
            start=round(100 * (min(n, 0.0) - low) / span, 1),
            length=round(100 * abs(n) / span, 1),
            negative=n < 0,
        )
        if n is not None and math.isfinite(n)
        else None
        for n in numbers
    ]
