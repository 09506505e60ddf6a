"""New data in the shape of the data a model was fitted on."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.messages import tell
from clearwood.table.column import Column
from clearwood.table.kinds.infer import YES_NO_WORDS, are_numbers, check_finite, convert, to_coded
from clearwood.table.kinds.written_numbers import without_words
from clearwood.table.raw import Form, Raw, factorise, number_text
from clearwood.table.schema import ColumnSchema, Schema
from clearwood.table.table import Table
from clearwood.table.types import Kind, Role

__all__ = ["align", "align_table", "described", "raw_of"]

AnyColumn = TypeVar("AnyColumn", Raw, Column)

_FORMS: dict[Kind, Form] = {
    Kind.NUMBER: "number",
    Kind.WHOLE: "number",
    Kind.YES_NO: "string",
    Kind.CATEGORY: "category",
    Kind.ORDERED: "ordered",
    Kind.DATE: "date",
}


def raw_of(column: Column) -> Raw:
    """Return a finished column in the form in which columns are read."""
    if column.kind is Kind.TEXT:
        codes, levels = factorise(list(column.values))
        return Raw(column.name, "string", codes, levels)
    return Raw(
        column.name,
        _FORMS[column.kind],
        column.values,
        column.levels,
        column.label_type,
        header=column.header,
    )


def align(raws: Sequence[Raw], schema: Schema, *, named: bool, source: str = "") -> Table:
    """Return the schema's features, in its order and kinds."""
    wanted = [schema[name] for name in schema.features]
    if named:
        raws = _by_name(raws, schema)
    elif len(raws) != len(wanted):
        raise InputError(
            f"X has {len(raws)} features, but the model is expecting {len(wanted)} features as "
            "input",
            parameter="data",
            value=len(raws),
            hint=f"in this order: {', '.join(schema.features[:12])}.",
        )
    columns = tuple(_fit_to(raw, want) for raw, want in zip(raws, wanted, strict=True))
    return _with_roles(columns, wanted, source)


def described(column: Column, want: ColumnSchema) -> Column:
    """Return a column with the header, unit, description and codes for missing of a schema's."""
    if not (want.about or want.missing_codes):
        return column
    return replace(
        column,
        header=want.header,
        unit=want.unit,
        description=want.description,
        decimal=want.decimal,
        missing_codes=tuple(dict.fromkeys((*want.missing_codes, *column.missing_codes))),
    )


def align_table(table: Table, schema: Schema) -> Table:
    """Return the schema's features of a table, converting only what differs from the schema."""
    wanted = [schema[name] for name in schema.features]
    # columns with a role in the table, such as its weights, are used and not reported as ignored
    listed = [
        column
        for column in table.columns
        if column.name in table.features
        or schema.name_of(column.name, column.header) in schema.features
    ]
    columns = _by_name(listed, schema)
    return _with_roles(
        tuple(
            column
            if (column.name, column.kind, column.levels) == (want.name, want.kind, want.levels)
            and set(want.missing_codes) <= set(column.missing_codes)
            else _fit_to(raw_of(column), want)
            for column, want in zip(columns, wanted, strict=True)
        ),
        wanted,
        table.source,
    )


def _with_roles(columns: tuple[Column, ...], wanted: list[ColumnSchema], source: str) -> Table:
    columns = tuple(map(described, columns, wanted))
    table = Table(
        columns,
        {c.name: c.role for c in wanted if c.role is not Role.FEATURE},
        source=source,
        monotone={c.name: c.monotone for c in wanted if c.monotone},
    )
    _warn_of_empty_rows(table)
    return table


def _by_name(raws: Sequence[AnyColumn], schema: Schema) -> list[AnyColumn]:
    known = {schema.name_of(raw.name, raw.header): raw for raw in raws}
    absent = [name for name in schema.features if name not in known]
    if absent:
        offers = [name for name in known if name not in schema.names]
        shown = ", ".join(map(repr, absent[:8])) + (", …" if len(absent) > 8 else "")
        hint = did_you_mean(absent[0], offers) if offers else "the model was fitted with them."
        raise InputError(
            f"the new data lacks the column{'s' if len(absent) > 1 else ''} {shown}",
            parameter=absent[0],
            hint=hint,
        )
    listed = set(schema.names)
    extra = [name for name in known if name not in listed]
    if extra:
        shown = ", ".join(map(repr, extra[:5])) + (", …" if len(extra) > 5 else "")
        tell(f"the new data has columns that the model was not fitted with; ignored: {shown}")
    return [known[name] for name in schema.features]


def _fit_to(raw: Raw, want: ColumnSchema) -> Column:
    raw = without_words(replace(raw, name=want.name), frozenset(want.missing_codes))
    check_finite(raw)
    if not len(want.levels):
        if want.kind is Kind.TEXT:
            return convert(raw, want.kind)
        # A whole number may become a fraction, but a word is an error.
        kind = Kind.NUMBER if want.kind is Kind.WHOLE else want.kind
        if raw.missing.all():
            raw = Raw(want.name, "number", np.full(len(raw.values), np.nan))
        column = convert(raw, kind)
        return Column(want.name, want.kind, column.values)
    coded = to_coded(raw)
    levels = coded.levels
    if want.kind is Kind.YES_NO:
        levels = tuple(_yes_no_twin(level, want.levels) for level in levels)
    position = {level: code for code, level in enumerate(want.levels)}
    levels = tuple(level if level in position else _plain_number(level) for level in levels)
    used = set(np.unique(coded.values).tolist())
    unseen = [level for code, level in enumerate(levels) if level not in position and code in used]
    for level in sorted(set(unseen)):
        position[level] = len(position)
    if unseen:
        shown = ", ".join(map(repr, sorted(set(unseen))[:3]))
        tell(
            f"column {want.name!r} has levels that the model was not fitted with: "
            f"{shown}{', …' if len(set(unseen)) > 3 else ''}"
        )
    lookup = np.array([*(position.get(level, -1) for level in levels), -1], dtype=np.int32)
    return Column(want.name, want.kind, lookup[coded.values], tuple(position))


def _plain_number(level: str) -> str:
    """Write ``2.0`` as ``2``, since a category of numbers has such levels."""
    return number_text(float(level)) if are_numbers([level]) else level


def _yes_no_twin(level: str, known: Sequence[str]) -> str:
    """Return the known level of the same meaning: ``TRUE`` for ``yes``, ``1`` for ``y``."""
    if level in known or len(known) != 2:
        return level
    folded = level.strip().casefold()
    meanings = {no: 0 for no, _ in YES_NO_WORDS} | {yes: 1 for _, yes in YES_NO_WORDS}
    own = [meanings.get(name.strip().casefold()) for name in known]
    return known[meanings[folded]] if folded in meanings and own == [0, 1] else level


def _warn_of_empty_rows(table: Table) -> None:
    empty = np.ones(table.n_rows, dtype=bool)
    for column in table.columns:
        empty &= column.missing
        if not empty.any():
            return
    if table.columns:
        tell(
            f"{int(empty.sum())} of {table.n_rows} rows have no value in any column the model uses"
        )
