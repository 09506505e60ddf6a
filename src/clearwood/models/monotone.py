"""Constraints that a prediction rises or falls with a column, whatever the other columns are."""

from collections.abc import Mapping
from typing import Any

from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood.models import catalogue
from clearwood.models.entry import Entry
from clearwood.table import Encoder, Kind, Table, Task

__all__ = ["check_columns", "check_learner", "constraints", "ordered_columns"]

_DIRECTIONS = {"up": 1, "down": -1}

#: Columns whose encoding is one rising number.
_ALLOWED = (Kind.NUMBER, Kind.WHOLE, Kind.YES_NO, Kind.ORDERED)
_HOLDS = {Kind.CATEGORY: "categories", Kind.DATE: "dates", Kind.TEXT: "text"}


def check_learner(entry: Entry, monotone: Any, task: Task | None) -> None:
    """Raise where the constraints are not well-formed, or the learner cannot keep them."""
    if monotone is None:
        return
    if not isinstance(monotone, Mapping) or not all(isinstance(name, str) for name in monotone):
        raise bad_value(
            "monotone",
            monotone,
            "it must be a dict of column names",
            hint=words("for example ", Option("monotone", {"age": "up", "income": "down"}), "."),
        )
    for name, direction in monotone.items():
        if direction not in _DIRECTIONS:
            raise bad_value(
                "monotone",
                {name: direction},
                f"the direction of column {name!r} must be 'up' or 'down'",
                hint=words("for example ", Option("monotone", {name: "up"}), "."),
            )
    if not monotone:
        return
    if task is Task.MULTICLASS:
        raise InputError(
            words(Option("monotone"), " is not possible with more than two classes"),
            parameter="monotone",
            value=dict(monotone),
            hint="of two classes, the probability of the second rises or falls.",
        )
    if not entry.monotone:
        raise InputError(
            f"learner {entry.name!r} cannot keep predictions rising or falling with a column",
            parameter="monotone",
            value=dict(monotone),
            hint=f"learners that can: {', '.join(map(repr, able(task)))}.",
        )


def able(task: Task | None = None) -> tuple[str, ...]:
    """Return the names of the learners that can keep monotone constraints."""
    return tuple(
        entry.name
        for entry in catalogue.entries()
        # a constant satisfies every constraint, and is no answer
        if entry.monotone and entry.family != "baseline" and (task is None or task in entry.tasks)
    )


def check_columns(monotone: Mapping[str, str] | None, table: Table) -> None:
    """Raise where a constraint names a column that is no feature, or has no order."""
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


def ordered_columns(monotone: Mapping[str, str] | None, table: Table) -> list[str] | None:
    """Return the constrained ordered categories, which must be encoded by their rank."""
    columns = [table.column(name) for name in monotone or ()]
    return [column.name for column in columns if column.kind is Kind.ORDERED] or None


def constraints(monotone: Mapping[str, str] | None, encoder: Encoder) -> tuple[int, ...]:
    """Return 1, -1 or 0 for every encoded column; nothing where no column is constrained.

    A column that was left out because it is constant in the training rows needs no constraint.
    """
    if not monotone:
        return ()
    names = {column.header or column.name: column.name for column in encoder.schema_.columns}
    by_name = {names.get(name, name): _DIRECTIONS[way] for name, way in monotone.items()}
    return tuple(0 if column.part else by_name.get(column.source, 0) for column in encoder.columns_)
