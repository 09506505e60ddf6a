"""Dates written as text."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FORMATS", "parse_dates"]

#: Tried in this order; the first that reads every value wins. Day-first comes before month-first
#: for slashes, so that 03/04/2024 alone reads as 3 April; 03/25/2024 anywhere in the column settles
#: it as month-first.
FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d",
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

# Cheap test before any parsing: two separators between digits or month names.
_LOOKS = re.compile(
    r"\s*(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4}"
    r"|\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4})"
)


def parse_dates(levels: Sequence[str]) -> NDArray[Any] | None:
    """Give the dates that strings stand for, or None if not every one is a date in one format.

    Examples
    --------
    >>> parse_dates(["24.12.2024", "1.3.2025"]).astype("datetime64[D]")
    array(['2024-12-24', '2025-03-01'], dtype='datetime64[D]')
    >>> parse_dates(["2024-12-24", "soon"])
    """
    if not levels or not all(_LOOKS.match(level) for level in levels):
        return None
    from clearwood.table._duck import connect

    with connect() as connection:
        connection.execute("CREATE TABLE levels (level VARCHAR)")
        connection.execute("INSERT INTO levels SELECT unnest(?)", [list(levels)])
        for form in FORMATS:
            found = connection.execute(
                "SELECT try_strptime(trim(level), ?) AS at FROM levels", [form]
            ).fetchnumpy()["at"]
            if not np.ma.getmaskarray(found).any():
                return np.asarray(found).astype("datetime64[us]")
    return None
