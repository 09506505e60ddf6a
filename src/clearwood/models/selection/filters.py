"""Filters: scores of columns that need no model of the target."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial.distance import cdist
from scipy.special import betaln, gammaln

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood.models.selection.candidates import Candidates

__all__ = [
    "anova",
    "chi2",
    "contingency",
    "correlation",
    "mrmr",
    "mutual_information",
    "relief",
    "shared_bits",
]


#: Mutual information is estimated from at most so many rows.
_MOST_ROWS = 5000
#: The logarithm of the smallest p-value that is read off a distribution function; those of smaller
#: ones follow from the first term of their expansion.
_LEAST_LOG = -690.0
_LEAST = 1e-300


def correlation(these: Candidates) -> Floats:
    """Return the largest correlation of a combination of a block with one of the target.

    For two numbers it is the absolute correlation, for a category and a number the correlation
    ratio, for two categories the first canonical correlation.
    """
    cross, owners = _cross(these)
    scores = np.sqrt(these.by_owner((cross**2).sum(axis=1), owners))
    if cross.shape[1] > 1:
        for k in np.flatnonzero(np.bincount(owners) > 1):
            scores[k] = np.linalg.norm(cross[owners == k], 2)
    return scores


def anova(these: Candidates) -> Floats:
    """Return -log10 of the p-value of the F test of each column against the target.

    For a number and classes it is the analysis of variance, for two numbers the test of the slope,
    for a category and a number the analysis of variance of the target by level; for a category and
    classes, Pillai's trace. Weights count through Kish's effective number of rows.
    """
    cross, owners = _cross(these)
    n_parts, n_responses = np.bincount(owners), cross.shape[1]
    s = np.minimum(n_parts, n_responses)
    first = s * np.maximum(n_parts, n_responses)
    second = s * (these.effective_rows - 1 - np.maximum(n_parts, n_responses))
    trace = np.minimum(these.by_owner((cross**2).sum(axis=1), owners), s)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = second / first * trace / (s - trace)
        log = stats.f.logsf(ratio, first, second)
        tail = _log_f_tail(ratio, first, second)
    return _minus_log10(np.where(second > 0, np.where(log > _LEAST_LOG, log, tail), 0.0))


def chi2(these: Candidates) -> Floats:
    """Return -log10 of the p-value of the chi-squared test of each column against the target.

    Numbers are in five bins of about equally many rows; a missing value is a level of its own.
    """
    statistics, freedoms = np.zeros((2, len(these)))
    for k, codes in enumerate(these.codes.T):
        table = contingency(codes, these.target_codes, these.weights)
        table *= these.effective_rows / table.sum()
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        statistics[k] = ((table - expected) ** 2 / expected).sum()
        freedoms[k] = (table.shape[0] - 1) * (table.shape[1] - 1)
    with np.errstate(divide="ignore"):
        log = stats.chi2.logsf(statistics, np.maximum(freedoms, 1))
        tail = _log_chi2_tail(statistics, np.maximum(freedoms, 1))
    return _minus_log10(np.where(freedoms > 0, np.where(log > _LEAST_LOG, log, tail), 0.0))


def mutual_information(these: Candidates) -> Floats:
    """Return the mutual information of each column and the target in nats (scikit-learn).

    Where rows have weights, rows are kept with a probability in proportion to them, since the
    estimate from nearest neighbours knows no weights.
    """
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    rng = np.random.default_rng(these.seed)
    kept = np.flatnonzero(rng.random(these.n_rows) <= these.weights / these.weights.max())
    rows = kept[draw_rows(len(kept), _MOST_ROWS, seed=these.seed)]
    estimate = mutual_info_classif if these.task.is_classification else mutual_info_regression
    return np.asarray(
        estimate(
            these.values[rows],
            these.target[rows],
            discrete_features=these.is_category,
            n_neighbors=min(3, len(rows) - 1),
            random_state=these.seed,
        )
    )


def contingency(first: Index, second: Index, weights: Floats) -> Floats:
    """Return the weight of each pair of codes, without rows and columns that are empty.

    Examples
    --------
    >>> contingency(np.array([0, 0, 2]), np.array([1, 0, 1]), np.ones(3))
    array([[1., 1.],
           [0., 1.]])
    """
    width = int(second.max()) + 1
    cells = np.bincount(first * width + second, weights, minlength=(int(first.max()) + 1) * width)
    table = cells.reshape(-1, width)
    return np.asarray(table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0])


def shared_bits(table: Floats, n_rows: float) -> float:
    """Return the mutual information of two codes in nats, less what chance alone gives.

    Chance gives (rows - 1) (columns - 1) / (2 n) of a table of counts (Miller 1955).
    """
    shares = table / table.sum()
    product = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    there = shares > 0
    plain = float(np.sum(shares[there] * np.log(shares[there] / product[there])))
    by_chance: float = (table.shape[0] - 1) * (table.shape[1] - 1) / (2 * n_rows)
    return plain - by_chance


def _cross(these: Candidates) -> tuple[Floats, Index]:
    """Return the correlations of the parts of all blocks with those of the target, and owners."""
    parts, owners = these.whitened
    return parts.T @ (these.responses * these.weights[:, None]) / these.n_rows, owners


def _log_f_tail(ratio: Floats, first: Floats, second: Floats) -> Floats:
    """Return the logarithm of the p-value of a large F statistic."""
    a, b = second / 2, first / 2
    x = np.maximum(second / (second + first * ratio), _LEAST)
    return np.asarray(a * np.log(x) + (b - 1) * np.log1p(-x) - np.log(a) - betaln(a, b))


def _log_chi2_tail(statistic: Floats, freedom: Floats) -> Floats:
    """Return the logarithm of the p-value of a large chi-squared statistic."""
    x, a = statistic / 2, freedom / 2
    return np.asarray((a - 1) * np.log(x) - x - gammaln(a))


def _minus_log10(logs: Floats) -> Floats:
    return np.asarray(np.abs(logs) / math.log(10))


# mRMR: columns that inform about the target and little about one another (Peng et al. 2005).


def mrmr(these: Candidates, n: int) -> tuple[Floats, Index]:
    """Choose columns one after the other, each by relevance minus mean redundancy.

    Relevance is the mutual information of a column's bins with the target, redundancy that with the
    bins of the columns chosen before.

    Returns
    -------
    tuple of ndarray and ndarray
        The score of each column, of the chosen ones when they were chosen and of the others in the
        end; and the chosen ones in their order.
    """
    relevance = _information(these, these.target_codes)
    redundancy = np.zeros(len(these))
    scores = relevance.copy()
    chosen: list[int] = []
    while len(chosen) < n:
        open_ = np.setdiff1d(np.arange(len(these)), chosen)
        scores[open_] = relevance[open_] - redundancy[open_] / max(1, len(chosen))
        best = int(open_[np.argmax(scores[open_])])
        chosen.append(best)
        if len(chosen) < n:
            redundancy += _information(these, these.codes[:, best])
    return scores, np.array(chosen, np.intp)


def _information(these: Candidates, other: Index) -> Floats:
    """Return the mutual information of every column with other codes."""
    return np.array(
        [
            shared_bits(contingency(codes, other, these.weights), these.effective_rows)
            for codes in these.codes.T
        ]
    )


# ReliefF: columns that differ between near rows with other targets, and agree otherwise
#
# Kononenko (1994) for classes, Robnik-Šikonja and Kononenko (2003) for numbers. Near rows are near
# in all columns, so that a column can score through its interactions with others.


#: Neighbours are looked for among so many rows, and of so many of them.
_RELIEF_ROWS = 4000
_MOST_CENTRES = 1000
#: Rows whose neighbours are compared at a time.
_BATCH = 100


def relief(these: Candidates, neighbours: int) -> Floats:
    """Return the weight of each column: above 0 where it separates near rows by their target.

    Two numbers differ by their distance as a share of the range (gaps count as the median), two
    levels of a category by 1.
    """
    rows = draw_rows(these.n_rows, _RELIEF_ROWS, seed=these.seed)
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
        a row is not its own neighbour.
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
