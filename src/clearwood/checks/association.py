"""Which columns go together, whatever their kinds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood.table import Column, Kind

__all__ = [
    "Profile",
    "association",
    "associations",
    "bins_of",
    "coordinates",
    "correlation_ratio",
    "is_ordered",
    "parts_of",
    "profile_of",
    "ranks",
    "related",
]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

_BINS = 20
_ROWS_PER_BIN = 20
# Rows by which two columns are compared.
_ROWS_COMPARED = 5000
# Standard deviations above chance that an association must reach to count.
_BEYOND_CHANCE = 3
_MOST_RELATED = 3
# Below this, the distance of the pair says nothing that the single columns do not.
_LEAST_ASSOCIATION = 0.1
_MOST_LEVELS = 20


def ranks(column: Column) -> Floats:
    """Give numbers and dates as ranks in [0, 1], ties sharing their middle; NaN for missing.

    Examples
    --------
    >>> ranks(Column("a", Kind.NUMBER, np.array([10.0, 30.0, 20.0, np.nan])))
    array([0.16666667, 0.83333333, 0.5       ,        nan])
    """
    found = np.full(len(column), np.nan)
    present = ~column.missing
    _, inverse, counts = np.unique(column.values[present], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - 0.5 * counts
    found[present] = (middle / max(present.sum(), 1))[inverse]
    return found


def is_ordered(column: Column) -> bool:
    """Whether the values of a column have an order: numbers and dates."""
    return column.kind in (Kind.NUMBER, Kind.WHOLE, Kind.DATE, Kind.ORDERED)


def bins_of(column: Column) -> NDArray[np.intp]:
    """Give each row the number of its bin: quantiles, or common levels; missing is one more."""
    if is_ordered(column) and column.kind is not Kind.ORDERED:
        place = ranks(column)
        size = int(np.clip(len(column) // _ROWS_PER_BIN, 3, _BINS))
        return np.where(np.isnan(place), _BINS, np.minimum(place * size, size - 1)).astype(np.intp)
    values = (
        column.values
        if column.is_coded
        else np.unique(
            np.where(column.missing, "", column.values).astype(str), return_inverse=True
        )[1]
    )
    common = np.argsort(-np.bincount(values + 1), kind="stable")[:_BINS] - 1
    found = np.full(len(column), _BINS)
    for k, level in enumerate(common):
        found[values == level] = k
    return found


@dataclass(frozen=True, eq=False)
class Profile:
    """What is needed of a column to compare it with others.

    Parameters
    ----------
    bins
        The bin of each row.
    parts
        Its ranks, or indicators of its levels: (rows, parts).
    """

    bins: Index
    parts: Floats


def profile_of(column: Column) -> Profile:
    """Describe a column, by at most 5,000 of its rows, evenly spread."""
    if len(column) > _ROWS_COMPARED:
        chosen = np.linspace(0, len(column) - 1, _ROWS_COMPARED).round().astype(np.intp)
        column = column.take(chosen)
    return Profile(bins_of(column), parts_of(column))


def parts_of(column: Column) -> Floats:
    """Give ranks, or indicators of common levels: (rows, parts)."""
    if is_ordered(column):
        place = ranks(column)
        return np.where(np.isnan(place), 0.5, place)[:, None]
    bins = bins_of(column)
    return np.asarray(bins[:, None] == np.unique(bins), np.float64)


def association(column: Profile, other: Profile) -> float:
    """Say how far one column tells about another, from 0 (nothing) to 1.

    The larger of two correlation ratios: the root of the share of the variance of one column's
    ranks (or of its levels' indicators) that lies between bins of the other. It sees dependence
    that no correlation sees, such as a parabola; chance alone is taken away.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> line, parabola = (Column(n, Kind.NUMBER, v) for n, v in (("a", x), ("b", x**2)))
    >>> association(profile_of(line), profile_of(parabola)) > 0.9
    True
    """
    return max(_ratio(column, other), _ratio(other, column))


def _ratio(column: Profile, given: Profile) -> float:
    return correlation_ratio(column.parts, given.bins)


def correlation_ratio(parts: Floats, bins: Index) -> float:
    """Give the root of the share of the variance of parts that lies between bins, less chance.

    Parameters
    ----------
    parts
        Of shape (rows, parts).
    bins
        The bin of each row.
    """
    counts = np.bincount(bins)
    used = counts > 0
    n_rows, n_bins = len(bins), int(used.sum())
    centred = parts - parts.mean(axis=0)
    total = float((centred**2).sum())
    if total <= 0 or n_bins < 2 or n_rows <= n_bins:
        return 0.0
    between = 0.0
    for part in centred.T:
        between += float((np.bincount(bins, part)[used] ** 2 / counts[used]).sum())
    # adjusted as R2 is: bins of noise explain (bins - 1) / (rows - 1) of anything
    explained = 1 - (1 - between / total) * (n_rows - 1) / (n_rows - n_bins)
    chance = np.sqrt(2 * (n_bins - 1)) / (n_rows - n_bins)
    return float(np.sqrt(explained)) if explained > _BEYOND_CHANCE * chance else 0.0


def associations(profiles: Sequence[Profile], position: int) -> Floats:
    """Give the association of one column with each, 1 with itself."""
    own = profiles[position]
    return np.array(
        [1.0 if k == position else association(own, other) for k, other in enumerate(profiles)]
    )


def related(profiles: Sequence[Profile], positions: Sequence[int]) -> list[int]:
    """Give the columns that go with some columns: the most associated, at most three."""
    strength = np.max([associations(profiles, k) for k in positions], axis=0)
    strength[list(positions)] = 0
    best = np.argsort(-strength, kind="stable")[:_MOST_RELATED]
    return [int(k) for k in best if strength[k] > _LEAST_ASSOCIATION]


def coordinates(column: Column) -> Floats:
    """Give coordinates in which most columns have about the same spread."""
    if is_ordered(column):
        place = ranks(column)
        present = np.where(np.isnan(place), 0.5, place) * np.sqrt(12)
        return np.column_stack([present, np.isnan(place)])
    bins = bins_of(column)
    levels = np.unique(bins)[:_MOST_LEVELS]
    # two different levels are one apart
    return np.asarray((bins[:, None] == levels[None, :]) / np.sqrt(2))
