"""Reading a large CSV: ours, polars and pandas side by side.

Every reader runs in a process of its own, so that the peak memory is its own. Run it with
``python benchmarks/bench_read.py [ROWS]``.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

READERS = ("clearwood", "polars", "pandas")
REPEATS = 3


def write(path: Path, n_rows: int, seed: int = 0) -> None:
    """Write 20 columns of fractions, 5 of whole numbers and 5 of 20 words each."""
    import polars as pl

    rng = np.random.default_rng(seed)
    words = np.array([f"level-{i:02d}" for i in range(20)])
    columns = {f"number_{i}": rng.normal(size=n_rows).round(6) for i in range(20)}
    columns |= {f"whole_{i}": rng.integers(0, 1000, n_rows) for i in range(5)}
    columns |= {f"word_{i}": words[rng.integers(0, 20, n_rows)] for i in range(5)}
    pl.DataFrame(columns).write_csv(path)


def _with_clearwood(path: str) -> tuple[int, int]:
    import clearwood as cw

    return cw.read(path).shape


def _with_polars(path: str) -> tuple[int, int]:
    import polars as pl

    return pl.read_csv(path).shape


def _with_pandas(path: str) -> tuple[int, int]:
    import pandas as pd

    rows, columns = pd.read_csv(path).shape
    return rows, columns


def _measure(reader: str, path: str) -> None:
    """Read once in this process and print seconds, processor seconds and peak memory as JSON."""
    readers: dict[str, Callable[[str], tuple[int, int]]] = {
        "clearwood": _with_clearwood,
        "polars": _with_polars,
        "pandas": _with_pandas,
    }
    read = readers[reader]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as small:
        small.write("a,b\n1,x\n2,y\n")
        small.flush()
        read(small.name)  # imports are not reading
    start, start_cpu = time.perf_counter(), time.process_time()
    shape = read(path)
    result = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - start_cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "shape": shape,
    }
    print(json.dumps(result))


def _best_of(reader: str, path: Path) -> dict[str, float]:
    runs = []
    for _ in range(REPEATS):
        done = subprocess.run(
            [sys.executable, __file__, "--measure", reader, str(path)],
            check=True,
            capture_output=True,
            text=True,
        )
        runs.append(json.loads(done.stdout))
    assert len({tuple(run["shape"]) for run in runs}) == 1
    return {key: min(run[key] for run in runs) for key in ("seconds", "cpu", "megabytes")}


def main(n_rows: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write(path, n_rows)
        size = path.stat().st_size / 1e6
        print(f"{n_rows:,} x 30 CSV, {size:.0f} MB; best of {REPEATS}\n")
        found = {reader: _best_of(reader, path) for reader in READERS}
    base = found["polars"]
    print("reader      seconds    CPU s  peak MB  time/polars  memory/polars")
    for reader, run in found.items():
        print(
            f"{reader:<10} {run['seconds']:>8.2f} {run['cpu']:>8.2f} {run['megabytes']:>8.0f} "
            f"{run['seconds'] / base['seconds']:>12.2f} {run['megabytes'] / base['megabytes']:>14.2f}"
        )


if __name__ == "__main__":
    if "--measure" in sys.argv:
        _measure(*sys.argv[2:4])
    else:
        main(*map(int, sys.argv[1:2]))
