"""Fair predictors, and what protected columns do to predictions."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.fairness.predictors.calibration import Calibration
    from clearwood.fairness.predictors.fair_model import FairModel
    from clearwood.fairness.predictors.law import Law
    from clearwood.fairness.predictors.make import fair
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = ["Calibration", "FairModel", "Law", "fair"]
