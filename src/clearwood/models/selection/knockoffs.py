"""Knockoffs: columns that beat copies of themselves which know nothing of the target.

Barber and Candès (2015); Candès, Fan, Janson and Lv (2018). The copies are second-order: they have
the means and covariances of normal scores of the columns, so that swapping a column for its copy
changes neither. A column of several parts (a category) is swapped as a whole.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtri
from sklearn.covariance import ledoit_wolf

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood.models.selection.candidates import Candidates, standardised
from clearwood.models.selection.lasso import Design, cross_validated

__all__ = ["copies", "knockoffs", "leading", "separations"]

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
    both = Design(
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
