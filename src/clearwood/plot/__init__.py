"""Figures, made from result objects only."""

from clearwood.plot._benchmark import plot_benchmark, plot_curve
from clearwood.plot._effects import plot_effect
from clearwood.plot._importance import plot_importance, plot_interactions
from clearwood.plot._shapley import plot_shapley

__all__ = [
    "plot_benchmark",
    "plot_curve",
    "plot_effect",
    "plot_importance",
    "plot_interactions",
    "plot_shapley",
]
