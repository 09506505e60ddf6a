"""What is decided about a column from: its values, in memory or counted while they were read."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.table.column import Column
from clearwood.table.kinds.infer import value_range
from clearwood.table.types import Kind

__all__ = ["N_ENDS", "SAMPLE", "YEARS", "Ends", "Evidence", "stride_of"]

#: How many different values are known at each end of a column of numbers.
N_ENDS = 5
#: At most so many rows show the quantiles.
SAMPLE = 4000
#: Whole numbers between these are years.
YEARS = (1500, 2100)

#: Different values, from the end inwards, with their rows.
Ends = Sequence[tuple[float, int]]


def stride_of(n_rows: int) -> int:
    """Return the distance between the rows of a sample, a power of two so that it can grow.

    Examples
    --------
    >>> stride_of(4000), stride_of(4001), stride_of(10**6)
    (1, 2, 256)
    """
    stride = 1
    while -(-n_rows // stride) > SAMPLE:
        stride *= 2
    return stride


class Evidence:
    """What is known about all rows of a column; nothing is computed before it is needed.

    Parameters
    ----------
    column
        The column.
    repeats
        How many rows each of its values stands for; one where None.
    """

    #: Whether there are more different values than were counted.
    has_more_values = False

    def __init__(self, column: Column, repeats: NDArray[np.int64] | None = None) -> None:
        self.column = column
        self.repeats = repeats

    def _count(self, rows: NDArray[np.bool_]) -> int:
        if self.repeats is None:
            return int(np.count_nonzero(rows))
        return int(self.repeats[rows].sum())

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.column) if self.repeats is None else int(self.repeats.sum())

    @cached_property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return self._count(self.column.missing)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number, NaN if there is none."""
        return value_range(self.column.values)

    @property
    def sample(self) -> Floats:
        """Some rows, evenly spread."""
        values: Floats = self.column.values[:: stride_of(self.n_rows)]
        return values

    @property
    def lowest(self) -> Ends:
        """The smallest different values and their rows."""
        return self._ends(self.column.values)

    @property
    def highest(self) -> Ends:
        """The largest different values and their rows."""
        return [(-value, n) for value, n in self._ends(-self.column.values)]

    def _ends(self, values: Floats) -> Ends:
        ends: list[tuple[float, int]] = []
        left = values[~np.isnan(values)]
        while len(left) and len(ends) < N_ENDS:
            end = left.min()
            ends.append((float(end), self._count(values == end)))
            left = left[left > end]
        return ends

    @property
    def n_negative(self) -> int:
        """Rows with numbers below zero."""
        return self._count(self.column.values < 0)

    @property
    def n_zero(self) -> int:
        """Rows with zero."""
        return self._count(self.column.values == 0)

    @property
    def n_no_years(self) -> int:
        """Rows with numbers that are no years."""
        values = self.column.values
        return self._count((values < YEARS[0]) | (values > YEARS[1]))

    @property
    def n_distinct(self) -> int:
        """How many different values there are, of text or numbers."""
        if self.column.kind is Kind.TEXT:
            return len({value for value in self.column.values if value is not None})
        return len(np.unique(self.column.values[~self.column.missing]))

    @property
    def is_different_everywhere(self) -> bool:
        """Whether no two rows of a column of numbers have the same value."""
        if self.repeats is not None and (self.repeats > 1).any():
            return False
        # most columns repeat a value soon
        head, values = self.column.values[:1000], self.column.values
        return len(np.unique(head)) == len(head) and len(np.unique(values)) == len(values)
