"""How often bands of `glass` cover the truth: ``python -m benchmarks.bench_glass_bands``.

Tables are drawn from models that are known: those of `bench_bands` (a wave, a rise, a line and a
column without effect) and the same with a product of two columns added, which only trees can
learn. The band is that of the partial dependence, from the jackknife over folds; its coverage is
the share of a grid at which the true partial dependence lies in it, on average over tables.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks.bench_bands import CURVES, PROMISED, SETTINGS, BandCoverage, Setting, table
from clearwood.models.glassbox.glass import GlassClassifier, GlassRegressor

__all__ = ["WITH_PAIR", "coverage", "report"]

#: Points at which a band is compared with the truth.
GRID = np.linspace(0.02, 0.98, 25)
#: Rows over which a partial dependence is averaged at most.
BACKGROUND = 200
WITH_PAIR = (
    Setting("pair", "gaussian", 400, noise=1.0),
    Setting("pair", "gaussian", 1000, noise=1.0),
)


def coverage(
    setting: Setting, tables: int, *, pair: bool = False, order: int = 2, seed: int = 0
) -> BandCoverage:
    """Simulate one setting, with a product of the first and the last column or without."""
    shares = []
    for one in range(tables):
        rng = np.random.default_rng([seed, one])
        matrix, curves, y = table(setting, rng)
        if pair:
            y = y + _product(matrix)
        if setting.family == "binomial":
            model: GlassClassifier | GlassRegressor = GlassClassifier(order=order, random_state=one)
        else:
            model = GlassRegressor(family=setting.family, order=order, random_state=one)
        parts = model.fit(matrix, y).parts_
        assert parts.spread is not None
        rows = matrix[:BACKGROUND]
        quantile = float(student.ppf(0.975, parts.spread.freedom))
        of_columns = []
        for column in range(4):
            many = np.repeat(rows[None], len(GRID), axis=0)
            many[:, :, column] = GRID[:, None]
            flat = many.reshape(-1, 4)
            height = parts(flat).reshape(len(GRID), -1).mean(axis=1)
            deviations = parts.spread.parts(flat).reshape(len(GRID), len(rows), -1).mean(axis=1)
            truth = _dependence(setting, matrix, curves, rows, column)
            if pair:
                truth = truth + _product(flat).reshape(len(GRID), -1).mean(axis=1)
            error = np.sqrt((deviations**2).sum(axis=1))
            of_columns.append(float(np.mean(np.abs(height - truth) <= quantile * error)))
        shares.append(of_columns)
    return BandCoverage(setting, tables, tuple(np.mean(shares, axis=0)))


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


def report(tables: int, seed: int = 0) -> Iterator[str]:
    """Yield lines of a table of all settings."""
    cells = " ".join(f"{curve:>7}" for curve in CURVES)
    yield f"{'setting':11} {'family':9} {'rows':>5} {'order':>5} {cells}    mean"
    cases = [(setting, False, 2) for setting in SETTINGS]
    cases += [(setting, True, order) for setting in WITH_PAIR for order in (2, 3)]
    cases += [(replace(SETTINGS[1], n_rows=6_000), False, 2)]
    for setting, pair, order in cases:
        result = coverage(setting, tables, pair=pair, order=order, seed=seed)
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
    options = parser.parse_args()
    for line in report(options.tables, options.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
