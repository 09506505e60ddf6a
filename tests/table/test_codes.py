"""Strings and categories of frames as codes, against reading them value by value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood.table.sources import codes as module
from clearwood.table.sources import frames

VALUES = st.lists(
    st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["yes", "", "é", "\x00", "NaN"])),
    max_size=12,
)


def pandas_frame(values, dtype):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype)}).iloc[::-1]


def polars_frame(values):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"c": pl.Series(values, dtype=pl.String)})


def arrow_frame(values):
    pa = pytest.importorskip("pyarrow")
    half = len(values) // 2
    return pa.table({"c": pa.chunked_array([values[:half], values[half:]], pa.string())})


def check_same(frame):
    (fast,) = frames.from_frame(frame)
    with pytest.MonkeyPatch.context() as context:
        for name in ("string_codes", "category_codes"):
            context.setattr(frames, name, lambda _: None)
        (slow,) = frames.from_frame(frame)
    assert (fast.form, fast.levels, fast.label_type) == (slow.form, slow.levels, slow.label_type)
    assert fast.values.dtype == slow.values.dtype
    np.testing.assert_array_equal(fast.values, slow.values)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.sampled_from(["object", "string", "str", "arrow", "polars"]))
def test_strings_are_read_as_value_by_value(values, kind):
    if kind == "arrow":
        check_same(arrow_frame(values))
    elif kind == "polars":
        check_same(polars_frame(values))
    else:
        check_same(pandas_frame(values, kind))


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from(["arrow", "pandas"]))
def test_categories_are_read_as_value_by_value(values, kind):
    if kind == "arrow":
        pa = pytest.importorskip("pyarrow")
        half = len(values) // 2
        chunks = [pa.array(part, pa.string()) for part in (values[:half], values[half:])]
        # every chunk has a dictionary of its own
        coded = pa.chunked_array([chunk.dictionary_encode() for chunk in chunks])
        check_same(pa.table({"c": coded}))
    else:
        check_same(pandas_frame(values, "category"))


def test_categories_that_are_numbers_keep_their_type():
    pd = pytest.importorskip("pandas")
    check_same(pd.DataFrame({"c": pd.Categorical([3, 1, None, 3], categories=[3, 2, 1])}))


def test_a_dictionary_with_repeated_levels_is_read_value_by_value():
    pa = pytest.importorskip("pyarrow")
    nw = pytest.importorskip("narwhals.stable.v2")
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"]))
    series = nw.from_native(pa.chunked_array([twice]), series_only=True)
    assert module.category_codes(series) is None
