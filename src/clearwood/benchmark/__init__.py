"""Honest benchmarks: resampling, tuning inside it, risks with intervals, a run store."""

from clearwood._callable import make_callable
from clearwood.benchmark._archive import Archive, Curve
from clearwood.benchmark._benchmark import benchmark
from clearwood.benchmark._intervals import (
    Interval,
    corrected_interval,
    holdout_interval,
    naive_interval,
    nested_interval,
    origin_interval,
)
from clearwood.benchmark._losses import LOSSES, Loss, default_loss, find_loss
from clearwood.benchmark._plans import (
    Bootstrap,
    HoldOut,
    KFold,
    LeaveOneOut,
    MonteCarlo,
    Plan,
    Split,
    TimeOrdered,
)
from clearwood.benchmark._result import Benchmark, Difference, Method, Standing
from clearwood.benchmark._session import Snapshot
from clearwood.benchmark._store import Store
from clearwood.benchmark._target import target_codes
from clearwood.benchmark._text import duration
from clearwood.benchmark._winner import Winner
from clearwood.benchmark._work import judge

__all__ = [
    "LOSSES",
    "Archive",
    "Benchmark",
    "Bootstrap",
    "Curve",
    "Difference",
    "HoldOut",
    "Interval",
    "KFold",
    "LeaveOneOut",
    "Loss",
    "Method",
    "MonteCarlo",
    "Plan",
    "Snapshot",
    "Split",
    "Standing",
    "Store",
    "TimeOrdered",
    "Winner",
    "benchmark",
    "corrected_interval",
    "default_loss",
    "duration",
    "find_loss",
    "holdout_interval",
    "judge",
    "naive_interval",
    "nested_interval",
    "origin_interval",
    "target_codes",
]

make_callable(__name__, benchmark)
