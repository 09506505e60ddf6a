"""Options that several verbs share, and how their values are read."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood.cli.support import completion
from clearwood.cli.support.console import print_message
from clearwood.cli.support.parts import scan_table
from clearwood.cli.support.verb import ALSO_OF_THE_VERB

if TYPE_CHECKING:
    from clearwood.table import Schema, Table

__all__ = [
    "Columns",
    "Force",
    "Jobs",
    "Json",
    "LearnerNames",
    "ModelFile",
    "Monotone",
    "Reading",
    "Rebalance",
    "Seed",
    "Select",
    "compared",
    "directions",
    "learner_names",
    "limited_cores",
    "pairs",
    "read_table",
    "setting",
]

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
Monotone = Annotated[
    list[str] | None,
    typer.Option(
        "--monotone",
        metavar="COLUMN=up|down,...",
        help="Columns with which the prediction must rise or fall, the others being equal: "
        "income=down,arrears=up. Repeatable.",
    ),
]
Rebalance = Annotated[
    bool,
    typer.Option(
        "--rebalance",
        help="For counts and amounts: multiply the predictions of models with a log link so that "
        "they add up to the total of the training rows.",
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        "--select",
        metavar="METHOD[:N]",
        help="Choose columns inside the fit: anova:10, boruta, stability, knockoffs:fdr=0.1, ...; "
        "`clearwood models --selections` lists the methods.",
        autocompletion=completion.selections,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a text file is read.

    Reading the file
    ----------------
    delimiter : CHAR
        The character between cells; detected by default.
    decimal : CHAR
        The decimal sign of numbers; detected by default.
    thousands : CHAR
        The thousands separator of numbers, '' for none; detected by default.
    missing : WORD,... or COLUMN=WORD,...
        Words that stand for missing values; by default common ones such as unknown, k.A., - and ?
        among numbers. Repeatable.
    encoding : NAME
        The file's encoding, such as latin-1; detected by default.
    zero_exposure : error|drop
        How rows with zero exposure are handled: an error by default; drop leaves them out, with a
        warning.
    scan
        Leave the rows where they are and read them again as they are needed: in one file, or in a
        folder, a pattern in quotes or an address of many.
    draw_rows : N
        Use N rows, drawn at random (with --seed, where the command has it), if the rows are needed
        in memory and the table is too large.
    """

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: list[str] | None = None
    encoding: str | None = None
    zero_exposure: str = "error"
    scan: bool = False
    draw_rows: Annotated[int | None, typer.Option(min=1)] = None
    seed: int = field(default=0, metadata=ALSO_OF_THE_VERB)

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", _missing_words(self.missing))
        if self.draw_rows is None:
            object.__setattr__(self, "seed", 0)  # nothing is drawn

    @property
    def in_memory(self) -> dict[str, Any]:
        """These options as functions take them that read all rows into memory."""
        if self.scan:
            raise InputError(
                "all rows are needed in memory here",
                parameter="scan",
                value=True,
                hint="leave out --scan, or draw rows, --draw-rows 200000.",
            )
        return {name: value for name, value in vars(self).items() if name != "scan"}

    def table_for(
        self,
        model: Any,
        data: Path,
        columns: "Columns | None" = None,
        target: str | None = None,
        *,
        all_rows: bool = False,
    ) -> "Table":
        """Read a table like the one the model was fitted to, with the target if it is there.

        With ``all_rows`` rows without a target are kept, and the target is left out instead.

        A learner has the kinds and roles of its columns; ``columns`` and ``target`` are for
        other models.
        """
        import clearwood as cw

        if isinstance(model, cw.models.TableModel):
            # nothing is learned from the target: rows are explained, however few
            options: dict[str, Any] = {**vars(self), "all_rows": all_rows}
            return read_table(data, schema=model.schema_, constant=True, **options)
        roles = {} if columns is None else columns.roles()
        return read_table(data, target=target, **roles, **vars(self))


