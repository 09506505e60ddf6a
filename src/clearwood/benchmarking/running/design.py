"""Which fits a benchmark consists of: outer splits, pairs of folds, and folds for tuning."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from clearwood._shared.errors import Draw, InputError, Option, bad_value, words
from clearwood.benchmarking.fitting.work import Outcome, Unit, outer_key
from clearwood.resampling import HoldOut, KFold, Plan, Split, TimeOrdered, pair_splits
from clearwood.table import Table

__all__ = [
    "REUSE_FROM",
    "Design",
    "default_repeats",
    "hold_out_share",
    "interval_kind",
    "outer_plan",
]

#: From this many rows on, fits that leave two folds out reuse settings by default: tuning in each
#: would make a benchmark three times as long, and matters on small tables.
REUSE_FROM = 200


@dataclass(frozen=True)
class Design:
    """The outer splits, and whether pairs of folds are left out as well.

    Parameters
    ----------
    splits
        The outer splits, the same for all learners.
    pairs
        "tuned": each fit that leaves two folds out tunes inside its own training rows. "reused":
        the rows of a fold are judged with the settings that were tuned without that fold, which
        still never saw them, so tuning is paid for once. "none": no such fits.
    """

    splits: tuple[Split, ...]
    pairs: Literal["tuned", "reused", "none"]

    @property
    def repeats(self) -> tuple[int, ...]:
        """The numbers of the repeats."""
        return tuple(dict.fromkeys(split.repeat for split in self.splits))

    @cached_property
    def _pairs(self) -> tuple[tuple[Unit, ...], ...]:
        """Pairs of folds of every repeat, without a learner: their rows are stored once for all."""
        return tuple(
            tuple(
                Unit(
                    "",
                    "pair",
                    repeat,
                    pair.j,
                    pair.train,
                    np.concatenate([pair.test_j, pair.test_k]),
                    other=pair.k,
                    first=len(pair.test_j),
                )
                for pair in pair_splits([split for split in self.splits if split.repeat == repeat])
            )
            for repeat in self.repeats
        )

    def outer(self, names: Iterable[str]) -> list[Unit]:
        """The fits of plain cross-validation, repeat by repeat."""
        names = list(names)
        return [
            Unit(name, "outer", split.repeat, split.fold, split.train, split.test)
            for repeat in self.repeats
            for name in names
            for split in self.splits
            if split.repeat == repeat
        ]

    def pair(self, names: Iterable[str], known: Mapping[str, Outcome] | None = None) -> list[Unit]:
        """The fits that leave two folds out.

        With the outcomes of the outer fits they reuse their settings; a pair one of whose folds has
        failed is left out.
        """
        if self.pairs == "none":
            return []
        names = list(names)
        units = [
            replace(unit, learner=name) for pairs in self._pairs for name in names for unit in pairs
        ]
        if self.pairs != "reused" or known is None:
            return units
        reusing = []
        for unit in units:
            both = [known.get(outer_key(unit, fold)) for fold in (unit.fold, unit.other)]
            settings = tuple(one.settings for one in both if one is not None and not one.failure)
            if len(settings) == 2:
                reusing.append(replace(unit, settings=settings))
        return reusing


def default_repeats(n_rows: int, *, tuned: bool) -> int:
    """Return how often the nested interval repeats its splits by default.

    The interval needs repeats where it differs from the naive one, which is on small tables. Three
    do nearly as well as ten (see the page on intervals), so tuned learners get no more than three.

    Examples
    --------
    >>> [default_repeats(n, tuned=False) for n in (100, 1_000, 20_000)]
    [10, 5, 1]
    >>> [default_repeats(n, tuned=True) for n in (100, 500, 1_000)]
    [3, 2, 1]
    """
    for rows, plain, with_tuning in ((500, 10, 3), (1_000, 5, 2), (2_000, 5, 1), (5_000, 3, 1)):
        if n_rows < rows:
            return with_tuning if tuned else plain
    return 1


def outer_plan(
    table: Table,
    plan: Plan | None,
    *,
    outer: int,
    repeats: int | None,
    interval: str,
    tuned: bool,
) -> Plan:
    """Return the user's plan, or the one that suits the table.

    Rows with times are split in time; a hold-out sets aside as much as one fold.
    """
    if plan is not None:
        if not isinstance(plan, Plan):
            raise bad_value(
                "plan",
                plan,
                "it is not a resampling plan",
                hint="take one from clearwood.resampling: KFold(10), MonteCarlo(50, 0.2), ...",
            )
        if repeats is not None:
            raise bad_value("repeats", repeats, "it cannot be combined with a plan")
        return plan
    if interval == "hold-out":
        return HoldOut(1 / outer)
    if table.times is not None:
        return TimeOrdered(outer)
    if repeats is None:
        nested = interval == "nested"
        repeats = default_repeats(table.n_rows, tuned=tuned) if nested else 1
    return KFold(outer, repeats)


def hold_out_share(
    plan: Any, outer: int, *, interval: str | None, repeats: int | None, pair_tuning: str
) -> float:
    """Return the share of the rows of a table in parts to hold out; refuse all other plans."""
    instead = words("draw rows that fit into memory, ", Draw(value=50_000), ", for other plans.")
    if interval not in (None, "hold-out"):
        raise InputError(
            words(
                Option("interval", interval),
                " needs many fits, but a table in parts is judged on one hold-out",
            ),
            parameter="interval",
            value=interval,
            hint=words("use ", Option("interval", "hold-out"), ", or ", instead),
        )
    if plan is not None and not isinstance(plan, HoldOut):
        name = plan.words if isinstance(plan, Plan) else repr(plan)
        raise InputError(
            f"a table in parts is judged on one hold-out, not by {name}",
            parameter="plan",
            value=plan,
            hint=words("use HoldOut(0.2), or ", instead),
        )
    for option, value, usual in (("repeats", repeats, None), ("pair_tuning", pair_tuning, "auto")):
        if value != usual:
            raise InputError(
                words(Option(option, value), " is not for tables in parts"),
                parameter=option,
                value=value,
                hint=words(
                    "one hold-out has no repeats or pairs of folds: leave it out, or ", instead
                ),
            )
    return 1 / outer if plan is None else float(plan.share)


def interval_kind(plan: Plan, interval: str) -> str:
    """Return the kind of interval for the losses of a plan: the user's choice, or the plan's own.

    Examples
    --------
    >>> interval_kind(KFold(5), "nested"), interval_kind(TimeOrdered(5), "nested")
    ('nested', 'per-origin')
    """
    if interval == "hold-out" and interval not in plan.intervals:
        raise InputError(
            words(Option("interval", interval), f" does not go with {plan.words}"),
            parameter="interval",
            value=interval,
            hint="leave the plan out, or use HoldOut(0.25).",
        )
    return interval if interval in plan.intervals else plan.intervals[0]
