"""Errors about the settings of learners."""

from collections.abc import Iterable
from typing import Any

from clearwood._shared.errors import InputError, Setting, did_you_mean, words

__all__ = ["unknown_value"]


def unknown_value(setting: str, value: Any, known: Iterable[Any]) -> InputError:
    """Make the error for a setting that takes one of a few values.

    Examples
    --------
    >>> raise unknown_value("penalty", "L2", ["l1", "l2"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: penalty='L2' is not a known value. Hint: did you mean 'l2'?
    """
    return InputError(
        words(Setting(setting, value), " is not a known value"),
        parameter=setting,
        value=value,
        hint=did_you_mean(str(value), map(str, known)),
    )
