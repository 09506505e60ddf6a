"""Honest benchmarks: resampling, tuning inside it, risks with intervals, a run store."""

from clearwood.benchmarking.compare import benchmark
from clearwood.benchmarking.diagnostics.bias_variance import BiasVariance, bias_variance
from clearwood.benchmarking.diagnostics.bootstrap import BootstrapRisk, bootstrap_risk
from clearwood.benchmarking.diagnostics.calibration import CalibrationCurve, calibration_of
from clearwood.benchmarking.diagnostics.choosing import Choosing
from clearwood.benchmarking.diagnostics.curves import (
    LearningCurve,
    calibration_curve,
    learning_curve,
)
from clearwood.benchmarking.diagnostics.excess_risk import ExcessRisk, excess_risk
from clearwood.benchmarking.diagnostics.in_sample import InSample, in_sample
from clearwood.benchmarking.diagnostics.measures import Measures, measures
from clearwood.benchmarking.diagnostics.residuals import Residuals, residuals_of
from clearwood.benchmarking.diagnostics.smoothers import (
    LinearSmoother,
    linear_smoother,
    smoother_of_hat_matrix,
)
from clearwood.benchmarking.intervals.intervals import (
    Interval,
    corrected_interval,
    holdout_interval,
    naive_interval,
    origin_interval,
)
from clearwood.benchmarking.intervals.nested import nested_interval
from clearwood.benchmarking.result import Benchmark, Difference, Method, Standing
from clearwood.benchmarking.running.session import Snapshot
from clearwood.benchmarking.running.store import Store
from clearwood.benchmarking.running.work import judge
from clearwood.benchmarking.target import target_codes
from clearwood.benchmarking.text import duration
from clearwood.benchmarking.tuning.archive import Archive, Curve
from clearwood.benchmarking.winner import Winner

__all__ = [
    "Archive",
    "Benchmark",
    "BiasVariance",
    "BootstrapRisk",
    "CalibrationCurve",
    "Choosing",
    "Curve",
    "Difference",
    "ExcessRisk",
    "InSample",
    "Interval",
    "LearningCurve",
    "LinearSmoother",
    "Measures",
    "Method",
    "Residuals",
    "Snapshot",
    "Standing",
    "Store",
    "Winner",
    "benchmark",
    "bias_variance",
    "bootstrap_risk",
    "calibration_curve",
    "calibration_of",
    "corrected_interval",
    "duration",
    "excess_risk",
    "holdout_interval",
    "in_sample",
    "judge",
    "learning_curve",
    "linear_smoother",
    "measures",
    "naive_interval",
    "nested_interval",
    "origin_interval",
    "residuals_of",
    "smoother_of_hat_matrix",
    "target_codes",
]
