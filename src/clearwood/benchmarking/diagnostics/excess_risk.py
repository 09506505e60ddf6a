"""Excess risk of a learner: approximation error and estimation error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import number
from clearwood._shared.progress import progress
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.fits import Candidate, candidate
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.table import Table

__all__ = ["ExcessRisk", "Truth", "excess_risk"]

#: Losses whose expectation is least at the mean; for these L(mean, prediction) is the excess risk.
_AT_THE_MEAN = ("squared", "poisson", "gamma", "tweedie")


class Truth(Protocol):
    """A model that tables can be drawn from and whose mean is known."""

    def sample(self, n: int, *, seed: int) -> Table:
        """Draw a table."""

    def mean(self, data: Table) -> Any:
        """Return the mean of the target for each row."""


@dataclass(frozen=True, eq=False, repr=False)
class ExcessRisk(Result):
    """Risk above the least possible, as approximation and estimation error.

    ``R(fit) - R(truth) = [R(best of its kind) - R(truth)] + [R(fit) - R(best of its kind)]``: the
    first is the approximation error, which more rows do not reduce; the second the estimation
    error, which they do.

    Parameters
    ----------
    learner, loss
        The learner, and the loss it is judged by.
    sizes
        Training rows.
    approximation
        Excess risk of a fit to `large` rows, which represents the best of its kind. For learners
        that grow with the rows (trees, neighbours) it is the excess risk at that size.
    estimation, estimation_se
        Mean over tables of the excess risk beyond that, with its standard error.
    tables, large
        How many tables of each size, and how many rows represent infinitely many.
    """

    learner: str
    loss: str
    sizes: NDArray[np.int64]
    approximation: float
    estimation: Floats
    estimation_se: Floats
    tables: int
    large: int
    _derived: ClassVar[tuple[str, ...]] = ("excess",)

    @property
    def excess(self) -> Floats:
        """Risk above that of the truth, for each size."""
        return self.approximation + self.estimation

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "sizes": self.sizes.tolist(),
            "approximation": [self.approximation] * len(self.sizes),
            "estimation": self.estimation.tolist(),
            "estimation_se": self.estimation_se.tolist(),
            "excess": self.excess.tolist(),
        }

    def plot(self) -> Any:
        """Draw both errors against the number of rows (Altair)."""
        from clearwood.plot import plot_excess_risk

        return plot_excess_risk(self)

    def __repr__(self) -> str:
        lines = [
            f"Excess risk of {self.learner!r}: {self.loss} loss, {self.tables} tables per size",
            f"{'rows':>8} {'approximation':>14} {'estimation':>14} {'± se':>9}",
        ]
        for size, estimation, se in zip(
            self.sizes, self.estimation, self.estimation_se, strict=True
        ):
            lines.append(
                f"{size:8d} {number(self.approximation, 4):>14} {number(estimation, 4):>14} "
                f"{number(se, 2):>9}"
            )
        return "\n".join(lines)


def excess_risk(
    learner: Any,
    truth: Truth,
    *,
    sizes: Sequence[int] = (500, 2_000),
    tables: int = 5,
    large: int = 20_000,
    n_test: int = 20_000,
    loss: str | None = None,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> ExcessRisk:
    """Estimate approximation and estimation error of a learner on simulated data.

    New tables are drawn from the truth for every fit. Risks are compared on rows whose true mean
    is known, so they contain no noise of the target.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    truth
        What to draw from: ``cw.datasets.insurance_truth()``, or anything with its ``sample`` and
        ``mean``.
    sizes
        Training rows.
    tables
        How many tables of each size.
    large
        Rows of the fit that represents the best of its kind.
    n_test
        How many rows to judge on.
    loss
        "squared", "poisson", "gamma" or "tweedie"; by default that of the task.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> truth = cw.datasets.insurance_truth()
    >>> excess = excess_risk("glm", truth, sizes=[200, 2000], large=10_000, n_test=5_000)
    >>> bool(excess.estimation[0] > excess.estimation[1] > 0)
    True
    """
    judged_on = truth.sample(n_test, seed=_seed(seed, 0, 0))
    one = candidate(learner, judged_on, loss=loss, seed=seed)
    if one.loss.name not in _AT_THE_MEAN:
        raise InputError(
            f"the {one.loss.name} loss is not smallest at the mean, which is all the truth has",
            parameter="loss",
            value=one.loss.name,
            hint=f"choose from {', '.join(_AT_THE_MEAN)}.",
        )
    mean = np.asarray(truth.mean(judged_on), dtype=np.float64)
    draws = [(large, 0), *((size, table) for size in sizes for table in range(tables))]
    risks: list[float] = []
    with progress("simulated fits", total=len(draws)) as step, Workers(n_jobs).spread() as spread:
        for start in range(0, len(draws), tables):
            part = draws[start : start + tables]
            risks += spread(_excess, [(one, truth, mean, rows, table) for rows, table in part])
            step(len(part))
    approximation = risks[0]
    estimation = np.reshape(risks[1:], (len(sizes), tables)) - approximation
    deviation = estimation.std(axis=1, ddof=1) if tables > 1 else np.full(len(sizes), np.nan)
    return ExcessRisk(
        learner=one.contender.name,
        loss=one.loss.name,
        sizes=np.array(sizes, dtype=np.int64),
        approximation=approximation,
        estimation=estimation.mean(axis=1),
        estimation_se=deviation / np.sqrt(tables),
        tables=tables,
        large=large,
    )


def _excess(one: Candidate, truth: Truth, mean: Floats, rows: int, table: int) -> float:
    """Return the mean excess loss of a fit to a newly drawn table."""
    drawn = truth.sample(rows, seed=_seed(one.seed, rows, table + 1))
    model = one.contender.build({}, seed=one.seed).fit(drawn)
    predicted = np.asarray(model.predict(one.table), dtype=np.float64)
    return float(np.average(one.loss.per_row(mean, predicted), weights=one.table.weights))


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1)[0])
