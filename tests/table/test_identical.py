import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table import Column, Kind, identical_rows


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, -0.0, 1.5, None]),
            st.sampled_from(["", "a", "b", None]),
            st.sampled_from(["2024-01-01", "2024-01-02", None]),
        ),
        min_size=2,
        max_size=40,
    )
)
def test_rows_have_one_number_exactly_where_all_values_are_equal(rows):
    number, text, day = zip(*rows, strict=True)
    days = np.array([np.datetime64(one or "NaT", "us") for one in day])
    columns = cw.read(
        {"number": np.array(number, float), "text": list(text), "day": days},
        kinds={"number": "number", "text": "category", "day": "date"},
    ).columns
    numbers = identical_rows(columns)
    shown = list(zip(*(column.labels() for column in columns), strict=True))
    keys = [tuple("missing" if v is None or v != v else v for v in row) for row in shown]
    same = [[one == other for other in keys] for one in keys]
    assert (numbers[:, None] == numbers[None, :]).tolist() == same


def test_numbers_follow_the_order_of_the_rows():
    columns = cw.read({"a": [7.5, 1.5, 7.5, 3.5], "b": list("xyxy")}).columns
    assert identical_rows(columns).tolist() == [0, 1, 0, 2]


def test_texts_are_compared_whole():
    texts = Column("a", Kind.TEXT, np.array(["x y", "x", "x y", None, ""], object))
    assert identical_rows([texts]).tolist() == [0, 1, 0, 2, 3]


def people(**options):
    rng = np.random.default_rng(0)
    person = rng.integers(0, 30, 120)
    data = {
        "age": rng.normal(50, 10, 30)[person],
        "town": rng.choice(["Bern", "Chur"], 30)[person],
        "year": np.arange(120) % 4 + 2020,
        "weight": rng.random(120),
        "y": rng.normal(size=120),
    }
    return cw.read(data, target="y", weight="weight", **options), person


def test_only_features_tie_identical_rows_together():
    table, person = people(time="year", group="identical rows")
    tied = table.groups[:, None] == table.groups[None, :]
    assert (tied == (person[:, None] == person[None, :])).all()
    assert table.group == "identical rows"
    assert "identical rows are one group" in repr(table)
    assert table.names == ("age", "town", "year", "weight", "y")


def test_some_rows_of_a_table_are_tied_as_in_the_whole():
    table, person = people(ignore="year", group="identical rows")
    rows = np.arange(0, 120, 3)
    tied = table.take(rows).groups
    assert (
        (tied[:, None] == tied[None, :]) == (person[rows][:, None] == person[rows][None, :])
    ).all()


def test_roles_set_anew_replace_the_groups():
    table, _ = people(ignore="year", group="identical rows")
    assert cw.read(table, target="y").groups is None
    assert cw.read(table, target="y", group="town").group == "town"


def test_a_column_of_that_name_is_refused():
    data = {"identical rows": range(8), "a": range(8), "y": [0.5] * 7 + [1.5]}
    with pytest.raises(cw.InputError, match="rename the column") as caught:
        cw.read(data, target="y", group="identical rows")
    assert (caught.value.parameter, caught.value.value) == ("group", "identical rows")


def test_a_misspelling_is_corrected():
    with pytest.raises(cw.InputError, match="did you mean 'identical rows'"):
        cw.read({"a": range(8), "y": range(8)}, target="y", group="identical row")
