"""Interpretable supervised learning on tables."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy
from clearwood._version import __version__ as __version__

if TYPE_CHECKING:
    # Packages that are reached as attributes, such as cw.explanation; they are not listed as names.
    from clearwood import benchmarking as benchmarking
    from clearwood import causal as causal
    from clearwood import checks as checks
    from clearwood import condensing as condensing
    from clearwood import datasets
    from clearwood import evaluation as evaluation
    from clearwood import explanation as explanation
    from clearwood import fairness as fairness
    from clearwood import forest as forest
    from clearwood import losses as losses
    from clearwood import models as models
    from clearwood import plot as plot
    from clearwood import reporting as reporting
    from clearwood import resampling as resampling
    from clearwood import table as table
    from clearwood._shared.errors import ClearwoodWarning, InputError, MissingExtraError
    from clearwood.benchmarking import benchmark
    from clearwood.causal import SCM, Graph, direct_effect
    from clearwood.condensing import certify, condense
    from clearwood.evaluation import evaluate
    from clearwood.explanation import Explanation
    from clearwood.explanation.factors.factors import factors
    from clearwood.explanation.functions import (
        agreement,
        contributions,
        effect,
        explain,
        importance,
        lime,
        monotone,
        shapley,
        what_if,
    )
    from clearwood.explanation.linear.coefficients import coefficients
    from clearwood.fairness import audit, fair
    from clearwood.models import Learner, inspect, learner, load, save
    from clearwood.reporting import report
    from clearwood.table import Table, read, scan
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "SCM",
    "ClearwoodWarning",
    "Explanation",
    "Graph",
    "InputError",
    "Learner",
    "MissingExtraError",
    "Table",
    "agreement",
    "audit",
    "benchmark",
    "certify",
    "coefficients",
    "condense",
    "contributions",
    "datasets",
    "direct_effect",
    "effect",
    "evaluate",
    "explain",
    "factors",
    "fair",
    "importance",
    "inspect",
    "learner",
    "lime",
    "load",
    "monotone",
    "read",
    "report",
    "save",
    "scan",
    "shapley",
    "what_if",
]
