"""From losses of rows to risks with intervals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.benchmarking.fitting.work import Outcome, Rows, Unit
from clearwood.benchmarking.intervals.nested import nested_interval
from clearwood.evaluation import (
    Interval,
    corrected_interval,
    holdout_interval,
    naive_interval,
    origin_interval,
)
from clearwood.table import Table

__all__ = [
    "LossesOf",
    "Risks",
    "RowRisks",
    "interval_of",
    "losses_of",
    "possible",
    "without_rounding",
]

# Losses whose relative difference is below this differ by rounding only.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class LossesOf:
    """The losses of one learner, or the differences of two, split by split.

    Parameters
    ----------
    outer
        (repeat, fold) → losses of the rows of that fold, under the fit without it.
    pairs
        (repeat, j, k) → losses of the rows of fold j, under the fit without j and k.
    rows
        (repeat, fold) → which rows these are.
    trained
        (repeat, fold) → how many rows the fit had.
    reference
        As `outer`, where the losses of pairs are to be compared with others: see `Outcome`.
    """

    outer: Mapping[tuple[int, int], Floats] = field(default_factory=dict)
    pairs: Mapping[tuple[int, int, int], Floats] = field(default_factory=dict)
    rows: Mapping[tuple[int, int], Rows] = field(default_factory=dict)
    trained: Mapping[tuple[int, int], int] = field(default_factory=dict)
    reference: Mapping[tuple[int, int], Floats] = field(default_factory=dict)

    def __sub__(self, other: "LossesOf") -> "LossesOf":
        """Subtract row by row; what is hard for both learners cancels."""
        return LossesOf(
            {
                key: without_rounding(self.outer[key], other.outer[key])
                for key in self.outer
                if key in other.outer
            },
            {
                key: without_rounding(self.pairs[key], other.pairs[key])
                for key in self.pairs
                if key in other.pairs
            },
            {key: self.rows[key] for key in self.outer if key in other.outer},
            {key: self.trained[key] for key in self.outer if key in other.outer},
            {
                key: without_rounding(self.beside(key), other.beside(key))
                for key in self.outer
                if key in other.outer and (key in self.reference or key in other.reference)
            },
        )

    def beside(self, key: tuple[int, int]) -> Floats:
        """Return the losses of a fold that those of pairs are compared with."""
        return self.reference.get(key, self.outer[key])


def without_rounding(first: Floats, second: Floats) -> Floats:
    """Subtract; differences of rounding only become zero, so that equal learners tie."""
    gap: Floats = first - second
    return np.where(np.abs(gap) <= _ROUNDING * (np.abs(first) + np.abs(second)), 0.0, gap)


def losses_of(outcomes: Iterable[tuple[Unit, Outcome]]) -> LossesOf:
    """Sort the losses of one learner's units by split; failures leave gaps."""
    outer: dict[tuple[int, int], Floats] = {}
    pairs: dict[tuple[int, int, int], Floats] = {}
    rows: dict[tuple[int, int], Rows] = {}
    trained: dict[tuple[int, int], int] = {}
    reference: dict[tuple[int, int], Floats] = {}
    for unit, outcome in outcomes:
        if outcome.losses is None:
            continue
        if unit.purpose == "outer":
            outer[unit.repeat, unit.fold] = outcome.losses
            rows[unit.repeat, unit.fold] = unit.test
            trained[unit.repeat, unit.fold] = len(unit.train)
            if outcome.reference is not None:
                reference[unit.repeat, unit.fold] = outcome.reference
        elif unit.purpose == "pair":
            first, second = outcome.losses[: unit.first], outcome.losses[unit.first :]
            pairs[unit.repeat, unit.fold, unit.other] = first
            pairs[unit.repeat, unit.other, unit.fold] = second
    order = sorted(outer)
    return LossesOf(
        {key: outer[key] for key in order},
        pairs,
        {key: rows[key] for key in order},
        {key: trained[key] for key in order},
        reference,
    )


