"""Benchmarks: risks of learners with intervals, tuning inside, a run store, and diagnostics."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.benchmarking.choosing import Choosing
    from clearwood.benchmarking.compare import benchmark
    from clearwood.benchmarking.diagnostics.bias_variance import BiasVariance, bias_variance
    from clearwood.benchmarking.diagnostics.bootstrap import BootstrapRisk, bootstrap_risk
    from clearwood.benchmarking.diagnostics.calibration import calibration_curve
    from clearwood.benchmarking.diagnostics.excess_risk import ExcessRisk, excess_risk
    from clearwood.benchmarking.diagnostics.identical_rows import IdenticalRows
    from clearwood.benchmarking.diagnostics.in_sample import InSample, in_sample
    from clearwood.benchmarking.diagnostics.learning_curve import LearningCurve, learning_curve
    from clearwood.benchmarking.diagnostics.smoothers import LinearSmoother, linear_smoother
    from clearwood.benchmarking.diagnostics.two_ways import TwoWays, two_ways_without
    from clearwood.benchmarking.fitting.work import row_losses
    from clearwood.benchmarking.intervals.nested import nested_interval
    from clearwood.benchmarking.over_parts.held_out import HeldOutParts
    from clearwood.benchmarking.result import Benchmark, Difference
    from clearwood.benchmarking.running.findings import Finding
    from clearwood.benchmarking.running.run import Snapshot
    from clearwood.benchmarking.running.store import Store
    from clearwood.benchmarking.selection import SelectionFrequency, inclusion
    from clearwood.benchmarking.text import fitted_to
    from clearwood.benchmarking.tuning.archive import TuningCurve
    from clearwood.benchmarking.winner import Winner
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "Benchmark",
    "BiasVariance",
    "BootstrapRisk",
    "Choosing",
    "Difference",
    "ExcessRisk",
    "Finding",
    "HeldOutParts",
    "IdenticalRows",
    "InSample",
    "LearningCurve",
    "LinearSmoother",
    "SelectionFrequency",
    "Snapshot",
    "Store",
    "TuningCurve",
    "TwoWays",
    "Winner",
    "benchmark",
    "bias_variance",
    "bootstrap_risk",
    "calibration_curve",
    "excess_risk",
    "fitted_to",
    "in_sample",
    "inclusion",
    "learning_curve",
    "linear_smoother",
    "nested_interval",
    "row_losses",
    "two_ways_without",
]
