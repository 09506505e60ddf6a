"""Constraints that a prediction rises or falls with a column, whatever the other columns are."""

from collections.abc import Mapping
from typing import Any

from clearwood._shared.errors import InputError, Option, words
from clearwood.models import catalogue
from clearwood.models.entries.entry import Entry
from clearwood.table import (
    DIRECTIONS,
    Encoder,
    Kind,
    Schema,
    Table,
    Task,
    check_directions,
    check_task,
)

__all__ = ["check_learner", "constraints", "ordered_columns", "with_schema"]


def check_learner(entry: Entry, monotone: Any, task: Task | None) -> None:
    """Raise where the constraints are not well-formed, or the learner cannot keep them."""
    if monotone is None:
        return
    check_directions(monotone)
    if not monotone:
        return
    check_task(monotone, task)
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
        # a constant satisfies every constraint, and is not a useful suggestion
        if entry.monotone and entry.family != "baseline" and (task is None or task in entry.tasks)
    )


def with_schema(monotone: Mapping[str, str] | None, schema: Schema) -> dict[str, str] | None:
    """Return the constraints of a learner with those that its table has been read with."""
    if not schema.monotone:
        return None if monotone is None else dict(monotone)
    both = dict(schema.monotone)
    for name, way in (monotone or {}).items():
        known = schema.name_of(name)
        if both.setdefault(known, way) != way:
            raise InputError(
                words(
                    Option("monotone", {name: way}),
                    f" is against the table, which was read with {known!r} {both[known]!r}",
                ),
                parameter="monotone",
                value={name: way},
                hint="state one direction for the column.",
            )
    return both


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
    by_name = {names.get(name, name): DIRECTIONS[way] for name, way in monotone.items()}
    return tuple(0 if column.part else by_name.get(column.source, 0) for column in encoder.columns_)
