"""Checks of the settings of readable models, with errors in the user's words."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, Setting, unknown_choice, words
from clearwood._shared.numbers import number

__all__ = ["check_choice", "check_real", "check_whole"]


def _bad(name: str, value: Any, expected: str) -> InputError:
    """Make the error for a setting whose value cannot be used."""
    return InputError(
        words(Setting(name, value), f": it must be {expected}"), parameter=name, value=value
    )


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a setting that must be a whole number between two bounds.

    Examples
    --------
    >>> check_whole("degree", 4, 1, 3)
    Traceback (most recent call last):
    ...
    clearwood.InputError: degree=4: it must be a whole number from 1 to 3
    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        span = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise _bad(name, value, f"a whole number {span}")
    return int(value)


def check_real(
    name: str, value: Any, low: float, high: float = math.inf, *, strict: bool = False
) -> float:
    """Return a setting that must be a number between two bounds; above the lower if ``strict``.

    Examples
    --------
    >>> check_real("ridge", -1.0, 0.0)
    Traceback (most recent call last):
    ...
    clearwood.InputError: ridge=-1.0: it must be a number of at least 0
    """
    is_number = isinstance(value, int | float | np.integer | np.floating)
    fits = is_number and not isinstance(value, bool) and math.isfinite(value)
    if not fits or not (low < value if strict else low <= value) or value > high:
        least = f"above {number(low)}" if strict else f"of at least {number(low)}"
        most = "" if math.isinf(high) else f" and at most {number(high)}"
        raise _bad(name, value, f"a number {least}{most}")
    return float(value)


def check_choice(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a setting that must be one of a few words.

    Examples
    --------
    >>> check_choice("extrapolate", "lines", ["constant", "linear"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: extrapolate='lines' is not a known value. Hint: did you mean 'linear'?
    """
    known = list(known)
    if value not in known:
        raise unknown_choice(name, value, known, kind=Setting)
    return str(value)
