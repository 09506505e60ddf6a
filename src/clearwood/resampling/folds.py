"""Folds, leave-one-out, and the plan for a table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn import model_selection

from clearwood._shared.checks import check_whole
from clearwood._shared.errors import InputError, did_you_mean
from clearwood.resampling.checks import check_data
from clearwood.resampling.plan import Plan, RowData, Split, make_split, state_of
from clearwood.resampling.random_draws import Bootstrap, HoldOut, MonteCarlo
from clearwood.resampling.time_ordered import TimeOrdered
from clearwood.table import Role, Table

__all__ = ["KFold", "LeaveOneOut", "default_plan", "splits_of"]

# Above, the training rows of all splits together would take 200 MB and more.
_MOST_LEFT_OUT = 5_000


@dataclass(frozen=True)
class KFold(Plan):
    """Divide the rows into k folds; each is tested once by a fit to the others.

    Parameters
    ----------
    k
        How many folds.
    repeats
        How often to do so, each time with new random folds.

    Examples
    --------
    >>> splits = KFold(4).splits(8, y=["no", "yes"] * 4, seed=1)
    >>> [split.test.tolist() for split in splits]
    [[1, 6], [0, 7], [2, 3], [4, 5]]
    """

    k: int = 5
    repeats: int = 1
    intervals: ClassVar[tuple[str, ...]] = ("nested", "naive")

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)
        check_whole("repeats", self.repeats, 1)

    @property
    def words(self) -> str:
        """The plan in words."""
        often = "" if self.repeats == 1 else f", {self.repeats} times"
        return f"{self.k}-fold cross-validation{often}"

    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:
        words = f"{self.k}-fold cross-validation"
        check_data(data, self.k, words, instead="time-ordered splits")
        for repeat in range(self.repeats):
            folds = self._folds(data, state_of(seed, repeat))
            for fold, (train, test) in enumerate(folds):
                yield make_split(train, test, repeat, fold)

    def _folds(self, data: RowData, state: int) -> list[tuple[Any, Any]]:
        columns = np.zeros((data.n_rows, 1))

        def cut(splitter: Callable[..., Any]) -> list[tuple[Any, Any]]:
            folds = splitter(self.k, shuffle=True, random_state=state)
            return list(folds.split(columns, data.y, data.groups))

        if data.groups is not None:
            if data.y is not None:
                folds = cut(model_selection.StratifiedGroupKFold)
                # balancing the classes greedily can leave a fold empty, or all of a class in one:
                # then only the groups decide
                if all(len(test) and data.trains_every_class(train) for train, test in folds):
                    return folds
            return cut(model_selection.GroupKFold)
        return cut(model_selection.KFold if data.y is None else model_selection.StratifiedKFold)


@dataclass(frozen=True)
class LeaveOneOut(Plan):
    """Leave out one row at a time, or one group at a time where groups are named.

    Examples
    --------
    >>> [split.test.tolist() for split in LeaveOneOut().splits(3)]
    [[0], [1], [2]]
    """

    @property
    def words(self) -> str:
        """The plan in words."""
        return "leave-one-out"

    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:  # noqa: ARG002 - nothing is drawn
        check_data(data, 2, self.words, instead="time-ordered splits")
        everyone = np.arange(data.n_rows)
        units = everyone if data.groups is None else data.groups
        labels = np.unique(units)
        if len(labels) > _MOST_LEFT_OUT:
            raise InputError(
                f"leaving out one at a time takes {len(labels):,} fits",
                parameter="outer",
                value=len(labels),
                hint="use 10 folds, which are hardly less exact on so many rows; for least squares "
                "and ridge, clearwood.benchmarking.linear_smoother needs no fits.",
            )
        for fold, unit in enumerate(labels):
            yield make_split(everyone[units != unit], everyone[units == unit], 0, fold)


_BY_NAME: dict[str, Callable[..., Plan]] = {
    "k-fold": KFold,
    "hold-out": HoldOut,
    "leave-one-out": LeaveOneOut,
    "monte-carlo": MonteCarlo,
    "bootstrap": Bootstrap,
    "time-ordered": TimeOrdered,
}


def default_plan(table: Table, outer: int | str | Plan = 5, *, repeats: int = 1) -> Plan:
    """Return the plan for a table: k-fold, or time-ordered where a time column is named.

    Parameters
    ----------
    table
        The rows.
    outer
        How many folds; or a plan; or its name, with its number if wanted: "hold-out:0.3",
        "leave-one-out", "monte-carlo:50", "bootstrap:200", "k-fold:10", "time-ordered:4".
    repeats
        How often folds are drawn; only for k-fold by number.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> default_plan(wine, 10)
    KFold(k=10, repeats=1)
    >>> default_plan(wine, "hold-out:0.3")
    HoldOut(share=0.3)
    """
    if isinstance(outer, Plan):
        return outer
    if isinstance(outer, str) and not outer.isdecimal():
        name, _, number = outer.partition(":")
        if name not in _BY_NAME:
            raise InputError(
                f"there is no plan {outer!r}",
                parameter="outer",
                value=outer,
                hint=did_you_mean(name, _BY_NAME),
            )
        try:
            parse = float if name == "hold-out" else int
            return _BY_NAME[name](*([parse(number)] if number else []))
        except (ValueError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{outer!r} is not a plan",
                parameter="outer",
                value=outer,
                hint="after the colon comes one number: hold-out:0.3.",
            ) from error
    folds: Any = int(outer) if isinstance(outer, str) else outer
    return KFold(folds, repeats) if table.times is None else TimeOrdered(folds)


def splits_of(table: Table, plan: Plan, *, seed: int = 0) -> tuple[Split, ...]:
    """Split a table by a plan: stratified by class, with groups and time respected when named.

    Parameters
    ----------
    table
        The rows.
    plan
        How to split them.
    seed
        Fixes the draw.

    Examples
    --------
    >>> import clearwood as cw
    >>> splits = splits_of(cw.datasets.load("wine"), KFold(3))
    >>> [len(split.test) for split in splits]
    [60, 59, 59]
    """
    for name, role in table.roles.items():
        if role in (Role.GROUP, Role.TIME) and table.missing.get(name, 0):
            raise InputError(
                f"{table.missing[name]} rows have no {role.value}: {name!r} is missing there",
                parameter=role.value,
                value=name,
                hint="fill it in, or leave these rows out.",
            )
    classes = table.y if table.task is not None and table.task.is_classification else None
    return plan.splits(table.n_rows, y=classes, groups=table.groups, times=table.times, seed=seed)
