"""Reading a table from anything that holds one."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, get_args

import numpy as np

from clearwood._shared.calls import remembers_options
from clearwood._shared.checks import check_choice, check_whole
from clearwood._shared.draws import draw_rows as rows_drawn
from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood.table.column import Column
from clearwood.table.exposure import ZeroExposure, note_on_zero_exposure
from clearwood.table.kinds.evidence import Evidence
from clearwood.table.kinds.infer import check_finite, settle
from clearwood.table.kinds.review import Finding
from clearwood.table.kinds.written_numbers import (
    Writing,
    convert_written_numbers,
    with_missing_words,
    without_words,
)
from clearwood.table.monotone import with_directions
from clearwood.table.parts.parts import Parts, needs_rows
from clearwood.table.parts.survey import survey
from clearwood.table.raw import Raw
from clearwood.table.reading.scan import check_memory, is_many, rows_to_read, scan_as
from clearwood.table.roles.alignment import align, align_table, described, raw_of
from clearwood.table.roles.labels import Labels, labelled
from clearwood.table.roles.request import ReadRequest, TextOptions
from clearwood.table.roles.roles import (
    KindSetting,
)
from clearwood.table.roles.settle import (
    FEWEST_ROWS,
    check_known_targets,
    column_with_role,
    dropped_rows,
    settled_table,
    with_missing_codes,
)
from clearwood.table.schema import ColumnSchema, Schema
from clearwood.table.sources.csv import TextFile
from clearwood.table.sources.files import read_file
from clearwood.table.sources.frames import from_memory
from clearwood.table.stand_ins import noted_stand_ins
from clearwood.table.table import Table
from clearwood.table.types import NUMERIC, Kind, Role, Task

__all__ = ["as_table", "read", "read_as"]

_BESIDE_FEATURES = (Role.TARGET, Role.WEIGHT, Role.EXPOSURE, Role.GROUP, Role.TIME)


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
    draw_rows: int | None = None,
    seed: int = 0,
) -> Table:
    """Read a table: names, kinds, roles, and what is to be predicted.

    Parameters
    ----------
    source
        The path of a CSV, TSV (both may be gzipped), Parquet, Feather or JSON-lines file; a pandas,
        polars, Arrow or other data frame; a numpy array (columns x0, x1, ...); a dict of columns;
        or a `Table` whose roles are to be set again (its kinds are kept). What `scan` takes is
        read into memory, where it fits.
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
    draw_rows
        Read so many rows, drawn at random as by `Parts.sample`. Kinds, levels and notes are those
        of all rows.
    seed
        Fixes that draw.

    Returns
    -------
    Table

    See Also
    --------
    clearwood.scan : A table whose rows stay on disk.

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
    request = ReadRequest.of(
        target=target,
        weight=weight,
        exposure=exposure,
        group=group,
        time=time,
        protected=protected,
        ignore=ignore,
        kinds=kinds,
        task=task,
        decimal=decimal,
        thousands=thousands,
        missing=missing,
        delimiter=delimiter,
        encoding=encoding,
        labels=labels,
        monotone=monotone,
        zero_exposure=zero_exposure,
    )
    if draw_rows is not None:
        check_whole("draw_rows", draw_rows, 1)
    rows = rows_to_read(source, request.text_file, draw_rows=draw_rows)
    if rows is not None:
        parts = survey(rows.named, request, rows.origin)
        return _read_parts(parts, draw_rows, seed)
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


def _read_parts(parts: Parts, draw_rows: int | None, seed: int) -> Table:
    """Return the rows of a table in parts, or some of them."""
    if draw_rows is None:
        return parts.to_table()
    drawn = parts.sample(draw_rows, seed=seed)
    return replace(drawn, dropped=parts.dropped, notes=parts.notes)


def _drawn(table: Table, n: int | None, seed: int) -> Table:
    """Return so many rows of a table, or all of them."""
    return table if n is None else table.take(rows_drawn(table.n_rows, n, seed=seed))


def _with_labels_of(source: Table, table: Table) -> Table:
    """Keep what the columns of a table are known by when its roles are set again."""
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
    to_predict = column_with_role(roles, Role.TARGET)
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
    exposure = by_name.get(column_with_role(roles, Role.EXPOSURE) or "")
    if zero_exposure != "drop" or exposure is None or exposure.form != "number":
        return raws, []
    zero = exposure.values == 0
    if not zero.any():
        return raws, []
    target = by_name.get(column_with_role(roles, Role.TARGET) or "")
    total = None
    if target is not None and target.form in ("number", "boolean"):
        total = float(np.nansum(target.values[zero]))
    name = None if target is None else target.name
    note = note_on_zero_exposure(exposure.name, int(zero.sum()), len(zero), name, total)
    return [raw.at(~zero) for raw in raws], [Finding(note)]


@remembers_options
def read_as(
    source: Any,
    schema: Schema,
    *,
    keep: Sequence[str] = (),
    constant: bool = False,
    all_rows: bool = False,
    zero_exposure: ZeroExposure = "error",
    draw_rows: int | None = None,
    seed: int = 0,
    **options: Unpack[TextOptions],
) -> Table:
    """Read a table with the kinds and roles of another, the target included where present.

    Parameters
    ----------
    source
        What `read` takes.
    schema
        The schema of the table that a model was fitted on. Its features must be present; columns
        that it does not have are left out.
    keep
        Columns of numbers to keep that the schema ignores or does not have; they are no features.
    constant
        Whether the target may have the same value in all rows, or few rows may have one, as where
        nothing is learned from it.
    all_rows
        Keep the rows without a target, and leave the target out where there are some.
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
    if is_many(source) and not isinstance(source, Parts):
        if draw_rows is None:
            check_memory(source)
        parts = scan_as(source, schema, zero_exposure=zero_exposure, **options)
        source, draw_rows = _read_parts(parts, draw_rows, seed), None
    raws, origin, dropped = _columns_like(source, schema, options)
    roles = {c.name: c.role for c in schema.columns if c.role in _BESIDE_FEATURES or c in kept}
    if all_rows and any(raw.name == schema.target and raw.missing.any() for raw in raws):
        raws = [raw for raw in raws if raw.name != schema.target]
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
        return read(data, draw_rows=draw_rows, seed=seed, **options)
    if isinstance(data, Table):
        table = align_table(data, schema)
        known = {schema.name_of(c.name, c.header): c for c in data.columns}
        return (
            _with_exposure(table, schema, known.get(schema.exposure or "")) if exposure else table
        )
    if is_many(data):
        whole = read(data, draw_rows=draw_rows, seed=seed, **options)
        return as_table(whole, schema=schema, exposure=exposure)
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
        if path.is_file():
            check_memory(source)
        return read_file(path, options), str(path), 0
    if is_many(source):
        check_memory(source)
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
