"""Coverage through ``cw.benchmark`` itself: learners tuned in every fold, defaults elsewhere."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._simulations import Plans
from clearwood import ClearwoodWarning
from clearwood.benchmarking.intervals.estimates import LossesOf
from clearwood.evaluation import Interval, naive_interval
from clearwood.table import Table

__all__ = ["FRONT_DOOR", "FrontDoor", "Given"]

Array = NDArray[np.float64]

#: New rows that the true risk is averaged over; the noise of the target is known and left out.
_NEW_ROWS = 5_000


class Given(NamedTuple):
    """What a benchmark says of one learner or of two, the naive interval, and the truth."""

    of: str
    estimate: float
    low: float
    high: float
    naive: Interval
    truth: float


@dataclass(frozen=True)
class FrontDoor:
    """A benchmark as a user calls it, on tables whose truth is known.

    The target is the sum of the first four of 20 standard normal features and noise of variance 1.

    Parameters
    ----------
    name
        Of the setting.
    rows
        Of each table; below 200 the fits that leave out two folds tune, from there on they reuse.
    learners
        The first is judged, the others it is compared with.
    tune
        Configurations tried.
    plans, tables
        As of `Setting`.
    """

    name: str
    rows: int
    learners: tuple[str, ...]
    tune: int = 30
    plans: Plans = ((5, (3,)),)
    tables: int = 160

    def intervals(self, *, folds: int, repeats: int, confidence: float, seed: int) -> list[Given]:
        """Run one benchmark, and fit every learner to all rows for what is true."""
        rng = np.random.default_rng(seed)
        x, new = rng.normal(size=(self.rows, 20)), rng.normal(size=(_NEW_ROWS, 20))
        data = _table(x, x[:, :4].sum(axis=1) + rng.normal(size=self.rows))
        with warnings.catch_warnings():
            # on tables this small the best penalty may well sit at the edge of its range
            warnings.simplefilter("ignore", ClearwoodWarning)
            bench = cw.benchmark(
                data,
                list(self.learners),
                tune=self.tune,
                outer=folds,
                repeats=repeats,
                confidence=confidence,
                seed=seed % 1_000,
            )
        fresh = _table(new, np.arange(_NEW_ROWS, dtype=float))
        truth = {}
        for name in self.learners:
            predicted = bench.choose(name).fit(data).predict(fresh)
            truth[name] = float(1 + np.mean((predicted - new[:, :4].sum(axis=1)) ** 2))
        first, *others = self.learners
        intervals = []
        for name in self.learners:
            one = bench[name]
            naive = _naive(bench.losses(name), confidence)
            intervals.append(Given(f"risk {name}", one.risk, one.low, one.high, naive, truth[name]))
        for name in others:
            both = bench.compare(first, name)
            naive = _naive(bench.losses(first) - bench.losses(name), confidence)
            true = truth[first] - truth[name]
            intervals.append(Given(f"to {name}", both.difference, both.low, both.high, naive, true))
        return intervals


def _table(x: Array, y: Array) -> Table:
    columns = {f"x{i}": column for i, column in enumerate(x.T)}
    return cw.read({**columns, "y": y}, target="y")


def _naive(losses: LossesOf, confidence: float) -> Interval:
    one_repeat = [part for (repeat, _), part in losses.outer.items() if repeat == 0]
    return naive_interval(np.concatenate(one_repeat), confidence=confidence)


#: Cheap learners: the whole path of a penalty costs about one fit.
FRONT_DOOR: dict[str, FrontDoor] = {
    setting.name: setting
    for setting in (
        FrontDoor("front-100", 100, ("ridge", "ols")),
        FrontDoor("front-250", 250, ("lasso", "ols")),
    )
}
