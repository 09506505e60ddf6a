"""The score of a linear model: what its columns are added up to, before any link."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.fitted.scales import Unit, numbered_outputs
from clearwood.forest import default_names
from clearwood.models import ScoreParts

__all__ = ["Score", "dense", "fitted_names", "parts_of", "quietly", "score_of"]

# Classes of scikit-learn and of the catalogue whose prediction is a sum over columns, by what
# gives the sum. Looked up along the bases of a model's class, so subclasses are known too.
_PREDICT = {
    "ARDRegression",
    "BayesRegressor",
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
    "StagewiseRegressor",
    "SubsetRegressor",
    "TheilSenRegressor",
    "_Stepwise",
    "DummyRegressor",
}
_DECISION = {
    "BayesClassifier": Unit.LOG_ODDS,
    "LinearDiscriminantAnalysis": Unit.LOG_ODDS,
    "RegularisedDiscriminant": Unit.LOG_ODDS,
    "SeparatingHyperplane": Unit.SCORE,
    "LogisticRegression": Unit.LOG_ODDS,
    "LinearClassifierMixin": Unit.SCORE,
}
_SEVERAL = {Unit.LOG_ODDS: Unit.SOFTMAX_SCORE, Unit.SCORE: Unit.SCORE}


@dataclass(frozen=True, eq=False)
class Score:
    """How a fitted model scores rows of its own columns.

    Parameters
    ----------
    last
        From the matrix that the last step takes to (rows, outputs).
    outputs
        Names of the outputs.
    unit
        What the score is.
    coefficients
        Of the columns of that matrix, (columns, outputs); None where they are not known.
    steps
        What makes the matrix from rows; none where the rows are the matrix.
    """

    last: Callable[[Any], Floats]
    outputs: tuple[str, ...]
    unit: Unit
    coefficients: Floats | None = None
    steps: tuple[Any, ...] = ()

    def matrix(self, rows: Any) -> Any:
        """Make the matrix that the last step takes."""
        for step in self.steps:
            rows = quietly(step.transform, rows)
        return rows

    def of(self, rows: Any) -> Floats:
        """Score rows."""
        return self.last(self.matrix(rows))


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
    if bases & {"_GeneralizedLinearRegressor", "BayesPoisson"}:
        return _linear(model.coef_, model.intercept_, "prediction", _glm_unit(model))
    if "OrderedRegression" in bases:
        return _linear(model.coef_, 0.0, "score", Unit.SCORE)
    if "OneVsRestClassifier" in bases and all(map(score_of, model.estimators_)):
        return _method(model, "decision_function", _classes(model), Unit.LOG_ODDS)
    if "DummyClassifier" in bases and model.strategy in ("prior", "most_frequent"):
        names = tuple(map(str, model.classes_))
        return _method(model, "predict_proba", names, Unit.PROBABILITY)
    decision = next((unit for name, unit in _DECISION.items() if name in bases), None)
    if decision is not None and hasattr(model, "coef_"):
        unit = decision if len(model.classes_) == 2 else _SEVERAL[decision]
        return _method(model, "decision_function", _classes(model), unit)
    if bases & _PREDICT:
        return _method(model, "predict", _numbers(model), Unit.PREDICTION)
    return None


def parts_of(model: Any) -> ScoreParts | None:
    """Return the products and trees that a fitted model's score is a sum of; None for others."""
    parts = getattr(model, "parts_", None)
    return parts if isinstance(parts, ScoreParts) else None


def fitted_names(model: Any) -> tuple[tuple[str, ...], bool]:
    """List the columns that a model was fitted with, and whether they had no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return default_names(model.n_features_in_), True
    return tuple(map(str, names)), False


def dense(matrix: Any) -> Floats:
    """Turn what steps make, sparse or not, into an array of numbers."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, np.float64)


def _linear(coefficients: Floats, intercept: Any, output: str, unit: Unit) -> Score:
    column = np.reshape(coefficients, (-1, 1))
    return Score(_Linear(column, intercept), (output,), unit, column)


def _method(model: Any, name: str, outputs: tuple[str, ...], unit: Unit) -> Score:
    coefficients = getattr(model, "coef_", None)
    if isinstance(coefficients, np.ndarray):
        coefficients = np.atleast_2d(coefficients).T.astype(np.float64)
        known = coefficients.shape[1] == len(outputs)
    else:
        known = False
    return Score(_Method(model, name), outputs, unit, coefficients if known else None)


# What gives a score: classes rather than closures, so that explanations can be pickled.


@dataclass(frozen=True, eq=False)
class _Linear:
    """Coefficients times columns, and an intercept."""

    coefficients: Floats
    intercept: Any

    def __call__(self, X: Any) -> Floats:
        values: Floats = dense(X) @ self.coefficients + self.intercept
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


def _glm_unit(model: Any) -> Unit:
    link = getattr(model, "link", "log")
    if link == "auto":
        link = "identity" if model.power <= 0 else "log"
    return Unit.before(link)


def _rescaled(model: Any) -> Score | None:
    inner = score_of(model.regressor_)
    if inner is None:
        return None
    coefficients = None if inner.coefficients is None else inner.coefficients * model.scale_
    last = _Rescaled(inner.last, model.scale_, model.mean_)
    return replace(inner, last=last, coefficients=coefficients)


def _after_steps(model: Any) -> Score | None:
    """Score what the steps before the last make of the columns."""
    last = model.steps[-1][1]
    inner = None if last in (None, "passthrough") else score_of(last)
    if inner is None:
        return None
    steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    return replace(inner, steps=(*steps, *inner.steps))


def _classes(model: Any) -> tuple[str, ...]:
    names = tuple(map(str, model.classes_))
    return names[1:] if len(names) == 2 else names


def _numbers(model: Any) -> tuple[str, ...]:
    shape = np.shape(getattr(model, "intercept_", 0.0))
    n_outputs = int(np.prod(shape)) if shape else 1
    if hasattr(model, "n_outputs_"):
        n_outputs = int(model.n_outputs_)
    return numbered_outputs(n_outputs)


def quietly(call: Callable[[Any], Any], X: Any) -> Any:
    """Call without the remark that an array has no names: columns were matched by name before."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return call(X)
