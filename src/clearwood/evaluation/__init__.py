"""How well predictions agree with the truth: measures with intervals, and curves."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.evaluation.against import Other, other_of
    from clearwood.evaluation.by_column import ByColumn
    from clearwood.evaluation.calibration import (
        CalibrationCurve,
        CalibrationLine,
        calibration_line,
        calibration_of,
    )
    from clearwood.evaluation.confusion import Confusion
    from clearwood.evaluation.curves import Lorenz, PrecisionRecall, Roc
    from clearwood.evaluation.estimates import LOG, Allowance, Estimate, bounds
    from clearwood.evaluation.intervals import (
        Interval,
        Mean,
        corrected_interval,
        holdout_interval,
        joint_level,
        make_interval,
        naive_interval,
        origin_interval,
        simultaneous_level,
    )
    from clearwood.evaluation.lift import Advantage, Lift
    from clearwood.evaluation.new_rows import evaluate, in_roles
    from clearwood.evaluation.pairs import Pairs, bins_of
    from clearwood.evaluation.ranking import auc
    from clearwood.evaluation.residuals import Residuals, residuals_of
    from clearwood.evaluation.result import Evaluation
    from clearwood.evaluation.smooth_calibration import SmoothCalibration, smooth_calibration_of
    from clearwood.evaluation.task_measures import (
        Measures,
        check_threshold,
        level_estimate,
        measures,
        smooth_estimates,
    )
    from clearwood.evaluation.truth import truth_of
    from clearwood.evaluation.unit_sums import summed_by_unit
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "LOG",
    "Advantage",
    "Allowance",
    "ByColumn",
    "CalibrationCurve",
    "CalibrationLine",
    "Confusion",
    "Estimate",
    "Evaluation",
    "Interval",
    "Lift",
    "Lorenz",
    "Mean",
    "Measures",
    "Other",
    "Pairs",
    "PrecisionRecall",
    "Residuals",
    "Roc",
    "SmoothCalibration",
    "auc",
    "bins_of",
    "bounds",
    "calibration_line",
    "calibration_of",
    "check_threshold",
    "corrected_interval",
    "evaluate",
    "holdout_interval",
    "in_roles",
    "joint_level",
    "level_estimate",
    "make_interval",
    "measures",
    "naive_interval",
    "origin_interval",
    "other_of",
    "residuals_of",
    "simultaneous_level",
    "smooth_calibration_of",
    "smooth_estimates",
    "summed_by_unit",
    "truth_of",
]
