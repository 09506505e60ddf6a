"""Folders, patterns, lists, addresses and lazy frames as tables in parts."""

import gzip
import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import clearwood as cw
from clearwood.table import Parts, as_table, read_as


def table(n=90, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "town": rng.choice(["Lund", "Bern", "Chur", None], n),
            "flag": rng.random(n) < 0.5,
            "day": np.datetime64("2024-01-01") + rng.integers(0, 30, n),
            "rooms": rng.integers(1, 9, n),
            "y": rng.normal(size=n),
        }
    )


def write(frame, path, **options):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)


@pytest.fixture
def folder(tmp_path):
    """A table in three Parquet files of unequal size, one of them empty, in two orders."""
    frame, path = table(), tmp_path / "table"
    path.mkdir()
    write(frame[:50], path / "a.parquet", row_group_size=20)
    write(frame[50:50], path / "b.parquet")
    write(frame[50:][list(frame.columns)[::-1]], path / "c.parquet")
    (path / "_SUCCESS").touch()
    return path


@pytest.fixture
def whole(tmp_path):
    write(table(), tmp_path / "whole.parquet")
    return cw.read(tmp_path / "whole.parquet", target="y")


def same(parts, table):
    assert isinstance(parts, Parts)
    assert parts.schema == table.schema
    assert parts.to_table().fingerprint() == table.fingerprint()


@pytest.mark.parametrize("pattern", ["", "*.parquet", "[abc].parquet"])
def test_a_folder_or_pattern_is_the_table_of_all_its_files(folder, whole, pattern):
    same(cw.scan(folder / pattern, target="y"), whole)


def test_a_list_of_files_is_one_table(folder, whole):
    paths = [folder / "a.parquet", str(folder / "c.parquet")]
    same(cw.scan(paths, target="y"), whole)


def test_rows_that_are_drawn_do_not_depend_on_where_they_are(folder, whole, tmp_path):
    drawn = cw.scan(folder, target="y").sample(20)
    for source in (folder, tmp_path / "whole.parquet", table(), whole):
        one = cw.read(source, target="y", draw_rows=20)
        assert isinstance(one, cw.Table)
        assert one.n_rows == 20
        np.testing.assert_array_equal(one.y, drawn.y)
    assert cw.read(folder, draw_rows=1000).n_rows == 90
    with pytest.raises(cw.InputError, match="draw_rows=0: it must be a whole number of at least 1"):
        cw.read(folder, draw_rows=0)


def test_a_folder_that_fits_is_read_into_memory(folder, whole):
    read = cw.read(folder, target="y")
    assert isinstance(read, cw.Table)
    assert read.schema == whole.schema
    assert read.fingerprint() == whole.fingerprint()


def test_a_table_for_which_there_is_no_memory_is_refused(folder, whole, monkeypatch):
    one, lazy = folder / "a.parquet", pl.scan_parquet(folder / "a.parquet")
    monkeypatch.setattr("clearwood.table.reading.scan.memory_limit", lambda: 1000)
    for source in (folder, one, [one, folder / "c.parquet"], lazy):
        with pytest.raises(cw.InputError, match=r"7 times as much.*cw\.scan\(\.\.\.\)") as caught:
            cw.read(source, target="y")
        assert caught.value.parameter == "source"
        assert cw.read(source, target="y", draw_rows=20).n_rows == 20
    with pytest.raises(cw.InputError, match="7 times as much"):
        read_as(one, whole.schema)
    with pytest.raises(cw.InputError, match="7 times as much"):
        as_table(folder, schema=whole.schema)
    same(cw.scan(folder, target="y"), whole)
    assert cw.read(table(), target="y").n_rows == 90  # it is in memory already


def test_what_is_free_at_the_moment_decides_nothing(folder, monkeypatch):
    monkeypatch.setattr("clearwood._shared.memory.free_memory", lambda: 1)
    assert isinstance(cw.read(folder, target="y"), cw.Table)


def test_new_rows_in_many_files_are_read_like_those_of_the_model(folder, whole):
    for rows in (read_as(folder, whole.schema), as_table(folder, schema=whole.schema)):
        assert rows.n_rows == 90
        assert rows.features == whole.features
        assert rows.schema[whole.features[0]] == whole.schema[whole.features[0]]
    assert read_as(folder, whole.schema).y.tolist() == whole.y.tolist()


