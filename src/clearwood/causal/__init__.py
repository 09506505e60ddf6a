"""Causality: graphs, structural models, and direct effects with their conditions."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.causal.direct.conditions import Condition, conditions_of
    from clearwood.causal.direct.direct import direct_effect
    from clearwood.causal.direct.result import DirectEffect
    from clearwood.causal.graph.adjustment import AdjustmentSets, Validity
    from clearwood.causal.graph.graph import Graph
    from clearwood.causal.graph.independence_tests import IndependenceTest, IndependenceTests
    from clearwood.causal.graph.independences import Independence, Independences
    from clearwood.causal.graph.paths import Block, Path, Paths
    from clearwood.causal.scm.counterfactual import Counterfactual
    from clearwood.causal.scm.inversion import Inversion
    from clearwood.causal.scm.scm import SCM
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "SCM",
    "AdjustmentSets",
    "Block",
    "Condition",
    "Counterfactual",
    "DirectEffect",
    "Graph",
    "Independence",
    "IndependenceTest",
    "IndependenceTests",
    "Independences",
    "Inversion",
    "Path",
    "Paths",
    "Validity",
    "conditions_of",
    "direct_effect",
]
