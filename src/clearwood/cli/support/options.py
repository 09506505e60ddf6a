"""Options that several verbs share, and how their values are read."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support import complete as _complete

__all__ = [
    "Decimal",
    "Delimiter",
    "Encoding",
    "Force",
    "Group",
    "Ignore",
    "Jobs",
    "Json",
    "Kinds",
    "ModelFile",
    "Protected",
    "Seed",
    "TaskName",
    "Time",
    "Weight",
    "learner_names",
    "pairs",
    "setting",
]

_FILE_FORMAT = "Reading the file"
_COLUMNS = "Columns"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of words.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Fixes every random choice.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", help="Cores to use; -1 for all of them.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as `clearwood fit` writes it.")
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="TASK",
        help="regression, count, binary or multiclass; found from the target when left out.",
        autocompletion=_complete.tasks,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight", metavar="COLUMN", help="Weights of the rows.", rich_help_panel=_COLUMNS
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN",
        help="What ties rows together: a benchmark keeps them in one fold.",
        rich_help_panel=_COLUMNS,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="What orders rows in time: a benchmark predicts later rows from earlier ones.",
        rich_help_panel=_COLUMNS,
    ),
]
Protected = Annotated[
    list[str] | None,
    typer.Option(
        "--protected",
        metavar="COLUMN",
        help="A feature that audits ask about. Repeatable.",
        rich_help_panel=_COLUMNS,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMN",
        help="A column to leave out. Repeatable.",
        rich_help_panel=_COLUMNS,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="What a column holds, where it is found wrongly: zip=category. Repeatable.",
        autocompletion=_complete.kinds,
        rich_help_panel=_COLUMNS,
    ),
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


def learner_names(texts: Iterable[str] | None) -> list[str]:
    """Read the names of learners, given with commas or one by one.

    Examples
    --------
    >>> learner_names(["glm,gbm", "tree"])
    ['glm', 'gbm', 'tree']
    """
    return [name for text in texts or () for name in text.split(",") if name]


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
