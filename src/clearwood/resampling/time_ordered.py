"""Plans for rows that are ordered in time: the past is trained on, what follows is tested."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.resampling.checks import check_rows, check_whole
from clearwood.resampling.plan import Given, Plan, Split, make_split

__all__ = ["TimeOrdered", "last_rows"]


@dataclass(frozen=True)
class TimeOrdered(Plan):
    """Cut the rows into k + 1 spans of time; each but the first is tested, after all before it.

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
        check_whole("the number of spans of time", self.k, least=1)

    @property
    def words(self) -> str:
        """The plan in words."""
        return f"testing {self.k} spans of time, each after a fit to all before it"

    # scikit-learn's TimeSeriesSplit counts rows, and would cut through those of one moment
    def _cut(self, given: Given, seed: int) -> Iterator[Split]:  # noqa: ARG002 - nothing is drawn
        if given.times is None:
            raise InputError(
                "time-ordered splits need a column that orders the rows",
                hint='name one: cw.read(..., time="date").',
            )
        check_rows(given.n_rows, self.k + 1, f"{self.words},")
        codes = _codes(given.times)
        shares = np.arange(1, self.k + 1) / (self.k + 1)
        starts = [*_cuts(codes, shares, f"{self.words},"), int(codes.max()) + 1]
        for fold, (start, stop) in enumerate(pairwise(starts)):
            yield _past_and_span(given, codes, start, stop, fold)


def last_rows(given: Given, share: float, words: str) -> Split:
    """Hold out about this share of the rows, the last ones."""
    assert given.times is not None
    codes = _codes(given.times)
    start = _cuts(codes, np.array([1.0 - share]), words)[0]
    return _past_and_span(given, codes, start, int(codes.max()) + 1, 0)


def _codes(times: NDArray[np.generic]) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = np.unique(times, return_inverse=True)[1].astype(np.int64)
    return codes


def _cuts(codes: NDArray[np.int64], shares: Floats, words: str) -> list[int]:
    """The moments at which spans begin, so that about these shares of the rows come before."""
    moments = int(codes.max()) + 1
    if moments < len(shares) + 1:
        raise InputError(
            f"{words} needs {len(shares) + 1} different times or more; the rows have {moments}",
            hint="ask for fewer, or name a finer time column.",
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
    given: Given, codes: NDArray[np.int64], start: int, stop: int, fold: int
) -> Split:
    train = codes < start
    test = (codes >= start) & (codes < stop)
    if given.groups is not None:
        train &= ~np.isin(given.groups, given.groups[test])
        if not train.any():
            raise InputError(
                f"every group seen before time span {fold + 1} is in it as well, so that nothing "
                "is left to train on",
                hint="name the groups or the time, not both.",
            )
    return make_split(np.flatnonzero(train), np.flatnonzero(test), 0, fold)
