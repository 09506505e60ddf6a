"""Why a model predicts what it does: decomposition, Shapley values, effects, importance, LIME."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.explanation.agreement import Agreement, Comparison
    from clearwood.explanation.decomposition.decomposition import Components, Decomposition
    from clearwood.explanation.decomposition.term_table import (
        Doubted,
        TermRow,
        TermTable,
        readable_order,
    )
    from clearwood.explanation.effects.bands import Training
    from clearwood.explanation.effects.boundaries import Boundaries, boundaries
    from clearwood.explanation.effects.joint import JointCurves, default_values, joint_curves
    from clearwood.explanation.explanation import Explanation
    from clearwood.explanation.factors.comparison import Averaged
    from clearwood.explanation.factors.factors import factors_of_game
    from clearwood.explanation.factors.files import read_factors
    from clearwood.explanation.factors.points import (
        USUAL_POINTS,
        Points,
        PointsCell,
        PointsTerm,
        Rounding,
        usual_points,
    )
    from clearwood.explanation.factors.result import FactorLosses, Factors, FactorTerm
    from clearwood.explanation.games.additive import AdditiveGame
    from clearwood.explanation.games.from_model import learner_players
    from clearwood.explanation.games.game import Game, NotDecomposableError
    from clearwood.explanation.games.in_parts import InParts
    from clearwood.explanation.games.products import ProductGame, as_additive
    from clearwood.explanation.games.sums import SumGame, leaves_of
    from clearwood.explanation.games.terms import TermsGame
    from clearwood.explanation.games.trees import TreeGame
    from clearwood.explanation.linear.coefficients import coefficients
    from clearwood.explanation.linear.discriminants import Discriminants, discriminants
    from clearwood.explanation.linear.path import CoefficientPath, path
    from clearwood.explanation.linear.result import Coefficients, ColumnTest
    from clearwood.explanation.local.contributions import Contributions
    from clearwood.explanation.local.integrated_gradients import (
        IntegratedGradients,
        integrated_gradients,
    )
    from clearwood.explanation.local.lime import Lime
    from clearwood.explanation.local.what_if import WhatIf
    from clearwood.explanation.monotone.monotone import Monotone, MonotoneClaim, Witness
    from clearwood.explanation.neural_networks import (
        Attention,
        TrainingCurve,
        attention,
        training_curve,
    )
    from clearwood.explanation.results.about import About, BackgroundInfo
    from clearwood.explanation.results.effect import BANDS, FEW_FREEDOM, Effect
    from clearwood.explanation.results.importance import (
        ComponentVariances,
        Importance,
        Interactions,
    )
    from clearwood.explanation.results.shape import Shape, sentence_of, shape_of
    from clearwood.explanation.results.shapley import Shapley
    from clearwood.explanation.rows.predictor import Predictor
    from clearwood.fitted import Scale, Unit
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "BANDS",
    "FEW_FREEDOM",
    "USUAL_POINTS",
    "About",
    "AdditiveGame",
    "Agreement",
    "Attention",
    "Averaged",
    "BackgroundInfo",
    "Boundaries",
    "CoefficientPath",
    "Coefficients",
    "ColumnTest",
    "Comparison",
    "ComponentVariances",
    "Components",
    "Contributions",
    "Decomposition",
    "Discriminants",
    "Doubted",
    "Effect",
    "Explanation",
    "FactorLosses",
    "FactorTerm",
    "Factors",
    "Game",
    "Importance",
    "InParts",
    "IntegratedGradients",
    "Interactions",
    "JointCurves",
    "Lime",
    "Monotone",
    "MonotoneClaim",
    "NotDecomposableError",
    "Points",
    "PointsCell",
    "PointsTerm",
    "Predictor",
    "ProductGame",
    "Rounding",
    "Scale",
    "Shape",
    "Shapley",
    "SumGame",
    "TermRow",
    "TermTable",
    "TermsGame",
    "Training",
    "TrainingCurve",
    "TreeGame",
    "Unit",
    "WhatIf",
    "Witness",
    "as_additive",
    "attention",
    "boundaries",
    "coefficients",
    "default_values",
    "discriminants",
    "factors_of_game",
    "integrated_gradients",
    "joint_curves",
    "learner_players",
    "leaves_of",
    "path",
    "read_factors",
    "readable_order",
    "sentence_of",
    "shape_of",
    "training_curve",
    "usual_points",
]
