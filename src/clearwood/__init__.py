"""Interpretable supervised learning on tables."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy
from clearwood._version import __version__ as __version__

if TYPE_CHECKING:
    from clearwood import datasets, forest, models
    from clearwood._shared.errors import ClearwoodWarning, InputError, MissingExtraError
    from clearwood.benchmarking import Benchmark, benchmark
    from clearwood.condensing import Condensed, certify, condense
    from clearwood.explanation import (
        Agreement,
        Contributions,
        Decomposition,
        Lime,
        ModelEffect,
        ModelImportance,
        Shapley,
        WhatIf,
    )
    from clearwood.explanation.agreement.agreement import agreement
    from clearwood.explanation.effects.effect import effect
    from clearwood.explanation.explain import explain
    from clearwood.explanation.importance.importance import importance
    from clearwood.explanation.local.contributions import contributions
    from clearwood.explanation.local.lime import lime
    from clearwood.explanation.local.what_if import what_if
    from clearwood.explanation.shapley.shapley import shapley
    from clearwood.models import Learner, inspect, learner, load, save
    from clearwood.reporting import Report, report
    from clearwood.table import Table, read
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "Agreement",
    "Benchmark",
    "ClearwoodWarning",
    "Condensed",
    "Contributions",
    "Decomposition",
    "InputError",
    "Learner",
    "Lime",
    "MissingExtraError",
    "ModelEffect",
    "ModelImportance",
    "Report",
    "Shapley",
    "Table",
    "WhatIf",
    "agreement",
    "benchmark",
    "certify",
    "condense",
    "contributions",
    "datasets",
    "effect",
    "explain",
    "forest",
    "importance",
    "inspect",
    "learner",
    "lime",
    "load",
    "models",
    "read",
    "report",
    "save",
    "shapley",
    "what_if",
]
