"""Numbers that are probably mistakes or codes: impossible years, negative ages, 999 for missing.

Each rule asks for a clear gap between the suspect values and all others, because a warning about
ordinary data costs trust. Quantiles come from a sample of rows; a column is read to the end only
where its smallest or largest value is suspect.
"""

import math
import re
from collections.abc import Iterator

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import Option, words
from clearwood._shared.numbers import count
from clearwood.table.column import Column
from clearwood.table.kinds.infer import value_range
from clearwood.table.kinds.review import Finding
from clearwood.table.reading.raw import number_text
from clearwood.table.types import NUMERIC, Kind

__all__ = ["implausible"]

#: Fewer values than this show too little of what is usual.
_FEWEST = 30
#: About so many rows show the quantiles.
_SAMPLE = 2000
#: Suspect values are few: up to this share of the rows, or so many rows.
_MOST_SHARE, _MOST_ROWS = 0.01, 3
_YEARS = (1500, 2100)
#: Spreads (interquartile ranges) between a value and all others that make it suspect.
_GAP = 5.0
_CODES = frozenset(sign * (10**k - 1) for k in range(2, 9) for sign in (1, -1)) | {-1, -9}
_NOT_NEGATIVE = re.compile(
    r"(^|[^a-z])(age|alter|count|anzahl|population)([^a-z]|$)", re.IGNORECASE
)


def implausible(column: Column) -> Finding | None:
    """Point out values of a column of numbers that are probably mistakes or codes for missing.

    Examples
    --------
    >>> year = Column("built", Kind.WHOLE, np.array([*range(1950, 2010), 2207.0]))
    >>> print(implausible(year).note)
    column 'built' holds years, but 1 row has 2207; correct it, or set missing={'built': ['2207']}
    """
    if column.kind not in NUMERIC or len(column) < _FEWEST:
        return None
    some = column.values[:: max(1, len(column) // _SAMPLE)]
    some = some[~np.isnan(some)]
    low, high = value_range(column.values)
    if len(some) < _FEWEST or low == high:
        return None
    for what, suspects in _suspects(column, some, low, high):
        n_rows = int(suspects.sum())
        if not n_rows:
            continue
        shown = np.unique(column.values[suspects])[:5]
        values = " or ".join(number_text(value) for value in shown)
        it = "it" if n_rows == 1 else "them"
        has = "has" if n_rows == 1 else "have"
        return Finding(
            words(
                f"column {column.name!r} {what} {count(n_rows, 'row')} {has} {values}; correct "
                f"{it}, or set ",
                Option("missing", {column.name: [number_text(value) for value in shown]}),
            ),
            left_out=False,
        )
    return None


def _suspects(column: Column, some: Floats, low: float, high: float) -> Iterator[tuple[str, Bools]]:
    """Try the rules one after the other: what the column is like, and which rows contradict."""
    values = column.values
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest there are
        first, lower, middle, upper, last = np.quantile(some, [0.01, 0.25, 0.5, 0.75, 0.99])
    if column.kind is Kind.WHOLE and 1800 <= first < last <= _YEARS[1]:
        if low < _YEARS[0] or high > _YEARS[1]:
            odd = (values < _YEARS[0]) | (values > _YEARS[1])
            yield "holds years, but", _few(odd)
        return
    for code in (high, low):
        if code in _CODES:
            yield "seems to have a code for missing:", _code(values, code, middle, high)
    if low < 0 <= first and _NOT_NEGATIVE.search(column.name):
        yield "should not be negative, but", _few(values < 0)
    # many columns are far from normal on their own scale, few of them on that of logarithms
    is_positive = low > 0
    spread = math.log(upper / lower) if is_positive else upper - lower
    if spread <= 0:
        return
    gap = max(_GAP * spread, math.log(3)) if is_positive else 10 * _GAP * spread
    reach = 1.0 if is_positive else 3.0
    above = high * math.exp(-gap) if is_positive else high - gap
    below = low * math.exp(gap) if is_positive else low + gap
    # counting is cheap: a gap near the end has few values on its far side
    if above > last and np.count_nonzero(values >= above) <= _MOST_ROWS:
        scaled = np.log(values) if is_positive else values
        yield "has values far above all others:", _apart(scaled, gap, reach)
    if below < first and np.count_nonzero(values <= below) <= _MOST_ROWS:
        scaled = np.log(values) if is_positive else values
        rows = _apart(-scaled, gap, reach)
        # values near zero are far from others on the scale of logarithms only
        if np.nanmin(values[~rows]) - low > 2 * (upper - lower):
            yield "has values far below all others:", rows


def _few(rows: Bools) -> Bools:
    """Return the rows if they are few, none otherwise."""
    return (
        rows
        if rows.sum() <= max(_MOST_ROWS, _MOST_SHARE * len(rows))
        else np.zeros(len(rows), dtype=bool)
    )


def _code(values: Floats, code: float, middle: float, high: float) -> Bools:
    """Return the rows with a code, if it recurs and stands well apart from all other values."""
    rows = values == code
    others = values[~rows & ~np.isnan(values)]
    if rows.sum() < _MOST_ROWS or not len(others):
        return np.zeros(len(rows), dtype=bool)
    nearest = others.max() if code > 0 else others.min()
    # in a short scale such as -1, 0, 1 the first is a value like the others
    apart = abs(code - nearest) > abs(nearest - middle) > 0 if code != -1 else high >= 10
    return rows if apart and (code > 0 or nearest >= 0) else np.zeros(len(rows), dtype=bool)


def _apart(values: Floats, gap: float, reach: float) -> Bools:
    """Return the few rows beyond a gap above all others, wide beside the reach of the others."""
    present = values[~np.isnan(values)]
    middle = np.median(present)
    top = np.sort(np.partition(present, -(_MOST_ROWS + 1))[-(_MOST_ROWS + 1) :])
    for k in range(_MOST_ROWS):
        if top[k + 1] - top[k] > max(gap, reach * (top[k] - middle)):
            return np.asarray(values >= top[k + 1])
    return np.zeros(len(values), dtype=bool)
