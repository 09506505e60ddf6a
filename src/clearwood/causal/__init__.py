"""Causality: graphs, structural models, and direct effects with their conditions."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.causal.direct.conditions import Claim, Condition, conditions_of
    from clearwood.causal.graph.graph import Graph
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = ["Claim", "Condition", "Graph", "conditions_of"]
