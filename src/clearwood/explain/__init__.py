"""Explanations of predictions; the package is also the function `clearwood.explain`."""

from clearwood.decompose import Shapley
from clearwood.explain._agreement import agreement
from clearwood.explain._agreement_result import Agreement
from clearwood.explain._effect import effect
from clearwood.explain._effect_result import ModelEffect
from clearwood.explain._explain_any import explain
from clearwood.explain._importance import importance
from clearwood.explain._importance_result import ModelImportance
from clearwood.explain._lime import lime
from clearwood.explain._lime_result import Lime
from clearwood.explain._linear import Contributions, contributions
from clearwood.explain._shapley import shapley
from clearwood.explain._what_if import WhatIf, what_if

__all__ = [
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
    "explain",
    "importance",
    "lime",
    "shapley",
    "what_if",
]