def _missing_words(texts: list[str] | None) -> Any:
    """Read words, or words by column; an empty text is the one word of no letters.

    Examples
    --------
    >>> _missing_words(["unknown,-", "?"]), _missing_words(["age=999,-1"])
    (['unknown', '-', '?'], {'age': ['999', '-1']})
    """
    if not texts:
        return None
    if not any("=" in text for text in texts):
        return [word for text in texts for word in text.split(",")]
    by_column = pairs("--missing", texts, example="age=999")
    return {name: words.split(",") for name, words in by_column.items()}


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The roles of columns other than the target.

    Columns
    -------
    task : TASK
        regression, count, amount, binary or multiclass; all but amount are inferred from the
        target by default.
    weight : COLUMN
        The weights of the rows.
    exposure : COLUMN
        What the target of a row was observed over, such as years: the model predicts the target
        per unit of exposure.
    group : COLUMN
        Rows that belong together: a benchmark keeps each group in one fold. "identical rows"
        instead of a column: rows with the same values in all features.
    time : COLUMN
        The order in time: a benchmark predicts later rows from earlier ones.
    protected : COLUMN
        A feature to audit for fairness. Repeatable.
    ignore : COLUMN
        A column to leave out. Repeatable.
    kinds : COLUMN=KIND
        The kind of a column, where it is detected wrongly: zip=category. Repeatable.
    labels : FILE
        A TOML file with names, units, orders and descriptions of columns.
    """

    task: Annotated[str | None, typer.Option(autocompletion=completion.tasks)] = None
    weight: str | None = None
    exposure: str | None = None
    group: str | None = None
    time: str | None = None
    protected: list[str] | None = None
    ignore: list[str] | None = None
    kinds: Annotated[list[str] | None, typer.Option(autocompletion=completion.kinds)] = None
    labels: str | None = None

    def roles(self) -> dict[str, Any]:
        """Return these options as `clearwood.read` takes them."""
        lists = {"protected": tuple(self.protected or ()), "ignore": tuple(self.ignore or ())}
        kinds = pairs("--kind", self.kinds or (), example="zip=category")
        return {**vars(self), **lists, "kinds": kinds or None}


def read_table(
    data: Path, *, schema: "Schema | None" = None, scan: bool = False, **options: Any
) -> "Table":
    """Read a table, with the roles of a schema if there is one, and say which rows are left out.

    With ``scan`` the rows stay where they are.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.table import read_as

    with progress(f"reading {data.name}"):
        table: Any
        if scan:
            # all columns are kept, and any target is taken where there is a schema
            in_memory = ("keep", "constant", "all_rows")
            options = {name: value for name, value in options.items() if name not in in_memory}
            table = scan_table(data, schema, **options)
        elif schema is None:
            table = cw.read(data, **options)
        else:
            table = read_as(data, schema, **options)
    if table.dropped:
        rows = count(table.dropped, "row")
        print_message("note", f"{rows} without {table.target!r} left out", style="bold")
    return cast("Table", table)  # what needs all rows in memory says so


@contextmanager
def limited_cores(n_jobs: int) -> Iterator[None]:
    """Limit the thread pools of compiled libraries to a number of cores; -1 is all of them.

    Learners pass ``n_jobs`` on to their library, but linear algebra and histogram boosting use
    every core unless they are limited, which slows down everyone else on a shared machine.
    """
    if n_jobs == 0 or n_jobs < -1:
        raise InputError(
            f"--jobs {n_jobs} is not a number of cores", hint="use 1 or more, or -1 for all."
        )
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_jobs if n_jobs > 0 else None):
        yield


def learner_names(texts: Iterable[str] | None) -> list[str]:
    """Read the names of learners, given with commas or one by one.

    Examples
    --------
    >>> learner_names(["glm,gbm", "tree"])
    ['glm', 'gbm', 'tree']
    """
    return [name for text in texts or () for name in text.split(",") if name]


def directions(texts: Iterable[str] | None) -> dict[str, str] | None:
    """Read columns with which predictions rise or fall; their names may contain commas.

    Examples
    --------
    >>> directions(["income=down,arrears=up", "loss, net=up"])
    {'income': 'down', 'arrears': 'up', 'loss, net': 'up'}
    """
    several: list[str] = []
    for text in texts or ():
        held = ""
        for part in text.split(","):
            held += part
            if "=" in part:
                several.append(held)
                held = ""
            else:
                held += ","
        if held:
            several.append(held.removesuffix(","))
    return pairs("--monotone", several, example="income=down") or None


def compared(
    names: list[str],
    monotone: Mapping[str, str] | None,
    select: str | None,
    table: "Table",
    *,
    rebalance: bool = False,
) -> list[Any] | None:
    """Return the learners to compare, as they were typed; None for the usual ones.

    With columns to rise or fall with, a learner that cannot keep to that is an error where it was
    typed, and left out of the usual ones. The baseline, which uses no column, selects none. Models
    without a log link cannot be rebalanced, and are compared as they are.
    """
    import clearwood as cw
    from clearwood.models import catalogue
    from clearwood.table import Parts

    if not monotone and not select and not rebalance:
        return names or None
    usual = list(catalogue.usual(str(table.task), in_parts=isinstance(table, Parts)))
    if not names and monotone:
        able = [name for name in usual if catalogue.get(name).monotone]
        unable = [name for name in usual if name not in able]
        if able and unable:
            text = f"{', '.join(unable)} left out: they cannot keep to --monotone"
            print_message("note", text, style="bold")
        names = able
    if not names:
        names = usual
    options: dict[str, Any] = {"task": str(table.task), "monotone": monotone}
    learners = [
        cw.learner(name, select=None if name == "baseline" else select, **options) for name in names
    ]
    if rebalance:
        able = [one.name for one in learners if one.can_rebalance]
        if not able:
            learners[0].set_params(rebalance=True)  # refused in fitting, with the reason
        for one in learners:
            one.set_params(rebalance=one.rebalance or one.name in able)
        rest = [name for name in names if name not in (*able, "baseline")]
        if able and rest:
            text = f"{', '.join(rest)} not rebalanced: their predictions have no log link"
            print_message("note", text, style="bold")
    return learners


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
