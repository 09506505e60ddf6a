"""Verbs: functions whose groups of options are written once and shared."""

import copy
import functools
import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.cli.support.spelling import CommandLine

__all__ = ["ALSO_OF_THE_VERB", "VerbGroup", "choices_of", "verb", "words_of"]

#: Marks a field of a group that is not an option of its own: it takes the value of the verb's
#: parameter of the same name, where the verb has one.
ALSO_OF_THE_VERB = {"also of the verb": True}

_CONTEXT = "context"
_OUTPUT = ("--output", "-o")
#: How parameters are typed that are not typed by their name.
_FLAGS = {
    "path": _OUTPUT,
    "files": _OUTPUT,
    "folder": _OUTPUT,
    "output": ("--class",),
    "target": ("--target", "-t"),
    "learner": ("--learner", "-l"),
    "learners": ("--learners", "-l"),
    "n_jobs": ("--jobs", "-j"),
    "settings": ("--set",),
    "changes": ("--set",),
    "columns": ("--column",),
    "kinds": ("--kind",),
    "keep": ("--model",),
    "table_format": ("--format",),
    "centred": ("--centred/--uncentred",),
}


def verb(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Make a function a verb of the command line.

    A positional parameter is an argument, a keyword is an option, and the docstring has the help
    of both: a parameter's entry names what is typed as its value, and a section other than
    "Parameters" is a panel of the help. A parameter whose type is a dataclass is a group of
    options: Typer sees the fields of the dataclass, and the function receives the dataclass. A
    function that has a parameter `context` receives Typer's, whose `obj` is the spelling of
    messages.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Reading:
    ...     '''How a file is read.
    ...
    ...     Parameters
    ...     ----------
    ...     decimal : CHAR
    ...         The decimal mark.
    ...     '''
    ...
    ...     decimal: str = "."
    >>> @verb
    ... def show(*, reading: Reading, rows: int = 5) -> None:
    ...     print(rows, reading)
    >>> list(inspect.signature(show).parameters)
    ['rows', 'context', 'decimal']
    """
    text, documented = _documented(function)
    own: list[inspect.Parameter] = []
    shared: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        group = parameter.annotation
        if is_dataclass(group):
            groups[name] = group
            of_group: dict[str, _Entry] = {}
            for base in reversed(inspect.getmro(group)):  # type: ignore[arg-type]
                of_group |= _documented(base)[1]
            shared += (_parameter(field, of_group) for field in fields(group) if _is_typed(field))
        else:
            own.append(_typed(parameter, documented))

    wants_context = any(parameter.name == _CONTEXT for parameter in own)
    if not wants_context:
        own.append(
            inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        )

    @functools.wraps(function)
    def run(**values: Any) -> int | None:
        context = values[_CONTEXT] if wants_context else values.pop(_CONTEXT)
        if isinstance(context.obj, CommandLine):
            context.obj.use(context)
        typed = dict(values)
        options = {name: _filled(group, values, typed) for name, group in groups.items()}
        return function(**options, **values)

    ordered = [
        *filter(_is_argument, [*shared, *own]),
        *itertools.filterfalse(_is_argument, [*own, *shared]),
    ]
    run.__doc__ = text
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in ordered}
    return run


@dataclass
class _Entry:
    """What a docstring has on a parameter."""

    metavar: str | None
    panel: str | None
    help: str = ""


def _documented(thing: Any) -> tuple[str, dict[str, _Entry]]:
    """Return the text of a docstring before its sections, and its entries on parameters."""
    lines = inspect.cleandoc(thing.__doc__ or "").splitlines()
    rules = [k for k, line in enumerate(lines) if line and not line.strip("-")]
    entries: dict[str, _Entry] = {}
    for start, end in itertools.pairwise([*rules, len(lines) + 1]):
        panel = None if lines[start - 1] == "Parameters" else lines[start - 1]
        name = ""
        for line in filter(None, lines[start + 1 : end - 1]):
            if line.startswith(" "):
                entries[name].help = f"{entries[name].help} {line.strip()}".strip()
            else:
                name, _, metavar = line.partition(" : ")
                entries[name] = _Entry(metavar or None, panel)
    before = lines[: rules[0] - 1] if rules else lines
    # a paragraph is one line: the terminal decides where it is broken
    paragraphs = "\n".join(before).strip().split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs), entries


def _parameter(field: Field[Any], documented: dict[str, _Entry]) -> inspect.Parameter:
    """Make a parameter of a group's field."""
    kind = inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_ONLY
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    declared = inspect.Parameter(field.name, kind, default=default, annotation=field.type)
    return _typed(declared, documented)


def _typed(parameter: inspect.Parameter, documented: dict[str, _Entry]) -> inspect.Parameter:
    """Declare a parameter as Typer wants it, where it is not declared so already."""
    name, annotation = parameter.name, parameter.annotation
    is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    parameter = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    if name == _CONTEXT:
        return parameter
    plain, *more = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    info = copy.copy(more[0]) if more else typer.Option() if is_keyword else typer.Argument()
    entry = documented.get(name)
    if entry is not None:
        info.help, info.metavar, info.rich_help_panel = entry.help, entry.metavar, entry.panel
    if isinstance(info, OptionInfo) and info.default is ...:  # no flag is given
        flag = f"--{name.replace('_', '-')}"
        # Typer gives every switch a way to turn it off, which only one with three states needs
        switch = f"{flag}/--no-{flag[2:]}" if plain == bool | None else flag
        info.param_decls = _FLAGS.get(name, (switch,))
    elif isinstance(info, ArgumentInfo):
        info.metavar = info.metavar or name.upper()
    return parameter.replace(annotation=Annotated[plain, info])


def _is_typed(field: Field[Any]) -> bool:
    return field.metadata != ALSO_OF_THE_VERB


def _filled(group: Any, values: dict[str, Any], typed: Mapping[str, Any]) -> Any:
    """Make a group from its fields' values, which are taken out of all values."""
    own = {field.name: values.pop(field.name) for field in fields(group) if _is_typed(field)}
    others = {field.name for field in fields(group)} - set(own)
    return group(**own, **{name: typed[name] for name in others if name in typed})


def _is_argument(parameter: inspect.Parameter) -> bool:
    if get_origin(parameter.annotation) is not Annotated:
        return False
    return any(isinstance(one, ArgumentInfo) for one in get_args(parameter.annotation))


def choices_of(context: Any, name: str) -> tuple[str, ...]:
    """Return the words that a parameter of the verb in a context takes; none if it takes others."""
    parameter = inspect.signature(context.command.callback).parameters.get(name)
    return () if parameter is None else words_of(parameter.annotation)


def words_of(annotation: Any) -> tuple[str, ...]:
    """Find the words of a Literal inside an annotation.

    Examples
    --------
    >>> words_of(Annotated[Literal["a", "b"] | None, "more"]), words_of(int)
    (('a', 'b'), ())
    """
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    inner = get_args(annotation)
    return next(filter(None, map(words_of, inner)), ())


class VerbGroup(TyperGroup):
    """Verbs, listed in the order in which they are used.

    A word that is not a verb is answered with the verbs that are near to it. A group with a default
    verb takes any other word for the first argument of that verb.
    """

    #: The verb that runs where none is named.
    default_verb: str | None = None
    #: The verbs in their order, where it is not that of their declaration.
    order: tuple[str, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the verbs."""
        names = super().list_commands(ctx)
        return sorted(names, key=self.order.index) if self.order else list(names)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default verb where no verb is named."""
        if args and self.default_verb is not None and args[0] not in ctx.help_option_names:
            args[0] = self._name(ctx, args[0])
            if args[0] not in self.list_commands(ctx) and not self._is_misspelt(ctx, args[0]):
                args = [self.default_verb, *args]
        return list(super().parse_args(ctx, args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb of a word."""
        args = [self._name(ctx, args[0]), *args[1:]]
        is_word = not args[0].startswith("-") and not ctx.resilient_parsing
        if is_word and self.get_command(ctx, args[0]) is None:
            raise InputError(
                f"{ctx.command_path} has no verb {args[0]!r}",
                hint=did_you_mean(args[0], self.list_commands(ctx)),
            )
        return super().resolve_command(ctx, args)

    def _name(self, ctx: Any, word: str) -> str:
        """Return the name of a verb for its Python spelling, and any other word as it is."""
        name = word.replace("_", "-")
        return name if name in self.list_commands(ctx) else word

    def _is_misspelt(self, ctx: Any, word: str) -> bool:
        is_file = word.startswith("-") or "." in word or Path(word).exists()
        return not is_file and bool(get_close_matches(word, self.list_commands(ctx)))
