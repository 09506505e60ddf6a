"""Kinds result from the data, and set by the user."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table import Kind

N = 30


def kind_of(values, **options):
    return cw.read({"x": values, "other": np.arange(len(values)) % 7}, **options)["x"].kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False] * 15, Kind.YES_NO),
        (["Yes", "no"] * 15, Kind.YES_NO),
        (["Y", "N"] * 15, Kind.YES_NO),
        (["TRUE", "FALSE", None] * 10, Kind.YES_NO),
        (["t", "f"] * 15, Kind.YES_NO),
        ([0, 1, None] * 10, Kind.YES_NO),
        ([1, 2] * 15, Kind.WHOLE),
        ([3, 7, None] * 10, Kind.WHOLE),
        ([0.5, 7, None] * 10, Kind.NUMBER),
        (["a", "b", "c"] * 10, Kind.CATEGORY),
        (["yes", "no", "maybe"] * 10, Kind.CATEGORY),
        (["2024-01-31", "2024-02-29"] * 15, Kind.DATE),
        (["2024-01-31T10:30:00", "2024-02-29T00:00:00"] * 15, Kind.DATE),
        (["2024-01-31T10:30:00+02:00", "2024-02-29T00:00:00Z"] * 15, Kind.DATE),
        (["2024-01-31T10:30:00.25Z", "2024-02-29T00:00:00Z"] * 15, Kind.DATE),
        (["31.1.2024", "29.02.2024"] * 15, Kind.DATE),
        (["03/25/2024", "03/04/2024"] * 15, Kind.DATE),
        (["5 Mar 2024", "12 December 2023"] * 15, Kind.DATE),
        (["2024-01-31", "2024-02-30"] * 15, Kind.CATEGORY),
        ([f"some words about case {i}" for i in range(25)] + [None] * 5, Kind.TEXT),
    ],
)
@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_the_kind_follows_from_the_values(values, kind):
    assert kind_of(values) is kind


def test_month_first_dates_are_read_as_such_where_a_day_shows_it():
    result = cw.read({"day": ["03/25/2024", "03/04/2024"]})["day"].values
    np.testing.assert_array_equal(result, np.array(["2024-03-25", "2024-03-04"], "datetime64[us]"))
    result = cw.read({"day": ["25/03/2024", "03/04/2024"]})["day"].values
    np.testing.assert_array_equal(result, np.array(["2024-03-25", "2024-04-03"], "datetime64[us]"))


@given(st.permutations(["10", "9", "b", "a", "10", "b"]))
def test_levels_do_not_depend_on_the_order_of_rows(values):
    assert cw.read({"x": values}).levels == {"x": ("9", "10", "a", "b")}


def test_no_comes_before_yes_whatever_the_words():
    assert cw.read({"x": ["TRUE", "FALSE", "TRUE"]}).levels["x"] == ("FALSE", "TRUE")
    assert cw.read({"x": ["Y", "N", "Y"]}).levels["x"] == ("N", "Y")


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([8001, 8005, 8001], "category", ["8001", "8005", "8001"]),
        ([0, 1, 0], "whole number", [0, 1, 0]),
        ([0, 1, 0], "number", [0, 1, 0]),
        (["1", "2", "1"], "category", ["1", "2", "1"]),
        ([True, False, True], "number", [1, 0, 1]),
        (["a", "b", "a"], "text", ["a", "b", "a"]),
        (["a", "b", "a"], "yes/no", ["a", "b", "a"]),
        ([1.5, None, 2.5], "category", ["1.5", None, "2.5"]),
    ],
)
@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_kind_can_be_set(values, kind, expected):
    column = cw.read({"x": values, "other": [1.5, 2.5, 2.5]}, kinds={"x": kind})["x"]
    assert str(column.kind) == kind
    assert list(column.labels()) == expected


def test_a_list_of_levels_makes_an_ordered_category():
    column = cw.read({"size": ["M", "S", None]}, kinds={"size": ["S", "M", "L"]})["size"]
    assert column.kind is Kind.ORDERED
    assert column.levels == ("S", "M", "L")
    np.testing.assert_array_equal(column.values, [1, 0, -1])


def test_numbers_can_be_ordered_levels():
    column = cw.read({"grade": [3, 1, 2]}, kinds={"grade": [1, 2, 3]})["grade"]
    assert column.levels == ("1", "2", "3")


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (["1", "two"], "number", "column 'x' should hold numbers but has 'two'"),
        ([1.5, 2], "whole number", "column 'x' should hold whole numbers but has 1.5"),
        (["a", "b", "c"], "yes/no", "column 'x' cannot be yes/no: it has 3 levels"),
        (["a", "b"], "date", "column 'x' should hold dates but has values such as 'a'"),
        ([1, 2], "date", "column 'x' should hold dates but has values such as '1'"),
        (["S", "XL"], ["S", "M"], "column 'x' has levels that its order does not name: 'XL'"),
        ([1, 2], "catgory", "there is no kind 'catgory'.*did you mean 'category'"),
    ],
)
def test_values_that_do_not_fit_the_kind_are_named(values, kind, message):
    with pytest.raises(cw.InputError, match=message):
        cw.read({"x": values}, kinds={"x": kind})


def test_dates_cannot_be_numbers():
    with pytest.raises(cw.InputError, match="column 'x' holds dates, not numbers"):
        cw.read({"x": np.array(["2024-01-01"], "datetime64[D]")}, kinds={"x": "number"})


def with_feature(values, name="x"):
    return {name: values, "other": np.arange(len(values)) % 7 / 3}


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("key", [f"k{i}" for i in range(N)], "column 'key' has a different text in every row"),
        ("name", [f"k{i}" for i in range(12)], "'name' has a different value in every row .*ident"),
        ("n", np.random.default_rng(0).permutation(N) + 1, "'n' numbers the rows from 1 to 30"),
        ("customer_id", np.arange(N) ** 2, "'customer_id' has a different value in every row"),
        ("customerId", np.arange(N) ** 2, "'customerId' has a different value in every row"),
        ("planet", ["earth"] * N, "column 'planet' is constant \\('earth'\\): left out"),
        ("unit", [5.0] * N, "column 'unit' is constant \\(5\\): left out"),
        ("gone", [None] * N, "column 'gone' is all missing: left out"),
        (
            "free",
            [f"text {i}" for i in range(25)] * 1 + ["text 1"] * 5,
            "'free' is text \\(25 diff",
        ),
        ("day", np.full(N, "2024-01-01", "datetime64[D]"), "column 'day' is constant"),
    ],
)
def test_columns_no_model_should_see_are_left_out_with_a_warning(name, values, message):
    with pytest.warns(cw.ClearwoodWarning, match=message):
        result = cw.read(with_feature(values, name))
    assert result.features == ("other",)
    assert str(result.role(name)) == "ignored"
    assert len(result.notes) == 1


@pytest.mark.parametrize(
    "values",
    [
        np.arange(N) ** 2,
        np.arange(N) + 0.5,
        [5.0] * (N - 1) + [None],
        ["a"] * (N - 1) + [None],
        [f"k{i}" for i in range(9)],
    ],
    ids=["distinct-whole", "fractions", "constant-or-missing", "level-or-missing", "few-rows"],
)
def test_columns_that_may_tell_something_stay(values):
    assert cw.read(with_feature(values)).features == ("x", "other")


def test_a_stated_kind_is_not_doubted():
    data = with_feature([f"k{i}" for i in range(N)], "shop")
    assert cw.read(data, kinds={"shop": "category"}).features == ("shop", "other")


def test_the_only_feature_stays_even_if_it_numbers_the_rows():
    assert cw.read({"x": range(N), "y": np.arange(N) % 3 + 0.5}, target="y").features == ("x",)


def test_a_category_with_thousands_of_levels_is_pointed_out():
    values = [f"level {i % 5000}" for i in range(15_000)]
    with pytest.warns(cw.ClearwoodWarning, match="'x' is a category with 5,000 levels"):
        result = cw.read(with_feature(values))
    assert result.features == ("x", "other")


def test_words_among_numbers_are_pointed_out():
    with pytest.warns(cw.ClearwoodWarning, match="column 'x' holds numbers except for .*'plenty'"):
        cw.read(with_feature([*(str(i % 9) for i in range(29)), "plenty"]))


@pytest.mark.parametrize("verb", [cw.read, cw.scan])
def test_numbers_that_are_named_like_codes_are_asked_about_and_others_are_not(tmp_path, verb):
    rng = np.random.default_rng(0)
    rows = {
        "product": rng.choice([10, 20, 30, 40], 300),
        "jobCode": rng.integers(1, 6, 300),
        "zip": rng.choice([10115, 20095, 80331], 300),
        "rooms": rng.integers(1, 6, 300),
        "stores": rng.integers(1, 200, 300),
        "year": rng.integers(2015, 2019, 300),
    }
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.warns(cw.ClearwoodWarning, match="if they are codes, set kinds=") as told:
        verb(tmp_path / "rows.csv")
    asked = [str(one.message).split("'")[1] for one in told]
    assert asked == ["product", "jobCode", "zip"]
