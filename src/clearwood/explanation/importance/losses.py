"""How wrong each prediction is: one loss per row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood.explanation.adapter.predictor import Predictor

__all__ = ["RowLoss", "row_loss"]

#: From predictions of shape (rows, outputs) and positions of rows to one loss per row.
RowLoss = Callable[[Floats, Index], Floats]

_NAMES = ("squared", "absolute", "log", "zero-one")


def row_loss(predictor: Predictor, y: NDArray[Any], loss: Any) -> tuple[RowLoss, str]:
    """Choose a loss: log loss for probabilities, squared error for numbers, unless one is named.

    Returns
    -------
    (RowLoss, str)
        The loss and its name in words.
    """
    if callable(loss):
        return (
            lambda p, rows: np.asarray(loss(y[rows], p.squeeze(-1) if p.shape[1] == 1 else p))
        ), ("increase of the loss")
    if loss is not None and loss not in _NAMES:
        raise unknown_choice("loss", loss, _NAMES)
    classes = predictor.scorer.classes
    if not classes:
        return _of_numbers(y, loss)
    position = {str(label): k for k, label in enumerate(classes)}
    unknown = [label for label in np.unique(y) if str(label) not in position]
    if unknown:
        raise InputError(
            f"the target has {unknown[0]!r}, which the model does not know",
            hint=f"it knows {', '.join(map(repr, list(position)[:8]))}.",
        )
    codes = np.array([position[str(label)] for label in y], np.intp)
    binary = predictor.scorer.is_binary
    if loss == "zero-one" or (loss is None and not predictor.unit.is_probability):
        return _zero_one(codes, predictor, binary=binary), "increase of the share of errors"
    if not predictor.unit.is_probability:
        raise bad_value(
            "loss",
            loss,
            "it needs probabilities",
            hint=words("use ", Option("loss", "zero-one"), "."),
        )
    if loss in (None, "log"):
        return _log_loss(codes, binary=binary), "increase of the log loss"
    raise bad_value("loss", loss, "it is for numbers", hint="for classes: 'log' or 'zero-one'.")


def _of_numbers(y: NDArray[Any], loss: str | None) -> tuple[RowLoss, str]:
    if loss == "log":  # a function that gives the probability of one
        truth = np.asarray(y, np.float64)
        return _log_loss((truth == truth.max()).astype(np.intp), binary=True), (
            "increase of the log loss"
        )
    try:
        truth = np.asarray(y, np.float64)
    except ValueError:
        raise InputError(
            f"the target holds {y[0]!r}, but the model predicts numbers",
            hint="give a model with predict_proba.",
        ) from None
    if loss == "absolute":
        return (lambda p, rows: np.abs(truth[rows] - p[:, 0])), "increase of the absolute error"
    if loss == "zero-one":
        return (lambda p, rows: (truth[rows] != p[:, 0]).astype(np.float64)), (
            "increase of the share of errors"
        )
    return (lambda p, rows: (truth[rows] - p[:, 0]) ** 2), "increase of the squared error"


def _zero_one(codes: Index, predictor: Predictor, *, binary: bool) -> RowLoss:
    cut = 0.5 if predictor.unit.is_probability else 0.0

    def loss(p: Floats, rows: Index) -> Floats:
        predicted = (p[:, 0] > cut).astype(np.intp) if binary else p.argmax(axis=1)
        return np.asarray((predicted != codes[rows]).astype(np.float64))

    return loss


def _log_loss(codes: Index, *, binary: bool) -> RowLoss:
    def loss(p: Floats, rows: Index) -> Floats:
        truth = codes[rows]
        right = (
            np.where(truth == 1, p[:, 0], 1 - p[:, 0]) if binary else p[np.arange(len(p)), truth]
        )
        return np.asarray(-np.log(np.clip(right, 1e-15, 1.0)))

    return loss
