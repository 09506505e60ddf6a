"""What the families share: sets of tasks, and checks of settings."""

from collections.abc import Iterable
from typing import Any

from clearwood.models.entry import Job
from clearwood.models.settings import unknown_value
from clearwood.table import Task

__all__ = ["ANY", "CLASSES", "NUMBERS", "one_of"]

NUMBERS = frozenset({Task.REGRESSION, Task.COUNT})
CLASSES = frozenset({Task.BINARY, Task.MULTICLASS})
ANY = NUMBERS | CLASSES


def one_of(job: Job, setting: str, known: Iterable[Any]) -> Any:
    """Return a setting that must have one of a few values.

    Examples
    --------
    >>> job = Job(Task.BINARY, {"penalty": "L2"})
    >>> one_of(job, "penalty", ["l1", "l2"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: penalty='L2' is not a known value. Hint: did you mean 'l2'?
    """
    value = job.settings[setting]
    known = list(known)
    if value not in known:
        raise unknown_value(setting, value, known)
    return value
