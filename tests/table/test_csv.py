"""Text files: what is written is what is read, in every dialect."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table import Kind

words = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="\ufeff"),
    min_size=1,
    max_size=8,
).filter(lambda word: word not in ("NA", "N/A", "NaN", "nan", "NULL", "null"))
# quotes, delimiters and line ends inside cells are what separates readers from toys
awkward = st.sampled_from(['say "hi"', "a,b;c|d\te", "two\nlines", "two\r\nlines", "it's", "ü–é"])
numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 6))


@st.composite
def tables(draw):
    n_rows = draw(st.integers(2, 30))
    names = draw(st.lists(words, min_size=2, max_size=5, unique=True))
    columns = {}
    for name in names:
        cells = draw(st.sampled_from([numbers, st.integers(-(10**12), 10**12), words | awkward]))
        cells = st.none() | cells
        columns[name] = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    return columns


def write(columns, *, delimiter=",", line_end="\n", quoting=csv.QUOTE_MINIMAL, decimal="."):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None else as_cell(cell, decimal) for cell in row])
    return out.getvalue()


def as_cell(value, decimal):
    return repr(value).replace(".", decimal) if isinstance(value, float) else str(value)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    columns=tables(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    decimal=st.sampled_from([".", ","]),
    compressed=st.booleans(),
    named=st.booleans(),
)
def test_a_table_written_in_any_dialect_reads_back_equal(
    tmp_path, columns, delimiter, line_end, quoting, encoding, decimal, compressed, named
):
    if delimiter == decimal:
        delimiter = ";"
    text = write(
        columns, delimiter=delimiter, line_end=line_end, quoting=quoting, decimal=decimal
    ).encode(encoding)
    path = tmp_path / ("table.csv.gz" if compressed else "table.csv")
    path.write_bytes(gzip.compress(text) if compressed else text)
    kinds = {
        name: "number" if all(isinstance(v, int | float | None) for v in values) else "text"
        for name, values in columns.items()
    }
    # few short rows of odd words can look like another delimiter, which people then name
    result = cw.read(
        path,
        kinds=kinds,
        decimal=decimal,
        delimiter=delimiter if named or any_delimiter_in(columns) else None,
    )
    assert result.names == tuple(columns)
    for name, values in columns.items():
        column = result[name]
        if kinds[name] == "number":
            expected = [np.nan if value is None else float(value) for value in values]
            np.testing.assert_array_equal(column.values, expected)
        else:
            expected = [None if value is None else as_cell(value, decimal) for value in values]
            assert list(column.values) == expected


def any_delimiter_in(columns):
    text = "".join(str(cell) for values in columns.values() for cell in values)
    return any(sign in text + "".join(columns) for sign in ',;\t|"')


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "{end}", "{end}{end}"], ids=["cut", "ended", "blank-line"])
def test_line_ends_of_every_system_are_understood(tmp_path, line_end, last):
    path = tmp_path / "table.csv"
    text = line_end.join(["a,b", "1,x", "2,y"]) + last.format(end=line_end)
    path.write_bytes(text.encode())
    assert cw.read(path).to_dict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte-order-mark"])
@pytest.mark.parametrize("name", ["a", "a, b", "two\nlines"])
def test_a_quoted_header_is_read_with_and_without_a_mark(tmp_path, mark, name):
    path = tmp_path / "table.csv"
    path.write_bytes(f'{mark}"{name}","c"\n1,x\n2,y\n'.encode())
    assert cw.read(path).to_dict() == {name: [1, 2], "c": ["x", "y"]}


def test_spaces_around_names_and_cells_do_not_count(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(' age , town\n 31, "Bern, old town"\n45 ,Chur \n28,Chur\n')
    result = cw.read(path)
    assert result.to_dict() == {"age": [31, 45, 28], "town": ["Bern, old town", "Chur", "Chur"]}


@pytest.mark.parametrize("token", ["", "NA", "N/A", "NaN", "nan", "NULL", "null"])
def test_the_documented_words_are_missing(tmp_path, token):
    path = tmp_path / "table.csv"
    path.write_text(f"a,b\n1.5,x\n{token},{token}\n2.5,y\n")
    assert cw.read(path).missing == {"a": 1, "b": 1}


def test_none_and_a_question_mark_are_levels(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("garage\nNone\n?\nbuilt in\nNone\n")
    assert cw.read(path).levels == {"garage": ("?", "None", "built in")}


def test_a_word_far_down_turns_the_column_without_losing_a_cell(tmp_path):
    path = tmp_path / "table.csv"
    cells = [str(i % 17) for i in range(60_000)]
    cells[-1] = "plenty"
    path.write_text("x,y\n" + "\n".join(f"{cell},{i % 5}" for i, cell in enumerate(cells)) + "\n")
    with pytest.warns(
        cw.ClearwoodWarning,
        match=r"numbers except for 1 cell .*'plenty'.*missing=\{'x': \['plenty'",
    ):
        result = cw.read(path)
    assert list(result["x"].labels()) == cells


def test_fractions_far_down_are_not_rounded(tmp_path):
    path = tmp_path / "table.csv"
    cells = [str(i % 17) for i in range(60_000)]
    cells[-1] = "0.5"
    path.write_text("x,y\n" + "\n".join(f"{cell},{i % 5}" for i, cell in enumerate(cells)) + "\n")
    assert cw.read(path)["x"].values[-1] == 0.5


@pytest.mark.parametrize("late", ["NA", "null", "a new level", 'with "quotes", and commas', " a "])
def test_one_pass_and_two_give_the_same_table(tmp_path, monkeypatch, late):
    path = tmp_path / "table.csv"
    words = ["a", "it's", "", "b c"]
    rows = [[i / 7, i % 50, words[i % 4], f"m{i % 700}"] for i in range(25_000)]
    rows[-1][2] = rows[-2][3] = late
    rows[-3][1] = "NA" if late == "NA" else 1
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "n", "word", "many"], *rows])
    at_once = cw.read(path)
    monkeypatch.setattr("clearwood.table.sources.csv._MOST_COLUMNS_IN_ONE_PASS", 0)
    assert cw.read(path).fingerprint() == at_once.fingerprint()
    expected = None if late in ("NA", "null") else late.strip()
    assert at_once["word"].labels()[-1] == expected
    assert at_once.missing["n"] == (1 if late == "NA" else 0)


def test_codes_with_leading_zeros_keep_them(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("zip,x\n01234,1\n08005,2\n01234,4\n")
    result = cw.read(path)
    assert result["zip"].kind is Kind.CATEGORY
    assert result.levels["zip"] == ("01234", "08005")


def test_a_postcode_set_to_category_is_kept_as_written(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("zip,x\n8005,1\n8005.0,2\n8001,4\n")
    assert cw.read(path, kinds={"zip": "category"}).levels["zip"] == ("8001", "8005", "8005.0")


@pytest.mark.parametrize("name", ["table.tsv", "table.txt", "table"])
def test_tabs_are_found_whatever_the_ending(tmp_path, name):
    path = tmp_path / name
    path.write_text("a\tb\n1,5\tx\n2,5\ty\n")
    assert cw.read(path, decimal=",").to_dict() == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_files_that_are_not_utf8_are_read_with_a_warning(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("town,x\nZürich,1\nGenève,2\n".encode("cp1252"))
    with pytest.warns(cw.ClearwoodWarning, match="table.csv is not UTF-8; read as cp1252"):
        result = cw.read(path)
    assert result.levels["town"] == ("Genève", "Zürich")


def test_an_odd_letter_beyond_the_first_look_is_found_too(tmp_path):
    path = tmp_path / "table.csv"
    body = "".join(f"{i % 7},town\n" for i in range(60_000)) + "1,Zürich\n"
    path.write_bytes(("x,town\n" + body).encode("cp1252"))
    with pytest.warns(cw.ClearwoodWarning, match="read as cp1252"):
        result = cw.read(path)
    assert "Zürich" in result.levels["town"]


def test_the_encoding_can_be_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("town,x\nŁódź,1\nKraków,2\n".encode("cp1250"))
    assert cw.read(path, encoding="cp1250").levels["town"] == ("Kraków", "Łódź")


BAD_FILES = {
    "empty": (b"", r"bad.csv is empty"),
    "blank": (b" \n\n", r"bad.csv is empty"),
    "header only": (b"a,b\n", r"bad.csv has a header but no rows"),
    "same names": (b"a,b,a\n1,2,3\n", r"more than one column named 'a'"),
    "no name": (b"a,,c\n1,2,3\n", r"column 2 of bad.csv has no name in the header"),
    "short row": (b"a,b\n1,2\n3\n4,5\n", r"line 3 of bad.csv has 1 cells where the header has 2"),
    "long row": (b"a,b\n1,2\n3,4,5\n", r"line 3 of bad.csv has 3 cells where the header has 2"),
    "open quote": (b'a,b\n1,"x\n2,3\n', r"line 2 of bad.csv has a double quote .* never closed"),
    "infinite": (b"a,b\n1.5,2\ninf,3\n", r"column 'a' has 1 infinite value .*row 2"),
    "binary": (b"a,b\n\x00\x01,2\n", r"bad.csv holds binary data, not text"),
    "undecodable": (b"a,b\n\x81,2\n", r"bad.csv is neither UTF-8 nor cp1252: byte 4"),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_a_clear_message(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(cw.InputError, match=message):
        cw.read(path)


def test_a_ragged_row_far_down_is_named_by_its_line(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n" + "1,2\n" * 50_000 + "3\n")
    with pytest.raises(cw.InputError, match=r"line 50002 of bad\.csv has 1 cells"):
        cw.read(path)


def test_a_header_of_numbers_is_pointed_out(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("1,2\n3,4\n5,7\n")
    with pytest.warns(cw.ClearwoodWarning, match="taken as the header, but its cells are numbers"):
        cw.read(path)


def test_the_wrong_encoding_error_names_the_byte(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes("a,b\nZürich,2\n".encode("cp1252"))
    with pytest.raises(cw.InputError, match=r"not utf-8: byte 5 \(b'\\xfc'\)"):
        cw.read(path, encoding="utf-8")
    with pytest.raises(cw.InputError, match="encoding='latin-x'"):
        cw.read(path, encoding="latin-x")


def test_a_header_longer_than_the_first_look_is_read_whole(tmp_path):
    names = [f"column number {i} " + "of very many" * 20 for i in range(1_500)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n" + (",".join(["1", "x"] * 750) + "\n") * 3)
    with pytest.warns(cw.ClearwoodWarning, match="constant"):
        assert cw.read(path).names == tuple(names)


def test_only_two_decimal_signs_are_known(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(cw.InputError, match=r"decimal='x': the decimal sign must be '\.' or ','"):
        cw.read(path, decimal="x")


def test_a_delimiter_is_one_character(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(cw.InputError, match=r"delimiter='::': it must be one character"):
        cw.read(path, delimiter="::")


def test_lines_of_megabytes_are_read(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("number,words\n" + "1,short\n" * 9 + "2," + "x" * 3_000_000 + "\n")
    with pytest.warns(cw.ClearwoodWarning, match="'words' is text"):
        data = cw.read(path, kinds={"words": "text"})
    assert len(data["words"].values[-1]) == 3_000_000
