"""Refuse what a resampling plan cannot cut, in the user's words."""

import numbers

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.resampling.plan import Given

__all__ = ["check_given", "check_rows", "check_share", "check_whole"]


def check_whole(what: str, value: object, *, least: int) -> None:
    """Refuse counts that are no whole numbers or too small."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise InputError(f"{what} is {value!r}", hint=f"it must be a whole number from {least} on.")


def check_share(share: object) -> None:
    """Refuse shares that leave one side without rows."""
    if isinstance(share, bool) or not isinstance(share, numbers.Real) or not 0 < float(share) < 1:
        raise InputError(
            f"the share to hold out is {share!r}", hint="it must lie between 0 and 1, such as 0.25."
        )


def check_rows(n_rows: int, least: int, words: str) -> None:
    """Refuse tables with too few rows."""
    if n_rows < least:
        raise InputError(
            f"{words} needs {least} rows or more; the table has {n_rows}",
            hint="ask for fewer parts, or bring more rows.",
        )


def check_given(given: Given, least: int, words: str, *, instead: str) -> None:
    """Refuse rows, groups or classes too few for a plan that cuts at random, and ordered rows.

    Parameters
    ----------
    given
        The rows.
    least
        How many rows, groups and members of each class it takes.
    words
        The plan in words.
    instead
        The plan to use where rows are ordered in time.
    """
    if given.times is not None:
        raise InputError(
            f"{words} would train on rows that come after those it tests on",
            hint=f"use {instead}, or name no time column.",
        )
    check_rows(given.n_rows, least, words)
    if given.groups is not None:
        found = len(np.unique(given.groups))
        if found < least:
            raise InputError(
                f"{words} needs {least} groups or more, as rows of one group stay together; the "
                f"table has {found}",
                hint="ask for fewer folds.",
            )
    if given.y is not None:
        _check_classes(given, least, words)


def _check_classes(given: Given, least: int, words: str) -> None:
    assert given.y is not None
    labels, counts = np.unique(given.y, return_counts=True)
    rarest = int(counts.argmin())
    if counts[rarest] < least:
        raise InputError(
            f"{words} needs {least} rows or more of every class; class {str(labels[rarest])!r} has "
            f"{counts[rarest]}",
            hint="ask for fewer folds, leave that class out, merge it with another, or, in a "
            "benchmark, judge on one hold-out: interval='holdout'.",
        )
    if given.groups is None:
        return
    for label in labels:
        if len(np.unique(given.groups[given.y == label])) < 2:
            raise InputError(
                f"class {str(label)!r} is in a single group, so that a fit without that group "
                "cannot know it",
                hint="leave that class out, or merge it with another.",
            )
