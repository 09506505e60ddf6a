"""How often intervals of `bayes` cover the truth: ``python -m benchmarks.bench_bayes_coverage``.

Half of the columns have an effect, drawn from a normal distribution; the others have none. The
coverage of coefficients, of means of new rows and of new targets is averaged over tables. Priors
are the default ones, whose scale is chosen by the evidence of each table. An average over columns
hides what happens to the strongest one, so a second table has tables with one effect of a given
size and columns without any.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.bayes.estimators import (
    BayesClassifier,
    BayesPoisson,
    BayesRegressor,
)

__all__ = ["IntervalCoverage", "coverage", "of_strongest", "report"]

CONFIDENCE = 0.9
SHAPES = ((25, 1), (25, 4), (40, 15), (200, 10))
SIZES = (0.1, 0.5, 1.0)
STRONGEST = (0.0, 0.25, 0.5, 1.0, 2.0)
KINDS = {"number": BayesRegressor, "two classes": BayesClassifier, "count": BayesPoisson}


@dataclass(frozen=True)
class IntervalCoverage:
    """Shares of coefficients, means and new targets (NaN for classes) that intervals cover."""

    coefficients: float
    means: float
    rows: float


def coverage(task: str, n: int, p: int, size: float, *, tables: int) -> IntervalCoverage:
    """Simulate tables and count how often intervals cover.

    Parameters
    ----------
    task
        A key of `KINDS`.
    n, p
        Rows and columns.
    size
        Standard deviation of the effects; half of it for counts.
    tables
        Tables drawn.
    """
    found = []
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        effects = np.zeros(p)
        some = max(1, p // 2)
        effects[:some] = (size / 2 if task == "count" else size) * rng.normal(size=some)
        X, new = rng.normal(size=(n, p)), rng.normal(size=(50, p))
        y = _drawn(task, X @ effects, rng)
        if task != "number" and np.ptp(y) == 0:
            continue
        model = KINDS[task]().fit(X, y)
        lines = model.posterior_of(np.eye(p + 1)[1:], CONFIDENCE)
        score = new @ effects
        mean = {"number": score, "two classes": expit(score), "count": np.exp(score)}[task]
        rows = np.nan
        if task != "two classes":
            rows = _inside(model.predict_interval(new, CONFIDENCE), _drawn(task, score, rng))
        found.append(
            (
                _inside((lines.low, lines.high), effects),
                _inside(model.predict_interval(new, CONFIDENCE, of="mean"), mean),
                rows,
            )
        )
    return IntervalCoverage(*np.mean(found, axis=0).tolist())


def of_strongest(task: str, n: int, p: int, size: float, *, tables: int) -> float:
    """Return how often the interval of one effect covers it, where the others are zero.

    Parameters
    ----------
    task
        A key of `KINDS`.
    n, p
        Rows and columns.
    size
        What one standard deviation of the column adds: half of it for numbers, whose noise is 1,
        and for counts.
    tables
        Tables drawn.
    """
    effects = np.zeros(p)
    effects[0] = size if task == "two classes" else size / 2
    found = []
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p))
        y = _drawn(task, X @ effects, rng)
        if task == "number" or np.ptp(y) > 0:
            lines = KINDS[task]().fit(X, y).posterior_of(np.eye(p + 1)[1:2], CONFIDENCE)
            found.append(bool(lines.low[0] <= effects[0] <= lines.high[0]))
    return float(np.mean(found))


def _drawn(task: str, score: Floats, rng: np.random.Generator) -> Any:
    if task == "number":
        return score + rng.normal(size=len(score))
    if task == "count":
        return rng.poisson(np.exp(score))
    return (rng.random(len(score)) < expit(score)).astype(int)


def _inside(ends: tuple[Floats, Floats], truth: Any) -> float:
    return float(np.mean((ends[0] <= truth) & (truth <= ends[1])))


def report(*, quick: bool, path: Path) -> int:  # noqa: ARG001 - it writes no file
    """Print the coverage of every setting."""
    print(f"Coverage of {CONFIDENCE:.0%} intervals of bayes")
    print(f"{'task':12} {'rows':>5} {'columns':>7} {'size':>5} {'coef':>6} {'mean':>6} {'row':>6}")
    for task in KINDS:
        for n, p in SHAPES:
            for size in SIZES:
                one = coverage(task, n, p, size, tables=10 if quick else 200)
                print(
                    f"{task:12} {n:5} {p:7} {size:5} {one.coefficients:6.3f} {one.means:6.3f} "
                    f"{one.rows:6.3f}",
                    flush=True,
                )
    sizes = " ".join(f"{size:6}" for size in STRONGEST)
    print("\nof one effect by its size, the others zero")
    print(f"{'task':12} {'rows':>5} {'columns':>7} {sizes}")
    for task in KINDS:
        for n, p in ((60, 4), *SHAPES[2:]):
            cells = [
                of_strongest(task, n, p, size, tables=10 if quick else 200) for size in STRONGEST
            ]
            print(f"{task:12} {n:5} {p:7} " + " ".join(f"{one:6.3f}" for one in cells), flush=True)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    raise SystemExit(report(quick=parser.parse_args().quick, path=Path()))
