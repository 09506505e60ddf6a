"""Predictions of any model for the rows of a table: numbers, probabilities or classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.numbers import count, number
from clearwood.losses import Needs
from clearwood.models import Learner
from clearwood.table import Parts, Table, Task

__all__ = ["classes_of", "predicted_by", "task_of"]

#: Probabilities in single precision add up to 1 within this.
_ROUNDING = 1e-3


def task_of(model: Any, table: Table) -> Task:
    """Return the task of a model, or that of the table where the model does not know it."""
    task = getattr(model, "task_", None) or table.task
    assert task is not None  # a table with a target has one
    return Task(task)


def classes_of(model: Any, task: Task, table: Table | Parts) -> Sequence[str]:
    """Return the labels in the order of a model's probabilities; none for numbers."""
    if not task.is_classification:
        return ()
    labels = getattr(model, "classes_", None)
    if labels is None:
        if isinstance(table, Parts):
            labels = np.unique(table.empty.target_column.typed_levels())
        else:
            labels = np.unique(table.y)
    return [str(label) for label in labels]


def predicted_by(model: Any, table: Table, task: Task) -> tuple[Floats, Needs]:
    """Predict the rows: probabilities where the model has them."""
    if isinstance(model, Learner) or hasattr(model, "schema_"):
        features: Any = table.select(model.schema_.features) if _has(table, model) else table
    else:
        features = _frame_of(model, table)
    if not callable(getattr(model, "predict", None)) and not callable(model):
        raise InputError(
            f"{type(model).__name__} has no predict",
            parameter="model",
            hint=words("use a fitted ", Call("learner", ("name",)), " or a model file."),
        )
    if task.is_classification and hasattr(model, "predict_proba"):
        return _shares(np.asarray(model.predict_proba(features), dtype=np.float64)), "probability"
    answer = np.asarray((getattr(model, "predict", None) or model)(features))
    if not task.is_classification:
        return _finite(answer.reshape(-1).astype(np.float64)), "prediction"
    if answer.ndim == 2 and answer.shape[1] > 1:
        return _shares(answer.astype(np.float64)), "probability"
    return _positions(answer.reshape(-1), classes_of(model, task, table)), "label"


def _frame_of(model: Any, table: Table) -> Any:
    """Return the features of a table; of a model that names its own, those where they are there."""
    frame = table.by_header().X.to_frame()
    names = getattr(model, "feature_names_in_", None)
    own = () if names is None else [str(name) for name in names]
    return frame[own] if own and set(own) <= set(frame.columns) else frame


def _has(table: Table, model: Any) -> bool:
    return all(name in table.names for name in model.schema_.features)


def _finite(predicted: Floats) -> Floats:
    """Refuse predictions that are no numbers."""
    bad = ~np.isfinite(predicted.reshape(len(predicted), -1)).all(axis=1)
    if bad.any():
        raise InputError(
            f"the model predicts no number for {count(int(bad.sum()), 'row')}", parameter="model"
        )
    return predicted


def _shares(predicted: Floats) -> Floats:
    """Refuse probabilities outside 0 to 1, or that do not add up to 1."""
    values = _finite(predicted)
    bad = (values < 0).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > _ROUNDING)
    if bad.any():
        example = ", ".join(number(value) for value in values[bad][0])
        raise InputError(
            f"the model's predictions of {count(int(bad.sum()), 'row')} are not probabilities: "
            f"{example}",
            parameter="model",
            hint="they must lie between 0 and 1, and those of a row add up to 1.",
        )
    return values


def _positions(labels: NDArray[Any], classes: Sequence[str]) -> Floats:
    place = {label: k for k, label in enumerate(classes)}
    return np.array([place.get(str(label), -1) for label in labels], dtype=np.float64)
