"""What the verbs of `clearwood explain` share: their files, and how results are written."""

import io
import json as jsons
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.cli.support.console import emit, prose, say, width, written
from clearwood.cli.support.tables import terminal_table

__all__ = [
    "ClassName",
    "DataFile",
    "Groups",
    "Outputs",
    "Scale",
    "TimeLimit",
    "check_outputs",
    "groups_of",
    "show",
]

#: What a result is written as, by the ending of the file's name.
_ENDINGS = (".json", ".csv", ".parquet", ".svg", ".png", ".html")
_PICTURES = (".svg", ".png", ".html")
_SHARPNESS = 2

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="Rows with the model's columns, usually the training rows."
    ),
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where it goes; the ending says as what: .json, .csv, .parquet, .svg, .png, .html. "
        "Repeatable.",
        show_default=False,
    ),
]
ClassName = Annotated[
    str | None,
    typer.Option(
        "--class",
        metavar="NAME",
        help="The class or output that is explained (output= in the library); all without it, of "
        "two classes the second.",
        show_default=False,
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="probability, margin (log odds) or response.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="After so long what is done is given, with its errors.",
        show_default=False,
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="NAME=COLUMN,COLUMN",
        help="Columns that count as one. Repeatable.",
        show_default=False,
    ),
]


def groups_of(texts: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Read groups of columns: ``place=lat,lon``.

    Examples
    --------
    >>> groups_of(["place=lat,lon", "money=income"])
    {'place': ['lat', 'lon'], 'money': ['income']}
    """
    found: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, columns = text.partition("=")
        listed = [column.strip() for column in columns.split(",") if column.strip()]
        if not equals or not name.strip() or not listed:
            raise InputError(
                f"--groups {text!r} is not of the form NAME=COLUMN,COLUMN",
                hint="write it like --groups place=lat,lon",
            )
        if name.strip() in found:
            raise InputError(f"the group {name.strip()!r} is given twice")
        found[name.strip()] = listed
    return found or None


def check_outputs(outputs: Sequence[Path] | None, *, force: bool, inputs: Sequence[Path]) -> None:
    """Raise, before any work, where the result could not be written afterwards."""
    from clearwood.cli.support.files import check_output

    for path in outputs or ():
        if path.suffix.lower() not in _ENDINGS:
            raise InputError(
                f"'{path}' does not say what it is: its name ends in {path.suffix or 'nothing'!r}",
                hint=did_you_mean(path.suffix, _ENDINGS),
            )
        check_output(path, force=force, inputs=inputs)


def show(result: Any, outputs: Sequence[Path] | None, *, force: bool, as_json: bool) -> None:
    """Write a result to its files; then say it, as words or as JSON."""
    from clearwood.cli.support.files import write_columns, write_json

    for path in outputs or ():
        ending = path.suffix.lower()
        if ending == ".json":
            write_json(path, result.to_json(), force=force)
        elif ending in _PICTURES:
            _write_picture(path, result.plot(), force=force)
        else:
            write_columns(path, _written_out(result.to_frame("dict")), force=force)
    if as_json:
        emit({**result.to_json(), "files": [str(path) for path in outputs or ()]})
        return
    words = repr(result)
    say(prose(words))
    for note in getattr(result, "notes", ()):
        if note not in words:
            say(prose(f"note: {note}"))
    for path in outputs or ():
        say(f"Wrote {path}")
    if not outputs:
        say("", terminal_table(result.to_frame("dict"), width()))


def _write_picture(path: Path, chart: Any, *, force: bool) -> None:
    from clearwood.files import atomic_write

    ending = path.suffix.lower().removeprefix(".")
    if ending == "html":
        made = chart.to_html(inline=True).encode("utf-8")
    else:
        buffer: Any = io.BytesIO() if ending == "png" else io.StringIO()
        chart.save(
            buffer, format=ending, **({"scale_factor": _SHARPNESS} if ending == "png" else {})
        )
        found = buffer.getvalue()
        made = found if isinstance(found, bytes) else found.encode("utf-8")
    with atomic_write(path, force=force) as file:
        file.write(made)
    written.append(path)


def _written_out(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Write what a table cannot hold as JSON text: lists within a cell."""
    return {
        name: [jsons.dumps(v) if isinstance(v, list | dict) else v for v in values]
        for name, values in columns.items()
    }
