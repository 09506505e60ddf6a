"""Exposure: what each row's target was observed over, and the rate per unit of it."""

from typing import Literal

from clearwood._shared.errors import InputError, Option, Text, words
from clearwood._shared.numbers import count, number
from clearwood.table.types import Task

__all__ = [
    "ZeroExposure",
    "check_rate_task",
    "note_on_zero_exposure",
    "unit_of_exposure",
]

#: What becomes of rows whose exposure is zero.
ZeroExposure = Literal["error", "drop"]


def note_on_zero_exposure(
    exposure: str, n_zero: int, n_rows: int, target: str | None, total: float | None
) -> str:
    """Return the note on rows that are left out for their exposure; refuse to leave out all.

    Parameters
    ----------
    exposure
        The column.
    n_zero, n_rows
        The rows with zero, of how many.
    target
        The column to predict, if there is one.
    total
        The sum of the target over these rows; None where it is not a number.

    Examples
    --------
    >>> note_on_zero_exposure("years", 3, 500, "claims", 2.0)
    "3 rows with an exposure 'years' of zero left out; their 'claims' add up to 2"
    >>> note_on_zero_exposure("years", 1, 500, "claims", 0.0)
    "1 row with an exposure 'years' of zero left out; 'claims' is zero there"
    """
    if n_zero == n_rows:
        raise InputError(
            f"the exposure {exposure!r} is zero in all {count(n_rows, 'row')}",
            parameter="exposure",
            value=exposure,
            hint="no row would be left; is it the right column?",
        )
    note = f"{count(n_zero, 'row')} with an exposure {exposure!r} of zero left out"
    if target is None or total is None:
        return note
    if total == 0:
        return f"{note}; {target!r} is zero there"
    shown = f"{total:,.0f}" if total.is_integer() else number(total)
    return f"{note}; their {target!r} add up to {shown}"


def check_rate_task(task: Task | None, target: str, exposure: str | None) -> None:
    """Refuse classes, which have no rate per unit of exposure."""
    if exposure is None or task is None or not task.is_classification:
        return
    hint: Text = words(
        "exposure is for numbers: set ",
        Option("task", "count"),
        " if the target counts events, or leave ",
        Option("exposure"),
        " out.",
    )
    raise InputError(
        f"the target {target!r} is a class ({task}), which has no rate per unit of the exposure "
        f"{exposure!r}",
        parameter="exposure",
        value=exposure,
        hint=hint,
    )


def unit_of_exposure(name: str) -> str:
    """Return the name or unit of an exposure in the singular, for "claims per year".

    Examples
    --------
    >>> [unit_of_exposure(name) for name in ("years", "policies", "km", "census")]
    ['year', 'policy', 'km', 'census']
    """
    if len(name) > 4 and name.endswith("ies") and not name.endswith("series"):
        return f"{name[:-3]}y"
    if len(name) > 3 and name.endswith("s") and not name.endswith(("ss", "us", "is", "series")):
        return name[:-1]
    return name
