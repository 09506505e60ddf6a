"""Causality: graphs, structural models, and direct effects with their conditions."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.causal.direct.conditions import Claim, Condition, conditions_of
    from clearwood.causal.graph.adjustment import AdjustmentSets, Validity
    from clearwood.causal.graph.graph import Graph
    from clearwood.causal.graph.paths import Block, Path, Paths
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "AdjustmentSets",
    "Block",
    "Claim",
    "Condition",
    "Graph",
    "Path",
    "Paths",
    "Validity",
    "conditions_of",
]
