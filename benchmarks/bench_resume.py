"""Benchmarks and fits killed at random moments and resumed, compared with uninterrupted ones.

The difference has to be zero; besides, no fit of a benchmark that was finished may be lost, and no
more fits may be repeated than were in flight when a kill came. A fit of trees to a table in parts
is killed some time after it has written a checkpoint. Run as ``python -m benchmarks.bench_resume
STORE JOURNAL``, or ``... fit LEARNER CHECKPOINT PREDICTIONS``, it is the program that is killed.
"""

import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import ROOT, Case, Comparison
from benchmarks.bench_parts import Rows
from clearwood.benchmarking import Benchmark, Store
from clearwood.table import Parts

LEARNERS = ("knn", "ridge", "tree")
Losses = NDArray[np.float64]


def comparisons(*, quick: bool) -> list[Comparison]:
    kills = 3 if quick else 50
    return [
        Comparison(
            title=f"nested cross-validation of three learners, {kills} kills",
            data=lambda: kills,
            cases=[
                Case("killed and resumed", lambda kills, _: lambda: killed(kills)),
                Case("uninterrupted", lambda _, __: lambda: losses_of(benchmark(None))),
            ],
            repeats=0,
        ),
        *(_fit(name, 2 if quick else 5) for name in ("lightgbm", "xgboost")),
    ]


def benchmark(store: Path | None) -> Benchmark:
    data = cw.datasets.load("diabetes")
    return cw.benchmark(data, LEARNERS, tune=8, repeats=1, seed=0, store=store)


def losses_of(bench: Benchmark) -> Losses:
    losses_of_units = [bench.outcomes[key].losses for key in sorted(bench.outcomes)]
    return np.concatenate([losses for losses in losses_of_units if losses is not None])


def killed(kills: int) -> Losses:
    """Start the run, kill it at a random moment, start it again, ...; then let it end."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        store, journal = Path(folder) / "runs.db", Path(folder) / "journal"
        journal.touch()
        for kill in range(kills):
            process = _start(store, journal)
            # after the imports; the moment is random from the first fits on
            before = journal.stat().st_size
            while journal.stat().st_size == before and process.poll() is None:
                time.sleep(0.001)
            time.sleep(float(rng.uniform(0, 0.3)))
            process.send_signal(signal.SIGKILL)
            process.wait()
            _check(store, journal, kill + 1)
        _start(store, journal).wait()
        _check(store, journal, kills)
        counts = Counter(journal.read_text(encoding="utf-8").splitlines())
        print(f"  {sum(counts.values())} fits kept, {_repeated(counts)} of them twice", flush=True)
        return losses_of(benchmark(store))


def _start(*arguments: Path | str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.bench_resume"]
    return subprocess.Popen([*command, *map(str, arguments)], cwd=ROOT)


def _fit(name: str, kills: int) -> Comparison:
    return Comparison(
        title=f"300 trees of {name}, 60,000 rows in three parts, {kills} kills",
        data=lambda: kills,
        cases=[
            Case("killed and resumed", lambda kills, _: lambda: killed_fit(name, kills)),
            Case("uninterrupted", lambda _, __: lambda: fit_in_parts(name, None)),
        ],
        repeats=0,
    )


def fit_in_parts(name: str, checkpoint: Path | None) -> NDArray[np.float64]:
    """Fit trees without random numbers to a table in parts; predict its first rows."""
    parts = Parts.of(Rows(n_columns=8), 60_000, part_rows=20_000, target="y")
    settings: dict[str, Any] = {"n_estimators": 300, "learning_rate": 0.05, "colsample_bynode": 1.0}
    model = cw.learner(name, **settings).fit(parts, checkpoint=checkpoint)
    return np.asarray(model.predict(parts.head(5_000)), dtype=float)


def killed_fit(name: str, kills: int) -> NDArray[np.float64]:
    """Start the fit, kill it after its next checkpoint, start it again, ...; then let it end."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, output = Path(folder) / "fit.json", Path(folder) / "predictions.npy"
        done = 0
        while not output.exists():
            before = _written(checkpoint)
            process = _start("fit", name, checkpoint, output)
            while process.poll() is None and (done == kills or _written(checkpoint) == before):
                time.sleep(0.002)
            time.sleep(float(rng.uniform(0, 0.1)))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                done += 1
            if process.wait() > 0:
                raise RuntimeError(f"the fit of {name} ended with an error")
        print(f"  {done} kills", flush=True)
        return np.asarray(np.load(output), dtype=float)


def _written(checkpoint: Path) -> int:
    """Return when a checkpoint was written, 0 where there is none yet."""
    try:
        return checkpoint.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _repeated(counts: Counter[str]) -> int:
    return sum(count - 1 for count in counts.values())


def _check(store: Path, journal: Path, kills: int) -> None:
    with sqlite3.connect(store, timeout=60) as base:
        units = {row[0] for row in base.execute("SELECT unit FROM outcomes")}
        trials = set(base.execute("SELECT unit, trial FROM trials"))
    base.close()
    counts = Counter(journal.read_text(encoding="utf-8").splitlines())
    for line in counts:
        unit, _, trial = line.partition("\t")
        if unit not in units and (unit, trial) not in trials:
            raise RuntimeError(f"a finished fit was lost: {line}")
    if _repeated(counts) > kills:
        raise RuntimeError(f"{_repeated(counts)} fits were repeated in {kills} kills")


def main() -> None:
    if sys.argv[1] == "fit":
        name, checkpoint, output = sys.argv[2:]
        np.save(output, fit_in_parts(name, Path(checkpoint)))
        return
    store, journal = Path(sys.argv[1]), Path(sys.argv[2])
    add, add_trials = Store.add, Store.add_trials

    def write(line: str) -> None:
        with journal.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def noted(self: Store, unit: Any, outcome: Any) -> None:
        add(self, unit, outcome)
        write(unit.key)

    def noted_trials(self: Store, unit: str, results: Any) -> None:
        add_trials(self, unit, results)
        # the values of a path are one fit
        write(f"{unit}\t{next(iter(results))}")

    _replace(Store, add=noted, add_trials=noted_trials)
    benchmark(store)


def _replace(owner: type, **methods: Callable[..., None]) -> None:
    for name, method in methods.items():
        setattr(owner, name, method)


if __name__ == "__main__":
    main()
