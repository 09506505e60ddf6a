"""Options that several verbs share, and how their values are read."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from clearwood._errors import InputError

__all__ = [
    "Decimal",
    "Delimiter",
    "Encoding",
    "Force",
    "Jobs",
    "Json",
    "ModelFile",
    "Seed",
    "pairs",
    "setting",
]

_FILE_FORMAT = "Reading the file"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of words.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Fixes every random choice.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", help="Cores to use; -1 for all of them.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as `clearwood fit` writes it.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help="What separates cells; found out when left out.",
        rich_help_panel=_FILE_FORMAT,
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        "--decimal",
        metavar="CHAR",
        help="The decimal sign of numbers.",
        rich_help_panel=_FILE_FORMAT,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The file's encoding, such as latin-1; found out when left out.",
        rich_help_panel=_FILE_FORMAT,
    ),
]


def pairs(option: str, texts: Iterable[str], *, example: str) -> dict[str, str]:
    """Read the values of an option that is given as NAME=VALUE, any number of times.

    The last "=" divides a column's name from its kind, so names may hold one themselves.

    Examples
    --------
    >>> pairs("--kind", ["zip=category", "a=b=number"], example="zip=category")
    {'zip': 'category', 'a=b': 'number'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value:
            raise InputError(
                f"{option} {text!r} is not of the form NAME=VALUE",
                hint=f"write it like {option} {example}",
            )
        found[name.strip()] = value.strip()
    return found


def setting(text: str) -> Any:
    """Read the value of a learner's setting as a person would mean it.

    Examples
    --------
    >>> [setting(text) for text in ("3", "0.1", "1e-3", "true", "none", "(8, 4)", "l1")]
    [3, 0.1, 0.001, True, None, (8, 4), 'l1']
    """
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.casefold() in words:
        return words[text.casefold()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
