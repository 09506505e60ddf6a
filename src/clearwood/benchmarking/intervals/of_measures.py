"""What intervals of measures allow for out of fold: fits share rows, and have fewer than all."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.benchmarking.fitting.work import Outcome, Rows, Unit
from clearwood.benchmarking.intervals.estimates import LossesOf, interval_of
from clearwood.evaluation import Allowance, Estimate
from clearwood.table import Table

__all__ = ["Estimator", "allowances"]

#: From rows, their predictions and the fit of each to measures with the influence of the rows.
Estimator = Callable[[Rows, Floats, Rows], Mapping[str, Estimate]]


def allowances(
    outcomes: Iterable[tuple[Unit, Outcome]],
    table: Table,
    estimator: Estimator,
    *,
    folds: int,
    least: float = 1.0,
) -> dict[str, Allowance]:
    """Return the allowance of each measure that has one.

    A measure is, to first order, the mean of its value and the influence of each row. These take
    the place of losses in the nested interval: under the fits without one fold for all folds, and
    under the fits without two folds for all folds but one. Empty where fits without two folds, or
    their predictions, are missing.

    Parameters
    ----------
    outcomes
        Units of one learner.
    table
        The rows.
    estimator
        The measures of predictions.
    folds
        How many folds a repeat has.
    least
        The smallest inflation: that of the risk.
    """
    outer: dict[tuple[int, int], Floats] = {}
    pairs: dict[tuple[int, int, int], Floats] = {}
    rows: dict[tuple[int, int], Rows] = {}
    for unit, outcome in outcomes:
        if outcome.predictions is None or outcome.reference is not None:
            continue  # without predictions, or pairs are fits of a smaller model
        if unit.purpose == "outer":
            outer[unit.repeat, unit.fold] = outcome.predictions
            rows[unit.repeat, unit.fold] = unit.test
        elif unit.purpose == "pair":
            first, second = np.split(outcome.predictions, [unit.first])
            pairs[unit.repeat, unit.fold, unit.other] = first
            pairs[unit.repeat, unit.other, unit.fold] = second
    whole = [
        repeat
        for repeat in sorted({key[0] for key in outer})
        if sum(key[0] == repeat for key in outer) == folds
        and sum(key[0] == repeat for key in pairs) == folds * (folds - 1)
    ]
    if folds < 3 or not whole:
        return {}
    every = range(folds)
    linear: dict[str, _Linear] = {}
    for repeat in whole:
        _add(linear, {(repeat, j): outer[repeat, j] for j in every}, rows, estimator)
        for k in every:
            others = {(repeat, j, k): pairs[repeat, j, k] for j in every if j != k}
            _add(linear, others, rows, estimator)
    n_folds = folds * len(whole)
    return {
        name: _allowance(LossesOf(*one, rows, {}), table, folds, least)
        for name, one in linear.items()
        if len(one[0]) == n_folds and len(one[1]) == (folds - 1) * n_folds
    }


#: Value and influence of rows, under fits without one fold and without two.
_Linear = tuple[dict[tuple[int, int], Floats], dict[tuple[int, int, int], Floats]]


def _add(
    linear: dict[str, _Linear],
    predictions: Mapping[Any, Floats],
    rows: Mapping[tuple[int, int], Rows],
    estimator: Estimator,
) -> None:
    """Add measures of folds, by (repeat, fold) or with the second fold that was left out."""
    tested = [rows[key[:2]] for key in predictions]
    sizes = [len(part) for part in tested]
    fits = np.repeat(np.arange(len(sizes)), sizes)
    measured = estimator(np.concatenate(tested), np.concatenate([*predictions.values()]), fits)
    for name, estimate in measured.items():
        values = estimate.value + estimate.influence
        if not np.isfinite(values).all():
            continue
        outer, pairs = linear.setdefault(name, ({}, {}))
        parts = np.split(values, np.cumsum(sizes)[:-1])
        for key, part in zip(predictions, parts, strict=True):
            (outer if len(key) == 2 else pairs)[key] = part


def _allowance(linear: LossesOf, table: Table, folds: int, least: float) -> Allowance:
    """Return by how much the nested interval is wider than the naive one, and how far moved."""
    options: dict[str, Any] = {"confidence": 0.9, "folds": folds, "table": table}
    nested = interval_of(linear, kind="nested", **options)
    naive = interval_of(linear, kind="naive", **options)
    assert nested is not None
    assert naive is not None
    return Allowance(max(nested.inflation, least), nested.estimate - naive.estimate)
