"""How the cells of a sheet are written."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.reporting import Sheet
from clearwood.reporting.page.cells import is_numeric, written_rows


def column(*cells, bars=False):
    sheet = Sheet("s", "", ("x",), tuple((cell,) for cell in cells), bars=("x",) if bars else ())
    return [row[0] for row in written_rows(sheet)]


def texts(*cells):
    return [cell.text for cell in column(*cells)]


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        ((0.5, 0.25, 12.0), ["0.50", "0.25", "12.00"]),  # no more decimals than there are
        ((1 / 3, 20.0), ["0.33", "20.00"]),
        ((0.00123456, 0.5), ["0.0012", "0.5000"]),
        ((123456.789, 1.5), ["123,456.8", "1.5"]),
        ((1e-9, 1e9), ["1e−9", "1,000,000,000"]),  # no common number of decimals
        ((3, -4), ["3", "−4"]),
        ((1999, 2024), ["1999", "2024"]),  # years
        ((1999, 20000), ["1,999", "20,000"]),
        ((True, False), ["yes", "no"]),
        ((None, "", "a"), ["", "", "a"]),
        ((float("nan"), 1.0), ["", "1"]),
        ((math.inf, -math.inf, 2.5), ["∞", "−∞", "2.5"]),
        (("a", 0.123456), ["a", "0.1235"]),
        ((0.0, 0.0), ["0", "0"]),
    ],
)
def test_numbers_of_a_column_share_their_decimals(cells, written):
    assert texts(*cells) == written


def test_numpy_scalars_are_numbers_too():
    assert texts(np.float64(0.5), np.int64(2)) == ["0.5", "2.0"]
    assert texts(np.bool_(1)) == ["yes"]


def test_a_column_with_a_word_is_not_numeric():
    assert not is_numeric((1.0, "a"))
    assert not is_numeric((True, False))
    assert not is_numeric((None, None))
    assert is_numeric((None, 1))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_the_number_behind_a_text_is_exact(numbers):
    for cell, number in zip(column(*numbers), numbers, strict=True):
        assert float(cell.text if cell.value is None else cell.value) == number


@given(st.lists(st.none() | st.floats(-1e9, 1e9), min_size=1))
def test_bars_stay_in_their_cell_and_start_at_zero(numbers):
    cells = column(*numbers, bars=True)
    for cell, number in zip(cells, numbers, strict=True):
        if cell.bar is None:
            assert number is None
            continue
        assert 0 <= cell.bar.start <= cell.bar.start + cell.bar.length <= 100.11
        assert cell.bar.negative == (number < 0)


def test_bars_are_as_long_as_their_numbers():
    first, second, third = column(-1.0, 3.0, 0.0, bars=True)
    assert (first.bar.start, first.bar.length, first.bar.negative) == (0, 25, True)
    assert (second.bar.start, second.bar.length) == (25, 75)
    assert (third.bar.start, third.bar.length) == (25, 0)


def test_an_empty_sheet_has_no_rows():
    assert written_rows(Sheet("s", "", ("a", "b"), ())) == []
