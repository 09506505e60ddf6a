"""Inferring what a column holds, and converting it to a kind."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.table.column import Column
from clearwood.table.kinds.dates import are_dates, parse_dates
from clearwood.table.raw import Raw, level_key, number_text
from clearwood.table.types import NUMERIC, Kind

__all__ = [
    "are_numbers",
    "check_finite",
    "convert",
    "find_kind",
    "settle",
    "to_coded",
    "value_range",
]

#: Words for no and yes, in any case, in the order no, yes.
YES_NO_WORDS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"))

#: A string column with more levels than this, and more than half as many as rows, is text.
MANY_LEVELS = 20
#: A string column whose levels have more words than this on average, and are not few, is text.
WORDS_OF_TEXT = 5

_NUMBER = re.compile(r"[+-]?(?=\.?\d)(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?")


def settle(raw: Raw, kind: Kind | None = None, levels: Sequence[Any] | None = None) -> Column:
    """Return the column in the kind named, or in the kind inferred from its values."""
    check_finite(raw)
    if kind is None and levels is None:
        kind = find_kind(raw)
    elif kind is None:
        kind = Kind.ORDERED
    return convert(raw, kind, levels)


def find_kind(raw: Raw) -> Kind:
    """Infer what a column holds from its values.

    Rules, in order: what the source declares (categories, dates, booleans) is kept; numbers
    that are all 0 or 1 are yes/no, all whole are whole numbers; strings are yes/no, dates,
    categories or text, in that order.

    Examples
    --------
    >>> str(find_kind(Raw("smokes", "string", np.array([0, 1, 0]), ("Yes", "No"))))
    'yes/no'
    """
    if raw.form == "ordered":
        return Kind.ORDERED
    if raw.form == "category":
        return Kind.CATEGORY
    if raw.form == "date":
        return Kind.DATE
    if raw.form == "boolean":
        return Kind.YES_NO
    if raw.form == "number":
        return Kind.NUMBER if raw.plain else _kind_of_numbers(raw.values)
    return _kind_of_strings(raw)


def check_finite(raw: Raw) -> None:
    """Refuse infinite values."""
    if raw.form != "number":
        return
    # A finite sum has no infinite part, and costs a tenth of looking at every value.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(raw.values.sum()):
            return
    infinite = np.isinf(raw.values)
    if infinite.any():
        s = "s" if infinite.sum() > 1 else ""
        raise InputError(
            f"column {raw.name!r} has {int(infinite.sum())} infinite value{s} (the first in row "
            f"{int(np.argmax(infinite)) + 1:,})",
            parameter=raw.name,
            value=float(raw.values[np.argmax(infinite)]),
            hint="replace infinity by a missing value or by a number.",
        )


def _kind_of_numbers(values: Floats) -> Kind:
    if not _all_whole(values):
        return Kind.NUMBER
    low, high = value_range(values)
    if np.isnan(low):
        return Kind.NUMBER
    return Kind.YES_NO if low == 0 and high == 1 else Kind.WHOLE


def value_range(values: Floats) -> tuple[float, float]:
    """Return the least and the largest number, NaN if there is none."""
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not np.isnan(low):
        return float(low), float(high)
    present = values[~np.isnan(values)]
    return (float(present.min()), float(present.max())) if len(present) else (np.nan, np.nan)


def _all_whole(values: Floats) -> bool:
    # Most columns of fractions show one at once; only whole ones are read to the end.
    return all(
        bool(np.all((part == np.floor(part)) | np.isnan(part))) for part in (values[:1000], values)
    )


def _kind_of_strings(raw: Raw) -> Kind:
    levels = raw.levels
    if _yes_no_order(levels) is not None:
        return Kind.YES_NO
    if are_dates(levels):
        return Kind.DATE
    if are_numbers(levels):
        return _kind_of_numbers(np.append(_level_numbers(raw), np.nan)[raw.values])
    n_present = raw.n_present
    many = len(levels) > MANY_LEVELS
    if many and len(levels) > n_present / 2:
        return Kind.TEXT
    if many and _mean_words(levels) > WORDS_OF_TEXT:
        return Kind.TEXT
    return Kind.CATEGORY


def are_numbers(levels: Sequence[str]) -> bool:
    """Whether strings are all numbers; a leading zero makes a code of one."""
    return bool(levels) and all(_NUMBER.fullmatch(level.strip()) for level in levels)


def _mean_words(levels: Sequence[str]) -> float:
    # of all: which come first depends on how the column was read
    return sum(len(level.split()) for level in levels) / max(len(levels), 1)


def _yes_no_order(levels: Sequence[str]) -> tuple[str, str] | None:
    """Return the levels as (no, yes) if they are such words."""
    if len(levels) != 2:
        return None
    folded = {level.strip().casefold(): level for level in levels}
    for no, yes in YES_NO_WORDS:
        if set(folded) == {no, yes}:
            return folded[no], folded[yes]
    return None


def convert(raw: Raw, kind: Kind, levels: Sequence[Any] | None = None) -> Column:
    """Convert a column to a kind; an error names the value that does not fit."""
    if kind in NUMERIC:
        decimal = "," if raw.decimal == "," else ""
        return Column(raw.name, kind, _to_numbers(raw, kind), unit=raw.unit, decimal=decimal)
    if kind is Kind.DATE:
        return Column(raw.name, kind, _to_dates(raw))
    coded = to_coded(raw)
    if kind is Kind.TEXT:
        texts = np.array([*coded.levels, None], dtype=object)[coded.values]
        return Column(raw.name, kind, texts)
    if kind is Kind.YES_NO:
        return _to_yes_no(coded)
    if levels is not None:
        order = [number_text(v) if isinstance(v, int | float) else str(v) for v in levels]
        return _recoded(coded, kind, _checked_order(coded, order))
    keep = raw.form == "ordered"
    order = list(coded.levels) if keep else sorted(coded.levels, key=level_key)
    return _recoded(coded, kind, order)


def to_coded(raw: Raw) -> Raw:
    """Return any column as codes into strings; spaces around a string do not make another level."""
    if raw.is_coded:
        stripped = [level.strip() for level in raw.levels]
        if raw.form != "string" or list(raw.levels) == stripped:
            return raw
        unique = list(dict.fromkeys(stripped))
        position = {level: i for i, level in enumerate(unique)}
        lookup = np.array([*(position[level] for level in stripped), -1], dtype=np.int32)
        return replace(raw, values=lookup[raw.values], levels=tuple(unique))
    missing = raw.missing
    distinct, inverse = np.unique(raw.values[~missing], return_inverse=True)
    codes = np.full(len(raw.values), -1, dtype=np.int32)
    codes[~missing] = inverse
    if raw.form == "date":
        return Raw(raw.name, "string", codes, tuple(str(value) for value in distinct))
    if raw.form == "boolean":
        levels = tuple("True" if value else "False" for value in distinct)
        return Raw(raw.name, "string", codes, levels, "boolean")
    whole = bool(np.all(distinct == np.floor(distinct)))
    levels = tuple(number_text(value) for value in distinct)
    return Raw(raw.name, "string", codes, levels, "integer" if whole else "number")


def _recoded(raw: Raw, kind: Kind, order: Sequence[str]) -> Column:
    position = {level: code for code, level in enumerate(order)}
    lookup = np.array([*(position[level] for level in raw.levels), -1], dtype=np.int32)
    return Column(raw.name, kind, lookup[raw.values], tuple(order), raw.label_type)


def _checked_order(raw: Raw, order: Sequence[str]) -> Sequence[str]:
    unknown = [level for level in raw.levels if level not in set(order)]
    if unknown:
        raise InputError(
            f"column {raw.name!r} has levels that its order does not name: "
            f"{', '.join(map(repr, unknown[:5]))}",
            parameter="kinds",
            value=list(order),
            hint=words("the order is ", Option("kinds", {raw.name: list(order)}), "."),
        )
    return order


def _to_yes_no(raw: Raw) -> Column:
    if raw.label_type == "boolean":
        return _recoded(raw, Kind.YES_NO, ("False", "True"))
    if set(raw.levels) <= {"0", "1"}:
        return _recoded(raw, Kind.YES_NO, ("0", "1"))
    order = _yes_no_order(raw.levels) or sorted(raw.levels, key=level_key)
    if len(order) > 2:
        raise InputError(
            f"column {raw.name!r} cannot be yes/no: it has {len(order)} levels, such as "
            f"{', '.join(map(repr, order[:3]))}",
            parameter="kinds",
            value=str(Kind.YES_NO),
            hint=words("yes/no has two; set ", Option("kinds", {raw.name: "category"}), "."),
        )
    return _recoded(raw, Kind.YES_NO, tuple(order))


def _to_numbers(raw: Raw, kind: Kind) -> Floats:
    if raw.form in ("number", "boolean"):
        values = raw.values
    elif raw.form == "date":
        raise InputError(
            f"column {raw.name!r} holds dates, not numbers",
            parameter=raw.name,
            hint=words("set ", Option("kinds", {raw.name: "date"}), "."),
        )
    else:
        values = np.append(_level_numbers(raw), np.nan)[raw.values]
        check_finite(replace(raw, form="number", values=values))
    if kind is Kind.WHOLE and not _all_whole(values):
        odd = values[~np.isnan(values) & (values != np.floor(values))][0]
        raise InputError(
            f"column {raw.name!r} should hold whole numbers but has {number_text(odd)}",
            parameter=raw.name,
            value=float(odd),
            hint=words("set ", Option("kinds", {raw.name: "number"}), "."),
        )
    return values


def _level_numbers(raw: Raw) -> Floats:
    numbers = np.empty(len(raw.levels))
    for i, level in enumerate(raw.levels):
        try:
            numbers[i] = float(level)
        except ValueError:
            raise InputError(
                f"column {raw.name!r} should hold numbers but has {level!r}",
                parameter=raw.name,
                value=level,
                hint=words(
                    "correct the value; if it means missing, set ",
                    Option("missing", {raw.name: [level]}),
                    ".",
                ),
            ) from None
    return numbers


def _to_dates(raw: Raw) -> NDArray[Any]:
    if raw.form == "date":
        return raw.values
    if not raw.missing.size or raw.missing.all():
        return np.full(len(raw.values), np.datetime64("NaT", "us"))
    dates = parse_dates(raw.levels) if raw.is_coded else None
    if dates is None:
        shown = raw.levels[0] if raw.is_coded else number_text(raw.values[~raw.missing][0])
        raise InputError(
            f"column {raw.name!r} should hold dates but has values such as {shown!r}",
            parameter=raw.name,
            value=shown,
            hint="write dates as 2024-12-31, all in one format.",
        )
    by_row: NDArray[Any] = np.append(dates, np.datetime64("NaT"))[raw.values]
    return by_row
