"""Measure ours and the peers through one interface.

A section is a module ``bench_<name>.py`` with one function::

    def comparisons(*, quick: bool) -> list[Comparison]

or, where nothing is timed, one that prints its own table, writes its figures and counts the
promises that were not kept::

    def report(*, quick: bool, path: Path) -> int

Each `Comparison` has a title, a function that makes the data, and cases of which the first is ours.
A case is prepared (its package imported, models built, inputs converted) and then called; only the
call is measured, and it returns the answer, so that speed is never compared between different
answers.
"""

import importlib
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from packaging.requirements import Requirement
from threadpoolctl import threadpool_limits

from clearwood.kernels import simd_level

__all__ = [
    "Case",
    "Comparison",
    "Measurement",
    "Missing",
    "compare",
    "largest_difference",
    "load",
    "machine",
    "report_of",
    "write_record",
]

ROOT = Path(__file__).parents[1]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
# Calls shorter than this are repeated within one measurement, for the clock's sake.
SHORTEST = 0.02
# After this many seconds a case is not repeated any more.
BUDGET = 10.0


def largest_difference(answer: Any, reference: Any) -> float:
    """Largest absolute difference; values missing in both agree, in one differ infinitely."""
    a, b = np.asarray(answer, dtype=float), np.asarray(reference, dtype=float)
    if a.shape != b.shape:
        message = f"the answers have different shapes: {a.shape} and {b.shape}"
        raise ValueError(message)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    gap = np.abs(a[~same] - b[~same])
    return float(np.where(np.isnan(gap), np.inf, gap).max())


@dataclass(frozen=True)
class Case:
    """One way to get the answer.

    Parameters
    ----------
    name
        Shown in the table.
    prepare
        Takes the data and the number of threads, imports what it needs and returns the call to
        measure.
    package
        What to install when `prepare` finds a module missing.
    share
        How much of the work the call does, where all of it would take hours; its times are divided
        by that, and the table marks them with ~.
    """

    name: str
    prepare: Callable[[Any, int], Callable[[], Any]]
    package: str | None = None
    share: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """Several ways to get the same answer from the same data.

    Parameters
    ----------
    title
        What is computed, on how much.
    data
        Makes the data; called once per process, not measured.
    cases
        The first is ours; ratios and differences are against it.
    threads
        Given to every case, and the limit of every OpenMP and BLAS pool.
    difference
        How far an answer is from ours.
    promises
        Peer's name → how many times ours must be faster in CPU time; a full run that falls short
        ends with an error.
    memory_promises
        Peer's name → how many times its memory ours may take at most.
    repeats
        Best of how many.
    """

    title: str
    data: Callable[[], Any]
    cases: Sequence[Case]
    threads: int = 1
    difference: Callable[[Any, Any], float] = largest_difference
    promises: Mapping[str, float] = field(default_factory=dict)
    memory_promises: Mapping[str, float] = field(default_factory=dict)
    repeats: int = 5


@dataclass(frozen=True)
class Measurement:
    """What one case took: seconds, the call's own memory, and how far off ours it is."""

    case: str
    cpu: float
    wall: float
    memory_mb: float | None
    difference: float
    ratio: float
    promised: float | None
    memory_ratio: float | None = None
    memory_promised: float | None = None

    @property
    def kept(self) -> bool:
        """Whether ours is as fast as promised, and takes no more memory than promised."""
        fast = self.promised is None or self.ratio >= self.promised
        if self.memory_ratio is None or self.memory_promised is None:
            return fast
        return fast and self.memory_ratio <= self.memory_promised

    def row(self) -> str:
        """Give one line of the table."""
        memory = "-" if self.memory_mb is None else f"{self.memory_mb:.1f}"
        note = ""
        if self.promised is not None and self.ratio < self.promised:
            note += f"  promised {self.promised:.3g}x"
        if self.memory_ratio is not None and self.memory_promised is not None:
            note += f"  ours has {self.memory_ratio:.2f}x its memory"
            note += "" if self.memory_ratio <= self.memory_promised else ", more than promised"
        return (
            f"  {self.case:<30}{_seconds(self.cpu):>10}{_seconds(self.wall):>10}{memory:>11}"
            f"{self.ratio:>8.{2 if self.ratio < 1 else 1}f}x{self.difference:>12.3g}{note}"
        )

    def to_json(self) -> dict[str, Any]:
        """Give plain values for the file of results."""
        return asdict(self)


@dataclass(frozen=True)
class Missing:
    """A peer that is not installed."""

    case: str
    package: str

    def row(self) -> str:
        """Give one line of the table."""
        return f"  {self.case:<30}  not installed: pip install '{requirement(self.package)}'"

    def to_json(self) -> dict[str, Any]:
        """Give plain values for the file of results."""
        return {"case": self.case, "not_installed": requirement(self.package)}


