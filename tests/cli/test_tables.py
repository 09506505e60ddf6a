"""Frames on a terminal: complete numbers, within the width."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from clearwood._shared.numbers import number as written
from clearwood.cli.support.files import terminal_table


def drawn(columns, width=80, **options):
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal_table(columns, width, **options))
    return [line.rstrip() for line in console.file.getvalue().splitlines() if line.strip()]


def words(lines):
    return " ".join(lines).split()


def test_what_fits_has_one_line_for_each_row():
    head, _, *lines = drawn({"column": ["age", "bmi"], "share": [0.25, 0.5]})
    assert head.split() == ["column", "share"]
    assert [line.split() for line in lines] == [["age", "0.25"], ["bmi", "0.5"]]


def test_what_is_too_wide_has_one_line_for_each_column():
    columns = {"row": [0, 1], **{f"a long name {k}": [k + 0.125, -k - 0.5] for k in range(9)}}
    head, _, *lines = drawn(columns)
    assert head.split() == ["row", "0", "1"]
    assert len(lines) == 9
    assert lines[3].split() == ["a", "long", "name", "3", "3.125", "-3.5"]


def test_spare_columns_are_left_out_one_after_the_other_where_lines_are_too_long():
    columns = {"row": [0, 1], "loss": [0.5, 0.25], "weight": [1.5, 2.5]}
    assert drawn(columns, 80, spare=("loss", "weight"))[0].split() == ["row", "loss", "weight"]
    assert drawn(columns, 20, spare=("loss", "weight"))[0].split() == ["row", "weight"]
    assert drawn(columns, 8, spare=("loss", "weight"))[0].split() == ["row"]


def test_rows_that_do_not_fit_are_said_to_be_left_out():
    columns = {"row": list(range(30)), **{f"column {k}": [0.123456] * 30 for k in range(12)}}
    head, *_ = drawn(columns, 60)
    assert head.endswith("…")
    assert len(head) <= 60


def test_the_middle_of_a_long_frame_is_left_out():
    lines = drawn({"x": list(range(1000))})
    assert "…" in words(lines)
    assert {"0", "19", "980", "999"} <= set(words(lines))
    assert len(lines) == 43


def test_sentences_stand_elsewhere_unless_they_are_all_there_is():
    sentence = "all methods tell the same story of it"
    assert "story" not in words(drawn({"column": ["age"], "words": [sentence]}))
    assert "story" in words(drawn({"words": [sentence]}))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_numbers_are_empty(missing):
    assert drawn({"column": ["age"], "share": [missing]})[-1].split() == ["age"]


@given(
    st.integers(1, 14),
    st.integers(1, 6),
    st.floats(-1e9, 1e9, allow_nan=False),
    st.integers(60, 120),
)
def test_no_number_is_broken_and_no_line_too_long(n_columns, n_rows, number, width):
    columns = {"row": list(range(n_rows))}
    columns |= {f"column_{k}": [number] * n_rows for k in range(n_columns)}
    lines = drawn(columns, width)
    assert max(map(len, lines)) <= width
    assert words(lines).count(written(number, 4)) >= n_columns
