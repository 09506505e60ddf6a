"""Honest benchmarks: resampling, tuning inside it, risks with intervals, a run store."""

from clearwood.benchmark._archive import Archive, Curve
from clearwood.benchmark._benchmark import benchmark
from clearwood.benchmark._bias_variance import BiasVariance, bias_variance
from clearwood.benchmark._bootstrap import BootstrapRisk, bootstrap_risk
from clearwood.benchmark._calibration import CalibrationCurve, calibration_of
from clearwood.benchmark._choosing import Choosing
from clearwood.benchmark._curves import LearningCurve, calibration_curve, learning_curve
from clearwood.benchmark._excess_risk import ExcessRisk, excess_risk
from clearwood.benchmark._in_sample import InSample, in_sample
from clearwood.benchmark._intervals import (
    Interval,
    corrected_interval,
    holdout_interval,
    naive_interval,
    origin_interval,
)
from clearwood.benchmark._measures import Measures, measures
from clearwood.benchmark._nested_interval import nested_interval
from clearwood.benchmark._residuals import Residuals, residuals_of
from clearwood.benchmark._result import Benchmark, Difference, Method, Standing
from clearwood.benchmark._session import Snapshot
from clearwood.benchmark._smoothers import LinearSmoother, linear_smoother, smoother_of_hat_matrix
from clearwood.benchmark._store import Store
from clearwood.benchmark._target import target_codes
from clearwood.benchmark._text import duration
from clearwood.benchmark._winner import Winner
from clearwood.benchmark._work import judge

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
