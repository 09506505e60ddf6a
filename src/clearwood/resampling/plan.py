"""What every resampling plan has in common: it divides rows into training and test rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._shared.errors import InputError
from clearwood.table import parse_dates

__all__ = ["PairSplit", "Plan", "RowData", "Rows", "Split", "make_split", "pair_splits", "state_of"]

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the rows into training and test rows.

    Parameters
    ----------
    train, test
        Rows by position. Those of `train` may repeat in a bootstrap; those of `test` never do.
    repeat, fold
        Which pass over the table, and which part of it.
    """

    train: Rows
    test: Rows
    repeat: int
    fold: int


@dataclass(frozen=True, eq=False)
class PairSplit:
    """Two folds of one repeat left out together.

    Parameters
    ----------
    train
        The rows of all other folds.
    test_j, test_k
        The rows of the two folds.
    j, k
        Which folds they are, ``j < k``.
    """

    train: Rows
    test_j: Rows
    test_k: Rows
    j: int
    k: int


@dataclass(frozen=True, eq=False)
class RowData:
    """What a plan uses of the rows: their number, classes, groups and times, if any."""

    n_rows: int
    y: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    times: NDArray[Any] | None = None

    def trains_every_class(self, train: NDArray[Any]) -> bool:
        """Whether these rows have a member of each class."""
        return self.y is None or len(np.unique(self.y[train])) == len(np.unique(self.y))


@dataclass(frozen=True)
class Plan(ABC):
    """A way to split rows; the same seed gives the same splits to every learner."""

    #: The intervals that suit the losses of its splits, the recommended one first.
    intervals: ClassVar[tuple[str, ...]] = ("naive",)

    def splits(
        self,
        n_rows: int,
        *,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
        seed: int = 0,
    ) -> tuple[Split, ...]:
        """Split the rows.

        Parameters
        ----------
        n_rows
            How many rows there are.
        y
            The class of each row; every part then gets its share of each class. Leave it out where
            a number is predicted.
        groups
            What ties rows together (the same person, firm, ...); tied rows are never on both
            sides.
        times
            What orders the rows; no row is trained on that comes after one that is tested.
        seed
            Fixes the draw. The first repeats are the same however many there are.
        """
        data = RowData(
            n_rows,
            None if y is None else _missing_free("class", y, n_rows),
            None if groups is None else _missing_free("group", groups, n_rows),
            None if times is None else _ordered(_missing_free("time", times, n_rows)),
        )
        return tuple(self._cut(data, seed))

    @abstractmethod
    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:
        """Check whether the plan can split these rows, and do so."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The plan in words."""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {"plan": type(self).__name__, **asdict(self)}


def pair_splits(splits: Sequence[Split]) -> tuple[PairSplit, ...]:
    """Leave out every two folds of one repeat together: what the nested interval fits.

    Parameters
    ----------
    splits
        The folds of one repeat of k-fold cross-validation, three or more.

    Examples
    --------
    >>> from clearwood.resampling.folds import KFold
    >>> pairs = pair_splits(KFold(3).splits(6))
    >>> [(pair.j, pair.k, len(pair.train)) for pair in pairs]
    [(0, 1, 2), (0, 2, 2), (1, 2, 2)]
    """
    if len(splits) < 3:
        raise InputError(
            f"the nested interval needs 3 folds or more, not {len(splits)}",
            parameter="outer",
            value=len(splits),
            hint="5 or 10 are usual; the naive interval works with fewer.",
        )
    tested = np.concatenate([split.test for split in splits])
    covering = all(len(split.train) + len(split.test) == len(tested) for split in splits)
    one_repeat = len({split.repeat for split in splits}) == 1
    if not (covering and one_repeat) or len(np.unique(tested)) != len(tested):
        raise InputError(
            "the nested interval needs folds that share no rows and together cover the table",
            parameter="outer",
            hint="use KFold; other plans have intervals of their own.",
        )
    pairs = []
    for first, one in enumerate(splits):
        for other in splits[first + 1 :]:
            train = np.setdiff1d(one.train, other.test, assume_unique=True)
            pairs.append(PairSplit(train, one.test, other.test, one.fold, other.fold))
    return tuple(pairs)


def make_split(train: NDArray[Any], test: NDArray[Any], repeat: int, fold: int) -> Split:
    """Return a split with its rows in order."""
    return Split(np.sort(train.astype(np.int64)), np.sort(test.astype(np.int64)), repeat, fold)


def state_of(seed: int, *position: int) -> int:
    """Return a seed for one draw out of many, independent of the others."""
    return int(np.random.SeedSequence([seed, *position]).generate_state(1)[0])


def _ordered(times: NDArray[Any]) -> NDArray[Any]:
    """Return times as they are, or the dates that strings stand for; other words have no order."""
    if times.dtype.kind not in "USO" or not all(isinstance(time, str) for time in times):
        return times
    written, places = np.unique(times.astype(str), return_inverse=True)
    dates = parse_dates(written.tolist())
    if dates is None:
        raise InputError(
            f"the times are words without an order, such as {str(written[0])!r}",
            parameter="times",
            value=str(written[0]),
            hint="times are numbers or dates, or months, quarters and years that are all written "
            "alike (Jan 2018, 2018 Q1).",
        )
    in_order: NDArray[Any] = dates[places]
    return in_order


def _missing_free(what: str, values: ArrayLike, n_rows: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InputError(
            f"there are {n_rows} rows, but {array.size} values of the {what}",
            parameter=what,
            value=array.size,
        )
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype.kind in "mM":
        missing = np.isnat(array)
    elif array.dtype.kind == "O":
        # NaN is the one value that differs from itself
        missing = np.array([value is None or value != value for value in array], dtype=bool)
    else:
        return array
    if missing.any():
        raise InputError(
            f"{int(missing.sum())} rows have no {what}",
            parameter=what,
            hint="fill it in, or leave these rows out.",
        )
    return array
