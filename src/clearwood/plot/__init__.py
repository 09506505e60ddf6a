"""Figures, made from result objects only."""

from clearwood.plot.benchmark import plot_benchmark, plot_curve
from clearwood.plot.effects import plot_effect
from clearwood.plot.importance import plot_importance, plot_interactions
from clearwood.plot.shapley import plot_shapley

__all__ = [
    "plot_benchmark",
    "plot_curve",
    "plot_effect",
    "plot_importance",
    "plot_interactions",
    "plot_shapley",
]
