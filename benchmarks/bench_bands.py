"""How often bands of curves cover the truth: ``python -m benchmarks.bench_bands``.

Tables are drawn from additive models that are known: a wave, a steep rise, a line and a column
without effect, with independent or correlated columns. Each is fitted by `gam`; the band of a
curve is that of the intercept plus the curve, and its coverage the share of the training rows at
which the truth lies in it, on average over tables.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clearwood.models import ScoreParts
from clearwood.models.catalogue.gam.estimators import GamClassifier, GamRegressor
from clearwood.models.shared.response import FamilyName

__all__ = ["SETTINGS", "BandCoverage", "bands", "report"]

CURVES = ("wave", "rise", "line", "nothing")
#: Two-sided quantile of the normal distribution at the nominal 95 %.
NOMINAL = 1.959963984540054
#: What bands of 95 % are to cover on average over curves.
PROMISED = (0.93, 0.98)


@dataclass(frozen=True)
class Setting:
    """What is simulated: family, rows, correlation of columns, size of the noise."""

    name: str
    family: FamilyName
    n_rows: int
    correlation: float = 0.0
    noise: float = 1.0


SETTINGS = (
    *(Setting("noisy", "gaussian", n, noise=1.5) for n in (200, 400, 1000)),
    *(Setting("easy", "gaussian", n, noise=0.3) for n in (200, 400, 1000)),
    Setting("correlated", "gaussian", 400, correlation=0.7),
    *(Setting("classes", "binomial", n) for n in (200, 400, 1000)),
    *(Setting("counts", "poisson", n) for n in (200, 400, 1000)),
    Setting("amounts", "gamma", 400, noise=0.5),
)


@dataclass(frozen=True)
class BandCoverage:
    """Coverage of the curves of one setting."""

    setting: Setting
    tables: int
    of_curves: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over curves."""
        return float(np.mean(self.of_curves))

    @property
    def kept(self) -> bool:
        """Whether the mean is in the promised range."""
        return PROMISED[0] <= self.mean <= PROMISED[1]


def truths(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the true curves at rows, centred over them."""
    a, b, c, _ = matrix.T
    curves = [
        np.sin(2 * np.pi * a),
        1.4 * np.tanh(5 * (b - 0.4)),
        1.2 * (c - 0.5),
        np.zeros(len(matrix)),
    ]
    return np.stack([curve - curve.mean() for curve in curves], axis=1)


def table(
    setting: Setting, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows, their curves and a target."""
    shared = rng.normal(size=(setting.n_rows, 1))
    own = rng.normal(size=(setting.n_rows, 4))
    normal = np.sqrt(setting.correlation) * shared + np.sqrt(1 - setting.correlation) * own
    matrix = (np.argsort(np.argsort(normal, axis=0), axis=0) + 0.5) / setting.n_rows
    curves = truths(matrix)
    score = curves.sum(axis=1)
    match setting.family:
        case "gaussian":
            y = score + setting.noise * rng.normal(size=len(score))
        case "binomial":
            y = (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(float)
        case "poisson":
            y = rng.poisson(np.exp(score / 2 + 0.5)).astype(float)
            curves = curves / 2
        case _:
            shape = 1 / setting.noise**2
            y = np.exp(score / 2) * rng.gamma(shape, 1 / shape, len(score))
            curves = curves / 2
    return matrix, curves, y


def bands(setting: Setting, tables: int, seed: int = 0) -> BandCoverage:
    """Simulate one setting."""
    shares = []
    for one in range(tables):
        rng = np.random.default_rng([seed, one])
        matrix, curves, y = table(setting, rng)
        if setting.family == "binomial":
            model = GamClassifier().fit(matrix, y)
        else:
            model = GamRegressor(family=setting.family).fit(matrix, y)
        level = 0.5 if setting.family == "poisson" else 0.0
        shares.append(
            [_covered(model.parts_, matrix, curves, column, level) for column in range(4)]
        )
    return BandCoverage(setting, tables, tuple(np.mean(shares, axis=0).tolist()))


def _covered(
    parts: ScoreParts,
    matrix: NDArray[np.float64],
    curves: NDArray[np.float64],
    column: int,
    level: float,
) -> float:
    """Return the share of rows whose true height lies in the band of one curve."""
    assert parts.spread is not None
    products, spread = parts.products, parts.spread.parts.products
    height = np.full(len(matrix), products.constant[0])
    deviations = np.repeat(spread.constant[None, :], len(matrix), axis=0)
    for term, deviating in zip(products.terms, spread.terms, strict=True):
        if term.columns == (column,):
            height = height + term(matrix)[:, 0]
            deviations = deviations + deviating(matrix)
    error = np.sqrt((deviations**2).sum(axis=1))
    return float(np.mean(np.abs(height - level - curves[:, column]) <= NOMINAL * error))


def report(*, quick: bool, path: Path | None, tables: int = 150, seed: int = 0) -> int:
    """Print coverage, write it, and count the settings outside the promised range."""
    heads = " ".join(f"{curve:>7}" for curve in CURVES)
    print(f"\ncoverage of bands of 95 %\n{'setting':11} {'family':9} {'rows':>5} {heads}    mean")
    results = []
    for setting in SETTINGS:
        result = bands(setting, 10 if quick else tables, seed)
        cells = " ".join(f"{100 * share:7.1f}" for share in result.of_curves)
        remark = "" if result.kept else "  outside"
        print(
            f"{setting.name:11} {setting.family:9} {setting.n_rows:5} {cells} "
            f"{100 * result.mean:7.1f}{remark}",
            flush=True,
        )
        results.append(result)
    if path is not None:
        figures = [asdict(result) for result in results]
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print(f"written to {path}")
    # ten tables are too few to hold a promise to
    return 0 if quick else sum(not result.kept for result in results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.exit(report(quick=False, path=None, tables=options.tables, seed=options.seed))