def test_a_large_file_is_divided_at_its_row_groups(folder, monkeypatch):
    monkeypatch.setattr("clearwood.table.reading.scan.PART_ROWS", 30)
    parts = cw.scan(folder / "a.parquet", target="y")
    assert [(p.name, p.n_rows) for p in parts.parts] == [
        ("a.parquet (1 of 2)", 20),
        ("a.parquet (2 of 2)", 30),
    ]


def test_the_fingerprint_changes_with_a_file(folder):
    before = cw.scan(folder).fingerprint()
    assert cw.scan(folder).fingerprint() == before
    os.utime(folder / "a.parquet", (1, 1))
    assert cw.scan(folder).fingerprint() != before


def test_files_at_an_address_are_read(folder, whole):
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/bucket", recursive=True)
    try:
        for address in ("memory://bucket", "memory://bucket/*.parquet"):
            parts = cw.scan(address, target="y")
            same(parts, whole)
            assert pickle.loads(pickle.dumps(parts)).fingerprint() == parts.fingerprint()
    finally:
        memory.rm("/bucket", recursive=True)


def test_an_arrow_dataset_and_folders_named_by_values(tmp_path):
    frame = table()
    pq.write_to_dataset(
        pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "t", partition_cols=["rooms"]
    )
    dataset = ds.dataset(tmp_path / "t", partitioning="hive")
    for source in (dataset, tmp_path / "t"):
        parts = cw.scan(source, target="y")
        assert parts.n_rows == 90
        assert parts.to_table()["rooms"].values.sum() == frame["rooms"].sum()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_of_folders_are_columns_of_the_files_in_them(tmp_path, ending):
    frame = table().drop(columns=["day", "flag"]).assign(town="Lund").query("rooms < 4")
    frame["part"] = np.where(frame["rooms"] > 2, "old/new", "new")
    for (rooms, part), rows in frame.groupby(["rooms", "part"]):
        folder = tmp_path / "t" / f"rooms={rooms}" / f"part={part.replace('/', '%2F')}"
        folder.mkdir(parents=True)
        own = rows.drop(columns=["rooms", "part"])
        if ending == "csv":
            own.to_csv(folder / "a.csv", index=False)
        else:
            write(own, folder / "a.parquet")
    for source, kept in ((tmp_path / "t", 9), (tmp_path / "t" / "rooms=[12]" / "*" / "a.*", 3)):
        parts = scan_quietly(source, target="y")
        wanted = frame[frame["rooms"] < kept]
        found = parts.to_table()
        assert found.n_rows == len(wanted)
        assert found["rooms"].values.sum() == wanted["rooms"].sum()
        assert set(found["part"].labels()) == set(wanted["part"])
        batch = next(parts.batches(columns=["part"]))
        assert batch.names == ("part",)
    (tmp_path / "t" / "rooms=1" / f"b.{ending}").write_bytes(b"x,town,y\n1,Lund,2\n")
    if ending == "csv":
        refused(r"a\.csv has the column 'part' more, other than b\.csv", tmp_path / "t")


def test_keys_and_options_of_an_address_reach_every_file_and_no_message(folder, whole, monkeypatch):
    from pyarrow import fs

    from clearwood.table.parts import storage

    asked = []

    def opened(address):
        asked.append(address)
        inside = storage.shown_address(address).split("://")[1].strip("/")
        return fs.SubTreeFileSystem(str(folder.parent), fs.LocalFileSystem()), inside

    monkeypatch.setattr(storage, "_filesystem", opened)
    for place in ("table", "table/*.parquet", "table/[abc].parquet"):
        parts = cw.scan(f"gs://me:key@{place}?region=x&scheme=http", target="y")
        same(parts, whole)
        assert parts.source == f"gs://{place}"
        assert "key" not in repr(parts)
    assert {address.split("@")[0] for address in asked} == {"gs://me:key"}
    assert {address.split("?")[1] for address in asked} == {"region=x&scheme=http"}
    refused("there is nothing at gs://nowhere. Hint", "gs://me:key@nowhere?region=x")


