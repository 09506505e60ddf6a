"""Options that several verbs share, and how their values are read."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support import completion

if TYPE_CHECKING:
    from clearwood.table import Table

__all__ = [
    "Columns",
    "Force",
    "Jobs",
    "Json",
    "LearnerNames",
    "ModelFile",
    "Reading",
    "Seed",
    "learner_names",
    "one_of",
    "pairs",
    "setting",
]

_COLUMNS = "Columns"
_FILE = "Reading the file"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="The seed of every random choice.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", help="The number of cores; -1 for all.")
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as `clearwood fit` writes it.")
]
LearnerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--learners",
        "-l",
        metavar="A,B,...",
        help="The learners to compare, of those that `clearwood models` lists; by default a few "
        "common ones.",
        autocompletion=completion.several_learners,
    ),
]


Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help="The character between cells; detected by default.",
        rich_help_panel=_FILE,
    ),
]
Decimal = Annotated[
    str,
    typer.Option(
        "--decimal", metavar="CHAR", help="The decimal mark of numbers.", rich_help_panel=_FILE
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The file's encoding, such as latin-1; detected by default.",
        rich_help_panel=_FILE,
    ),
]


@dataclass(frozen=True)
class Reading:
    """How a text file is read."""

    delimiter: Delimiter = None
    decimal: Decimal = "."
    encoding: Encoding = None

    def table_for(
        self,
        model: Any,
        data: Path,
        columns: "Columns | None" = None,
        target: str | None = None,
    ) -> "Table":
        """Read a table like the one the model was fitted to, with the target if it is there.

        Parameters
        ----------
        model
            The model; a learner knows the kinds and roles of its columns.
        data
            The table's file.
        columns, target
            The roles of the columns, for models that do not know them.
        """
        import clearwood as cw
        from clearwood._shared.progress import progress
        from clearwood.table import read_as

        with progress(f"reading {data.name}"):
            if isinstance(model, cw.Learner):
                return read_as(data, model.schema_, **vars(self))
            roles = {} if columns is None else columns.roles()
            return cw.read(data, target=target, **roles, **vars(self))


@dataclass(frozen=True)
class Columns:
    """The target, and what the other columns are for."""

    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            metavar="TASK",
            help="regression, count, binary or multiclass; by default inferred from the target.",
            autocompletion=completion.tasks,
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(
            "--weight", metavar="COLUMN", help="The weights of the rows.", rich_help_panel=_COLUMNS
        ),
    ] = None
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="COLUMN",
            help="Rows that belong together: a benchmark keeps each group in one fold.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COLUMN",
            help="The order in time: a benchmark predicts later rows from earlier ones.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    protected: Annotated[
        list[str] | None,
        typer.Option(
            "--protected",
            metavar="COLUMN",
            help="A feature to audit for fairness. Repeatable.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="COLUMN",
            help="A column to leave out. Repeatable.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COLUMN=KIND",
            help="The kind of a column, where it is detected wrongly: zip=category. Repeatable.",
            autocompletion=completion.kinds,
            rich_help_panel=_COLUMNS,
        ),
    ] = None

    def roles(self) -> dict[str, Any]:
        """Give these options as `clearwood.read` takes them."""
        lists = {"protected": self.protected or [], "ignore": self.ignore or []}
        kinds = pairs("--kind", self.kinds or (), example="zip=category")
        return {**vars(self), **lists, "kinds": kinds}


def one_of(choices: Any) -> str:
    """List the words of a Literal.

    Examples
    --------
    >>> from typing import Literal
    >>> one_of(Literal["csv", "json", "html"])
    'csv, json or html'
    """
    *words, last = get_args(choices)
    return f"{', '.join(words)} or {last}"


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

    The last "=" divides a column's name from its kind, so names may contain one themselves.

    Examples
    --------
    >>> pairs("--kind", ["zip=category", "a=b=number"], example="zip=category")
    {'zip': 'category', 'a=b': 'number'}
    """
    by_name: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value:
            raise InputError(
                f"{option} {text!r} is not of the form NAME=VALUE",
                hint=f"write it like {option} {example}",
            )
        by_name[name.strip()] = value.strip()
    return by_name


def setting(text: str) -> Any:
    """Read a value as the Python value it looks like, and as text otherwise.

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
