"""Where data lie: which columns go together, and which made-up rows lie outside the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood.explain._predictor_rows import Index
from clearwood.table import Column, Kind

__all__ = [
    "EXTRAPOLATES",
    "Support",
    "association",
    "associations",
    "bins_of",
    "coordinates",
    "is_ordered",
    "ranks",
    "related",
    "support_of",
]

Floats = NDArray[np.float64]

#: A grid point extrapolates if more than this share of the rows asked there lie outside the data.
EXTRAPOLATES = 0.2

_BINS = 20
_ROWS_PER_BIN = 20
# Standard deviations above chance that an association must reach to count.
_BEYOND_CHANCE = 3
_REFERENCE_ROWS = 2000
_MOST_RELATED = 3
# Below this, the distance of the pair says nothing that the single columns do not.
_LEAST_ASSOCIATION = 0.1
_MOST_LEVELS = 20
_OUTSIDE = 0.99


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


def association(column: Column, other: Column) -> float:
    """Say how far one column tells about another, from 0 (nothing) to 1.

    The larger of two correlation ratios: the root of the share of the variance of one column's
    ranks (or of its levels' indicators) that lies between bins of the other. It sees dependence
    that no correlation sees, such as a parabola; chance alone is taken away.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 200)
    >>> line, parabola = (Column(n, Kind.NUMBER, v) for n, v in (("a", x), ("b", x**2)))
    >>> association(line, parabola) > 0.9
    True
    """
    return max(_ratio(column, other), _ratio(other, column))


def _ratio(column: Column, given: Column) -> float:
    bins = bins_of(given)
    if is_ordered(column):
        place = ranks(column)
        parts = np.where(np.isnan(place), 0.5, place)[:, None]
    else:
        own = bins_of(column)
        parts = (own[:, None] == np.unique(own)[None, :]).astype(np.float64)
    n_rows = len(bins)
    total = float(((parts - parts.mean(axis=0)) ** 2).sum())
    counts = np.bincount(bins, minlength=_BINS + 1)
    used = counts > 0
    if total <= 0 or used.sum() < 2 or n_rows <= used.sum():
        return 0.0
    between = 0.0
    for k in range(parts.shape[1]):
        sums = np.bincount(bins, parts[:, k], minlength=_BINS + 1)[used]
        between += float((counts[used] * (sums / counts[used] - parts[:, k].mean()) ** 2).sum())
    # adjusted as R2 is: bins of noise explain (bins - 1) / (rows - 1) of anything
    n_bins = int(used.sum())
    explained = 1 - (1 - between / total) * (n_rows - 1) / (n_rows - n_bins)
    chance = np.sqrt(2 * (n_bins - 1)) / (n_rows - n_bins)
    return float(np.sqrt(explained)) if explained > _BEYOND_CHANCE * chance else 0.0


def associations(columns: Sequence[Column], position: int) -> Floats:
    """Give the association of one column with each, 1 with itself."""
    own = columns[position]
    return np.array(
        [1.0 if k == position else association(own, other) for k, other in enumerate(columns)]
    )


def related(columns: Sequence[Column], positions: Sequence[int]) -> list[int]:
    """Give the columns that go with some columns: the most associated, at most three."""
    strength = np.max([associations(columns, k) for k in positions], axis=0)
    strength[list(positions)] = 0
    best = np.argsort(-strength, kind="stable")[:_MOST_RELATED]
    return [int(k) for k in best if strength[k] > _LEAST_ASSOCIATION]


@dataclass(frozen=True, eq=False)
class Support:
    """Where data lie, in the columns that are held and those that go with them.

    A made-up row lies outside if its nearest data row is farther away than nearly all data rows
    are from theirs. Distances are taken between ranks (levels are 0 or 1 apart), in few columns:
    those that are held, and up to three that tell most about them. Over all columns, distances
    would be ruled by those that have nothing to do with the question.

    Parameters
    ----------
    positions
        The columns in which distances are taken.
    parts
        For each of them its coordinates at all rows.
    reference
        The rows that stand for the data.
    radius
        The distance beyond which a row lies outside.
    """

    positions: tuple[int, ...]
    parts: Mapping[int, Floats]
    reference: Index
    radius: float

    def outside(self, base: Index, held: Mapping[int, Index]) -> NDArray[np.bool_]:
        """Say which made-up rows lie outside the data."""
        from scipy.spatial import cKDTree

        if len(self.positions) < 2:
            return np.zeros(len(base), bool)
        points = self._points(base, held)
        known = self._points(self.reference, {})
        # beyond the radius it does not matter how far
        bound = self.radius * (1 + 1e-9) + 1e-12
        far, _ = cKDTree(known).query(points, distance_upper_bound=bound)
        return np.asarray(~np.isfinite(far))

    def _points(self, base: Index, held: Mapping[int, Index]) -> Floats:
        return np.column_stack([self.parts[k][held.get(k, base)] for k in self.positions])


def support_of(columns: Sequence[Column], held: Sequence[int], *, seed: int = 0) -> Support:
    """Learn where data lie around some columns.

    Parameters
    ----------
    columns
        All columns.
    held
        The positions of those that will be exchanged.
    seed
        Fixes the choice of reference rows, where there are more than 2,000.
    """
    from scipy.spatial import cKDTree

    positions = (*held, *related(columns, held))
    parts = {k: coordinates(columns[k]) for k in positions}
    n_rows = len(columns[0])
    reference = np.arange(n_rows)
    if n_rows > _REFERENCE_ROWS:
        chosen = np.random.default_rng(seed).choice(n_rows, _REFERENCE_ROWS, replace=False)
        reference = np.sort(chosen)
    known = np.column_stack([parts[k][reference] for k in positions])
    own, _ = cKDTree(known).query(known, k=min(2, len(known)))
    nearest = own[:, 1] if own.ndim == 2 else np.zeros(1)
    # Equal rows are at distance zero; a lattice still has its spacing.
    positive = nearest[nearest > 0]
    radius = float(np.quantile(nearest, _OUTSIDE))
    if radius == 0 and len(positive):
        radius = float(positive.min()) / 2
    return Support(positions, parts, reference, radius)


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
