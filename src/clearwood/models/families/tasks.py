"""Words that the catalogue's families share: sets of tasks, and checks of settings."""

from collections.abc import Iterable
from typing import Any

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.models.entry import Job
from clearwood.table import Task

__all__ = ["ANY", "CLASSES", "NUMBERS", "one_of"]

NUMBERS = frozenset({Task.REGRESSION, Task.COUNT})
CLASSES = frozenset({Task.BINARY, Task.MULTICLASS})
ANY = NUMBERS | CLASSES


def one_of(job: Job, setting: str, known: Iterable[Any]) -> Any:
    """Read a setting that has to be one of a few words.

    Examples
    --------
    >>> job = Job(Task.BINARY, {"penalty": "L2"})
    >>> one_of(job, "penalty", ["l1", "l2"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: penalty='L2' is not known. Hint: did you mean 'l2'?
    """
    value = job.settings[setting]
    known = list(known)
    if value not in known:
        raise InputError(
            f"{setting}={value!r} is not known", hint=did_you_mean(str(value), map(str, known))
        )
    return value
