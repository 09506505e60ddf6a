"""Days, weeks, months, quarters and years written with words: Jan-2018, 2018 Q1, 3. März 2018."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_ambiguous", "months_of", "parse_periods"]

#: Names of months in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish
#: and Norwegian, and Polish. Three letters or more of a name do, where they are of one month only.
_NAMES = (
    "january januar jänner jaenner janvier enero gennaio janeiro januari styczeń stycznia",
    "february februar feber février fevrier febrero febbraio fevereiro februari luty lutego",
    "march märz maerz mrz mars marzo março marco maart mrt marts marzec marca",
    "april avril abril aprile kwiecień kwietnia",
    "may mai mayo maggio maio mei maj maja",
    "june juni juin junio giugno junho czerwiec czerwca",
    "july juli juillet julio luglio julho lipiec lipca",
    "august août aout agosto augustus augusti sierpień sierpnia",
    "september septembre septiembre settembre setembro wrzesień września",
    "october oktober octobre octubre ottobre outubro październik października",
    "november novembre noviembre novembro listopad listopada",
    "december dezember décembre decembre diciembre dicembre dezembro desember grudzień grudnia",
)
_MONTHS = {name: k for k, names in enumerate(_NAMES, start=1) for name in names.split()}
_SHORTENED: dict[str, set[int]] = {}
for _name, _number in _MONTHS.items():
    for _size in range(3, len(_name)):
        _SHORTENED.setdefault(_name[:_size], set()).add(_number)
_NUMBERED = {name: min(found) for name, found in _SHORTENED.items() if len(found) == 1} | _MONTHS

#: Two digits of a year are those of 1941 to 2040, whatever else a column holds, so that a new row
#: is read as the others were.
_PIVOT = 40
#: Years that people write; other numbers in their place make a code of the string.
_FIRST_YEAR, _LAST_YEAR = 1800, 2100

_YEAR = r"(?P<year>\d{4})"
_ANY_YEAR = r"(?P<year>\d{4}|'?\d{2})"
_NAME = r"(?P<name>[^\W\d_]{3,12})\.?"
_SEP = r"[\s\-/._,]*(?:(?<=\s)(?:of|de|del|di)\s+)?"
_CUT = r"[\s\-/._,]+"
_QUARTER = r"(?:q|quarter|quartal|qtr|trimestre|trim\.?|kwartaal|kwartał|kvartal)"
_FISCAL = r"(?:(?:fy|cy|gj)[\s\-]?)?"
_HALF = r"(?:h|hj|half|halbjahr|half-year)"
_WEEK = r"(?:w|kw|wk|week|woche)"
_ORDINAL = r"(?:\.|st|nd|rd|th)?"
_ORDINALS = ("first", "second", "third", "fourth")

#: What a string can stand for, and how it is written.
_FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "day",
        (
            rf"(?P<day>\d{{1,2}}){_ORDINAL}{_SEP}{_NAME}{_SEP}{_YEAR}",
            rf"(?P<day>\d{{1,2}})-{_NAME}-(?P<year>\d{{2}})",
            rf"{_NAME}{_CUT}(?P<day>\d{{1,2}}){_ORDINAL}{_CUT}{_YEAR}",
            rf"{_YEAR}{_CUT}{_NAME}{_CUT}(?P<day>\d{{1,2}})",
        ),
    ),
    ("month", (rf"{_NAME}{_SEP}{_ANY_YEAR}", rf"{_YEAR}{_SEP}{_NAME}")),
    (
        "month",
        (
            rf"{_YEAR}[-/](?P<month>\d{{1,2}})",
            rf"(?P<month>\d{{1,2}})[-/]{_YEAR}",
            rf"{_YEAR}{_SEP}m(?P<month>\d{{1,2}})",
            rf"m(?P<month>\d{{1,2}}){_SEP}{_YEAR}",
        ),
    ),
    (
        "quarter",
        (
            rf"{_FISCAL}{_YEAR}{_SEP}{_QUARTER}\s?(?P<quarter>[1-4])",
            rf"{_QUARTER}\s?(?P<quarter>[1-4]){_SEP}{_FISCAL}{_ANY_YEAR}",
            rf"(?P<quarter>[1-4]){_ORDINAL}\s?{_QUARTER}{_SEP}{_FISCAL}{_ANY_YEAR}",
            rf"(?P<word>first|second|third|fourth) quarter{_SEP}(?:of )?{_FISCAL}{_YEAR}",
            rf"(?:t(?P<quarter>[1-4])){_SEP}{_YEAR}",
            rf"{_YEAR}{_SEP}t(?P<quarter>[1-4])",
            rf"{_YEAR}{_SEP}(?P<quarter>[1-4]){_ORDINAL}\s?{_QUARTER}",
        ),
    ),
    (
        "half",
        (
            rf"{_YEAR}{_SEP}{_HALF}\s?(?P<half>[12])",
            rf"{_HALF}\s?(?P<half>[12]){_SEP}{_ANY_YEAR}",
            rf"(?P<half>[12]){_ORDINAL}\s?{_HALF}{_SEP}{_ANY_YEAR}",
        ),
    ),
    (
        "week",
        (
            rf"{_YEAR}{_SEP}{_WEEK}\s?(?P<week>\d{{1,2}})",
            rf"{_WEEK}\s?(?P<week>\d{{1,2}}){_CUT}{_YEAR}",
        ),
    ),
    (
        "year",
        (
            rf"(?:fy|cy|gj|year|jahr){_SEP}{_ANY_YEAR}",
            rf"{_YEAR}[-/](?P<next>\d{{2}}|\d{{4}})",
            rf"(?:fy|cy|gj){_SEP}{_YEAR}[-/](?P<next>\d{{2}}|\d{{4}})",
        ),
    ),
)
_PATTERNS = tuple(
    (what, tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns))
    for what, patterns in _FORMS
)
_TWO_DIGITS = re.compile(rf"(?P<name>[^\W\d_]{{3,10}})\.?{_SEP}'?(?P<year>\d{{2}})")


def parse_periods(levels: Sequence[str]) -> NDArray[Any] | None:
    """Return the first day of what each string names, or None if not all name the same unit.

    Units are days, weeks, months, quarters, half-years and years. A year across two calendar years
    (2018/19) begins with the first of them.

    Parameters
    ----------
    levels
        Strings without spaces around them.

    Examples
    --------
    >>> parse_periods(["Feb-2018", "Okt 17", "März 2018"]).astype("datetime64[D]")
    array(['2018-02-01', '2017-10-01', '2018-03-01'], dtype='datetime64[D]')
    >>> parse_periods(["Q3/2018", "2018 Q4"]).astype("datetime64[D]")
    array(['2018-07-01', '2018-10-01'], dtype='datetime64[D]')
    >>> parse_periods(["Jan-2018", "soon"])
    """
    for _, patterns in _PATTERNS:
        days = []
        for level in levels:
            day = _first_day(level, patterns)
            if day is None:
                break
            days.append(day)
        if days and len(days) == len(levels) and not _are_seasons(levels, days):
            return np.array(days, "datetime64[D]").astype("datetime64[us]")
    return None


def are_ambiguous(levels: Sequence[str]) -> bool:
    """Whether strings such as "Jan 18" are as likely to be days of a year as months of years.

    Years with two digits are few, or reach beyond 31; days take many of the numbers up to 31. One
    month with numbers (May 10, May 12) may be anything.

    Examples
    --------
    >>> are_ambiguous(["Jan 18", "Feb 18", "Mar 19"]), are_ambiguous(["May 10", "May 12"])
    (False, True)
    """
    matches = [_TWO_DIGITS.fullmatch(level) for level in levels]
    found = [match for match in matches if match is not None]
    if len(found) < len(levels) or not found:
        return False
    numbers = {int(match["year"]) for match in found}
    names = {match["name"].casefold() for match in found}
    return (max(numbers) <= 31 and len(numbers) > 20) or (len(names) == 1 and len(found) > 1)


def months_of(levels: Sequence[str]) -> list[str] | None:
    """Return names of months in the order of the calendar, or None if there are other words.

    Examples
    --------
    >>> months_of(["Mar", "Jan", "Feb"])
    ['Jan', 'Feb', 'Mar']
    """
    known = {level: _NUMBERED.get(level.strip().rstrip(".").casefold()) for level in levels}
    if any(number is None for number in known.values()):
        return None
    return sorted(levels, key=lambda level: known[level] or 0)


def _first_day(level: str, patterns: Sequence[re.Pattern[str]]) -> date | None:
    for pattern in patterns:
        match = pattern.fullmatch(level)
        if match is not None:
            return _of_fields(match.groupdict())
    return None


def _of_fields(fields: dict[str, str]) -> date | None:
    """Return the first day of a period; None where there is no such period."""
    year = _year(fields["year"])
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    if "next" in fields:
        follows = fields["next"]
        return _day(year) if str(year + 1)[-len(follows) :] == follows else None
    if "week" in fields:
        return _week(year, int(fields["week"]))
    month: int | None = 1
    if "name" in fields:
        month = _NUMBERED.get(fields["name"].casefold())
    if "word" in fields:
        fields = {**fields, "quarter": str(1 + _ORDINALS.index(fields["word"].casefold()))}
    for unit, size in (("month", 1), ("quarter", 3), ("half", 6)):
        if unit in fields:
            month = size * (int(fields[unit]) - 1) + 1
    return None if month is None else _day(year, month, int(fields.get("day", 1)))


def _year(written: str) -> int:
    year = int(written.lstrip("'"))
    if len(written.lstrip("'")) == 4:
        return year
    return year + (2000 if year <= _PIVOT else 1900)


def _day(year: int, month: int = 1, day: int = 1) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # 30 February
        return None


def _week(year: int, week: int) -> date | None:
    """Return the Monday of a week, as ISO 8601 counts them."""
    try:
        return date.fromisocalendar(year, week, 1)
    except ValueError:  # a year without week 53
        return None


def _are_seasons(levels: Sequence[str], days: Sequence[date]) -> bool:
    """Whether what was read as months, 2010/11, is a year and the next in every string."""
    season: Callable[[str], Any] = re.compile(r"\d{4}[-/]\d{2}").fullmatch
    if len(days) < 2 or not all(map(season, levels)):
        return False
    return all((int(level[2:4]) + 1) % 100 == int(level[5:]) for level in levels) and any(
        day != _day(int(level[:4])) for level, day in zip(levels, days, strict=True)
    )
