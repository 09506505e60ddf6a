"""A benchmark as plain JSON values."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError
from clearwood._shared.frames import plain
from clearwood.benchmarking.text import as_text

if TYPE_CHECKING:
    from clearwood.benchmarking.result import Benchmark

__all__ = ["document"]


def document(bench: "Benchmark") -> dict[str, Any]:
    """Give standings, method, settings of every fold and the archives of tuning."""
    table = bench.context.table
    found: dict[str, Any] = {
        "task": str(table.task),
        "target": table.target,
        "rows": table.n_rows,
        "features": list(table.features),
        "fingerprint": table.fingerprint(),
        "loss": bench.loss,
        "proper": bench.context.loss.proper,
        "method": vars(bench.method),
        "complete": bench.complete,
        "learners": [
            {**vars(one), "by_fold": _by_fold(bench, one.learner)} for one in bench.standings
        ],
        "archive": {name: bench.archive(name).to_json() for name in bench.learners},
        "choosing": _choosing(bench),
        "failures": {name: list(texts) for name, texts in bench.failures.items()},
        "warnings": list(bench.warnings),
        "seconds": bench.seconds,
        "versions": {name: version(name) for name in ("clearwood", "scikit-learn", "numpy")},
        "text": as_text(bench),
    }
    return {key: plain(value) for key, value in found.items()}


def _choosing(bench: "Benchmark") -> dict[str, Any] | None:
    """What choosing the best costs; None where there are no fits to tell."""
    try:
        return bench.choosing().to_json()
    except InputError:
        return None


def _by_fold(bench: "Benchmark", learner: str) -> list[dict[str, Any]]:
    rows = []
    for key, outcome in bench.outcomes.items():
        unit = bench.units[key]
        if unit.learner != learner or unit.purpose != "outer":
            continue
        rows.append(
            {
                "repeat": unit.repeat,
                "fold": unit.fold,
                "rows": len(unit.test),
                "risk": None if outcome.losses is None else float(outcome.losses.mean()),
                "settings": dict(outcome.settings),
                "seconds": outcome.seconds,
                "failure": outcome.failure,
            }
        )
    return sorted(rows, key=lambda row: (row["repeat"], row["fold"]))
