"""New data takes the shape of the data a model was fitted on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table import Kind, Schema, as_table, read_as

N = 20
TRAINING = {
    "age": [31, 45, 28, 60] * 5,
    "height": [1.8, 1.7, 1.65, 1.9] * 5,
    "town": ["Chur", "Bern", "Basel", "Chur"] * 5,
    "smokes": ["no", "yes", "no", "yes"] * 5,
    "size": ["S", "M", "L", "S"] * 5,
    "joined": ["2024-01-01", "2024-02-29", "2023-12-31", "2024-01-01"] * 5,
    "zip": ["01234", "08005", "01234", "09000"] * 5,
    "remark": ["x", "y", "x", "z"] * 5,
    "y": np.arange(N) / 7,
}


@pytest.fixture(scope="module")
def schema():
    table = cw.read(TRAINING, target="y", ignore="remark", kinds={"size": ["S", "M", "L"]})
    # as a model file would have it
    return Schema.from_json(table.schema.to_json())


@pytest.fixture
def new():
    return {name: values[:3] for name, values in TRAINING.items() if name not in ("y", "remark")}


def test_the_same_rows_come_back_the_same(schema):
    table = cw.read(TRAINING, target="y", ignore="remark", kinds={"size": ["S", "M", "L"]})
    for source in (TRAINING, table, table.X, table.to_frame("pandas"), table.to_frame("polars")):
        result = as_table(source, schema=schema)
        assert result.X.fingerprint() == table.X.fingerprint()


def test_a_file_comes_back_the_same(schema, tmp_path, new):
    path = tmp_path / "new.csv"
    rows = zip(*new.values(), strict=True)
    path.write_text(
        ",".join(new) + "\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    )
    result = as_table(path, schema=schema)
    assert result.fingerprint() == as_table(new, schema=schema).fingerprint()
    assert result["zip"].labels().tolist() == ["01234", "08005", "01234"]


@given(st.permutations(["age", "height", "town", "smokes", "size", "joined", "zip", "y"]))
def test_the_order_of_columns_does_not_matter(schema, names):
    result = as_table({name: TRAINING[name] for name in names}, schema=schema)
    assert result.names == schema.features


def test_one_row_is_enough(schema, new):
    result = as_table({name: values[:1] for name, values in new.items()}, schema=schema)
    assert result.shape == (1, 7)
    assert result["town"].levels == ("Basel", "Bern", "Chur")


def test_columns_of_the_training_table_are_dropped_silently(schema, new):
    assert as_table({**new, "y": [1, 2, 3], "remark": ["?"] * 3}, schema=schema).shape == (3, 7)


def test_an_extra_column_is_ignored_with_a_warning(schema, new):
    with pytest.warns(
        cw.ClearwoodWarning, match="the model was not fitted with; ignored: 'colour'"
    ):
        assert "colour" not in as_table({**new, "colour": ["red"] * 3}, schema=schema).names


def test_missing_columns_are_listed_with_the_nearest_name(schema, new):
    new["Height"] = new.pop("height")
    del new["age"]
    with pytest.raises(cw.InputError, match=r"lacks the columns 'age', 'height'"):
        as_table(new, schema=schema)
    new["age"] = [1, 2, 3]
    with pytest.raises(cw.InputError, match=r"lacks the column 'height'.*did you mean 'Height'"):
        as_table(new, schema=schema)


def test_unseen_levels_come_after_the_known_with_a_warning(schema, new):
    new["town"] = ["Genf", "Bern", None]
    with pytest.warns(
        cw.ClearwoodWarning, match="column 'town' has levels .*was not fitted with: 'Genf'"
    ):
        column = as_table(new, schema=schema)["town"]
    assert column.levels == ("Basel", "Bern", "Chur", "Genf")
    np.testing.assert_array_equal(column.values, [3, 1, -1])


def test_at_most_three_unseen_levels_are_named(schema, new):
    new = {name: values * 2 for name, values in new.items()}
    new["town"] = ["e", "d", "c", "b", "a", "Bern"]
    with pytest.warns(cw.ClearwoodWarning, match="not fitted with: 'a', 'b', 'c', …$"):
        as_table(new, schema=schema)


def test_whole_numbers_and_fractions_are_interchangeable(schema, new):
    new["age"], new["height"] = [31.5, 2.0, None], [2, 1, 2]
    result = as_table(new, schema=schema)
    np.testing.assert_array_equal(result["age"].values, [31.5, 2.0, np.nan])
    assert result["age"].kind is Kind.WHOLE
    assert result["height"].kind is Kind.NUMBER


def test_a_word_where_a_number_was_is_named(schema, new):
    new["age"] = ["31", "old", "28"]
    with pytest.raises(cw.InputError, match="column 'age' should hold numbers but has 'old'"):
        as_table(new, schema=schema)


def test_a_word_where_a_date_was_is_named(schema, new):
    new["joined"] = ["2024-01-01", "soon", None]
    with pytest.raises(cw.InputError, match="column 'joined' should hold dates"):
        as_table(new, schema=schema)


def test_numbers_where_a_category_was_become_its_levels():
    training = {"zip": [8001, 8005, 8001], "x": [1.5, 2.5, 3.5]}
    schema = cw.read(training, kinds={"zip": "category"}).schema
    result = as_table({"zip": [8005.0, None], "x": [1, 2]}, schema=schema)["zip"]
    assert list(result.labels()) == ["8005", None]
    result = as_table({"zip": ["8005.0", "8001"], "x": [1, 2]}, schema=schema)["zip"]
    assert list(result.labels()) == ["8005", "8001"]


@pytest.mark.parametrize(
    "values", [["NO", "YES", None], [False, True, None], [0, 1, None], ["n", "Y", ""]]
)
def test_yes_and_no_are_understood_in_other_words(schema, new, values):
    new["smokes"] = [None if value == "" else value for value in values]
    np.testing.assert_array_equal(as_table(new, schema=schema)["smokes"].values, [0, 1, -1])


def test_a_column_without_values_is_missing_whatever_its_kind(schema, new):
    empty = {name: [None] * 3 for name in new}
    with pytest.warns(cw.ClearwoodWarning, match="3 of 3 rows have no value in any column"):
        result = as_table(empty, schema=schema)
    assert set(result.missing.values()) == {3}


def test_an_array_is_taken_by_position():
    schema = as_table({"a": [1.5, 2.5], "b": [3.5, 4.5]}).schema
    result = as_table(np.array([[1.0, 2.0]]), schema=schema)
    assert result.to_dict() == {"a": [1.0], "b": [2.0]}
    assert as_table([[1.0, 2.0]], schema=schema).to_dict() == {"a": [1.0], "b": [2.0]}


def test_an_array_of_another_width_is_refused():
    schema = as_table(np.ones((3, 2))).schema
    with pytest.raises(cw.InputError, match=r"X has 3 features, but .* is expecting 2 features"):
        as_table(np.ones((3, 3)), schema=schema)


def test_infinite_values_are_refused(schema, new):
    new["height"] = [1.8, np.inf, 1.7]
    with pytest.raises(cw.InputError, match="column 'height' has 1 infinite value"):
        as_table(new, schema=schema)


def test_classes_that_are_numbers_stay_numbers_in_files_that_are_read_as_a_models(tmp_path):
    path = tmp_path / "loans.csv"
    path.write_text("risk,income\n" + "\n".join(f"{1 + k % 2},{k}" for k in range(40)))
    first = cw.read(path, target="risk")
    again = read_as(path, Schema.from_json(first.schema.to_json()))
    assert first.y.dtype.kind == "i"
    np.testing.assert_array_equal(again.y, first.y)


def test_classes_that_are_texts_stay_texts(tmp_path):
    path = tmp_path / "loans.csv"
    path.write_text("risk,income\n" + "\n".join(f"0{1 + k % 2},{k}" for k in range(40)))
    first = cw.read(path, target="risk", kinds={"risk": "category"})
    again = read_as(path, Schema.from_json(first.schema.to_json()))
    assert first.y.dtype.kind == "U"
    np.testing.assert_array_equal(again.y, first.y)
