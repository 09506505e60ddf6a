"""Checks of single options and settings, with errors in the user's words."""

import math
import numbers
from collections.abc import Iterable
from typing import Any

from clearwood._shared.errors import Option, Text, bad_value, unknown_choice
from clearwood._shared.numbers import number

__all__ = [
    "check_choice",
    "check_confidence",
    "check_real",
    "check_seed",
    "check_share",
    "check_whole",
    "is_whole",
]


def is_whole(value: object) -> bool:
    """Whether a value is a whole number by its type; truth values are not.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_whole(
    name: str,
    value: Any,
    low: int,
    high: int | None = None,
    *,
    or_none: bool = False,
    kind: type[Option] = Option,
    hint: Text | None = None,
) -> int:
    """Return what must be a whole number between two bounds.

    Parameters
    ----------
    name, value
        The option and what was given.
    low, high
        The bounds, both included; None for no upper one.
    or_none
        Whether the message says that None is possible too; None itself is for the caller.
    kind
        `Option`, or `Setting` for a setting of a learner.
    hint
        What to try.

    Examples
    --------
    >>> check_whole("degree", 4, 1, 3)
    Traceback (most recent call last):
    ...
    clearwood.InputError: degree=4: it must be a whole number from 1 to 3
    """
    if not is_whole(value) or value < low or (high is not None and value > high):
        span = f"of at least {low}" if high is None else f"from {low} to {high}"
        none = ", or None" if or_none else ""
        raise bad_value(
            name, value, f"it must be a whole number {span}{none}", kind=kind, hint=hint
        )
    return int(value)


def check_seed(seed: Any) -> int:
    """Return a seed that NumPy and the libraries of learners take alike.

    Examples
    --------
    >>> check_seed(-1)
    Traceback (most recent call last):
    ...
    clearwood.InputError: seed=-1: it must be a whole number from 0 to 4294967295
    """
    return check_whole("seed", seed, 0, 2**32 - 1)


def check_real(
    name: str,
    value: Any,
    low: float,
    high: float = math.inf,
    *,
    strict: bool = False,
    kind: type[Option] = Option,
) -> float:
    """Return what must be a number between two bounds; above the lower if ``strict``.

    Examples
    --------
    >>> check_real("ridge", -1.0, 0.0)
    Traceback (most recent call last):
    ...
    clearwood.InputError: ridge=-1.0: it must be a number of at least 0
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    fits = is_number and math.isfinite(value)
    if not fits or not (low < value if strict else low <= value) or value > high:
        least = f"above {number(low)}" if strict else f"of at least {number(low)}"
        most = "" if math.isinf(high) else f" and at most {number(high)}"
        raise bad_value(name, value, f"it must be a number {least}{most}", kind=kind)
    return float(value)


def check_confidence(confidence: Any, name: str = "confidence") -> float:
    """Return a level of confidence.

    Examples
    --------
    >>> check_confidence(90)
    Traceback (most recent call last):
    ...
    clearwood.InputError: confidence=90: it must lie between 0 and 1, such as 0.9
    """
    return check_share(name, confidence, example=0.9)


def check_share(name: str, value: Any, *, example: float) -> float:
    """Return what must be a number between 0 and 1, both excluded.

    Examples
    --------
    >>> check_share("share", 1, example=0.25)
    Traceback (most recent call last):
    ...
    clearwood.InputError: share=1: it must lie between 0 and 1, such as 0.25
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not 0 < value < 1:
        raise bad_value(name, value, f"it must lie between 0 and 1, such as {example:g}")
    return float(value)


def check_choice(
    name: str, value: Any, known: Iterable[str], *, kind: type[Option] = Option
) -> str:
    """Return what must be one of a few words.

    Examples
    --------
    >>> check_choice("extrapolate", "lines", ["constant", "linear"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: extrapolate='lines' is not a known value. Hint: did you mean 'linear'?
    """
    known = list(known)
    if value not in known:
        raise unknown_choice(name, value, known, kind=kind)
    return str(value)
