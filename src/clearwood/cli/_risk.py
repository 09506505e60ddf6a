"""How far predictions are from the truth, row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.table import Table, Task

__all__ = ["MEASURES", "loss_of_rows", "poisson_deviance"]

#: What the mean of the row losses is called, by task.
MEASURES = {
    Task.REGRESSION: "mean squared error",
    Task.COUNT: "mean Poisson deviance",
    Task.BINARY: "log loss",
    Task.MULTICLASS: "log loss",
}

# Predicted counts and probabilities of zero would make one wrong row outweigh all others.
_FLOOR = 1e-6


def loss_of_rows(model: Any, table: Table) -> tuple[str, NDArray[np.float64]]:
    """Give the loss of each row under a fitted learner, and the name of its mean.

    Squared error for numbers, Poisson deviance for counts, minus the log of the probability of
    the true class for classes; 0 or 1 for learners that give a class without probabilities.

    Parameters
    ----------
    model
        A fitted learner.
    table
        Rows with the target.

    Returns
    -------
    tuple
        The measure's name and one loss per row.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> measure, losses = loss_of_rows(cw.learner("lda").fit(wine), wine)
    >>> measure, losses.shape
    ('log loss', (178,))
    """
    task, truth = model.task_, table.y
    if task is Task.REGRESSION:
        return MEASURES[task], (truth - model.predict(table)) ** 2
    if task is Task.COUNT:
        return MEASURES[task], poisson_deviance(truth, model.predict(table))
    if not hasattr(model, "predict_proba"):
        return "error rate", np.asarray(model.predict(table) != truth, dtype=np.float64)
    probabilities = model.predict_proba(table)
    position = np.searchsorted(model.classes_, truth)
    # A class that the training rows did not have was given no probability at all.
    known = model.classes_[np.minimum(position, len(model.classes_) - 1)] == truth
    position = np.where(known, position, 0)
    of_truth = np.where(known, probabilities[np.arange(len(truth)), position], 0.0)
    return MEASURES[task], -np.log(np.maximum(of_truth, _FLOOR))


def poisson_deviance(truth: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the Poisson deviance of each row: 0 where the predicted mean is the count.

    Examples
    --------
    >>> poisson_deviance(np.array([0.0, 2.0]), np.array([0.5, 2.0]))
    array([1., 0.])
    """
    mean = np.maximum(mean, _FLOOR)
    ratio = np.where(truth > 0, truth, 1.0) / mean
    surprise = np.where(truth > 0, truth * np.log(ratio), 0.0)
    losses: NDArray[np.float64] = 2 * (surprise - truth + mean)
    return losses
