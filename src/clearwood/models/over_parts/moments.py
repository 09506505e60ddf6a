"""Fits that depend on means and second moments only: over parts, from a few rows with the same.

Least squares, with or without a penalty on coefficients, sees nothing of the rows but their mean,
their second moments and their number. These are gathered over parts as the triangular factor of a
QR decomposition, which is as accurate as that of all rows at once. A library is then given two rows
for each column, placed so that they have the same moments: its solution is that of all rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.models.entries.entry import Entry, Job
from clearwood.models.over_parts.encoded_rows import Encoding
from clearwood.parallel import State, over
from clearwood.table import Part

__all__ = ["fit_to_moments"]


def fit_to_moments(entry: Entry, job: Job, encoding: Encoding) -> Any:
    """Fit the estimator of a learner to rows with the moments of all rows."""
    run = over(
        encoding.parts.parts,
        _Gather(encoding.without_rows()),
        _together,
        title="adding up rows",
        n_jobs=job.n_jobs,
    )
    assert run.state is not None
    X: Any
    y: Any
    if job.task.is_classification:
        weight = run.state.arrays["classes"]
        X, y = np.zeros((len(weight), encoding.n_columns)), np.arange(len(weight))
    else:
        X, y, weight = rows_with_moments(run.state.arrays["factor"])
    return entry.build(job).fit(X, y, sample_weight=weight)


@dataclass(frozen=True, eq=False)
class _Gather:
    """Gathers the moments of the encoded rows of one part."""

    encoding: Encoding

    def __call__(self, part: Part) -> State:
        n_columns = self.encoding.n_columns
        factor = np.zeros((0, n_columns + 2))
        classes = self.encoding.classes
        shares = np.zeros(0 if classes is None else len(classes))
        for X, y, weight in self.encoding.batches(part):
            if classes is not None:
                shares += np.bincount(y.astype(np.intp), weight, minlength=len(shares))
                continue
            rows = np.column_stack([np.ones(len(X)), X, y])
            if weight is not None:
                rows *= np.sqrt(weight)[:, None]
            factor = _factor(factor, rows)
        return State({}, {"factor": factor, "classes": shares})


def _together(one: State, other: State) -> State:
    factor = _factor(one.arrays["factor"], other.arrays["factor"])
    return State({}, {"factor": factor, "classes": one.arrays["classes"] + other.arrays["classes"]})


def _factor(one: Floats, other: Floats) -> Floats:
    """Return the triangular factor of rows, of which the first ones may be a factor already."""
    factor: Any = np.linalg.qr(np.vstack([one, other]), mode="r")
    return np.asarray(factor)


def rows_with_moments(factor: Floats) -> tuple[Floats, Floats, Floats]:
    """Return few rows, their targets and weights, with the moments of many.

    Parameters
    ----------
    factor
        The triangular factor of a column of ones, the columns of the rows and their target, each
        row multiplied by the root of its weight.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 2.0], [1.0, 5.0, 0.0]])
    >>> X, y, weight = rows_with_moments(np.linalg.qr(rows, mode="r"))
    >>> X.shape, round(float(weight.sum()), 6), round(float(np.average(y, weights=weight)), 6)
    ((4, 1), 3.0, 1.0)
    """
    size = factor.shape[1]
    factor = np.vstack([factor, np.zeros((size - len(factor), size))])  # fewer rows than columns
    total = factor[0, 0] ** 2
    mean = factor[0, 1:] / factor[0, 0]
    spread = factor[1:, 1:] * np.sqrt((size - 1) / total)
    rows = np.concatenate([mean + spread, mean - spread])
    return rows[:, :-1], rows[:, -1], np.full(len(rows), total / len(rows))