def test_a_dask_frame_stays_in_its_partitions(whole):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(table(), npartitions=4)
    parts = cw.scan(frame, target="y")
    assert len(parts.parts) == 4
    same(parts, whole)
    assert isinstance(cw.read(frame, target="y"), cw.Table)


@pytest.mark.parametrize("verb", [cw.read, cw.scan])
def test_a_dask_partition_that_fails_is_named_with_the_cause(verb):
    dd = pytest.importorskip("dask.dataframe")

    def checked(rows):
        if (rows["rooms"] < 0).any():
            raise ValueError("no house has fewer than no rooms")
        return rows

    frame = table()
    frame.loc[50, "rooms"] = -1
    rows = dd.from_pandas(frame, npartitions=4).map_partitions(checked, meta=frame[:0])
    match = r"Dask partition 3 cannot be computed: ValueError: no house has fewer"
    with pytest.raises(cw.InputError, match=match) as caught:
        verb(rows, target="y")
    assert caught.value.parameter == "source"


def test_a_lazy_polars_frame_is_computed_in_batches(whole):
    frame = pl.from_pandas(table()).lazy()
    parts = cw.scan(frame, target="y")
    same(parts, whole)
    assert pickle.loads(pickle.dumps(parts)).head(3).to_dict() == whole.head(3).to_dict()
    assert isinstance(cw.read(frame, target="y"), cw.Table)


@pytest.mark.parametrize("verb", [cw.read, cw.scan])
def test_a_lazy_frame_that_fails_is_an_error_of_the_source(tmp_path, verb):
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"c": ["a", "b"] * 20, "y": range(40)}).write_parquet(file)
    frame = pl.scan_parquet(file)
    late = frame.with_columns(pl.col("c").cast(pl.Int64))
    with pytest.raises(cw.InputError, match=r"rows\.parquet.* cannot be computed: .*column 'c'"):
        verb(late, target="y")
    with pytest.raises(cw.InputError, match=r"cannot be computed: .*nothing"):
        verb(pl.scan_parquet(tmp_path / "nothing.parquet"), target="y")
    (tmp_path / "cut.parquet").write_bytes(file.read_bytes()[:-9])
    with pytest.raises(cw.InputError, match="cannot be computed") as caught:
        verb(pl.scan_parquet(tmp_path / "cut.parquet"), target="y")
    assert caught.value.parameter == "source"


@pytest.mark.parametrize("style", [{}, {"sep": ";", "decimal": ","}])
def test_text_files_are_one_table(tmp_path, style):
    frame = table().drop(columns="day")
    frame["mixed"] = [str(i % 5) for i in range(89)] + ["none"]  # a word in the last row
    frame.to_csv(tmp_path / "whole.csv", index=False, **style)
    (tmp_path / "parts").mkdir()
    frame[:40].to_csv(tmp_path / "parts" / "a.csv", index=False, **style)
    frame[40:][list(frame.columns)[::-1]].to_csv(
        tmp_path / "parts" / "b.csv.gz", index=False, **style
    )
    one = read_quietly(tmp_path / "whole.csv", target="y")
    parts = scan_quietly(tmp_path / "parts", target="y")
    same(parts, one)
    assert sum(b.n_rows for b in parts.batches(7, columns=["mixed", "town"])) == 90


