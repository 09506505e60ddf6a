"""What `clearwood fit` says to input it cannot use: exit 2, the column or option, what to try."""

import os
from pathlib import Path

import pytest

ROWS = "".join(f"{i % 7},{(i * 37) % 11},{i % 3}\n" for i in range(30))


def test_no_such_file(refused):
    assert "there is no file claimz.csv" in refused("fit", "claimz.csv", "--target", "y")


def test_a_near_file_name_is_offered(refused, claims):
    assert "did you mean 'claims.csv'" in refused("fit", "claim.csv", "--target", "y")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "data.csv is empty"),
        ("a,b,y\n", "has a header but no rows"),
        ("a,a,y\n" + ROWS, "more than one column named 'a'"),
        ("a,b,y\n1,2,3\n1,2\n" + ROWS, "line 3"),
        ("a,b,y\n1,2,3\n4,5,6\n7,8,9\n", "3 rows"),
        (
            "a,b,y\n" + ROWS.replace("\n", "x\n").replace(",0x", ",1x").replace(",2x", ",1x"),
            "constant",
        ),
        ("a,b,y\n" + "".join(f"{i},{i * i % 7},\n" for i in range(30)), "'y' is all missing"),
        ("a,b,y\n" + "".join(f"{i},{i % 7},word {i}\n" for i in range(3000)), "'y' has 3,000"),
        ("a,b,y\n1,inf,0\n" + ROWS, "'b' has 1 infinite"),
    ],
    ids=[
        "empty",
        "header only",
        "duplicate names",
        "ragged",
        "three rows",
        "constant target",
        "missing target",
        "text target",
        "infinite",
    ],
)
def test_a_table_that_cannot_be_learned_from(refused, table, text, words):
    assert words in refused("fit", table(text), "--target", "y")
    assert not Path("model.cw").exists()


def test_a_target_that_is_not_in_the_header(refused, claims):
    err = refused("fit", claims, "--target", "acidents")
    assert "'acidents'" in err
    assert "hint: did you mean 'accidents'?" in err


@pytest.mark.parametrize("option", ["--weight", "--group", "--time", "--protected", "--ignore"])
def test_any_other_column_that_is_not_in_the_header(refused, claims, option):
    err = refused("fit", claims, "--target", "accidents", option, "regoin")
    assert "'regoin'" in err
    assert "'region'" in err


def test_decimal_commas_are_read_and_named_with_the_option(cli, table):
    text = "a;b;y\n" + "".join(f"{i};{i},5;{i % 4},25\n" for i in range(30))
    answer = cli("fit", table(text), "--target", "y", "-l", "ridge")
    assert answer.code == 0, answer.err
    assert "',' as the decimal sign" in answer.err
    assert "--decimal ." in answer.err
    told = cli("fit", table(text), "--target", "y", "-l", "ridge", "--decimal", ",", "--force")
    assert "decimal sign" not in told.err


def test_words_that_mean_missing_can_be_named(cli, table):
    text = "a,y\n" + "".join(f"{'plenty' if i == 7 else i},{i % 4}.25\n" for i in range(30))
    words = ("fit", table(text), "--target", "y", "-l", "ridge", "--force")
    assert "--missing a=plenty" in cli(*words).err
    answer = cli(*words, "--missing", "a=plenty")
    assert answer.code == 0, answer.err
    assert "plenty" not in answer.err


def test_a_file_that_is_not_utf8_is_read_with_a_warning(cli, table):
    text = "alter,größe,y\n" + "".join(f"{i % 9},{i * 7 % 13},{i % 5}\n" for i in range(40))
    path = table(text.encode("latin-1"))
    answer = cli("fit", path, "--target", "y", "-l", "ridge", "--task", "regression")
    assert answer.code == 0, answer.err
    assert "warning: data.csv is not UTF-8" in answer.err
    assert "--encoding" in answer.err


def test_a_file_that_is_not_in_the_encoding_named(refused, table):
    path = table("größe,y\n1,2\n".encode("latin-1"))
    assert "is not utf-8" in refused("fit", path, "--target", "y", "--encoding", "utf-8")


def test_a_category_with_tens_of_thousands_of_levels(refused, table):
    rows = "".join(f"k{i // 2},{i % 7},{(i * 13) % 101 / 7}\n" for i in range(100_000))
    err = refused("fit", table("code,a,y\n" + rows), "--target", "y", "-l", "ridge")
    assert "'code'" in err
    assert "50,000 levels" in err
    assert "--ignore code" in err


def test_a_column_without_values_is_left_out_with_a_warning(cli, table):
    text = "a,b,y\n" + "".join(f"{i % 7},,{i * i % 11 / 3}\n" for i in range(30))
    answer = cli("fit", table(text), "--target", "y", "-l", "ridge")
    assert answer.code == 0, answer.err
    assert "warning: column 'b' is all missing: left out" in answer.err


