"""How often bands of `glass` cover the truth: ``python -m benchmarks.bench_glass_bands``.

With ``--learner mars`` they are those of `mars`, from bootstrap samples.

Tables are drawn from models that are known: those of `bench_bands` (a wave, a rise, a line and a
column without effect) and the same with a product of two columns added, which only trees can
learn. The band is that of the partial dependence, from the model's own spread; its coverage is
the share of a grid at which the true partial dependence lies in it, on average over tables.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks.bench_bands import CURVES, PROMISED, SETTINGS, BandCoverage, Setting, table
from clearwood.models import ScoreParts, Spread
from clearwood.models.catalogue.glass.estimators import GlassClassifier, GlassRegressor
from clearwood.models.catalogue.mars.estimators import MarsRegressor

__all__ = ["OF_MARS", "WITH_PAIR", "coverage", "lines", "report"]

LearnerName = Literal["glass", "mars"]

#: Points at which a band is compared with the truth.
GRID = np.linspace(0.02, 0.98, 25)
#: Rows over which a partial dependence is averaged at most.
BACKGROUND = 200
WITH_PAIR = (
    Setting("pair", "gaussian", 400, noise=1.0),
    Setting("pair", "gaussian", 1000, noise=1.0),
)
OF_MARS = (
    Setting("noisy", "gaussian", 300, noise=1.5),
    Setting("easy", "gaussian", 1000, noise=0.3),
)


def coverage(
    setting: Setting,
    tables: int,
    *,
    pair: bool = False,
    order: int = 2,
    seed: int = 0,
    learner: LearnerName = "glass",
) -> BandCoverage:
    """Simulate one setting, with a product of the first and the last column or without."""
    shares = []
    for one in range(tables):
        rng = np.random.default_rng([seed, one])
        matrix, curves, y = table(setting, rng)
        if pair:
            y = y + _product(matrix)
        parts = _fitted(learner, setting, order, one, matrix, y)
        assert parts.spread is not None
        rows = matrix[:BACKGROUND]
        of_columns = []
        for column in range(4):
            many = np.repeat(rows[None], len(GRID), axis=0)
            many[:, :, column] = GRID[:, None]
            flat = many.reshape(-1, 4)
            height = parts(flat).reshape(len(GRID), -1).mean(axis=1)
            variances = []
            spread: Spread | None = parts.spread
            while spread is not None:
                deviations = spread.parts(flat).reshape(len(GRID), len(rows), -1).mean(axis=1)
                variances.append(((deviations**2).sum(axis=1), float(spread.freedom)))
                spread = spread.further
            variance = np.sum([one for one, _ in variances], axis=0)
            unsure = np.sum([one**2 / freedom for one, freedom in variances], axis=0)
            with np.errstate(divide="ignore"):
                quantile = student.ppf(0.975, variance**2 / unsure)
            truth = _dependence(setting, matrix, curves, rows, column)
            if pair:
                truth = truth + _product(flat).reshape(len(GRID), -1).mean(axis=1)
            error = quantile * np.sqrt(variance)
            of_columns.append(float(np.mean(np.abs(height - truth) <= error)))
        shares.append(of_columns)
    return BandCoverage(setting, tables, tuple(np.mean(shares, axis=0)))


def _fitted(
    learner: LearnerName,
    setting: Setting,
    order: int,
    seed: int,
    matrix: NDArray[np.float64],
    y: NDArray[np.float64],
) -> ScoreParts:
    if learner == "mars":
        return MarsRegressor(bands=50, random_state=seed).fit(matrix, y).parts_
    if setting.family == "binomial":
        return GlassClassifier(order=order, random_state=seed).fit(matrix, y).parts_
    model = GlassRegressor(family=setting.family, order=order, random_state=seed)
    return model.fit(matrix, y).parts_


def _product(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(6 * (matrix[:, 0] - 0.5) * (matrix[:, 3] - 0.5))


def _dependence(
    setting: Setting,
    matrix: NDArray[np.float64],
    curves: NDArray[np.float64],
    rows: NDArray[np.float64],
    column: int,
) -> NDArray[np.float64]:
    """Return the true partial dependence on the grid of an additive score."""
    order = np.argsort(matrix[:, column])
    own = np.interp(GRID, matrix[order, column], curves[order, column])
    others = np.delete(curves[: len(rows)], column, axis=1).sum(axis=1).mean()
    level = 0.5 if setting.family == "poisson" else 0.0
    return np.asarray(level + own + others)


def report(*, quick: bool, path: Path) -> int:
    """Print the tables of both learners, and write them."""
    text = []
    for learner in get_args(LearnerName):
        print(f"\ncoverage of bands of {learner}, nominally 95 %", flush=True)
        for line in lines(5 if quick else 100, learner=learner):
            print(line, flush=True)
            text.append(line)
    path.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    return 0


def lines(tables: int, seed: int = 0, learner: LearnerName = "glass") -> Iterator[str]:
    """Yield lines of a table of all settings."""
    cells = " ".join(f"{curve:>7}" for curve in CURVES)
    yield f"{'setting':11} {'family':9} {'rows':>5} {'order':>5} {cells}    mean"
    cases = [(setting, False, 2) for setting in SETTINGS]
    cases += [(setting, True, order) for setting in WITH_PAIR for order in (2, 3)]
    cases += [(replace(SETTINGS[1], n_rows=6_000), False, 2)]
    if learner == "mars":
        cases = [(setting, False, 1) for setting in OF_MARS]
    for setting, pair, order in cases:
        result = coverage(setting, tables, pair=pair, order=order, seed=seed, learner=learner)
        cells = " ".join(f"{100 * share:7.1f}" for share in result.of_curves)
        low, high = PROMISED
        remark = "" if low <= result.mean <= high else "  outside"
        yield (
            f"{setting.name:11} {setting.family:9} {setting.n_rows:5} {order:5} {cells} "
            f"{100 * result.mean:7.1f}{remark}"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learner", choices=get_args(LearnerName), default="glass")
    options = parser.parse_args()
    for line in lines(options.tables, options.seed, options.learner):
        print(line, flush=True)


if __name__ == "__main__":
    main()
