"""Writing results to files: checked before the work, written whole after it."""

import csv
import io
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError, MissingExtraError, did_you_mean
from clearwood._shared.numbers import IN_TABLES, number
from clearwood.cli.support.console import (
    json_text,
    print_json,
    print_text,
    prose,
    text_without,
    width,
    written,
)

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "PICTURES",
    "RESULTS",
    "check_output",
    "is_parquet",
    "require_folder",
    "require_parquet",
    "show",
    "terminal_table",
    "write_columns",
    "write_csv",
    "write_json",
    "write_picture",
    "write_result",
]

#: The formats of a result, by the ending of the file's name.
PICTURES = (".svg", ".png", ".html")
RESULTS = (".json", ".csv", ".parquet", *PICTURES)
_PNG_SCALE = 2
#: Lines that are shown of a long table; the middle is left out.
_MOST_LINES = 40
#: Longer texts go to files only; on a terminal, sentences are printed above the table.
_LONGEST_TEXT = 30
_GAP = 3


class _TrialError(Exception):
    """Ends a write that only tries whether writing is possible."""


def check_output(
    path: Path, *endings: str, force: bool, inputs: Iterable[Path] = (), needs_ending: bool = False
) -> None:
    """Raise, before hours of work, if a file could not be written afterwards.

    Parameters
    ----------
    path
        Where the output will go.
    endings
        What its name may end in: each stands for a format that can be written.
    force
        Whether it may replace what is there.
    inputs
        Files that will be read; the output never replaces one of them.
    needs_ending
        Whether a name without an ending leaves open which format is meant.
    """
    from clearwood.files import atomic_write

    for source in inputs:
        if path.is_file() and source.is_file() and path.samefile(source):
            raise InputError(
                f"'{path}' is both an input and the output", hint="name another output with -o."
            )
    ending = path.suffix.lower()
    if ending not in endings and (ending or needs_ending) and not path.is_dir():
        raise InputError(
            f"'{path}' has no format that can be written here: its name ends in "
            f"{ending or 'nothing'!r}",
            hint=did_you_mean(ending, endings),
        )
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device or pipe: opening it is already using it
    if is_parquet(path):
        require_parquet()
    with suppress(_TrialError), atomic_write(path, force=force):
        raise _TrialError


def require_folder(path: Path) -> None:
    """Raise if the folder for the output does not exist or is a file."""
    if path.is_dir():
        return
    if path.exists():
        raise InputError(f"'{path}' is a file, not a folder", hint="choose a folder with -o.")
    raise InputError(
        f"the folder '{path}' does not exist", hint=f"make it: mkdir -p {shlex.quote(str(path))}"
    )


def is_parquet(path: Path) -> bool:
    """Whether a file's name stands for Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def require_parquet() -> None:
    """Raise, with the install command, if Parquet cannot be written."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet files", extra="arrow")


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]], *, force: bool) -> None:
    """Write named columns as Parquet or, by any other ending, as CSV."""
    from clearwood.files import atomic_write

    if is_parquet(path):
        require_parquet()
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
        with atomic_write(path, force=force) as file:
            pq.write_table(table, file)
    else:
        with atomic_write(path, force=force, text=True) as file:
            write_csv(file, columns)
    written.append(path)


def write_csv(file: "io.TextIOBase | Any", columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as CSV, numbers with all their digits."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def write_json(path: Path, document: Mapping[str, Any], *, force: bool) -> None:
    """Write one JSON document."""
    from clearwood.files import atomic_write

    with atomic_write(path, force=force, text=True) as file:
        file.write(json_text(document))
    written.append(path)


def show(
    result: Any, files: Sequence[Path], *, force: bool, as_json: bool, table: bool = True
) -> None:
    """Write a result to its files; then print it, as text or as JSON."""
    for path in files:
        write_result(path, result, force=force)
    if as_json:
        print_json({**result.to_json(), "files": [str(path) for path in files]})
        return
    has_notes = is_dataclass(result) and "notes" in {field.name for field in fields(result)}
    if has_notes:
        print_text(prose(text_without(result, "notes")))
        print_text(*(prose(f"note: {note}") for note in result.notes))
    else:
        print_text(prose(repr(result)))
    print_text(*(f"Wrote {path}" for path in files))
    if table and not files:
        shown = result.without_rounding() if hasattr(result, "without_rounding") else result
        print_text(terminal_table(shown.to_frame("dict"), width()))


def write_result(path: Path, result: Any, *, force: bool) -> None:
    """Write a result as what the ending of the file's name stands for; JSON without an ending."""
    from clearwood.cli.support.files import write_columns, write_json

    ending = path.suffix.lower()
    if ending in (".json", ""):
        write_json(path, result.to_json(), force=force)
    elif ending in PICTURES:
        write_picture(path, result.plot(), force=force)
    else:
        write_columns(path, _with_lists_as_text(result.to_frame("dict")), force=force)


def write_picture(path: Path, chart: Any, *, force: bool) -> None:
    """Write a figure as what the ending of the file's name stands for."""
    from clearwood.files import atomic_write

    if path.suffix.lower() == ".html":
        content = chart.to_html(inline=True).encode("utf-8")
    elif path.suffix.lower() == ".png":
        image = io.BytesIO()
        chart.save(image, format="png", scale_factor=_PNG_SCALE)
        content = image.getvalue()
    else:
        text = io.StringIO()
        chart.save(text, format="svg")
        content = text.getvalue().encode("utf-8")
    with atomic_write(path, force=force) as file:
        file.write(content)
    written.append(path)


def _with_lists_as_text(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Write lists within a cell, which a table cannot hold, as JSON text."""
    return {
        name: [json.dumps(v) if isinstance(v, list | dict) else v for v in values]
        for name, values in columns.items()
    }


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
