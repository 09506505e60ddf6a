"""Every data-frame library, arrays and dicts give the same table."""

import datetime as dt
import decimal

import numpy as np
import pytest

import clearwood as cw
from clearwood.table import Kind, as_table

DAYS = [
    None if day is None else dt.datetime.fromisoformat(day)
    for day in ("2024-02-29T12:00", None, "2023-12-31", "2024-01-01")
]
COLUMNS = {
    "age": [31, None, 28, 45],
    "height": [1.8, 1.7, None, 1.65],
    "town": ["Chur", "Bern", None, "Chur"],
    "member": [True, False, None, True],
    "joined": DAYS,
}


def pandas_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {**COLUMNS, "size": pd.Categorical(["S", "L", None, "M"], ["S", "M", "L"], ordered=True)}
    )
    frame["joined"] = pd.to_datetime(frame["joined"])
    return frame


def pandas_shuffled():
    frame = pandas_frame()
    frame.index = [7, 2, 2, 0]
    return frame


def pandas_nullable():
    return pandas_frame().convert_dtypes()


def polars_frame():
    pl = pytest.importorskip("polars")
    size = pl.Series(["S", "L", None, "M"], dtype=pl.Enum(["S", "M", "L"]))
    return pl.DataFrame(COLUMNS).with_columns(size=size)


def polars_lazy():
    return polars_frame().lazy()


def arrow_table():
    pa = pytest.importorskip("pyarrow")
    codes = pa.array([0, 2, None, 1], pa.int8())
    size = pa.DictionaryArray.from_arrays(codes, pa.array(["S", "M", "L"]), ordered=True)
    return pa.table({**COLUMNS, "size": size})


def plain_dict():
    return {**COLUMNS, "size": ["S", "L", None, "M"]}


SOURCES = [
    pandas_frame,
    pandas_shuffled,
    pandas_nullable,
    polars_frame,
    polars_lazy,
    arrow_table,
    plain_dict,
]


@pytest.fixture(params=SOURCES, ids=lambda make: make.__name__)
def source(request):
    return request.param()


def test_values_kinds_and_missing_are_the_same_from_every_library(source):
    result = cw.read(source, kinds={"size": ["S", "M", "L"]})
    assert result.to_dict() == {**COLUMNS, "size": ["S", "L", None, "M"]}
    assert list(result.kinds.values()) == [
        Kind.WHOLE,
        Kind.NUMBER,
        Kind.CATEGORY,
        Kind.YES_NO,
        Kind.DATE,
        Kind.ORDERED,
    ]
    assert result.levels["size"] == ("S", "M", "L")
    assert set(result.missing.values()) == {1}


def test_fingerprints_agree_across_libraries(source):
    reference = cw.read(plain_dict(), kinds={"size": ["S", "M", "L"]})
    assert cw.read(source, kinds={"size": ["S", "M", "L"]}).fingerprint() == reference.fingerprint()


@pytest.mark.parametrize("make", [pandas_frame, arrow_table])
def test_an_ordered_category_stays_ordered(make):
    result = cw.read(make())
    assert result["size"].kind is Kind.ORDERED
    assert result.levels["size"] == ("S", "M", "L")


def test_a_polars_enum_is_a_category():
    assert cw.read(polars_frame())["size"].kind is Kind.CATEGORY


def test_time_zones_are_brought_to_one():
    pd = pytest.importorskip("pandas")
    stamps = pd.to_datetime(["2024-01-01 01:00", "2024-07-01 01:00"]).tz_localize("Europe/Zurich")
    result = cw.read(pd.DataFrame({"at": stamps}))
    expected = np.array(["2024-01-01T00:00", "2024-06-30T23:00"], dtype="datetime64[us]")
    np.testing.assert_array_equal(result["at"].values, expected)


def test_pandas_columns_named_by_numbers_keep_their_order():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({2: [1.5, 2.5], 0: [3.5, 4.5]})
    assert cw.read(frame).to_dict() == {"2": [1.5, 2.5], "0": [3.5, 4.5]}


def test_two_pandas_columns_of_one_name_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(cw.InputError, match="'a'"):
        cw.read(frame)


def test_an_array_is_plain_numbers_named_by_position():
    result = as_table(np.array([[0.0, 1.0], [1.0, np.nan], [0.0, 1.0]]))
    assert result.names == result.features == ("x0", "x1")
    assert set(result.kinds.values()) == {Kind.NUMBER}
    assert result.missing == {"x0": 0, "x1": 1}


