"""Honest benchmarks: resampling, tuning inside it, risks with intervals, a run store."""

from clearwood._callable import make_callable
from clearwood.benchmark._archive import Archive, Curve
from clearwood.benchmark._benchmark import benchmark
from clearwood.benchmark._losses import LOSSES, Loss, default_loss, find_loss
from clearwood.benchmark._result import Benchmark, Difference, Method, Standing
from clearwood.benchmark._session import Snapshot
from clearwood.benchmark._winner import Winner

__all__ = [
    "LOSSES",
    "Archive",
    "Benchmark",
    "Curve",
    "Difference",
    "Loss",
    "Method",
    "Snapshot",
    "Standing",
    "Winner",
    "benchmark",
    "default_loss",
    "find_loss",
]

make_callable(__name__, benchmark)
