"""The comparison of learners that a report on a table begins with."""

from typing import Any

from clearwood.benchmarking import Benchmark, benchmark
from clearwood.table import Parts, Table

__all__ = ["compare"]

#: How learners are compared: within minutes, or for a first look.
_THOROUGH: dict[str, Any] = {"tune": 10, "inner": 3, "repeats": 1}
_QUICK: dict[str, Any] = {"tune": 0, "interval": "hold-out"}
#: Rows that learners which need them in memory are fitted to for a first look at a table in parts.
_QUICK_SAMPLE = 20_000
#: From this many rows on, four folds estimate as well as five, and take six tenths of the time.
_MANY_ROWS, _FOLDS_OF_MANY_ROWS = 10_000, 4


def compare(
    table: Table | Parts,
    learners: Any = None,
    *,
    quick: bool = False,
    tune: int | None = None,
    **options: Any,
) -> Benchmark:
    """Compare learners for a report, within minutes.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> compare(data, ["baseline", "ridge"], quick=True).method.interval
    'hold-out'
    """
    how = _plan(table, quick=quick)
    if tune is not None:
        how["tune"] = tune
    bench = benchmark(table, learners, **how, **options)
    if not bench.complete:  # stopped: finished fits are in the store, if there is one
        raise KeyboardInterrupt
    return bench


def _plan(table: Table | Parts, *, quick: bool) -> dict[str, Any]:
    """How the learners are compared; of a table in parts, on the hold-out that is its default."""
    if isinstance(table, Parts):
        return {"sample": _QUICK_SAMPLE} if quick else {}
    how = dict(_QUICK if quick else _THOROUGH)
    if not quick and table.n_rows >= _MANY_ROWS:
        how["outer"] = _FOLDS_OF_MANY_ROWS
    return how
