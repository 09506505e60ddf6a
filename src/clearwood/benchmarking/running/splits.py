"""The splits of a benchmark: the same outer and inner folds for every learner."""

from typing import TYPE_CHECKING

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.benchmarking.running.design import default_repeats
from clearwood.resampling import HoldOut, KFold, Plan, Split, TimeOrdered, splits_of
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.benchmarking.running.work import Context, Rows

__all__ = ["inner_splits", "interval_kind", "outer_plan", "outer_splits"]


def outer_plan(
    table: Table,
    plan: Plan | None,
    *,
    outer: int,
    repeats: int | None,
    interval: str,
    tuned: bool,
) -> Plan:
    """The plan the user gave, or the one that suits the table.

    Time is respected where it is named; a hold-out sets aside as much as one fold.
    """
    if plan is not None:
        if not isinstance(plan, Plan):
            raise InputError(
                f"plan={plan!r} is no resampling plan",
                hint="take one from clearwood.resampling: KFold(10), MonteCarlo(50, 0.2), ...",
            )
        if repeats is not None:
            raise InputError("repeats goes with outer folds, not with a plan of its own")
        return plan
    if interval == "holdout":
        return HoldOut(1 / outer)
    if table.times is not None:
        return TimeOrdered(outer)
    if repeats is None:
        nested = interval == "nested"
        repeats = default_repeats(table.n_rows, tuned=tuned) if nested else 1
    return KFold(outer, repeats)


def interval_kind(plan: Plan, asked: str) -> str:
    """Which interval goes with the losses that a plan gives: the one asked for, or its own.

    Examples
    --------
    >>> interval_kind(KFold(5), "nested"), interval_kind(TimeOrdered(5), "nested")
    ('nested', 'per-origin')
    """
    wanted = "hold-out" if asked == "holdout" else asked
    if wanted == "hold-out" and wanted not in plan.intervals:
        raise InputError(
            f"the hold-out interval does not go with {plan.words}",
            hint="leave the plan out, or use HoldOut(0.25).",
        )
    return wanted if wanted in plan.intervals else plan.intervals[0]


def outer_splits(table: Table, plan: Plan, *, seed: int) -> tuple[Split, ...]:
    """Cut the table; what cannot be cut is refused in the user's words."""
    return splits_of(table, plan, seed=seed)


def inner_splits(context: "Context", rows: "Rows", k: int, seed: int) -> tuple[Split, ...]:
    """Folds for tuning, of the training rows of a unit; positions count among these rows.

    Groups and time are respected as outside. A class that an outer fold has left too few rows of
    for k folds makes for fewer folds, or, with a single row, is spread as it falls.
    """
    table = context.table
    groups = None if table.groups is None else table.groups[rows]
    if groups is None and len(np.unique(rows)) < len(rows):
        groups = rows  # a row that a bootstrap drew twice must not be on both sides
    if table.times is not None:
        times = table.times[rows]
        spans = min(k, len(np.unique(times)) - 1)
        return TimeOrdered(max(spans, 1)).splits(len(rows), groups=groups, times=times, seed=seed)
    units = len(rows) if groups is None else len(np.unique(groups))
    k = max(2, min(k, units))
    if context.classes is None:
        return KFold(k).splits(len(rows), groups=groups, seed=seed)
    y = context.codes[rows]
    rarest = int(np.unique(y, return_counts=True)[1].min())
    try:
        return KFold(max(2, min(k, rarest))).splits(len(rows), y=y, groups=groups, seed=seed)
    except InputError:
        return KFold(k).splits(len(rows), groups=groups, seed=seed)
