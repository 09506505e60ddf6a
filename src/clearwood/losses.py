"""Losses: how wrong each prediction is. All packages find them here by one name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood._shared.numbers import number as written
from clearwood.table import Task

__all__ = ["LOSSES", "Loss", "Needs", "default_loss", "find_loss", "loss_of_predictions"]

Needs = Literal["prediction", "probability", "label", "margin"]
Proper = Literal["strictly proper", "proper", "not proper", "not a scoring rule"]
PerRow = Callable[[NDArray[Any], Floats], Floats]

# Probabilities are clipped to this much, so that the log loss of one row is at most about 34.5.
# Results say for how many rows that is (`Loss.capped`).
_LEAST_PROBABILITY = 1e-15
# So are predicted means: the Poisson deviance of one event that was predicted to be impossible is
# about 67 and not infinite.
_LEAST_MEAN = 1e-15

_NUMBERS = frozenset({Task.REGRESSION, Task.COUNT, Task.AMOUNT})
_CLASSES = frozenset({Task.BINARY, Task.MULTICLASS})


@dataclass(frozen=True)
class Loss:
    """A loss function.

    Parameters
    ----------
    name
        What users type.
    title
        What the loss of one row is called in a sentence: "squared error".
    risk_title
        What its mean is called: "mean squared error".
    tasks
        The tasks it can be used for.
    needs
        What it compares the truth with: a number ("prediction"), class probabilities, a class
        label, or a signed margin.
    estimates
        The quantity that minimises the expected loss.
    proper
        Whether the true probabilities are a minimiser of the expected loss ("proper"), or the only
        one ("strictly proper").
    per_row
        Computes the loss of each row. Classes are codes 0, 1, ...; probabilities have one column
        per class.
    threshold
        Where the loss needs a label and there are two classes: the second is predicted where its
        probability is above this.
    at_cap
        Computes for which rows the loss would be infinite, or nearly so, and is capped; None where
        no loss is.

    Examples
    --------
    >>> squared = find_loss("squared")
    >>> squared.per_row(np.array([1.0, 3.0]), np.array([1.5, 1.0]))
    array([0.25, 4.  ])
    >>> find_loss("brier").proper
    'strictly proper'
    """

    name: str
    title: str
    risk_title: str
    tasks: frozenset[Task]
    needs: Needs
    estimates: str
    proper: Proper
    per_row: PerRow
    threshold: float = 0.5
    at_cap: PerRow | None = None

    def capped(self, y: NDArray[Any], predicted: Floats) -> int:
        """Return how many rows have a loss that is capped.

        Examples
        --------
        >>> find_loss("log").capped(np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0]]))
        1
        """
        return 0 if self.at_cap is None else int(self.at_cap(y, predicted).sum())


def _squared(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray((y - predicted) ** 2)


def _absolute(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray(np.abs(y - predicted))


def _huber(y: NDArray[Any], predicted: Floats, *, delta: float) -> Floats:
    size = np.abs(y - predicted)
    return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))


def _quantile(y: NDArray[Any], predicted: Floats, *, level: float) -> Floats:
    residual = y - predicted
    return np.asarray(np.maximum(level * residual, (level - 1.0) * residual))


def _needs_positive(loss: str, what: str, values: NDArray[Any], *, zero: bool) -> None:
    """Refuse values for which a deviance is not defined, and name a loss for which they are."""
    bad = values < 0 if zero else values <= 0
    if not bad.any():
        return
    wanted = "zero or more" if zero else "more than zero"
    if what == "prediction":
        hint = words(
            "use ",
            Option("loss", "squared"),
            ", or a learner whose predictions are positive ('glm', 'gbm').",
        )
    elif (values < 0).any():
        hint = words("use ", Option("loss", "squared"), ".")
    else:
        hint = words("use ", Option("loss", "tweedie"), ", which allows zeros.")
    raise InputError(
        f"the {loss} loss needs every {what} to be {wanted}, but one is {written(values[bad][0])}",
        parameter="loss",
        value=loss,
        hint=hint,
    )


def _poisson(y: NDArray[Any], predicted: Floats) -> Floats:
    _needs_positive("poisson", "target", y, zero=True)
    _needs_positive("poisson", "prediction", predicted, zero=True)
    ratio = np.where(y > 0, y / np.maximum(predicted, _LEAST_MEAN), 1.0)
    return np.asarray(2.0 * (y * np.log(ratio) - y + predicted))


def _poisson_at_cap(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray((y > 0) & (predicted < _LEAST_MEAN), dtype=np.float64)


def _gamma(y: NDArray[Any], predicted: Floats) -> Floats:
    _needs_positive("gamma", "target", y, zero=False)
    _needs_positive("gamma", "prediction", predicted, zero=False)
    return np.asarray(2.0 * (np.log(predicted / y) + y / predicted - 1.0))


def _tweedie(y: NDArray[Any], predicted: Floats, *, power: float) -> Floats:
    _needs_positive("tweedie", "target", y, zero=True)
    _needs_positive("tweedie", "prediction", predicted, zero=False)
    one, two = 1.0 - power, 2.0 - power
    saturated = y**two / (one * two)
    return np.asarray(2.0 * (saturated - y * predicted**one / one + predicted**two / two))


def _zero_one(y: NDArray[Any], predicted: Floats) -> Floats:
    return np.asarray(y != predicted, dtype=np.float64)


def _log(y: NDArray[Any], probability: Floats) -> Floats:
    of_truth = probability[np.arange(len(y)), y.astype(np.intp)]
    return np.asarray(-np.log(np.clip(of_truth, _LEAST_PROBABILITY, 1.0)))


def _log_at_cap(y: NDArray[Any], probability: Floats) -> Floats:
    of_truth = probability[np.arange(len(y)), y.astype(np.intp)]
    return np.asarray(of_truth < _LEAST_PROBABILITY, dtype=np.float64)


def _brier(y: NDArray[Any], probability: Floats) -> Floats:
    truth = np.eye(probability.shape[1])[y.astype(np.intp)]
    return np.asarray(((probability - truth) ** 2).sum(axis=1))


def _exponential(y: NDArray[Any], margin: Floats) -> Floats:
    return np.asarray(np.exp(-(2.0 * y - 1.0) * margin))


def _hinge(y: NDArray[Any], margin: Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * margin))


_BINARY = frozenset({Task.BINARY})
_POSITIVE = frozenset({Task.REGRESSION, Task.AMOUNT})
_NO_RULE: Proper = "not a scoring rule"
_STRICT: Proper = "strictly proper"


def _number_loss(
    name: str,
    title: str,
    estimates: str,
    per_row: PerRow,
    tasks: frozenset[Task] = _NUMBERS,
) -> Loss:
    at_cap = _poisson_at_cap if name == "poisson" else None
    return Loss(
        name,
        title,
        f"mean {title}",
        tasks,
        "prediction",
        estimates,
        _NO_RULE,
        per_row,
        at_cap=at_cap,
    )


def _class_loss(
    name: str, title: str, needs: Needs, estimates: str, proper: Proper, per_row: PerRow
) -> Loss:
    tasks = _BINARY if needs == "margin" else _CLASSES
    risk_title = {"zero-one": "error rate", "log": title, "brier": title}.get(name, f"mean {title}")
    at_cap = _log_at_cap if name == "log" else None
    return Loss(name, title, risk_title, tasks, needs, estimates, proper, per_row, at_cap=at_cap)


#: Losses by name; "huber", "quantile", "tweedie" and "zero-one" take a number: "quantile:0.9".
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        _number_loss("squared", "squared error", "mean", _squared),
        _number_loss("absolute", "absolute error", "median", _absolute),
        _number_loss("huber", "Huber loss", "between mean and median", partial(_huber, delta=1.35)),
        _number_loss("quantile", "quantile loss", "0.5 quantile", partial(_quantile, level=0.5)),
        _number_loss("poisson", "Poisson deviance", "mean", _poisson),
        _number_loss("gamma", "gamma deviance", "mean", _gamma, _POSITIVE),
        _number_loss("tweedie", "Tweedie deviance", "mean", partial(_tweedie, power=1.5)),
        _class_loss("log", "log loss", "probability", "probabilities", _STRICT, _log),
        _class_loss("brier", "Brier score", "probability", "probabilities", _STRICT, _brier),
        _class_loss(
            "zero-one", "zero-one loss", "label", "most probable class", "proper", _zero_one
        ),
        _class_loss("hinge", "hinge loss", "margin", "most probable class", "not proper", _hinge),
        _class_loss(
            "exponential", "exponential loss", "margin", "half the log-odds", _STRICT, _exponential
        ),
    )
}

_DEFAULTS = {
    Task.REGRESSION: "squared",
    Task.COUNT: "poisson",
    Task.AMOUNT: "tweedie",
    Task.BINARY: "log",
    Task.MULTICLASS: "log",
}


def default_loss(task: Task, y: NDArray[Any] | None = None) -> Loss:
    """Return the default loss for a task.

    Amounts are judged by the gamma deviance if all of them are known to be positive, and by the
    Tweedie deviance otherwise.

    Examples
    --------
    >>> default_loss(Task.COUNT).name
    'poisson'
    >>> amounts = np.array([120.0, 0.0, 35.5])
    >>> default_loss(Task.AMOUNT, amounts).name, default_loss(Task.AMOUNT, amounts[::2]).name
    ('tweedie', 'gamma')
    """
    if task is Task.AMOUNT and y is not None and (y > 0).all():
        return LOSSES["gamma"]
    return LOSSES[_DEFAULTS[task]]


def loss_of_predictions(task: Task, needs: Needs, y: Floats, predicted: Floats) -> Loss:
    """Return the default loss for predictions as they are.

    Classes without probabilities are judged by how many are wrong, and counts and amounts by
    squared errors where a prediction is not positive.

    Parameters
    ----------
    task
        What is predicted.
    needs
        What is predicted of classes, as in `Loss.needs`.
    y, predicted
        Truth and predictions; their least values decide.

    Examples
    --------
    >>> loss_of_predictions(Task.COUNT, "prediction", np.ones(2), np.array([0.5, -0.1])).name
    'squared'
    """
    if task.is_classification and needs != "probability":
        return find_loss("zero-one")
    if task in (Task.COUNT, Task.AMOUNT) and (predicted <= 0).any():
        return find_loss("squared")
    return default_loss(task, y)


def find_loss(name: str, *, task: Task | None = None) -> Loss:
    """Return a loss by its name, checked against the task.

    Parameters
    ----------
    name
        One of `LOSSES`; "huber:2" sets from where the loss is linear, "quantile:0.9" the level,
        "tweedie:1.7" the variance power, "zero-one:0.3" the probability above which the second of
        two classes is predicted.
    task
        What is predicted.

    Examples
    --------
    >>> find_loss("quantile:0.9").estimates
    '0.9 quantile'
    """
    base, _, number = name.partition(":")
    if base not in LOSSES:
        raise InputError(
            f"there is no loss {name!r}",
            parameter="loss",
            value=name,
            hint=did_you_mean(base, LOSSES),
        )
    loss = _with_number(LOSSES[base], name, number) if number else LOSSES[base]
    if task is not None and task not in loss.tasks:
        fitting = [other.name for other in LOSSES.values() if task in other.tasks]
        raise InputError(
            f"the {name} loss cannot be used for {task}",
            parameter="loss",
            value=name,
            hint=f"choose from {', '.join(fitting)}.",
        )
    return loss


def _with_number(loss: Loss, name: str, number: str) -> Loss:
    try:
        value = float(number)
    except ValueError:
        value = np.nan
    if loss.name == "quantile" and 0.0 < value < 1.0:
        estimates = f"{value:g} quantile"
        return replace(
            loss, name=name, estimates=estimates, per_row=partial(_quantile, level=value)
        )
    if loss.name == "huber" and 0.0 < value < np.inf:
        return replace(loss, name=name, per_row=partial(_huber, delta=value))
    if loss.name == "tweedie" and 1.0 < value < 2.0:
        return replace(loss, name=name, per_row=partial(_tweedie, power=value))
    if loss.name == "zero-one" and 0.0 < value < 1.0:
        return replace(loss, name=name, threshold=value, tasks=_BINARY)
    wanted = {
        "quantile": "a level between 0 and 1",
        "huber": "a positive number",
        "tweedie": "a variance power between 1 and 2",
        "zero-one": "a threshold between 0 and 1",
    }
    raise bad_value("loss", name, f"{loss.name} takes {wanted.get(loss.name, 'no number')}")
