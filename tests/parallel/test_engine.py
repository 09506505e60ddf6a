"""Work over parts: the same result whoever does it, and nothing recorded is done twice."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from adding import IDENTITY, PARTS, Fatal, Flaky, Logged, added, parts_of, summed
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood import ClearwoodWarning, InputError
from clearwood.parallel import Ledger, over
from clearwood.parallel.engine import VERSION
from clearwood.parallel.pools import pool_of

numbers = st.lists(st.floats(-1e6, 1e6), max_size=5)


@given(st.lists(numbers, max_size=6))
@settings(max_examples=25, deadline=None)
def test_results_are_merged_in_the_order_of_the_parts(groups):
    run = over(parts_of(*groups), summed, added, title="adding")
    if not groups:
        assert run.state is None
        return
    total = np.array([0.0])
    for k, group in enumerate(groups):
        total = np.array([sum(group, 0.0)]) if k == 0 else total + sum(group, 0.0)
    assert run.state.arrays["sum"].tobytes() == total.tobytes()
    assert run.state.values["rows"] == sum(map(len, groups))


@pytest.fixture(scope="module")
def alone():
    return over(PARTS, summed, added, title="adding").state.arrays["sum"].tobytes()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_processes_give_the_same_bits_as_one(alone, n_jobs):
    run = over(PARTS, summed, added, title="adding", n_jobs=n_jobs)
    assert run.state.arrays["sum"].tobytes() == alone
    assert (run.n_workers, run.place, run.n_retries) == (n_jobs, "in processes", 0)


def test_threads_of_a_surrounding_configuration_are_used(alone):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        run = over(PARTS, summed, added, title="adding")
    assert run.place == "in threads"
    assert run.state.arrays["sum"].tobytes() == alone


def test_workers_that_are_killed_change_nothing(alone, tmp_path):
    work = Logged(tmp_path, deadly=("part-1", "part-6"))
    run = over(PARTS, work, added, title="adding", n_jobs=2)
    assert run.state.arrays["sum"].tobytes() == alone
    assert run.n_retries >= 2
    assert run.skipped == ()


def test_a_ledger_resumes_and_no_recorded_part_is_done_twice(alone, tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    options = {"title": "adding", "ledger": tmp_path / "run.ledger", "identity": IDENTITY}
    with pytest.raises(InputError, match=r"part 8 of 12, 'part-7', failed 4 times: ValueError"):
        over(PARTS, Logged(log, broken=("part-7",)), added, **options)
    finished = set(range(7))
    run = over(PARTS, Logged(log), added, **options)
    assert run.state.arrays["sum"].tobytes() == alone
    assert run.n_resumed == len(finished)
    begun = Logged(log).begun()
    assert all(begun.count(f"part-{k}") == 1 for k in finished)
    again = over(PARTS, Logged(log), added, **options)
    assert again.n_resumed == len(PARTS)
    assert Logged(log).begun() == begun
    other = over(PARTS, Logged(log), added, **{**options, "identity": {"work": "other"}})
    assert other.n_resumed == 0


def test_what_is_recorded_but_gone_is_done_again(tmp_path):
    options = {"title": "adding", "ledger": tmp_path / "run.ledger", "identity": IDENTITY}
    over(PARTS, summed, added, **options)
    run = over(PARTS, summed, added, holds=lambda state: state.arrays["sum"][0] > 1e9, **options)
    assert run.n_resumed == 0
    assert over(PARTS, summed, added, **options).n_resumed == len(PARTS)


def test_skipped_parts_are_told_and_listed(tmp_path):
    work = Logged(tmp_path, broken=("part-0", "part-5"))
    with pytest.warns(ClearwoodWarning, match="'part-[05]', was left out: ValueError") as told:
        run = over(PARTS, work, added, title="adding", retries=1, on_error="skip")
    assert len(told) == 2
    assert [name for name, _ in run.skipped] == ["part-0", "part-5"]
    assert run.state.values["rows"] == 20
    assert run.to_json()["skipped"][0]["part"] == "part-0"


@pytest.mark.parametrize("fatal", ["part-0", "part-2"])
def test_a_part_that_always_kills_its_worker_is_named_and_no_other(fatal):
    work = Fatal(fatal)
    with pytest.raises(InputError, match=f"'{fatal}', failed 2 times: its worker died") as caught:
        over(PARTS[:3], work, added, title="adding", retries=1, n_jobs=2)
    assert "memory" in str(caught.value)


def test_a_worker_with_another_version_is_refused(monkeypatch):
    monkeypatch.setattr("clearwood.parallel.engine.VERSION", "99.9")
    with pytest.raises(InputError, match=r"has Clearwood 0\..*, the driver 99\.9"):
        over(PARTS, summed, added, title="adding", n_jobs=2)


def test_interrupting_keeps_what_is_recorded(tmp_path):
    def work(part):
        if part.name == "part-4":
            raise KeyboardInterrupt
        return summed(part)

    options = {"title": "adding", "ledger": tmp_path / "run.ledger", "identity": IDENTITY}
    with pytest.raises(KeyboardInterrupt):
        over(PARTS, work, added, **options)
    assert over(PARTS, summed, added, **options).n_resumed == 4


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_does_not_reach_processes_that_are_starting():
    pool_of(2).stop()  # they may have been started by others
    pool = pool_of(2)
    blocked = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
    pool.stop()
    assert signal.SIGINT in blocked
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from adding import IDENTITY, PARTS, Logged, added
from clearwood.parallel import over
if __name__ == "__main__":
    run = over(PARTS, Logged(Path({log!r}), seconds={seconds}), added, title="adding",
               ledger={ledger!r}, identity=IDENTITY, n_jobs={n_jobs})
    print(run.state.arrays["sum"].tobytes().hex())
"""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_driver_that_ends_loses_only_the_parts_under_way(alone, tmp_path, n_jobs, sent):
    log, ledger = tmp_path / "log", tmp_path / "run.ledger"
    log.mkdir()
    text = PROGRAM.format(
        folder=str(Path(__file__).parent),
        log=str(log),
        ledger=str(ledger),
        n_jobs=n_jobs,
        seconds=0.15,
    )
    driver = subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while len(list(log.iterdir())) < 5 and time.monotonic() < end:
        time.sleep(0.02)
    driver.send_signal(sent)
    driver.communicate(timeout=60)
    finished = set(Ledger(ledger).page({**IDENTITY, "clearwood": VERSION}).finished)
    assert 0 < len(finished) < len(PARTS)
    begun = Logged(log).begun()
    run = over(PARTS, Logged(log), added, title="adding", ledger=ledger, identity=IDENTITY)
    assert run.state.arrays["sum"].tobytes() == alone
    assert run.n_resumed == len(finished)
    again = Logged(log).begun()
    assert all(again.count(f"part-{k}") == begun.count(f"part-{k}") for k in finished)


