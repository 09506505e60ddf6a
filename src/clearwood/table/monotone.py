"""Columns with which predictions of the target rise or fall: what a table is read with."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood.table.table import Table
from clearwood.table.types import Kind, Task

__all__ = ["DIRECTIONS", "check_columns", "check_directions", "check_task", "with_directions"]

DIRECTIONS = {"up": 1, "down": -1}

#: Columns whose encoding is one rising number.
_ALLOWED = (Kind.NUMBER, Kind.WHOLE, Kind.YES_NO, Kind.ORDERED)
_HOLDS = {Kind.CATEGORY: "categories", Kind.DATE: "dates", Kind.TEXT: "text"}


def with_directions(table: Table, monotone: Mapping[str, str] | None) -> Table:
    """Return the table with columns that predictions of its target rise or fall with."""
    if monotone is None:
        return table
    check_directions(monotone)
    if monotone and table.target is None:
        raise InputError(
            words(Option("monotone"), " needs a target, whose predictions rise or fall"),
            parameter="monotone",
            value=dict(monotone),
            hint=words("name the column to predict: ", Option("target", "COLUMN"), "."),
        )
    check_columns(monotone, table)
    check_task(monotone, table.task)
    named: dict[str, str] = {}
    for name, way in monotone.items():
        known = table.column(name).name
        if named.setdefault(known, way) != way:
            raise bad_value("monotone", dict(monotone), f"column {known!r} has two directions")
    return replace(table, monotone=named)


def check_directions(monotone: Any) -> None:
    """Raise where the constraints are not a dict of "up" and "down" by column."""
    if not isinstance(monotone, Mapping) or not all(isinstance(name, str) for name in monotone):
        raise bad_value(
            "monotone",
            monotone,
            "it must be a dict of column names",
            hint=words("for example ", Option("monotone", {"age": "up", "income": "down"}), "."),
        )
    for name, direction in monotone.items():
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise bad_value(
                "monotone",
                {name: direction},
                f"the direction of column {name!r} must be 'up' or 'down'",
                hint=words("for example ", Option("monotone", {name: "up"}), "."),
            )


def check_task(monotone: Mapping[str, str], task: Task | None) -> None:
    """Raise where there are constraints and more than two classes."""
    if monotone and task is Task.MULTICLASS:
        raise InputError(
            words(Option("monotone"), " is not possible with more than two classes"),
            parameter="monotone",
            value=dict(monotone),
            hint="of two classes, the probability of the second rises or falls.",
        )


def check_columns(monotone: Mapping[str, str] | None, table: Table) -> None:
    """Raise where a constraint names a column that is not a feature, or has no order."""
    for name in monotone or ():
        if name not in {*table.features, *table.by_header().features}:
            raise InputError(
                words(Option("monotone"), f" names {name!r}, which is not a feature of the table"),
                parameter="monotone",
                value=name,
                hint=did_you_mean(name, table.features),
            )
        kind = table.column(name).kind
        if kind not in _ALLOWED:
            hint: Any = "only numbers, yes/no columns and ordered categories rise."
            if kind is Kind.CATEGORY:
                order = Option("kinds", {name: list(table.column(name).levels)})
                hint = words(hint, " If its levels have an order, name them in it: ", order, ".")
            raise InputError(
                words(Option("monotone"), f" names column {name!r}, which holds {_HOLDS[kind]}"),
                parameter="monotone",
                value=name,
                hint=hint,
            )
