"""Bias and variance of a learner, from fits to many resampled tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.fits import candidate, judge_all
from clearwood.resampling import Bootstrap, HoldOut, splits_of
from clearwood.table import Table

__all__ = ["BiasVariance", "bias_variance", "split_squared_error"]


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance(Result):
    """Expected squared error, decomposed.

    If the truth is unknown, ``risk = bias + variance`` exactly, and `bias` contains the noise of
    the target. If it is known, ``risk = noise + bias + variance + cross`` exactly, with a `cross`
    term that is zero on average over targets.

    Parameters
    ----------
    learner
        The learner.
    samples, rows
        How many training tables, and how many test rows.
    risk
        Mean squared error over samples and test rows (for classes, summed over classes: Brier).
    bias
        Mean squared distance of the average prediction to the target, or to the truth if known.
    variance
        Mean squared distance of predictions to their average.
    noise
        Mean squared distance of the target to the truth; NaN where that is not known.
    cross
        Twice the mean product of noise and bias; NaN where the truth is not known.
    by_row
        The same for every test row.
    is_weighted
        Whether test rows count by their weight in the means.
    """

    learner: str
    samples: int
    rows: int
    risk: float
    bias: float
    variance: float
    noise: float
    cross: float
    by_row: dict[str, Floats]
    is_weighted: bool = False
    _omitted: ClassVar[tuple[str, ...]] = ("by_row",)

    def _columns(self) -> dict[str, list[Any]]:
        return {name: values.tolist() for name, values in self.by_row.items()}

    def plot(self) -> Any:
        """Draw the parts of the error (Altair)."""
        from clearwood.plot import plot_bias_variance

        return plot_bias_variance(self)

    def __repr__(self) -> str:
        head = f"Bias and variance of {self.learner!r}: {self.samples} fits, {self.rows} test rows"
        head += ", weighted" if self.is_weighted else ""
        if np.isnan(self.noise):
            parts = [("bias² and noise", self.bias), ("variance", self.variance)]
        else:
            parts = [
                ("noise", self.noise),
                ("bias²", self.bias),
                ("variance", self.variance),
                ("noise × bias", self.cross),
            ]
        lines = [f"  {name:16} {number(value, 4)}" for name, value in [*parts, ("risk", self.risk)]]
        return "\n".join([head, *lines])


def split_squared_error(
    y: ArrayLike, predictions: ArrayLike, truth: ArrayLike | None = None
) -> dict[str, Floats]:
    """Decompose the squared error of each row into bias and variance over several predictions.

    The target is of shape (rows,) or (rows, classes), and there is one prediction of that shape per
    fit. "risk", "bias", "variance" and, with a truth, "noise" and "cross" are for each row.

    Examples
    --------
    >>> parts = split_squared_error([1.0], [[0.0], [1.0]])
    >>> [float(parts[name][0]) for name in ("risk", "bias", "variance")]
    [0.5, 0.25, 0.25]
    """
    target = np.asarray(y, dtype=np.float64)
    predicted = np.asarray(predictions, dtype=np.float64)
    if predicted.ndim != target.ndim + 1 or predicted.shape[1:] != target.shape:
        raise InputError(
            f"predictions of shape {predicted.shape} do not match a target of shape {target.shape}",
            parameter="predictions",
        )
    target, predicted = target.reshape(len(target), -1), predicted.reshape(*predicted.shape[:2], -1)
    average = predicted.mean(axis=0)
    centre = target if truth is None else np.asarray(truth, np.float64).reshape(target.shape)
    parts = {
        "risk": ((predicted - target) ** 2).sum(axis=2).mean(axis=0),
        "bias": ((average - centre) ** 2).sum(axis=1),
        "variance": ((predicted - average) ** 2).sum(axis=2).mean(axis=0),
    }
    if truth is not None:
        parts["noise"] = ((target - centre) ** 2).sum(axis=1)
        parts["cross"] = 2 * ((target - centre) * (centre - average)).sum(axis=1)
    return parts


def bias_variance(
    learner: Any,
    data: Any,
    *,
    samples: int = 50,
    test_share: float = 0.25,
    truth: Callable[[Table], ArrayLike] | None = None,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> BiasVariance:
    """Decompose the expected squared error of a learner by resampling.

    The learner is fitted to bootstrap samples of the training rows and predicts held-out rows.
    Bootstrap samples of one table contain repeated rows and vary less than new tables, so use the
    variance to compare learners, not as an estimate of its own.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    data
        A table with a target; for classes, the Brier score is decomposed.
    samples
        How many fits.
    test_share
        The share of rows to hold out.
    truth
        The mean of the target given the features, for simulated data:
        ``cw.datasets.insurance_truth().mean``.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> line = bias_variance("ols", data, samples=10)
    >>> tree = bias_variance("tree", data, samples=10)
    >>> tree.variance > 5 * line.variance
    True
    """
    task = getattr(data, "task", None)
    loss = "brier" if task is not None and task.is_classification else "squared"
    one = candidate(learner, data, loss=loss, seed=seed)
    (held_out,) = splits_of(one.table, HoldOut(test_share), seed=seed)
    inside = one.table.take(held_out.train)
    draws = splits_of(inside, Bootstrap(samples), seed=seed)
    work = [(held_out.train[draw.train], [held_out.test]) for draw in draws]
    fits = judge_all(one, work, title="resampled fits", n_jobs=n_jobs)
    codes = one.codes[held_out.test]
    target = codes if one.classes is None else np.eye(len(one.classes))[codes]
    known = None
    if truth is not None:
        if one.classes is not None:
            raise InputError("a truth needs a target that is a number", parameter="truth")
        known = np.asarray(truth(one.table.take(held_out.test)), dtype=np.float64)
    by_row = split_squared_error(target, [judged.predictions for (judged,) in fits], known)
    weights = None if one.table.weights is None else one.table.weights[held_out.test]
    means = {name: float(np.average(part, weights=weights)) for name, part in by_row.items()}
    return BiasVariance(
        learner=one.contender.name,
        samples=samples,
        rows=len(held_out.test),
        **{"noise": float("nan"), "cross": float("nan"), **means},
        by_row=by_row,
        is_weighted=weights is not None,
    )
