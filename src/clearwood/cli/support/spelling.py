"""The library's options and calls, written as a user of the command line types them."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from clearwood._shared.errors import PYTHON, Call, Option, Scan, Setting

__all__ = ["CommandLine", "typed_name"]

#: What Typer calls a parameter that is given by position.
_ARGUMENT = "argument"


class CommandLine:
    """The spelling of the command line: ``time_limit=60`` is ``--time-limit 60``.

    The verbs name their parameters as the library does, so a parameter's declaration has what the
    user types. What no verb has is written in Python and marked as such.

    Examples
    --------
    >>> print(CommandLine().option(Option("space", {"knn": {}})))
    space={'knn': {}} (in Python)
    """

    def __init__(self) -> None:
        self._running: Any = None

    def use(self, context: Any) -> None:
        """Prefer the options of the verb that runs in this context."""
        self._running = context

    def option(self, option: Option) -> str:
        """Write an option, with its value where it has one."""
        if isinstance(option, Setting):
            values = {option.name: option.value}
            return self.option(Option("settings", values)) if option.has_value else option.name
        if isinstance(option, Scan):
            return "--scan" if option.value else "without --scan"
        for command in self._commands():
            for parameter in command.params:
                if parameter.name == option.name:
                    written = _typed(parameter, option)
                    if written is not None:
                        return written
        return f"{PYTHON.option(option)} (in Python)"

    def call(self, call: Call) -> str:
        """Write a call as the command that does the same."""
        name = call.verb.replace("_", "-")
        for path, command in self._verbs():
            if path[-1] == name:
                written = _command(path, command, call)
                if written is not None:
                    return written
        return f"{PYTHON.call(call)} (in Python)"

    def _commands(self) -> Iterator[Any]:
        """Return the verb that runs, then all others."""
        if self._running is not None:
            yield self._running.command
        yield from (command for _, command in self._verbs())

    def _verbs(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Return all verbs, each with the words that reach it."""
        if self._running is not None:
            yield from _below(("clearwood",), self._running.find_root().command)


def _below(path: tuple[str, ...], group: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if not hasattr(command, "commands"):
            yield (*path, name), command
            continue
        if command.default_verb is not None:
            yield (*path, name), command.commands[command.default_verb]
        yield from _below((*path, name), command)


def _command(path: tuple[str, ...], command: Any, call: Call) -> str | None:
    """Write a call in full, or give None where a part of it cannot be typed."""
    words = [*path, *map(_placeholder, call.arguments)]
    by_name = {parameter.name: parameter for parameter in command.params}
    for name, value in call.options.items():
        option = None if name not in by_name else _typed(by_name[name], Option(name, value))
        if option is None:
            return None
        words.append(option)
    return " ".join(words)


def _placeholder(argument: str) -> str:
    """Write a positional argument: a variable as what stands in for it, a text as it is typed.

    Examples
    --------
    >>> _placeholder("data"), _placeholder("'my age'")
    ('DATA', "'my age'")
    """
    return argument.upper() if argument.isidentifier() else _word(argument.strip("'\""))


def typed_name(parameter: Any) -> str:
    """Return the name of a parameter as it is typed: its long flag, or what help calls it."""
    if parameter.param_type_name == _ARGUMENT:
        return (parameter.metavar or str(parameter.name)).strip("[]").upper()
    return str(max(parameter.opts, key=len))


def _typed(parameter: Any, option: Option) -> str | None:
    """Write an option as it is typed, or give None where it cannot be."""
    flag = typed_name(parameter)
    if not option.has_value:
        return flag
    if parameter.param_type_name == _ARGUMENT:
        return f"{flag} {_word(_text(option.value))}"
    value = option.value.tolist() if hasattr(option.value, "tolist") else option.value
    if getattr(parameter, "is_flag", False):
        return _switch(parameter, flag, value=value)
    if isinstance(value, Mapping):
        values = [f"{key}={_listed(item)}" for key, item in value.items()]
    elif isinstance(value, list | tuple | set | frozenset):
        values = [_text(item) for item in value]
        values = values if parameter.multiple else [",".join(values)]
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        values = [_text(value)]
    else:
        return None
    return " ".join(f"{flag} {_word(text)}" for text in values) or None


def _switch(parameter: Any, flag: str, *, value: Any) -> str | None:
    """Write an option that is on or off."""
    if value:
        return flag
    return max(parameter.secondary_opts, key=len, default=None)


def _listed(value: Any) -> str:
    return ",".join(map(_text, value)) if isinstance(value, list | tuple) else _text(value)


def _text(value: Any) -> str:
    """Write one value: 60.0 seconds are typed as 60.

    Examples
    --------
    >>> _text(60.0), _text(0.05), _text(-1), _text("category")
    ('60', '0.05', '-1', 'category')
    """
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _word(text: str) -> str:
    r"""Write a text so that a shell takes it as one word.

    Examples
    --------
    >>> _word("zip=category"), _word("my zip"), _word("\t")
    ('zip=category', "'my zip'", "$'\\t'")
    """
    return shlex.quote(text) if text.isprintable() else f"${text!r}"
