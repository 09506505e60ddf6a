"""Every verb answers a file that it cannot use with exit code 2 and words, and writes nothing."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw

HEADER = "age,power,region,accidents\n"
ROWS = "".join(f"{20 + i % 40},{60 + i % 9},{'ab'[i % 2]},{i % 3}\n" for i in range(40))

#: By what is wrong with a table: its name, its content, and what is said.
TABLES = {
    "nothing in it": ("t.csv", b"", "t.csv is empty"),
    "blank lines": ("t.csv", b" \n\n  \n", "t.csv is empty"),
    "a header only": ("t.csv", HEADER.encode(), "has a header but no rows"),
    "binary": ("t.csv", bytes(range(256)) * 9, "holds binary data"),
    "UTF-16 unsaid": ("t.csv", (HEADER + ROWS).encode("utf-16-le"), "--encoding utf-16"),
    "no known encoding": ("t.csv", (HEADER + ROWS).encode() + b"1,2,\x81\x8d,0\n", "neither UTF-8"),
    "a name twice": ("t.csv", f"age,age,region,accidents\n{ROWS}".encode(), "named 'age'"),
    "a column without a name": ("t.csv", f",power,region,accidents\n{ROWS}".encode(), "no name"),
    "a quote left open": ("t.csv", f'{HEADER}{ROWS}1,"2,a,0\n'.encode(), "never closed"),
    "a short row": ("t.csv", f"{HEADER}{ROWS}1,2\n".encode(), "has 2 cells"),
    "no gzip": ("t.csv.gz", b"plain text", "not a complete gzip file"),
    "half a gzip": (
        "t.csv.gz",
        gzip.compress((HEADER + ROWS).encode())[:40],
        "not a complete gzip",
    ),
    "no Parquet": ("t.parquet", b"plain text", "cannot be read as Parquet"),
    "half a JSON line": ("t.jsonl", b'{"age": 1}\n{"age":', "each line holds one row"),
    "a workbook": ("t.xlsx", b"PK\x03\x04", "save the sheet as CSV"),
    "a model": ("t.cw", b"PK\x03\x04", "t.cw is a model file, not a table"),
}

#: Verbs that take a model and a table, with what else they need.
EXPLAINING = (
    ("predict", ()),
    ("explain", ("-o", "out")),
    ("explain effect", ("age",)),
    ("explain importance", ()),
    ("explain agreement", ()),
    ("explain monotone", ()),
    ("explain shapley", ()),
    ("explain lime", ()),
    ("explain what-if", ("--set", "age=3")),
    ("explain contributions", ()),
    ("report", ("--quick", "-o", "out")),
)


@pytest.fixture
def model(cli, claims):
    """A linear model, which all verbs can explain."""
    words = ("fit", claims, "--target", "accidents", "-l", "glm", "-o", "model.cw")
    assert cli(*words).code == 0
    return Path("model.cw")


@pytest.mark.parametrize("wrong", TABLES)
def test_a_table_that_cannot_be_read(refused, table, model, wrong):
    name, content, said = TABLES[wrong]
    path = table(content, name)
    before = sorted(Path().iterdir())
    for verb, more in (("fit", ("-t", "y")), ("report", ("-t", "y", "--quick"))):
        # with one file, its ending says that it is a model
        if not (verb == "report" and wrong == "a model"):
            assert said in refused(verb, path, *more, "-o", "out"), verb
    for verb, more in EXPLAINING:
        assert said in refused(*verb.split(), model, path, *more), verb
    assert sorted(Path().iterdir()) == before


def _foreign(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")


#: Ways to spoil a model file, with what is said.
SPOILED = {
    "nothing in it": (lambda path, raw: path.write_bytes(b""), "is empty"),
    "a table": (lambda path, raw: path.write_text(HEADER + ROWS), "is not a Clearwood file"),
    "another zip": (lambda path, raw: _foreign(path), "not one of Clearwood's"),
    "its first half": (lambda path, raw: path.write_bytes(raw[: len(raw) // 2]), "truncated"),
    "all but its end": (lambda path, raw: path.write_bytes(raw[:-5]), "truncated"),
    "more than it": (lambda path, raw: path.write_bytes(raw + b"more"), "after its end"),
}


@pytest.mark.parametrize("wrong", SPOILED)
def test_a_model_file_that_cannot_be_read(refused, model, claims, wrong):
    spoil, said = SPOILED[wrong]
    spoil(model, model.read_bytes())
    before = sorted(Path().iterdir())
    assert said in refused("inspect", model)
    for verb, more in EXPLAINING:
        assert said in refused(*verb.split(), model, claims, *more), verb
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("no/such/folder/out", "the folder 'no/such/folder' does not exist"),
        ("claims.csv/out", "claims.csv"),
        ("taken", "taken"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_before_any_work(
    refused, model, claims, monkeypatch, place, said
):
    def work(*words, **options):
        raise AssertionError("the output was not checked first")

    for name in ("read", "explain", "effect", "report", "learner", "benchmark"):
        monkeypatch.setattr(f"clearwood.{name}", work)
    Path("taken").write_text("mine")
    wanted = {"explain effect": f"{place}.json", "report": f"{place}.html"}
    Path("taken.json").write_text("mine")
    Path("taken.html").write_text("mine")
    assert said in refused("fit", claims, "-t", "accidents", "-o", place)
    assert said in refused("predict", model, claims, "-o", place)
    assert said in refused("explain", model, claims, "-o", place)
    assert said in refused("demo", "-o", place)
    for verb, more in (("explain effect", ("age",)), ("report", ("--quick",))):
        assert said in refused(*verb.split(), model, claims, *more, "-o", wanted[verb])


def test_a_file_is_not_taken_for_a_folder(refused, model, claims):
    assert "'claims.csv' is a file" in refused("explain", model, claims, "-o", "claims.csv/why")
    assert "'claims.csv' is a file" in refused("demo", "-o", "claims.csv/demo")


def test_the_page_and_the_model_need_a_file_each(refused, claims):
    words = ("report", claims, "-t", "accidents", "--quick", "-o", "one", "--model", "./one")
    assert "both the page and the model" in refused(*words)
    assert not Path("one").exists()


def test_quoted_newlines_are_part_of_their_cell(cli, table):
    rng = np.random.default_rng(0)
    rows = "".join(f'"old\ntown {i % 3}",{rng.normal():.3f},{i % 5}\n' for i in range(60))
    path = table("town,x,y\n" + rows)
    assert cli("fit", path, "-t", "y", "-l", "tree", "-o", "m.cw").code == 0
    assert cw.load("m.cw").schema_["town"].levels == tuple(f"old\ntown {k}" for k in range(3))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "rot13", "base64", "klingon"])
def test_an_encoding_that_the_file_does_not_have(refused, claims, encoding):
    said = refused("fit", claims, "-t", "accidents", "--encoding", encoding)
    assert encoding in said


@pytest.mark.parametrize("delimiter", ['"', "\n", "", "ab"])
def test_a_delimiter_that_cannot_be_one(refused, claims, delimiter):
    said = refused("fit", claims, "-t", "accidents", "--delimiter", delimiter)
    assert "it must be one character" in said


def test_a_line_without_end(refused, table):
    rows = "".join(f"{'a' * 17_000_000 if i == 3 else 'b'},{i % 2}\n" for i in range(20))
    said = refused("fit", table("word,y\n" + rows), "-t", "y")
    assert "line 5 of data.csv is longer than 16 MB" in said


def test_numbers_that_a_learner_cannot_hold_are_named(cli, refused, table):
    rows = "".join(f"{'1e308' if i % 2 else '-1e308'},{i},{i % 3}\n" for i in range(30))
    huge = table("a,b,y\n" + rows)
    # trees of our own compare double precision
    assert cli("fit", huge, "-t", "y", "-l", "tree", "-o", "tree.cw").code == 0
    said = refused("fit", huge, "-t", "y", "-l", "extra-trees")
    assert "cannot use numbers as large as 1e308, which column 'a' has" in said
    small = table("a,b,y\n" + rows.replace("e308", ""), "small.csv")
    assert cli("fit", small, "-t", "y", "-l", "extra-trees", "-o", "m.cw").code == 0
    assert "which column 'a' has" in refused("predict", "m.cw", huge)


def test_an_address_is_no_file(refused):
    assert "download it first" in refused("fit", "https://example.com/x.csv", "-t", "y")


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_a_model_can_be_thrown_away(cli, claims):
    words = ("fit", claims, "-t", "accidents", "-l", "baseline", "-o", "/dev/null")
    assert cli(*words).code == 0
