"""How far predictions are from the truth, row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.table import Table, Task

__all__ = ["MEASURES", "loss_of_rows"]

#: What the mean of the row losses is called, by task.
MEASURES = {
    Task.REGRESSION: "mean squared error",
    Task.COUNT: "mean Poisson deviance",
    Task.BINARY: "log loss",
    Task.MULTICLASS: "log loss",
}

# A predicted count of zero or less would make one row outweigh all others.
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
    from clearwood.benchmarking import judge, target_codes
    from clearwood.losses import find_loss

    task = model.task_
    codes, classes = target_codes(table)
    if task is Task.COUNT:
        # a training risk is told of every learner, of one that predicts negative counts too
        mean = np.maximum(model.predict(table), _FLOOR)
        return MEASURES[task], find_loss("poisson").per_row(codes, mean)
    if task.is_classification and not hasattr(model, "predict_proba"):
        return "error rate", judge(model, table, codes, find_loss("zero-one"), classes)[0]
    loss = find_loss("log" if task.is_classification else "squared")
    return MEASURES[task], judge(model, table, codes, loss, classes)[0]
