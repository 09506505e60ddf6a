"""From a model's input to numbers: probabilities, margins, responses, one column per output."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.fitted.linear_scores import parts_of, score_of
from clearwood.fitted.scales import Scale, Unit, numbered_outputs, output_position
from clearwood.forest import Forest, links, predict_raw

__all__ = ["Scorer", "both_signs", "forest_scorer", "scorer_of"]

#: Probabilities are kept this far from 0 and 1 before their log odds are taken.
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Scorer:
    """How a model's input becomes numbers.

    Parameters
    ----------
    call
        From the model's input to an array of one or two dimensions.
    names
        Names of the outputs; empty until the model has predicted once.
    unit
        What the numbers are.
    classes
        The labels, for classifiers.
    only
        The output that is kept; None for all.
    """

    call: Callable[[Any], NDArray[Any]]
    names: tuple[str, ...] = ()
    unit: Unit = Unit.PREDICTION
    classes: tuple[Any, ...] = ()
    only: int | None = None

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs that are kept."""
        return self.names if self.only is None else (self.names[self.only],)

    @property
    def is_binary(self) -> bool:
        """Whether one of two classes is kept."""
        return self.only is not None and len(self.classes) == 2

    def settled(self, few: Any) -> "Scorer":
        """Name the outputs, by predicting a few rows, where they have no names."""
        if self.names:
            return self
        predicted = _two_dimensional(self.call(few))
        return replace(self, names=numbered_outputs(predicted.shape[1]))

    def taking(self, output: Any) -> "Scorer":
        """Keep one output; of two classes the second when None."""
        if output is None:
            return replace(self, only=1) if len(self.classes) == 2 == len(self.names) else self
        return replace(self, only=output_position(output, self.names))

    def checked(self, given: Any, n_rows: int) -> Floats:
        """Predict, and refuse predictions of the wrong length or that are not finite numbers."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            warnings.filterwarnings("ignore", "X has feature names", UserWarning)
            predicted = _two_dimensional(self.call(given))
        if predicted.shape[0] != n_rows:
            raise InputError(
                f"the model gives {predicted.shape[0]} predictions for {n_rows} rows",
                hint="predict must give one prediction per row.",
            )
        if self.names and predicted.shape[1] != len(self.names):
            raise InputError(
                f"the model gives {predicted.shape[1]} outputs; before it gave {len(self.names)}"
            )
        if self.only is not None:
            predicted = predicted[:, self.only : self.only + 1]
        odd = int((~np.isfinite(predicted)).any(axis=1).sum())
        if odd:
            raise InputError(
                f"the model predicts NaN or infinity for {odd:,} of {n_rows:,} rows",
                hint="some models cannot take missing or very large values; look at predict "
                "for those rows.",
            )
        return predicted


def _two_dimensional(predicted: Any) -> Floats:
    values = np.asarray(predicted)
    if values.dtype.kind not in "fiub":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"the model predicts {values.ravel()[:1].tolist()[0]!r}, which is not a number"
                if values.size
                else "the model predicts nothing",
                hint="for labels, give a classifier with probabilities or a decision function.",
            ) from None
    values = values.astype(np.float64)
    if values.ndim == 0:
        values = values.reshape(1, 1)
    return values.reshape(len(values), -1)


def scorer_of(model: Any, scale: Scale | None, labels: Any = None) -> Scorer:
    """Choose which method of a model, or function, to call on a scale.

    Without a scale, probabilities where the model has them, else its prediction. ``labels`` names
    the classes where the model's own are codes.
    """
    has_classes = getattr(model, "classes_", None) is not None and (
        hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    )
    if has_classes:
        return _of_classifier(model, scale, model.classes_ if labels is None else labels)
    _refuse_probabilities(scale)
    if scale == Scale.MARGIN and (hasattr(model, "predict") or callable(model)):
        return _before_link(model)
    if hasattr(model, "predict"):
        if hasattr(model, "predict_proba"):  # not a scikit-learn classifier, but alike
            return Scorer(model.predict_proba, unit=Unit.PROBABILITY)
        return Scorer(model.predict)
    if callable(model):
        return Scorer(model)
    raise InputError(
        f"{type(model).__name__} is not a model: it has no `predict` and is not callable",
        parameter="model",
        hint="give a fitted model, or a function from rows to predictions.",
    )


def _before_link(model: Any) -> Scorer:
    """Score what a link turns into the prediction of numbers; an error where there is no link."""
    parts = parts_of(model)
    if parts is not None and parts.link != "identity":
        return Scorer(parts, unit=Unit.before(parts.link))
    unit = _network_unit(model)
    if unit is not None and unit.is_before_link:
        return Scorer(model.margin, unit=unit)
    score = score_of(model)
    if score is not None and score.unit.is_before_link:
        return Scorer(score.of, score.outputs, score.unit)
    inner = getattr(model, "regressor_", None)  # a TransformedTargetRegressor
    if inner is not None and hasattr(model, "transformer_"):
        return Scorer(inner.predict, unit=Unit.LINK_SCORE)
    raise InputError(
        "this model has no link, so it has no margin",
        parameter="scale",
        value=str(Scale.MARGIN),
        hint=words("its one scale is ", Option("scale", str(Scale.RESPONSE)), ", the default."),
    )


def _network_unit(model: Any) -> Unit | None:
    """Return what a network's score is before its link; None for other models."""
    return (
        Unit.before(model.link_) if hasattr(model, "margin") and hasattr(model, "link_") else None
    )


