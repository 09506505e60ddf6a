"""Errors that users can act on."""

import difflib
from collections.abc import Iterable

__all__ = ["ClearwoodWarning", "InputError", "MissingExtraError", "did_you_mean"]


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what to try.

    Parameters
    ----------
    message
        What was wrong, with the value, and what was expected.
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

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message.rstrip('.')}. Hint: {hint}")


class MissingExtraError(InputError, ImportError):
    """A feature needs an optional package that is not installed."""

    __module__ = "clearwood"

    def __init__(self, feature: str, *, extra: str) -> None:
        super().__init__(
            f"{feature} needs a package that is not installed",
            hint=f"install it with: pip install 'clearwood[{extra}]'",
        )


class ClearwoodWarning(UserWarning):
    """Something the reader should know and can act on; the work goes on."""

    __module__ = "clearwood"


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
