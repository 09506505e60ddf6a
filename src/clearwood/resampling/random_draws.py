"""Plans that draw rows at random: hold-out, Monte Carlo, bootstrap."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection

from clearwood._shared.checks import check_share, check_whole
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import percent
from clearwood.resampling.checks import check_data, check_rows
from clearwood.resampling.plan import Plan, RowData, Split, make_split, state_of
from clearwood.resampling.time_ordered import last_rows

__all__ = ["Bootstrap", "HoldOut", "MonteCarlo"]

# Redrawing stops here: by then the table, not chance, leaves a class out of training.
_MOST_DRAWS = 200


@dataclass(frozen=True)
class HoldOut(Plan):
    """Train on some rows, test on the rest, once.

    Where times are named the test rows are the last ones.

    Parameters
    ----------
    share
        Of the rows (or groups), how many are tested on.

    Examples
    --------
    >>> (split,) = HoldOut(0.25).splits(8, seed=1)
    >>> len(split.train), len(split.test)
    (6, 2)
    """

    share: float = 0.25
    intervals: ClassVar[tuple[str, ...]] = ("hold-out",)

    def __post_init__(self) -> None:
        check_share("share", self.share, example=0.25)

    @property
    def words(self) -> str:
        """The plan in words."""
        return f"hold-out of {percent(self.share)}"

    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:
        if data.times is not None:
            check_rows(data.n_rows, 2, self.words)
            yield last_rows(data, self.share, self.words)
        else:
            check_data(data, 2, self.words, instead="")
            yield _random_split(data, self.share, self.words, seed, 0)


@dataclass(frozen=True)
class MonteCarlo(Plan):
    """Hold out a random share of the rows, many times; test rows may recur.

    Parameters
    ----------
    repeats
        How often.
    share
        Of the rows (or groups), how many are tested on.

    Examples
    --------
    >>> [len(split.test) for split in MonteCarlo(3, 0.25).splits(8, seed=1)]
    [2, 2, 2]
    """

    repeats: int = 25
    share: float = 0.2
    intervals: ClassVar[tuple[str, ...]] = ("corrected", "naive")

    def __post_init__(self) -> None:
        check_whole("repeats", self.repeats, 1)
        check_share("share", self.share, example=0.25)

    @property
    def words(self) -> str:
        """The plan in words."""
        return f"{self.repeats} random hold-outs of {percent(self.share)}"

    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:
        check_data(data, 2, self.words, instead="time-ordered splits or a hold-out")
        for repeat in range(self.repeats):
            yield _random_split(data, self.share, self.words, seed, repeat)


def _random_split(data: RowData, share: float, words: str, seed: int, repeat: int) -> Split:
    columns = np.zeros((data.n_rows, 1))
    for draw in range(_MOST_DRAWS):
        splitter = _shuffle(data, share, state_of(seed, repeat, draw))
        train, test = next(splitter.split(columns, data.y, data.groups))
        if data.trains_every_class(train):
            return make_split(train, test, repeat, 0)
    raise InputError(
        f"in {_MOST_DRAWS} draws, a {words} always left a class out of training",
        parameter="outer",
        hint="hold out a smaller share, or leave rare classes out.",
    )


def _shuffle(data: RowData, share: float, state: int) -> Any:
    units = data.n_rows if data.groups is None else len(np.unique(data.groups))
    size = min(max(round(share * units), 1), units - 1)
    classes = 0 if data.y is None else len(np.unique(data.y))
    if data.groups is not None:
        kind = model_selection.GroupShuffleSplit
    # with fewer rows on a side than classes, there is no share of each class to take
    elif 0 < classes <= min(size, units - size):
        kind = model_selection.StratifiedShuffleSplit
    else:
        kind = model_selection.ShuffleSplit
    return kind(1, test_size=size, random_state=state)


@dataclass(frozen=True)
class Bootstrap(Plan):
    """Train on rows drawn with replacement, test on those that were not drawn.

    As many rows as the table has are drawn (within each class, where classes are named, so that
    none is lost), or as many groups; about 63.2 % of the rows are drawn at least once.

    Parameters
    ----------
    repeats
        How many samples.

    Examples
    --------
    >>> (split,) = Bootstrap(1).splits(1000, seed=1)
    >>> len(split.train), len(np.unique(split.train)) + len(split.test)
    (1000, 1000)
    """

    repeats: int = 100
    intervals: ClassVar[tuple[str, ...]] = ("naive",)

    def __post_init__(self) -> None:
        check_whole("repeats", self.repeats, 1)

    @property
    def words(self) -> str:
        """The plan in words."""
        return f"{self.repeats} bootstrap samples"

    def _cut(self, data: RowData, seed: int) -> Iterator[Split]:
        check_data(data, 2, self.words, instead="time-ordered splits or a hold-out")
        everyone = np.arange(data.n_rows)
        for repeat in range(self.repeats):
            rng = np.random.default_rng([seed, repeat])
            for _ in range(_MOST_DRAWS):
                train = _draw(data, rng)
                test = np.setdiff1d(everyone, train)
                if len(test) and data.trains_every_class(train):
                    yield make_split(train, test, repeat, 0)
                    break
            else:
                raise InputError(
                    f"in {_MOST_DRAWS} bootstrap samples, none left both rows to test on and every "
                    "class to train on",
                    parameter="outer",
                    hint="use k-fold cross-validation, or leave rare classes out.",
                )


def _draw(data: RowData, rng: np.random.Generator) -> NDArray[Any]:
    if data.groups is not None:
        labels, codes = np.unique(data.groups, return_inverse=True)
        drawn = rng.integers(0, len(labels), len(labels))
        return np.concatenate([np.flatnonzero(codes == group) for group in drawn])
    if data.y is not None:
        members = (np.flatnonzero(data.y == label) for label in np.unique(data.y))
        return np.concatenate([rng.choice(rows, len(rows)) for rows in members])
    return rng.integers(0, data.n_rows, data.n_rows)
