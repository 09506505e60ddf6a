"""Errors and warnings that users can act on, with their meaning in fields.

A message may name an option or a call of the library (`Option`, `Call`). Each front writes them in
its own spelling: Python's ``time_limit=60`` is ``--time-limit 60`` on the command line.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

__all__ = [
    "PYTHON",
    "Call",
    "ClearwoodWarning",
    "Draw",
    "InputError",
    "MissingExtraError",
    "Option",
    "Scan",
    "Setting",
    "Spelling",
    "Text",
    "Words",
    "bad_value",
    "did_you_mean",
    "spelled",
    "unknown_choice",
    "words",
]


class _Unset:
    """The value of an option that is named without one."""

    def __repr__(self) -> str:
        return "…"

    def __reduce__(self) -> str:
        return "UNSET"  # there is one, in every process


UNSET = _Unset()


@dataclass(frozen=True)
class Option:
    """An option of a public function, as part of a message.

    Parameters
    ----------
    name
        Its name in Python.
    value
        The value it has or should have; left out to name the option alone.
    """

    name: str
    value: Any = UNSET

    @property
    def has_value(self) -> bool:
        """Whether a value goes with the name."""
        return self.value is not UNSET


@dataclass(frozen=True)
class Setting(Option):
    """A setting of a learner, as part of a message: an option in Python only."""


@dataclass(frozen=True)
class Draw(Option):
    """So many rows drawn from a table in parts, as part of a message: in Python a method of it."""

    name: str = "draw_rows"


@dataclass(frozen=True)
class Scan(Option):
    """Rows that stay where they are, or are read into memory, as part of a message.

    In Python they are two functions, `clearwood.scan` and `clearwood.read`.
    """

    name: str = "scan"
    value: Any = True


@dataclass(frozen=True)
class Call:
    """A call of a public function, as part of a message.

    Parameters
    ----------
    verb
        The function: "explain", "learner", ...
    arguments
        What is given by position, as Python writes it.
    options
        What is given by name.
    """

    verb: str
    arguments: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Words:
    """A message whose options and calls are kept apart from its prose."""

    parts: tuple[str | Option | Call, ...]

    def __repr__(self) -> str:
        return repr(str(self))

    def __str__(self) -> str:
        return spelled(self, PYTHON)


#: A message: prose alone, or prose with options and calls in it.
Text = str | Words


class Spelling(Protocol):
    """How a front writes options and calls."""

    def option(self, option: Option) -> str:
        """Write an option, with its value where it has one."""

    def call(self, call: Call) -> str:
        """Write a call."""


@dataclass(frozen=True)
class _Python:
    """Python's spelling."""

    def option(self, option: Option) -> str:
        if isinstance(option, Draw):
            return f"data.sample({option.value:_})" if option.has_value else "data.sample(...)"
        if isinstance(option, Scan):
            return "cw.scan(...)" if option.value else "cw.read(...)"
        return f"{option.name}={option.value!r}" if option.has_value else option.name

    def call(self, call: Call) -> str:
        given = [*call.arguments, *(f"{name}={value!r}" for name, value in call.options.items())]
        return f"cw.{call.verb}({', '.join(given)})"


PYTHON: Spelling = _Python()


def words(*parts: str | Option | Call | Words | None) -> Words:
    """Put a message together from prose, options and calls; None is left out.

    Examples
    --------
    >>> str(words("set ", Option("time_limit", 60), " or try ", Call("explain", ("model", "data"))))
    'set time_limit=60 or try cw.explain(model, data)'
    """
    flat: list[str | Option | Call] = []
    for part in parts:
        if isinstance(part, Words):
            flat.extend(part.parts)
        elif part is not None:
            flat.append(part)
    return Words(tuple(flat))


