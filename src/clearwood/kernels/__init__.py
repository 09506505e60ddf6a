"""Compiled loops on arrays: arrays in, arrays out, independent of models."""

from clearwood.kernels._core import certify, compose, compose_within, exponential
from clearwood.kernels.decomposition import Components, component_sets, components
from clearwood.kernels.forest import PackedForest
from clearwood.kernels.level import simd_level
from clearwood.kernels.parallelism import limited, threads
from clearwood.kernels.ranks import missing_code, rank, rank_columns
from clearwood.kernels.shapley import (
    Background,
    Progress,
    ShapleyValues,
    interventional,
    path_dependent,
)
from clearwood.kernels.trees import Trees, TreesLike
from clearwood.kernels.ubjson import UbjsonDocument, UbjsonError

__all__ = [
    "Background",
    "Components",
    "PackedForest",
    "Progress",
    "ShapleyValues",
    "Trees",
    "TreesLike",
    "UbjsonDocument",
    "UbjsonError",
    "certify",
    "component_sets",
    "components",
    "compose",
    "compose_within",
    "exponential",
    "interventional",
    "limited",
    "missing_code",
    "path_dependent",
    "rank",
    "rank_columns",
    "simd_level",
    "threads",
]
