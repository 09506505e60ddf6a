"""Selection by the lasso: along its path, in subsamples, and against knockoffs."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm
from sklearn.covariance import ledoit_wolf

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.progress import progress
from clearwood.models.selection.candidates import Candidates, standardised

__all__ = [
    "LassoDesign",
    "copies",
    "cross_validated",
    "design_of",
    "entering",
    "entries",
    "knockoffs",
    "lasso",
    "leading",
    "path_down",
    "separations",
    "stability",
]


# Lasso paths over the columns of a table, for selection by a lasso and by its stability.
#
# The lasso is that of squared error whatever the task, of the indicators of classes together: it
# decides which columns enter, and the learner fits them with its own loss.


#: Penalties of a path, and the least one as a share of the largest.
_PENALTIES = 60
_RATIO = 1e-2
#: Folds by which a penalty is chosen.
_FOLDS = 5
#: Blocks of several parts are scaled so that by chance they reach this level as often as one part.
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class LassoDesign:
    """Whitened blocks and responses, rows scaled by the roots of their weights.

    Parameters
    ----------
    parts
        The columns of all blocks: (rows, parts).
    owners
        The candidate that each belongs to.
    responses
        What is fitted: (rows, responses).
    n_columns
        How many candidates there are.
    """

    parts: Floats
    owners: Index
    responses: Floats
    n_columns: int

    def take(self, rows: Index) -> "LassoDesign":
        """Return some rows."""
        return LassoDesign(self.parts[rows], self.owners, self.responses[rows], self.n_columns)

    def by_column(self, values: Floats) -> Floats:
        """Return the largest of the values of each column's parts, none of which is below 0."""
        result = np.zeros(self.n_columns)
        np.maximum.at(result, self.owners, values)
        return result

    @property
    def largest(self) -> float:
        """The least penalty at which every coefficient is zero."""
        gradient = self.parts.T @ self.responses / len(self.parts)
        return float(np.sqrt((gradient**2).sum(axis=1)).max())


def lasso(these: Candidates) -> tuple[Floats, Floats]:
    """Return the penalty at which each column enters, and its size where the error is least.

    Penalties are shares of the largest one, at which the first column enters.
    """
    design = design_of(these)
    entered = entries(design, path_down(design.largest))
    return entered / design.largest, design.by_column(cross_validated(design, these))


def design_of(these: Candidates) -> LassoDesign:
    """Prepare candidates for a lasso.

    The parts of a block are scaled down by what the largest of several draws exceeds a single one,
    so that a category of noise enters about as early as a number of noise.
    """
    parts, owners = these.whitened
    sizes = np.bincount(owners, minlength=len(these))
    fair = norm.isf(_LEVEL / 2) / norm.isf(_LEVEL / (2 * sizes))
    root = np.sqrt(these.weights)[:, None]
    return LassoDesign(parts * fair[owners] * root, owners, these.responses * root, len(these))


def path_down(largest: float, least: float | None = None, n: int = _PENALTIES) -> Floats:
    """Return penalties from the largest down to the least."""
    return np.geomspace(largest, _RATIO * largest if least is None else least, n)


def entries(design: LassoDesign, penalties: Floats) -> Floats:
    """Return the penalty of a path at which each column enters, 0 for those that do not."""
    from sklearn.linear_model import enet_path

    several = design.responses.shape[1] > 1
    with _quiet():
        coefficients = enet_path(
            np.asfortranarray(design.parts),
            np.asfortranarray(design.responses) if several else design.responses[:, 0].copy(),
            l1_ratio=1.0,
            alphas=penalties,
            precompute=not several and design.parts.shape[0] > design.parts.shape[1],
            tol=1e-4,
            max_iter=1000,
            check_input=False,
        )[1]
    # (responses, parts, penalties) of several responses, else (parts, penalties)
    is_in = (coefficients != 0).any(axis=0) if several else coefficients != 0
    entered = np.where(is_in.any(axis=1), penalties[np.argmax(is_in, axis=1)], 0.0)
    return design.by_column(entered)


