"""Calendar features of dates, which are what a model uses of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats

__all__ = ["CALENDAR_PARTS", "calendar_features"]

_ORIGIN = np.datetime64("2000-01-01", "us")
_DAY = np.timedelta64(1, "D")
_HOUR = np.timedelta64(1, "h")

#: The calendar features of a date, in the order of the model's columns. The first is always kept.
CALENDAR_PARTS = (
    "days since 2000-01-01",
    "year",
    "month",
    "day of week",
    "day of year",
    "hour",
)


def calendar_features(dates: NDArray[Any], parts: Sequence[str] = CALENDAR_PARTS) -> list[Floats]:
    """Compute calendar features of dates as numbers, NaN where the date is missing.

    Months, days of the week (Monday is 1, as in ISO 8601) and days of the year count from 1. The
    days since 2000-01-01 and the hour carry the time of day as a fraction.

    Parameters
    ----------
    dates
        Of type datetime64[us].
    parts
        Which of `CALENDAR_PARTS`.

    Returns
    -------
    list of ndarray
        One array for each part.

    Examples
    --------
    >>> leap_day = np.array(["2024-02-29T18:30"], "datetime64[us]")
    >>> [float(part[0]) for part in calendar_features(leap_day, ["month", "day of week", "hour"])]
    [2.0, 4.0, 18.5]
    """
    missing = np.isnat(dates)
    midnight = dates.astype("datetime64[D]")
    year = midnight.astype("datetime64[Y]")

    def part(name: str) -> NDArray[Any]:
        if name == "year":
            return year.astype(np.int64) + 1970
        if name == "month":
            months = midnight.astype("datetime64[M]").astype(np.int64)
            return months - 12 * year.astype(np.int64) + 1
        if name == "day of week":
            # 1970-01-01 was a Thursday, day 4
            return (midnight.astype(np.int64) + 3) % 7 + 1
        if name == "day of year":
            return np.asarray((midnight - year.astype("datetime64[D]")).astype(np.int64) + 1)
        if name == "hour":
            return np.asarray((dates - midnight) / _HOUR)
        return np.asarray((dates - _ORIGIN) / _DAY)

    features = []
    for name in parts:
        values = part(name).astype(np.float64)
        values[missing] = np.nan
        features.append(values)
    return features
