"""The words that options take, written once for the library and the command line."""

from typing import Literal

__all__ = [
    "AdjustmentKind",
    "BackgroundRows",
    "BandChoice",
    "BandSource",
    "Categories",
    "Claim",
    "Conditional",
    "EffectKind",
    "Effort",
    "Equal",
    "Gaps",
    "ImportanceKind",
    "Interval",
    "LimeSelection",
    "Objective",
    "Resampled",
    "Scale",
    "Search",
    "ShapleyMethod",
    "SpreadSource",
    "StandardErrors",
    "ValueFunction",
]

#: What a prediction is measured on: log odds or logs, probabilities, or the target's own unit.
Scale = Literal["margin", "probability", "response"]

#: What an effect is claimed of: the model's prediction, or the target itself.
Claim = Literal["model", "world"]

#: What becomes of rows with gaps in the columns of the model: as the model was fitted, complete
#: rows only, or gaps filled by random draws.
Gaps = Literal["fill", "complete", "impute"]

#: How categories reach a model.
Categories = Literal["onehot", "ordinal", "native", "target"]

# Benchmarks.
Search = Literal["random", "grid", "halving", "hyperband", "tpe", "gp"]
Interval = Literal["nested", "naive", "hold-out"]
#: Which rows a choice of columns is repeated on.
Resampled = Literal["half", "bootstrap"]

# Explanations.
EffectKind = Literal["pdp", "ice", "marginal", "ale", "supported_pdp", "component"]
ImportanceKind = Literal[
    "components", "permutation", "impurity", "variance", "shapley", "loco", "coefficients"
]
#: How many rows of the background averages are over.
BackgroundRows = int | Literal["all"]
#: Which rows stand in for the columns outside a coalition.
ValueFunction = Literal["interventional", "path_dependent", "observational"]
#: What a model knows of its own variation: the covariance or the posterior of its coefficients,
#: models of folds or of bootstrap samples.
SpreadSource = Literal["covariance", "posterior", "folds", "bootstrap"]
#: What a band shows: the variation over rows, models fitted again, drawn rows, or the model's own.
BandSource = Literal["rows", "refits", "draws", SpreadSource]
#: Which band is wanted.
BandChoice = Literal["auto", "rows", "model", "simultaneous"]
ShapleyMethod = Literal["auto", "subsets", "kernel", "permutation"]
#: How observational values model the other columns, given those of the coalition.
Conditional = Literal["auto", "gaussian", "copula", "kernel", "forest"]
LimeSelection = Literal["forward", "lasso"]

#: Which standard errors coefficients have.
StandardErrors = Literal["auto", "model", "robust", "cluster"]

# Condensing.
#: What must be equal: the predicted class, or the value it is derived from.
Equal = Literal["class", "value"]
#: How much work goes into a small tree.
Effort = Literal["fast", "good", "optimal"]
#: What is minimised.
Objective = Literal["leaves", "depth", "questions"]

# Causal graphs.
#: Which sets for adjustment are listed.
AdjustmentKind = Literal["minimal", "minimum", "all", "parents", "optimal"]
