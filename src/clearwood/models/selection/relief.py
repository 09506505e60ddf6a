"""ReliefF: columns that differ between near rows with other targets, and agree otherwise.

Kononenko (1994) for classes, Robnik-Šikonja and Kononenko (2003) for numbers. Near rows are near in
all columns, so that a column can score through its interactions with others.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood.models.selection.candidates import Candidates

__all__ = ["relief"]

#: Neighbours are looked for among so many rows, and of so many of them.
_MOST_ROWS = 4000
_MOST_CENTRES = 1000
#: Rows whose neighbours are compared at a time.
_BATCH = 100


def relief(these: Candidates, neighbours: int) -> Floats:
    """Return the weight of each column: above 0 where it separates near rows by their target.

    Two numbers differ by their distance as a share of the range (gaps count as the median), two
    levels of a category by 1.
    """
    rows = draw_rows(these.n_rows, _MOST_ROWS, seed=these.seed)
    values = these.values
    near = _Near(
        (values / np.ptp(values, axis=0))[rows], these.is_category, these.weights[rows], neighbours
    )
    centres = draw_rows(len(rows), _MOST_CENTRES, seed=these.seed + 1)
    target = these.target[rows]
    if these.task.is_classification:
        return _of_classes(near, target, centres)
    return _of_numbers(near, target.astype(np.float64), centres)


class _Near:
    """Differences of rows to their nearest rows."""

    def __init__(
        self, values: Floats, is_category: NDArray[np.bool_], weights: Floats, neighbours: int
    ) -> None:
        self.values, self.is_category = values, is_category
        self.weights, self.neighbours = weights, neighbours
        self.numbers, self.levels = values[:, ~is_category], values[:, is_category]

    def differences(
        self, centres: Index, among: Index
    ) -> Iterator[tuple[Index, Index, Floats, Floats]]:
        """Yield batches of centres with their neighbours, the shares of these, the differences.

        Of shapes (rows,), (rows, neighbours), (rows, neighbours) and (rows, neighbours, columns);
        a row is no neighbour of itself.
        """
        for batch in np.array_split(centres, max(1, len(centres) // _BATCH)):
            distances = cdist(self.numbers[batch], self.numbers[among], "cityblock")
            if self.levels.shape[1]:
                differing = cdist(self.levels[batch], self.levels[among], "hamming")
                distances = distances + self.levels.shape[1] * differing
            itself = batch[:, None] == among
            distances[itself] = np.inf
            k = min(self.neighbours, len(among) - int(itself.any()))
            if not k:
                continue
            order = np.argpartition(distances, k - 1, axis=1)[:, :k]
            near = among[order]
            shares = self.weights[near] / self.weights[near].sum(axis=1, keepdims=True)
            apart = np.abs(self.values[batch][:, None, :] - self.values[near])
            apart[:, :, self.is_category] = apart[:, :, self.is_category] > 0
            yield batch, near, shares, apart


def _of_classes(near: _Near, target: NDArray[np.generic], centres: Index) -> Floats:
    total = near.weights[centres].sum()
    result = np.zeros(near.values.shape[1])
    classes, codes = np.unique(target, return_inverse=True)
    frequency = np.bincount(codes, near.weights) / near.weights.sum()
    for number in range(len(classes)):
        among = np.flatnonzero(codes == number)
        for own in range(len(classes)):
            these = centres[codes[centres] == own]
            if not len(these):
                continue
            part = -1.0 if own == number else frequency[number] / (1 - frequency[own])
            for batch, _, shares, apart in near.differences(these, among):
                weight = near.weights[batch] / total
                result += part * np.einsum("i,ij,ijc->c", weight, shares, apart)
    return result


def _of_numbers(near: _Near, target: Floats, centres: Index) -> Floats:
    span = np.ptp(target)
    both = alone = np.zeros(near.values.shape[1])
    of_target = total = 0.0
    for batch, rows, shares, apart in near.differences(centres, np.arange(len(target))):
        weight = near.weights[batch][:, None] * shares
        gap = np.abs(target[batch][:, None] - target[rows]) / span
        of_target += float((weight * gap).sum())
        total += float(weight.sum())
        alone = alone + np.einsum("ij,ijc->c", weight, apart)
        both = both + np.einsum("ij,ijc->c", weight * gap, apart)
    if not 0 < of_target < total:
        return np.zeros(len(both))
    return np.asarray(both / of_target - (alone - both) / (total - of_target))
