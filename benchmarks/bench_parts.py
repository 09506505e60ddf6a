"""A model explained over a table in parts: memory, CPU time and bytes by the number of rows.

Rows are made by a function when they are needed, so that no disk is measured. Every size runs in a
process of its own. Then workers and the driver are killed at random moments; the result has to be
the same to the bit, and no part that was recorded may be worked on again.

Run as ``python -m benchmarks.bench_parts measure ROWS`` or ``... add LEDGER LOG PROCESSES`` it
is the program that is measured, or killed. ``... simulate ROWS [COLUMNS [TREES]]`` surveys and
explains any number of rows in one process, and prints CPU time and peak memory after every step.
``... held ROWS`` explains a table in memory, and prints what the explanation takes beside it.
``... chosen SEEDS [ROWS]`` compares fits whose number of trees is chosen, in parts and in memory.
"""

import itertools
import json
import os
import pickle
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import ROOT
from benchmarks._memory import CLEAR, give_back_freed, resident
from clearwood.explanation import Explanation
from clearwood.parallel import State, over
from clearwood.table import Parts, as_table

#: Rows of a part, and those that kinds and levels are found from.
PART_ROWS = 250_000
SURVEYED = 100_000
COLUMNS = 20
TOWNS = ["Bern", "Chur", "Genf", "Basel", "Thun"]
CODES = [f"c{k:03d}" for k in range(200)]
#: Parts that are worked on while workers and drivers are killed.
N_PARTS = 40


@dataclass(frozen=True)
class Rows:
    """Makes rows from their numbers alone; two of the columns are categories."""

    log: str = ""
    n_columns: int = COLUMNS

    def __call__(self, start: int, stop: int) -> pa.Table:
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{start}\n")
        number = np.arange(start, stop, dtype=np.uint64)
        x = [_uniform(number, k) for k in range(self.n_columns - 2)]
        town = (_uniform(number, 90) * len(TOWNS)).astype(np.int32)
        code = (_uniform(number, 91) ** 2 * len(CODES)).astype(np.int32)
        y = x[0] * x[1] + np.sin(6 * x[2]) + (town == 1) + 0.1 * _uniform(number, 92)
        # levels come as codes, as they do from Parquet files
        return pa.table(
            {
                **{f"x{k:02d}": values for k, values in enumerate(x)},
                "town": pa.DictionaryArray.from_arrays(town, TOWNS),
                "code": pa.DictionaryArray.from_arrays(code, CODES),
                "y": y,
            }
        )


def _uniform(number: NDArray[np.uint64], stream: int) -> NDArray[np.float64]:
    """Scramble row numbers into uniform ones (the finaliser of SplitMix64)."""
    x = number * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stream * 0xD1342543DE82EF95 % 2**64)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.asarray((x >> np.uint64(11)).astype(np.float64) / 2**53)


def table_of(n_rows: int, part_rows: int = PART_ROWS, log: str = "") -> Parts:
    """Return a table of so many rows, whose kinds are known from the first of them."""
    few = Parts.of(Rows(), min(n_rows, SURVEYED), target="y")
    first: Any = few.parts[0]
    parts = tuple(
        replace(
            first,
            name=f"rows {at} on",
            n_rows=min(part_rows, n_rows - at),
            rows=replace(
                first.rows, function=Rows(log), start=at, stop=min(at + part_rows, n_rows)
            ),
        )
        for at in range(0, n_rows, part_rows)
    )
    return replace(few, parts=parts)


def model(n_columns: int = COLUMNS, n_trees: int = 100) -> Any:
    """Fit trees of 31 leaves to some rows."""
    few = cw.read(Rows(n_columns=n_columns)(0, 20_000), target="y")
    return cw.learner("lightgbm", n_estimators=n_trees, num_leaves=31).fit(few)


