"""Numbers as people write them are numbers; codes, dates and versions are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table import Kind, as_table

pytestmark = pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")

CONVENTIONS = {
    "german": (".", ","),
    "english": (",", "."),
    "french": ("\u202f", ","),
    "no-break space": ("\u00a0", ","),
    "thin space": ("\u2009", "."),
    "swiss": ("'", "."),
    "swiss, typographic": ("\u2019", "."),
}


def written(value, thousands, decimal, digits=2):
    text = f"{value:,.{digits}f}"
    return text.replace(",", "T").replace(".", decimal).replace("T", thousands)


def read_column(cells, **options):
    return cw.read({"x": cells}, **options)["x"]


@pytest.mark.parametrize(("thousands", "decimal"), CONVENTIONS.values(), ids=CONVENTIONS)
@given(cents=st.lists(st.integers(-(10**9), 10**9), min_size=5, max_size=30))
def test_every_convention_gives_back_the_numbers(thousands, decimal, cents):
    values = [c / 100 for c in [*cents, 123456, 7]]
    column = read_column([written(value, thousands, decimal) for value in values])
    assert column.kind in (Kind.NUMBER, Kind.WHOLE)
    np.testing.assert_array_equal(column.values, values)


@pytest.mark.parametrize(("thousands", "decimal"), CONVENTIONS.values(), ids=CONVENTIONS)
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_file_in_a_convention_is_read_in_it(tmp_path, thousands, decimal, delimiter):
    values = [1693.66, 12.5, 0.75, 1234567.0, 999.0, 20.0]
    rows = [
        delimiter.join([written(v, thousands, decimal), f"{v:.1f}".replace(".", decimal)])
        for v in values
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([f"a{delimiter}b", *rows]), encoding="utf-8")
    data = cw.read(path)
    np.testing.assert_array_equal(data["a"].values, values)
    np.testing.assert_array_equal(data["b"].values, np.round(values, 1))


@pytest.mark.parametrize(
    "cell",
    ["1.200 €", "€ 1.200", "EUR 1.200", "1.200 EUR", "1.200,00€", "CHF 1'200.–", "Fr. 1’200.-",
     "$1,200", "-$1,200.00", "$(1,200)", "1 200 kr", "1,200.00 GBP"],
)  # fmt: skip
def test_currencies_may_stand_before_or_after(cell):
    sign = -1 if cell.startswith(("-", "$(")) else 1
    if cell == "$(1,200)":
        cell = "($1,200)"
    column = read_column([cell, cell.replace("200", "300"), cell.replace("200", "250")])
    assert column.values.tolist() == [sign * 1200, sign * 1300, sign * 1250]


def test_per_cents_are_numbers_of_per_cent():
    assert read_column(["12 %", "7.5%", "0", "100 %"]).values.tolist() == [12, 7.5, 0, 100]


def test_a_share_among_per_cents_is_not_guessed():
    assert read_column(["12 %", "0.07", "9 %", "12 %", "9 %"]).kind is Kind.CATEGORY


def test_amounts_in_two_currencies_are_not_one_number():
    assert read_column(["5 €", "5 $", "5 €", "5 $", "5 €"]).kind is Kind.CATEGORY


@pytest.mark.parametrize(
    "cells",
    {
        "leading zeros": ["01234", "8001", "02134", "8001", "01234"],
        "versions": ["1.2.3", "1.10.2", "1.2.3", "1.10.2", "2.0.1"],
        "telephones": ["044 123 45 67", "031 322 11 11", "044 123 45 67", "031 322 11 11"],
        "long telephones": [f"{n} 456 789" for n in (123, 223, 323, 423, 523, 623)],
        "addresses": ["192.168.100.200", "10.0.0.1", "192.168.100.200", "10.0.0.1"],
        "ranges": ["5-10", "10-20", "5-10", "10-20", "20-50"],
        "grouped wrongly": ["1,23,456", "12,34", "1,23,456", "12,34", "1,2,3"],
        "keys": ["A-1", "A-2", "A-1", "A-2", "A-1"],
    }.items(),
    ids=lambda pair: pair[0],
)
def test_codes_are_not_numbers(cells):
    assert read_column(cells[1]).kind in (Kind.CATEGORY, Kind.TEXT, Kind.YES_NO)


def test_dates_stay_dates():
    assert read_column(["24.12.2024", "1.3.2025", "5.6.2023"]).kind is Kind.DATE


@pytest.mark.parametrize("word", ["unknown", "k.A.", "n/a", "-", "?", "–", "Unbekannt", "#NV", "."])
def test_words_for_missing_among_numbers_are_missing(word):
    column = read_column(["31", "45", word, "28", "60", word, "45"])
    assert column.kind is Kind.WHOLE
    assert column.n_missing == 2


def test_words_for_missing_among_dates_are_missing():
    column = read_column(["24.12.2024", "k.A.", "1.3.2025", "-", "5.6.2023"])
    assert column.kind is Kind.DATE
    assert column.n_missing == 2


def test_numbers_in_several_units_are_pointed_out():
    with pytest.warns(cw.ClearwoodWarning, match=r"column 'x' .*several units \(\$, €\)"):
        read_column(["5 €", "5 $", "5 €", "5 $", "5 €"])
    with pytest.warns(cw.ClearwoodWarning, match=r"column 'x' .*several units \(%, no unit\)"):
        read_column(["12 %", "0.07", "9 %", "12 %", "9 %"])


def test_the_unit_is_kept():
    data = cw.read({"x": ["12 CHF", "13.5 CHF", "9 CHF"]})
    assert data["x"].unit == "CHF"
    assert "9 to 13.5 CHF" in repr(data)


def test_conversions_are_counted_by_column():
    cells = {"price": ["1.693,66", "12,5", "k.A.", "3"], "age": ["31", "?", "-", "40"]}
    with pytest.warns(cw.ClearwoodWarning) as caught:
        data = cw.read(cells)
    notes = " ".join(str(one.message) for one in caught)
    assert "'price' (2 cells, such as '1.693,66')" in notes
    assert "'price' (1 × 'k.A.'), 'age' (1 × '?', 1 × '-')" in notes
    assert len(data.notes) == 2


def test_words_are_kept_on_demand():
    column = read_column(["31", "45", "?", "28", "31", "?"], missing=[""])
    assert column.kind is Kind.CATEGORY
    assert "?" in column.levels


def test_stated_words_are_missing_in_every_column_or_in_one():
    cells = {"age": ["31", "999", "45", "28"], "town": ["Chur", "none given", "Bern", "999"]}
    everywhere = cw.read(cells, missing=["999", "none given"])
    assert everywhere.missing == {"age": 1, "town": 2}
    assert cw.read(cells, missing={"age": ["999"]}).missing == {"age": 1, "town": 0}
    numbers = cw.read({"age": [31.0, 999.0, 45.0]}, missing={"age": ["999"]})
    assert numbers.missing == {"age": 1}


def test_numbers_of_thousands_without_decimals_are_decided_by_the_other_columns():
    doubtful = ["1,234", "5,678", "9,012"]
    assert read_column(doubtful).values.tolist() == [1234, 5678, 9012]
    with_commas = cw.read({"x": doubtful, "y": ["1,5", "2,25", "3,0"]})
    assert with_commas["x"].values.tolist() == [1.234, 5.678, 9.012]
    with_points = cw.read({"x": doubtful, "y": ["$1.5", "$2.25", "$3.0"]})
    assert with_points["x"].values.tolist() == [1234, 5678, 9012]


def test_doubt_is_reported_with_the_option_that_decides_otherwise():
    with pytest.warns(cw.ClearwoodWarning, match=r"'x' \(3 cells, such as '1,234'\).*decimal=','"):
        read_column(["1,234", "5,678", "9,012"])
    assert read_column(["1,234", "5,678", "9,012"], decimal=",").values.tolist() == [
        1.234, 5.678, 9.012
    ]  # fmt: skip
    assert read_column(["1.234", "5.678", "9.012"], thousands=".").values.tolist() == [
        1234, 5678, 9012
    ]  # fmt: skip
    assert read_column(["1,234", "5,678", "9,012"], thousands="").values.tolist() == [
        1.234, 5.678, 9.012
    ]  # fmt: skip


def test_thousands_in_a_german_file_follow_its_decimals(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("people;area\n1.234;12,5\n950;3,75\n12.345;100,0\n")
    data = cw.read(path)
    assert data["people"].values.tolist() == [1234, 950, 12345]
    assert data["area"].values.tolist() == [12.5, 3.75, 100]


def test_thousands_alone_are_seen_in_a_file_of_semicolons(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("people;town\n1.234;a\n950;b\n12.345;a\n1.001;b\n")
    assert cw.read(path)["people"].values.tolist() == [1234, 950, 12345, 1001]


def test_plain_decimals_of_three_digits_stay_decimals(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1.234,a\n5,b\n12.345,a\n1.001,b\n")
    assert cw.read(path)["x"].values.tolist() == [1.234, 5, 12.345, 1.001]
    assert read_column(["1.234", "5", "12.345"]).values.tolist() == [1.234, 5, 12.345]


def test_a_stated_category_keeps_its_text():
    column = read_column(["1,234", "5,678", "1,234"], kinds={"x": "category"})
    assert column.levels == ("1,234", "5,678")


def test_a_stated_number_with_an_unknown_word_is_offered_the_option():
    with pytest.raises(cw.InputError, match=r"'plenty'.*missing=\{'x': \['plenty'\]\}"):
        read_column(["1", "2", "plenty"], kinds={"x": "number"})


def test_new_data_is_read_like_the_training_data():
    data = {"x": [f"{i},5" for i in range(30)], "y": [i * 2.0 for i in range(30)]}
    model = cw.learner("ols").fit(cw.read(data, target="y"))
    predicted = model.predict({"x": ["3,5", "4,5", "k.A."]})
    np.testing.assert_allclose(predicted[:2], [6, 8], atol=1e-9)
    assert np.isfinite(predicted).all()


def test_doubtful_numbers_in_new_data_are_read_as_in_the_training_data(tmp_path):
    path = tmp_path / "train.csv"
    path.write_text("x;y\n" + "".join(f"{i},5;{2 * i}\n" for i in range(30)))
    model = cw.learner("ols").fit(cw.read(path, target="y"))
    cw.save(model, tmp_path / "model.cw")
    new = tmp_path / "new.csv"
    new.write_text("x;z\n1,234;a\n5,678;b\n")
    predicted = cw.load(tmp_path / "model.cw").predict(as_table(new, schema=model.schema_))
    np.testing.assert_allclose(predicted, [2 * 0.734, 2 * 5.178])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": "x"}, "the decimal sign must be"),
        ({"thousands": "x"}, "thousands are grouped by"),
        ({"thousands": ",", "decimal": ","}, "it is the decimal sign as well"),
        ({"missing": "?"}, r"list of words.*missing=\['\?'\]"),
        ({"missing": {"y": ["?"]}}, r"no column 'y' \(set in missing\).*'x'"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.read({"x": ["1", "2"]}, **options)
