"""Rows that are identical in some columns."""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from clearwood.table.column import Column
from clearwood.table.export import canonical
from clearwood.table.types import Kind

__all__ = ["IDENTICAL_ROWS", "identical_rows", "row_hashes"]

#: What ``group`` is set to, instead of a column, to keep rows with identical features together.
IDENTICAL_ROWS = "identical rows"


def identical_rows(columns: Iterable[Column]) -> NDArray[np.int64]:
    """Number the rows so that those with the same values in all columns have the same number.

    Missing values are equal to each other. Rows are compared by hashes of 64 bits, which differ
    for different rows but for about one pair of rows in 2**64.

    Parameters
    ----------
    columns
        Of one table, one or more.

    Examples
    --------
    >>> age = Column("age", Kind.WHOLE, np.array([31.0, 45.0, 31.0, np.nan, np.nan]))
    >>> identical_rows([age]).tolist()
    [0, 1, 0, 2, 2]
    """
    _, first, number = np.unique(row_hashes(columns), return_index=True, return_inverse=True)
    # in the order of the rows, whatever their hashes are
    return np.argsort(np.argsort(first))[number]


def row_hashes(columns: Iterable[Column], *, seed: int = 0) -> NDArray[np.uint64]:
    """Return 64 bits for each row that are the same for the same values, in any table.

    Parameters
    ----------
    columns
        Of one table, one or more.
    seed
        Another seed gives other bits.

    Examples
    --------
    >>> age = Column("age", Kind.WHOLE, np.array([31.0, 45.0, 31.0]))
    >>> row_hashes([age])[[0, 2]] == row_hashes([age.take(slice(0, 1))])
    array([ True,  True])
    """
    mixed = np.full(1, seed, np.uint64)
    for column in columns:
        mixed = _mixed(mixed + _bits(column))
    return mixed


def _bits(column: Column) -> NDArray[np.uint64]:
    if column.kind is Kind.TEXT:
        texts = np.array(["" if text is None else f"={text}" for text in column.values], object)
        distinct, places = np.unique(texts, return_inverse=True)
        digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in distinct]
        return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)[places]
    values = canonical(column)
    return values.astype(np.int64).view(np.uint64) if column.is_coded else values.view(np.uint64)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all 64, with the constants of SplitMix64 (Steele and others, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)
