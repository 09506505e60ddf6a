"""Weeks, months, quarters and years in words are dates, and what has no order is not a time."""

import calendar
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.resampling import TimeOrdered
from clearwood.table import Encoder, parse_dates
from clearwood.table.kinds.dates import are_dates

GERMAN = ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August"]
GERMAN += ["September", "Oktober", "November", "Dezember"]
years = st.integers(1941, 2040)
months = st.lists(st.tuples(years, st.integers(1, 12)), min_size=2, max_size=30)

MONTHS_AS = {
    "Jan-2018": lambda y, m: f"{calendar.month_abbr[m]}-{y}",
    "Jan 2018": lambda y, m: f"{calendar.month_abbr[m]} {y}",
    "January 2018": lambda y, m: f"{calendar.month_name[m]} {y}",
    "JAN2018": lambda y, m: f"{calendar.month_abbr[m].upper()}{y}",
    "2018-Jan": lambda y, m: f"{y}-{calendar.month_abbr[m]}",
    "Jan 18": lambda y, m: f"{calendar.month_abbr[m]} {y % 100:02d}",
    "Jan-18": lambda y, m: f"{calendar.month_abbr[m]}-{y % 100:02d}",
    "Januar 2018": lambda y, m: f"{GERMAN[m - 1]} {y}",
    "Jan. 2018": lambda y, m: f"{GERMAN[m - 1][:3]}. {y}",
    "01/2018": lambda y, m: f"{m:02d}/{y}",
    "2018M01": lambda y, m: f"{y}M{m:02d}",
}


@pytest.mark.parametrize("write", MONTHS_AS.values(), ids=MONTHS_AS)
@given(months)
def test_a_written_month_is_read_as_its_first_day(write, some):
    result = parse_dates([write(*month) for month in some])
    np.testing.assert_array_equal(
        result, np.array([f"{y}-{m:02d}-01" for y, m in some], "datetime64[us]")
    )


@pytest.mark.parametrize(
    "form",
    ["{y} Q{q}", "{y}Q{q}", "{y}-Q{q}", "Q{q} {y}", "Q{q}/{y}", "{q}Q{y}", "{q}. Quartal {y}"],
)
@given(st.lists(st.tuples(years, st.integers(1, 4)), min_size=1, max_size=9))
def test_a_written_quarter_is_read_as_its_first_day(form, some):
    result = parse_dates([form.format(y=y, q=q) for y, q in some])
    days = [f"{y}-{3 * q - 2:02d}-01" for y, q in some]
    np.testing.assert_array_equal(result, np.array(days, "datetime64[us]"))


@given(st.dates(date(1900, 1, 8), date(2099, 12, 20)))
def test_iso_weeks_are_those_of_the_calendar(day):
    year, week, weekday = day.isocalendar()
    monday = np.datetime64(day, "us") - np.timedelta64(weekday - 1, "D")
    assert parse_dates([f"{year}-W{week:02d}"])[0] == monday


@pytest.mark.parametrize(
    ("levels", "day"),
    [
        (["FY2018", "FY2017"], "2018-01-01"),
        (["2018/19", "2010/11"], "2018-01-01"),
        (["H2 2018"], "2018-07-01"),
        (["3. März 2018", "12. Mai 2017"], "2018-03-03"),
        (["05-Jan-18", "28-Feb-18"], "2018-01-05"),
        (["05JAN2018"], "2018-01-05"),
        (["2010-11", "2011-02"], "2010-11-01"),
        (["2018-5", "2018-11"], "2018-05-01"),
        (["Q4 FY2018", "Q1 FY2019"], "2018-10-01"),
        (["Third quarter 2018", "first quarter of 2018"], "2018-07-01"),
        (["T2 2018", "T1 2019"], "2018-04-01"),
        (["5 de mayo de 2018", "1 de enero de 2019"], "2018-05-05"),
    ],
)
def test_other_ways_to_write_times(levels, day):
    assert parse_dates(levels)[0] == np.datetime64(day, "us")


@pytest.mark.parametrize(
    "levels",
    [
        ["Jan-2018", "soon"],
        ["Jan-2018", "2018 Q1"],
        ["2018-13", "2018-01"],
        ["1234-01", "9876-02"],
        ["Set-10", "Set-11"],
        ["Mayor 2018", "Mayor 2019"],
        ["May 10", "May 12"],
        [f"{month} {day:02d}" for month in ("Jan", "Feb") for day in range(1, 29)],
        ["Jan", "Feb"],
        ["low", "high"],
        ["Q1", "Q2"],
        ["30 Feb 2018", "1 Mar 2018"],
        [],
    ],
)
def test_other_words_and_codes_are_no_dates(levels):
    assert not are_dates(levels)


