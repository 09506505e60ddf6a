"""The score of a linear model: what its columns are added up to, before any link."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation.scales import Unit

__all__ = ["Score", "score_of"]

# Classes of scikit-learn and of the catalogue whose prediction is a sum over columns, by what
# gives the sum. Looked up along the bases of a model's class, so subclasses are known too.
_PREDICT = {
    "ARDRegression",
    "BayesianRidge",
    "ElasticNet",
    "HuberRegressor",
    "Lars",
    "LinearRegression",
    "LinearSVR",
    "MultiTaskElasticNet",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "PLSRegression",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "LinearModelCV",
    "SGDRegressor",
    "TheilSenRegressor",
    "_Stepwise",
    "DummyRegressor",
}
_DECISION = {
    "LinearDiscriminantAnalysis": Unit.LOG_ODDS,
    "LogisticRegression": Unit.LOG_ODDS,
    "LinearClassifierMixin": Unit.SCORE,
}
_SEVERAL = {Unit.LOG_ODDS: Unit.SOFTMAX_SCORE, Unit.SCORE: Unit.SCORE}


@dataclass(frozen=True, eq=False)
class Score:
    """How a fitted model scores a matrix of its own columns.

    Parameters
    ----------
    of
        From (rows, columns) to (rows, outputs).
    outputs
        Names of the outputs.
    unit
        What the score is.
    """

    of: Callable[[Any], Floats]
    outputs: tuple[str, ...]
    unit: Unit


def score_of(model: Any) -> Score | None:
    """Find the score of a fitted linear model; None where it is not known to be linear."""
    bases = {
        base.__name__
        for base in type(model).__mro__
        if base.__module__.partition(".")[0] in ("sklearn", "clearwood")
    }
    if "StandardisedTarget" in bases:
        return _rescaled(model)
    if "Capped" in bases:
        return score_of(model.estimator_)
    if "Pipeline" in bases:
        return _after_steps(model)
    if "TransformedTargetRegressor" in bases and model.func is None and model.transformer is None:
        return score_of(model.regressor_)
    if "LogLinear" in bases:
        return score_of(model.model_)
    if "_GeneralizedLinearRegressor" in bases:
        return Score(_Linear(model.coef_, model.intercept_), ("prediction",), _glm_unit(model))
    if "OrderedRegression" in bases:
        return Score(_Linear(model.coef_[:, None], np.zeros(1)), ("score",), Unit.SCORE)
    if "OneVsRestClassifier" in bases and all(map(score_of, model.estimators_)):
        return Score(_Method(model, "decision_function"), _classes(model), Unit.LOG_ODDS)
    if "DummyClassifier" in bases and model.strategy in ("prior", "most_frequent"):
        return Score(
            _Method(model, "predict_proba"), tuple(map(str, model.classes_)), Unit.PROBABILITY
        )
    decision = next((unit for name, unit in _DECISION.items() if name in bases), None)
    if decision is not None and hasattr(model, "coef_"):
        unit = decision if len(model.classes_) == 2 else _SEVERAL[decision]
        return Score(_Method(model, "decision_function"), _classes(model), unit)
    if bases & _PREDICT:
        return Score(_Method(model, "predict"), _numbers(model), Unit.PREDICTION)
    return None


# What gives a score: classes rather than closures, so that explanations can be pickled.


@dataclass(frozen=True, eq=False)
class _Linear:
    """Coefficients times columns, and an intercept."""

    coefficients: Floats
    intercept: Any

    def __call__(self, X: Any) -> Floats:
        values: Floats = np.asarray(X, np.float64) @ self.coefficients + self.intercept
        return values.reshape(len(values), -1)


@dataclass(frozen=True, eq=False)
class _Method:
    """A method of the model."""

    model: Any
    name: str

    def __call__(self, X: Any) -> Floats:
        values = np.asarray(quietly(getattr(self.model, self.name), X), dtype=np.float64)
        return values.reshape(len(values), -1)


@dataclass(frozen=True, eq=False)
class _Rescaled:
    """A score brought back to the scale of the target."""

    inner: Callable[[Any], Floats]
    scale: Any
    mean: Any

    def __call__(self, X: Any) -> Floats:
        return np.asarray(self.inner(X) * self.scale + self.mean)


@dataclass(frozen=True, eq=False)
class _AfterSteps:
    """A score of what the steps before the last of a pipeline make of the columns."""

    inner: Callable[[Any], Floats]
    steps: Any

    def __call__(self, X: Any) -> Floats:
        return self.inner(quietly(self.steps.transform, X) if len(self.steps.steps) else X)


def _glm_unit(model: Any) -> Unit:
    link = getattr(model, "link", "log")
    if link == "auto":
        link = "identity" if model.power <= 0 else "log"
    return Unit.before(link)


def _rescaled(model: Any) -> Score | None:
    inner = score_of(model.regressor_)
    if inner is None:
        return None
    return replace(inner, of=_Rescaled(inner.of, model.scale_, model.mean_))


def _after_steps(model: Any) -> Score | None:
    """Score what the steps before the last make of the columns."""
    last = model.steps[-1][1]
    inner = None if last in (None, "passthrough") else score_of(last)
    return None if inner is None else replace(inner, of=_AfterSteps(inner.of, model[:-1]))


def _classes(model: Any) -> tuple[str, ...]:
    names = tuple(map(str, model.classes_))
    return names[1:] if len(names) == 2 else names


def _numbers(model: Any) -> tuple[str, ...]:
    shape = np.shape(getattr(model, "intercept_", 0.0))
    n_outputs = int(np.prod(shape)) if shape else 1
    if hasattr(model, "n_outputs_"):
        n_outputs = int(model.n_outputs_)
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def quietly(call: Callable[[Any], Any], X: Any) -> Any:
    """Call without the remark that an array has no names: columns were matched by name before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return call(X)
