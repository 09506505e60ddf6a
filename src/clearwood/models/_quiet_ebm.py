"""Explainable boosting machines without the remark about their own plots."""

import warnings
from typing import Any, Self

from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

__all__ = ["QuietEBMClassifier", "QuietEBMRegressor"]

# interpret warns that its plots leave missing values out; Clearwood draws its own
_REMARK = "Missing values detected"


class QuietEBMRegressor(ExplainableBoostingRegressor):
    """An explainable boosting machine for numbers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit, without the remark."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _REMARK, UserWarning)
            super().fit(X, y, sample_weight=sample_weight)
        return self


class QuietEBMClassifier(ExplainableBoostingClassifier):
    """An explainable boosting machine for classes."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit, without the remark."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _REMARK, UserWarning)
            super().fit(X, y, sample_weight=sample_weight)
        return self
