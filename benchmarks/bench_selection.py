"""Columns that are selected by chance: ``python -m benchmarks.bench_selection``.

Tables are drawn whose target depends on known columns. Of the columns that methods with a bound
choose, those that do not matter are counted: the share of them (false discoveries) for knockoffs,
their number for stability selection and Boruta.

Knockoffs and stability selection are to leave out columns that only go with those that matter.
Boruta is to find these too, so that in its tables the other columns are independent of those that
matter, and go with one another only.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import clearwood as cw
from benchmarks._harness import ROOT

__all__ = ["Found", "report", "simulate"]

TABLES = 40
ROWS, COLUMNS, TRUE = 400, 60, 12
DESIGNS = ("independent", "correlated", "skewed", "mixed")


@dataclass(frozen=True)
class Promise:
    """What a method promises.

    Parameters
    ----------
    of
        Whether a share of the chosen columns is bounded or their number.
    bound
        The bound; None where there is none.
    finds_companions
        Whether columns that go with those that matter are to be found too.
    tables
        How many tables it is tried on.
    """

    of: Literal["share", "number"]
    bound: float | None
    finds_companions: bool = False
    tables: int = TABLES


METHODS = {
    "knockoffs:fdr=0.1": Promise("share", 0.1),
    "knockoffs": Promise("share", 0.2),
    "stability": Promise("number", 1.0),
    "boruta:rounds=30": Promise("number", None, finds_companions=True, tables=TABLES // 4),
}


@dataclass(frozen=True)
class Found:
    """How a method did over many tables of a design.

    Parameters
    ----------
    design, method, tables
        What was simulated.
    wrong, se
        The mean share, or number, of chosen columns that do not matter, with its Monte Carlo
        standard error.
    bound
        What the method promises for it, if it does.
    power
        The mean share of the columns that matter that was chosen.
    """

    design: str
    method: str
    tables: int
    wrong: float
    se: float
    bound: float | None
    power: float

    @property
    def kept(self) -> bool:
        """Whether it is as promised, or off by no more than chance explains."""
        return self.bound is None or self.wrong <= self.bound + 2 * self.se + 1e-12

    def row(self) -> str:
        bound = "-" if self.bound is None else f"{self.bound:g}"
        return (
            f"{self.design:12} {self.method:18} {self.tables:6} {self.wrong:6.3f} ± {self.se:.3f} "
            f"{bound:>6} {self.power:6.0%}"
        )


def simulate(design: str, method: str, tables: int) -> Found:
    """Choose columns of many tables, and count those that do not matter."""
    promise = METHODS[method]
    wrong, power = [], []
    for number in range(tables):
        rng = np.random.default_rng((DESIGNS.index(design), number))
        columns, true = _table(design, rng, apart=promise.finds_companions)
        # the baseline uses no column, so that only the selection is computed
        chosen = set(
            cw.learner("baseline", select=method, seed=number)
            .fit(cw.read(columns, target="y"))
            .selected_
        )
        false = len(chosen - true)
        wrong.append(false / max(1, len(chosen)) if promise.of == "share" else false)
        power.append(len(chosen & true) / len(true))
    return Found(
        design,
        method,
        tables,
        float(np.mean(wrong)),
        float(np.std(wrong) / np.sqrt(tables)),
        promise.bound,
        float(np.mean(power)),
    )


def _table(
    design: str, rng: np.random.Generator, *, apart: bool = False
) -> tuple[dict[str, Any], set[str]]:
    """Draw a table; of a mixed one, every third column is a category and some have gaps.

    Columns that are ``apart`` go with others only if both matter or neither does.
    """
    place = np.arange(COLUMNS)
    independent = rng.normal(size=(ROWS, COLUMNS))
    true = rng.choice(COLUMNS, TRUE, replace=False)
    rho = 0.0 if design == "independent" else 0.5
    correlation = np.where(place[:, None] == place, 1.0, rho ** abs(place[:, None] - place))
    if apart:
        matters = np.isin(place, true)
        correlation[matters[:, None] != matters] = 0.0
    latent = independent @ np.linalg.cholesky(correlation).T
    score = np.zeros(ROWS)
    columns: dict[str, Any] = {}
    for j in range(COLUMNS):
        values: NDArray[Any] = np.exp(latent[:, j]) if design == "skewed" else latent[:, j].copy()
        effect = values
        if design == "mixed" and j % 3 == 0:
            level = rng.permutation(5)[np.digitize(latent[:, j], [-1.0, -0.3, 0.3, 1.0])]
            values, effect = np.array(list("abcde"))[level], level.astype(float)
        elif design == "mixed" and j % 3 == 1:
            values[rng.random(ROWS) < 0.1] = np.nan
            effect = latent[:, j]
        if j in true:
            score += rng.choice([-0.35, 0.35]) * (effect - effect.mean()) / effect.std()
        columns[f"x{j}"] = values
    columns["y"] = score + rng.normal(size=ROWS)
    return columns, {f"x{j}" for j in true}


def report(*, quick: bool, path: Path, tables: int | None = None) -> int:
    """Print and write the figures; return how many bounds were not kept."""
    found = []
    print(f"\n{'design':12} {'method':18} {'tables':>6} {'wrong':>6}   {'se':5} {'bound':>6} power")
    for design in DESIGNS:
        for method, promise in METHODS.items():
            found.append(simulate(design, method, 5 if quick else tables or promise.tables))
            print(found[-1].row(), flush=True)
    path.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n", encoding="utf-8")
    return sum(not one.kept for one in found)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few tables, for a first look")
    parser.add_argument("--tables", type=int, help="how many tables to draw; each method has its")
    options: Mapping[str, Any] = vars(parser.parse_args(arguments))
    return report(**options, path=ROOT / "artefacts" / "bench-selection.json")


if __name__ == "__main__":
    raise SystemExit(main())
