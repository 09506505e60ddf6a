"""From a model's answer to numbers: probabilities, margins, responses, one column per output."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.forest import Forest
from clearwood.forest import links as _links
from clearwood.forest import predict as _predict

__all__ = ["LINKS", "Scorer", "forest_scorer", "scorer_of"]

Floats = NDArray[np.float64]

#: Probabilities are kept this far from 0 and 1 before their log odds are taken.
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Scorer:
    """How a model's input becomes numbers.

    Parameters
    ----------
    call
        From the model's input to an array of one or two dimensions.
    outputs
        Names of the outputs; empty until the model has answered once.
    unit
        What the numbers are.
    classes
        The labels, for classifiers.
    only
        The output that is kept; None for all.
    """

    call: Callable[[Any], NDArray[Any]]
    names: tuple[str, ...] = ()
    unit: str = "prediction"
    classes: tuple[Any, ...] = ()
    only: int | None = None

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs that are kept."""
        return self.names if self.only is None else (self.names[self.only],)

    def settled(self, few: Any) -> "Scorer":
        """Give the outputs names, by asking about a few rows, where they have none."""
        if self.names:
            return self
        answer = _two_dimensional(self.call(few))
        n_outputs = answer.shape[1]
        names = (
            ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))
        )
        return replace(self, names=names)

    def taking(self, output: Any) -> "Scorer":
        """Keep one output; of two classes the second when None."""
        if output is None:
            return replace(self, only=1) if len(self.classes) == 2 == len(self.names) else self
        if str(output) not in self.names:
            raise InputError(
                f"the model has no output {output!r}", hint=did_you_mean(str(output), self.names)
            )
        return replace(self, only=self.names.index(str(output)))

    def checked(self, asked: Any, n_rows: int) -> Floats:
        """Ask, and refuse answers of the wrong length or that are no numbers."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            warnings.filterwarnings("ignore", "X has feature names", UserWarning)
            answer = _two_dimensional(self.call(asked))
        if answer.shape[0] != n_rows:
            raise InputError(
                f"the model answered with {answer.shape[0]} predictions for {n_rows} rows",
                hint="predict must give one prediction per row.",
            )
        if answer.shape[1] != len(self.names):
            raise InputError(
                f"the model answered with {answer.shape[1]} outputs; before it was "
                f"{len(self.names)}"
            )
        if self.only is not None:
            answer = answer[:, self.only : self.only + 1]
        odd = int((~np.isfinite(answer)).any(axis=1).sum())
        if odd:
            raise InputError(
                f"the model answered NaN or infinity for {odd:,} of {n_rows:,} rows",
                hint="some models cannot take missing or very large values; look at predict "
                "for those rows.",
            )
        return answer


def _two_dimensional(answer: Any) -> Floats:
    values = np.asarray(answer)
    if values.dtype.kind not in "fiub":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"the model answered with {values.ravel()[0]!r}, which is no number"
                if values.size
                else "the model answered with nothing",
                hint="for labels, give a model with predict_proba or decision_function.",
            ) from None
    values = values.astype(np.float64)
    if values.ndim == 0:
        values = values.reshape(1, 1)
    return values.reshape(len(values), -1)


def scorer_of(model: Any, scale: str | None, labels: Any = None) -> Scorer:
    """Choose what to ask of a model.

    Parameters
    ----------
    model
        Anything with ``predict_proba``, ``decision_function`` or ``predict``, or a function.
    scale
        "probability", "margin", "response" or None.
    labels
        Names of the classes, where the model's own are codes.
    """
    has_classes = hasattr(model, "classes_") and (
        hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    )
    if has_classes:
        return _of_classifier(model, scale, model.classes_ if labels is None else labels)
    if scale == "probability":
        raise InputError(
            "this model predicts no probabilities",
            hint="leave scale out, or pass model.predict_proba as a function.",
        )
    if hasattr(model, "predict"):
        if scale == "margin":
            raise InputError(
                "this model has no margin of its own",
                hint="leave scale out: its prediction is what it gives.",
            )
        if hasattr(model, "predict_proba"):  # not a scikit-learn classifier, but alike
            return Scorer(model.predict_proba, unit="probability")
        return Scorer(model.predict)
    if callable(model):
        return Scorer(model)
    raise InputError(
        f"{type(model).__name__} is no model: it has no predict and cannot be called",
        hint="give a fitted model, or a function from rows to predictions.",
    )


def _of_classifier(model: Any, scale: str | None, labels: Any) -> Scorer:
    classes = tuple(labels.tolist() if hasattr(labels, "tolist") else labels)
    names = tuple(map(str, classes))
    has_probabilities = hasattr(model, "predict_proba")
    if scale is None:
        scale = "probability" if has_probabilities else "margin"
    if scale == "response":
        scale = "probability"
    if scale == "probability" and not has_probabilities:
        raise InputError(
            f"{type(model).__name__} gives no probabilities", hint="use scale='margin'."
        )
    if scale == "probability":
        return Scorer(model.predict_proba, names, "probability", classes)
    if hasattr(model, "decision_function"):

        def margin(X: Any) -> Floats:
            found = np.asarray(model.decision_function(X), np.float64)
            return _both_signs(found) if found.ndim == 1 or found.shape[1] == 1 else found

        return Scorer(margin, names, "log odds" if _is_logistic(model) else "margin", classes)
    return Scorer(lambda X: _log_odds(model.predict_proba(X)), names, "log odds", classes)


def _both_signs(margin: Floats) -> Floats:
    """Give the margin of both classes: what speaks for one speaks against the other."""
    flat = margin.ravel()
    return np.column_stack([-flat, flat])


def _log_odds(probabilities: Any) -> Floats:
    p = np.clip(np.asarray(probabilities, np.float64), _TINY, 1 - _TINY)
    return np.asarray(np.log(p) - np.log1p(-p))


def _is_logistic(model: Any) -> bool:
    return "Logistic" in type(model).__name__ or "GradientBoosting" in type(model).__name__


def forest_scorer(forest: Forest, classes: Any, scale: str | None, n_jobs: int) -> Scorer:
    """Predict with the forest's own arrays: rows come as its matrix."""

    def raw(matrix: Floats) -> Floats:
        return _predict.predict_raw(forest, matrix, n_jobs=n_jobs)

    if forest.classes is None:
        if scale == "probability":
            raise InputError("this model predicts no probabilities", hint="leave scale out.")
        if scale == "margin" and forest.link != "identity":
            unit = "log of the mean" if forest.link == "log" else f"score before {forest.link}"
            return Scorer(raw, _numbered(forest.n_outputs), unit)
        return Scorer(lambda X: _links.predict(forest, raw(X)), _numbered(forest.n_outputs))
    labels = tuple(classes.tolist() if hasattr(classes, "tolist") else classes)
    names = tuple(map(str, labels))
    if scale != "margin":
        return Scorer(lambda X: _links.probabilities(forest, raw(X)), names, "probability", labels)
    if forest.link == "identity":
        return Scorer(
            lambda X: _log_odds(_links.probabilities(forest, raw(X))), names, "log odds", labels
        )

    def margin(matrix: Floats) -> Floats:
        found = raw(matrix)
        return _both_signs(found) if found.ndim == 1 else found

    unit = "log odds" if forest.link == "logistic" else "score before softmax"
    return Scorer(margin, names, unit, labels)


def _numbered(n_outputs: int) -> tuple[str, ...]:
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def _logistic(scores: Floats) -> Floats:
    positive = expit(scores[:, 0])
    return np.column_stack([1 - positive, positive])


def _softmax(scores: Floats) -> Floats:
    return np.asarray(softmax(scores, axis=1))


def _single(scores: Floats) -> Floats:
    return scores[:, 0] if scores.shape[1] == 1 else scores


#: From what an additive model adds up, (rows, outputs), to what it answers.
LINKS: tuple[Callable[[Floats], Floats], ...] = (
    _single,
    _logistic,
    _softmax,
    lambda scores: _both_signs(scores[:, 0]),
    lambda scores: np.exp(np.minimum(_single(scores), 700.0)),
)
