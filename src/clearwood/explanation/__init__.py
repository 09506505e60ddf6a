"""Why a model predicts what it does: decomposition, Shapley values, effects, importance, LIME."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.explanation.adapter.supported import NotTakenApartError
    from clearwood.explanation.agreement.result import Agreement
    from clearwood.explanation.decomposition.about import About, BackgroundInfo
    from clearwood.explanation.decomposition.components import Components
    from clearwood.explanation.decomposition.decomposition import Decomposition
    from clearwood.explanation.decomposition.effect import Effect
    from clearwood.explanation.decomposition.importance import Importance, Interactions
    from clearwood.explanation.effects.result import ModelEffect
    from clearwood.explanation.importance.result import ModelImportance
    from clearwood.explanation.local.contributions import Contributions
    from clearwood.explanation.local.lime_result import Lime
    from clearwood.explanation.local.what_if import WhatIf
    from clearwood.explanation.shapley.result import Shapley
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "About",
    "Agreement",
    "BackgroundInfo",
    "Components",
    "Contributions",
    "Decomposition",
    "Effect",
    "Importance",
    "Interactions",
    "Lime",
    "ModelEffect",
    "ModelImportance",
    "NotTakenApartError",
    "Shapley",
    "WhatIf",
]
