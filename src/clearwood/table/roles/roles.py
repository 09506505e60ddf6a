"""The roles and kinds that the user sets for columns, checked against the header."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._shared.errors import (
    InputError,
    Option,
    Text,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood.table.column import Column
from clearwood.table.identical import IDENTICAL_ROWS
from clearwood.table.kinds.dates import parse_dates
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.kinds.periods import months_of
from clearwood.table.types import NUMERIC, Kind, Role, Task

__all__ = [
    "KindSetting",
    "as_names",
    "assign_roles",
    "check_exposure",
    "check_time",
    "check_weights",
    "checked_kinds",
    "checked_task",
    "keeps_identical",
]

#: A kind by its word, or the levels of an ordered category from low to high.
KindSetting = str | Kind | Sequence[Any]


def checked_kinds(kinds: Mapping[str, KindSetting] | None) -> dict[str, Kind | Sequence[Any]]:
    """Return the kinds as enums; an unknown one is an error that offers the nearest."""
    checked: dict[str, Kind | Sequence[Any]] = {}
    for name, kind in (kinds or {}).items():
        if not isinstance(kind, str):
            checked[name] = list(kind)
        elif kind in list(Kind):
            checked[name] = Kind(kind)
        else:
            raise InputError(
                words(Option("kinds", {name: kind}), f": there is no kind {kind!r}"),
                parameter="kinds",
                value={name: kind},
                hint=did_you_mean(kind, [str(known) for known in Kind]),
            )
    return checked


def checked_task(task: str | Task | None) -> Task | None:
    """Return the task as an enum; an unknown one is an error that offers the nearest."""
    if task is None:
        return None
    if task not in list(Task):
        raise unknown_choice("task", task, [str(known) for known in Task])
    return Task(task)


def assign_roles(
    names: Sequence[str],
    *,
    target: str | int | None,
    weight: str | None,
    exposure: str | None,
    group: str | None,
    time: str | None,
    protected: str | Iterable[str],
    ignore: str | Iterable[str],
    kinds: Iterable[str],
) -> dict[str, Role]:
    """Return the role of every column that is not an ordinary feature, after checking the names."""
    if isinstance(target, int | np.integer):
        target = _name_at(int(target), names)
    wanted = {
        Role.TARGET: as_names(target),
        Role.WEIGHT: as_names(weight),
        Role.EXPOSURE: as_names(exposure),
        Role.GROUP: as_names(group),
        Role.TIME: as_names(time),
        Role.PROTECTED: as_names(protected),
        Role.IGNORED: as_names(ignore),
    }
    for name in kinds:
        _check_known(name, names, "kinds")
    for role in (Role.TARGET, Role.WEIGHT, Role.EXPOSURE, Role.GROUP, Role.TIME):
        if len(wanted[role]) > 1:
            raise bad_value(role.value, list(wanted[role]), "it must be the name of one column")
    roles: dict[str, Role] = {}
    for role, columns in wanted.items():
        for name in columns:
            _check_known(name, names, "ignore" if role is Role.IGNORED else role.value)
            if roles.get(name, role) is not role:
                raise InputError(
                    f"column {name!r} cannot be both {roles[name]} and {role}",
                    parameter=role.value,
                    value=name,
                    hint="set one role for it.",
                )
            roles[name] = role
    return roles


def keeps_identical(group: str | None, names: Sequence[str]) -> bool:
    """Whether a group is to be the rows with identical features, and not a column."""
    if group != IDENTICAL_ROWS:
        return False
    if group in names:
        raise InputError(
            words(
                f"a column is named {group!r}, which as ",
                Option("group"),
                " stands for rows that are identical in all features",
            ),
            parameter="group",
            value=group,
            hint="rename the column.",
        )
    return True


def as_names(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return names as a tuple: one name, several or none."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _name_at(position: int, names: Sequence[str]) -> str:
    try:
        return names[position]
    except IndexError:
        expected = f"the table has {len(names)} columns, numbered from 0"
        raise bad_value("target", position, expected) from None


def _check_known(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        raise InputError(
            words(f"there is no column {name!r} (set as ", Option(option), ")"),
            parameter=option,
            value=name,
            hint=did_you_mean(name, [*names, IDENTICAL_ROWS] if option == "group" else names),
        )


def check_weights(weight: Evidence | None) -> None:
    """Refuse weights that are missing, negative or all zero."""
    if weight is None:
        return
    name = weight.column.name
    if weight.n_missing:
        raise InputError(
            f"the weight {name!r} is missing in {weight.n_missing:,} of {weight.n_rows:,} rows",
            parameter="weight",
            value=name,
            hint="give every row a weight; 0 leaves a row out.",
        )
    low, high = weight.range
    if low < 0:
        raise InputError(
            f"the weight {name!r} is negative ({low:g})",
            parameter="weight",
            value=name,
            hint="weights are 0 or more.",
        )
    if not high:
        raise InputError(
            f"the weight {name!r} is 0 in every row",
            parameter="weight",
            value=name,
            hint="at least one row needs a weight above 0.",
        )


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
        why = "a rate is the target divided by the exposure, so every row needs one above zero; "
        hint: Text = f"{why}correct these rows or leave them out."
        if exposure.n_zero:
            drop = Option("zero_exposure", "drop")
            hint = words(
                f"{why}correct these rows, or leave those with zero out as the table is read: ",
                drop,
                ".",
            )
        raise InputError(
            f"the exposure {column.name!r} is {' and '.join(wrong)} of {exposure.n_rows:,} rows",
            parameter="exposure",
            value=column.name,
            hint=hint,
        )


def check_time(column: Column | None) -> None:
    """Refuse a time column whose values have no order: words, which would be sorted as words."""
    if column is None or column.kind not in (Kind.CATEGORY, Kind.TEXT):
        return
    levels = list(column.levels) or sorted({str(text) for text in column.values if text})
    odd = [level for level in levels if parse_dates([level]) is None]
    times = [level for level in levels if level not in odd]
    if len(odd) < len(times) and parse_dates(times) is not None:
        raise InputError(
            f"the time {column.name!r} has values that are no time: "
            f"{', '.join(map(repr, odd[:3]))}",
            parameter="time",
            value=column.name,
            hint="correct them, or leave these rows out: rows without a time have no place in the "
            "order.",
        )
    shown = ", ".join(map(repr, levels[:3]))
    order = months_of(levels) or [*levels[:2], "..."]
    raise InputError(
        f"the time {column.name!r} has values without an order in time, such as {shown}",
        parameter="time",
        value=column.name,
        hint=words(
            "times are numbers, dates (2018-01-31), or weeks, months, quarters and years that are "
            "all written alike (2018-W05, Jan 2018, 2018 Q1, FY2018); name the order of other "
            "words with ",
            Option("kinds", {column.name: order}),
            ", earliest first.",
        ),
    )