def _refuse_probabilities(scale: Scale | None) -> None:
    if scale == Scale.PROBABILITY:
        raise InputError(
            "this model predicts no probabilities",
            parameter="scale",
            value=scale,
            hint=words("leave out ", Option("scale"), ", or pass model.predict_proba itself."),
        )


def _of_classifier(model: Any, scale: Scale | None, labels: Any) -> Scorer:
    classes = tuple(labels.tolist() if hasattr(labels, "tolist") else labels)
    names = tuple(map(str, classes))
    has_probabilities = hasattr(model, "predict_proba")
    if scale is None:
        scale = Scale.PROBABILITY if has_probabilities else Scale.MARGIN
    if scale != Scale.MARGIN and not has_probabilities:
        raise InputError(
            f"{type(model).__name__} gives no probabilities",
            parameter="scale",
            value=scale,
            hint=words("use ", Option("scale", "margin"), "."),
        )
    if scale != Scale.MARGIN:
        return Scorer(model.predict_proba, names, Unit.PROBABILITY, classes)
    parts = parts_of(model)
    if parts is not None and len(parts.products.constant) in (1, len(names)):
        return Scorer(_Through(parts, _margins), names, Unit.before(parts.link), classes)
    if hasattr(model, "decision_function"):
        score = score_of(model)
        unit = Unit.LOG_ODDS if _is_logistic(model) else Unit.MARGIN
        if score is not None and score.unit.is_before_link:
            unit = score.unit
        unit = _network_unit(model) or unit
        return Scorer(_Through(model.decision_function, _margins), names, unit, classes)
    return Scorer(_Through(model.predict_proba, _log_odds), names, Unit.LOG_ODDS, classes)


@dataclass(frozen=True, eq=False)
class _Through:
    """A method of the model, and what is made of its numbers."""

    method: Callable[[Any], Any]
    link: Callable[[Floats], Floats]

    def __call__(self, X: Any) -> Floats:
        return self.link(np.asarray(self.method(X), np.float64))


def _margins(margin: Floats) -> Floats:
    """Return the margin of every class."""
    return both_signs(margin) if margin.ndim == 1 or margin.shape[1] == 1 else margin


def both_signs(margin: Floats) -> Floats:
    """Return the margin of both classes: that of one is the other's with its sign changed."""
    flat = margin.ravel()
    return np.column_stack([-flat, flat])


def _log_odds(probabilities: Floats) -> Floats:
    p = np.clip(probabilities, _TINY, 1 - _TINY)
    return np.asarray(np.log(p) - np.log1p(-p))


def _is_logistic(model: Any) -> bool:
    return "Logistic" in type(model).__name__ or "GradientBoosting" in type(model).__name__


def forest_scorer(forest: Forest, classes: Any, scale: Scale | None, n_jobs: int) -> Scorer:
    """Predict with the forest's own arrays: rows come as its matrix."""

    def calling(what: "_ForestScale") -> _ForestCall:
        return _ForestCall(forest, what, n_jobs)

    if forest.classes is None:
        outputs = numbered_outputs(forest.n_outputs)
        _refuse_probabilities(scale)
        if scale == Scale.MARGIN and forest.link != "identity":
            return Scorer(
                calling("raw"), outputs, Unit.before(forest.link, temperature=forest.temperature)
            )
        return Scorer(calling("response"), outputs)
    labels = tuple(classes.tolist() if hasattr(classes, "tolist") else classes)
    names = tuple(map(str, labels))
    if scale != Scale.MARGIN:
        return Scorer(calling("probability"), names, Unit.PROBABILITY, labels)
    if forest.link == "identity":
        return Scorer(calling("log odds"), names, Unit.LOG_ODDS, labels)
    unit = Unit.before(forest.link, temperature=forest.temperature)
    return Scorer(calling("margin"), names, unit, labels)


_ForestScale = Literal["raw", "response", "probability", "log odds", "margin"]


@dataclass(frozen=True, eq=False)
class _ForestCall:
    """Prediction of a forest on a scale."""

    forest: Forest
    what: _ForestScale
    n_jobs: int

    def __call__(self, matrix: Floats) -> Floats:
        raw = predict_raw(self.forest, matrix, n_jobs=self.n_jobs)
        if self.what == "response":
            return links.predict(self.forest, raw)
        if self.what == "probability":
            return links.probabilities(self.forest, raw)
        if self.what == "log odds":
            return _log_odds(links.probabilities(self.forest, raw))
        return both_signs(raw) if self.what == "margin" and raw.ndim == 1 else raw
