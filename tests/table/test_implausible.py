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


TERMS = [360, 360, 360, 360, 360, 180, 240, 300]
CODED = {
    "equal quartiles": (lambda r: r.choice(TERMS, 900), [999_999], 6),
    "twice only": (lambda r: r.choice(TERMS, 900), [999_999.4], 2),
    "yes and no": (lambda r: (r.random(900) < 0.9) * 1, [666], 1),
    "round": (lambda r: np.round(r.lognormal(3.6, 1.3, 900), 1), [1_000_000], 9),
    "most rows": (lambda r: r.integers(0, 28, 60), [999], 1500),
    "two codes": (lambda r: r.integers(0, 30, 500), [98, 99], 5),
    "both ends": (lambda r: r.normal(0, 3, 500), [-999, 999], 5),
    "unlike a code": (lambda r: r.gamma(2, 10, 500), [5555.5], 8),
    "no pressure": (lambda r: r.normal(120, 15, 500), [0], 7),
    "scale": (lambda r: r.integers(1, 6, 300), [777], 4),
    "year": (lambda r: r.integers(1950, 2020, 500), [9999], 40),
    "year zero": (lambda r: r.integers(1950, 2020, 500), [0], 20),
}


@pytest.mark.parametrize(("draw", "codes", "rows"), CODED.values(), ids=CODED)
def test_codes_are_found_by_their_place_and_look(rng, draw, codes, rows):
    values = [*draw(rng).tolist(), *np.repeat(codes, rows).tolist()]
    (note,) = notes_about("x", values)
    assert "seems to have a code for missing" in note
    written = [f"{code:.10g}" for code in codes]
    assert f"missing={{'x': {written}}}" in note
    data = cw.read({"x": values}, missing={"x": written})
    assert data.missing["x"] == rows * len(codes)


@pytest.mark.parametrize("unit", [1, 1000, 0.01])
def test_a_place_far_from_all_others_does_not_depend_on_the_unit(rng, unit):
    values = [*(rng.gamma(2, 10, 500) * unit).tolist(), *[700 * unit] * 8]
    (note,) = notes_about("x", values)
    assert "8 rows have" in note


def test_ages_below_one_among_adults_are_pointed_out(rng):
    (note,) = notes_about("age", [*rng.integers(18, 90, 300).tolist(), 0.2, 0.5, 0.5, 0.9])
    assert "holds ages of 18 and more, but 4 rows have 0.2 or 0.5 or 0.9" in note
    assert not notes_about("age", [*rng.integers(0, 90, 300).tolist(), 0.2, 0.5, 0.9])


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
        "capped": lambda r: np.minimum(r.lognormal(3, 1, 500), 50),
        "top-coded": lambda r: np.minimum(r.exponential(60_000, 500).round(), 99_999),
        "some zeros": lambda r: np.where(r.random(500) < 0.3, 0, r.gamma(2, 100, 500)),
        "zeros below": lambda r: np.where(r.random(500) < 0.3, 0, r.normal(1000, 100, 500)),
        "few zeros": lambda r: np.where(r.random(500) < 0.05, 0, r.lognormal(7, 0.5, 500)),
        "rare events": lambda r: r.poisson(0.05, 500),
        "skewed counts": lambda r: r.negative_binomial(0.3, 0.05, 500),
        "employees": lambda r: np.round(r.pareto(1, 500) * 3),
        "limits": lambda r: r.choice([0, 100, 250, 500, 1000, 5000], 500),
        "ladder": lambda r: r.choice([1, 10, 100, 1000, 10_000], 500),
        "bonus": lambda r: r.choice([0, 10_000], 500),
        "mostly full": lambda r: np.where(r.random(500) < 0.9, 100, r.beta(2, 5, 500) * 100),
        "usual hours": lambda r: np.where(
            r.random(500) < 0.6, 40, np.clip(r.normal(40, 12, 500).round(), 1, 99)
        ),
        "two groups": lambda r: np.where(
            r.random(500) < 0.9, r.normal(0, 1, 500), r.normal(8, 1, 500)
        ),
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