def test_nothing_is_left_out_of_an_array():
    constant_and_numbered = np.column_stack([np.zeros(20), np.arange(20)])
    assert as_table(constant_and_numbered).features == ("x0", "x1")


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, bool, object])
def test_arrays_of_every_number_type_are_numbers(dtype):
    result = as_table(np.array([[1, 0], [0, 1]], dtype=dtype))
    np.testing.assert_array_equal(result["x0"].values, [1.0, 0.0])
    assert result["x0"].values.dtype == np.float64


def test_object_arrays_may_hold_words_too():
    result = as_table(np.array([[1.5, "a"], [2, "b"], [None, "a"]], dtype=object))
    assert list(result.kinds.values()) == [Kind.NUMBER, Kind.CATEGORY]


def test_a_structured_array_has_its_own_names():
    data = np.array([(1.5, "a"), (2.5, "b")], dtype=[("size", "f8"), ("town", "U5")])
    assert cw.read(data).to_dict() == {"size": [1.5, 2.5], "town": ["a", "b"]}


def test_decimals_and_dates_among_objects_are_understood():
    result = cw.read({"price": [decimal.Decimal("1.25"), None], "day": [dt.date(2024, 1, 2), None]})
    assert list(result.kinds.values()) == [Kind.NUMBER, Kind.DATE]
    assert result["price"].values[0] == 1.25


def test_numbers_written_as_words_are_numbers_but_codes_are_not():
    result = cw.read({"n": ["1.5", "2", "10"], "code": ["007", "010", "007"]})
    assert list(result.kinds.values()) == [Kind.NUMBER, Kind.CATEGORY]
    np.testing.assert_array_equal(result["n"].values, [1.5, 2.0, 10.0])


@pytest.mark.parametrize("code", ["e{}", "E{}", "+.{}e", ".e{}"])
def test_words_without_a_digit_before_their_exponent_are_no_numbers(code):
    words = [code.format(k % 5) for k in range(20)]
    assert cw.read({"code": words})["code"].kind is Kind.CATEGORY


@pytest.mark.parametrize("number", ["1e3", "+2.E+1", ".5e-2", "-0.5", "0", "10."])
def test_every_way_to_write_a_number_is_one(number):
    column = cw.read({"n": [number, "3", "4"]})["n"]
    assert column.values[0] == float(number)


def test_numbers_too_large_to_hold_are_refused_by_name():
    with pytest.raises(cw.InputError, match="column 'n' has 1 infinite value"):
        cw.read({"n": ["1e400", "2", "3"]})


def sparse():
    return pytest.importorskip("scipy.sparse").eye(3).tocsr()


BAD = {
    "sparse": (sparse, "a sparse matrix .*toarray"),
    "complex": (lambda: np.ones((2, 2), complex), "Complex data not supported"),
    "complex objects": (lambda: {"z": [1j, 2j]}, "Complex data not supported"),
    "one dimension": (lambda: np.ones(3), "Expected 2D array, got 1D array"),
    "infinite": (lambda: np.array([[1.0, np.inf]]), "column 'x1' has 1 infinite value"),
    "minus infinite": (lambda: {"a": [1.0, -np.inf, -np.inf]}, "column 'a' has 2 infinite values"),
    "a number": (lambda: 5, "int is not a table"),
    "nothing": (lambda: None, "NoneType is not a table"),
    "no columns": (dict, "the table has no columns"),
    "no rows": (lambda: {"a": []}, "the table has no rows"),
    "lengths": (lambda: {"a": [1, 2], "b": [1]}, "differ in length: 'a' 2, 'b' 1"),
    "dicts in cells": (lambda: np.array([[1, {}]], object), "an argument must be a string or a nu"),
    "a scalar column": (lambda: {"a": 5}, "column 'a' is 5, not a list"),
    "two dimensions": (lambda: {"a": np.ones((2, 2))}, "column 'a' is 2-D"),
    "empty name": (lambda: {"": [1, 2]}, "a column has no name"),
    "same text": (lambda: {1: [1], "1": [2]}, "more than one column is named '1'"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_what_is_no_table_is_refused_with_a_clear_message(make, message):
    with pytest.raises(cw.InputError, match=message):
        cw.read(make())
