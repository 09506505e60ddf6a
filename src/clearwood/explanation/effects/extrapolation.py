"""Where data lie: which made-up rows lie outside the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.checks import coordinates, related
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.table import Column

__all__ = ["EXTRAPOLATES", "WAYS", "Region", "support_of"]


#: A grid point extrapolates if more than this share of the rows there lie outside the data.
EXTRAPOLATES = 0.2

#: How rows outside the data are found.
WAYS = ("distance", "isolation")

_REFERENCE_ROWS = 2000
# Share of the data's own rows that lie inside.
_OUTSIDE = 0.99
_ISOLATING_TREES = 100
# A column with no more values than this has few, whatever its kind.
_FEW_VALUES = 50


@dataclass(frozen=True, eq=False)
class Support:
    """Where data lie, in the columns that are held and those that go with them.

    A made-up row lies outside if its nearest data row is farther away than nearly all data rows
    are from theirs. Distances are taken between ranks (levels are 0 or 1 apart), in few columns:
    those that are held, and up to three that tell most about them. Over all columns, distances
    would be ruled by those that have nothing to do with the question.
    """

    positions: tuple[int, ...]  # of the columns in which distances are taken
    parts: Mapping[int, Floats]  # the coordinates of each at all rows
    reference: Index  # the rows that stand for the data
    radius: float  # beyond which a row lies outside

    def outside(self, base: Index, held: Mapping[int, Index]) -> Bools:
        """Tell for each made-up row whether it lies outside the data."""
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
    positions = (*held, *related(predictor.profiles, held))
    parts = {k: coordinates(columns[k], weights) for k in positions}
    return Support(positions, parts, reference, _radius(positions, parts, reference))


def _radius(positions: Sequence[int], parts: Mapping[int, Floats], reference: Index) -> float:
    """Return how far nearly all rows are from the nearest that differs, however often each occurs.

    Where all columns have few values, rows lie on a lattice, and a place of it without rows is
    outside.
    """
    from scipy.spatial import cKDTree

    known = np.unique(np.column_stack([parts[k][reference] for k in positions]), axis=0)
    if len(known) < 2:
        return 0.0
    nearest = cKDTree(known).query(known, k=2)[0][:, 1]
    if all(len(np.unique(parts[k][reference], axis=0)) <= _FEW_VALUES for k in positions):
        return float(nearest.min()) / 2
    return float(np.quantile(nearest, _OUTSIDE))


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
