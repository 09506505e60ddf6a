from datetime import datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearwood.table import CALENDAR_PARTS, calendar_features

moments = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1))  # noqa: DTZ001 - as tables hold them


@given(moments)
def test_calendar_features_agree_with_the_standard_library(moment):
    result = calendar_features(np.array([moment], "datetime64[us]"))
    day = moment.timetuple()
    hour = (moment - datetime(moment.year, moment.month, moment.day)) / timedelta(hours=1)  # noqa: DTZ001
    expected = {
        "days since 2000-01-01": (moment - datetime(2000, 1, 1)) / timedelta(days=1),  # noqa: DTZ001
        "year": moment.year,
        "month": moment.month,
        "day of week": moment.isoweekday(),
        "day of year": day.tm_yday,
        "hour": hour,
    }
    got = {name: values[0] for name, values in zip(CALENDAR_PARTS, result, strict=True)}
    assert got.keys() == expected.keys()
    np.testing.assert_allclose([got[k] for k in expected], list(expected.values()), rtol=1e-12)


def test_a_missing_date_has_no_calendar_features():
    dates = np.array(["NaT", "2024-05-01"], "datetime64[us]")
    result = np.array(calendar_features(dates))
    assert np.isnan(result[:, 0]).all()
    assert np.isfinite(result[:, 1]).all()
