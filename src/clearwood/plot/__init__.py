"""Figures of results (Altair)."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.plot.benchmark import plot_benchmark, plot_curve
    from clearwood.plot.coefficients import plot_coefficients, plot_direct_effect
    from clearwood.plot.curves import (
        plot_bias_variance,
        plot_calibration,
        plot_excess_risk,
        plot_learning,
        plot_residuals,
        plot_smooth_calibration,
    )
    from clearwood.plot.data import (
        plot_association,
        plot_drift,
        plot_leakage,
        plot_profile,
    )
    from clearwood.plot.effects import plot_effect
    from clearwood.plot.evaluation import (
        plot_by_column,
        plot_confusion,
        plot_lift,
        plot_lorenz,
        plot_precision_recall,
        plot_prediction_intervals,
        plot_roc,
    )
    from clearwood.plot.factors import plot_factors
    from clearwood.plot.fairness import plot_gap, plot_group_quantiles, plot_groups
    from clearwood.plot.graph import graph_svg, plot_graph
    from clearwood.plot.importance import plot_agreement, plot_importance, plot_interactions
    from clearwood.plot.learners import (
        plot_boundaries,
        plot_boxes,
        plot_discriminants,
        plot_likelihood,
    )
    from clearwood.plot.local import plot_contributions, plot_lime, plot_what_if
    from clearwood.plot.networks import (
        plot_attention,
        plot_integrated_gradients,
        plot_training,
    )
    from clearwood.plot.nomogram import plot_nomogram
    from clearwood.plot.observed import LAYER
    from clearwood.plot.selection import (
        plot_components,
        plot_path,
        plot_selection,
        plot_selection_frequency,
    )
    from clearwood.plot.shapley import plot_shapley
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "LAYER",
    "graph_svg",
    "plot_agreement",
    "plot_association",
    "plot_attention",
    "plot_benchmark",
    "plot_bias_variance",
    "plot_boundaries",
    "plot_boxes",
    "plot_by_column",
    "plot_calibration",
    "plot_coefficients",
    "plot_components",
    "plot_confusion",
    "plot_contributions",
    "plot_curve",
    "plot_direct_effect",
    "plot_discriminants",
    "plot_drift",
    "plot_effect",
    "plot_excess_risk",
    "plot_factors",
    "plot_gap",
    "plot_graph",
    "plot_group_quantiles",
    "plot_groups",
    "plot_importance",
    "plot_integrated_gradients",
    "plot_interactions",
    "plot_leakage",
    "plot_learning",
    "plot_lift",
    "plot_likelihood",
    "plot_lime",
    "plot_lorenz",
    "plot_nomogram",
    "plot_path",
    "plot_precision_recall",
    "plot_prediction_intervals",
    "plot_profile",
    "plot_residuals",
    "plot_roc",
    "plot_selection",
    "plot_selection_frequency",
    "plot_shapley",
    "plot_smooth_calibration",
    "plot_training",
    "plot_what_if",
]
