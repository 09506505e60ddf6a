"""Results of explanations in files, as text and as JSON."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.cli.support.console import (
    print_json,
    print_text,
    prose,
    text_without,
    width,
    written,
)
from clearwood.cli.support.tables import terminal_table

__all__ = ["check_outputs", "show"]

#: The formats of a result, by the ending of the file's name.
_PICTURES = (".svg", ".png", ".html")
_ENDINGS = (".json", ".csv", ".parquet", *_PICTURES)
_PNG_SCALE = 2


def check_outputs(files: Sequence[Path], *, force: bool, inputs: Sequence[Path]) -> None:
    """Raise, before any work, if the result could not be written afterwards."""
    from clearwood.cli.support.files import check_output

    for path in files:
        if path.suffix.lower() not in _ENDINGS:
            raise InputError(
                f"'{path}' has no known format: its name ends in {path.suffix or 'nothing'!r}",
                hint=did_you_mean(path.suffix, _ENDINGS),
            )
        check_output(path, force=force, inputs=inputs)


def show(result: Any, files: Sequence[Path], *, force: bool, as_json: bool) -> None:
    """Write a result to its files; then print it, as text or as JSON."""
    from clearwood.cli.support.files import write_columns, write_json

    for path in files:
        if path.suffix.lower() == ".json":
            write_json(path, result.to_json(), force=force)
        elif path.suffix.lower() in _PICTURES:
            _write_picture(path, result.plot(), force=force)
        else:
            write_columns(path, _with_lists_as_text(result.to_frame("dict")), force=force)
    if as_json:
        print_json({**result.to_json(), "files": [str(path) for path in files]})
        return
    if hasattr(result, "notes"):
        print_text(prose(text_without(result, "notes")))
        print_text(*(prose(f"note: {note}") for note in result.notes))
    else:
        print_text(prose(repr(result)))
    print_text(*(f"Wrote {path}" for path in files))
    if not files:
        print_text(terminal_table(result.to_frame("dict"), width()))


def _write_picture(path: Path, chart: Any, *, force: bool) -> None:
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
