"""How well predictions agree with the truth: measures with intervals, and curves."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.evaluation.calibration import (
        CalibrationCurve,
        CalibrationLine,
        calibration_line,
        calibration_of,
    )
    from clearwood.evaluation.intervals import (
        Interval,
        Mean,
        corrected_interval,
        holdout_interval,
        make_interval,
        naive_interval,
        origin_interval,
        simultaneous_level,
    )
    from clearwood.evaluation.residuals import Residuals, residuals_of
    from clearwood.evaluation.smooth_calibration import SmoothCalibration, smooth_calibration_of
    from clearwood.evaluation.task_measures import Measures, check_threshold, measures
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "CalibrationCurve",
    "CalibrationLine",
    "Interval",
    "Mean",
    "Measures",
    "Residuals",
    "SmoothCalibration",
    "calibration_line",
    "calibration_of",
    "check_threshold",
    "corrected_interval",
    "holdout_interval",
    "make_interval",
    "measures",
    "naive_interval",
    "origin_interval",
    "residuals_of",
    "simultaneous_level",
    "smooth_calibration_of",
]
