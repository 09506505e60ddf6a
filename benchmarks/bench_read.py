"""Read a large CSV, to typed columns: ours finds kinds, levels and identifiers as well."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._harness import Case, Comparison

N_NUMBERS, N_WHOLE, N_WORDS = 20, 5, 5

Reading = Callable[[], Any]


def comparisons(*, quick: bool) -> list[Comparison]:
    n_rows = 50_000 if quick else 1_000_000
    return [
        Comparison(
            title=f"CSV of {n_rows:,} rows x {N_NUMBERS + N_WHOLE + N_WORDS} columns",
            data=lambda: _write(n_rows),
            cases=[
                Case("clearwood.read", _ours),
                Case("polars.read_csv", _polars, package="polars"),
                Case("pandas.read_csv", _pandas, package="pandas"),
            ],
            threads=2,
            difference=_difference,
            repeats=3,
        )
    ]


def _write(n_rows: int) -> Path:
    """Write columns of fractions, of whole numbers, and of 20 words each, to a file."""
    import polars as pl

    folder = tempfile.mkdtemp(prefix="clearwood-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    random = np.random.default_rng(0)
    words = np.array([f"level-{i:02d}" for i in range(20)])
    columns: dict[str, Any] = {}
    for i in range(N_NUMBERS):
        columns[f"number_{i}"] = random.normal(size=n_rows).round(6)
    for i in range(N_WHOLE):
        columns[f"whole_{i}"] = random.integers(0, 1000, n_rows)
    for i in range(N_WORDS):
        columns[f"word_{i}"] = words[random.integers(0, 20, n_rows)]
    path = Path(folder) / "large.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def _ours(path: Path, _threads: int) -> Reading:
    import clearwood as cw

    return lambda: cw.read(path)


def _polars(path: Path, _threads: int) -> Reading:
    import polars as pl

    return lambda: pl.read_csv(path)


def _pandas(path: Path, _threads: int) -> Reading:
    import pandas as pd

    return lambda: pd.read_csv(path)


def _difference(answer: Any, reference: Any) -> float:
    """Largest difference in any cell; a word that differs counts as infinite."""
    return max(_column_difference(answer, reference, name) for name in reference.names)


def _column_difference(answer: Any, reference: Any, name: str) -> float:
    column = answer[name]
    found = column.labels() if hasattr(column, "labels") else column.to_numpy()
    expected = reference[name].labels()
    if name.startswith("word"):
        return 0.0 if np.array_equal(found.astype(str), expected.astype(str)) else np.inf
    return float(np.abs(found - expected).max())
