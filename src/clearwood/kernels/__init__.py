"""Compiled loops on arrays: arrays in, arrays out, independent of models."""

from clearwood.kernels._core import certify, compose, compose_within, exponential
from clearwood.kernels.boost import BoostedTrees, boost
from clearwood.kernels.cart import cart_leaves, grow_cart, weakest_links
from clearwood.kernels.forest import PackedForest
from clearwood.kernels.graph import Neighbours, closure, minimum_cut, reach
from clearwood.kernels.lasso import LassoFamily, LassoPath, lasso_path
from clearwood.kernels.level import simd_level
from clearwood.kernels.mars import HINGE_KINDS, HingeSearch, search_hinges
from clearwood.kernels.parallelism import limited, threads
from clearwood.kernels.planted import PlantedLeaves, PlantedLoss, plant
from clearwood.kernels.shapley import (
    Background,
    component_sets,
    components,
    interventional,
    path_dependent,
    prepared,
)
from clearwood.kernels.split_codes import ZERO
from clearwood.kernels.subset import MOST_GROUPS, Subsets, best_subsets
from clearwood.kernels.trees import Trees
from clearwood.kernels.ubjson import UbjsonDocument, UbjsonError

__all__ = [
    "HINGE_KINDS",
    "MOST_GROUPS",
    "ZERO",
    "Background",
    "BoostedTrees",
    "HingeSearch",
    "LassoFamily",
    "LassoPath",
    "Neighbours",
    "PackedForest",
    "PlantedLeaves",
    "PlantedLoss",
    "Subsets",
    "Trees",
    "UbjsonDocument",
    "UbjsonError",
    "best_subsets",
    "boost",
    "cart_leaves",
    "certify",
    "closure",
    "component_sets",
    "components",
    "compose",
    "compose_within",
    "exponential",
    "grow_cart",
    "interventional",
    "lasso_path",
    "limited",
    "minimum_cut",
    "path_dependent",
    "plant",
    "prepared",
    "reach",
    "search_hinges",
    "simd_level",
    "threads",
    "weakest_links",
]
