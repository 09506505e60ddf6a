"""Generalised linear models over parts, by Newton's method: each step reads all rows once.

A step needs the loss, its gradient and its second derivatives at the coefficients so far, which are
sums over rows. They are added up part by part, always in the order of the parts, so that workers do
not change the result. The optimum is that of all rows at once, to a smaller tolerance than the
libraries' own.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Draw, InputError, words
from clearwood.models.encoded_rows import Encoding
from clearwood.models.entry import Entry, Job
from clearwood.models.estimators.streams import Newton
from clearwood.parallel import State, over
from clearwood.table import Part

__all__ = ["fit_by_newton"]

_MOST_STEPS = 100
#: A step that promises less than this share of the loss is the last.
_TOLERANCE = 1e-12


def fit_by_newton(entry: Entry, job: Job, encoding: Encoding) -> Any:
    """Fit the estimator of a generalised linear model to all rows."""
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
    low, high = facts.arrays["ends"]
    total, mean = facts.arrays["sums"][0], facts.arrays["sums"][1] / facts.arrays["sums"][0]
    # a library's estimator of the right form; its coefficients are replaced below
    shell = entry.build(job).fit(np.zeros((2, encoding.n_columns)), np.array([low, high]))
    if job.task.is_classification:
        curve = _Curve("logistic")
        penalty = 0.0 if job.settings["penalty"] == "none" else 1 / (shell.C * total)
        start = float(np.log(mean / (1 - mean)))
    else:
        curve = _Curve("log", float(shell.model_.power))
        penalty = float(shell.alpha)
        start = float(np.log(mean))
    coefficients = np.append(np.zeros(encoding.n_columns), start)
    coefficients = _minimum(encoding, job, curve, penalty, coefficients, entry.name)
    entry.streams.put(shell, coefficients[:-1], float(coefficients[-1]))
    return shell


def _over(encoding: Encoding, job: Job, work: Any, title: str) -> State:
    run = over(encoding.parts.parts, work, _added, title=title, n_jobs=job.n_jobs)
    assert run.state is not None
    return run.state


def _added(one: State, other: State) -> State:
    arrays = {key: one.arrays[key] + other.arrays[key] for key in one.arrays if key != "ends"}
    if "ends" in one.arrays:
        (a, b), (c, d) = one.arrays["ends"], other.arrays["ends"]
        arrays["ends"] = np.array([min(a, c), max(b, d)])
    return State({}, arrays)


def _minimum(
    encoding: Encoding,
    job: Job,
    curve: "_Curve",
    penalty: float,
    coefficients: Floats,
    name: str,
) -> Floats:
    """Return the coefficients where mean loss and penalty are least; the intercept is the last."""
    weights = np.append(np.full(len(coefficients) - 1, penalty), 0.0)
    best, before = np.inf, coefficients
    for step in range(_MOST_STEPS):
        work = _Step(encoding.without_rows(), curve, coefficients)
        sums = _over(encoding, job, work, f"fitting, step {step + 1}").arrays
        total = sums["loss"][1]
        value = float(sums["loss"][0] / total + weights @ coefficients**2 / 2)
        if not value <= best + _TOLERANCE * (1 + abs(best)):
            coefficients = (coefficients + before) / 2  # too far
            continue
        gradient = sums["gradient"] / total + weights * coefficients
        second = sums["second"] / total + np.diag(weights)
        change = np.linalg.lstsq(second, gradient, rcond=None)[0]
        if gradient @ change <= _TOLERANCE * (1 + abs(value)):
            return np.asarray(coefficients - change)
        best, before = value, coefficients
        coefficients = coefficients - change
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"{name} has not converged after {_MOST_STEPS} steps", ConvergenceWarning, stacklevel=2
    )
    return before


@dataclass(frozen=True)
class _Curve:
    """The loss of a row as a function of its linear score, with two derivatives.

    Parameters
    ----------
    link
        "logistic" for two classes, "log" for Tweedie's distributions.
    power
        Variance power of the distribution: 1 is Poisson's, 2 is the gamma distribution.
    """

    link: str
    power: float = 1.0

    def __call__(self, score: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return loss, slope and curvature; terms that do not depend on the score are left out."""
        if self.link == "logistic":
            loss = np.logaddexp(0.0, score) - y * score
            mean = 1 / (1 + np.exp(-np.clip(score, -700, 700)))
            return loss, mean - y, mean * (1 - mean)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, power = np.exp(score), self.power
            rise, fall = mean ** (2 - power), y * mean ** (1 - power)
            loss = (score if power == 2 else rise / (2 - power)) - (
                y * score if power == 1 else fall / (1 - power)
            )
            return loss, rise - fall, (2 - power) * rise - (1 - power) * fall


@dataclass(frozen=True, eq=False)
class _Facts:
    """Weights, weighted targets and the ends of the targets of one part."""

    encoding: Encoding

    def __call__(self, part: Part) -> State:
        sums, ends = np.zeros(2), np.array([np.inf, -np.inf])
        for _, y, weight in self.encoding.batches(part):
            share = np.ones(len(y)) if weight is None else weight
            sums += share.sum(), share @ y
            ends = np.array([min(ends[0], y.min()), max(ends[1], y.max())])
        return State({}, {"sums": sums, "ends": ends})


@dataclass(frozen=True, eq=False)
class _Step:
    """Loss, gradient and second derivatives of one part at some coefficients."""

    encoding: Encoding
    curve: _Curve
    coefficients: Floats

    def __call__(self, part: Part) -> State:
        size = len(self.coefficients)
        loss, gradient, second = np.zeros(2), np.zeros(size), np.zeros((size, size))
        for X, y, weight in self.encoding.batches(part):
            rows = np.column_stack([X, np.ones(len(X))])
            share = np.ones(len(y)) if weight is None else weight
            value, slope, curvature = self.curve(rows @ self.coefficients, y)
            loss += share @ value, share.sum()
            gradient += rows.T @ (share * slope)
            second += rows.T @ (rows * (share * curvature)[:, None])
        return State({}, {"loss": loss, "gradient": gradient, "second": second})
