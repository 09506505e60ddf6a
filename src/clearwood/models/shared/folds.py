"""Folds for choices that a learner makes inside its own fit."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, StratifiedKFold

from clearwood._shared.arrays import Index
from clearwood._shared.errors import InputError

__all__ = ["Folds"]


class Folds(BaseEstimator):
    """Shuffled folds, as many as the number of rows, or of rows of the rarest class, allows.

    Parameters
    ----------
    most
        The number of folds to make if there are rows enough.
    stratify
        Keep the shares of the classes in every fold.
    seed
        Fixes the shuffle.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 0, 1, 1])
    >>> [test.tolist() for _, test in Folds(5, stratify=True).split(y[:, None], y)]
    [[2, 3, 4], [0, 1, 5]]
    """

    def __init__(self, most: int = 5, *, stratify: bool = False, seed: int = 0) -> None:
        self.most = most
        self.stratify = stratify
        self.seed = seed

    def split(
        self, X: ArrayLike, y: ArrayLike, groups: Any = None
    ) -> Iterator[tuple[Index, Index]]:
        """Return the training and the held-out rows of each fold."""
        yield from self._splitter(np.asarray(y)).split(X, y, groups)

    def get_n_splits(
        self,
        X: Any = None,  # noqa: ARG002 - scikit-learn's signature
        y: Any = None,
        groups: Any = None,  # noqa: ARG002 - scikit-learn's
    ) -> int:
        """Return how many folds there are for this target."""
        return self.most if y is None else self._splitter(np.asarray(y)).get_n_splits()

    def _splitter(self, y: NDArray[Any]) -> Any:
        if self.stratify:
            fewest = int(np.unique(y, return_counts=True)[1].min())
            rows_of = "the rarest class"
        else:
            fewest, rows_of = len(y), "the table"
        if fewest < 2:
            raise InputError(
                "the fit, or its selection of columns, holds rows out, and "
                f"{rows_of} has a single row",
                parameter="target",
                hint="leave that class out, merge it with another, or choose another learner or "
                "another selection of columns.",
            )
        kind = StratifiedKFold if self.stratify else KFold
        return kind(min(self.most, fewest), shuffle=True, random_state=self.seed)
