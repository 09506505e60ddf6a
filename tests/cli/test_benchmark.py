"""`clearwood benchmark`: results that fit a terminal, files, stopping and going on."""

import json
from pathlib import Path

import numpy as np
import pytest

from clearwood._shared.numbers import duration
from clearwood.benchmarking import Snapshot, Store
from clearwood.benchmarking.running import run as _run
from clearwood.cli.support import console as _progress
from clearwood.models import catalogue
from clearwood.table import Task

QUICK = ("--tune", "0", "--repeats", "1")


def words(claims, *more):
    return ("benchmark", claims, "--target", "accidents", "--learners", "baseline,glm", *more)


def test_the_result_fits_into_80_columns_and_is_written(cli, claims):
    answer = cli(*words(claims, "-o", "bench.json", *QUICK))
    assert answer.code == 0, answer.err
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    assert "poisson loss" in answer.out
    assert "written  bench.json" in answer.out
    document = json.loads(Path("bench.json").read_text())
    assert [one["learner"] for one in document["learners"]] == ["glm", "baseline"]
    assert document["complete"] is True
    assert not Path("bench.db").exists()


@pytest.mark.parametrize(
    ("ending", "start"),
    [("csv", b"learner,"), ("svg", b"<svg"), ("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")],
)
def test_the_ending_of_the_file_gives_its_format(cli, claims, ending, start):
    answer = cli(*words(claims, "-o", f"bench.{ending}", *QUICK))
    assert answer.code == 0, answer.err
    assert Path(f"bench.{ending}").read_bytes().lstrip().startswith(start)


def test_what_it_recommends_next_works(cli, claims):
    import shlex

    out = cli(*words(claims, "--ignore", "power", "--kind", "age=number", *QUICK)).out
    command = out.partition("\nNext\n")[2].replace("\\\n", " ")
    assert "--ignore power" in command
    assert cli(*shlex.split(command)[1:]).code == 0


def test_json_is_one_document_and_that_of_the_file(cli, claims):
    answer = cli(*words(claims, "-o", "bench.json", "--json", *QUICK))
    written = json.loads(Path("bench.json").read_text())
    assert answer.json["learners"] == written["learners"]
    assert answer.err == ""


def test_simultaneous_intervals_are_wider_and_said_to_be(cli, claims):
    three = ("--learners", "forest", "--interval", "naive", *QUICK)
    cli(*words(claims, *three, "-o", "each.json"))
    answer = cli(*words(claims, *three, "--simultaneous", "-o", "all.json"))
    assert "all hold together" in " ".join(answer.out.split())
    each, together = (json.loads(Path(name).read_text()) for name in ("each.json", "all.json"))
    assert together["method"]["is_simultaneous"]
    for one, other in zip(each["learners"][1:], together["learners"][1:], strict=True):
        assert other["difference"] == one["difference"]
        assert other["difference_low"] < one["difference_low"]


def test_a_store_that_was_named_stays(cli, claims):
    assert cli(*words(claims, "--store", "runs.db", *QUICK)).code == 0
    assert Path("runs.db").exists()
    answer = cli(*words(claims, "--store", "runs.db", "-o", "again.json", *QUICK))
    assert answer.code == 0, answer.err


@pytest.fixture
def interrupted(cli, claims, monkeypatch):
    """A run that Ctrl-C has stopped after three fits."""
    run_unit, count = _run.run_unit, []

    def impatient(*given):
        count.append(1)
        if len(count) == 4:
            raise KeyboardInterrupt
        return run_unit(*given)

    monkeypatch.setattr(_run, "run_unit", impatient)
    return cli(*words(claims, "-o", "bench.json", *QUICK))


def test_stopping_shows_what_is_done_and_how_to_go_on(interrupted):
    assert interrupted.code == 130
    assert "stopped after 3 of 30 fits" in " ".join(interrupted.out.split())
    assert "clearwood benchmark --resume -o bench.json" in interrupted.out
    assert not Path("bench.json").exists()


def test_stopping_in_the_first_fit_keeps_what_its_tuning_tried(cli, claims, monkeypatch):
    add_trials, count = Store.add_trials, []

    def impatient(*given):
        add_trials(*given)
        count.append(1)
        if len(count) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "add_trials", impatient)
    command = ("benchmark", claims, "--target", "accidents", "-l", "tree", "--tune", "3")
    answer = cli(*command, "-o", "bench.json")
    assert answer.code == 130
    assert "clearwood benchmark --resume -o bench.json" in answer.out
    known = Store(Path("bench.db"))
    assert known.count() == 5 + 3  # the fits of the baseline, and trials of the tree
    known.close()


