"""Filters: scores of single columns that need no model."""

import itertools
import math

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood.models.selection.candidates import Candidates

__all__ = ["anova", "chi2", "contingency", "correlation", "mutual_information", "shared_bits"]

#: Mutual information is estimated from at most so many rows.
_MOST_ROWS = 5000
#: The logarithm of the smallest p-value that is told apart from 0.
_LEAST_LOG10 = -300.0


def correlation(these: Candidates) -> Floats:
    """Return the largest correlation of a combination of a block with one of the target.

    For two numbers it is the absolute correlation, for a category and a number the correlation
    ratio, for two categories the first canonical correlation.
    """
    return np.array([float(np.linalg.norm(cross, 2)) for cross in _crosses(these)])


def anova(these: Candidates) -> Floats:
    """Return -log10 of the p-value of the F test of each column against the target.

    For a number and classes it is the analysis of variance, for two numbers the test of the slope,
    for a category and a number the analysis of variance of the target by level; for a category and
    classes, Pillai's trace. Weights count through Kish's effective number of rows.
    """
    n_rows = these.effective_rows
    n_responses = these.responses.shape[1]
    scores = []
    for cross in _crosses(these):
        m = len(cross)
        s, excess = min(m, n_responses), (abs(m - n_responses) - 1) / 2
        rest = (n_rows - 1 - m - n_responses - 1) / 2
        first, second = s * (2 * excess + s + 1), s * (2 * rest + s + 1)
        trace = min(float((cross**2).sum()), s)
        if second <= 0:
            scores.append(0.0)
            continue
        ratio = np.inf if trace >= s else second / first * trace / (s - trace)
        scores.append(_minus_log10(stats.f.logsf(ratio, first, second)))
    return np.array(scores)


def chi2(these: Candidates) -> Floats:
    """Return -log10 of the p-value of the chi-squared test of each column against the target.

    Numbers are in five bins of about equally many rows; a missing value is a level of its own.
    """
    scores = []
    for codes in these.codes.T:
        table = contingency(codes, these.target_codes, these.weights)
        table *= these.effective_rows / table.sum()
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        statistic = float(((table - expected) ** 2 / expected).sum())
        log = stats.chi2.logsf(statistic, freedom) if freedom else 0.0
        scores.append(_minus_log10(log))
    return np.array(scores)


def mutual_information(these: Candidates) -> Floats:
    """Return the mutual information of each column and the target in nats (scikit-learn).

    Where rows have weights, rows are kept with a probability in proportion to them, since the
    estimate from nearest neighbours knows no weights.
    """
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    rng = np.random.default_rng(these.seed)
    kept = np.flatnonzero(rng.random(these.n_rows) <= these.weights / these.weights.max())
    rows = kept[draw_rows(len(kept), _MOST_ROWS, seed=these.seed)]
    values = np.stack(
        [
            codes if is_category else block[:, 0]
            for block, codes, is_category in zip(
                these.blocks, these.codes.T, these.is_category, strict=True
            )
        ],
        axis=1,
    )[rows]
    estimate = mutual_info_classif if these.task.is_classification else mutual_info_regression
    return np.asarray(
        estimate(
            values,
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


def _crosses(these: Candidates) -> list[Floats]:
    """Return the correlations between the parts of each block and those of the target."""
    parts, owners = these.whitened
    cross = parts.T @ (these.responses * these.weights[:, None]) / these.n_rows
    ends = np.searchsorted(owners, np.arange(len(these) + 1))
    return [cross[start:stop] for start, stop in itertools.pairwise(ends)]


def _minus_log10(log: float) -> float:
    return -max(float(log) / math.log(10), _LEAST_LOG10)