def read_quietly(source, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        return cw.read(source, **options)


def scan_quietly(source, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        return cw.scan(source, **options)


def test_a_number_that_is_a_word_late_in_a_long_file_makes_text_of_the_column(tmp_path):
    lines = "".join(f"{i % 300},{i % 300}\n" for i in range(60_000))
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x,z\n" + lines)
    with (tmp_path / "b.csv").open("a") as file:
        file.write("n/a?,7\n")
    parts = scan_quietly(tmp_path)
    assert (str(parts.kinds["x"]), str(parts.kinds["z"])) == ("category", "whole number")


def test_other_encodings_are_read_in_parts(tmp_path):
    (tmp_path / "a.csv").write_bytes("ort,x\nZürich,1.5\nGenève,2.5\n".encode("cp1252"))
    parts = cw.scan(tmp_path, encoding="cp1252")
    assert parts.levels["ort"] == ("Genève", "Zürich")
    with pytest.raises(cw.InputError, match=r"a\.csv is not UTF-8.*encoding='cp1252'"):
        cw.scan(tmp_path)


# bad input


def refused(match, source, **options):
    with pytest.raises(cw.InputError, match=match):
        cw.scan(source, **options)


def test_a_file_with_other_columns_is_named_with_them(folder):
    write(table().drop(columns="town").assign(extra=1), folder / "d.parquet")
    refused(r"d\.parquet lacks the column 'town' and has the column 'extra' more", folder)


def test_a_text_file_without_the_header_of_the_others_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x,town\n1.5,Bern\n2.5,Chur\n")
    (tmp_path / "b.csv").write_text("3.5,Lund\n4.5,Bern\n")
    refused(r"b\.csv lacks the columns 'x', 'town' and has the columns '3.5', 'Lund'", tmp_path)


def test_a_file_with_another_type_is_named(folder):
    write(table().assign(x="word"), folder / "d.parquet")
    refused(r"column 'x' holds numbers in a\.parquet, but text in d\.parquet", folder)


def test_a_truncated_file_is_named(folder):
    content = (folder / "c.parquet").read_bytes()
    (folder / "c.parquet").write_bytes(content[: len(content) // 2])
    refused(r"c\.parquet cannot be read as Parquet.*write it again", folder)


def test_a_file_that_changes_after_it_was_read_is_noticed(folder):
    parts = cw.scan(folder)
    write(table().assign(town="Basel"), folder / "a.parquet", row_group_size=20)
    with pytest.raises(cw.InputError, match=r"column 'town' is not as it was.*'Basel'"):
        parts.to_table()


def test_a_file_that_is_gone_is_named(folder):
    parts = cw.scan(folder)
    (folder / "c.parquet").unlink()
    with pytest.raises(cw.InputError, match=r"c\.parquet is not there any more.*put the file back"):
        parts.to_table()


def test_folders_without_tables_and_patterns_without_files_are_refused(tmp_path):
    refused("no file that holds a table", tmp_path)
    refused(r"no file matches .*\*\.parquet", tmp_path / "*.parquet")
    refused("there is no file", tmp_path / "missing.parquet")
    refused("there is nothing at memory://nowhere", "memory://nowhere")
    refused(r"model\.cw cannot be read in parts", _touched(tmp_path / "model.cw"))


def _touched(path):
    path.write_text("x")
    return path


def test_text_and_parquet_files_are_not_mixed(folder):
    table().to_csv(folder / "d.csv")
    refused(r"both Parquet files \(a\.parquet\) and text files \(d\.csv\)", folder)


def test_other_files_of_a_folder_are_left_out_with_a_warning(folder):
    (folder / "README.md").touch()
    with pytest.warns(cw.ClearwoodWarning, match=r"left out: README\.md"):
        assert cw.scan(folder).n_rows == 90


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_named(folder):
    (folder / "a.parquet").chmod(0)
    refused(r"you do not have permission to read .*a\.parquet", folder)


def test_files_without_rows_are_refused(tmp_path):
    write(table()[:0], tmp_path / "a.parquet")
    refused("the table has no rows", tmp_path)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.csv").write_text("")
    refused(r"a\.csv is empty", tmp_path / "b")
    with gzip.open(tmp_path / "b" / "a.csv", "wt") as file:
        file.write("x\n1\n")
    refused("binary data|compressed", tmp_path / "b")


def test_a_table_in_memory_has_no_parts():
    refused("a table in memory has no parts.*Parts.of", table())
    refused("a table in memory has no parts", cw.read(table()))
    refused("an? int has no parts|a int has no parts", 3)


@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_numbers_of_rows_are_checked(folder, value):
    parts = cw.scan(folder)
    with pytest.raises(cw.InputError, match="it must be a whole number of at least 1"):
        next(parts.batches(value))
    with pytest.raises(cw.InputError, match="it must be a whole number of at least 1"):
        parts.sample(value)


def test_an_interruption_passes_through():
    calls = []

    def rows(start, stop):
        calls.append(start)
        if start > 100_000:
            raise KeyboardInterrupt
        return {"x": np.arange(start, stop) % 7}

    with pytest.raises(KeyboardInterrupt):
        Parts.of(rows, 10**6)