def test_months_in_words_order_the_rows_in_time():
    order = [f"{calendar.month_abbr[m]}-{y}" for y in (2017, 2018) for m in range(1, 13)]
    month = np.repeat(order, 5)
    data = {"when": month, "x": np.arange(120.0) % 7, "y": np.arange(120.0)}
    table = cw.read(data, target="y", time="when")
    for split in TimeOrdered(3).splits(table.n_rows, times=table.times):
        assert split.train.max() < split.test.min()
    for split in TimeOrdered(3).splits(120, times=month):
        assert split.train.max() < split.test.min()


def test_months_in_words_are_features_with_their_calendar():
    order = [f"{calendar.month_abbr[m]}-{y}" for y in (2017, 2018) for m in range(1, 13)]
    data = cw.read({"when": np.repeat(order, 5), "y": np.arange(120.0)}, target="y")
    assert str(data["when"].kind) == "date"
    names = Encoder().fit(data).get_feature_names_out()
    assert list(names) == ["when:days since 2000-01-01", "when:year", "when:month"]


def test_gaps_among_months_are_missing():
    data = {"when": ["Jan-2018", "n/a", "Mar-2018"] * 4, "y": np.arange(12.0)}
    with pytest.warns(cw.ClearwoodWarning, match="read as missing: 'when'"):
        data = cw.read(data, target="y")
    assert str(data["when"].kind) == "date"
    assert data.missing["when"] == 4


@pytest.mark.parametrize("words", [("before", "after"), ("Jan", "Feb"), ("wave A", "wave B")])
def test_a_time_without_an_order_is_refused(words):
    data = {"when": list(words) * 20, "y": np.arange(40.0)}
    with pytest.raises(cw.InputError, match="the time 'when' has values without an order") as error:
        cw.read(data, target="y", time="when")
    assert error.value.parameter == "time"
    table = cw.read(data, target="y", time="when", kinds={"when": list(words)})
    assert table.times[:2].tolist() == [0, 1]
    with pytest.raises(cw.InputError, match="words without an order"):
        TimeOrdered(2).splits(40, times=list(words) * 20)


def test_the_hint_names_months_in_the_order_of_the_calendar():
    data = {"when": ["Mar", "Jan", "Feb"] * 9, "y": np.arange(27.0)}
    with pytest.raises(cw.InputError) as error:
        cw.read(data, target="y", time="when")
    assert "kinds={'when': ['Jan', 'Feb', 'Mar']}" in str(error.value.hint)


LANGUAGES = {
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre "
    "décembre",
    "French, short": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "Spanish, short": "ene feb mar abr may jun jul ago sep oct nov dic",
    "Italian, short": "gen feb mar apr mag giu lug ago set ott nov dic",
    "Dutch, short": "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "Portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
    "Swedish": "januari februari mars april maj juni juli augusti september oktober november "
    "december",
    "Polish": "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik "
    "listopad grudzień",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "form", ["{name} {year}", "{name}-{year}", "{year} {name}", "{name} {short}"]
)
def test_months_of_other_languages_are_in_the_order_of_the_calendar(language, form, tmp_path):
    names = LANGUAGES[language].split()
    written = [
        form.format(name=name, year=year, short=year % 100)
        for year in (2017, 2018, 2019)
        for name in names
    ]
    order = np.random.default_rng(0).permutation(36)
    lines = [f"{written[k]},{k},{k % 5}" for k in order]
    (tmp_path / "rows.csv").write_text("\n".join(["when,number,y", *lines]))
    table = cw.read(tmp_path / "rows.csv", target="y", time="when")
    np.testing.assert_array_equal(np.argsort(np.argsort(table.times)), table["number"].values)


def test_a_time_that_is_none_is_named():
    times = ["Jan-2018", "Feb-2018", "Mar-2018", "Apr-2018", "unknown", "May-2018"]
    rows = {"when": times * 3, "x": np.arange(18.0), "y": np.arange(18) % 4}
    with pytest.raises(
        cw.InputError, match=r"has values that are no time: 'unknown'\. Hint: correct"
    ):
        cw.read(rows, target="y", time="when")


@pytest.mark.parametrize(
    "levels",
    [["set A", "set B"], ["Mag 7", "Set 3"], ["mark 2018", "Feb 2018"], ["jui 2018", "Feb 2018"]],
)
def test_words_that_only_resemble_months_are_words(levels):
    assert parse_dates(levels) is None
