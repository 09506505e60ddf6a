"""The run store: kills, resumption, sharing, refusals, and nothing in it that could be run."""

import json
import os
import runpy
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import clearwood as cw
from clearwood.benchmarking import Store
from clearwood.benchmarking.fitting.work import Outcome, Trial, Unit
from clearwood.benchmarking.running import store as _store
from clearwood.files import database
from clearwood.models import Choice

OPTIONS = {"tune": 3, "repeats": 1, "outer": 3, "inner": 3, "seed": 4}
LEARNERS = ["knn", "ridge"]
FITS = 2 * (3 + 3)
FITS_OF_THE_BASELINE = 3 + 3

# Run as a program, it can be killed; imported, it tells what an undisturbed run gives.
PROGRAM = """
import sys, time
import numpy as np
import clearwood as cw
from clearwood.benchmarking.fitting import work as _work


def answer(path=None):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    y = x[:, 0] - 0.5 * x[:, 1] + rng.normal(size=120)
    table = cw.read({"a": x[:, 0], "b": x[:, 1], "y": y}, target="y", task="regression")
    bench = cw.benchmark(table, LEARNERS, store=path, **OPTIONS)
    losses = np.concatenate([bench.outcomes[key].losses for key in sorted(bench.outcomes)])
    result = [(one.learner, one.risk, one.low) for one in bench.standings]
    return repr((float(losses.sum()), result))


if __name__ == "__main__":
    judge = _work.judge

    def slowly(*given):
        time.sleep(0.002)
        return judge(*given)

    _work.judge = slowly
    print("ready", flush=True)
    print(answer(sys.argv[1]), flush=True)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "program.py"
    path.write_text(f"LEARNERS = {LEARNERS}\nOPTIONS = {OPTIONS}\n{PROGRAM}")
    return path


@pytest.fixture(scope="module")
def undisturbed(program):
    return runpy.run_path(str(program))["answer"]() + "\n"


def start(program, store):
    command = [sys.executable, "-W", "ignore", str(program), str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def count(store, table):
    if not store.exists():
        return 0
    with sqlite3.connect(store, timeout=30) as base:
        try:
            result = base.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        except sqlite3.OperationalError:
            result = 0
    base.close()
    return result


@pytest.mark.long
def test_a_run_killed_again_and_again_ends_with_the_same_numbers(program, undisturbed, tmp_path):
    store = tmp_path / "killed.db"
    done = 0
    for _ in range(2):
        process = start(program, store)
        goal = done + 2
        while count(store, "outcomes") < goal and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = count(store, "outcomes")
        assert now >= done, "a finished fit was lost"
        done = now
    assert 0 < done < FITS, "the kills came too early or too late to show anything"
    assert start(program, store).communicate(timeout=120)[0] == undisturbed


@pytest.mark.long
def test_two_processes_share_a_store_and_do_no_fit_twice(program, undisturbed, tmp_path):
    store = tmp_path / "shared.db"
    both = [start(program, store) for _ in range(2)]
    answers = [process.communicate(timeout=120)[0] for process in both]
    assert answers == [undisturbed] * 2
    assert count(store, "outcomes") == FITS + FITS_OF_THE_BASELINE
    assert count(store, "claims") == count(store, "owners") == count(store, "trials") == 0


def units_run(monkeypatch):
    from clearwood.benchmarking.running import run as _run

    seen = []
    run_unit = _run.run_unit

    def counted(context, unit, *others):
        seen.append(unit.key)
        return run_unit(context, unit, *others)

    monkeypatch.setattr(_run, "run_unit", counted)
    return seen


def test_what_is_finished_is_not_fitted_again(numbers, tmp_path, monkeypatch):
    seen = units_run(monkeypatch)
    store = tmp_path / "runs.db"
    first = cw.benchmark(numbers, LEARNERS, store=store, **OPTIONS)
    assert sum(not key.startswith("baseline") for key in seen) == FITS
    seen.clear()
    again = cw.benchmark(numbers, LEARNERS, store=store, **OPTIONS)
    assert seen == []
    assert again.to_frame("dict") == first.to_frame("dict")
    assert again.archive("knn").to_json() == first.archive("knn").to_json()


def test_a_learner_can_join_later(numbers, tmp_path, monkeypatch):
    seen = units_run(monkeypatch)
    store = tmp_path / "runs.db"
    cw.benchmark(numbers, ["ridge"], store=store, **OPTIONS)
    seen.clear()
    cw.benchmark(numbers, ["ridge", "ols"], store=store, **OPTIONS)
    assert {key.partition("/")[0] for key in seen} == {"ols"}


def test_the_reference_can_become_a_learner_later(numbers, tmp_path, monkeypatch):
    seen = units_run(monkeypatch)
    store = tmp_path / "runs.db"
    first = cw.benchmark(numbers, ["ridge"], store=store, **OPTIONS)
    seen.clear()
    second = cw.benchmark(numbers, ["ridge", "baseline"], store=store, **OPTIONS)
    assert seen == []
    assert first.reference.risk == second["baseline"].risk


def test_trials_of_a_unit_that_was_cut_short_are_not_fitted_again(numbers, tmp_path, monkeypatch):
    from clearwood.benchmarking.tuning import tune as _tune

    fitted = []
    try_ = _tune._try

    def until(limit):
        def counted(context, unit, fold, several, path):
            if len(fitted) == limit:
                raise KeyboardInterrupt
            fitted.append((fold.number, json.dumps(several[0])))
            return try_(context, unit, fold, several, path)

        return counted

    store = tmp_path / "runs.db"
    options = {**OPTIONS, "interval": "naive", "repeats": None, "racing": False}
    monkeypatch.setattr(_tune, "_try", until(4))
    with pytest.raises(KeyboardInterrupt):
        cw.benchmark(numbers, ["knn"], store=store, **options)
    monkeypatch.setattr(_tune, "_try", until(1000))
    bench = cw.benchmark(numbers, ["knn"], store=store, **options)
    assert bench.complete
    assert len(fitted) == 3 * 3 * 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": 5}, "another seed: 4 there, 5 here"),
        ({"outer": 4}, "another resampling plan"),
        ({"loss": "absolute"}, "another loss: squared there, absolute here"),
        ({"tune": 4}, "another tuning: trials 3 there, trials 4 here"),
        ({"tune": 0}, "another tuning: .*trials 3.* there, none here"),
    ],
)
def test_a_store_of_another_run_is_refused_with_the_reason(numbers, tmp_path, change, reason):
    store = tmp_path / "runs.db"
    cw.benchmark(numbers, ["baseline"], store=store, **OPTIONS)
    with pytest.raises(cw.InputError, match=reason):
        cw.benchmark(numbers, ["baseline"], store=store, **{**OPTIONS, **change})


def test_a_store_of_another_table_is_refused(numbers, tmp_path):
    store = tmp_path / "runs.db"
    cw.benchmark(numbers, ["baseline"], store=store, **OPTIONS)
    with pytest.raises(cw.InputError, match="another table"):
        cw.benchmark(numbers.take(slice(1, None)), ["baseline"], store=store, **OPTIONS)


def test_a_store_of_another_version_is_refused(numbers, tmp_path, monkeypatch):
    store = tmp_path / "runs.db"
    cw.benchmark(numbers, ["baseline"], store=store, **OPTIONS)
    monkeypatch.setattr(_store, "version", lambda name: "99.9")
    with pytest.raises(cw.InputError, match=r"other versions.*99\.9"):
        cw.benchmark(numbers, ["baseline"], store=store, **OPTIONS)


def test_a_learner_with_other_settings_is_refused(numbers, tmp_path):
    store = tmp_path / "runs.db"
    options = {**OPTIONS, "tune": 0}
    cw.benchmark(numbers, [cw.learner("ridge", alpha=1.0)], store=store, **options)
    with pytest.raises(cw.InputError, match="'ridge' is another learner there"):
        cw.benchmark(numbers, [cw.learner("ridge", alpha=2.0)], store=store, **options)


def test_a_file_that_is_no_store_is_left_alone(numbers, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes, which are longer than a page header of SQLite would be" * 50)
    before = path.read_bytes()
    with pytest.raises(cw.InputError, match="is not a store of benchmarks"):
        cw.benchmark(numbers, ["baseline"], store=path, **OPTIONS)
    assert path.read_bytes() == before


def test_a_folder_that_does_not_exist(numbers, tmp_path):
    with pytest.raises(cw.InputError, match="does not exist"):
        cw.benchmark(numbers, ["baseline"], store=tmp_path / "no" / "runs.db", **OPTIONS)


def test_a_full_disk_is_told_and_what_was_finished_is_kept(numbers, tmp_path, monkeypatch):
    store = tmp_path / "runs.db"
    connection = Store._connection

    def small(self):
        base = connection(self)
        # SQLite's own limit on the size of the file stands in for the disk's
        base.execute("PRAGMA max_page_count = 40")
        return base

    options = {**OPTIONS, "tune": 0, "repeats": 30}
    monkeypatch.setattr(Store, "_connection", small)
    with pytest.raises(cw.InputError, match=r"cannot write the store.*full.*finished fits"):
        cw.benchmark(numbers, ["baseline"], store=store, **options)
    monkeypatch.setattr(Store, "_connection", connection)
    kept = count(store, "outcomes")
    assert kept > 0
    assert cw.benchmark(numbers, ["baseline"], store=store, **options).complete


def test_a_store_held_by_another_run_for_too_long(numbers, tmp_path, monkeypatch):
    store = tmp_path / "runs.db"
    cw.benchmark(numbers, ["baseline"], store=store, **OPTIONS)
    monkeypatch.setattr(database, "_PATIENCE", 0.1)
    with sqlite3.connect(store, isolation_level=None) as base:
        base.execute("BEGIN EXCLUSIVE")
        with pytest.raises(cw.InputError, match="locked by another run"):
            cw.benchmark(numbers, ["baseline"], store=store, **OPTIONS)
        base.execute("ROLLBACK")
    base.close()


def claimant(path, contenders=None):
    store = Store(path)
    store._contenders = contenders or {}
    return store


def test_a_unit_is_claimed_once_and_freed_when_its_process_dies(tmp_path, monkeypatch):
    identity = {
        "table": "",
        "group": None,
        "loss": "",
        "plan": "",
        "pairs": "",
        "seed": 0,
        "tuning": None,
    }
    identity |= {"versions": {}, "learners": {}}
    first, second = claimant(tmp_path / "a.db"), claimant(tmp_path / "a.db")
    rows = np.arange(2)
    unit = Unit("knn", "outer", 0, 0, rows, rows)
    with first.opened(identity, {}), second.opened(identity, {}):
        assert first.claim(unit.key)
        assert first.claim(unit.key)
        assert not second.claim(unit.key)
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        with first.writing() as base:
            base.execute("UPDATE owners SET pid = ? WHERE owner = ?", (process.pid, first.owner))
        assert second.claim(unit.key)
        second.add(unit, Outcome(np.ones(2)))
        assert not first.claim(unit.key)


def test_a_silent_process_counts_as_dead():
    here = os.uname().nodename
    assert _store._lives(here, os.getpid(), time.time())
    assert not _store._lives(here, os.getpid(), time.time() - 120)
    assert _store._lives("elsewhere", 1, time.time())
    assert not _store._lives(None, None, None)


def test_outcomes_come_back_to_the_bit(tmp_path, numbers):
    from clearwood.benchmarking.fitting.contenders import Contender

    odd = (8, 4)
    contender = Contender("mine", cw.learner("ridge"), {"layers": Choice(odd, (2,))})
    rng = np.random.default_rng(0)
    outcome = Outcome(
        rng.normal(size=5),
        rng.normal(size=(5, 3)),
        {"layers": odd},
        1.5,
        0.5,
        None,
        (Trial({"layers": odd}, float("inf"), 0.1, 2, failure="no", is_past_best=True),),
        ("a note",),
    )
    store = claimant(tmp_path / "a.db", {"a/b": contender})
    with store.writing() as base:
        for statement in filter(str.strip, _store._TABLES.split(";")):
            base.execute(statement)
    unit = Unit("a/b", "outer", 0, 0, np.arange(5), np.arange(5))
    store.add(unit, outcome)
    back = store.outcomes()[unit.key]
    store.close()
    np.testing.assert_array_equal(back.losses, outcome.losses)
    np.testing.assert_array_equal(back.predictions, outcome.predictions)
    assert back.settings == outcome.settings
    assert back.archive == outcome.archive
    assert (back.notes, back.seconds) == (outcome.notes, outcome.seconds)


def test_the_store_holds_plain_bytes_and_json_only(numbers, tmp_path):
    store = tmp_path / "runs.db"
    cw.benchmark(numbers, ["ridge"], store=store, **OPTIONS)
    with sqlite3.connect(store) as base:
        rows = base.execute(
            "SELECT losses, losses_form, settings, archive FROM outcomes"
        ).fetchall()
    base.close()
    assert rows
    for losses, form, settings, archive in rows:
        kind, shape = json.loads(form)
        assert kind == "<f8"
        assert len(losses) == 8 * np.prod(shape)
        json.loads(settings)
        json.loads(archive)
