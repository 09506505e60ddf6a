"""Predictions as sums of functions of few columns: from trees, from additive models."""

from clearwood.decompose._about import About, BackgroundInfo
from clearwood.decompose._components import Components
from clearwood.decompose._decomposition import Decomposition
from clearwood.decompose._effect import Effect
from clearwood.decompose._explain import explain
from clearwood.decompose._importance import Importance, Interactions
from clearwood.decompose._shapley import Shapley
from clearwood.decompose._supported import NotTakenApartError

__all__ = [
    "About",
    "BackgroundInfo",
    "Components",
    "Decomposition",
    "Effect",
    "Importance",
    "Interactions",
    "NotTakenApartError",
    "Shapley",
    "explain",
]
