"""Settings that had no part in how the nested interval got its width."""

from collections.abc import Callable

import numpy as np
from scipy import special

from benchmarks._simulations import (
    PENALTIES,
    Draw,
    Setting,
    gaussian,
    squared,
    sum_of_four,
    zero_one,
)
from benchmarks._solvers import (
    Array,
    Linear,
    Other,
    constant,
    logistic,
    neighbours,
    poisson,
    reused_ridge,
    ridge,
    tree,
    tuned_ridge,
)

__all__ = ["OTHERS"]

Drawn = Callable[[np.random.Generator, int, int], Draw]


def _features(rng: np.random.Generator, rows: int, columns: int) -> Array:
    return rng.normal(size=(rows, columns))


def _heavy_tails(rng: np.random.Generator, rows: int, columns: int) -> Draw:
    """Noise from Student's distribution with 5 degrees of freedom."""
    x = _features(rng, rows, columns)
    return Draw(x, x[:, :4].sum(axis=1) + rng.standard_t(5, size=rows))


def _correlated(rng: np.random.Generator, rows: int, columns: int) -> Draw:
    """Neighbouring features are correlated by 0.8, those further apart by its powers."""
    x = _features(rng, rows, columns)
    for column in range(1, columns):
        x[:, column] = 0.8 * x[:, column - 1] + 0.6 * x[:, column]
    return Draw(x, x[:, :4].sum(axis=1) + rng.normal(size=rows))


def _classes(size: float, intercept: float) -> Drawn:
    def draw(rng: np.random.Generator, rows: int, columns: int) -> Draw:
        x = _features(rng, rows, columns)
        chance = special.expit(intercept + size * x[:, :4].sum(axis=1))
        return Draw(x, (rng.random(rows) < chance).astype(np.float64))

    return draw


def _curved(rng: np.random.Generator, rows: int, columns: int) -> Draw:
    """Nothing linear: a wave, a kink and an interaction."""
    x = _features(rng, rows, columns)
    signal = 2 * np.sin(2 * x[:, 0]) + 2 * np.abs(x[:, 1]) + x[:, 2] * x[:, 3]
    return Draw(x, signal + rng.normal(size=rows))


def _counts(rng: np.random.Generator, rows: int, columns: int) -> Draw:
    x = _features(rng, rows, columns)
    return Draw(x, rng.poisson(np.exp(0.3 * x[:, :4].sum(axis=1))).astype(np.float64))


def _absolute(y: Array, scores: Array) -> Array:
    return np.abs(y - scores)


def _log(y: Array, scores: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, scores) - y * scores)


def _poisson_deviance(y: Array, scores: Array) -> Array:
    mean = np.exp(np.minimum(scores, 30.0))
    return np.asarray(2 * (special.xlogy(y, y) - y * scores - y + mean))


_TUNED = Linear("tuned ridge", tuned_ridge(PENALTIES))
_REUSED = Other("reused ridge", reused_ridge(PENALTIES))
_LEAST_SQUARES = Linear("least squares", ridge(0.0))

#: Other numbers of rows, noise, features, losses and learners. "reuse" is as "tuned", but fits
#: without two folds take the penalty chosen without the fold judged.
OTHERS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        sum_of_four(
            "rows-60",
            60,
            10,
            _TUNED,
            _LEAST_SQUARES,
            Linear("ridge 10", ridge(10.0)),
        ),
        sum_of_four(
            "rows-200",
            200,
            20,
            _TUNED,
            _LEAST_SQUARES,
            Linear("ridge 30", ridge(30.0)),
        ),
        sum_of_four(
            "rows-500",
            500,
            20,
            _TUNED,
            _LEAST_SQUARES,
            Linear("ridge 30", ridge(30.0)),
            plans=((5, (3,)),),
        ),
        Setting(
            "heavy-tails",
            100,
            10,
            _heavy_tails,
            squared,
            (_LEAST_SQUARES, Linear("ridge 3", ridge(3.0)), Linear("ridge 30", ridge(30.0))),
        ),
        Setting(
            "absolute",
            150,
            10,
            _heavy_tails,
            _absolute,
            (_LEAST_SQUARES, Linear("ridge 10", ridge(10.0)), Linear("ridge 100", ridge(100.0))),
        ),
        Setting(
            "correlated",
            150,
            20,
            _correlated,
            squared,
            (_LEAST_SQUARES, _TUNED, Linear("ridge 10", ridge(10.0))),
        ),
        Setting(
            "log-loss",
            150,
            10,
            _classes(0.5, 0.0),
            _log,
            (
                Linear("logistic", logistic(1e-3)),
                Linear("ridge 3", logistic(3.0)),
                Linear("ridge 30", logistic(30.0)),
            ),
        ),
        Setting(
            "rare-class",
            200,
            10,
            # 17 % of the rows
            _classes(0.7, -2.0),
            zero_one,
            (
                Linear("logistic", logistic(1e-3)),
                Linear("ridge 10", logistic(10.0)),
                Other("no features", constant(special.logit)),
            ),
        ),
        Setting(
            "curved",
            200,
            5,
            _curved,
            squared,
            (
                Other("10 neighbours", neighbours(10)),
                Other("20 neighbours", neighbours(20)),
                Other("tree", tree(10)),
            ),
            plans=((5, (3,)),),
        ),
        Setting(
            "counts",
            150,
            8,
            _counts,
            _poisson_deviance,
            (
                Linear("poisson", poisson(1e-3)),
                Linear("ridge 10", poisson(10.0)),
                Other("no features", constant(np.log)),
            ),
        ),
        Setting(
            "reuse-100",
            100,
            20,
            gaussian(1.0),
            squared,
            (_REUSED, _LEAST_SQUARES),
            plans=((5, (3,)),),
        ),
        sum_of_four(
            "tuned-250",
            250,
            20,
            _TUNED,
            _LEAST_SQUARES,
            plans=((5, (3,)),),
        ),
        Setting(
            "reuse-250",
            250,
            20,
            gaussian(1.0),
            squared,
            (_REUSED, _LEAST_SQUARES),
            plans=((5, (3,)),),
        ),
    )
}
