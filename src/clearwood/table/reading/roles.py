"""What the user says about columns: their roles and kinds, checked against the header."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.table.column import Column
from clearwood.table.types import Kind, Role, Task

__all__ = ["KindSetting", "assign_roles", "check_weights", "checked_kinds", "checked_task"]

#: A kind by its word, or the levels of an ordered category from low to high.
KindSetting = str | Kind | Sequence[Any]


def checked_kinds(kinds: Mapping[str, KindSetting] | None) -> dict[str, Kind | Sequence[Any]]:
    """Give the kinds as such, or offer the nearest word for one that is none."""
    checked: dict[str, Kind | Sequence[Any]] = {}
    for name, kind in (kinds or {}).items():
        if not isinstance(kind, str):
            checked[name] = list(kind)
        elif kind in list(Kind):
            checked[name] = Kind(kind)
        else:
            raise InputError(
                f"there is no kind {kind!r} (given for column {name!r})",
                hint=did_you_mean(kind, [str(known) for known in Kind]),
            )
    return checked


def checked_task(task: str | Task | None) -> Task | None:
    """Give the task as such, or offer the nearest word for one that is none."""
    if task is None:
        return None
    if task not in list(Task):
        known = [str(known) for known in Task]
        raise InputError(f"there is no task {task!r}", hint=did_you_mean(task, known))
    return Task(task)


def assign_roles(
    names: Sequence[str],
    *,
    target: str | int | None,
    weight: str | None,
    group: str | None,
    time: str | None,
    protected: str | Iterable[str],
    ignore: str | Iterable[str],
    kinds: Iterable[str],
) -> dict[str, Role]:
    """Give every column that is no plain feature its role; names that are no column are refused."""
    if isinstance(target, int | np.integer):
        target = _name_at(int(target), names)
    wishes = {
        Role.TARGET: _as_names(target),
        Role.WEIGHT: _as_names(weight),
        Role.GROUP: _as_names(group),
        Role.TIME: _as_names(time),
        Role.PROTECTED: _as_names(protected),
        Role.IGNORED: _as_names(ignore),
    }
    for name in kinds:
        _check_known(name, names, "kinds")
    roles: dict[str, Role] = {}
    for role, wished in wishes.items():
        for name in wished:
            _check_known(name, names, "ignore" if role is Role.IGNORED else role.value)
            if roles.get(name, role) is not role:
                raise InputError(
                    f"column {name!r} cannot be both {roles[name]} and {role}",
                    hint="give it one role.",
                )
            roles[name] = role
    return roles


def _as_names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def _name_at(position: int, names: Sequence[str]) -> str:
    try:
        return names[position]
    except IndexError:
        raise InputError(f"there is no column {position}: the table has {len(names)}") from None


def _check_known(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        raise InputError(
            f"there is no column {name!r} (named as {option})", hint=did_you_mean(name, names)
        )


def check_weights(columns: Mapping[str, Column], weight: str | None) -> None:
    """Refuse weights that weigh nothing or less."""
    if weight is None:
        return
    values = columns[weight].values
    n_missing = columns[weight].n_missing
    if n_missing:
        raise InputError(
            f"the weight {weight!r} is missing in {n_missing:,} of {len(values):,} rows",
            hint="give every row a weight; 0 leaves a row out.",
        )
    if values.min() < 0:
        raise InputError(
            f"the weight {weight!r} is negative ({values.min():g})", hint="weights are 0 or more."
        )
    if not values.any():
        raise InputError(f"the weight {weight!r} is 0 in every row")
