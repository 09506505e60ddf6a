"""Figures, made from result objects only."""

from clearwood.plot._benchmark import plot_benchmark, plot_curve

__all__ = ["plot_benchmark", "plot_curve"]