def interval_of(
    losses: LossesOf, *, kind: str, confidence: float, folds: int, table: Table
) -> Interval | None:
    """Return the risk with its interval; None if no fold succeeded.

    Where folds are missing, because a fit failed or the run was stopped, the interval is the naive
    one, and its kind tells; `folds` is how many each repeat has when it is complete. Weights and
    groups of the rows come from the table.
    """
    if not losses.outer:
        return None
    splits = list(losses.outer.values())
    weights, groups = table.weights, table.groups
    shares = None if weights is None else [weights[rows] for rows in losses.rows.values()]
    if kind == "corrected" and len(splits) > 1:
        trained: list[float] = list(losses.trained.values())
        if weights is not None and shares is not None:
            # random hold-outs train on all other rows
            trained = [float(weights.sum() - own.sum()) for own in shares]
        return corrected_interval(splits, trained, confidence, weights=shares)
    if kind == "per-origin" and len(splits) > 1:
        return origin_interval(splits, confidence, weights=shares)
    if kind == "nested":
        nested = _nested(losses, confidence, folds, table)
        if nested is not None:
            return nested
    rows = np.concatenate(list(losses.rows.values()))
    tied = None if groups is None else groups[rows]
    if tied is None and len(np.unique(rows)) < len(rows):
        tied = rows  # tested more than once: its losses are one observation
    plain = holdout_interval if len(splits) == 1 else naive_interval
    together = None if shares is None else np.concatenate(shares)
    return plain(np.concatenate(splits), together, confidence, groups=tied)


class Risks(Protocol):
    """Where the risks of learners and their differences come from."""

    def risk(self, learner: str, confidence: float) -> Interval | None:
        """Return the risk of a learner with its interval; None if it failed."""
        ...

    def gap(self, first: str, second: str, confidence: float) -> Interval | None:
        """Return the risk of one learner minus that of another; None without common rows."""
        ...


@dataclass(frozen=True, eq=False)
class RowRisks:
    """Risks from the losses of all rows of a table.

    Parameters
    ----------
    losses
        By learner.
    kind, folds, table
        As for `interval_of`.
    """

    losses: Mapping[str, LossesOf]
    kind: str
    folds: int
    table: Table

    def risk(self, learner: str, confidence: float) -> Interval | None:
        """Return the risk of a learner with its interval; None if every fold failed."""
        losses = self.losses[learner]
        every = [*losses.outer.values(), *losses.pairs.values()]
        has_negative = any((one < 0).any() for one in every)
        return possible(self._interval(losses, confidence), has_negative=has_negative)

    def gap(self, first: str, second: str, confidence: float) -> Interval | None:
        """Return the risk of one learner minus that of another; None without common folds."""
        return self._interval(self.losses[first] - self.losses[second], confidence)

    def _interval(self, losses: LossesOf, confidence: float) -> Interval | None:
        return interval_of(
            losses, kind=self.kind, confidence=confidence, folds=self.folds, table=self.table
        )


def possible(risk: Interval | None, *, has_negative: bool) -> Interval | None:
    """Keep a risk among its possible values: if no loss is negative, neither is the risk.

    The correction for fewer training rows and the symmetry of the interval can lead below zero. The
    distance of the upper end to the estimate does not change.
    """
    if risk is None or not risk.low < 0 or has_negative:
        return risk
    estimate = max(risk.estimate, 0.0)
    high = risk.high + (estimate - risk.estimate)
    return replace(risk, estimate=estimate, low=0.0, high=high)


def _nested(losses: LossesOf, confidence: float, folds: int, table: Table) -> Interval | None:
    by_repeat: dict[int, list[tuple[int, int]]] = {}
    for key in losses.outer:
        by_repeat.setdefault(key[0], []).append(key)
    # repeats that a stopped run has not finished are left out, not the interval
    whole = [
        keys
        for repeat, keys in by_repeat.items()
        if len(keys) == folds
        and sum(pair[0] == repeat for pair in losses.pairs) == folds * (folds - 1)
    ]
    weights = table.weights
    counts = [] if weights is None else [np.sum(weights[rows] > 0) for rows in losses.rows.values()]
    if not whole or min(counts, default=2) < 2:  # too few rows in a fold to see how they vary
        return None
    outer = [[losses.outer[key] for key in keys] for keys in whole]
    pairs = [
        {(j, k): loss for (repeat, j, k), loss in losses.pairs.items() if repeat == keys[0][0]}
        for keys in whole
    ]

    def of_rows(values: NDArray[Any] | None) -> list[list[NDArray[Any]]] | None:
        if values is None:
            return None
        return [[values[losses.rows[key]] for key in keys] for keys in whole]

    return nested_interval(
        outer,
        pairs,
        confidence,
        reference=[[losses.beside(key) for key in keys] for keys in whole],
        rows=of_rows(np.arange(table.n_rows)),
        weights=of_rows(table.weights),
        groups=of_rows(table.groups),
    )
