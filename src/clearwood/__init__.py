"""Interpretable supervised learning on tables."""

from typing import TYPE_CHECKING

from clearwood._on_demand import on_demand
from clearwood._version import __version__ as __version__

if TYPE_CHECKING:
    from clearwood import datasets, forest, models
    from clearwood._errors import ClearwoodWarning, InputError, MissingExtraError
    from clearwood.benchmark import Benchmark, benchmark
    from clearwood.condense import Condensed, certify, condense
    from clearwood.decompose import Decomposition
    from clearwood.explain import (
        Agreement,
        Contributions,
        Lime,
        ModelEffect,
        ModelImportance,
        Shapley,
        WhatIf,
        agreement,
        contributions,
        effect,
        explain,
        importance,
        lime,
        shapley,
        what_if,
    )
    from clearwood.models import Learner, inspect, learner, load, save
    from clearwood.report import Report, report
    from clearwood.table import Table, read
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            __name__: [
                "benchmark",
                "condense",
                "datasets",
                "explain",
                "forest",
                "models",
                "report",
            ],
            "clearwood._errors": ["ClearwoodWarning", "InputError", "MissingExtraError"],
            "clearwood.benchmark": ["Benchmark"],
            "clearwood.condense": ["Condensed", "certify"],
            "clearwood.decompose": ["Decomposition"],
            "clearwood.explain": [
                "Agreement",
                "Contributions",
                "Lime",
                "ModelEffect",
                "ModelImportance",
                "Shapley",
                "WhatIf",
                "agreement",
                "contributions",
                "effect",
                "importance",
                "lime",
                "shapley",
                "what_if",
            ],
            "clearwood.models": ["Learner", "inspect", "learner", "load", "save"],
            "clearwood.report": ["Report"],
            "clearwood.table": ["Table", "read"],
        },
    )

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
