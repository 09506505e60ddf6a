"""Selection by forests: importance, and Boruta's comparison with shuffled copies."""

import numpy as np
from scipy.stats import binom

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.progress import progress
from clearwood.models.selection.candidates import Candidates, standardised

__all__ = ["boruta", "trees"]

_TREES = 200
_DEPTH = 7
#: Boruta grows small forests many times, each on at most so many rows that are resampled.
_TREES_OF_A_ROUND = 60
_ROWS_OF_A_ROUND = 5000
#: The share of the columns that a split looks at; with few of them most splits see only noise.
_SHARE_OF_A_SPLIT = 1 / 3


def trees(these: Candidates) -> Floats:
    """Return the share of the impurity that each column removes in a forest."""
    every_row = np.arange(these.n_rows)
    matrix = standardised(these.matrix, these.weights)
    importance = _importance(these, matrix, every_row, _TREES, "sqrt", these.seed)
    return these.by_owner(importance)


def boruta(these: Candidates, rounds: int, level: float) -> tuple[Floats, Bools]:
    """Compare each column with shuffled copies of all, again and again (Kursa and Rudnicki 2010).

    In each round a column wins if it is more important than every copy. Columns that win clearly
    less often than half of the rounds are left out of later rounds; those that win clearly more
    often are chosen. Both tests are corrected for the number of columns and looks.

    Returns
    -------
    tuple of ndarray and ndarray
        The share of its rounds that each column has won, and which columns are chosen.
    """
    rng = np.random.default_rng(these.seed)
    n = len(these)
    # forests hold numbers in 32 bits, in which a large shift hides small differences
    matrix = standardised(these.matrix, these.weights)
    wins, played = np.zeros(n), np.zeros(n)
    is_open, chosen = np.ones(n, bool), np.zeros(n, bool)
    with progress("selecting columns", total=rounds) as step:
        for done in range(1, rounds + 1):
            alive = np.flatnonzero(is_open | chosen)
            parts = np.flatnonzero(np.isin(these.owners, alive))
            owners = these.owners[parts]
            seed = int(rng.integers(2**31))
            rows = draw_rows(these.n_rows, _ROWS_OF_A_ROUND, seed=seed)
            real = matrix[np.ix_(rows, parts)]
            shadows = np.empty_like(real)
            for k in alive:
                own = owners == k
                shadows[:, own] = real[:, own][rng.permutation(len(real))]
            both = np.hstack([real, shadows])
            found = _importance(these, both, rows, _TREES_OF_A_ROUND, _SHARE_OF_A_SPLIT, seed)
            own = these.by_owner(found[: len(parts)], owners)
            copied = these.by_owner(found[len(parts) :], owners)
            wins[alive] += own[alive] > copied[alive].max()
            played[alive] = done
            # Bonferroni over columns and over the rounds in which a decision may fall
            least = level / (2 * n * rounds) if done < rounds else level / (2 * n)
            chosen |= is_open & (binom.sf(wins - 1, done, 0.5) < least)
            is_open &= ~chosen & (binom.cdf(wins, done, 0.5) >= least)
            step(1)
            if not is_open.any():
                break
    return wins / np.maximum(played, 1), chosen


def _importance(
    these: Candidates,
    matrix: Floats,
    rows: Index,
    n_trees: int,
    max_features: float | str,
    seed: int,
) -> Floats:
    """Return the share of the impurity that each column of a matrix of some rows removes."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    make = ExtraTreesClassifier if these.task.is_classification else ExtraTreesRegressor
    forest = make(n_trees, max_depth=_DEPTH, max_features=max_features, random_state=seed)
    forest.fit(matrix, these.target[rows], sample_weight=these.weights[rows])
    return np.asarray(forest.feature_importances_)
