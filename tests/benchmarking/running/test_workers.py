"""Running in parallel: the same numbers on any number of workers and on any backend."""

import os
import subprocess
import sys
import time
from contextlib import nullcontext

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import clearwood as cw
from clearwood._shared import progress
from clearwood.benchmarking.fitting.workers import Workers, _on_one_core
from clearwood.resampling import HoldOut

OPTIONS = {"tune": 3, "repeats": 1, "outer": 3, "inner": 3}
LEARNERS = ["knn", "ridge", "tree"]


def numbers_of(bench):
    return {
        key: (outcome.losses.tolist(), dict(outcome.settings))
        for key, outcome in bench.outcomes.items()
    }


@pytest.fixture(scope="module")
def alone(numbers):
    return numbers_of(cw.benchmark(numbers, LEARNERS, **OPTIONS))


@pytest.mark.long
def test_two_processes_give_the_numbers_of_one(numbers, alone, tmp_path):
    store = tmp_path / "runs.db"
    both = cw.benchmark(numbers, LEARNERS, n_jobs=2, store=store, **OPTIONS)
    assert numbers_of(both) == alone
    assert numbers_of(cw.benchmark(numbers, LEARNERS, store=store, **OPTIONS)) == alone


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:the best .* is at:clearwood.ClearwoodWarning")
def test_boosted_trees_tuned_along_fits_do_not_depend_on_workers_or_interruptions(
    numbers, tmp_path
):
    from clearwood.models import Real, Whole

    space = {"gbm": {"max_iter": Whole(2, 40, log=True), "learning_rate": Real(0.05, 0.3)}}
    options = {"tune": 6, "outer": 3, "inner": 2, "repeats": 1, "space": space}
    alone = numbers_of(cw.benchmark(numbers, ["gbm"], **options))
    assert numbers_of(cw.benchmark(numbers, ["gbm"], n_jobs=2, **options)) == alone

    def stop(snapshot):
        if snapshot.done == 5:
            raise KeyboardInterrupt

    store = tmp_path / "runs.db"
    with (
        pytest.warns(cw.ClearwoodWarning, match="stopped: 5 of "),
        progress.shown_by(lambda: nullcontext(stop)),
    ):
        cw.benchmark(numbers, ["gbm"], store=store, **options)
    assert numbers_of(cw.benchmark(numbers, ["gbm"], store=store, **options)) == alone


def test_threads_give_them_too(numbers, alone):
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert Workers(1).count == 2
        assert numbers_of(cw.benchmark(numbers, LEARNERS, **OPTIONS)) == alone


def test_a_backend_that_gives_results_all_at_once_gives_them_too(numbers, alone):
    class AtOnce(joblib._parallel_backends.ThreadingBackend):
        """As joblib's multiprocessing."""

        supports_return_generator = False

    joblib.register_parallel_backend("at-once", AtOnce)
    seen = []
    display = nullcontext(lambda snapshot: seen.append(snapshot.done))
    with joblib.parallel_config(backend="at-once", n_jobs=2), progress.shown_by(lambda: display):
        bench = cw.benchmark(numbers, LEARNERS, **OPTIONS)
    assert numbers_of(bench) == alone
    assert seen == list(range(1, len(alone) + 1))


def test_trials_are_spread_where_there_are_fewer_units_than_workers(numbers):
    options = {"tune": 4, "plan": HoldOut(0.3)}
    alone = cw.benchmark(numbers, ["knn"], **options)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        spread = cw.benchmark(numbers, ["knn"], **options)
    assert numbers_of(spread) == numbers_of(alone)


def test_a_worker_uses_one_core():
    np.linalg.svd(np.ones((4, 4)))
    result = _on_one_core(-1, threadpool_info)
    assert result
    assert all(pool["num_threads"] == 1 for pool in result)


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="a child does not notice there that its parent is gone")
def test_workers_end_when_the_run_they_work_for_is_killed(tmp_path):
    """They would go on for nobody, and then wait for minutes, holding memory."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, time\n"
        "from clearwood.benchmarking.fitting.workers import Workers\n"
        "from clearwood.parallel import end_with\n"
        "def work(main):\n"
        "    end_with(main)\n"
        "    open(FILE, 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
        f"FILE = {str(tmp_path / 'pid')!r}\n"
        "if __name__ == '__main__':\n"
        "    list(Workers(2).unordered(work, [(os.getpid(),)]))\n"
    )
    main = subprocess.Popen([sys.executable, str(program)])
    pid_file = tmp_path / "pid"
    try:
        assert _within_a_minute(lambda: pid_file.exists() and pid_file.read_text())
    finally:
        main.kill()
        main.wait()
    worker = int(pid_file.read_text())
    assert _within_a_minute(lambda: not _there(worker))


def _within_a_minute(happens):
    end = time.monotonic() + 60
    while not happens():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("processes", [False, True], ids=["threads", "processes"])
def test_a_dask_cluster_of_two_workers_gives_the_same_numbers(numbers, alone, tmp_path, processes):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        assert not Workers(1).shares_files
        assert Workers(1).count == 2
        bench = cw.benchmark(numbers, LEARNERS, store=tmp_path / "runs.db", **OPTIONS)
        where = client.run(lambda dask_worker: (os.getpid(), dask_worker.state.executed_count))
    assert numbers_of(bench) == alone
    pids, done = zip(*where.values(), strict=True)
    assert (os.getpid() in pids) != processes
    # both have worked
    assert min(done) > 0
