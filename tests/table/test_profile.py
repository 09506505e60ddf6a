"""What a column holds, in numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clearwood.plot import plot_profile
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
    assert profile(Column("x", Kind.NUMBER, np.full(4, 7.0))).n_distinct == 1
    assert profile(Column("x", Kind.NUMBER, np.full(4, np.nan))).counts.sum() == 0


def test_the_figure_shows_shares_of_all_rows():
    column = Column("x", Kind.NUMBER, np.array([0.1, 0.2, 0.9, np.nan]))
    rows = plot_profile(profile(column, bins=2)).to_dict()["data"]["values"]
    assert [row["share"] for row in rows] == [0.5, 0.25]


KINDS = st.sampled_from([Kind.NUMBER, Kind.WHOLE, Kind.CATEGORY, Kind.ORDERED, Kind.DATE])


@st.composite
def weighted_columns(draw):
    n_rows, kind = draw(st.integers(1, 30)), draw(KINDS)
    codes = draw(arrays(np.int32, n_rows, elements=st.integers(-1, 5)))
    weights = draw(arrays(np.float64, n_rows, elements=st.integers(0, 4).map(float)))
    weights[0] = 1.0
    levels = tuple("abcdef") if kind in (Kind.CATEGORY, Kind.ORDERED) else ()
    values = codes
    if kind is Kind.DATE:
        values = np.where(codes < 0, np.datetime64("NaT"), np.datetime64("2024-01-01") + codes)
        values = values.astype("datetime64[us]")
    elif not levels:
        values = np.where(codes < 0, np.nan, codes * (1.0 if kind is Kind.WHOLE else 1.7))
    return Column("x", kind, values, levels), weights


@given(weighted_columns(), st.integers(2, 6))
def test_whole_weights_count_like_repeated_rows(column_and_weights, most):
    column, weights = column_and_weights
    by_weight = profile(column, levels=most, weights=weights)
    repeated = profile(
        column.take(np.repeat(np.arange(len(column)), weights.astype(int))), levels=most
    )
    np.testing.assert_allclose(by_weight.weights, repeated.counts)
    np.testing.assert_allclose(by_weight.shares, repeated.shares)
    assert by_weight.levels == repeated.levels
    assert by_weight.values == repeated.values
    assert by_weight.n_distinct == repeated.n_distinct
    assert by_weight.missing_share == repeated.missing_share
    assert by_weight.n_zero == (weights == 0).sum()
    if repeated.edges is not None:
        np.testing.assert_array_equal(by_weight.edges, repeated.edges)


def test_the_figure_of_a_weighted_column_says_so():
    column = Column("town", Kind.CATEGORY, np.array([0, 1, 0], np.int32), ("a", "b"))
    figure = str(plot_profile(profile(column, weights=np.array([1.0, 2.0, 0.0]))).to_dict())
    assert "weighted share of rows" in figure
