"""Which fits a benchmark consists of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from clearwood.benchmarking.running.work import Outcome, Unit
from clearwood.resampling import Split, pair_splits

__all__ = ["REUSE_FROM", "Design", "default_repeats"]

#: From this many rows on, fits that leave two folds out reuse settings unless told otherwise:
#: tuning in each would make a benchmark three times as long, and matters on small tables.
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
        """Units of nobody for every repeat: the rows of a pair are kept once for all learners."""
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

        Parameters
        ----------
        names
            The contenders.
        known
            Outcomes of the outer fits, for the settings to reuse; a pair one of whose folds has
            failed is left out.
        """
        if self.pairs == "none":
            return []
        names = list(names)
        found = [
            replace(unit, learner=name) for units in self._pairs for name in names for unit in units
        ]
        if self.pairs == "reused" and known is not None:
            return list(_with_settings(found, known))
        return found


def _with_settings(units: Sequence[Unit], known: Mapping[str, Outcome]) -> Iterator[Unit]:
    for unit in units:
        keys = [f"{unit.learner}/outer/{unit.repeat}/{fold}" for fold in (unit.fold, unit.other)]
        outcomes = [known.get(key) for key in keys]
        if all(outcome is not None and outcome.failure is None for outcome in outcomes):
            settings = tuple(outcome.settings for outcome in outcomes if outcome is not None)
            yield replace(unit, settings=settings)


def default_repeats(n_rows: int, *, tuned: bool) -> int:
    """How often the nested interval repeats its splits where the user does not say.

    The interval needs repeats where it differs from the naive one, which is on small tables. Three
    do nearly as well as ten (see the page on intervals), so that is what tuning is paid for.

    Examples
    --------
    >>> [default_repeats(n, tuned=False) for n in (100, 1_000, 20_000)]
    [10, 5, 1]
    >>> [default_repeats(n, tuned=True) for n in (100, 1_000, 20_000)]
    [3, 3, 1]
    """
    for rows, plain, with_tuning in ((500, 10, 3), (2_000, 5, 3), (5_000, 3, 2)):
        if n_rows < rows:
            return with_tuning if tuned else plain
    return 1
