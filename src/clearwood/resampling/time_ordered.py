"""Plans for rows that are ordered in time: train on the past, test on what follows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_whole
from clearwood._shared.errors import InputError, Option, words
from clearwood.resampling.checks import check_rows
from clearwood.resampling.plan import Plan, RowData, Split, make_split

__all__ = ["TimeOrdered", "first_of_last", "last_rows"]


@dataclass(frozen=True)
class TimeOrdered(Plan):
    """Divide the rows into k + 1 spans of time; test each but the first after a fit to the past.

    Rows of the same moment stay together. Where groups are named too, rows of a group that is
    tested are left out of training.

    Parameters
    ----------
    k
        How many spans are tested.

    Examples
    --------
    >>> for split in TimeOrdered(2).splits(6, times=[2021, 2020, 2022, 2020, 2022, 2021]):
    ...     print(split.train.tolist(), split.test.tolist())
    [1, 3] [0, 5]
    [0, 1, 3, 5] [2, 4]
    """

    k: int = 5
    intervals: ClassVar[tuple[str, ...]] = ("per-origin", "naive")

    def __post_init__(self) -> None:
        check_whole("k", self.k, 1)

    @property
    def words(self) -> str:
        """The plan in words."""
        return f"testing {self.k} spans of time, each after a fit to all before it"

    # scikit-learn's TimeSeriesSplit counts rows, and would cut through those of one moment
    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:  # noqa: ARG002 - nothing is drawn
        if data.times is None:
            raise InputError(
                "time-ordered splits need a column that orders the rows",
                parameter="time",
                hint=words("name one: ", Option("time", "COLUMN"), "."),
            )
        check_rows(data.n_rows, self.k + 1, f"{self.words},")
        codes = _codes(data.times)
        shares = np.arange(1, self.k + 1) / (self.k + 1)
        starts = [*_cuts(codes, shares, f"{self.words},"), int(codes.max()) + 1]
        for fold, (start, stop) in enumerate(pairwise(starts)):
            yield _past_and_span(data, codes, start, stop, fold)


def last_rows(data: RowData, share: float, plan: str) -> Split:
    """Hold out about this share of the rows, the last ones."""
    assert data.times is not None
    codes = _codes(data.times)
    start = _cuts(codes, np.array([1.0 - share]), plan)[0]
    return _past_and_span(data, codes, start, int(codes.max()) + 1, 0)


def first_of_last(times: NDArray[Any], share: float, plan: str) -> Any:
    """Return the first moment of the last rows, about this share of them.

    Examples
    --------
    >>> int(first_of_last(np.array([2021, 2020, 2022, 2020]), 0.25, "a hold-out"))
    2022
    """
    moments, codes = np.unique(times, return_inverse=True)
    return moments[_cuts(codes.astype(np.int64), np.array([1.0 - share]), plan)[0]]


def _codes(times: NDArray[np.generic]) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = np.unique(times, return_inverse=True)[1].astype(np.int64)
    return codes


def _cuts(codes: NDArray[np.int64], shares: Floats, plan: str) -> list[int]:
    """Return the moments at which spans begin, with about these shares of the rows before them."""
    moments = int(codes.max()) + 1
    if moments < len(shares) + 1:
        raise InputError(
            f"{plan} needs {len(shares) + 1} different times or more; the rows have {moments}",
            parameter="outer",
            value=moments,
            hint="use fewer spans, or name a finer time column.",
        )
    before = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    cuts: list[int] = []
    for position, share in enumerate(shares):
        nearest = int(np.abs(before - share * len(codes)).argmin())
        # every span, the first included, keeps a moment of its own
        earliest = cuts[-1] + 1 if cuts else 1
        cuts.append(min(max(nearest, earliest), moments - (len(shares) - position)))
    return cuts


def _past_and_span(
    data: RowData, codes: NDArray[np.int64], start: int, stop: int, fold: int
) -> Split:
    train = codes < start
    test = (codes >= start) & (codes < stop)
    if data.groups is not None:
        train &= ~np.isin(data.groups, data.groups[test])
        if not train.any():
            raise InputError(
                f"every group seen before time span {fold + 1} is in it as well, so that nothing "
                "is left to train on",
                parameter="group",
                hint="name the groups or the time, not both.",
            )
    return make_split(np.flatnonzero(train), np.flatnonzero(test), 0, fold)
