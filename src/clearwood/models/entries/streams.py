"""How a learner is fitted to a table in parts: by sums over all rows, or to rows on disk.

The rows are in one file or several, and trees are grown by this process or by several, each of
which has some of the rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import FileIO
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats

__all__ = ["BLOCK", "AfterLoss", "AfterRound", "Company", "Grown", "Moments", "Newton", "Recipe"]
__all__ += ["Scratch", "Streams"]

#: Rows that are read at once.
BLOCK = 65_536


@dataclass(frozen=True)
class Moments:
    """Marks learners whose fit depends on means and second moments of the rows, and on no more.

    Parameters
    ----------
    settings
        Values of settings for which that is so; all values of the others.
    """

    settings: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Newton:
    """Marks generalised linear models, which are fitted by reading all rows a few times.

    Parameters
    ----------
    put
        Gives a fitted estimator other coefficients and another intercept.
    settings
        Values of settings for which that is so; all values of the others.
    """

    put: Callable[[Any, Floats, float], None]
    settings: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Scratch:
    """Encoded rows in files, their targets and weights.

    Parameters
    ----------
    files
        Of float64, row after row; open for reading, without a buffer.
    n_columns
        Numbers in a row.
    y
        The target of each row.
    weight
        Its weight, where rows are weighted.
    """

    files: tuple[FileIO, ...]
    n_columns: int
    y: NDArray[np.float32]
    weight: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The first row of each file, and the number of all rows."""
        sizes = [file.seek(0, 2) // (8 * self.n_columns) for file in self.files]
        return np.cumsum([0, *sizes], dtype=np.int64)

    def rows(self, start: int, stop: int) -> Floats:
        """Read some rows; the files are not mapped, so that memory holds these rows only."""
        values = np.empty((stop - start, self.n_columns))
        at = start
        while at < stop:
            i = int(np.searchsorted(self._starts, at, side="right")) - 1
            first, last = int(self._starts[i]), min(int(self._starts[i + 1]), stop)
            self.files[i].seek((at - first) * self.n_columns * values.itemsize)
            self.files[i].readinto(values[at - start : last - start].data.cast("B"))
            at = last
        return values

    def blocks(self, kept: Bools | None = None) -> Iterator[tuple[Floats, slice | Any]]:
        """Read all rows, or those kept, block by block, with where they are."""
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            if kept is None:
                yield self.rows(start, stop), slice(start, stop)
                continue
            places = np.flatnonzero(kept[start:stop])
            if len(places):
                yield self.rows(start, stop)[places], places + start

    def total(self, kept: Bools) -> float:
        """Return the sum of the weights of some rows."""
        return float(kept.sum() if self.weight is None else self.weight[kept].sum())


@dataclass(frozen=True)
class Recipe:
    """What a library needs to know to grow trees: plain values, which can be sent elsewhere.

    Parameters
    ----------
    params
        The library's parameters.
    categorical
        Positions of the columns that hold category codes.
    seed
        For the random numbers.
    n_jobs
        Threads.
    """

    params: Mapping[str, Any]
    categorical: tuple[int, ...]
    seed: int
    n_jobs: int


@dataclass(frozen=True)
class Grown:
    """Trees that were grown before the fit was interrupted, in the library's own text."""

    rounds: int
    model: str


@dataclass(frozen=True)
class Company:
    """Processes that grow trees together, each on its rows.

    Parameters
    ----------
    rank
        Which of them this one is.
    addresses
        Host and port of each.
    bins
        Where the bins of all processes end, as the library's `Streams.bins` gave it.
    """

    rank: int
    addresses: tuple[tuple[str, int], ...]
    bins: bytes | None = None


#: Called after every round with how many there are, and a function that writes the trees so far.
AfterRound = Callable[[int, Callable[[], str]], None]
#: Called after every round with the loss on held-out rows.
AfterLoss = Callable[[float], None]


class Streams(Protocol):
    """How a library grows trees on rows in a file."""

    #: Rows by which bins are placed for processes that grow trees together; 0 where they agree on
    #: bins by themselves.
    bin_rows: int

    def recipe(self, estimator: Any, job: Any) -> Recipe:
        """Return what the library needs to know, from an estimator that is fitted to few rows."""

    def bins(self, recipe: Recipe, sample: Floats) -> bytes:
        """Place bins by a sample of all rows."""

    def held_out_losses(
        self,
        recipe: Recipe,
        scratch: Scratch,
        held_out: Bools,
        rounds: int,
        *,
        patience: int | None,
        company: Company | None = None,
        after_loss: AfterLoss | None = None,
    ) -> Floats:
        """Return the loss on held-out rows after each round of a fit to the others.

        Growing ends where the loss has not fallen for ``patience`` rounds; with None, the
        receiver of the losses ends it.
        """

    def fit(
        self,
        recipe: Recipe,
        scratch: Scratch,
        rounds: int,
        *,
        grown: Grown | None,
        after_round: AfterRound,
        company: Company | None = None,
    ) -> Any:
        """Return the library's model of all rows."""

    def written(self, booster: Any) -> str:
        """Return a library's model as text."""

    def read(self, model: str) -> Any:
        """Return the library's model from its text."""
