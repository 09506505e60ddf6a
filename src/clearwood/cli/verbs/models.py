"""`clearwood models`: the catalogue of learners."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.numbers import number
from clearwood.cli.support.completion import families, learners, tasks
from clearwood.cli.support.console import commands, facts, print_json, print_text
from clearwood.cli.support.options import Json
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from rich.table import Table

    from clearwood.models import Entry, Method

__all__ = ["models"]

#: Fields of an entry that its JSON document has as they are.
_FIELDS = (
    *("name", "title", "family", "tasks", "reading", "loss", "estimates", "source", "described_in"),
    *("categories", "missing", "scale", "monotone", "advice", "how_to_read"),
    "complexity",
)


@verb
def models(
    name: Annotated[str | None, typer.Argument(autocompletion=learners)] = None,
    *,
    task: Annotated[str | None, typer.Option(autocompletion=tasks)] = None,
    family: Annotated[str | None, typer.Option(autocompletion=families)] = None,
    selections: bool = False,
    json: Json = False,
) -> None:
    """List the learners, or describe one of them.

    Parameters
    ----------
    name
        A learner to describe.
    task : TASK
        Only learners for regression, count, amount, binary or multiclass.
    family : FAMILY
        Only learners of one family.
    selections
        List the methods by which a learner can choose columns (--select) instead.
    """
    from clearwood.models import catalogue

    if selections:
        _selections(json=json)
        return

    if name is not None:
        _one(catalogue.get(name), json=json)
        return
    chosen = _filtered(list(catalogue.entries()), task, family)
    if json:
        print_json({"learners": [_document(entry) for entry in chosen]})
        return
    print_text(
        _listing(chosen),
        "",
        "r regression, c count, a amount, b binary, m multiclass",
        "To describe one: clearwood models NAME",
        "All of them can choose columns inside the fit: clearwood models --selections",
    )


def _selections(*, json: bool) -> None:
    """List the methods that choose columns."""
    from rich.table import Table
    from rich.text import Text

    from clearwood.models import SELECTIONS

    if json:
        print_json({"selections": [_method(method) for method in SELECTIONS.values()]})
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("type it like", no_wrap=True, style="cyan")
    table.add_column("kind", no_wrap=True)
    table.add_column("chooses (options)", overflow="fold")
    for method in SELECTIONS.values():
        options = ", ".join(f"{key}={one.default:g}" for key, one in method.settings.items())
        title = f"{method.title} ({options})" if options else method.title
        table.add_row(*map(Text, (method.example, method.family, title)))
    print_text(
        table,
        "",
        "METHOD:N chooses N columns. Without N, filters and wrappers choose half of",
        "them, at most 10; a benchmark tunes the N of filters. The others have rules of",
        "their own. Options follow after commas: relief:10,neighbours=20.",
        "",
    )
    example = "clearwood benchmark DATA --target T --learners gbm --select stability"
    commands("Use it", [(example, "")])


def _method(method: "Method") -> dict[str, Any]:
    settings = {key: one.default for key, one in method.settings.items()}
    return {
        "name": method.name,
        "title": method.title,
        "family": method.family,
        "score": method.score,
        "takes_number": method.ranks,
        "own_rule": method.stops,
        "options": settings,
    }


def _filtered(entries: "list[Entry]", task: str | None, family: str | None) -> "list[Entry]":
    from clearwood.table import Task

    if task is not None:
        if task not in list(Task):
            raise InputError(
                f"there is no task {task!r}", hint=did_you_mean(task, [t.value for t in Task])
            )
        entries = [entry for entry in entries if Task(task) in entry.tasks]
    if family is not None:
        known = dict.fromkeys(entry.family for entry in entries)
        if family not in known:
            raise InputError(f"there is no family {family!r}", hint=did_you_mean(family, known))
        entries = [entry for entry in entries if entry.family == family]
    return entries


def _listing(entries: "list[Entry]") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True, style="cyan")
    table.add_column("family", no_wrap=True)
    table.add_column("task", no_wrap=True)
    table.add_column("reading", no_wrap=True)
    table.add_column("from", overflow="fold")
    for entry in entries:
        origin = _library(entry) if entry.available else _install(entry)
        style = "" if entry.available else "dim"
        row = (entry.name, entry.family, _letters(entry), entry.reading, origin)
        table.add_row(*(Text(cell) for cell in row), style=style)
    return table


def _library(entry: "Entry") -> str:
    return entry.source.partition(" ")[0]


def _install(entry: "Entry") -> str:
    return f"pip install 'clearwood[{entry.extra or entry.name}]'"


def _letters(entry: "Entry") -> str:
    from clearwood.table import Task

    return "".join(task.value[0] if task in entry.tasks else "-" for task in Task)


def _one(entry: "Entry", *, json: bool) -> None:
    if json:
        print_json(_document(entry))
        return
    from rich.text import Text

    rows = [
        ("family", entry.family),
        ("tasks", ", ".join(_tasks(entry))),
        ("reading", entry.reading),
        ("minimises", entry.loss),
        ("estimates", entry.estimates),
        ("from", entry.source),
        ("described in", entry.described_in or "-"),
        ("columns", _columns(entry)),
    ]
    if entry.advice:
        rows.append(("when to take it", entry.advice))
    rows.append(("how to read it", entry.how_to_read))
    if entry.monotone:
        rows.append(("constraints", "rising or falling with a column (--monotone)"))
    if entry.family != "baseline":
        rows.append(("selection", "all columns, or those that --select chooses inside the fit"))
    if not entry.available:
        rows.append(("install with", _install(entry)))
    print_text(Text.assemble((entry.name, "bold cyan"), f": {entry.title}"), "", facts(rows))
    if entry.defaults:
        print_text("", Text("Settings", style="bold"), _settings(entry), "")
        key = next(iter(entry.space), next(iter(entry.defaults)))
        value = entry.defaults[key]
        example = f"clearwood fit DATA --target T --learner {entry.name} --set {key}={value}"
        commands("Use it", [(example, "")])


def _settings(entry: "Entry") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 2), header_style="dim")
    for title in ("name", "default", "tuned over"):
        table.add_column(title)
    for key, default in entry.defaults.items():
        searched = _range(entry.space[key]) if key in entry.space else "-"
        table.add_row(*map(Text, (key, str(default), searched)))
    return table


def _range(dimension: Any) -> str:
    """Describe the values that tuning tries.

    Examples
    --------
    >>> from clearwood.models import Choice, Real
    >>> _range(Real(0.01, 1.0, log=True)), _range(Choice("l1", "l2"))
    ('0.01 to 1, on a log scale', 'l1, l2')
    """
    if hasattr(dimension, "values"):
        return ", ".join(str(value) for value in dimension.values)
    ends = f"{number(dimension.low)} to {number(dimension.high)}"
    return f"{ends}, on a log scale" if dimension.log else ends


def _columns(entry: "Entry") -> str:
    categories = {
        "onehot": "categories as 0/1 columns",
        "ordinal": "categories as codes",
        "native": "categories as they are",
        "target": "categories by the mean of the target",
    }[entry.categories]
    missing = "missing values as they are" if entry.missing == "native" else "missing values filled"
    return ", ".join([categories, missing, *(["standardised"] if entry.scale else [])])


def _tasks(entry: "Entry") -> list[str]:
    from clearwood.table import Task

    return [task.value for task in Task if task in entry.tasks]


def _document(entry: "Entry") -> dict[str, Any]:
    return {
        **{name: getattr(entry, name) for name in _FIELDS},
        "tasks": _tasks(entry),
        "defaults": dict(entry.defaults),
        "space": {key: _dimension(value) for key, value in entry.space.items()},
        "installed": entry.available,
        "install": None if entry.extra is None else _install(entry),
    }


def _dimension(dimension: Any) -> dict[str, Any]:
    if hasattr(dimension, "values"):
        return {"choice": list(dimension.values)}
    kind = "whole" if isinstance(dimension.low, int) else "real"
    return {kind: [dimension.low, dimension.high], "log": dimension.log}
