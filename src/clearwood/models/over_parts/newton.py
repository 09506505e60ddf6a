"""Generalised linear models over parts, by Newton's method: each step reads all rows once.

A step needs the loss, its gradient and its second derivatives at the coefficients so far, which are
sums over rows. They are added up part by part, always in the order of the parts, so that workers do
not change the result. The optimum is that of all rows at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Draw, InputError, words
from clearwood.models.entries.entry import Entry, Job
from clearwood.models.entries.streams import Newton
from clearwood.models.over_parts.encoded_rows import Encoding
from clearwood.models.shared.iterations import Curve, Sums, minimum, sums_over
from clearwood.parallel import State, over
from clearwood.table import Part

__all__ = ["fit_by_newton"]


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
        curve, unit = Curve("logistic"), 1.0
        penalty = 0.0 if job.settings["penalty"] == "none" else 1 / (shell.C * total)
        start = float(np.log(mean / (1 - mean)))
    else:
        # as LogLinear does with all rows in memory
        curve, unit, start = Curve("log", float(shell.model_.power)), float(mean), 0.0
        penalty = float(shell.alpha)

    def sums(coefficients: Floats, step: int) -> Sums:
        work = _Step(encoding.without_rows(), curve, unit, coefficients)
        held = _over(encoding, job, work, f"fitting, step {step + 1}").arrays
        loss, weights = held["loss"]
        return Sums(float(weights), float(loss), held["gradient"], held["second"])

    coefficients = np.append(np.zeros(encoding.n_columns), start)
    coefficients = minimum(sums, coefficients, penalty, name=entry.name)
    entry.streams.put(shell, coefficients[:-1], float(coefficients[-1] + np.log(unit)))
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
    curve: Curve
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