def measure(n_rows: int) -> dict[str, Any]:
    """Explain so many rows in this process."""
    fitted, data = model(), table_of(n_rows)
    seconds: dict[str, float] = {}

    def timed(name: str, call: Any) -> Any:
        started = time.process_time()
        result = call()
        seconds[name] = time.process_time() - started
        return result

    timed("make rows", lambda: [part.rows for part in data.parts for _ in part.batches()])
    timed("sample", lambda: data.sample(200_000))
    why = timed("count", lambda: cw.explain(fitted, data))
    timed("measure", why.importance)
    timed("effects", why.effects)
    with tempfile.TemporaryDirectory() as folder:
        written = timed("write", lambda: why.shapley(to=folder))
        n_bytes = sum(file.stat().st_size for file in Path(folder).iterdir())
    bound = why.bound()
    counts = {k: np.asarray(v) for k, v in bound.game.counted(why.rows(), None).items()}
    started = time.process_time()
    bound.game.added(counts, counts)
    merging = time.process_time() - started
    return {
        "rows": n_rows,
        "parts": len(data.parts),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "cpu_seconds": seconds,
        "bytes_to_a_worker": len(pickle.dumps(bound)),
        "bytes_of_a_part": len(pickle.dumps(data.parts[0])),
        "bytes_from_a_part": sum(array.nbytes for array in counts.values()),
        "seconds_to_merge_a_part": merging,
        "bytes_written_a_row": n_bytes / written.n_rows,
        "baseline": why.baseline,
    }


