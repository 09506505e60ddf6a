"""From raw columns to a table: kinds, the task, and which columns a model does not use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count
from clearwood.table.column import Column
from clearwood.table.kinds.code_like import are_few_levels, named_like_code
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.kinds.implausible import implausible
from clearwood.table.kinds.infer import find_kind, settle
from clearwood.table.kinds.review import Finding, review_all
from clearwood.table.kinds.written_numbers import Writing, words_among_numbers
from clearwood.table.raw import Raw
from clearwood.table.roles.roles import KindSetting, check_exposure, check_time, check_weights
from clearwood.table.roles.task import settle_target
from clearwood.table.sources.frames import from_memory
from clearwood.table.table import Table
from clearwood.table.types import Kind, Role, Task

__all__ = [
    "FEWEST_ROWS",
    "as_columns",
    "check_known_targets",
    "column_with_role",
    "dropped_rows",
    "settled_table",
    "with_missing_codes",
]

#: With a target named, fewer rows than this cannot be learned from.
FEWEST_ROWS = 5

_FEATURES = (Role.FEATURE, Role.PROTECTED, Role.TARGET)


def settled_table(
    raws: Sequence[Raw],
    roles: dict[str, Role],
    stated: Mapping[str, KindSetting],
    known: Mapping[str, Kind],
    chosen: Task | None,
    *,
    findings: Sequence[Finding],
    evidence: Callable[[Column], Evidence],
    constant: bool = False,
) -> Table:
    """Settle kinds, task and what is left out, from columns whose target has no gaps.

    Parameters
    ----------
    evidence
        What is known about all rows of a column, where the values are not all of them.
    """
    to_predict = column_with_role(roles, Role.TARGET)
    settled: dict[str, Column] = {}
    findings = list(findings)
    if to_predict is None:
        chosen = None
    else:
        raw = next(raw for raw in raws if raw.name == to_predict)
        exposure = column_with_role(roles, Role.EXPOSURE)
        settled[to_predict], chosen, note = settle_target(
            raw, stated.get(to_predict), chosen, exposure=exposure, constant=constant
        )
        findings += [Finding(note, warn=False)] if note else []
    for raw in raws:
        if raw.name not in settled:
            kind = stated.get(raw.name, known.get(raw.name))
            settled[raw.name] = _settled(raw, kind, roles.get(raw.name))
            if roles.get(raw.name) is Role.PROTECTED and raw.name not in stated:
                settled[raw.name], asked = _as_groups(raw, settled[raw.name])
                findings += asked
    columns = [evidence(settled[raw.name]) for raw in raws]
    by_name = {one.column.name: one for one in columns}
    check_weights(by_name.get(column_with_role(roles, Role.WEIGHT) or ""))
    check_exposure(by_name.get(column_with_role(roles, Role.EXPOSURE) or ""))
    check_time(settled.get(column_with_role(roles, Role.TIME) or ""))
    plain = {raw.name for raw in raws if raw.plain}
    # What the user stated is not doubted; numpy arrays come from people who chose their columns.
    given = set(roles)
    roles, unusual = review_all(columns, roles, {*stated, *plain})
    # one typing error makes a category of a whole column
    free = (raw for raw in raws if raw.name not in stated and raw.name not in given)
    odd = (words_among_numbers(raw) for raw in free)
    features = (c for c in columns if roles.get(c.column.name, Role.FEATURE) in _FEATURES)
    of_numbers = [one for one in features if one.column.name not in plain]
    doubtful = (implausible(one) for one in of_numbers)
    coded = (
        named_like_code(one)
        for one in of_numbers
        if one.column.name not in stated and one.column.name != to_predict
    )
    findings += [*filter(None, odd), *unusual, *filter(None, doubtful), *filter(None, coded)]
    table = Table(tuple(one.column for one in columns), roles, chosen)
    n_rows = columns[0].n_rows
    if to_predict is not None and len(table.features) > n_rows:
        note = f"there are more features ({len(table.features)}) than rows ({n_rows})"
        findings.append(Finding(note))
    for finding in findings:
        if finding.warn:
            tell(finding.note)
    return replace(table, notes=tuple(finding.note for finding in findings))


def column_with_role(roles: Mapping[str, Role], wanted: Role) -> str | None:
    """Return the name of the column that has a role."""
    return next((name for name, role in roles.items() if role is wanted), None)


def _settled(raw: Raw, kind: Kind | Sequence[Any] | None, role: Role | None) -> Column:
    if role in (Role.WEIGHT, Role.EXPOSURE) and kind is None:
        kind = Kind.NUMBER
    if role is Role.TIME and kind is None and raw.form == "category":
        kind = find_kind(replace(raw, form="string"))  # levels of a data frame may be dates
    if isinstance(kind, Kind) or kind is None:
        return settle(raw, kind)
    return settle(raw, Kind.ORDERED, kind)


def _as_groups(raw: Raw, column: Column) -> tuple[Column, list[Finding]]:
    """Return a protected column of few whole numbers as levels, and a note of it.

    Its groups are compared, and a line through codes such as 1, 2 and 3 would merge them.
    """
    if column.kind is not Kind.WHOLE or not are_few_levels(column.values, raw.n_present):
        return column, []
    grouped = settle(raw, Kind.CATEGORY)
    note = words(
        f"protected column {raw.name!r} holds {len(grouped.levels)} whole numbers "
        f"({', '.join(grouped.levels)}), which are taken as levels; if they are amounts, set ",
        Option("kinds", {raw.name: "whole number"}),
    )
    return grouped, [Finding(note, left_out=False)]


def with_missing_codes(table: Table, writing: Writing) -> Table:
    """Let columns keep what was stated to mean missing in them."""
    stated = ((c, tuple(sorted(writing.missing_words(c.name)))) for c in table.columns)
    columns = (replace(c, missing_codes=codes) if codes else c for c, codes in stated)
    return replace(table, columns=tuple(columns))


def check_known_targets(target: str, n_left: int, fewest: int = FEWEST_ROWS) -> None:
    """Refuse a target that is known in no row, or in too few to learn from."""
    if not n_left:
        raise InputError(
            f"the target {target!r} is all missing",
            parameter="target",
            value=target,
            hint="choose another column.",
        )
    if n_left < fewest:
        raise InputError(
            f"the table has {count(n_left, 'row')} with a target; at least {fewest} are needed",
            parameter="target",
            value=target,
            hint="nothing can be learned from so few rows.",
        )


def dropped_rows(n_rows: int) -> list[Finding]:
    """Return the note on rows without a target."""
    if not n_rows:
        return []
    return [Finding(f"{count(n_rows, 'row')} without a target left out", warn=False)]


def as_columns(data: Any) -> tuple[Column, ...]:
    """Return the columns of data in memory as they are, without target, roles or review.

    Numbers stay numbers, 0 and 1 and infinity too: they are what a fitted model receives.

    Parameters
    ----------
    data
        A table, a data frame, an array or a dict of columns.

    Examples
    --------
    >>> [str(column.kind) for column in as_columns({"age": [30.5, 41.0], "claim": [0, 1]})]
    ['number', 'whole number']
    """
    if isinstance(data, Table):
        return data.columns
    return tuple(_as_column(raw) for raw in from_memory(data))


def _as_column(raw: Raw) -> Column:
    if raw.form != "number":
        return settle(raw)
    present = raw.values[~np.isnan(raw.values)]
    whole = not raw.plain and bool((present == np.floor(present)).all())
    return Column(raw.name, Kind.WHOLE if whole else Kind.NUMBER, raw.values)
