"""The score of a linear model: what its columns are added up to, before any link."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Score", "quiet_call", "score_of"]

Floats = NDArray[np.float64]

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
    "LinearDiscriminantAnalysis": "log odds",
    "LogisticRegression": "log odds",
    "LinearClassifierMixin": "score",
}
_SEVERAL = {"log odds": "score before softmax", "score": "score"}
_LINKS = {"log": "log of the mean", "identity": "prediction"}


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
        What the score is, in words.
    """

    of: Callable[[Any], Floats]
    outputs: tuple[str, ...]
    unit: str


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
        return _linear(model, _glm_unit(model))
    if "OrderedRegression" in bases:
        zero = np.zeros(1)
        return Score(lambda X: np.asarray(X) @ model.coef_[:, None] + zero, ("score",), "score")
    if "OneVsRestClassifier" in bases and all(map(score_of, model.estimators_)):
        return Score(_quiet(model.decision_function), _classes(model), "log odds")
    if "DummyClassifier" in bases and model.strategy in ("prior", "most_frequent"):
        return Score(_quiet(model.predict_proba), tuple(map(str, model.classes_)), "probability")
    decision = next((unit for name, unit in _DECISION.items() if name in bases), None)
    if decision is not None and hasattr(model, "coef_"):
        unit = decision if len(model.classes_) == 2 else _SEVERAL[decision]
        return Score(_quiet(model.decision_function), _classes(model), unit)
    if bases & _PREDICT:
        return Score(_quiet(model.predict), _numbers(model), "prediction")
    return None


def _linear(model: Any, unit: str) -> Score:
    def score(X: Any) -> Floats:
        values: Floats = np.asarray(X, np.float64) @ model.coef_ + model.intercept_
        return values.reshape(len(values), -1)

    return Score(score, ("prediction",), unit)


def _glm_unit(model: Any) -> str:
    link = getattr(model, "link", "log")
    if link == "auto":
        link = "identity" if model.power <= 0 else "log"
    return _LINKS[link]


def _rescaled(model: Any) -> Score | None:
    inner = score_of(model.regressor_)
    if inner is None:
        return None
    return Score(lambda X: inner.of(X) * model.scale_ + model.mean_, inner.outputs, inner.unit)


def _after_steps(model: Any) -> Score | None:
    """Score what the steps before the last make of the columns."""
    last = model.steps[-1][1]
    inner = None if last in (None, "passthrough") else score_of(last)
    if inner is None:
        return None
    before = model[:-1]
    made = quiet_call(before.transform) if len(before.steps) else (lambda X: X)
    return Score(lambda X: inner.of(made(X)), inner.outputs, inner.unit)


def _classes(model: Any) -> tuple[str, ...]:
    names = tuple(map(str, model.classes_))
    return names[1:] if len(names) == 2 else names


def _numbers(model: Any) -> tuple[str, ...]:
    shape = np.shape(getattr(model, "intercept_", 0.0))
    n_outputs = int(np.prod(shape)) if shape else 1
    if hasattr(model, "n_outputs_"):
        n_outputs = int(model.n_outputs_)
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def _quiet(call: Callable[[Any], Any]) -> Callable[[Any], Floats]:
    made = quiet_call(call)

    def score(X: Any) -> Floats:
        values = np.asarray(made(X), dtype=np.float64)
        return values.reshape(len(values), -1)

    return score


def quiet_call(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Call without the remark that an array has no names: columns were matched by name before."""

    def quiet(X: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return call(X)

    return quiet
