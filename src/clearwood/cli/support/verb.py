"""Verbs: functions whose groups of options are written once and shared."""

import functools
import inspect
import itertools
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperGroup
from typer.models import ArgumentInfo

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.cli.support.spelling import CommandLine

__all__ = ["VerbGroup", "choices_of", "verb", "words_of"]

_CONTEXT = "context"


def verb(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Make a function a verb of the command line.

    A parameter whose type is a dataclass is a group of options: Typer sees the fields of the
    dataclass, and the function receives the dataclass. Arguments come first, those of groups
    before the function's own; then come the function's own options and those of its groups. A
    function that has a parameter `context` receives Typer's, whose `obj` is the spelling of
    messages.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Reading:
    ...     decimal: Annotated[str, typer.Option("--decimal")] = "."
    >>> @verb
    ... def show(*, reading: Reading, rows: int = 5) -> None:
    ...     print(rows, reading)
    >>> list(inspect.signature(show).parameters)
    ['rows', 'context', 'decimal']
    """
    own: list[inspect.Parameter] = []
    shared: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            shared += map(_parameter, fields(parameter.annotation))
        else:
            own.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

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
        options = {name: _filled(group, values) for name, group in groups.items()}
        return function(**options, **values)

    ordered = [
        *filter(_is_argument, [*shared, *own]),
        *itertools.filterfalse(_is_argument, [*own, *shared]),
    ]
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in ordered}
    return run


def _parameter(field: Field[Any]) -> inspect.Parameter:
    """Make a parameter of a group's field."""
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
    )


def _filled(group: Any, values: dict[str, Any]) -> Any:
    """Make a group from its fields' values, which are taken out of all values."""
    return group(**{field.name: values.pop(field.name) for field in fields(group)})


def _is_argument(parameter: inspect.Parameter) -> bool:
    if get_origin(parameter.annotation) is not Annotated:
        return False
    return any(isinstance(one, ArgumentInfo) for one in get_args(parameter.annotation))


def choices_of(context: Any, name: str) -> tuple[str, ...]:
    """Give the words that a parameter of the verb in a context takes; none if it takes others."""
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

    A word that is no verb is answered with the verbs that are near to it. A group with a default
    verb takes any other word for the first argument of that verb.
    """

    #: The verb that runs where none is named.
    default_verb: str | None = None
    #: The verbs in their order, where it is not that of their declaration.
    order: tuple[str, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Give the names of the verbs."""
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
        """Give the name of a verb for its Python spelling, and any other word as it is."""
        name = word.replace("_", "-")
        return name if name in self.list_commands(ctx) else word

    def _is_misspelt(self, ctx: Any, word: str) -> bool:
        is_file = word.startswith("-") or "." in word or Path(word).exists()
        return not is_file and bool(get_close_matches(word, self.list_commands(ctx)))
