"""Reading a table from anything that holds one."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np

from clearwood._shared.calls import remembers_options
from clearwood._shared.checks import check_choice, check_whole
from clearwood._shared.draws import draw_rows as rows_drawn
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count
from clearwood.table.column import Column
from clearwood.table.exposure import ZeroExposure, note_on_zero_exposure
from clearwood.table.identical import IDENTICAL_ROWS
from clearwood.table.kinds.code_like import are_few_levels, named_like_code
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.kinds.implausible import implausible
from clearwood.table.kinds.infer import check_finite, find_kind, settle
from clearwood.table.kinds.review import Finding, review_all
from clearwood.table.kinds.written_numbers import (
    Writing,
    convert_written_numbers,
    with_missing_words,
    without_words,
    words_among_numbers,
)
from clearwood.table.monotone import with_directions
from clearwood.table.parts.parts import Parts, needs_rows
from clearwood.table.raw import Raw
from clearwood.table.reading.alignment import align, align_table, described, raw_of
from clearwood.table.reading.csv import TextFile
from clearwood.table.reading.files import read_file
from clearwood.table.reading.frames import from_memory
from clearwood.table.reading.labels import Labels, labelled
from clearwood.table.reading.request import Request
from clearwood.table.reading.roles import (
    KindSetting,
    check_exposure,
    check_time,
    check_weights,
    checked_kinds,
    checked_task,
)
from clearwood.table.reading.task import settle_target
from clearwood.table.schema import ColumnSchema, Schema
from clearwood.table.stand_ins import noted_stand_ins
from clearwood.table.table import Table
from clearwood.table.types import NUMERIC, Kind, Role, Task

__all__ = [
    "as_columns",
    "as_table",
    "check_known_targets",
    "dropped_rows",
    "read",
    "read_as",
    "read_parts_as",
    "settled_table",
    "with_missing_codes",
]

#: With a target named, fewer rows than this cannot be learned from.
FEWEST_ROWS = 5

_FEATURES = (Role.FEATURE, Role.PROTECTED, Role.TARGET)
_BESIDE_FEATURES = (Role.TARGET, Role.WEIGHT, Role.EXPOSURE, Role.GROUP, Role.TIME)


class TextOptions(TypedDict, total=False):
    """The options of `read` about how cells are written."""

    decimal: str | None
    thousands: str | None
    missing: Sequence[str] | Mapping[str, Sequence[str]] | None
    delimiter: str | None
    encoding: str | None


class ReadOptions(TextOptions, total=False):
    """The options of `read` that do not change what it returns."""

    target: str | int | None
    weight: str | None
    exposure: str | None
    group: str | None
    time: str | None
    protected: str | Iterable[str]
    ignore: str | Iterable[str]
    kinds: Mapping[str, KindSetting] | None
    task: str | Task | None
    labels: Labels | None
    monotone: Mapping[str, str] | None
    zero_exposure: ZeroExposure


@overload
def read(
    source: Any, *, parts: Literal[True], draw_rows: None = None, **options: Unpack[ReadOptions]
) -> Parts: ...
@overload
def read(
    source: Any, *, parts: Literal[False], draw_rows: None = None, **options: Unpack[ReadOptions]
) -> Table: ...
@overload
def read(
    source: Any,
    *,
    parts: bool | None = None,
    draw_rows: int,
    seed: int = 0,
    **options: Unpack[ReadOptions],
) -> Table: ...
@overload
def read(
    source: Any,
    *,
    parts: bool | None = None,
    draw_rows: int | None = None,
    seed: int = 0,
    **options: Unpack[ReadOptions],
) -> Table | Any: ...
@remembers_options
def read(
    source: Any,
    *,
    target: str | int | None = None,
    weight: str | None = None,
    exposure: str | None = None,
    group: str | None = None,
    time: str | None = None,
    protected: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    kinds: Mapping[str, KindSetting] | None = None,
    task: str | Task | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    missing: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    labels: Labels | None = None,
    monotone: Mapping[str, str] | None = None,
    zero_exposure: ZeroExposure = "error",
    parts: bool | None = None,
    draw_rows: int | None = None,
    seed: int = 0,
) -> Table | Parts:
    """Read a table: names, kinds, roles, and what is to be predicted.

    Parameters
    ----------
    source
        The path of a CSV, TSV (both may be gzipped), Parquet, Feather or JSON-lines file; a pandas,
        polars, Arrow or other data frame; a numpy array (columns x0, x1, ...); a dict of columns;
        or a `Table` whose roles are to be set anew (its kinds are kept).
    target
        The column to predict; a position for numpy arrays. Rows without it are dropped and counted.
    weight
        A column of row weights.
    exposure
        A column of positive numbers that says how long, or over how much, the target of each row
        was observed: years insured, kilometres, number of claims. What is modelled is the rate,
        the target divided by the exposure, and each row counts in proportion to its exposure. It
        is not a feature.
    group
        A column that ties rows together: the same person, firm, place; or "identical rows", which
        ties together rows with the same values in all features.
    time
        A column that orders rows in time.
    protected
        Features to report on separately in audits.
    ignore
        Columns to leave out.
    kinds
        Kinds by column, where those inferred are wrong: ``{"zip": "category"}``. A list of levels
        makes an ordered category: ``{"size": ["S", "M", "L"]}``.
    task
        "regression", "count", "amount" (a number of zero or more, modelled on a log scale),
        "binary" or "multiclass"; all but "amount" are inferred, as by `find_task`, when None.
    decimal, thousands
        The decimal sign, "." or ",", and what groups thousands in numbers written as text: ",",
        ".", a space or an apostrophe, or "" for nothing. Both are detected when None.
    missing
        Words, or numbers such as "999", that mean missing in every column, or a mapping from
        columns to such words. When None, usual words such as "unknown", "k.A.", "-" and "?" are
        missing where all other cells of the column are numbers.
    delimiter
        What separates the cells of text files; detected when None.
    encoding
        The encoding of text files; UTF-8 and UTF-16 are recognised.
    labels
        What columns are called in every figure, sentence and export, with their units: the path of
        a TOML file, or ``{"sqm": {"name": "Living area", "unit": "m²"}}``. Each column may have a
        ``name``, a ``unit``, an ``order`` (its levels from low to high) and a ``description``; a
        text alone is the name. The names in the data still find the columns.
    monotone
        Columns with which predictions of the target must rise ("up") or fall ("down"), everything
        else being equal: ``{"mileage": "up"}``. Every learner that is fitted to the table keeps to
        it, and one that cannot is refused. For two classes it is the probability of the second.
    zero_exposure
        What becomes of rows whose exposure is zero, which have no rate: "error" refuses the table,
        "drop" leaves them out, with a warning that counts them and adds up their target.
    parts
        True to leave the rows where they are and return `Parts`; False to read them into memory.
        When None, rows stay where they are if the table would not fit into memory, with a warning.
    draw_rows
        Read so many rows, drawn at random as by `Parts.sample`. Kinds, levels and notes are those
        of all rows.
    seed
        Fixes that draw.

    Returns
    -------
    Table or Parts
        `Parts` with ``parts=True``, and a `Table` with ``parts=False`` or `draw_rows`. Otherwise a
        `Table` wherever it fits into memory. Its type is then ``Table | Any``: what works with a
        table is checked as such, what takes both takes it, and ``isinstance(data, Parts)`` tells
        them apart.

    Notes
    -----
    In text files, empty cells and NA, N/A, NaN, nan, NULL and null are missing. Numbers may be
    written as 1,234.5, 1.234,5, 1 234,5 or 1'234.5, with a currency or a per cent sign before or
    after; 12 % is read as 12, with the unit kept. Where 1,234 could be either, the other cells of
    the column and the other columns decide, and a warning names the option that decides otherwise.
    Codes with a leading zero, dates, versions and telephone numbers stay text. Identifiers (a
    different value in every row), constant columns, columns without values and free text keep their
    place in the table but are left out of the features, with a warning and a note.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.read(
    ...     {"age": [31, 45, 28, 60, 45, 39], "smokes": ["no", "yes", "no", "yes", "yes", "no"]},
    ...     target="smokes",
    ... )
    >>> data.features, str(data.task), str(data["smokes"].kind)
    (('age',), 'binary', 'yes/no')
    """
    request = Request(
        target=target,
        weight=weight,
        exposure=exposure,
        group=group,
        time=time,
        protected=protected,
        ignore=ignore,
        kinds=checked_kinds(kinds),
        task=checked_task(task),
        writing=Writing(decimal, thousands, missing),
        delimiter=delimiter,
        encoding=encoding,
        labels=labels,
        monotone=monotone,
        zero_exposure=zero_exposure,
    )
    from clearwood.table.parts.gather import in_parts

    if draw_rows is not None:
        check_whole("draw_rows", draw_rows, 1)
    parted = in_parts(source, request, parts=parts, draw_rows=draw_rows, seed=seed)
    if parted is not None:
        return parted
    raws, origin, dropped = _columns_of(source, request.text_file)
    assigned = request.assigned([raw.name for raw in raws])
    known = {column.name: column.kind for column in source} if isinstance(source, Table) else {}
    raws, converted = convert_written_numbers(raws, request.writing, assigned.as_written)
    raws, without = _with_exposure_above_zero(raws, assigned.roles, zero_exposure)
    table = _table(
        raws,
        assigned.roles,
        assigned.kinds,
        known,
        request.task,
        dropped=dropped,
        origin=origin,
        findings=[*converted, *without],
    )
    table = labelled(
        replace(
            with_missing_codes(table, request.writing), keeps_identical=assigned.keeps_identical
        ),
        assigned.labels.values(),
    )
    table = _with_labels_of(source, table) if isinstance(source, Table) else table
    table = replace(table, notes=(*table.notes, *noted_stand_ins(table)))
    return _drawn(with_directions(table, monotone), draw_rows, seed)


def _drawn(table: Table, n: int | None, seed: int) -> Table:
    """Return so many rows of a table, or all of them."""
    return table if n is None else table.take(rows_drawn(table.n_rows, n, seed=seed))


def _with_labels_of(source: Table, table: Table) -> Table:
    """Keep what the columns of a table are known by when its roles are set anew."""
    known = source.schema
    columns = (c if c.header else described(c, known[c.name]) for c in table.columns)
    return replace(table, columns=tuple(columns))


def _table(
    raws: list[Raw],
    roles: dict[str, Role],
    stated: Mapping[str, KindSetting],
    known: Mapping[str, Kind],
    chosen: Task | None,
    *,
    dropped: int,
    origin: str,
    findings: Sequence[Finding] = (),
    constant: bool = False,
) -> Table:
    """Settle the kinds, the task and what is left out, with notes and warnings about it."""
    for raw in raws:
        check_finite(raw)
    findings = list(findings)
    to_predict = _named(roles, Role.TARGET)
    if to_predict is not None:
        raws, lost = _rows_with_target(raws, to_predict, 1 if constant else FEWEST_ROWS)
        dropped += lost
        findings += dropped_rows(lost)
    table = settled_table(
        raws, roles, stated, known, chosen, findings=findings, constant=constant, evidence=Evidence
    )
    return replace(table, dropped=dropped, source=origin)


def _with_exposure_above_zero(
    raws: list[Raw], roles: Mapping[str, Role], zero_exposure: ZeroExposure
) -> tuple[list[Raw], list[Finding]]:
    """Leave out the rows whose exposure is zero, if that is wanted, with a note of them."""
    by_name = {raw.name: raw for raw in raws}
    exposure = by_name.get(_named(roles, Role.EXPOSURE) or "")
    if zero_exposure != "drop" or exposure is None or exposure.form != "number":
        return raws, []
    zero = exposure.values == 0
    if not zero.any():
        return raws, []
    target = by_name.get(_named(roles, Role.TARGET) or "")
    total = None
    if target is not None and target.form in ("number", "boolean"):
        total = float(np.nansum(target.values[zero]))
    name = None if target is None else target.name
    note = note_on_zero_exposure(exposure.name, int(zero.sum()), len(zero), name, total)
    return [raw.at(~zero) for raw in raws], [Finding(note)]


def with_missing_codes(table: Table, writing: Writing) -> Table:
    """Let columns keep what was stated to mean missing in them."""
    stated = ((c, tuple(sorted(writing.missing_words(c.name)))) for c in table.columns)
    columns = (replace(c, missing_codes=codes) if codes else c for c, codes in stated)
    return replace(table, columns=tuple(columns))


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
    to_predict = _named(roles, Role.TARGET)
    settled: dict[str, Column] = {}
    findings = list(findings)
    if to_predict is None:
        chosen = None
    else:
        raw = next(raw for raw in raws if raw.name == to_predict)
        exposure = _named(roles, Role.EXPOSURE)
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
    check_weights(by_name.get(_named(roles, Role.WEIGHT) or ""))
    check_exposure(by_name.get(_named(roles, Role.EXPOSURE) or ""))
    check_time(settled.get(_named(roles, Role.TIME) or ""))
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


def _named(roles: Mapping[str, Role], wanted: Role) -> str | None:
    return next((name for name, role in roles.items() if role is wanted), None)


@remembers_options
def read_as(
    source: Any,
    schema: Schema,
    *,
    keep: Sequence[str] = (),
    constant: bool = False,
    zero_exposure: ZeroExposure = "error",
    draw_rows: int | None = None,
    seed: int = 0,
    **options: Unpack[TextOptions],
) -> Table:
    """Read a table with the kinds and roles of another, the target included where present.

    Parameters
    ----------
    source
        What `read` takes, in one piece.
    schema
        The schema of the table that a model was fitted on. Its features must be present; columns
        that it does not have are left out.
    keep
        Columns of numbers to keep that the schema ignores or does not have; they are no features.
    constant
        Whether the target may have the same value in all rows, or few rows may have one, as where
        nothing is learned from it.
    zero_exposure
        As for `read`.
    draw_rows, seed
        As for `read`.
    **options
        How cells are written: decimal, thousands, missing, delimiter, encoding, as for `read`.

    Returns
    -------
    Table

    Examples
    --------
    >>> first = {"age": [31, 45, 28, 60, 45], "claims": [0, 1, 0, 2, 1]}
    >>> schema = read(first, target="claims", task="count").schema
    >>> again = read_as({"claims": [1, 0, 0, 3, 1], "age": [50, 33, 20, 41, 37]}, schema)
    >>> again.features, again.target, str(again.task)
    (('age',), 'claims', 'count')
    """
    ignored = {c.name for c in schema.columns if c.role is Role.IGNORED}
    used = set(schema.names) - ignored
    more = [name for name in dict.fromkeys(map(schema.name_of, keep)) if name not in used]
    kept = tuple(
        replace(schema[name], kind=Kind.NUMBER, levels=())
        if name in ignored
        else ColumnSchema(name, Kind.NUMBER, Role.IGNORED)
        for name in more
    )
    rest = (c for c in schema.columns if c.name not in more)
    schema = replace(schema, columns=(*rest, *kept))
    raws, origin, dropped = _columns_like(source, schema, options)
    roles = {c.name: c.role for c in schema.columns if c.role in _BESIDE_FEATURES or c in kept}
    check_choice("zero_exposure", zero_exposure, get_args(ZeroExposure))
    raws, findings = _with_exposure_above_zero(raws, roles, zero_exposure)
    beside = [raw for raw in raws if raw.name in roles]
    target = schema.target if any(raw.name == schema.target for raw in beside) else None
    if target is not None:
        raws, lost = _rows_with_target(raws, target, 1 if constant else FEWEST_ROWS)
        dropped += lost
        if schema.exposure is not None and all(raw.name != schema.exposure for raw in beside):
            raise InputError(
                f"the new data has the target {target!r} but lacks its exposure "
                f"{schema.exposure!r}",
                parameter="exposure",
                value=schema.exposure,
                hint="the model predicts a rate, so observed values are compared per unit of "
                "exposure: add the column, or leave the target out.",
            )
    features = align(raws, schema, named=True, source=origin)
    if not beside:
        alone = replace(features, dropped=dropped, keeps_identical=schema.keeps_identical)
        return _drawn(alone, draw_rows, seed)
    stated = {raw.name: schema[raw.name].kind for raw in beside}
    here = {name: roles[name] for name in stated}
    task = schema.task if target is not None else None
    beside = [raw for raw in raws if raw.name in roles]
    others = _table(
        beside,
        here,
        stated,
        {},
        task,
        dropped=dropped,
        origin=origin,
        findings=findings,
        constant=constant,
    )
    table = replace(
        others,
        columns=(*features.columns, *(described(c, schema[c.name]) for c in others.columns)),
        roles={**features.roles, **others.roles},
        notes=(*features.notes, *others.notes),
        monotone=features.monotone,
        keeps_identical=schema.keeps_identical,
    )
    return _drawn(table, draw_rows, seed)


def read_parts_as(
    source: Any,
    schema: Schema,
    *,
    zero_exposure: ZeroExposure = "error",
    **options: Unpack[TextOptions],
) -> Parts:
    """Read a table in parts with the target, weight, exposure and groups of another.

    Columns with these roles may be absent: rows to predict need no target.

    Parameters
    ----------
    source
        What `read` takes in parts, or a table in parts whose roles are to be set.
    schema
        The schema of the table that a model was fitted to.
    zero_exposure
        As for `read`.
    **options
        How cells are written, as for `read`.

    Returns
    -------
    Parts

    Examples
    --------
    >>> import pandas as pd
    >>> first = pd.DataFrame({"age": [31, 45, 28, 60, 45], "claims": [0, 1, 0, 2, 1]})
    >>> schema = read(first, target="claims", task="count").schema
    >>> again = read_parts_as([first, first[["age", "claims"]]], schema)
    >>> again.n_rows, again.target, str(again.task)
    (10, 'claims', 'count')
    """
    from clearwood.table.parts.gather import in_parts

    by_role = {column.role: column.header or column.name for column in schema.columns}
    writing = Writing(options.get("decimal"), options.get("thousands"), options.get("missing"))
    request = Request(
        target=by_role.get(Role.TARGET),
        weight=by_role.get(Role.WEIGHT),
        exposure=by_role.get(Role.EXPOSURE),
        group=IDENTICAL_ROWS if schema.keeps_identical else by_role.get(Role.GROUP),
        task=schema.task,
        writing=writing,
        delimiter=options.get("delimiter"),
        encoding=options.get("encoding"),
        optional=True,
        zero_exposure=zero_exposure,
    )
    parts = in_parts(source, request, parts=True, draw_rows=None)
    assert isinstance(parts, Parts)
    return parts


def as_table(
    data: Any,
    *,
    schema: Schema | None = None,
    exposure: bool = False,
    draw_rows: int | None = None,
    seed: int = 0,
    **options: Unpack[TextOptions],
) -> Table:
    """Convert anything that holds a table to a `Table`; no target is needed.

    Parameters
    ----------
    data
        What `read` takes.
    schema
        What a model was fitted on: the result has its features, in its order and kinds. Columns of
        the schema with other roles are dropped, unknown ones with a warning; levels that the schema
        does not have come after those it has, with a warning.
    exposure
        Whether to keep the schema's exposure as well, where the data have it.
    draw_rows, seed
        As for `read`.
    **options
        How cells are written: decimal, thousands, missing, delimiter, encoding, as for `read`.

    Returns
    -------
    Table

    Examples
    --------
    >>> import numpy as np
    >>> as_table(np.eye(2)).names
    ('x0', 'x1')
    >>> schema = as_table({"age": [30.5, 41], "town": ["Bern", "Basel"]}).schema
    >>> as_table({"town": ["Basel"], "age": [50]}, schema=schema)["age"].values
    array([50.])
    """
    if isinstance(data, Parts):
        raise needs_rows("this call")
    if schema is None:
        if isinstance(data, Table):
            return data
        table: Table = read(data, draw_rows=draw_rows, seed=seed, **options)
        return table
    if isinstance(data, Table):
        table = align_table(data, schema)
        known = {schema.name_of(c.name, c.header): c for c in data.columns}
        return (
            _with_exposure(table, schema, known.get(schema.exposure or "")) if exposure else table
        )
    raws, origin, _ = _columns_like(data, schema, options)
    named = not isinstance(data, np.ndarray | list | tuple) or _has_field_names(data)
    table = align(raws, schema, named=named, source=origin)
    if not (exposure and named):
        return _drawn(table, draw_rows, seed)
    beside = next((settle(raw, Kind.NUMBER) for raw in raws if raw.name == schema.exposure), None)
    return _drawn(_with_exposure(table, schema, beside), draw_rows, seed)


def _with_exposure(table: Table, schema: Schema, column: Column | None) -> Table:
    """Add the exposure to the features; it may be missing or zero in rows that are predicted."""
    if column is None:
        return table
    if (column.values < 0).any():
        raise InputError(
            f"the exposure {column.name!r} is negative in {int((column.values < 0).sum()):,} of "
            f"{len(column):,} rows",
            parameter="exposure",
            value=column.name,
            hint="correct these rows, or leave the column out to predict rates alone.",
        )
    named = described(replace(column, name=str(schema.exposure)), schema[str(schema.exposure)])
    return replace(
        table,
        columns=(*table.columns, named),
        roles={**table.roles, named.name: Role.EXPOSURE},
    )


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


def _columns_like(source: Any, schema: Schema, options: TextOptions) -> tuple[list[Raw], str, int]:
    """Return columns to be fitted to a schema: only its numbers may be written in other ways."""
    writing = Writing(options.get("decimal"), options.get("thousands"), options.get("missing"))
    # levels are matched as they are written: 01234 is not 1234; classes that were numbers still are
    levels = frozenset(
        name
        for c in schema.columns
        if c.kind in (Kind.CATEGORY, Kind.ORDERED) and not c.label_type
        for name in (c.name, c.header)
    )
    raws, origin, dropped = _columns_of(
        source, TextFile(options.get("delimiter"), options.get("encoding"), writing, levels)
    )
    raws = [replace(raw, name=schema.name_of(raw.name, raw.header)) for raw in raws]
    # 1,234 means in new data what it meant in those that the model was fitted to
    commas = {c.name for c in schema.columns if c.decimal == ","}
    raws = [replace(raw, decimal=",") if raw.name in commas else raw for raw in raws]
    # codes are gone before words among numbers are looked at
    codes = {c.name: frozenset(c.missing_codes) for c in schema.columns}
    raws = [without_words(raw, codes.get(raw.name, frozenset())) for raw in raws]
    if isinstance(source, Table):
        return raws, origin, dropped
    numbers = {c.name for c in schema.columns if c.kind in (*NUMERIC, Kind.YES_NO)}
    skipped = {raw.name for raw in raws} - numbers
    raws, findings = convert_written_numbers(raws, writing, skipped)
    for finding in findings:
        tell(finding.note)
    return raws, origin, dropped


def _has_field_names(data: Any) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.names is not None


def _columns_of(source: Any, options: TextFile) -> tuple[list[Raw], str, int]:
    """Return the columns, what they were read from, and the rows dropped before."""
    raws, origin, dropped = _columns_as_held(source, options)
    return with_missing_words(raws, options.writing), origin, dropped


def _columns_as_held(source: Any, options: TextFile) -> tuple[list[Raw], str, int]:
    if isinstance(source, Table):
        return [raw_of(column) for column in source.columns], source.source, source.dropped
    if isinstance(source, Parts):
        raise needs_rows("this call")
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return read_file(path, options), str(path), 0
    raws = from_memory(source)
    if not raws:
        raise InputError("the table has no columns", parameter="source")
    if not len(raws[0].values):
        raise InputError("the table has no rows", parameter="source")
    module = type(source).__module__.split(".")[0]
    return raws, "dict of columns" if module == "builtins" else f"{module} data", 0


def _rows_with_target(
    raws: list[Raw], target: str, fewest: int = FEWEST_ROWS
) -> tuple[list[Raw], int]:
    missing = next(raw for raw in raws if raw.name == target).missing
    n_left = int((~missing).sum())
    check_known_targets(target, n_left, fewest)
    if n_left == len(missing):
        return raws, 0
    kept = [raw.at(~missing) for raw in raws]
    return kept, len(missing) - n_left


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


def _settled(raw: Raw, kind: Kind | Sequence[Any] | None, role: Role | None) -> Column:
    if role in (Role.WEIGHT, Role.EXPOSURE) and kind is None:
        kind = Kind.NUMBER
    if role is Role.TIME and kind is None and raw.form == "category":
        kind = find_kind(replace(raw, form="string"))  # levels of a data frame may be dates
    if isinstance(kind, Kind) or kind is None:
        return settle(raw, kind)
    return settle(raw, Kind.ORDERED, kind)
