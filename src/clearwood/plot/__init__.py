"""Figures of results (Altair)."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.plot.benchmark import plot_benchmark, plot_curve
    from clearwood.plot.curves import (
        plot_bias_variance,
        plot_calibration,
        plot_excess_risk,
        plot_learning,
        plot_residuals,
    )
    from clearwood.plot.effects import plot_effect
    from clearwood.plot.importance import plot_importance, plot_interactions
    from clearwood.plot.shapley import plot_shapley
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "plot_benchmark",
    "plot_bias_variance",
    "plot_calibration",
    "plot_curve",
    "plot_effect",
    "plot_excess_risk",
    "plot_importance",
    "plot_interactions",
    "plot_learning",
    "plot_residuals",
    "plot_shapley",
]
