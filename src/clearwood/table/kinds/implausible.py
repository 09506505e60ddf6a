"""Numbers that are probably mistakes or codes: impossible years, negative ages, 999 for missing.

Each rule asks for a clear gap between the suspect values and all others, because a warning about
ordinary data costs trust. Quantiles come from a sample of rows; a column is read to the end only
where its smallest or largest value is suspect.
"""

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Option, words
from clearwood._shared.numbers import count
from clearwood.table.kinds.evidence import YEARS, Ends, Evidence
from clearwood.table.kinds.review import Finding
from clearwood.table.reading.raw import number_text
from clearwood.table.types import NUMERIC, Kind

__all__ = ["implausible"]

#: Fewer values than this show too little of what is usual.
_FEWEST = 30
#: Suspect values are few: up to this share of the rows, or so many rows.
_MOST_SHARE, _MOST_ROWS = 0.01, 3
#: Spreads (interquartile ranges) between a value and all others that make it suspect.
_GAP = 5.0
_CODES = frozenset(sign * (10**k - 1) for k in range(2, 9) for sign in (1, -1)) | {-1, -9}
_NOT_NEGATIVE = re.compile(
    r"(^|[^a-z])(age|alter|count|anzahl|population)([^a-z]|$)", re.IGNORECASE
)


def implausible(evidence: Evidence) -> Finding | None:
    """Point out values of a column of numbers that are probably mistakes or codes for missing.

    Examples
    --------
    >>> from clearwood.table import Column
    >>> year = Column("built", Kind.WHOLE, np.array([*range(1950, 2010), 2207.0]))
    >>> print(implausible(Evidence(year)).note)
    column 'built' holds years, but 1 row has 2207; correct it, or set missing={'built': ['2207']}
    """
    column = evidence.column
    if column.kind not in NUMERIC or evidence.n_rows < _FEWEST:
        return None
    some = evidence.sample
    some = some[~np.isnan(some)]
    low, high = evidence.range
    if len(some) < _FEWEST or low == high:
        return None
    for what, suspects in _suspects(evidence, some, low, high):
        n_rows = sum(n for _, n in suspects.ends) if suspects.n_rows is None else suspects.n_rows
        if not n_rows:
            continue
        shown = sorted({value for value, _ in suspects.ends})[:5]
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


@dataclass(frozen=True)
class _Suspects:
    """Values at the ends of a column, and how many rows are suspect where there may be more."""

    ends: Ends = ()
    n_rows: int | None = None


def _suspects(
    evidence: Evidence, some: Floats, low: float, high: float
) -> Iterator[tuple[str, _Suspects]]:
    """Try the rules one after the other: what the column is like, and which values contradict."""
    column = evidence.column
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest there are
        first, lower, middle, upper, last = np.quantile(some, [0.01, 0.25, 0.5, 0.75, 0.99])
    if column.kind is Kind.WHOLE and 1800 <= first < last <= YEARS[1]:
        if low < YEARS[0] or high > YEARS[1]:
            ends: Ends = [*evidence.lowest, *evidence.highest]
            odd = [(value, n) for value, n in ends if not YEARS[0] <= value <= YEARS[1]]
            yield "holds years, but", _few(odd, evidence.n_no_years, evidence.n_rows)
        return
    for code in (high, low):
        if code in _CODES:
            yield "seems to have a code for missing:", _code(evidence, code, middle, high)
    if low < 0 <= first and _NOT_NEGATIVE.search(column.name):
        odd = [(value, n) for value, n in evidence.lowest if value < 0]
        yield "should not be negative, but", _few(odd, evidence.n_negative, evidence.n_rows)
    # many columns are far from normal on their own scale, few of them on that of logarithms
    is_positive = low > 0
    spread = math.log(upper / lower) if is_positive else upper - lower
    if spread <= 0:
        return
    gap = max(_GAP * spread, math.log(3)) if is_positive else 10 * _GAP * spread
    reach = 1.0 if is_positive else 3.0
    above = high * math.exp(-gap) if is_positive else high - gap
    below = low * math.exp(gap) if is_positive else low + gap
    scale = math.log if is_positive else float
    # counting is cheap: a gap near the end has few values on its far side
    if above > last:
        ends = evidence.highest
        if sum(n for value, n in ends if value >= above) <= _MOST_ROWS:
            scaled = [(scale(value), n) for value, n in ends]
            n_apart = _apart(scaled, scale(middle), gap, reach)
            yield "has values far above all others:", _Suspects(ends[:n_apart])
    if below < first:
        ends = evidence.lowest
        if sum(n for value, n in ends if value <= below) <= _MOST_ROWS:
            scaled = [(-scale(value), n) for value, n in ends]
            n_apart = _apart(scaled, -scale(middle), gap, reach)
            # values near zero are far from others on the scale of logarithms only
            if n_apart and ends[n_apart][0] - low > 2 * (upper - lower):
                yield "has values far below all others:", _Suspects(ends[:n_apart])


def _few(ends: Ends, n_suspect: int, n_rows: int) -> _Suspects:
    """Return the suspects if they are few, none otherwise."""
    return _Suspects(ends, n_suspect if n_suspect <= max(_MOST_ROWS, _MOST_SHARE * n_rows) else 0)


def _code(evidence: Evidence, code: float, middle: float, high: float) -> _Suspects:
    """Return the rows with a code, if it recurs and stands well apart from all other values."""
    ends = evidence.highest if code == high else evidence.lowest
    others = evidence.highest if code > 0 else evidence.lowest
    nearest = next(value for value, _ in others if value != code)
    if ends[0][1] < _MOST_ROWS:
        return _Suspects()
    # in a short scale such as -1, 0, 1 the first is a value like the others
    apart = abs(code - nearest) > abs(nearest - middle) > 0 if code != -1 else high >= 10
    return _Suspects(ends[:1]) if apart and (code > 0 or nearest >= 0) else _Suspects()


def _apart(ends: Ends, middle: float, gap: float, reach: float) -> int:
    """Return how many values from the upper end lie beyond a gap, wide beside the reach of others.

    At most three rows do.
    """
    top = [(place, value) for place, (value, n) in enumerate(ends) for _ in range(min(n, 4))]
    top = top[: _MOST_ROWS + 1][::-1]
    for (_, value), (place, beyond) in itertools.pairwise(top):
        if beyond - value > max(gap, reach * (value - middle)):
            return place + 1
    return 0
