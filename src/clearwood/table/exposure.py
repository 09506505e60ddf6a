"""Exposure: what each row's target was observed over, and the rate per unit of it."""

from clearwood._shared.errors import InputError, Option, Text, words
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.types import NUMERIC, Task

__all__ = ["check_exposure", "check_rate_task", "unit_of_exposure"]


def check_exposure(exposure: Evidence | None) -> None:
    """Refuse exposures that are missing, negative or zero, and count the rows."""
    if exposure is None:
        return
    column = exposure.column
    if column.kind not in NUMERIC:
        raise InputError(
            f"the exposure {column.name!r} is of kind {column.kind}",
            parameter="exposure",
            value=column.name,
            hint="an exposure is a number above zero in every row, such as the years insured.",
        )
    faults = {
        "missing": exposure.n_missing,
        "negative": exposure.n_negative,
        "zero": exposure.n_zero,
    }
    wrong = [f"{fault} in {rows:,}" for fault, rows in faults.items() if rows]
    if wrong:
        raise InputError(
            f"the exposure {column.name!r} is {' and '.join(wrong)} of {exposure.n_rows:,} rows",
            parameter="exposure",
            value=column.name,
            hint="a rate is the target divided by the exposure, so every row needs an exposure "
            "above zero; correct these rows or leave them out.",
        )


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
