"""Values that are probably mistakes are pointed out; ordinary data are left in peace."""

import warnings

import numpy as np
import pytest

import clearwood as cw


def notes_about(name, values):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = cw.read({name: list(values), "other": np.arange(len(values)) % 7})
    told = [str(one.message) for one in caught]
    assert [str(note) for note in data.notes if str(note) in told] == told
    return [text for text in told if f"column {name!r}" in text]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_year_in_the_far_future_is_pointed_out(rng):
    (note,) = notes_about("GarageYrBlt", [*rng.integers(1900, 2010, 200).tolist(), 2207])
    assert "holds years, but 1 row has 2207" in note
    assert "missing={'GarageYrBlt': ['2207']}" in note


def test_a_negative_age_is_pointed_out(rng):
    (note,) = notes_about("age", [*rng.integers(18, 90, 200).tolist(), -3])
    assert "should not be negative, but 1 row has -3" in note


@pytest.mark.parametrize("code", [999, 9999, -99, -999])
def test_a_code_for_missing_is_pointed_out(rng, code):
    (note,) = notes_about("weeks", [*rng.integers(1, 52, 200).tolist(), *[code] * 6])
    assert f"6 rows have {code}" in note


def test_minus_one_among_counts_is_pointed_out(rng):
    (note,) = notes_about("days", [*rng.integers(0, 400, 200).tolist(), *[-1] * 50])
    assert "50 rows have -1" in note


@pytest.mark.parametrize(("slip", "where"), [(1.75, "below"), (17_500.0, "above")])
def test_a_slip_of_the_decimal_point_is_pointed_out(rng, slip, where):
    (note,) = notes_about("height", [*rng.normal(175, 10, 200).tolist(), slip])
    assert f"far {where} all others: 1 row has" in note


@pytest.mark.parametrize(
    "draw",
    {
        "normal": lambda r: r.normal(size=500),
        "lognormal": lambda r: r.lognormal(0, 2, 500),
        "pareto": lambda r: r.pareto(1.5, 500) + 1,
        "exponential": lambda r: r.exponential(size=500),
        "counts": lambda r: r.poisson(3, 500),
        "mostly zero": lambda r: np.where(r.random(500) < 0.8, 0, r.lognormal(7, 1, 500)),
        "years": lambda r: r.integers(1900, 2020, 500),
        "ages": lambda r: np.minimum(r.integers(0, 105, 500), 99),
        "answers": lambda r: r.integers(-1, 2, 500),
        "temperature": lambda r: r.normal(12, 8, 500),
        "money": lambda r: np.round(r.lognormal(8, 1, 500), -2),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_ordinary_columns_raise_no_alarm(draw):
    alarms = sum(bool(notes_about("x", draw[1](np.random.default_rng(s)))) for s in range(20))
    assert alarms <= 1


def test_the_values_named_can_be_read_as_missing(rng):
    ages = [*rng.integers(18, 90, 200).tolist(), 999, 999, 999]
    assert cw.read({"age": ages}, missing={"age": ["999"]}).missing == {"age": 3}


def test_arrays_are_not_doubted(rng):
    assert not cw.read(np.column_stack([[*rng.normal(175, 10, 200), 1.75], np.arange(201)])).notes
