"""What kind of target is predicted, inferred from its values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, Text, words
from clearwood.table.column import Column
from clearwood.table.exposure import check_rate_task
from clearwood.table.kinds.infer import convert, settle
from clearwood.table.raw import Raw
from clearwood.table.types import Kind, Task

__all__ = ["find_task", "settle_target", "task_of"]

#: More classes than this is not a classification that anyone can read.
MOST_CLASSES = 100
#: Whole numbers 0..k-1 or 1..k are classes up to this many ...
MOST_NUMBERED_CLASSES = 10
#: ... if each is held by this share of the rows; counts thin out, classes rarely do.
SMALLEST_CLASS_SHARE = 0.05


def find_task(y: Any) -> Task:
    """Infer what kind of target some values are.

    The rule, in order:

    1. two distinct values: binary;
    2. strings, categories, booleans: multiclass;
    3. whole numbers 0..k-1 or 1..k with k at most 10, each held by at least 5 % of the rows:
       multiclass (a list of class numbers);
    4. whole numbers that begin at 0, with at most 100 distinct values and no more than a fifth as
       many as rows: count;
    5. other numbers: regression.

    Between 3 and 5 the values leave room for doubt: set ``task`` where you know better.

    Examples
    --------
    >>> find_task([0, 1, 0, 1]), find_task(["a", "b", "c"])
    (<Task.BINARY: 'binary'>, <Task.MULTICLASS: 'multiclass'>)
    >>> find_task([0.1, 2.5, 3.2])
    <Task.REGRESSION: 'regression'>
    """
    from clearwood.table.sources.frames import from_columns

    (raw,) = from_columns({"y": np.asarray(y)})
    return task_of(raw)[0]


def task_of(raw: Raw) -> tuple[Task, Text | None]:
    """Return the task and, where the values leave doubt, a note about it."""
    if raw.is_coded or raw.form == "boolean":
        n_levels = len(np.unique(raw.values[~raw.missing]))
        return (Task.BINARY if n_levels == 2 else Task.MULTICLASS), None
    if raw.form == "date":
        raise InputError(
            f"the target {raw.name!r} holds dates, which cannot be predicted",
            parameter="target",
            value=raw.name,
            hint="compute a number from the dates, such as days since a fixed day.",
        )
    present = raw.values[~raw.missing]
    distinct, places, counts = np.unique(present, return_inverse=True, return_counts=True)
    if raw.repeats is not None:
        weights = raw.repeats[~raw.missing]
        counts = np.bincount(places, weights, len(distinct)).astype(np.intp)
    if len(distinct) == 2:
        return Task.BINARY, None
    if not len(distinct) or np.any(distinct != np.floor(distinct)):
        return Task.REGRESSION, None
    return _task_of_whole_numbers(raw.name, distinct, counts)


def _task_of_whole_numbers(name: str, distinct: Floats, counts: Index) -> tuple[Task, Text | None]:
    n_rows = int(counts.sum())
    numbered = distinct[0] in (0, 1) and distinct[-1] - distinct[0] == len(distinct) - 1
    if (
        numbered
        and len(distinct) <= MOST_NUMBERED_CLASSES
        and counts.min() >= SMALLEST_CLASS_SHARE * n_rows
    ):
        return Task.MULTICLASS, words(
            f"the target {name!r} holds the whole numbers {distinct[0]:.0f} to "
            f"{distinct[-1]:.0f}, each in many rows, and is treated as classes; set ",
            Option("task", "count"),
            " or ",
            Option("task", "regression"),
            " if they are amounts",
        )
    if distinct[0] == 0 and len(distinct) <= min(MOST_CLASSES, n_rows / 5):
        return Task.COUNT, words(
            f"the target {name!r} holds whole numbers from 0 to {distinct[-1]:.0f} and is treated "
            "as a count; set ",
            Option("task", "regression"),
            " or ",
            Option("task", "multiclass"),
            " if it is not",
        )
    return Task.REGRESSION, None


def settle_target(
    raw: Raw,
    kind: Kind | Sequence[Any] | None,
    task: Task | None,
    *,
    exposure: str | None = None,
    constant: bool = False,
) -> tuple[Column, Task, Text | None]:
    """Return the target as the task needs it: levels for classes, numbers otherwise.

    Rows where it is missing must be gone already. With an exposure, whole numbers of few distinct
    values are counts, also where there are only two of them. A constant target is refused, unless
    nothing is to be learned from it.
    """
    name = raw.name
    note = None
    if isinstance(kind, Kind):
        raw = replace(_as_raw(settle(raw, kind)), repeats=raw.repeats)
    elif kind is not None:
        raw = replace(_as_raw(settle(raw, Kind.ORDERED, kind)), repeats=raw.repeats)
    if task is None:
        task, note = task_of(raw)
        if exposure is not None and _are_counts(raw):
            task, note = Task.COUNT, None
    check_rate_task(task, name, exposure)
    n_distinct = len(np.unique(raw.values))
    # one value is many rates, unless it is zero
    if n_distinct == 1 and not constant and (exposure is None or not raw.values.any()):
        shown = convert(raw, Kind.CATEGORY).labels()[0]
        raise InputError(
            f"the target {name!r} is constant: every row has {shown!r}",
            parameter="target",
            value=name,
            hint="there is nothing to learn; choose another column.",
        )
    if not task.is_classification:
        if raw.is_coded:
            _refuse_text_target(raw)
        column = convert(raw, Kind.NUMBER)
        whole = bool(np.all(column.values == np.floor(column.values)))
        if task is Task.COUNT and not (whole and column.values.min() >= 0):
            raise InputError(
                f"the target {name!r} cannot be a count: it has {column.values.min():g} to "
                f"{column.values.max():g}",
                parameter="task",
                value=str(task),
                hint=words(
                    "counts are whole numbers from 0; set ", Option("task", "regression"), "."
                ),
            )
        if task is Task.AMOUNT and column.values.min() < 0:
            negative = column.values < 0
            n_negative = int((negative if raw.repeats is None else raw.repeats[negative]).sum())
            raise InputError(
                f"the target {name!r} cannot be an amount: it is negative in {n_negative:,} of "
                f"{raw.n_rows:,} rows",
                parameter="task",
                value=str(task),
                hint=words(
                    "amounts are zero or more; correct these rows, or set ",
                    Option("task", "regression"),
                    ".",
                ),
            )
        return convert(raw, Kind.WHOLE if whole else Kind.NUMBER), task, note
    if n_distinct > MOST_CLASSES or (n_distinct > 20 and n_distinct > raw.n_rows / 2):
        raise InputError(
            f"the target {name!r} has {n_distinct:,} different values, too many for classes",
            parameter="target",
            value=name,
            hint=words(
                "choose another column, or set ",
                Option("task", "regression"),
                " if it is a number.",
            ),
        )
    if task is Task.BINARY and n_distinct != 2 and not (constant and n_distinct == 1):
        raise InputError(
            f"the target {name!r} has {n_distinct} classes where a binary target has 2",
            parameter="task",
            value=str(task),
            hint=words("set ", Option("task", "multiclass"), "."),
        )
    natural = settle(raw)
    coded = natural if natural.is_coded else convert(raw, Kind.CATEGORY)
    return _without_unused_levels(coded), task, note


def _are_counts(raw: Raw) -> bool:
    """Whether the values are whole numbers from 0 on, not too many different ones."""
    if raw.form != "number" or len(np.unique(raw.values)) > MOST_CLASSES:
        return False
    return bool((raw.values >= 0).all() and (raw.values == np.floor(raw.values)).all())


def _refuse_text_target(raw: Raw) -> None:
    try:
        convert(raw, Kind.NUMBER)
    except InputError as error:
        raise InputError(
            words(f"the target {raw.name!r} holds words, not numbers: ", error.message),
            parameter="target",
            value=raw.name,
            hint=words("set ", Option("task", "multiclass"), ", or correct the value."),
        ) from error


def _as_raw(column: Column) -> Raw:
    from clearwood.table.roles.alignment import raw_of

    return raw_of(column)


def _without_unused_levels(column: Column) -> Column:
    used = np.unique(column.values)
    if len(used) == len(column.levels):
        return column
    lookup = np.full(len(column.levels), -1, dtype=np.int32)
    lookup[used] = np.arange(len(used), dtype=np.int32)
    levels = tuple(column.levels[code] for code in used)
    return Column(column.name, column.kind, lookup[column.values], levels, column.label_type)
