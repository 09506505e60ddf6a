"""Learners compared on one table by cross-validation with the same splits for all."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._progress import progress
from clearwood.cli._risk import loss_of_rows
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["Comparison", "Standing", "compare"]


@dataclass(frozen=True)
class Standing:
    """How one learner did.

    Parameters
    ----------
    name
        The learner.
    risk, standard_error
        Mean loss on rows that were not used in fitting, and its standard error.
    gain, gain_standard_error
        By how much the risk is lower than the baseline's, as a share of the baseline's. The
        standard error is of the paired difference, row by row: rows that are hard for all
        learners cancel.
    behind, behind_standard_error
        By how much the risk is above that of the best, and the standard error of this paired
        difference.
    seconds
        To fit and predict all folds.
    """

    name: str
    risk: float
    standard_error: float
    gain: float
    gain_standard_error: float
    behind: float
    behind_standard_error: float
    seconds: float

    @property
    def level_with_best(self) -> bool:
        """Whether chance alone could have put it behind the best: two standard errors or less."""
        return self.behind <= 2 * self.behind_standard_error


@dataclass(frozen=True)
class Comparison:
    """Learners on one table, best first.

    Parameters
    ----------
    measure
        What the risk is the mean of.
    folds, rows, seed
        How it was estimated.
    baseline_risk
        The risk of the learner the others are measured against.
    standings
        One per learner, by risk.
    """

    measure: str
    folds: int
    rows: int
    seed: int
    baseline_risk: float
    standings: tuple[Standing, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the comparison as plain JSON values."""
        return {
            "measure": self.measure,
            "method": f"{self.folds}-fold cross-validation, the same folds for all learners",
            "folds": self.folds,
            "rows": self.rows,
            "seed": self.seed,
            "learners": [vars(standing) for standing in self.standings],
        }


def compare(
    table: Table,
    learners: Mapping[str, Learner],
    *,
    baseline: str = "baseline",
    folds: int = 5,
    seed: int = 0,
) -> Comparison:
    """Estimate the risk of each learner on rows it has not seen.

    Every row is predicted once, by a model fitted without its fold. The standard error is that of
    a mean over rows; it leaves out that folds share training rows, so it is a little too small.

    Parameters
    ----------
    table
        The rows, with the target.
    learners
        Unfitted learners by the name to show.
    baseline
        The one the others are measured against.
    folds
        How many parts the rows are split into.
    seed
        Fixes the split.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> names = ("baseline", "ridge")
    >>> result = compare(data, {name: cw.learner(name) for name in names})
    >>> [standing.name for standing in result.standings]
    ['ridge', 'baseline']
    """
    from sklearn.base import clone
    from sklearn.model_selection import KFold

    splits = list(KFold(folds, shuffle=True, random_state=seed).split(np.arange(table.n_rows)))
    losses: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    measure = ""
    with progress("comparing", total=folds * len(learners)) as step:
        for name, learner in learners.items():
            losses[name] = np.empty(table.n_rows)
            start = time.perf_counter()
            for train, test in splits:
                step(note=name)
                model = clone(learner).fit(table.take(train))
                measure, losses[name][test] = loss_of_rows(model, table.take(test))
                step(1)
            seconds[name] = time.perf_counter() - start
    ranked = sorted(learners, key=lambda name: float(losses[name].mean()))
    standings = (
        _standing(name, losses[name], losses[baseline], losses[ranked[0]], seconds[name])
        for name in ranked
    )
    return Comparison(
        measure, folds, table.n_rows, seed, float(losses[baseline].mean()), tuple(standings)
    )


def _standing(name: str, losses: Any, of_baseline: Any, of_best: Any, seconds: float) -> Standing:
    base = float(of_baseline.mean())
    gain, behind = of_baseline - losses, losses - of_best
    return Standing(
        name=name,
        risk=float(losses.mean()),
        standard_error=_standard_error(losses),
        gain=float(gain.mean()) / base,
        gain_standard_error=_standard_error(gain) / base,
        behind=float(behind.mean()),
        behind_standard_error=_standard_error(behind),
        seconds=seconds,
    )


def _standard_error(values: Any) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
