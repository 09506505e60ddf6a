"""Explainable boosting machines without the remark about their own plots."""

import math
import warnings
from typing import Any, Self

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

__all__ = ["QuietEBMClassifier", "QuietEBMRegressor"]

# interpret warns that its plots leave missing values out; Clearwood draws its own
_REMARK = "Missing values detected"


class QuietEBMRegressor(ExplainableBoostingRegressor):
    """An explainable boosting machine for numbers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit, without the remark; with a log link, targets are fitted about 1.

        interpret starts from a mean of 1 and takes a Newton step from there, which for counts in
        the hundreds overshoots for ever. Targets divided by their mean have the same model, but
        for the intercept.
        """
        scale = 1.0
        if self.objective != "rmse":
            scale = float(np.average(y, weights=sample_weight)) or 1.0
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _REMARK, UserWarning)
            super().fit(X, np.asarray(y) / scale, sample_weight=sample_weight)
        self.intercept_ += math.log(scale)
        self.bagged_intercept_ += math.log(scale)
        return self


class QuietEBMClassifier(ExplainableBoostingClassifier):
    """An explainable boosting machine for classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit, without the remark."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _REMARK, UserWarning)
            super().fit(X, y, sample_weight=sample_weight)
        return self
