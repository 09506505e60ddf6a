"""Numbers that are probably mistakes or codes: impossible years, negative ages, 999 for missing.

Each rule asks for a clear gap between the suspect values and all others, because a warning about
ordinary data costs trust. Quantiles come from a sample of rows; a column is read to the end only
where its smallest or largest value is suspect.

A code for missing is found by its place and by what it looks like. How far it lies from the nearest
other value is compared with the range of the others, not with their quartiles, which may be equal.
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
from clearwood.table.kinds.evidence import N_ENDS, YEARS, Ends, Evidence
from clearwood.table.kinds.review import Finding
from clearwood.table.raw import number_text
from clearwood.table.types import NUMERIC, Kind

__all__ = ["implausible"]

#: Fewer values than this show too little of what is usual.
_FEWEST = 30
#: Suspect values are few: up to this share of the rows, or so many rows.
_MOST_SHARE, _MOST_ROWS = 0.01, 3
#: Spreads (interquartile ranges) between a value and all others that make it suspect.
_GAP = 5.0
_QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.99)
#: Numbers that stand for missing in many files: 99, 999 and their kin (98, 997, 777, 666), the
#: largest whole numbers of computers, and small negative ones.
_SMALL = (-1, -6, -7, -8, -9)
_CODES = frozenset(
    sign * code
    for k in range(2, 10)
    for code in (
        *(10**k - step for step in (1, 2, 3, 4)),
        *(digit * (10**k - 1) // 9 for digit in (6, 7, 8)),
    )
    for sign in (1, -1)
    if code not in (66, 96)
) | {*_SMALL, -32768, 32767, 65535, -(2**31), 2**31 - 1, 2**32 - 1}
#: Round numbers are codes too, and what people give, earn and owe.
_ROUND = frozenset(10**k for k in range(4, 13))
#: A code lies farther from all others than so many times their range: if it recurs, if it is round,
#: if it occurs once or twice, and if nothing but its place makes it one.
_FAR, _FAR_ROUND, _FAR_ONCE, _FAR_ANY = 1.0, 10.0, 20.0, 4.0
#: A number that looks like no code recurs in so many rows, and the others have so many values.
_RECURS, _MANY_VALUES = 5, 20
#: Few values may be steps of a ladder such as 1, 10, 100, 1000.
_LADDER = 12
#: Zero means missing in at most this share of the rows, where the smallest other value is a larger
#: share than this of the median.
_MOST_ZEROS, _NARROW = 0.1, 0.3
#: Ages of adults, and what is not an age of one.
_ADULT, _NO_AGE = 10.0, 1.0
_AGE = re.compile(r"(^|[^a-z])(age|alter)([^a-z]|$)", re.IGNORECASE)
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
        first, last = np.quantile(some, [0.01, 0.99])
    if column.kind is Kind.WHOLE and 1800 <= first < last <= YEARS[1]:
        if low < YEARS[0] or high > YEARS[1]:
            ends: Ends = [*evidence.lowest, *evidence.highest]
            odd = [(value, n) for value, n in ends if not YEARS[0] <= value <= YEARS[1]]
            yield "holds years, but", _few(odd, evidence.n_no_years, evidence.n_rows)
        return
    yield "seems to have a code for missing:", _Suspects(_codes(evidence, some))
    yield "seems to have a code for missing:", _Suspects(_zero(evidence, some))
    if _AGE.search(column.name):
        young = [(value, n) for value, n in evidence.lowest if 0 <= value < _NO_AGE]
        others = some[some >= _NO_AGE]
        if young and len(others) > len(some) / 2 and others.min() >= _ADULT:
            yield f"holds ages of {number_text(others.min())} and more, but", _Suspects(young)
    if low < 0 <= first and _NOT_NEGATIVE.search(column.name):
        odd = [(value, n) for value, n in evidence.lowest if value < 0]
        yield "should not be negative, but", _few(odd, evidence.n_negative, evidence.n_rows)
    yield from _far_from_all(evidence, some, low, high)


def _far_from_all(
    evidence: Evidence, some: Floats, low: float, high: float
) -> Iterator[tuple[str, _Suspects]]:
    """Yield up to three rows beyond a gap that is wide beside the spread of all others."""
    # many columns are far from normal on their own scale, few of them on that of logarithms;
    # zeros beside amounts are another matter than the amounts
    positive = some[some > 0]
    is_log = low >= 0 and len(positive) >= _FEWEST
    with np.errstate(over="ignore", invalid="ignore"):
        first, lower, middle, upper, last = np.quantile(positive if is_log else some, _QUANTILES)
    spread = math.log(upper / lower) if is_log else upper - lower
    if spread <= 0:  # most rows have the same value; the others show what is usual
        spread = math.log(last / first) if is_log else last - first
    if spread <= 0:
        return
    gap = max(_GAP * spread, math.log(3)) if is_log else 10 * _GAP * spread
    reach = 1.0 if is_log else 3.0
    above = high * math.exp(-gap) if is_log else high - gap
    below = low * math.exp(gap) if is_log else low + gap
    scale = math.log if is_log else float
    # counting is cheap: a gap near the end has few values on its far side
    if above > last:
        ends = evidence.highest
        if sum(n for value, n in ends if value >= above) <= _MOST_ROWS:
            scaled = [(scale(value), n) for value, n in ends if value > 0 or not is_log]
            n_apart = _apart(scaled, scale(middle), gap, reach)
            yield "has values far above all others:", _Suspects(ends[:n_apart])
    if below < first and (low > 0 or not is_log):
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


def _codes(evidence: Evidence, some: Floats) -> Ends:
    """Return values at the ends that are codes for missing: they look so, and lie apart."""
    low, high = evidence.range
    known = np.unique(np.append(some, [low, high]))
    # gaps between the values of a sample are at least as wide as those between all values
    if low not in _SMALL and not _has_gap(known) and not _has_gap(-known[::-1]):
        return ()
    lowest, highest = evidence.lowest, evidence.highest
    return [*_codes_at(highest, lowest, some), *_codes_at(lowest, highest, some)]


def _has_gap(values: Floats) -> bool:
    """Whether a gap near the upper end of rising values is wider than the range of those below."""
    start = next((k for k, value in enumerate(values) if not _looks_like_a_code(value)), 0)
    inner = values[max(start, len(values) - N_ENDS - 1) :]
    return bool((np.diff(inner) > _FAR * (inner[:-1] - values[start])).any())


def _codes_at(ends: Ends, others: Ends, some: Floats) -> Ends:
    """Return the codes at one end; each lies beyond a gap that is wide beside the other values."""
    far_end = next((value for value, _ in others if not _looks_like_a_code(value)), others[0][0])
    found: Ends = ()
    for k in range(1, len(ends)):
        codes, nearest = ends[:k], ends[k][0]
        width, gap = abs(nearest - far_end), abs(codes[-1][0] - nearest)
        rest = np.unique(some[(some <= nearest) if codes[0][0] > nearest else (some >= nearest)])
        if width <= 0 or len(rest) < 2 or _is_step(codes[-1][0], nearest, rest):
            break
        if all(_is_code(value, n, gap / width, nearest, rest) for value, n in codes):
            found = codes
    return found


def _looks_like_a_code(value: float) -> bool:
    return value in _CODES or (abs(value) >= 10**5 and math.trunc(value) in _CODES)


def _is_code(value: float, n_rows: int, far: float, nearest: float, rest: Floats) -> bool:
    recurs = n_rows >= _MOST_ROWS
    if value in _SMALL:
        # in a short scale such as -1, 0, 1 the first is a value like the others
        return recurs and nearest >= 0 and rest[-1] >= 10
    if _looks_like_a_code(value):
        return far > (_FAR if recurs else _FAR_ONCE)
    if value in _ROUND:
        return recurs and far > _FAR_ROUND
    return n_rows >= _RECURS and far > _FAR_ANY and len(rest) >= _MANY_VALUES


def _is_step(code: float, nearest: float, rest: Floats) -> bool:
    """Whether a value is the next step of a ladder of few values, such as 1, 10, 100, 1000."""
    if len(rest) > _LADDER or code <= 0 or rest[0] <= 0:
        return False
    return abs(math.log(code / nearest)) <= math.log(rest[-1] / rest[0]) + 1e-9


def _zero(evidence: Evidence, some: Floats) -> Ends:
    """Return zero where few rows have it and all others lie far above, as in blood pressures."""
    (least, n_zeros), *others = evidence.lowest
    if least != 0 or not _MOST_ROWS <= n_zeros <= _MOST_ZEROS * evidence.n_rows or not others:
        return ()
    rest = some[some > 0]
    if len(np.unique(rest)) < _MANY_VALUES:
        return ()
    lower, middle, upper = np.quantile(rest, [0.25, 0.5, 0.75])
    nearest = others[0][0]
    is_far = nearest > upper - lower and nearest > _NARROW * middle
    return evidence.lowest[:1] if is_far else ()


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
