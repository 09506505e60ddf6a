"""`clearwood demo`: a readable comparison, files that work, commands that can be pasted."""

import csv
import json
import shlex
from pathlib import Path

import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.cli.verbs import demo as _demo
from clearwood.cli.verbs.demo import MANIFEST, DemoFolder

FOLDER = Path("clearwood-demo")


@pytest.fixture(autouse=True)
def _a_small_demo(monkeypatch):
    monkeypatch.setattr(_demo, "LEARNERS", {"baseline": {}, "glm": {}})
    monkeypatch.setattr(_demo, "ROWS", 300)
    monkeypatch.setattr(_demo, "REPORT", {"quick": True, "sections": ["summary", "data"]})


def contents(folder=FOLDER):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_demo_fits_into_80_columns_and_writes_what_it_says(cli):
    answer = cli("demo")
    assert answer.code == 0, answer.err
    assert answer.err == ""
    address = (FOLDER / "report.html").absolute().as_uri()
    assert f"\nThe report: {address}\n" in answer.out
    assert max(len(line) for line in answer.out.replace(address, "").splitlines()) <= 80
    for name in _demo.FILES:
        assert f"clearwood-demo/{name}" in answer.out
        assert (FOLDER / name).stat().st_size > 0


def test_every_command_it_recommends_works_when_pasted(cli):
    out = cli("demo").out
    block = out.partition("\nNext\n")[2].replace("\\\n", " ")
    commands = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert len(commands) == 7
    for program, *words in commands:
        assert program == "clearwood"
        answer = cli(*words)
        assert answer.code == 0, answer.err


def test_the_files_agree_with_each_other(cli):
    document = cli("demo", "--json").json
    results = json.loads((FOLDER / "results.json").read_text())
    assert document["learners"] == results["learners"]
    best = results["learners"][0]
    model = cw.load(FOLDER / "model.cw")
    assert best["risk"] == min(one["risk"] for one in results["learners"])
    assert model.name == best["learner"]
    table = cw.read(FOLDER / "insurance.csv", target="accidents", ignore="claim_amount")
    with (FOLDER / "predictions.csv").open() as file:
        written = [float(row["prediction"]) for row in csv.DictReader(file)]
    assert written == model.predict(table.head(1000)).tolist()


def test_the_rating_table_predicts_what_its_model_does(cli, monkeypatch):
    monkeypatch.setattr(_demo, "ROWS", 1500)  # enough for the model to be better than the mean
    cli("demo")
    table = cw.read(FOLDER / "insurance.csv", target="accidents", ignore="claim_amount")
    factors = cw.explanation.read_factors(FOLDER / "factors.csv")
    model = cw.load(FOLDER / "model.cw")
    assert factors.model == model.name == "glm"
    assert factors.ratio_name == "relativity"
    rows = table.select(list(model.schema_.features))
    expected = model.predict(rows)
    assert factors.predict(rows) == pytest.approx(expected, rel=1e-12)


def test_the_rating_table_is_of_the_best_model_that_has_one(monkeypatch):
    table = cw.datasets.insurance(300, 0)
    small = cw.learner("forest", n_estimators=5, min_samples_leaf=1)
    bench = cw.benchmark(table, ["glm", small], tune=0, repeats=1, interval="naive")
    best = cw.learner("forest", n_estimators=5, min_samples_leaf=1).fit(table)
    monkeypatch.setattr(type(bench), "best", lambda self: self.choose("forest"))
    assert _demo._factors(bench, best, table).model == "glm"


def test_the_written_table_is_the_dataset(cli):
    cli("demo")
    read = cw.read(FOLDER / "insurance.csv", target="accidents", ignore="claim_amount")
    made = cw.datasets.insurance(300, 0)
    assert read.to_dict() == made.to_dict()
    assert read.task == made.task


def test_the_demo_can_be_run_again_beside_other_files(cli):
    assert cli("demo").code == 0
    (FOLDER / "notes.txt").write_text("mine")
    assert cli("demo", "--seed", "1").code == 0
    assert json.loads((FOLDER / "results.json").read_text())["method"]["seed"] == 1
    assert (FOLDER / "notes.txt").read_text() == "mine"


@pytest.fixture
def made(tmp_path):
    """A folder with one file that the demo made."""
    folder = DemoFolder(tmp_path / "demo", ["model.cw"])
    folder.write({"model.cw": lambda file: file.write_text("model")})
    return folder.path


def test_a_file_that_the_demo_made_may_be_replaced(made):
    DemoFolder(made, ["model.cw", "results.json"])


def test_a_file_changed_since_may_not_be_replaced_unless_forced(made):
    (made / "model.cw").write_text("my own work")
    with pytest.raises(InputError, match=r"model\.cw' was not written by the demo, or was changed"):
        DemoFolder(made, ["model.cw"])
    DemoFolder(made, ["model.cw"], force=True)


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', '{"files": {"model.cw": null}}'])
def test_a_list_that_cannot_be_read_vouches_for_nothing(made, text):
    (made / MANIFEST).write_text(text)
    with pytest.raises(InputError, match="was not written by the demo"):
        DemoFolder(made, ["model.cw"])


def test_a_folder_of_somebody_elses_is_left_alone(refused):
    FOLDER.mkdir()
    (FOLDER / "model.cw").write_text("precious")
    assert "was not written by the demo" in refused("demo")
    assert contents() == {"model.cw": b"precious"}


def test_a_file_in_place_of_the_folder(refused):
    FOLDER.write_text("a file")
    assert "is a file" in refused("demo")


def test_a_folder_in_a_folder_that_does_not_exist(refused):
    assert "'no/such' does not exist" in refused("demo", "-o", "no/such/demo")


def test_gains_are_shares_of_the_baselines_risk(cli):
    out = cli("demo", "-j", 1).out
    results = json.loads((FOLDER / "results.json").read_text())
    risks = {one["learner"]: one["risk"] for one in results["learners"]}
    gain = 100 * (1 - risks["glm"] / risks["baseline"])
    line = next(line for line in out.splitlines() if line.startswith("glm"))
    assert f"{gain:4.1f} %" in line
