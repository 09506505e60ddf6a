"""Tables drawn from models whose truth is known, cross-validated for the coverage of intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks._solvers import (
    Array,
    Kept,
    Linear,
    Solver,
    lasso,
    logistic,
    ridge,
    tuned_ridge,
)

__all__ = [
    "BOTH",
    "PENALTIES",
    "SETTINGS",
    "Draw",
    "Plans",
    "Setting",
    "Simulated",
    "gaussian",
    "keep_rows",
    "losses_of_table",
    "squared",
    "sum_of_four",
    "zero_one",
]

_BETA_SIZE = 4
#: Folds, each with the repeats that make an interval.
Plans = tuple[tuple[int, tuple[int, ...]], ...]
#: Three repeats, the default, with the usual numbers of folds.
BOTH: Plans = ((10, (3,)), (5, (3,)))
#: What a tuned ridge chooses from.
PENALTIES = np.geomspace(0.1, 1_000, 25)
#: New rows that an inexact risk is averaged over, for every row of the table.
_FRESH = 50


@dataclass(frozen=True)
class Draw:
    """One table, and the true slopes where they are needed for an exact risk."""

    x: Array
    y: Array
    beta: Array | None = None


@dataclass(frozen=True)
class Setting:
    """A model to draw tables from, and learners.

    Parameters
    ----------
    name, rows, columns
        What is simulated.
    draw
        Makes one table.
    losses
        Losses of rows, from the target and the scores.
    solvers
        The learner whose risk is estimated, and those it is compared with.
    risk
        The exact (or nearly exact) risk of given coefficients under the model. Without it, the
        mean loss over many new rows.
    plans
        Folds it is cross-validated with, and repeats; the first so many make an interval each.
    tables
        How many are drawn; fixed before any was looked at.
    """

    name: str
    rows: int
    columns: int
    draw: Callable[[np.random.Generator, int, int], Draw]
    losses: Callable[[Array, Array], Array]
    solvers: tuple[Solver, ...]
    risk: Callable[[Array, Array], float] | None = None
    plans: Plans = BOTH
    tables: int = 400


@dataclass(frozen=True)
class Simulated:
    """Losses on one table, in the shape that intervals take, and the risk they are to cover."""

    outer: list[list[Array]]
    pairs: list[dict[tuple[int, int], Array]]
    rows: list[list[NDArray[np.intp]]]
    risk: float


def losses_of_table(setting: Setting, folds: NDArray[np.int64], seed: int) -> list[Simulated]:
    """Draw a table and cross-validate all learners on it, leaving out single folds and pairs.

    Parameters
    ----------
    setting
        What to draw.
    folds
        The fold of every row (columns) in every repeat (lines).
    seed
        Fixes the table.
    """
    table = setting.draw(np.random.default_rng(seed), setting.rows, setting.columns)
    kept, left_out = keep_rows(folds)
    shaped = []
    for solver in setting.solvers:
        losses = setting.losses(table.y, solver.scores(table.x, table.y, kept, table.x))
        shaped.append(_in_shape(losses, left_out, folds, _risk(setting, solver, table, seed)))
    return shaped


def _risk(setting: Setting, solver: Solver, table: Draw, seed: int) -> float:
    """Of the fit to all rows."""
    everyone = np.ones((1, setting.rows), dtype=bool)
    if setting.risk is not None:
        assert isinstance(solver, Linear)
        assert table.beta is not None
        return setting.risk(solver.fit(table.x, table.y, everyone)[0], table.beta)
    # the same new rows for every learner of a table
    rng = np.random.default_rng([seed, 1])
    new = setting.draw(rng, _FRESH * setting.rows, setting.columns)
    return float(setting.losses(new.y, solver.scores(table.x, table.y, everyone, new.x)).mean())


def keep_rows(folds: NDArray[np.int64]) -> tuple[Kept, list[tuple[int, int, int]]]:
    """The rows each fit keeps, and (repeat, j, k) for the folds it leaves out, j = k for one."""
    n_folds = int(folds.max()) + 1
    left_out = [
        (repeat, j, k)
        for repeat in range(len(folds))
        for j in range(n_folds)
        for k in range(j, n_folds)
    ]
    kept = [(folds[repeat] != j) & (folds[repeat] != k) for repeat, j, k in left_out]
    return np.array(kept), left_out


def _in_shape(
    losses: Array, left_out: list[tuple[int, int, int]], folds: NDArray[np.int64], risk: float
) -> Simulated:
    n_folds = int(folds.max()) + 1
    outer: list[list[Array]] = [[np.empty(0)] * n_folds for _ in folds]
    pairs: list[dict[tuple[int, int], Array]] = [{} for _ in folds]
    rows = [[np.flatnonzero(line == fold) for fold in range(n_folds)] for line in folds]
    for line, (repeat, j, k) in zip(losses, left_out, strict=True):
        if j == k:
            outer[repeat][j] = line[rows[repeat][j]]
        else:
            pairs[repeat][j, k] = line[rows[repeat][j]]
            pairs[repeat][k, j] = line[rows[repeat][k]]
    return Simulated(outer, pairs, rows, risk)


# models ------------------------------------------------------------------------------------------


def _signal(columns: int, size: float) -> Array:
    beta = np.zeros(columns)
    beta[:_BETA_SIZE] = size
    return beta


def gaussian(size: float) -> Callable[[np.random.Generator, int, int], Draw]:
    def draw(rng: np.random.Generator, rows: int, columns: int) -> Draw:
        x, beta = rng.normal(size=(rows, columns)), _signal(columns, size)
        return Draw(x, x @ beta + rng.normal(size=rows), beta)

    return draw


def squared(y: Array, scores: Array) -> Array:
    return np.asarray((y - scores) ** 2)


def squared_risk(coefficients: Array, beta: Array) -> float:
    """Noise of variance 1, plus what the coefficients are off, as features are independent."""
    return float(1.0 + coefficients[0] ** 2 + ((coefficients[1:] - beta) ** 2).sum())


def _binary(size: float) -> Callable[[np.random.Generator, int, int], Draw]:
    def draw(rng: np.random.Generator, rows: int, columns: int) -> Draw:
        x, beta = rng.normal(size=(rows, columns)), _signal(columns, size)
        y = (rng.random(rows) < special.expit(x @ beta)).astype(np.float64)
        return Draw(x, y, beta)

    return draw


def zero_one(y: Array, scores: Array) -> Array:
    return np.asarray((scores > 0) != (y > 0.5), dtype=np.float64)


# The true score and the fitted one are jointly normal, so the 0-1 risk is an integral over the
# true score, done by quadrature at these quantiles.
_QUANTILES = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)


def _zero_one_risk(coefficients: Array, beta: Array) -> float:
    """P(sign of the fitted score is not y), given the coefficients."""
    intercept, slopes = coefficients[0], coefficients[1:]
    length = float(np.linalg.norm(beta))
    along = float(slopes @ beta / length)
    across = float(np.sqrt(max(float(slopes @ slopes) - along**2, 1e-300)))
    says_one = stats.norm.cdf((intercept + along * _QUANTILES) / across)
    is_one = special.expit(length * _QUANTILES)
    return float(np.mean(says_one * (1 - is_one) + (1 - says_one) * is_one))


def sum_of_four(
    name: str,
    rows: int,
    columns: int,
    *solvers: Linear,
    plans: Plans = BOTH,
    tables: int = 400,
) -> Setting:
    """Least squares and its relatives, where four features matter, each by 1."""
    model = (gaussian(1.0), squared, solvers, squared_risk)
    return Setting(name, rows, columns, *model, plans, tables)


#: The settings of Bates, Hastie and Tibshirani (2024): independent standard normal features, four
#: of which matter, and noise of variance 1. Each learner is compared with others that hardly
#: differ from it, and with such that do. "tuned" chooses its penalty in every fit; "large" has so
#: many rows that one repeat has to do.
SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        sum_of_four(
            "linear",
            100,
            20,
            Linear("least squares", ridge(0.0)),
            Linear("ridge 3", ridge(3.0)),
            Linear("ridge 30", ridge(30.0)),
            Linear("ridge 300", ridge(300.0)),
            plans=((10, (3,)), (5, (1, 3, 10))),
        ),
        Setting(
            "logistic",
            100,
            20,
            # the best classifier errs on a third of the rows
            _binary(0.5),
            zero_one,
            (
                Linear("logistic", logistic(1e-3)),
                Linear("ridge 1", logistic(1.0)),
                Linear("ridge 10", logistic(10.0)),
                Linear("ridge 100", logistic(100.0)),
            ),
            _zero_one_risk,
            plans=((10, (3,)), (5, (1, 3))),
        ),
        sum_of_four(
            "lasso",
            100,
            1000,
            Linear("lasso", lasso(0.3)),
            Linear("lasso 0.33", lasso(0.33)),
            Linear("lasso 0.45", lasso(0.45)),
            plans=((10, (3,)), (5, (1, 3))),
            tables=200,
        ),
        sum_of_four(
            "tuned",
            100,
            20,
            Linear("tuned ridge", tuned_ridge(PENALTIES)),
            Linear("least squares", ridge(0.0)),
            Linear("ridge 30", ridge(30.0)),
            plans=((10, (3,)), (5, (1, 3))),
        ),
        sum_of_four(
            "large",
            2_000,
            20,
            Linear("least squares", ridge(0.0)),
            Linear("ridge 300", ridge(300.0)),
            plans=((5, (1,)),),
        ),
    )
}