def cross_validated(design: LassoDesign, these: Candidates) -> Floats:
    """Return the size of each coefficient at the penalty with the least held-out error."""
    from sklearn.linear_model import LassoCV, MultiTaskLassoCV

    several = design.responses.shape[1] > 1
    model = (MultiTaskLassoCV if several else LassoCV)(
        eps=_RATIO,
        alphas=_PENALTIES,
        fit_intercept=False,
        cv=these.folds(_FOLDS),
        max_iter=1000,
        tol=1e-4,
    )
    with _quiet():
        model.fit(design.parts, design.responses if several else design.responses[:, 0])
    return np.asarray(np.sqrt((np.atleast_2d(model.coef_) ** 2).sum(axis=0)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out warnings of convergence: which columns enter is settled before the last digit."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


# Stability selection: columns that a lasso chooses in most halves of the rows.
#
# Meinshausen and Bühlmann (2010), with pairs of halves that share no row (Shah and Samworth
# 2013).


#: Pairs of halves, and penalties of the lasso path of each half.
_PAIRS = 50
_STABILITY_PENALTIES = 25


def stability(these: Candidates, entering: int) -> Floats:
    """Return the share of half-samples in which each column is among the first to enter a lasso.

    Parameters
    ----------
    these
        The candidates.
    entering
        How many columns are taken of each half: the first that enter.
    """
    design = design_of(these)
    rng = np.random.default_rng(these.seed)
    penalties = path_down(*_ends(design, entering), _STABILITY_PENALTIES)
    chosen = np.zeros(len(these))
    with progress("selecting columns", total=_PAIRS) as step:
        for _ in range(_PAIRS):
            for rows in these.halves(rng):
                entered = entries(design.take(rows), penalties)
                # of columns that enter at the same penalty of the path, some at random
                order = np.lexsort((rng.random(len(entered)), -entered))[:entering]
                chosen[order[entered[order] > 0]] += 1
            step(1)
    return chosen / (2 * _PAIRS)


def entering(errors: float, threshold: float, n_columns: int) -> int:
    """Return how many columns each half may take so that few are chosen by chance.

    If each half takes q of p columns, at most C q² / p columns are expected that a half chooses no
    more often than chance would and that are chosen all the same. C depends on the threshold; it
    is that of Shah and Samworth (2013, theorem 2), for shares of halves whose distribution has one
    mode.

    Examples
    --------
    >>> entering(errors=1, threshold=0.9, n_columns=200)
    21
    """
    pairs = 1 / (2 * _PAIRS)
    if threshold <= 0.75:
        bound = 1 / (2 * (2 * threshold - 1 - pairs)) if threshold > 0.5 + pairs else np.inf
    else:
        bound = 4 * (1 - threshold + pairs) / (1 + 2 * pairs)
    return max(1, min(n_columns, int(np.sqrt(errors * n_columns / bound))))


def _ends(design: LassoDesign, entering: int) -> tuple[float, float]:
    """Return the largest penalty of a path for halves, and one that lets enough columns enter."""
    full = path_down(design.largest)
    entered = np.sort(entries(design, full))[::-1]
    # halves are noisier, so that columns enter earlier there: half as many again are plenty
    place = entering + max(2, entering // 2)
    last = entered[place - 1] if place <= len(entered) else 0.0
    # and the gradient of half of the rows exceeds that of all
    return 1.5 * design.largest, float(last if last > 0 else full[-1])


# Knockoffs: columns that beat copies of themselves which know nothing of the target.
#
# Barber and Candès (2015); Candès, Fan, Janson and Lv (2018). The copies are second-order: they
# have the means and covariances of normal scores of the columns, so that swapping a column for
# its copy changes neither. A column of several parts (a category) is swapped as a whole.


#: Steps of Newton's method, of which a dozen are enough, and the gain in entropy at which they end.
_STEPS = 100
_SETTLED = 1e-8
#: The least eigenvalue of a correlation matrix that is inverted.
_LEAST = 1e-6


def knockoffs(these: Candidates) -> Floats:
    """Return how far each column leads its knockoff in a cross-validated lasso of both.

    A column of noise is as likely to lead as to trail, whatever the target is.
    """
    rng = np.random.default_rng(these.seed)
    parts, owners = _normal_scores(these)
    shadow = copies(parts, these.weights, rng)
    # so that the order in which the lasso visits columns favours neither
    swapped = rng.random(len(these)) < 0.5
    first = np.where(swapped[owners], shadow, parts)
    second = np.where(swapped[owners], parts, shadow)
    root = np.sqrt(these.weights)[:, None]
    both = LassoDesign(
        np.hstack([first, second]) * root,
        np.concatenate([owners, owners]),
        these.responses * root,
        len(these),
    )
    sizes = cross_validated(both, these)
    ahead = these.by_owner(sizes[: len(owners)] - sizes[len(owners) :], owners)
    return np.where(swapped, -ahead, ahead)


def leading(leads: Floats, fdr: float) -> Bools:
    """Return the columns that lead by more than a threshold that bounds false discoveries.

    It is the least t with (1 + columns that trail by t) / (columns that lead by t) <= fdr.

    Examples
    --------
    >>> leading(np.array([5.0, 4, 3, 2.5, 2, -0.5, 0.4, -0.1]), fdr=0.2).sum()
    np.int64(5)
    """
    for threshold in np.unique(np.abs(leads[leads != 0])):
        ahead, behind = (leads >= threshold).sum(), (leads <= -threshold).sum()
        if ahead and (1 + behind) / ahead <= fdr:
            return np.asarray(leads >= threshold)
    return np.zeros(len(leads), bool)


def copies(parts: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """Draw knockoffs of columns with mean 0 and variance 1.

    With the covariance Σ and separations s they have the mean X (I - Σ⁻¹ S) and the covariance
    2 S - S Σ⁻¹ S given X. They are scaled as the columns are: to mean 0 and variance 1.
    """
    covariance = _covariance(parts, weights)
    s = separations(covariance)
    inverse = np.linalg.inv(covariance)
    around = 2 * np.diag(s) - s[:, None] * inverse * s
    values, vectors = np.linalg.eigh((around + around.T) / 2)
    noise = rng.standard_normal(parts.shape) * np.sqrt(np.maximum(values, 0))
    return standardised(parts - parts @ (inverse * s) + noise @ vectors.T, weights)


def separations(covariance: Floats) -> Floats:
    """Return how far each column may differ from its copy, for the largest entropy of both.

    They maximise log det S + log det(2 Σ - S), a concave function, by Newton's method.
    """
    # what a column leaves open given all others, scaled down so that 2 Σ - S is at least Σ
    open_ = 1 / np.diag(np.linalg.inv(covariance))
    root = np.sqrt(open_)
    s = open_ * min(1.0, float(np.linalg.eigvalsh(covariance / root[:, None] / root)[0]))
    entropy = _entropy(covariance, s)
    for _ in range(_STEPS):
        inverse = np.linalg.inv(2 * covariance - np.diag(s))
        gradient = 1 / s - np.diag(inverse)
        step = np.linalg.solve(np.diag(1 / s**2) + inverse**2, gradient)
        if gradient @ step < _SETTLED:
            break
        while (new := _entropy(covariance, s + step)) < entropy:
            step /= 2
        s, entropy = s + step, new
    return np.asarray(s)


def _entropy(covariance: Floats, s: Floats) -> float:
    """Return log det S + log det(2 Σ - S), minus infinity where one is not positive definite."""
    if s.min() <= 0:
        return -np.inf
    try:
        lower = np.linalg.cholesky(2 * covariance - np.diag(s))
    except np.linalg.LinAlgError:
        return -np.inf
    return float(np.log(s).sum() + 2 * np.log(np.diag(lower)).sum())


def _covariance(parts: Floats, weights: Floats) -> Floats:
    """Return the covariance, shrunk towards the identity so that it can be inverted."""
    scaled = parts * np.sqrt(weights)[:, None]
    shrunk = np.asarray(ledoit_wolf(scaled, assume_centered=True)[0])
    least = float(np.linalg.eigvalsh(shrunk)[0])
    if least < _LEAST:
        shrunk = shrunk + (_LEAST - least) * np.eye(len(shrunk))
    return shrunk


def _normal_scores(these: Candidates) -> tuple[Floats, Index]:
    """Return the whitened blocks, numbers of many values by their normal scores."""
    blocks = tuple(
        block
        if is_category
        else np.column_stack([_scores(block[:, 0], these.weights), block[:, 1:]])
        for block, is_category in zip(these.blocks, these.is_category, strict=True)
    )
    return replace(these, blocks=blocks).whitened


def _scores(values: Floats, weights: Floats) -> Floats:
    """Return the normal quantile of the rank of each value; ties share their middle."""
    _, inverse = np.unique(values, return_inverse=True)
    counts = np.bincount(inverse, weights)
    return np.asarray(ndtri((np.cumsum(counts) - counts / 2) / counts.sum())[inverse])
