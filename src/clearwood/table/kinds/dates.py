"""Dates written as text."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.table.duck import connect
from clearwood.table.kinds.periods import are_ambiguous, parse_periods

__all__ = ["FORMATS", "are_dates", "parse_dates"]

#: Besides ISO dates and times, tried in this order; the first that reads every value wins.
#: Day-first comes before month-first for slashes, so that 03/04/2024 by itself reads as 3 April;
#: 03/25/2024 anywhere in the column settles it as month-first.
FORMATS = (
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%d %H:%M:%S%z",
    "%Y-%m-%dT%H:%M:%S.%f%z",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%d-%m-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
)

_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z?)?")
# Cheap test before any parsing: two separators between digits or month names.
_LOOKS = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4}"
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4}"
)


def parse_dates(levels: Sequence[str]) -> NDArray[Any] | None:
    """Return the dates that strings stand for, or None if not every one is a date in one format.

    Times with an offset are brought to UTC. Weeks, months, quarters and years in words (Jan-2018,
    2018 Q1) stand for their first day.

    Examples
    --------
    >>> parse_dates(["24.12.2024", "1.3.2025"]).astype("datetime64[D]")
    array(['2024-12-24', '2025-03-01'], dtype='datetime64[D]')
    >>> parse_dates(["2024-12-24", "soon"])
    """
    stripped = [level.strip() for level in levels]
    if not stripped:
        return None
    if not all(map(_LOOKS.match, stripped)):
        return parse_periods(stripped)
    if all(map(_ISO.fullmatch, stripped)):
        try:
            return np.array([level.rstrip("Z") for level in stripped], dtype="datetime64[us]")
        except ValueError:  # 30 February
            return None
    parsed = _parse_in_one_format(stripped)
    return parse_periods(stripped) if parsed is None else parsed


def are_dates(levels: Sequence[str]) -> bool:
    """Whether strings are dates, as far as they can be told from other words and codes.

    Examples
    --------
    >>> are_dates(["Jan 18", "Feb 19"]), are_dates(["May 10", "May 12"])
    (True, False)
    """
    stripped = [level.strip() for level in levels]
    return not are_ambiguous(stripped) and parse_dates(stripped) is not None


def _parse_in_one_format(levels: list[str]) -> NDArray[Any] | None:
    levels = [re.sub(r"(?<=\d)Z$", "+00:00", level) for level in levels]
    with connect() as connection:
        connection.execute("CREATE TABLE written AS SELECT unnest(?) AS level", [levels])
        # Most formats fail on the first values; only a likely one is tried on all.
        for form in FORMATS:
            for rows in ("(FROM written LIMIT 50)", "written"):
                query = f"SELECT try_strptime(level, ?) AS at FROM {rows}"  # noqa: S608
                parsed = connection.execute(query, [form]).fetchnumpy()["at"]
                if np.ma.getmaskarray(parsed).any():
                    break
            else:
                return np.asarray(parsed).astype("datetime64[us]")
    return None
