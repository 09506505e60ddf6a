"""Smooth curves and shallow boosted trees, averaged over folds: the learner `glass`."""

from clearwood.models.glassbox.glass.estimators import GlassClassifier, GlassRegressor

__all__ = ["GlassClassifier", "GlassRegressor"]