def simulate(n_rows: int, n_columns: int, n_trees: int) -> dict[str, Any]:
    """Survey so many rows that a function makes, and explain a model over all of them."""
    fitted = model(n_columns, n_trees)
    steps: dict[str, dict[str, float]] = {}

    def timed(name: str, call: Any) -> Any:
        started = time.process_time()
        result = call()
        steps[name] = {
            "cpu_seconds": time.process_time() - started,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(f"{name}: {json.dumps(steps[name])}", file=sys.stderr, flush=True)
        return result

    timed("imports and model", lambda: None)
    data = timed("survey", lambda: Parts.of(Rows(n_columns=n_columns), n_rows, target="y"))
    why = timed("sample", lambda: Explanation(fitted, data))
    timed("background", lambda: why.decomposition)
    importance = timed("importance", why.importance)
    largest = int(np.argmax(importance.share))
    return {
        "rows": n_rows,
        "columns": n_columns,
        "trees": n_trees,
        "parts": len(data.parts),
        "steps": steps,
        "peak_mb": max(step["peak_mb"] for step in steps.values()),
        "cpu_us_a_row": 1e6 * sum(step["cpu_seconds"] for step in steps.values()) / n_rows,
        "baseline": why.baseline,
        "most_important": [importance.columns[largest], float(importance.share[largest])],
    }


def held(n_rows: int, n_columns: int = COLUMNS, n_trees: int = 30) -> dict[str, float]:
    """Return the MB that explaining a table in memory takes at its peak, and that stay taken."""
    fitted = model(n_columns, n_trees)
    data = cw.read(Rows(n_columns=n_columns)(0, n_rows), target="y")
    cw.explain(fitted, data.head(100)).importance()  # what the first call loads
    give_back_freed()
    CLEAR.write_text("5", encoding="ascii")
    before = resident("VmRSS")
    why = cw.explain(fitted, data)
    peak = resident("VmHWM") - before
    give_back_freed()
    return {"peak_mb": peak, "held_mb": resident("VmRSS") - before, "baseline": float(why.baseline)}


# One more row


def one_more_row(name: str, settings: dict[str, Any], n_rows: int = 3000) -> dict[str, float]:
    """Compare the Shapley values of rows, from an explanation that is kept, with predicting them.

    Rows come as a table or as a data frame, one at a time and many at once, none of them twice.
    """
    rows = Rows(n_columns=30)
    data = cw.read(rows(0, n_rows), target="y")
    fitted = cw.learner(name, **settings).fit(data)
    why = cw.explain(fitted, data)
    frame = rows(n_rows, n_rows + 10_000).drop_columns(["y"]).to_pandas()

    def inputs(first: int) -> dict[str, list[Any]]:
        single = [frame.iloc[[k]] for k in range(first, first + 40)]
        return {
            "table row": [as_table(one, schema=fitted.schema_) for one in single],
            "frame row": single,
            "10,000 rows": [frame[k : k + 10_000] for k in range(3)],
        }

    # different rows for either call, since a table remembers what was computed of it
    explained, predicted = inputs(0), inputs(40)
    return {
        kind: _median(why.shapley, explained[kind]) / _median(fitted.predict, predicted[kind])
        for kind in explained
    }


def _median(call: Any, inputs: list[Any]) -> float:
    """Return the CPU seconds of a call; the first one is not counted."""
    seconds = []
    for one in inputs:
        started = time.process_time()
        call(one)
        seconds.append(time.process_time() - started)
    return float(np.median(seconds[1:]))


#: Learners whose single rows are timed, with settings that fit in seconds.
HANDLES: dict[str, dict[str, Any]] = {
    "gbm": {"max_iter": 60},
    "lightgbm": {"n_estimators": 60},
    "xgboost": {"n_estimators": 60},
    "forest": {"n_estimators": 20, "max_depth": 6},
    "tree": {},
    "gam": {},
    "glass": {},
    "planted": {},
    "mars": {},
    "rules": {},
    "ols": {},
}


# Kills


@dataclass(frozen=True)
class Numbered:
    """A part that is only a number."""

    number: int

    @property
    def name(self) -> str:
        return f"part {self.number}"


@dataclass(frozen=True)
class Summing:
    """Adds up numbers of a part, in an order that shows in the last bits, and logs the part."""

    log: str

    def __call__(self, part: Numbered) -> State:
        with Path(self.log).open("a") as file:
            file.write(f"{part.number}\n")
        time.sleep(0.02)
        numbers = np.random.default_rng(part.number).normal(size=1000) * 10.0**part.number
        return State({}, {"sum": np.array([numbers.sum()])})


def _added(one: State, other: State) -> State:
    return State({}, {"sum": one.arrays["sum"] * 0.1 + other.arrays["sum"]})


def add(ledger: str, log: str, n_jobs: int) -> None:
    """Work on 40 parts with a ledger, and print the bits of the result."""
    run = over(
        [Numbered(k) for k in range(N_PARTS)],
        Summing(log),
        _added,
        title="adding",
        identity={"work": "adding"},
        ledger=ledger,
        retries=20,
        n_jobs=n_jobs,
    )
    assert run.state is not None
    print(json.dumps({"bits": run.state.arrays["sum"].tobytes().hex(), **run.to_json()}))


def kill(n_kills: int, whom: str, n_jobs: int) -> dict[str, Any]:
    """Kill workers or the driver again and again; compare with what nobody killed gives."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        expected = json.loads(_run(Path(folder) / "alone", Path(folder) / "log-alone", 1)[0])
        done, n_same, n_runs, redone = 0, 0, 0, 0
        while done < n_kills:
            ledger, log = Path(folder) / f"{n_runs}", Path(folder) / f"log-{n_runs}"
            log.touch()
            while True:
                before = _recorded(ledger)
                begun = Counter(log.read_text().split())
                text, killed = _run(
                    ledger, log, n_jobs, whom if done < n_kills else "", float(rng.random())
                )
                done += killed
                again = Counter(log.read_text().split()) - begun
                redone += sum(again[str(part)] > 0 for part in before)
                if text:
                    break
            result = json.loads(text)
            n_same += result["bits"] == expected["bits"]
            n_runs += 1
    return {"killed": whom, "kills": done, "runs": n_runs, "same": n_same, "redone": redone}


def _recorded(ledger: Path) -> set[int]:
    """Return the parts that a ledger has."""
    if not ledger.exists():
        return set()
    with sqlite3.connect(ledger) as base:
        rows = base.execute("SELECT part FROM parts").fetchall()
    base.close()
    return {part for (part,) in rows}


def _run(
    ledger: Path, log: Path, n_jobs: int, whom: str = "", moment: float = 0.0
) -> tuple[str, int]:
    """Run the program; kill it, or one of its workers, at some moment of its work."""
    command = [sys.executable, "-m", "benchmarks.bench_parts", "add"]
    program = subprocess.Popen(
        [*command, str(ledger), str(log), str(n_jobs)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    killed = 0
    if whom:
        # when a random number of parts has been begun
        start = len(log.read_text().split())
        wanted = start + int(moment * N_PARTS)
        while program.poll() is None and len(log.read_text().split()) < wanted:
            time.sleep(0.005)
        pids = [program.pid] if whom == "driver" else _children(program.pid)
        if program.poll() is None and pids:
            os.kill(pids[-1], signal.SIGKILL)
            killed = 1
    output, _ = program.communicate()
    return output.strip(), killed


def _children(pid: int) -> list[int]:
    """List the worker processes of a program, from what Linux knows of every process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_text()
        except OSError:
            continue  # it has ended
        if int(parent) == pid and "resource_tracker" not in command:
            found.append(int(folder.name))
    return found


# The report


def chosen(n_seeds: int, n_rows: int = 12_000, n_new: int = 20_000) -> dict[str, Any]:
    """Fit with the number of trees chosen, in parts and in memory, to tables that seeds draw.

    The ratio of the losses on new rows is that of fits with the same settings and seed to the same
    rows. Columns are drawn at random for every split, so two fits of one seed differ by chance too:
    ``again`` is the ratio of two fits in memory with different seeds.
    """
    ratios: dict[str, dict[str, list[float]]] = {}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)

        def rows(n: int, rng: np.random.Generator = rng) -> dict[str, Any]:
            x = rng.random((n, 8))
            town = rng.integers(0, len(TOWNS), n)
            mean = 2 * x[:, 0] * x[:, 1] + np.sin(6 * x[:, 2]) + (town == 1) * x[:, 3]
            columns = {f"x{k}": x[:, k] for k in range(8)}
            y = mean + rng.normal(size=n)
            return {**columns, "town": np.array(TOWNS)[town], "y": y}

        data = rows(n_rows)
        cuts = [0, n_rows // 5, n_rows // 2, n_rows]
        pieces = [
            pa.table({name: values[a:b] for name, values in data.items()})
            for a, b in itertools.pairwise(cuts)
        ]
        table = cw.read(data, target="y")
        parts = cw.scan(pieces, target="y")
        new = cw.read(rows(n_new), target="y")
        for name in ("lightgbm", "xgboost"):
            fits = {
                "memory": cw.learner(name, seed=seed).fit(table),
                "parts": cw.learner(name, seed=seed).fit(parts),
                "again": cw.learner(name, seed=seed + 1000).fit(table),
            }
            risks = {
                key: float(np.mean((fit.predict(new) - new.y) ** 2)) for key, fit in fits.items()
            }
            trees = {key: fit.estimator_.n_estimators for key, fit in fits.items()}
            of_name = ratios.setdefault(name, {})
            for key in ("parts", "again"):
                of_name.setdefault(key, []).append(risks[key] / risks["memory"])
                of_name.setdefault(f"trees, {key} / memory", []).append(
                    trees[key] / trees["memory"]
                )
    return {
        name: {
            key: {
                "mean": float(np.mean(values)),
                "se": float(np.std(values, ddof=1) / np.sqrt(len(values))),
                "greatest": float(np.max(values)),
            }
            for key, values in by_key.items()
        }
        for name, by_key in ratios.items()
    }


def report(*, quick: bool, path: Path) -> int:
    """Measure and print; return how many promises were not kept."""
    sizes = (100_000, 500_000) if quick else (500_000, 5_000_000)
    measured = []
    for n_rows in sizes:
        command = [sys.executable, "-m", "benchmarks.bench_parts", "measure", str(n_rows)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        text = subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True, env=environment
        ).stdout
        one = json.loads(text)
        measured.append(one)
        cpu = ", ".join(
            f"{name} {1e6 * value / n_rows:.1f}" for name, value in one["cpu_seconds"].items()
        )
        print(f"{n_rows:>12,} rows: peak {one['peak_mb']:,.0f} MB; CPU µs a row: {cpu}", flush=True)
    ratio = measured[-1]["peak_mb"] / measured[0]["peak_mb"]
    print(f"memory of {sizes[-1]:,} against {sizes[0]:,} rows: {ratio:.2f}x")
    handles = {}
    for name, settings in list(HANDLES.items())[: 2 if quick else None]:
        handles[name] = one_more_row(name, settings)
        shown = ", ".join(f"{kind} {value:.2f}x" for kind, value in handles[name].items())
        print(f"Shapley values against predictions, {name}: {shown}", flush=True)
    kills = [kill(2 if quick else 50, "worker", 2), kill(2 if quick else 20, "driver", 1)]
    for one in kills:
        # a run whose workers are killed goes on by itself; one whose driver is killed is resumed
        redone = f", {one['redone']} recorded parts done again" if one["killed"] == "driver" else ""
        print(
            f"{one['kills']} kills of a {one['killed']} in {one['runs']} runs: {one['same']} with "
            f"the same bits{redone}"
        )
    path.write_text(
        json.dumps({"sizes": measured, "handles": handles, "kills": kills}, indent=1) + "\n"
    )
    broken: int = sum(one["same"] < one["runs"] or one["redone"] > 0 for one in kills)
    return broken + int(ratio > 1.1 and not quick)


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        print(json.dumps(measure(int(sys.argv[2]))))
    elif sys.argv[1] == "chosen":
        print(json.dumps(chosen(*(int(text.replace("_", "")) for text in sys.argv[2:])), indent=1))
    elif sys.argv[1] == "simulate":
        sizes = [int(text.replace("_", "")) for text in sys.argv[2:]]
        print(json.dumps(simulate(*sizes, *(8, 30)[len(sizes) - 1 :])))
    elif sys.argv[1] == "held":
        print(json.dumps(held(int(sys.argv[2].replace("_", "")))))
    else:
        add(sys.argv[2], sys.argv[3], int(sys.argv[4]))
