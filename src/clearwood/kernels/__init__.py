"""Compiled loops on arrays: arrays in, arrays out, independent of models."""

from clearwood.kernels._core import certify, compose, compose_within, exponential
from clearwood.kernels.boost import BoostedTrees, boost
from clearwood.kernels.forest import PackedForest
from clearwood.kernels.level import simd_level
from clearwood.kernels.mars import HINGE_KINDS, HingeSearch, search_hinges
from clearwood.kernels.parallelism import limited, threads
from clearwood.kernels.shapley import (
    Background,
    component_sets,
    components,
    interventional,
    path_dependent,
)
from clearwood.kernels.trees import Trees
from clearwood.kernels.ubjson import UbjsonDocument, UbjsonError

__all__ = [
    "HINGE_KINDS",
    "Background",
    "BoostedTrees",
    "HingeSearch",
    "PackedForest",
    "Trees",
    "UbjsonDocument",
    "UbjsonError",
    "boost",
    "certify",
    "component_sets",
    "components",
    "compose",
    "compose_within",
    "exponential",
    "interventional",
    "limited",
    "path_dependent",
    "search_hinges",
    "simd_level",
    "threads",
]
