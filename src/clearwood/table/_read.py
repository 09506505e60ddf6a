"""Reading a table from anything that holds one."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._errors import ClearwoodWarning, InputError, did_you_mean
from clearwood.table._align import align, raw_of
from clearwood.table._column import Column
from clearwood.table._files import read_file
from clearwood.table._frames import from_memory
from clearwood.table._infer import settle
from clearwood.table._kinds import Kind, Role, Task
from clearwood.table._raw import Raw
from clearwood.table._review import Finding, review
from clearwood.table._schema import Schema
from clearwood.table._table import Table
from clearwood.table._task import settle_target

__all__ = ["as_table", "read"]

#: With a target named, fewer rows than this cannot be learned from.
FEWEST_ROWS = 5

KindSetting = str | Kind | Sequence[Any]


def read(
    source: Any,
    *,
    target: str | int | None = None,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    protected: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    kinds: Mapping[str, KindSetting] | None = None,
    task: str | Task | None = None,
    decimal: str = ".",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table: names, kinds, roles, and what is to be predicted.

    Parameters
    ----------
    source
        The path of a CSV, TSV (both may be gzipped), Parquet, Feather or JSON-lines file; a pandas,
        polars, Arrow or other data frame; a numpy array (columns x0, x1, ...); a dict of columns;
        or a `Table` whose roles are to be set anew.
    target
        The column to predict; a position for numpy arrays. Rows without it are dropped and counted.
    weight
        A column of row weights.
    group
        A column that ties rows together: the same person, firm, place.
    time
        A column that orders rows in time.
    protected
        Features that audits ask about.
    ignore
        Columns to leave out.
    kinds
        Kinds by column, where the ones found are wrong: ``{"zip": "category"}``. A list of levels
        makes an ordered category: ``{"size": ["S", "M", "L"]}``.
    task
        "regression", "count", "binary" or "multiclass"; found by `find_task` when left out.
    decimal
        The decimal sign of text files.
    delimiter
        What separates the cells of text files; found out when left out.
    encoding
        The encoding of text files; UTF-8 and UTF-16 are recognised.

    Returns
    -------
    Table

    Notes
    -----
    In text files, empty cells and NA, N/A, NaN, nan, NULL and null are missing. Identifiers (a
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
    settings = _checked_kinds(kinds)
    as_written = frozenset(name for name, kind in settings.items() if not _is_number_kind(kind))
    raws, origin, dropped = _columns_of(
        source, decimal=decimal, delimiter=delimiter, encoding=encoding, as_written=as_written
    )
    names = [raw.name for raw in raws]
    if isinstance(target, int | np.integer):
        target = _name_at(int(target), names)
    roles = _roles(names, target, weight, group, time, _names(protected), _names(ignore))
    for name in settings:
        _check_known(name, names, "kinds")
    notes: list[str] = []
    chosen = _checked_task(task)
    columns: dict[str, Column] = {}
    if target is not None:
        raws, lost = _rows_with_target(raws, target)
        dropped += lost
        if lost:
            notes.append(f"{lost:,} rows without a target were dropped")
        raw = next(raw for raw in raws if raw.name == target)
        if len(raw.values) < FEWEST_ROWS:
            raise InputError(
                f"the table has {len(raw.values)} rows with a target; at least {FEWEST_ROWS} are "
                "needed",
                hint="a model learned from so few rows would say nothing.",
            )
        kind = settings.get(target)
        columns[target], chosen, note = settle_target(
            raw, kind if isinstance(kind, Kind) else None, chosen
        )
        notes += [note] if note else []
    for raw in raws:
        if raw.name not in columns:
            columns[raw.name] = _settled(raw, settings.get(raw.name), roles)
    _check_weights(columns, weight)
    ordered = tuple(columns[name] for name in names)
    # Numpy arrays come from people who chose their columns; nothing is left out of them.
    stated = set(settings) | {raw.name for raw in raws if raw.plain}
    roles, found = _reviewed(ordered, roles, stated)
    table = Table(ordered, roles, chosen if target is not None else None, dropped, (), origin)
    if target is not None and len(table.features) > table.n_rows:
        words = f"there are more features ({len(table.features)}) than rows ({table.n_rows})"
        found.append(Finding(words))
    for finding in found:
        if finding.warn:
            warnings.warn(finding.note, ClearwoodWarning, stacklevel=2)
    return replace(table, notes=(*notes, *(finding.note for finding in found)))


def as_table(
    data: Any,
    *,
    schema: Schema | None = None,
    decimal: str = ".",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Give anything as a table, with no target needed.

    Parameters
    ----------
    data
        What `read` takes.
    schema
        What a model was fitted on: the result has its features, in its order and kinds. Columns of
        the schema with other roles are dropped, unknown ones with a warning; levels that the schema
        does not know come after those it knows, with a warning.
    decimal, delimiter, encoding
        Of text files, as for `read`.

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
    options: dict[str, Any] = {"decimal": decimal, "delimiter": delimiter, "encoding": encoding}
    if schema is None:
        return data if isinstance(data, Table) else read(data, **options)
    # Levels are matched as they are written: 01234 is not 1234.
    coded = (c.name for c in schema.columns if c.kind in (Kind.CATEGORY, Kind.ORDERED))
    raws, origin, _ = _columns_of(data, **options, as_written=frozenset(coded))
    named = not isinstance(data, np.ndarray | list | tuple) or _has_field_names(data)
    return align(raws, schema, named=named, source=origin)


def _has_field_names(data: Any) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.names is not None


def _columns_of(source: Any, **options: Any) -> tuple[list[Raw], str, int]:
    """Give the columns, the source in words, and the rows dropped before."""
    if isinstance(source, Table):
        return [raw_of(column) for column in source.columns], source.source, source.dropped
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return read_file(path, **options), str(path), 0
    raws = from_memory(source)
    if not raws:
        raise InputError("the table has no columns")
    module = type(source).__module__.split(".")[0]
    return raws, "dict of columns" if module == "builtins" else f"{module} data", 0


def _checked_kinds(kinds: Mapping[str, KindSetting] | None) -> dict[str, Kind | Sequence[Any]]:
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


def _is_number_kind(kind: Kind | Sequence[Any]) -> bool:
    return kind in (Kind.NUMBER, Kind.WHOLE)


def _checked_task(task: str | Task | None) -> Task | None:
    if task is None:
        return None
    if task not in list(Task):
        raise InputError(
            f"there is no task {task!r}", hint=did_you_mean(task, [str(known) for known in Task])
        )
    return Task(task)


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _name_at(position: int, names: Sequence[str]) -> str:
    try:
        return names[position]
    except IndexError:
        raise InputError(f"there is no column {position}: the table has {len(names)}") from None


def _check_known(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        raise InputError(f"there is no column {name!r} ({option})", hint=did_you_mean(name, names))


def _roles(
    names: Sequence[str],
    target: str | None,
    weight: str | None,
    group: str | None,
    time: str | None,
    protected: tuple[str, ...],
    ignore: tuple[str, ...],
) -> dict[str, Role]:
    single = {
        Role.TARGET: (target,),
        Role.WEIGHT: (weight,),
        Role.GROUP: (group,),
        Role.TIME: (time,),
        Role.PROTECTED: protected,
        Role.IGNORED: ignore,
    }
    roles: dict[str, Role] = {}
    for role, chosen in single.items():
        for name in chosen:
            if name is None:
                continue
            _check_known(name, names, role.value)
            if roles.get(name, role) is not role:
                raise InputError(
                    f"column {name!r} cannot be both {roles[name]} and {role}",
                    hint="give it one role.",
                )
            roles[name] = role
    return roles


def _rows_with_target(raws: list[Raw], target: str) -> tuple[list[Raw], int]:
    raw = next(raw for raw in raws if raw.name == target)
    missing = raw.missing
    if not missing.any():
        return raws, 0
    if missing.all():
        raise InputError(f"the target {target!r} is all missing", hint="choose another column.")
    return [replace(raw, values=raw.values[~missing]) for raw in raws], int(missing.sum())


def _settled(raw: Raw, setting: Kind | Sequence[Any] | None, roles: Mapping[str, Role]) -> Column:
    if roles.get(raw.name) is Role.WEIGHT and setting is None:
        setting = Kind.NUMBER
    if isinstance(setting, Kind) or setting is None:
        return settle(raw, setting)
    return settle(raw, Kind.ORDERED, setting)


def _check_weights(columns: Mapping[str, Column], weight: str | None) -> None:
    if weight is None:
        return
    values = columns[weight].values
    if np.isnan(values).any():
        raise InputError(f"the weight {weight!r} is missing in {int(np.isnan(values).sum())} rows")
    if values.min() < 0:
        raise InputError(
            f"the weight {weight!r} is negative ({values.min():g})", hint="weights are 0 or more."
        )
    if not values.any():
        raise InputError(f"the weight {weight!r} is 0 in every row")


def _reviewed(
    columns: Sequence[Column], roles: Mapping[str, Role], stated: set[str]
) -> tuple[dict[str, Role], list[Finding]]:
    """Take the features out that no model should see; but never all of them."""
    settled = dict(roles)
    features = [column for column in columns if column.name not in roles]
    findings = {column.name: review(column) for column in features}
    out = [name for name, finding in findings.items() if finding and finding.left_out]
    # A number that counts the rows may be the one feature of a small example.
    usable = len(features) > len(out) or Role.PROTECTED in settled.values()
    told = []
    for column in features:
        finding = findings[column.name]
        if finding is None or (column.name in stated and column.kind is not Kind.TEXT):
            continue
        if finding.left_out and not usable and column.kind is Kind.WHOLE:
            continue
        told.append(finding)
        if finding.left_out:
            settled[column.name] = Role.IGNORED
    return settled, told
