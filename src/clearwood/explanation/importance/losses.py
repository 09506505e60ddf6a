"""How wrong each prediction is: one loss per row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood.explanation.rows.predictor import Predictor
from clearwood.losses import LOSSES

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
        ), "increase of the loss"
    if loss is not None and loss not in _NAMES:
        raise unknown_choice("loss", loss, _NAMES)
    if predictor.scorer.classes:
        truth = _codes(y, predictor.scorer.classes)
        loss = _of_classes(predictor, loss)
        is_binary = predictor.scorer.is_binary
    else:
        truth = _numbers(y)
        loss, is_binary = loss or "squared", True
        if loss == "log":  # a function that predicts the probability of one
            truth = (truth == truth.max()).astype(np.intp)
    cut = 0.5 if predictor.unit.is_probability else 0.0
    per_row = LOSSES[loss].per_row

    def compared(p: Floats) -> Floats:
        if loss == "log":
            return np.column_stack([1 - p[:, 0], p[:, 0]]) if is_binary else p
        if loss == "zero-one" and predictor.scorer.classes:
            return np.asarray(p[:, 0] > cut if is_binary else p.argmax(axis=1), np.intp)
        return np.asarray(p[:, 0])

    measure = "share of errors" if loss == "zero-one" else LOSSES[loss].title
    return (lambda p, rows: per_row(truth[rows], compared(p))), f"increase of the {measure}"


def _codes(y: NDArray[Any], classes: Any) -> Index:
    position = {str(label): k for k, label in enumerate(classes)}
    unknown = [label for label in np.unique(y) if str(label) not in position]
    if unknown:
        raise InputError(
            f"the target has {unknown[0]!r}, which the model does not know",
            hint=f"it knows {', '.join(map(repr, list(position)[:8]))}.",
        )
    return np.array([position[str(label)] for label in y], np.intp)


def _of_classes(predictor: Predictor, loss: str | None) -> str:
    is_probability = predictor.unit.is_probability
    if loss is None:
        return "log" if is_probability else "zero-one"
    if loss != "zero-one" and not is_probability:
        hint = words("use ", Option("loss", "zero-one"), ".")
        raise bad_value("loss", loss, "it needs probabilities", hint=hint)
    if loss in ("squared", "absolute"):
        raise bad_value("loss", loss, "it is for numbers", hint="for classes: 'log' or 'zero-one'.")
    return loss


def _numbers(y: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.asarray(y, np.float64)
    except ValueError:
        raise InputError(
            f"the target holds {y[0]!r}, but the model predicts numbers",
            hint="give a model with predict_proba.",
        ) from None
