"""Labels: shown everywhere in place of the headers, which still find the columns."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor

import clearwood as cw
from clearwood.table import as_table, read_as

LABELS = {
    "sqm": {"name": "Living area", "unit": "m²", "description": "Heated floor area."},
    "rooms": "Rooms",
    "size": {"order": ["S", "M", "L"]},
    "price": {"name": "Price", "unit": "CHF"},
}


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    area, rooms = rng.uniform(20, 150, 120), rng.integers(1, 6, 120)
    return {
        "sqm": area,
        "rooms": rooms,
        "size": rng.choice(["S", "M", "L"], 120),
        "price": 3 * area + 10 * rooms + rng.normal(size=120),
    }


@pytest.fixture(scope="module")
def data(columns):
    return cw.read(columns, target="price", labels=LABELS)


def test_columns_are_called_by_their_labels(data):
    assert data.names == ("Living area (m²)", "Rooms", "size", "Price (CHF)")
    assert data.target == "Price (CHF)"
    assert data["size"].levels == ("S", "M", "L")
    assert data["size"].kind == "ordered category"


def test_headers_still_find_the_columns(data):
    assert data["sqm"] is data["Living area (m²)"]
    assert data["sqm"].description == "Heated floor area."
    assert data.select(["sqm", "price"]).target == "Price (CHF)"


def test_roles_and_kinds_may_use_either_name(columns):
    by_label = cw.read(
        columns, target="Price (CHF)", protected="Rooms", kinds={"Rooms": "number"}, labels=LABELS
    )
    by_header = cw.read(
        columns, target="price", protected=["rooms"], kinds={"rooms": "number"}, labels=LABELS
    )
    assert by_label.schema == by_header.schema


def test_labels_come_from_a_file(tmp_path, columns, data):
    path = tmp_path / "labels.toml"
    path.write_text(
        'rooms = "Rooms"\n[sqm]\nname = "Living area"\nunit = "m²"\n'
        'description = "Heated floor area."\n[size]\norder = ["S", "M", "L"]\n'
        '[price]\nname = "Price"\nunit = "CHF"\n',
        encoding="utf-8",
    )
    assert cw.read(columns, target="price", labels=path).schema == data.schema


def test_a_model_takes_rows_with_and_without_labels(columns, data):
    model = cw.learner("ridge").fit(data)
    expected = model.predict(data)
    np.testing.assert_array_equal(model.predict(columns), expected)
    np.testing.assert_array_equal(model.predict(cw.read(columns, target="price")), expected)
    plain = cw.learner("ridge").fit(
        cw.read(columns, target="price", kinds={"size": ["S", "M", "L"]})
    )
    np.testing.assert_allclose(plain.predict(data), expected)


def test_labels_are_saved_with_the_model(tmp_path, columns, data):
    path = tmp_path / "model.cw"
    cw.save(cw.learner("ridge").fit(data), path)
    loaded = cw.load(path)
    assert loaded.schema_ == data.schema
    again = read_as(columns, loaded.schema_)
    assert again.target == "Price (CHF)"
    assert again["price"].unit == "CHF"
    assert as_table(columns, schema=loaded.schema_)["sqm"].header == "sqm"


def test_explanations_show_labels_and_take_headers(data):
    model = cw.learner("gbm", max_iter=5).fit(data)
    why = cw.explain(model, data)
    assert "Living area (m²)" in repr(why.importance())
    assert why.effect("sqm").columns == ("Living area (m²)",)
    assert why.effect("sqm", kind="component").columns == ("Living area (m²)",)
    assert why.what_if(0, {"sqm": 50.0}).columns == ("Living area (m²)",)
    assert "Living area (m²)" in str(why.effect("sqm").plot().to_dict())


@pytest.mark.parametrize("model", [RandomForestRegressor(3), KNeighborsRegressor()], ids=str)
def test_models_of_other_libraries_are_explained_under_their_own_names(columns, data, model):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({name: columns[name] for name in ("sqm", "rooms")})
    model.fit(frame, columns["price"])
    labelled = data.select(["sqm", "rooms"])
    assert cw.effect(model, labelled, "sqm").columns == ("sqm",)
    assert cw.importance(model, labelled).columns == ("sqm", "rooms")


def test_code_that_runs_on_the_data_names_its_columns_as_they_do(data):
    model = cw.learner("gbm", max_iter=2, max_leaf_nodes=3).fit(data)
    tree = cw.condense(model, data)
    assert '"sqm"' in tree.to_sql(table="flats")
    assert "'sqm'" in tree.to_python()
    assert "Living area (m²)" in str(tree.rules())


def test_exports_have_labels(data):
    assert list(data.to_dict()) == list(data.names)


def test_new_roles_keep_labels(data):
    again = cw.read(data, target="Rooms")
    assert again["sqm"].unit == "m²"
    assert again.target == "Rooms"


BAD = {
    "unknown column": ({"sqn": "x"}, "labels: there is no column 'sqn'.*did you mean 'sqm'"),
    "unknown key": ({"sqm": {"units": "m"}}, "an unknown 'units'.*did you mean 'unit'"),
    "number": ({"sqm": 3}, "column 'sqm' has 3.*it takes a name"),
    "unit is not text": ({"sqm": {"unit": 2}}, "the unit of column 'sqm' must be a text, not 2"),
    "empty name": ({"sqm": {"name": " "}}, "the name of column 'sqm' must be a text"),
    "order is not a list": ({"size": {"order": "S"}}, "the order .* must be a list of levels"),
    "same name": ({"sqm": "Rooms", "rooms": "Rooms"}, "two columns are called 'Rooms'"),
    "name of another": ({"sqm": "rooms"}, "two columns are called 'rooms'"),
    "levels missing": ({"size": {"order": ["S", "M"]}}, "levels that its order does not name: 'L'"),
}


@pytest.mark.parametrize(("labels", "message"), BAD.values(), ids=BAD)
def test_labels_that_cannot_be_used_are_refused(columns, labels, message):
    with pytest.raises(cw.InputError, match=message):
        cw.read(columns, target="price", labels=labels)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"labels\.toml: cannot be read"),
        ("[sqm\n", r"labels\.toml: is not valid TOML"),
        ("[sqn]\nname = 'x'\n", r"labels\.toml: there is no column 'sqn'"),
    ],
)
def test_a_file_of_labels_that_cannot_be_used_is_refused(tmp_path, columns, text, message):
    path = tmp_path / "labels.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(cw.InputError, match=message) as caught:
        cw.read(columns, labels=path)
    assert caught.value.parameter == "labels"