def test_more_columns_than_rows_works_with_a_warning(cli, table):
    names = [f"x{j}" for j in range(40)]
    rows = [",".join(str((i * 31 + j * 17) % 101) for j in range(40)) for i in range(20)]
    text = (
        ",".join([*names, "y"]) + "\n" + "".join(f"{row},{i / 7}\n" for i, row in enumerate(rows))
    )
    answer = cli("fit", table(text), "--target", "y", "-l", "ridge")
    assert answer.code == 0, answer.err
    assert "more features (40) than rows (20)" in answer.err


def test_an_unknown_learner_is_refused_before_the_table_is_read(refused):
    err = refused("fit", "no-such-file.csv", "--target", "y", "--learner", "gmb")
    assert "there is no learner 'gmb'" in err
    assert "'gbm'" in err


def test_a_learner_that_cannot_do_the_task(refused, flowers):
    err = refused("fit", flowers, "--target", "kind", "--learner", "ridge")
    assert "'ridge' does not support multiclass" in err
    assert "choose another, such as" in err


def test_an_extra_that_is_not_installed(refused, claims, monkeypatch):
    monkeypatch.setattr("clearwood.models.entries.entry.find_spec", lambda name: None)
    err = refused("fit", claims, "--target", "accidents", "--learner", "lightgbm")
    assert "pip install 'clearwood[lightgbm]'" in err


def test_an_unknown_setting(refused, claims):
    err = refused("fit", claims, "--target", "accidents", "-l", "gbm", "--set", "max_dept=3")
    assert "no setting 'max_dept'" in err
    assert "'max_depth'" in err


def test_a_setting_without_a_value(refused, claims):
    err = refused("fit", claims, "--target", "accidents", "--set", "max_depth")
    assert "--set 'max_depth' is not of the form NAME=VALUE" in err


def test_a_value_that_the_learner_refuses(refused, claims):
    err = refused("fit", claims, "--target", "accidents", "-l", "gbm", "--set", "max_iter=many")
    assert "max_iter" in err
    assert "many" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kind", "age=colour"), "there is no kind 'colour'"),
        (("--kind", "aeg=number"), "'aeg'"),
        (("--kind", "age"), "--kind 'age' is not of the form"),
        (("--task", "regresion"), "did you mean 'regression'"),
        (("--categories", "one-hot"), "onehot"),
        (("--delimiter", "ab"), "--delimiter ab"),
        (("--encoding", "utf-nine"), "utf-nine"),
        (("--jobs", "two"), "--jobs"),
        (("--jobs", "0"), "--jobs 0"),
        (("--colour", "red"), "has no option --colour"),
    ],
)
def test_options_that_mean_nothing(refused, claims, words, said):
    assert said in refused("fit", claims, "--target", "accidents", "-l", "ridge", *words)


def test_a_target_must_be_named(refused, claims):
    assert "--target" in refused("fit", claims)


class TestOutput:
    """Where the model cannot go is found out before anything is read or fitted."""

    def test_an_existing_file_is_left_alone(self, refused, tmp_path):
        (tmp_path / "model.cw").write_text("precious")
        err = refused("fit", "no-such-file.csv", "--target", "y", "-o", "model.cw")
        assert "'model.cw' exists already" in err
        assert "--force" in err
        assert "force=" not in err
        assert (tmp_path / "model.cw").read_text() == "precious"

    def test_force_replaces_it(self, cli, claims, tmp_path):
        (tmp_path / "model.cw").write_text("old")
        words = ("fit", claims, "--target", "accidents", "-l", "ridge", "--force")
        assert cli(*words).code == 0
        assert (tmp_path / "model.cw").read_bytes() != b"old"

    def test_an_existing_file_survives_a_failed_fit_with_force(self, refused, claims, tmp_path):
        (tmp_path / "model.cw").write_text("old")
        refused("fit", claims, "--target", "region", "-l", "ridge", "--force")
        assert (tmp_path / "model.cw").read_text() == "old"

    def test_the_table_itself_is_never_replaced(self, refused, claims):
        before = claims.read_bytes()
        err = refused("fit", claims, "-t", "accidents", "-o", claims.name, "--force")
        assert "'claims.csv' is both an input and the output" in err
        assert claims.read_bytes() == before

    def test_a_folder_that_does_not_exist(self, refused):
        err = refused("fit", "no-such-file.csv", "--target", "y", "-o", "models/model.cw")
        assert "folder 'models' does not exist" in err
        assert "mkdir -p models" in err

    def test_a_folder_in_place_of_a_file(self, refused, tmp_path):
        (tmp_path / "models").mkdir()
        assert "is a folder" in refused("fit", "x.csv", "--target", "y", "-o", "models")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_that_may_not_be_written(self, refused, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o500)
        assert "may not write" in refused("fit", "x.csv", "--target", "y", "-o", "closed/model.cw")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk(self, refused, claims):
        err = refused("fit", claims, "--target", "accidents", "-l", "ridge", "-o", "/dev/full")
        assert "no space left on device" in err

    def test_nothing_is_left_behind_by_a_refusal(self, refused, claims, tmp_path):
        before = sorted(tmp_path.iterdir())
        refused("fit", claims, "--target", "accidents", "-l", "logistic", "--task", "count")
        assert sorted(tmp_path.iterdir()) == before
