"""What ensembles that the lasso weighs share: links, and folds that choose the penalty."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import LassoFamily
from clearwood.models.shared.score import Link

__all__ = ["LINKS", "balanced_folds"]

LINKS: dict[LassoFamily, Link] = {
    "gaussian": "identity",
    "logistic": "logistic",
    "poisson": "log",
    "multinomial": "softmax",
}


def balanced_folds(
    strata: NDArray[Any], n_folds: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Deal rows out to folds at random, the same share of every stratum to each."""
    shuffled = rng.permutation(len(strata))
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    folds = np.empty(len(strata), np.int32)
    folds[order] = np.arange(len(strata)) % min(n_folds, len(strata))
    return folds
