"""Losses: what a wrong prediction costs, row by row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, did_you_mean
from clearwood.table import Task

__all__ = ["LOSSES", "Loss", "default_loss", "find_loss"]

Needs = Literal["prediction", "probability", "label", "margin"]
Proper = Literal["strictly proper", "proper", "not proper", "not a scoring rule"]
PerRow = Callable[[NDArray[Any], Floats], Floats]

# Probabilities are kept this far from 0 and 1, so that one sure and wrong row costs about 34.5
# rather than infinity.
_LEAST_PROBABILITY = 1e-15

_NUMBERS = frozenset({Task.REGRESSION, Task.COUNT})
_CLASSES = frozenset({Task.BINARY, Task.MULTICLASS})


@dataclass(frozen=True)
class Loss:
    """A loss function.

    Parameters
    ----------
    name
        What users type.
    tasks
        Where it makes sense.
    needs
        What it compares the truth with: a number ("prediction"), class probabilities, a class
        label, or a signed margin.
    estimates
        What the best prediction under this loss is.
    proper
        Whether telling the true probabilities is (the only) best answer.
    per_row
        The loss of each row. Classes come as codes 0, 1, ...; probabilities have one column a
        class.

    Examples
    --------
    >>> squared = find_loss("squared")
    >>> squared.per_row(np.array([1.0, 3.0]), np.array([1.5, 1.0]))
    array([0.25, 4.  ])
    >>> find_loss("brier").proper
    'strictly proper'
    """

    name: str
    tasks: frozenset[Task]
    needs: Needs
    estimates: str
    proper: Proper
    per_row: PerRow


def _squared(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray((y - predicted) ** 2)


def _absolute(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray(np.abs(y - predicted))


def _huber(delta: float) -> PerRow:
    def per_row(y: NDArray[Any], predicted: Floats) -> Floats:
        size = np.abs(y - predicted)
        return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))

    return per_row


def _quantile(level: float) -> PerRow:
    def per_row(y: NDArray[Any], predicted: Floats) -> Floats:
        residual = y - predicted
        return np.asarray(np.maximum(level * residual, (level - 1.0) * residual))

    return per_row


def _needs_positive(loss: str, what: str, values: NDArray[Any], *, zero: bool) -> None:
    bad = values < 0 if zero else values <= 0
    if bad.any():
        wanted = "zero or more" if zero else "more than zero"
        raise InputError(
            f"the {loss} loss needs every {what} to be {wanted}, but one is {values[bad][0]:g}",
            hint="choose another loss, such as 'squared'"
            + (", or a learner with a log link ('glm')." if what == "prediction" else "."),
        )


def _poisson(y: NDArray[Any], predicted: Floats) -> Floats:
    _needs_positive("poisson", "target", y, zero=True)
    _needs_positive("poisson", "prediction", predicted, zero=False)
    ratio = np.where(y > 0, y / predicted, 1.0)
    return np.asarray(2.0 * (y * np.log(ratio) - y + predicted))


def _gamma(y: NDArray[Any], predicted: Floats) -> Floats:
    _needs_positive("gamma", "target", y, zero=False)
    _needs_positive("gamma", "prediction", predicted, zero=False)
    return np.asarray(2.0 * (np.log(predicted / y) + y / predicted - 1.0))


def _zero_one(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray(y != predicted, dtype=np.float64)


def _log(y: NDArray[Any], probability: Floats) -> Floats:
    told = probability[np.arange(len(y)), y.astype(np.intp)]
    return np.asarray(-np.log(np.clip(told, _LEAST_PROBABILITY, 1.0)))


def _brier(y: NDArray[Any], probability: Floats) -> Floats:
    truth = np.eye(probability.shape[1])[y.astype(np.intp)]
    return np.asarray(((probability - truth) ** 2).sum(axis=1))


def _exponential(y: NDArray[Any], margin: Floats) -> Floats:
    return np.asarray(np.exp(-(2.0 * y - 1.0) * margin))


def _hinge(y: NDArray[Any], margin: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * margin))


_BINARY = frozenset({Task.BINARY})
_NO_RULE: Proper = "not a scoring rule"

#: Losses by name; "huber" and "quantile" take a number: "quantile:0.9".
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("squared", _NUMBERS, "prediction", "mean", _NO_RULE, _squared),
        Loss("absolute", _NUMBERS, "prediction", "median", _NO_RULE, _absolute),
        Loss("huber", _NUMBERS, "prediction", "between mean and median", _NO_RULE, _huber(1.35)),
        Loss("quantile", _NUMBERS, "prediction", "0.5 quantile", _NO_RULE, _quantile(0.5)),
        Loss("poisson", _NUMBERS, "prediction", "mean", _NO_RULE, _poisson),
        Loss("gamma", frozenset({Task.REGRESSION}), "prediction", "mean", _NO_RULE, _gamma),
        Loss("log", _CLASSES, "probability", "probabilities", "strictly proper", _log),
        Loss("brier", _CLASSES, "probability", "probabilities", "strictly proper", _brier),
        Loss("zero-one", _CLASSES, "label", "most probable class", "proper", _zero_one),
        Loss("hinge", _BINARY, "margin", "most probable class", "not proper", _hinge),
        Loss(
            "exponential", _BINARY, "margin", "half the log-odds", "strictly proper", _exponential
        ),
    )
}

_DEFAULTS = {
    Task.REGRESSION: "squared",
    Task.COUNT: "poisson",
    Task.BINARY: "log",
    Task.MULTICLASS: "log",
}


def default_loss(task: Task) -> Loss:
    """The loss used for a task where the user names none.

    Examples
    --------
    >>> default_loss(Task.COUNT).name
    'poisson'
    """
    return LOSSES[_DEFAULTS[task]]


def find_loss(name: str, *, task: Task | None = None) -> Loss:
    """A loss by its name, checked against the task.

    Parameters
    ----------
    name
        One of `LOSSES`; "huber:2" sets where squares end, "quantile:0.9" the level.
    task
        What is predicted.

    Examples
    --------
    >>> find_loss("quantile:0.9").estimates
    '0.9 quantile'
    """
    base, _, number = name.partition(":")
    if base not in LOSSES:
        raise InputError(f"there is no loss {name!r}", hint=did_you_mean(base, LOSSES))
    loss = LOSSES[base]
    if task is not None and task not in loss.tasks:
        fitting = [other.name for other in LOSSES.values() if task in other.tasks]
        raise InputError(
            f"the {base} loss does not go with {task}", hint=f"choose from {', '.join(fitting)}."
        )
    return _with_number(loss, name, number) if number else loss


def _with_number(loss: Loss, name: str, number: str) -> Loss:
    try:
        value = float(number)
    except ValueError:
        value = np.nan
    if loss.name == "quantile" and 0.0 < value < 1.0:
        return Loss(
            name, loss.tasks, loss.needs, f"{value:g} quantile", loss.proper, _quantile(value)
        )
    if loss.name == "huber" and 0.0 < value < np.inf:
        return Loss(name, loss.tasks, loss.needs, loss.estimates, loss.proper, _huber(value))
    wanted = {"quantile": "a level between 0 and 1", "huber": "a positive number"}
    raise InputError(
        f"{name!r} is no loss", hint=f"{loss.name} takes {wanted.get(loss.name, 'no number')}."
    )