HEADER = f"  {'':<30}{'CPU':>10}{'wall':>10}{'memory MB':>11}{'CPU/ours':>9}{'difference':>12}"


def load(section: str, *, quick: bool) -> list[Comparison]:
    """Comparisons of one section."""
    module = importlib.import_module(f"benchmarks.bench_{section}")
    found: list[Comparison] = module.comparisons(quick=quick)
    return found


def report_of(section: str) -> Callable[..., int] | None:
    """The report of a section that has one instead of comparisons."""
    module = importlib.import_module(f"benchmarks.bench_{section}")
    found: Callable[..., int] | None = getattr(module, "report", None)
    return found


def compare(
    section: str, comparison: Comparison, *, quick: bool, memory: bool
) -> list[Measurement | Missing]:
    """Run every case of a comparison, ours first; print each line as it is known."""
    threads = "1 thread" if comparison.threads == 1 else f"{comparison.threads} threads"
    print(f"\n{section}: {comparison.title} ({threads})\n{HEADER}", flush=True)
    data = comparison.data()
    ours: tuple[Any, float] | None = None
    results: list[Measurement | Missing] = []
    with threadpool_limits(comparison.threads), warnings.catch_warnings():
        # warnings of peers about themselves, a thousand from one of them, would bury the table
        warnings.simplefilter("ignore")
        for case in comparison.cases:
            try:
                call = case.prepare(data, comparison.threads)
            except ModuleNotFoundError:
                if case.package is None:
                    raise
                results.append(Missing(case.name, case.package))
                print(results[-1].row(), flush=True)
                continue
            answer, cpu, wall = _time(call, comparison.repeats)
            cpu, wall = cpu / case.share, wall / case.share
            ours = ours or (answer, cpu)
            took = _memory(section, comparison, case, quick=quick) if memory else None
            first = next((one for one in results if isinstance(one, Measurement)), None)
            measured = Measurement(
                case=case.name if case.share == 1 else f"~ {case.name}",
                cpu=cpu,
                wall=wall,
                memory_mb=took,
                difference=comparison.difference(answer, ours[0]),
                ratio=cpu / ours[1],
                promised=comparison.promises.get(case.name),
                memory_ratio=first.memory_mb / took if first and first.memory_mb and took else None,
                memory_promised=comparison.memory_promises.get(case.name),
            )
            results.append(measured)
            print(measured.row(), flush=True)
    return results


def machine() -> dict[str, Any]:
    """Where this runs, and with which versions."""
    names = ("clearwood", "numpy", "scikit-learn", *(peer.name for peer in peers()))
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "simd_level": simd_level(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in names if _installed(name)},
    }


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def write_record(path: Path, *, quick: bool, **content: Any) -> None:
    """Write what a section measured to ``bench-<section>.json``, for the page on performance.

    Parameters
    ----------
    path
        The file.
    quick
        Whether this was a quick look.
    content
        ``comparisons``, or ``tables``: each with a title, columns and rows of text and numbers.
    """
    record = {
        "section": path.stem.removeprefix("bench-"),
        "quick": quick,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        **content,
    }
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def requirement(package: str) -> str:
    """Package with the range of versions that benchmarks/requirements.txt names."""
    return next((str(peer) for peer in peers() if peer.name == package), package)


def peers() -> list[Requirement]:
    """Packages of benchmarks/requirements.txt."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def _time(call: Callable[[], Any], repeats: int) -> tuple[Any, float, float]:
    """Answer, best CPU and best wall seconds of one call."""
    started = time.perf_counter()
    answer, cpu, wall = _once(call, 1)
    # the first call also loads libraries and touches memory for the first time
    number = max(1, math.ceil(SHORTEST / max(wall, 1e-9)))
    for _ in range(repeats):
        if time.perf_counter() - started + wall * number > BUDGET:
            break
        _, this_cpu, this_wall = _once(call, number)
        cpu, wall = min(cpu, this_cpu), min(wall, this_wall)
    return answer, cpu, wall


def _once(call: Callable[[], Any], number: int) -> tuple[Any, float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(number):
        answer = call()
    return answer, (time.process_time() - cpu) / number, (time.perf_counter() - wall) / number


def _memory(section: str, comparison: Comparison, case: Case, *, quick: bool) -> float | None:
    """Peak memory of one call in a process of its own, in MB; None where it cannot be told."""
    arguments = [section, comparison.title, case.name, *(["--quick"] if quick else [])]
    command = [sys.executable, "-m", "benchmarks._memory", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = f"measuring the memory of {case.name} failed:\n{done.stderr}"
        raise RuntimeError(message)
    found: float | None = json.loads(done.stdout.splitlines()[-1])
    return found


def _seconds(value: float) -> str:
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.1f} ms"
    return f"{value:.2f} s"