def spelled(text: Text, spelling: Spelling) -> str:
    """Write a message in the spelling of a front.

    Examples
    --------
    >>> spelled(words("raise ", Option("points")), PYTHON)
    'raise points'
    """
    if isinstance(text, str):
        return text
    written = []
    for part in text.parts:
        if isinstance(part, Option):
            written.append(spelling.option(part))
        elif isinstance(part, Call):
            written.append(spelling.call(part))
        else:
            written.append(part)
    return "".join(written)


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what to try.

    Parameters
    ----------
    message
        What was wrong, with the value, and what was expected.
    parameter
        The option, column or argument that it is about, by its name in Python.
    value
        What was given there.
    hint
        What to try next.

    Examples
    --------
    >>> raise InputError("column 'age' is all missing", hint="leave it out.")
    Traceback (most recent call last):
    ...
    clearwood.InputError: column 'age' is all missing. Hint: leave it out.
    """

    __module__ = "clearwood"  # where users import it from, and what tracebacks show

    def __init__(
        self,
        message: Text,
        *,
        parameter: str | None = None,
        value: Any = None,
        hint: Text | None = None,
    ) -> None:
        self.message = message
        self.parameter = parameter
        self.value = value
        self.hint = hint
        super().__init__(self.spelled(PYTHON))

    def __reduce__(self) -> tuple[Any, ...]:
        # workers send errors of any subclass back, whatever its arguments are
        return _restored, (type(self), self.args, self.__dict__)

    def spelled(self, spelling: Spelling) -> str:
        """Write message and hint in the spelling of a front."""
        message = spelled(self.message, spelling)
        if self.hint is None:
            return message
        return f"{message.rstrip('.')}. Hint: {spelled(self.hint, spelling)}"


def _restored(
    kind: type[InputError], arguments: tuple[Any, ...], fields: dict[str, Any]
) -> InputError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(fields)
    return error


class MissingExtraError(InputError, ImportError):
    """A feature needs an optional package that is not installed."""

    __module__ = "clearwood"

    def __init__(self, feature: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{feature} needs a package that is not installed",
            hint=f"install it with: pip install 'clearwood[{extra}]'",
        )


class ClearwoodWarning(UserWarning):
    """Something the reader should know and can act on; the work goes on.

    Parameters
    ----------
    text
        The message.
    """

    __module__ = "clearwood"

    def __init__(self, text: Text) -> None:
        self.text = text
        super().__init__(str(text))


def bad_value(
    parameter: str,
    value: Any,
    expected: Text,
    *,
    hint: Text | None = None,
    kind: type[Option] = Option,
) -> InputError:
    """Make the error for an option, or a setting, whose value cannot be used.

    Examples
    --------
    >>> raise bad_value("points", 1, "it must be at least 2")
    Traceback (most recent call last):
    ...
    clearwood.InputError: points=1: it must be at least 2
    """
    message = words(kind(parameter, value), ": ", expected)
    return InputError(message, parameter=parameter, value=value, hint=hint)


def unknown_choice(
    parameter: str,
    value: Any,
    known: Iterable[str],
    *,
    what: Literal["value", "column", "name"] = "value",
    kind: type[Option] = Option,
) -> InputError:
    """Make the error for an option, or a setting, that takes one of a few words.

    Examples
    --------
    >>> raise unknown_choice("kind", "pdq", ["pdp", "ale"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: kind='pdq' is not a known value. Hint: did you mean 'pdp'?
    """
    return InputError(
        words(kind(parameter, value), f" is not a known {what}"),
        parameter=parameter,
        value=value,
        hint=did_you_mean(str(value), known),
    )


def did_you_mean(word: str, known: Iterable[str], *, n: int = 3) -> str:
    """Offer the names nearest to a mistyped one.

    Examples
    --------
    >>> did_you_mean("acidents", ["accidents", "age", "region"])
    "did you mean 'accidents'?"
    >>> did_you_mean("zzz", ["age", "region"])
    "known: 'age', 'region'."
    """
    known = list(known)
    folded = {name.casefold(): name for name in reversed(known)}
    near = difflib.get_close_matches(word.casefold(), folded, n=n, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(folded[name]) for name in near) + "?"
    shown = ", ".join(repr(name) for name in known[:12])
    return f"known: {shown}{', …' if len(known) > 12 else ''}."
