"""How numbers are written: three significant digits in sentences, four in tables."""

import math
from typing import Any

__all__ = [
    "IN_SENTENCES",
    "IN_TABLES",
    "cell",
    "count",
    "duration",
    "interval",
    "number",
    "percent",
    "share_of",
    "size",
]

#: Significant digits in a sentence, and in the cell of a table.
IN_SENTENCES, IN_TABLES = 3, 4
#: Values of columns from here on have their thousands apart: below may be years.
_SEPARATED = 10_000


def number(value: float, digits: int = IN_SENTENCES, *, longest: int = 12) -> str:
    """Write a number with a few significant digits, thousands apart, without an exponent if short.

    Parameters
    ----------
    value
        The number.
    digits
        Significant digits.
    longest
        The power of ten from which on an exponent is written; tables with little room take less.

    Examples
    --------
    >>> number(0.123456), number(1234567.0), number(3.0), number(-0.00001234)
    ('0.123', '1,230,000', '3', '-0.0000123')
    >>> number(0.123456, 4), number(float("nan")), number(1e-12), number(2.5e15)
    ('0.1235', 'NaN', '1e-12', '2.5e15')
    >>> number(4786123456.0, 4, longest=6)
    '4.786e9'
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    if math.isinf(rounded):  # the largest doubles, rounded up
        return f"{value:g}"
    size_of = math.floor(math.log10(abs(rounded)))
    if not -6 < size_of < longest:
        mantissa, power = f"{rounded:.{digits - 1}e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    decimals = max(0, digits - 1 - size_of)
    written = f"{rounded:,.{decimals}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def cell(value: Any) -> str:
    """Write a value of a column, the same way wherever it is named: sentences, tables, pictures.

    Numbers keep all digits before the decimal point, and in all at least four; thousands are
    apart from 10,000 on, since numbers below may be years.

    Examples
    --------
    >>> cell(0.123456), cell("city"), cell(None), cell(float("nan"))
    ('0.1235', 'city', 'missing', 'missing')
    >>> cell(2005.0), cell(2005.37), cell(65237.0), cell(65237.41)
    ('2005', '2005', '65,237', '65,237')
    """
    import numpy as np

    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return "missing"
    if isinstance(value, np.datetime64):
        return "missing" if np.isnat(value) else str(value.astype("datetime64[D]"))
    if not isinstance(value, float | np.floating):
        return str(value)
    exact = float(value)
    whole = len(f"{abs(exact):.0f}") if math.isfinite(exact) else 0
    text = number(exact, max(IN_TABLES, whole))
    return text if abs(exact) >= _SEPARATED else text.replace(",", "")


def percent(share: float, digits: int = IN_SENTENCES) -> str:
    """Write a share as per cent.

    Shares that round to none or all but are neither keep that visible.

    Examples
    --------
    >>> percent(0.478), percent(0.9), percent(0.00003), percent(0.99999), percent(1.0)
    ('47.8 %', '90 %', 'under 0.01 %', 'over 99.9 %', '100 %')
    """
    value = 100 * float(share)
    if math.isnan(value):
        return "NaN"
    if 0 < value < 0.01:
        return "under 0.01 %"
    if 99.95 <= value < 100:
        return "over 99.9 %"
    return f"{number(value, digits)} %"


def share_of(share: float, counted_by: str = "rows") -> str:
    """Write a share with what it is a share of: rows, or what rows count by.

    Examples
    --------
    >>> share_of(0.4), share_of(0.4, "exposure"), share_of(0.4, "exposure times weight")
    ('40 % of rows', '40 % of the exposure', '40 % of the exposure times weight')
    """
    return f"{percent(share)} of {counted_by if counted_by == 'rows' else f'the {counted_by}'}"


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> count(1, "row"), count(20640, "row"), count(2, "entry", "entries")
    ('1 row', '20,640 rows', '2 entries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def interval(low: float, high: float, digits: int = IN_SENTENCES) -> str:
    """Write an interval.

    Examples
    --------
    >>> interval(0.12345, 2.0)
    '0.123 to 2'
    """
    return f"{number(low, digits)} to {number(high, digits)}"


def duration(seconds: float) -> str:
    """Write a time in the units that people use.

    Examples
    --------
    >>> duration(0.25), duration(4.04), duration(75), duration(7300)
    ('0.25 s', '4.04 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{number(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(n_bytes: float) -> str:
    """Write an amount of memory or of disk.

    Examples
    --------
    >>> size(2048), size(3_500_000), size(12e9)
    ('2.05 kB', '3.5 MB', '12 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{number(n_bytes)} {unit}"
        n_bytes /= 1000
    return f"{number(n_bytes)} TB"
