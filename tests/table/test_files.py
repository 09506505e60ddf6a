"""Files by their ending."""

import json
import os

import pytest

import clearwood as cw
from clearwood.table import Kind

pl = pytest.importorskip("polars")

COLUMNS = {
    "age": [31, None, 28, 45],
    "weight": [80.5, 71.25, None, 60.0],
    "town": ["Chur", "Bern", None, "Chur"],
    "member": [True, False, None, True],
}


@pytest.fixture
def frame():
    return pl.DataFrame(COLUMNS).with_columns(
        joined=pl.Series(["2024-02-29", None, "2023-12-31", "2024-01-01"]).str.to_date()
    )


def check(result):
    table = result.to_dict()
    joined = [None if day is None else day.isoformat()[:10] for day in table.pop("joined")]
    assert table == COLUMNS
    assert joined == ["2024-02-29", None, "2023-12-31", "2024-01-01"]
    assert [str(kind) for kind in result.kinds.values()] == [
        "whole number",
        "number",
        "category",
        "yes/no",
        "date",
    ]


def test_parquet_is_read(tmp_path, frame):
    frame.write_parquet(tmp_path / "table.parquet")
    check(cw.read(tmp_path / "table.parquet"))


def test_parquet_categories_are_categories(tmp_path, frame):
    frame.with_columns(pl.col("town").cast(pl.Categorical)).write_parquet(tmp_path / "t.parquet")
    result = cw.read(tmp_path / "t.parquet")
    assert result["town"].kind is Kind.CATEGORY
    assert result.levels["town"] == ("Bern", "Chur")


@pytest.mark.parametrize("ending", ["feather", "arrow", "ipc"])
def test_feather_is_read(tmp_path, frame, ending):
    frame.write_ipc(tmp_path / f"table.{ending}")
    check(cw.read(tmp_path / f"table.{ending}"))


@pytest.mark.parametrize("ending", ["jsonl", "ndjson"])
def test_json_lines_are_read(tmp_path, frame, ending):
    frame.write_ndjson(tmp_path / f"table.{ending}")
    check(cw.read(tmp_path / f"table.{ending}"))


def test_a_json_list_of_rows_is_read(tmp_path):
    (tmp_path / "table.json").write_text(json.dumps([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]))
    assert cw.read(tmp_path / "table.json").to_dict() == {"a": [1, 2], "b": ["x", "y"]}


def test_names_may_hold_quotes_and_differ_in_case_only(tmp_path):
    columns = {'the "a"': [1, 2, 4], "b": [1.5, 2.5, 2.5], "it's": ["x", "y", "x"]}
    pl.DataFrame(columns).write_parquet(tmp_path / "table.parquet")
    assert cw.read(tmp_path / "table.parquet").to_dict() == columns
    (tmp_path / "table.csv").write_text("x,X\n1,a\n2,b\n")
    assert cw.read(tmp_path / "table.csv").to_dict() == {"x": [1, 2], "X": ["a", "b"]}


def test_feather_without_a_library_names_the_extra(tmp_path, monkeypatch, frame):
    frame.write_ipc(tmp_path / "table.feather")
    for name in ("pyarrow", "pyarrow.feather", "polars"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(cw.MissingExtraError, match=r"pip install 'clearwood\[arrow\]'"):
        cw.read(tmp_path / "table.feather")


def test_no_such_file_offers_the_nearest(tmp_path):
    (tmp_path / "claims.csv").write_text("a\n1\n")
    with pytest.raises(cw.InputError, match=r"no file .*claim.csv.*did you mean 'claims.csv'"):
        cw.read(tmp_path / "claim.csv")
    with pytest.raises(cw.InputError, match=r"the folder .*nowhere does not exist"):
        cw.read(tmp_path / "nowhere" / "claims.csv")


def test_signs_in_a_file_name_stand_for_themselves(tmp_path):
    for name in ("a[1].csv", "a*.csv", "a1.csv", "ab.csv"):
        (tmp_path / name).write_text(f"name\n{name}\n{name[::-1]}\n")
    for name in ("a[1].csv", "a*.csv"):
        assert cw.read(tmp_path / name).to_dict()["name"][0] == name


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(cw.InputError, match="is a pipe or a device"):
        cw.read(tmp_path / "pipe.csv")


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(cw.InputError, match="has no file that holds a table"):
        cw.read(tmp_path)


def test_an_unknown_ending_error_lists_the_known(tmp_path):
    (tmp_path / "table.sav").write_bytes(b"PK")
    with pytest.raises(cw.InputError, match=r"table.sav has an unknown file extension.*\.parquet"):
        cw.read(tmp_path / "table.sav")


@pytest.mark.parametrize(
    ("name", "said"),
    [("table.xlsx", "is a workbook.*save the sheet as CSV"), ("model.cw", "is a model file")],
)
def test_files_that_are_no_tables_are_named_for_what_they_are(tmp_path, name, said):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(cw.InputError, match=f"{name} {said}"):
        cw.read(tmp_path / name)


@pytest.mark.parametrize("name", ["bad.parquet", "bad.feather", "bad.jsonl", "bad.csv.gz"])
def test_a_broken_file_is_refused_by_name(tmp_path, name):
    (tmp_path / name).write_bytes(b"{this is nothing, of the kind")
    with pytest.raises(cw.InputError, match=name.replace(".", r"\.")):
        cw.read(tmp_path / name)


@pytest.mark.parametrize("name", ["empty.parquet", "empty.feather", "empty.jsonl"])
def test_an_empty_file_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(cw.InputError, match=f"{name} is empty"):
        cw.read(tmp_path / name)


def test_lists_in_cells_are_refused(tmp_path):
    (tmp_path / "table.jsonl").write_text('{"a": [1, 2]}\n{"a": [3]}\n')
    with pytest.raises(cw.InputError, match=r"column 'a' holds bigint\[\] values"):
        cw.read(tmp_path / "table.jsonl")


def test_parquet_under_another_name_is_read_as_what_it_is(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"age": [31, 45, 28], "town": ["Chur", "Bern", "Chur"]}).write_parquet(path)
    path.rename(tmp_path / "table.csv")
    with pytest.warns(cw.ClearwoodWarning, match=r"table\.csv is a Parquet file"):
        assert cw.read(tmp_path / "table.csv").names == ("age", "town")


@pytest.mark.parametrize("text", ['{"age": 31}\n{"age": 45}\n', '[{"age": 31}, {"age": 45}]'])
def test_json_under_another_name_is_read_as_what_it_is(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.warns(cw.ClearwoodWarning, match=r"table\.csv is JSON"):
        assert cw.read(path)["age"].values.tolist() == [31, 45]


FOREIGN = {
    "workbook": (b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", "workbook.*save .* as CSV"),
    "old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook"),
    "zip": (b"PK\x03\x04" + bytes(26) + b"table.csv", "a zip archive.*unpack"),
    "gzip": (b"\x1f\x8b\x08\x00", r"compressed by gzip.*add \.gz"),
    "pdf": (b"%PDF-1.7\n", "a PDF document"),
    "database": (b"SQLite format 3\0", "an SQLite database"),
    "page": (b"<!DOCTYPE html><html>", "an HTML page"),
}


@pytest.mark.parametrize(("content", "message"), FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "table"])
def test_a_file_that_holds_something_else_is_named(tmp_path, content, message, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cw.InputError, match=message):
        cw.read(tmp_path / name)
