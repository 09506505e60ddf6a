"""From a file to the report's page, as one types it: seconds, CPU, memory and the page's size.

No package makes such a page, so there is no peer, and nothing is promised. A table beside the
project is used where it is there, and a simulated one everywhere.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import clearwood as cw
from benchmarks._harness import ROOT, write_record

_COLUMNS = ["command", "seconds", "CPU seconds", "memory MB", "page MB"]


def report(*, quick: bool, path: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            _run(words, Path(folder))
            for words in _commands(Path(folder), quick=quick)
            if not quick or "--quick" in words
        ]
    title = "`clearwood report`, from the file to the page, in a process of its own"
    write_record(path, quick=quick, tables=[{"title": title, "columns": _COLUMNS, "rows": rows}])
    return 0


def _commands(folder: Path, *, quick: bool) -> list[list[str]]:
    policies = folder / "policies.csv"
    n_rows = 500 if quick else 5_000
    cw.datasets.insurance(n_rows, seed=1).to_frame("polars").drop("claim_amount").write_csv(
        policies
    )
    commands = [[str(policies), "--target", "accidents", "--exposure", "years"]]
    housing = ROOT.parent / "shared" / "data" / "california_housing.csv"
    if housing.exists() and not quick:
        commands.append([str(housing), "--target", "median_house_value"])
    return [[*words, *look] for words in commands for look in ([], ["--quick"])]


def _run(words: list[str], folder: Path) -> list[Any]:
    page = folder / "report.html"
    page.unlink(missing_ok=True)
    started = time.perf_counter()
    process = subprocess.Popen(
        [Path(sys.executable).with_name("clearwood"), "report", *words, "-o", page],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        message = f"clearwood report {' '.join(words)} ended with {process.returncode}"
        raise RuntimeError(message)
    row: list[Any] = [
        f"`clearwood report {Path(words[0]).name} {' '.join(words[1:])}`",
        time.perf_counter() - started,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
        page.stat().st_size / 1e6,
    ]
    print(
        "  ".join(f"{one:.3g}" if isinstance(one, float) else str(one) for one in row), flush=True
    )
    return row
