"""Where data lie: which made-up rows lie outside the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.weights import quantiles
from clearwood.checks import coordinates, effective_rows, is_ordered, related
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import NUMERIC, Column

__all__ = ["WAYS", "Region", "support_of"]


#: How rows outside the data are found.
WAYS = ("distance", "isolation")

_REFERENCE_ROWS = 2000
#: Share of the data's own rows that lie inside.
_OUTSIDE = 0.99
_ISOLATING_TREES = 100
# A column with no more values than this has few, whatever its kind.
_FEW_VALUES = 50
#: Rows that are alike: the most, the share of all, and the fewest.
_ALIKE, _SHARE_ALIKE, _FEWEST_ALIKE = 100, 0.2, 20
#: So many of the alike rows would be near a point if no column went with another: none in 1 %.
_EXPECTED = 6.0
#: How far apart levels are that differ: farther than any two numbers.
_APART = 100.0
#: Rows whose distances to the reference are held at once.
_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class Support:
    """Where data lie, in the columns that are held and those that go with them.

    A made-up row lies outside if none of the rows that are most alike in the columns that go with
    the held ones (up to three) is near in the held ones: the same level, or one of the nearest
    numbers. Of 100 alike rows, none is near in fewer than 1 % of cases where 5 % of such rows are.
    Rare levels are looked for among more rows, so that nothing is outside merely because it is
    rare. Where several columns are held, a point far from all rows is outside too. Distances over
    all columns would be ruled by those that have nothing to do with the question.
    """

    held: tuple[int, ...]  # positions of the columns that are exchanged
    parts: Mapping[int, Floats]  # their coordinates at all rows
    alike: Floats  # coordinates of the columns that go with them; none where no column does
    reference: Index  # the rows that stand for the data
    counts: Floats  # how many rows each of these counts for
    radius: float  # in several held columns, beyond which a point is far from all rows

    def outside(self, base: Index, held: Mapping[int, Index]) -> Bools:
        """Tell for each made-up row whether it lies outside the data."""
        if len(self.held) < 2 and not self.alike.size:
            return np.zeros(len(base), bool)
        rows, row_of = np.unique(base, return_inverse=True)
        points, point_of = np.unique(
            np.column_stack([held[k] for k in self.held]), axis=0, return_inverse=True
        )
        n = float(self.counts.sum())
        fewest = min(n, max(_FEWEST_ALIKE, min(_ALIKE, int(_SHARE_ALIKE * n))))
        near, is_far = self._near(points, _EXPECTED * n / fewest)
        result = np.tile(is_far, (len(rows), 1))
        # doubled until it suffices, so that there are few different numbers
        wanted = _EXPECTED * n / np.maximum(near @ self.counts, 1) / fewest
        sizes = fewest * 2 ** np.ceil(np.log2(np.maximum(wanted, 1)))
        known = self.alike[self.reference]
        for start in range(0, len(rows) if self.alike.size else 0, _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            unlike = _squared_distances(self.alike[rows[some]], known)
            for size in np.unique(sizes[sizes < n]):
                last = _reach(unlike, self.counts, size)
                are_alike = (unlike <= last * (1 + 1e-6) + 1e-9).astype(np.float32)
                among = sizes == size
                result[some, among] |= are_alike @ near[among].T.astype(np.float32) < 0.5
        return np.asarray(result[row_of.ravel(), point_of.ravel()])

    def _near(self, points: NDArray[np.intp], size: float) -> tuple[Bools, Bools]:
        """Tell which reference rows are near each point, about so many, and which are far."""
        own = np.column_stack([self.parts[k][self.reference] for k in self.held])
        at = np.column_stack([self.parts[k][points[:, i]] for i, k in enumerate(self.held)])
        away = _squared_distances(at, own)
        last = _reach(away, self.counts, size)
        near = away <= np.minimum(last * (1 + 1e-6) + 1e-6, _APART**2 / 2)
        return near, away.min(axis=1) > self.radius**2 + 1e-6


def support_of(
    predictor: Predictor, held: Sequence[int], *, how: str = "distance", seed: int = 0
) -> "Region":
    """Learn where data lie around some columns that will be exchanged.

    By "distance" to the nearest rows, or by an "isolation" forest over all columns.
    """
    columns, weights = predictor.columns, predictor.weights
    n_rows = len(predictor)
    # evenly spread rather than drawn, so that the data lie at the same place whatever the seed
    size = min(n_rows, _REFERENCE_ROWS)
    reference = np.linspace(0, n_rows - 1, size).round().astype(np.intp)
    if how == "isolation":
        return _isolation(columns, weights, reference, seed)
    parts = {
        k: columns[k].values[:, None] * _APART
        if columns[k].is_coded and not is_ordered(columns[k])
        else coordinates(columns[k], weights)
        for k in held
    }
    beside = [_alike_in(columns[k], weights) for k in related(predictor.profiles, held)]
    alike = np.column_stack(beside) if beside else np.zeros((n_rows, 0))
    radius = _radius(np.column_stack([parts[k][reference] for k in held]))
    counts = np.ones(size)
    if weights is not None:
        own = weights[reference]
        counts = own * (effective_rows(size, own) / own.sum())
    return Support(tuple(held), parts, alike, reference, counts, radius)


def _alike_in(column: Column, weights: Floats | None) -> Floats:
    """Return coordinates in which rows are alike: ranks, and values, which show gaps between."""
    ranked = coordinates(column, weights)
    if column.kind not in NUMERIC or column.missing.all():
        return ranked
    values, known = column.values.astype(np.float64), ~column.missing
    mass = np.ones(len(values)) if weights is None else weights
    low, middle, high = quantiles(values[known], np.array([0.01, 0.5, 0.99]), mass[known])
    values = np.clip(np.where(known, values, middle), low, high)
    values = values - np.average(values, weights=mass)
    spread = np.sqrt(np.average(values**2, weights=mass))
    return np.column_stack([ranked, values / max(spread, 1e-300)])


def _radius(known: Floats) -> float:
    """Return how far nearly all points are from the nearest that differs, however often each is.

    Where all columns have few values, rows lie on a lattice, and a place of it without rows is far.
    """
    from scipy.spatial import cKDTree

    is_lattice = all(len(np.unique(one)) <= _FEW_VALUES for one in known.T)
    known = np.unique(known, axis=0)
    if len(known) < 2:
        return 0.0
    nearest = cKDTree(known).query(known, k=2)[0][:, 1]
    if is_lattice:
        return float(nearest.min()) / 2
    return min(float(np.quantile(nearest, _OUTSIDE)), _APART / 2)


def _reach(distances: Floats, counts: Floats, size: float) -> Floats:
    """Return for each row the distance to its n-th nearest other row, or to the furthest."""
    if (counts == 1).all():
        last = min(int(np.ceil(size)), distances.shape[1]) - 1
        return np.partition(distances, last, axis=1)[:, last, None]
    order = np.argsort(distances, axis=1)
    enough = np.cumsum(counts[order], axis=1) >= np.ceil(size) * (1 - 1e-9)
    last_one = np.where(enough.any(axis=1), enough.argmax(axis=1), distances.shape[1] - 1)
    return np.take_along_axis(distances, np.take_along_axis(order, last_one[:, None], 1), 1)


def _squared_distances(points: Floats, others: Floats) -> Floats:
    """Return the squared distance of each point to each other one."""
    squared = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * points @ others.T
    return np.asarray(np.maximum(squared, 0.0), np.float64)


@dataclass(frozen=True, eq=False)
class Isolation:
    """Where data lie by an isolation forest over all columns.

    A made-up row lies outside if random splits set it apart from the data sooner than they do all
    but one in a hundred of the data's own rows. It looks at all columns at once, so it sees
    combinations of many columns that do not occur, and less sharply those of two.
    """

    parts: Mapping[int, Floats]  # the coordinates of all columns at all rows
    forest: Any  # a fitted `sklearn.ensemble.IsolationForest`
    threshold: float  # scores below it lie outside

    def outside(self, base: Index, held: Mapping[int, Index]) -> Bools:
        """Tell for each made-up row whether it lies outside the data."""
        points = np.column_stack([self.parts[k][held.get(k, base)] for k in self.parts])
        return np.asarray(self.forest.score_samples(points) < self.threshold)


Region = Support | Isolation


def _isolation(
    columns: Sequence[Column], weights: Floats | None, reference: Index, seed: int
) -> Isolation:
    from sklearn.ensemble import IsolationForest

    parts = {k: coordinates(column, weights) for k, column in enumerate(columns)}
    known = np.column_stack([part[reference] for part in parts.values()])
    forest = IsolationForest(n_estimators=_ISOLATING_TREES, random_state=seed).fit(known)
    threshold = float(np.quantile(forest.score_samples(known), 1 - _OUTSIDE))
    return Isolation(parts, forest, threshold)
