"""Results in files, by the ending of the file's name, as text and as JSON."""

import io
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from clearwood.cli.support.console import (
    print_json,
    print_text,
    prose,
    text_without,
    width,
    written,
)
from clearwood.cli.support.tables import terminal_table

__all__ = ["PICTURES", "RESULTS", "show", "write_picture", "write_result"]

#: The formats of a result, by the ending of the file's name.
PICTURES = (".svg", ".png", ".html")
RESULTS = (".json", ".csv", ".parquet", *PICTURES)
_PNG_SCALE = 2


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