def test_stopping_before_anything_is_done_leaves_nothing_behind(cli, claims, monkeypatch):
    def impatient(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(_run, "run_unit", impatient)
    answer = cli(*words(claims, "-o", "bench.json", *QUICK))
    assert answer.code == 130
    assert not Path("bench.db").exists()


def test_resuming_gives_the_numbers_of_an_undisturbed_run(interrupted, cli, claims):
    assert cli("benchmark", "--resume", "-o", "bench.json").code == 0
    cli(*words(claims, "-o", "whole.json", *QUICK))
    first, second = (json.loads(Path(name).read_text()) for name in ("bench.json", "whole.json"))
    assert _numbers(first) == _numbers(second)
    assert not Path("bench.db").exists()


def _numbers(document):
    return [(one["learner"], one["risk"], one["low"], one["high"]) for one in document["learners"]]


def test_a_stopped_run_is_not_begun_anew_by_accident(interrupted, refused, cli, claims):
    assert "--resume" in refused(*words(claims, "-o", "bench.json", *QUICK))
    assert cli(*words(claims, "-o", "bench.json", "--force", *QUICK)).code == 0


def test_there_has_to_be_something_to_resume(refused):
    assert "no 'benchmark.db' to continue" in refused("benchmark", "--resume")


def test_bad_words_are_answered_before_any_work(refused, claims):
    assert "DATA is missing" in refused("benchmark")
    assert "--target is missing" in refused("benchmark", claims)
    assert "did you mean 'glm'" in refused(
        "benchmark", claims, "--target", "accidents", "-l", "glmm"
    )
    assert "--search takes one of random, grid" in refused(*words(claims, "--search", "bayes"))
    assert "--learners names no learner" in refused(
        "benchmark", claims, "--target", "accidents", "-l", ""
    )
    assert "'nowhere' does not exist" in refused(*words(claims, "--store", "nowhere/runs.db"))
    assert "'.' is a folder" in refused(*words(claims, "--store", "."))
    assert "--tune -1" in refused(*words(claims, "--tune", "-1"))
    Path("benchmark.json").write_text("mine")
    assert "exists already" in refused(*words(claims, *QUICK))
    assert Path("benchmark.json").read_text() == "mine"
    assert not Path("benchmark.db").exists()


def test_where_every_learner_failed_the_answer_says_where_the_reasons_are(cli, claims):
    answer = cli(*words(claims, "--weight", "age", "--ignore", "power", "-l", "knn", *QUICK))
    assert answer.code == 0, answer.err  # glm can use weights
    answer = cli(
        *("benchmark", claims, "--target", "accidents", "--weight", "age", "-l", "knn"),
        *("-o", "knn.json", *QUICK),
    )
    assert answer.code == 2
    assert "cannot use row weights" in answer.err
    assert "knn.json those of each fit" in answer.err
    assert json.loads(Path("knn.json").read_text())["failures"]["knn"]


def test_usual_learners_are_taken_where_none_is_named(cli, claims, monkeypatch):
    monkeypatch.setitem(catalogue.registry._USUAL, Task.COUNT, ("baseline", "glm"))
    answer = cli("benchmark", claims, "--target", "accidents", "--json", *QUICK)
    assert {one["learner"] for one in answer.json["learners"]} == {"baseline", "glm"}


def test_the_live_table_tells_fits_risks_and_the_time_left():
    from rich.console import Console

    snapshot = Snapshot(3, 10, {"glm": (3, 5, 0.5), "gbm": (0, 5, float("nan"))}, 9.0, 75.0)
    console = Console(width=80)
    with console.capture() as capture:
        console.print(_progress._table(snapshot))
    shown = capture.get()
    assert "3 of 10 fits, about 1 min 15 s left" in shown
    assert "glm" in shown
    assert "0.5" in shown
    assert "nan" not in shown


def test_lines_are_written_where_there_is_no_terminal_and_a_log_asks_for_them(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "_LINE_EVERY", 0.0)
    for choice, written in (
        ("1", f"benchmark: 3 of 10 fits, about {duration(75.0)} left\n"),
        ("", ""),
    ):
        monkeypatch.setenv("CLEARWOOD_PROGRESS", choice)
        with _progress.benchmark_progress() as watch:
            watch(Snapshot(3, 10, {}, 9.0, 75.0))
        assert capsys.readouterr().err == written


def test_repeated_people_are_pointed_out_and_can_be_kept_together(cli, tmp_path):
    rng = np.random.default_rng(0)
    person = rng.integers(0, 100, 500)
    x, own = rng.normal(size=(100, 3)), rng.normal(size=100)
    rows = np.column_stack([x[person], own[person] + 0.5 * rng.normal(size=500)])
    path = tmp_path / "visits.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,c,visits", comments="")
    common = ("benchmark", str(path), "--target", "visits", "--learners", "baseline,knn", *QUICK)
    answer = cli(*common, "--outer", "3", "-o", "one.json")
    assert "--group 'identical rows'" in " ".join(answer.err.split())
    assert json.loads(Path("one.json").read_text())["identical_rows"]["matters"]
    answer = cli(*common, "--outer", "3", "--group", "identical rows", "-o", "two.json")
    assert (answer.code, answer.err) == (0, "")
    assert '--group "identical rows"' in answer.out or "--group 'identical rows'" in answer.out
