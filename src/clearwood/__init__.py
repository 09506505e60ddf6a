"""Interpretable supervised learning on tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

__version__ = "0.1.0"

# Public names are imported when first asked for, so that `clearwood --help` starts at once.
_HOME = {
    "Agreement": "clearwood.explain",
    "Benchmark": "clearwood.benchmark",
    "ClearwoodWarning": "clearwood._errors",
    "Condensed": "clearwood.condense",
    "Contributions": "clearwood.explain",
    "Decomposition": "clearwood.decompose",
    "InputError": "clearwood._errors",
    "Learner": "clearwood.models",
    "Lime": "clearwood.explain",
    "MissingExtraError": "clearwood._errors",
    "ModelEffect": "clearwood.explain",
    "ModelImportance": "clearwood.explain",
    "Report": "clearwood.report",
    "Shapley": "clearwood.explain",
    "Table": "clearwood.table",
    "WhatIf": "clearwood.explain",
    "agreement": "clearwood.explain",
    "benchmark": "",
    "certify": "clearwood.condense",
    "condense": "",
    "contributions": "clearwood.explain",
    "datasets": "",
    "effect": "clearwood.explain",
    "explain": "",
    "forest": "",
    "importance": "clearwood.explain",
    "inspect": "clearwood.models",
    "learner": "clearwood.models",
    "lime": "clearwood.explain",
    "load": "clearwood.models",
    "models": "",
    "read": "clearwood.table",
    "report": "",
    "save": "clearwood.models",
    "shapley": "clearwood.explain",
    "what_if": "clearwood.explain",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'clearwood' has no attribute {name!r}")
    home = _HOME[name]
    value = getattr(import_module(home), name) if home else import_module(f"clearwood.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
