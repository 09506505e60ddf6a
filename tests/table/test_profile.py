"""What a column holds, in numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clearwood.plot.data import plot_profile
from clearwood.table import Column, Kind, profile

floats = st.floats(-1e9, 1e9) | st.just(np.nan)


@given(arrays(np.float64, st.integers(1, 40), elements=floats), st.integers(1, 30))
def test_counts_and_missing_add_up_to_the_rows(values, bins):
    result = profile(Column("x", Kind.NUMBER, values), bins=bins)
    assert result.counts.sum() + result.n_missing == len(values)
    if len(result.counts):
        assert len(result.edges) == len(result.counts) + 1


def test_few_whole_numbers_have_a_bin_each():
    result = profile(Column("doors", Kind.WHOLE, np.array([2.0, 2, 3, 5])))
    assert result.counts.tolist() == [2, 1, 0, 1]
    assert result.edges.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]


def test_rare_levels_are_counted_together():
    codes = np.repeat(np.arange(20, dtype=np.int32), 3)
    result = profile(
        Column("town", Kind.CATEGORY, codes, tuple(f"t{k}" for k in range(20))), levels=5
    )
    assert result.levels[-1] == "(others)"
    assert result.counts.tolist() == [3, 3, 3, 3, 48]
    assert result.n_distinct == 20


def test_ordered_levels_keep_their_order():
    codes = np.array([2, 2, 2, 0, 1, 1], dtype=np.int32)
    result = profile(Column("size", Kind.ORDERED, codes, ("S", "M", "L")))
    assert result.levels == ("S", "M", "L")
    assert result.counts.tolist() == [1, 2, 3]


def test_dates_are_binned_as_dates():
    days = np.datetime64("2024-01-01", "us") + np.arange(10) * np.timedelta64(1, "D")
    result = profile(Column("day", Kind.DATE, days), bins=5)
    assert result.edges.dtype.kind == "M"
    assert result.counts.tolist() == [2, 2, 2, 2, 2]


def test_a_constant_and_an_empty_column_are_described():
    assert profile(Column("x", Kind.NUMBER, np.full(4, 7.0))).is_constant
    assert profile(Column("x", Kind.NUMBER, np.full(4, np.nan))).counts.sum() == 0


def test_the_figure_shows_shares_of_all_rows():
    column = Column("x", Kind.NUMBER, np.array([0.1, 0.2, 0.9, np.nan]))
    rows = plot_profile(profile(column, bins=2)).to_dict()["data"]["values"]
    assert [row["share"] for row in rows] == [0.5, 0.25]