@pytest.mark.parametrize("wrong", ["text", "database"])
def test_a_file_that_is_no_ledger_is_refused_and_kept(tmp_path, wrong):
    file = tmp_path / "notes.db"
    if wrong == "text":
        file.write_text("these are my notes, which are rather long, and no database at all" * 20)
    else:
        with sqlite3.connect(file) as base:
            base.execute("CREATE TABLE mine (x)")
        base.close()
    with pytest.raises(InputError, match=r"not a ledger"):
        over(PARTS, summed, added, title="adding", ledger=file, identity=IDENTITY)
    if wrong == "text":
        assert file.read_text().startswith("these are my notes")
    else:
        with sqlite3.connect(file) as base:
            assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]
        base.close()


def test_a_ledger_in_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist") as caught:
        over(PARTS, summed, added, title="x", ledger=tmp_path / "no" / "x", identity=IDENTITY)
    assert caught.value.parameter == "ledger"


def test_progress_says_parts_workers_and_retries(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CLEARWOOD_PROGRESS", "1")
    monkeypatch.setattr("clearwood._shared.progress._LINE_EVERY", 0.0)
    work = Flaky(tmp_path)
    over(PARTS[:3], work, added, title="adding")
    text = capsys.readouterr().err
    assert "adding: 3 of 3, 1 worker, 1 retry" in text


@pytest.mark.long
def test_a_dask_cluster_gives_the_same_bits_with_a_worker_killed(alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        run = over(PARTS, summed, added, title="adding")
        assert (run.place, run.n_workers) == ("on a Dask cluster", 2)
        assert run.state.arrays["sum"].tobytes() == alone
        log = tmp_path / "log"
        log.mkdir()
        run = over(PARTS, Logged(log, deadly=("part-3",)), added, title="adding")
        assert run.state.arrays["sum"].tobytes() == alone
        del client
