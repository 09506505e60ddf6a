"""`clearwood predict`: a line per row, in order, and clear words where the data do not fit."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture
def model(cli, claims):
    assert cli("fit", claims, "--target", "accidents", "-l", "ridge", "-o", "model.cw").code == 0
    return Path("model.cw")


@pytest.fixture
def classifier(cli, flowers):
    words = ("fit", flowers, "--target", "kind", "-l", "logistic", "-o", "classes.cw")
    assert cli(*words).code == 0
    return Path("classes.cw")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_library_to_the_last_bit(cli, model, claims):
    answer = cli("predict", model, claims, "-o", "predictions.csv")
    assert answer.code == 0, answer.err
    assert "200 rows" in answer.out
    written = [float(row["prediction"]) for row in rows_of(Path("predictions.csv").read_text())]
    expected = cw.load(model).predict(cw.read(claims, target="accidents"))
    assert written == expected.tolist()


def test_without_an_output_the_predictions_go_to_stdout_and_nothing_else_does(cli, model, claims):
    answer = cli("predict", model, claims)
    assert answer.code == 0
    assert len(rows_of(answer.out)) == 200
    assert answer.out.startswith("prediction\n")


def test_rows_without_a_target_are_predicted_too(cli, model, table):
    path = table("age,power,region,accidents\n30,80,north,\n40,90,south,2\n")
    assert len(rows_of(cli("predict", model, path).out)) == 2


def test_a_classifier_gives_a_probability_for_each_class(cli, classifier, flowers):
    answer = cli("predict", classifier, flowers)
    rows = rows_of(answer.out)
    names = ["probability:iris", "probability:rose", "probability:tulip"]
    assert list(rows[0]) == ["prediction", *names]
    for row in rows:
        chances = [float(row[name]) for name in names]
        assert sum(chances) == pytest.approx(1)
        assert names[int(np.argmax(chances))] == f"probability:{row['prediction']}"


def test_probabilities_can_be_left_out(cli, classifier, flowers):
    answer = cli("predict", classifier, flowers, "--no-probabilities")
    assert answer.out.splitlines()[0] == "prediction"


def test_probabilities_of_numbers_are_refused(refused, model, claims):
    assert "--probabilities" in refused("predict", model, claims, "--probabilities")


def test_parquet_is_written_by_its_ending(cli, classifier, flowers):
    pq = pytest.importorskip("pyarrow.parquet")
    assert cli("predict", classifier, flowers, "-o", "p.parquet").code == 0
    table = pq.read_table("p.parquet")
    assert table.num_rows == 150
    assert table.column_names[:2] == ["prediction", "probability:iris"]


def test_parquet_without_its_library_names_the_install_command(refused, model, claims, monkeypatch):
    monkeypatch.setattr("clearwood.cli.support.files.find_spec", lambda name: None)
    err = refused("predict", model, claims, "-o", "p.parquet")
    assert "pip install 'clearwood[arrow]'" in err
    assert not Path("p.parquet").exists()


def test_json_holds_the_predictions_or_says_where_they_are(cli, model, claims):
    inline = cli("predict", model, claims, "--json")
    assert len(inline.json["predictions"]["prediction"]) == 200
    to_file = cli("predict", model, claims, "--json", "-o", "p.csv")
    document = to_file.json
    assert document.pop("outside")["n_outside"] == 0
    assert document == {"model": "model.cw", "output": "p.csv", "rows": 200}


def test_rows_and_predictions_outside_the_training_range_are_counted_by_column(cli, model, table):
    path = table("age,power,region\n30,80,north\n40,90000,south\n50,-90000,south\n")
    answer = cli("predict", model, path, "-o", "p.csv")
    assert answer.code == 0
    said = " ".join(answer.err.split())
    assert "2 of 3 rows have a value outside the training range: power (2)" in said
    assert "1 of 3 predictions of accidents is below the least of the training rows (0), 1" in said
    assert "above the greatest of the training rows" in said
    outside = cli("predict", model, path, "--json").json["outside"]
    assert outside["columns"] == {"power": 2}
    assert (outside["n_below"], outside["n_above"], outside["n_negative"]) == (1, 1, 1)


def test_a_column_that_is_missing(refused, model, table):
    err = refused("predict", model, table("age,power,regionn\n30,80,north\n"))
    assert "lacks the column 'region'" in err
    assert "'regionn'" in err


def test_a_column_that_is_new_is_ignored_with_a_warning(cli, model, table):
    answer = cli("predict", model, table("age,colour,power,region\n30,red,80,north\n"))
    assert answer.code == 0
    assert answer.err.count("'colour'") == 1
    assert "warning: " in answer.err


def test_a_column_of_another_kind(refused, model, table):
    err = refused("predict", model, table("age,power,region\nthirty,80,north\nforty,90,south\n"))
    assert "'age'" in err
    assert "'thirty'" in err


def test_levels_not_seen_in_fitting_are_predicted_with_one_warning(cli, model, table):
    answer = cli("predict", model, table("age,power,region\n30,80,moon\n31,80,north\n"))
    assert answer.code == 0
    assert len(rows_of(answer.out)) == 2
    assert answer.err.count("'moon'") == 1


def test_rows_without_any_value_are_predicted_with_a_warning(cli, model, table):
    answer = cli("predict", model, table("age,power,region\n,,\n,,\n"))
    assert answer.code == 0
    assert len(rows_of(answer.out)) == 2
    assert "2 of 2 rows have no value" in answer.err


def test_levels_are_matched_as_written(cli, table):
    lines = "".join(f"0{i % 4 + 1},{i},{i % 4}.5\n" for i in range(40))
    path = table("zip,a,y\n" + lines)
    words = ("fit", path, "-t", "y", "-l", "ridge", "--kind", "zip=category", "-o", "zip.cw")
    assert cli(*words).code == 0
    answer = cli("predict", "zip.cw", table("zip,a\n02,3\n", "new.csv"))
    assert answer.code == 0
    assert answer.err == ""


def test_the_new_file_may_be_written_differently(cli, model, table):
    path = table("age;power;region\n30;80,5;north\n".encode("utf-16"))
    words = ("--delimiter", ";", "--decimal", ",", "--encoding", "utf-16")
    same = table("age,power,region\n30,80.5,north\n", "plain.csv")
    assert cli("predict", model, path, *words).out == cli("predict", model, same).out


@pytest.mark.parametrize("text", ["", "age,power,region\n"], ids=["empty", "header only"])
def test_new_data_without_rows(refused, model, table, text):
    assert "data.csv" in refused("predict", model, table(text))


def test_an_existing_output_is_left_alone(refused, model, claims):
    Path("p.csv").write_text("precious")
    assert "--force" in refused("predict", model, claims, "-o", "p.csv")
    assert Path("p.csv").read_text() == "precious"


def test_an_existing_output_survives_new_data_that_do_not_fit(refused, model, table):
    Path("p.csv").write_text("old")
    refused("predict", model, table("age\n3\n"), "-o", "p.csv", "--force")
    assert Path("p.csv").read_text() == "old"


def test_neither_model_nor_data_is_replaced_by_the_predictions(refused, model, claims):
    before = model.read_bytes(), claims.read_bytes()
    for output in (model, claims):
        err = refused("predict", model, claims, "-o", output, "--force")
        assert "is both an input and the output" in err
    assert (model.read_bytes(), claims.read_bytes()) == before


def test_an_output_folder_that_does_not_exist(refused, model, claims):
    assert "'out' does not exist" in refused("predict", model, claims, "-o", "out/p.csv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(refused, model, claims):
    assert "no space left" in refused("predict", model, claims, "-o", "/dev/full")


@pytest.mark.parametrize("verb", ["predict", "inspect"])
@pytest.mark.parametrize(
    "spoil",
    [lambda raw: b"", lambda raw: raw[: len(raw) // 2], lambda raw: b"not a model" * 50],
    ids=["empty", "truncated", "foreign"],
)
def test_a_model_file_that_is_none(refused, model, claims, verb, spoil):
    Path("bad.cw").write_bytes(spoil(model.read_bytes()))
    words = (verb, "bad.cw", claims) if verb == "predict" else (verb, "bad.cw")
    assert "bad.cw" in refused(*words)


def test_a_model_that_is_not_there(refused, claims):
    assert "there is no file 'modle.cw'" in refused("predict", "modle.cw", claims)


def test_a_model_without_its_columns_is_refused(refused, claims):
    from sklearn.linear_model import Ridge

    cw.save(Ridge().fit(np.eye(3), np.arange(3.0)), "plain.cw")
    assert "without the names of its features" in refused("predict", "plain.cw", claims)


@pytest.fixture
def rates(cli, claims):
    """A model of a rate, and its table."""
    header, *rows = Path(claims).read_text().splitlines()
    lines = [f"{header},years", *(f"{row},{0.5 + k % 2}" for k, row in enumerate(rows))]
    Path("rates.csv").write_text("\n".join(lines))
    words = ("--target", "accidents", "--exposure", "years", "-l", "glm", "-o", "rate.cw")
    answer = cli("fit", "rates.csv", *words)
    assert answer.code == 0, answer.err
    return answer


def test_a_rate_is_named_and_comes_with_the_expected_number(cli, rates):
    assert "to predict accidents per year" in rates.out
    answer = cli("predict", "rate.cw", "rates.csv", "-o", "predictions.csv")
    assert "predictions of accidents per year for 200 rows" in answer.out
    assert "(prediction, expected)" in answer.out
    rows = rows_of(Path("predictions.csv").read_text())
    ratios = [float(row["expected"]) / float(row["prediction"]) for row in rows]
    assert ratios == pytest.approx([0.5, 1.5] * 100)


def test_rows_without_an_exposure_have_a_rate_only(cli, rates, table):
    path = table("age,power,region,years\n30,80,north,2\n40,90,south,\n")
    with_gap = rows_of(cli("predict", "rate.cw", path).out)
    assert with_gap[1]["expected"] == ""
    assert float(with_gap[0]["expected"]) == pytest.approx(2 * float(with_gap[0]["prediction"]))
    path = table("age,power,region\n30,80,north\n40,90,south\n")
    assert list(rows_of(cli("predict", "rate.cw", path).out)[0]) == ["prediction"]


def test_rows_with_zero_exposure(cli, rates, refused):
    header, first, *rows = Path("rates.csv").read_text().splitlines()
    zero = first.rsplit(",", maxsplit=1)[0] + ",0"
    Path("zero.csv").write_text("\n".join([header, zero, *rows]))
    words = ("zero.csv", "--target", "accidents", "--exposure", "years", "-l", "glm", "-o", "z.cw")
    assert "those with zero out as the table is read: --zero-exposure drop" in " ".join(
        refused("fit", *words).split()
    )
    answer = cli("fit", *words, "--zero-exposure", "drop")
    assert answer.code == 0, answer.err
    assert "1 row with an exposure 'years' of zero left out" in " ".join(answer.err.split())
    # a prediction is made for it all the same, unless the rows are in parts
    predicted = rows_of(cli("predict", "z.cw", "zero.csv").out)
    assert len(predicted) == 200
    assert float(predicted[0]["expected"]) == 0
    assert "leave out --zero-exposure" in refused(
        "predict", "z.cw", "zero.csv", "--zero-exposure", "drop"
    )
    Path("parts").mkdir()
    Path("zero.csv").rename("parts/zero.csv")
    assert "zero in 1 of 200 rows" in refused("predict", "z.cw", "parts", "--scan", "-o", "to")
    answer = cli(
        *("predict", "z.cw", "parts", "--scan", "-o", "to", "--zero-exposure", "drop", "--json")
    )
    assert answer.json["rows"] == 199
    # rows to compare with are left out as well
    assert "--zero-exposure drop" in refused("evaluate", "z.cw", "parts/zero.csv")
    assert cli("evaluate", "z.cw", "parts/zero.csv", "--zero-exposure", "drop").code == 0


def test_intervals_of_a_posterior_are_two_more_columns(cli, claims):
    words = ("fit", claims, "--target", "accidents", "--task", "regression", "-l", "bayes")
    assert cli(*words, "-o", "bayes.cw").code == 0
    answer = cli("predict", "bayes.cw", claims, "--interval", "0.8")
    assert answer.code == 0, answer.err
    rows = rows_of(answer.out)
    expected = cw.load("bayes.cw").predict_interval(
        cw.read(claims, target="accidents"), confidence=0.8
    )
    assert [float(row["low"]) for row in rows] == expected.low.tolist()
    assert [float(row["high"]) for row in rows] == expected.high.tolist()
    narrow = cli("predict", "bayes.cw", claims, "--interval", "0.8", "--interval-of", "mean")
    assert float(rows_of(narrow.out)[0]["low"]) > expected.low[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--interval", "0.9"), "there are no intervals.*'ridge'.*bayes"),
        (("--interval-of", "mean"), "--interval-of needs --interval"),
    ],
)
def test_intervals_that_cannot_be_had_are_refused(cli, model, claims, options, message):
    answer = cli("predict", model, claims, *options)
    assert answer.code == 2
    assert re.search(message, " ".join(answer.err.split()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--interval", "90"), "--interval 90: it must lie between 0 and 1"),
        (("--interval", "0.9", "--interval-of", "median"), "it must be row or mean"),
    ],
)
def test_intervals_that_mean_nothing_are_refused(cli, claims, options, message):
    words = ("fit", claims, "--target", "accidents", "--task", "regression", "-l", "bayes")
    assert cli(*words, "-o", "bayes.cw").code == 0
    answer = cli("predict", "bayes.cw", claims, *options)
    assert answer.code == 2
    assert message in " ".join(answer.err.split())
