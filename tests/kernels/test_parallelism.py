import os

import numpy as np
import pytest

from clearwood import InputError
from clearwood.kernels import _core, threads


def test_none_and_one_mean_one_thread():
    assert threads(None) == threads(1) == 1


def test_minus_one_means_every_core_this_process_may_use():
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    assert threads(-1) == len(usable)
    assert threads(-2) == max(1, len(usable) - 1)
    assert threads(-10_000) == 1


def test_numpy_integers_are_counts_too():
    assert threads(np.int64(3)) == 3


@pytest.mark.parametrize(
    ("n_jobs", "message"),
    [
        (0, "n_jobs=0: it must not be 0"),
        (1.5, "n_jobs=1.5: it must be a whole number"),
        ("2", "n_jobs='2': it must be a whole number"),
        (True, "n_jobs=True: it must be a whole number"),
        (10**9, "n_jobs=1000000000: it must be at most"),
    ],
)
def test_anything_else_is_refused(n_jobs, message):
    with pytest.raises(InputError, match=message):
        threads(n_jobs)


@pytest.mark.parametrize("n_blocks", [0, 1, 7, 5000])
@pytest.mark.parametrize("n_threads", [1, 2, 9])
def test_every_block_is_done_once(n_blocks, n_threads):
    visits = np.zeros(n_blocks, dtype=np.int64)
    largest = _core.parallel_probe(visits, n_threads, 0.0, -1)
    assert (visits == 1).all()
    assert largest < n_threads


def test_blocks_are_shared_among_workers():
    visits = np.zeros(40, dtype=np.int64)
    assert _core.parallel_probe(visits, 4, 0.005, -1) == 3


@pytest.mark.parametrize("n_threads", [1, 3])
def test_error_in_a_block_reaches_the_caller_and_stops_the_rest(n_threads):
    visits = np.zeros(1000, dtype=np.int64)
    with pytest.raises(RuntimeError, match="block 5 failed"):
        _core.parallel_probe(visits, n_threads, 0.001, 5)
    assert visits[5] == 0
    assert visits.sum() < 1000


INTERRUPTED = """
import signal, threading
import numpy as np
from clearwood.kernels import _core

visits = np.zeros(3000, dtype=np.int64)
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have ignored
threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
try:
    _core.parallel_probe(visits, {n_threads}, 0.01, -1)
except KeyboardInterrupt:
    print("interrupted", visits.sum() < 3000)
"""


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_ends_a_long_kernel(run_python, n_threads):
    done = run_python(INTERRUPTED.format(n_threads=n_threads))
    assert done.stdout.split() == ["interrupted", "True"], done.stderr


OTHER_THREAD = """
import threading
import numpy as np
from clearwood.kernels import _core

ticks = []
kernel = threading.Thread(
    target=_core.parallel_probe, args=(np.zeros(50, dtype=np.int64), 1, 0.01, -1)
)
kernel.start()
while kernel.is_alive():
    ticks.append(1)
print(len(ticks) > 100)
"""


def test_other_python_threads_run_while_a_kernel_does(run_python):
    done = run_python(OTHER_THREAD)
    assert done.stdout.strip() == "True", done.stderr
