"""Fits that depend on sums over all rows: least squares by moments, and Newton's method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Draw, InputError, words
from clearwood.models.entries.entry import Entry, Job
from clearwood.models.entries.streams import Newton
from clearwood.models.over_parts.encoded_rows import Encoding
from clearwood.models.shared.newton import RowLoss, Sums, minimum, sums_over
from clearwood.parallel import State, over
from clearwood.table import Part

__all__ = ["fit_by_newton", "fit_to_moments"]


# Fits that depend on means and second moments only: over parts, from a few rows with the same.
#
# Least squares, with or without a penalty on coefficients, sees nothing of the rows but their
# mean, their second moments and their number. These are gathered over parts as the triangular
# factor of a QR decomposition, which is as accurate as that of all rows at once. A library is
# then given two rows for each column, placed so that they have the same moments: its solution is
# that of all rows.


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


# Generalised linear models over parts, by Newton's method: each step reads all rows once.
#
# A step needs the loss, its gradient and its second derivatives at the coefficients so far, which
# are sums over rows. They are added up part by part, always in the order of the parts, so that
# workers do not change the result. The optimum is that of all rows at once.


def fit_by_newton(entry: Entry, job: Job, encoding: Encoding, *, warn: Callable[..., None]) -> Any:
    """Fit the estimator of a generalised linear model to all rows.

    Without a penalty, ``warn`` looks for columns whose coefficients have no finite value.
    """
    assert isinstance(entry.streams, Newton)
    if (
        job.task.is_classification
        and len(encoding.classes if encoding.classes is not None else ()) > 2
    ):
        raise InputError(
            f"learner {entry.name!r} needs all rows in memory for more than two classes",
            parameter="learner",
            value=entry.name,
            hint=words(
                "this table is read in parts: fit to a sample of the rows, ",
                Draw(value=200_000),
                ", or take 'lightgbm'.",
            ),
        )
    facts = _over(encoding, job, _Facts(encoding.without_rows()), "adding up targets")
    low, high = facts.arrays["least"][0], facts.arrays["largest"][0]
    total, mean = facts.arrays["sums"][0], facts.arrays["sums"][1] / facts.arrays["sums"][0]
    # a library's estimator of the right form; its coefficients are replaced below
    shell = entry.build(job).fit(np.zeros((2, encoding.n_columns)), np.array([low, high]))
    if job.task.is_classification:
        curve, unit = RowLoss("logistic"), 1.0
        penalty = 0.0 if job.settings["penalty"] == "none" else 1 / (shell.C * total)
        start = float(np.log(mean / (1 - mean)))
    else:
        # as LogLinear does with all rows in memory
        curve, unit, start = RowLoss("log", float(shell.model_.power)), float(mean), 0.0
        penalty = float(shell.alpha)

    def sums(coefficients: Floats, step: int) -> Sums:
        work = _Step(encoding.without_rows(), curve, unit, coefficients)
        held = _over(encoding, job, work, f"fitting, step {step + 1}").arrays
        loss, weights = held["loss"]
        return Sums(float(weights), float(loss), held["gradient"], held["second"])

    coefficients = np.append(np.zeros(encoding.n_columns), start)
    coefficients = minimum(sums, coefficients, penalty, name=entry.name)
    entry.streams.put(shell, coefficients[:-1], float(coefficients[-1] + np.log(unit)))
    if not penalty:

        def over_rows(add: _Add) -> dict[str, Floats]:
            work = _Added(encoding.without_rows(), add)
            return dict(_over(encoding, job, work, "looking for separation").arrays)

        warn(
            entry.name,
            over_rows,
            np.append(coefficients[-1] + np.log(unit), coefficients[:-1]),
            sources=[one.source for one in encoding.encoder.columns_],
            classes=encoding.classes,
            penalty=job.settings.get("penalty"),
        )
    return shell


#: From encoded rows with a column of ones before the others, and targets, to sums and extremes.
_Add = Callable[[Floats, Floats], dict[str, Floats]]


@dataclass(frozen=True, eq=False)
class _Added:
    """Sums and extremes over the rows of one part that have weight."""

    encoding: Encoding
    add: _Add

    def __call__(self, part: Part) -> State:
        total: dict[str, Floats] = {}
        for X, y, weight in self.encoding.batches(part):
            used = np.ones(len(y), bool) if weight is None else weight > 0
            if used.any():
                rows = np.column_stack([np.ones(int(used.sum())), X[used]])
                total = _joined(total, self.add(rows, np.asarray(y[used], np.float64)))
        return State({}, total)


def _over(encoding: Encoding, job: Job, work: Any, title: str) -> State:
    run = over(encoding.parts.parts, work, _added, title=title, n_jobs=job.n_jobs)
    assert run.state is not None
    return run.state


def _added(one: State, other: State) -> State:
    return State({}, _joined(one.arrays, other.arrays))


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Add up sums, and keep the extremes of those named so; a part without rows has none."""
    ways = {"least": np.minimum, "largest": np.maximum}
    joined = {**one, **other}
    for key in one.keys() & other.keys():
        joined[key] = ways.get(key, np.add)(one[key], other[key])
    return joined


@dataclass(frozen=True, eq=False)
class _Facts:
    """Weights, weighted targets and the ends of the targets of one part."""

    encoding: Encoding

    def __call__(self, part: Part) -> State:
        sums, least, largest = np.zeros(2), np.array([np.inf]), np.array([-np.inf])
        for _, y, weight in self.encoding.batches(part):
            share = np.ones(len(y)) if weight is None else weight
            sums += share.sum(), share @ y
            least, largest = np.minimum(least, y.min()), np.maximum(largest, y.max())
        return State({}, {"sums": sums, "least": least, "largest": largest})


@dataclass(frozen=True, eq=False)
class _Step:
    """Loss, gradient and second derivatives of one part at some coefficients."""

    encoding: Encoding
    curve: RowLoss
    unit: float
    coefficients: Floats

    def __call__(self, part: Part) -> State:
        size = len(self.coefficients)
        loss, gradient, second = np.zeros(2), np.zeros(size), np.zeros((size, size))
        for X, y, weight in self.encoding.batches(part):
            share = np.ones(len(y)) if weight is None else weight
            sums = sums_over(X, y / self.unit, share, self.curve, self.coefficients)
            loss += sums.loss, sums.total
            gradient += sums.gradient
            second += sums.second
        return State({}, {"loss": loss, "gradient": gradient, "second": second})
