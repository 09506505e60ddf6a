"""Interpretable supervised learning on tables."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy
from clearwood._version import __version__ as __version__

if TYPE_CHECKING:
    from clearwood import datasets, forest, models
    from clearwood._shared.errors import ClearwoodWarning, InputError, MissingExtraError
    from clearwood.benchmarking import Benchmark, SelectionFrequency, benchmark
    from clearwood.benchmarking.selection import inclusion
    from clearwood.causal import SCM, DirectEffect, Graph, direct_effect
    from clearwood.condensing import Condensed, certify, condense
    from clearwood.evaluation import Evaluation, evaluate
    from clearwood.explanation import (
        Agreement,
        Attention,
        Boundaries,
        CoefficientPath,
        Coefficients,
        Contributions,
        Decomposition,
        Discriminants,
        Effect,
        Explanation,
        Factors,
        Importance,
        IntegratedGradients,
        Lime,
        Shapley,
        TrainingCurve,
        WhatIf,
    )
    from clearwood.explanation.effects.boundaries import boundaries
    from clearwood.explanation.explain import explain
    from clearwood.explanation.factors.csv_file import read_factors
    from clearwood.explanation.factors.factors import factors
    from clearwood.explanation.linear.coefficients import coefficients
    from clearwood.explanation.linear.discriminants import discriminants
    from clearwood.explanation.linear.path import path
    from clearwood.explanation.local.integrated_gradients import integrated_gradients
    from clearwood.explanation.networks.attention import attention
    from clearwood.explanation.networks.training_curve import training_curve
    from clearwood.explanation.one_call import (
        agreement,
        contributions,
        effect,
        importance,
        lime,
        monotone,
        shapley,
        what_if,
    )
    from clearwood.fairness import Audit, FairModel, audit, fair
    from clearwood.models import Learner, inspect, learner, load, save
    from clearwood.reporting import Report, report
    from clearwood.table import Table, read
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "SCM",
    "Agreement",
    "Attention",
    "Audit",
    "Benchmark",
    "Boundaries",
    "ClearwoodWarning",
    "CoefficientPath",
    "Coefficients",
    "Condensed",
    "Contributions",
    "Decomposition",
    "DirectEffect",
    "Discriminants",
    "Effect",
    "Evaluation",
    "Explanation",
    "Factors",
    "FairModel",
    "Graph",
    "Importance",
    "InputError",
    "IntegratedGradients",
    "Learner",
    "Lime",
    "MissingExtraError",
    "Report",
    "SelectionFrequency",
    "Shapley",
    "Table",
    "TrainingCurve",
    "WhatIf",
    "agreement",
    "attention",
    "audit",
    "benchmark",
    "boundaries",
    "certify",
    "coefficients",
    "condense",
    "contributions",
    "datasets",
    "direct_effect",
    "discriminants",
    "effect",
    "evaluate",
    "explain",
    "factors",
    "fair",
    "forest",
    "importance",
    "inclusion",
    "inspect",
    "integrated_gradients",
    "learner",
    "lime",
    "load",
    "models",
    "monotone",
    "path",
    "read",
    "read_factors",
    "report",
    "save",
    "shapley",
    "training_curve",
    "what_if",
]
