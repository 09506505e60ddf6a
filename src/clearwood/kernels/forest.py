"""Predictions of many trees at once."""

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core
from clearwood.kernels.parallelism import threads

__all__ = ["PackedForest"]


class PackedForest:
    """Trees laid out for fast prediction, from plain arrays.

    The arrays mean what the fields of `clearwood.forest.Forest` mean, where they are checked.
    Values hold what each leaf adds, weights included: one column where trees belong to one output,
    else one per output.

    Examples
    --------
    >>> stump = PackedForest(
    ...     roots=np.array([0], np.int32),
    ...     left=np.array([1, -1, -1], np.int32),
    ...     right=np.array([2, -1, -1], np.int32),
    ...     feature=np.array([0, -1, -1], np.int32),
    ...     threshold=np.array([0.5, 0.0, 0.0]),
    ...     default_left=np.array([True, False, False]),
    ...     zero_missing=np.zeros(3, bool),
    ...     category_start=np.full(3, -1, np.int32),
    ...     category_size=np.zeros(3, np.int32),
    ...     category_words=np.empty(0, np.uint32),
    ...     unseen_left=np.zeros(3, bool),
    ...     value=np.array([[0.0], [10.0], [20.0]]),
    ...     tree_output=np.array([0], np.int32),
    ...     n_features=1,
    ...     n_outputs=1,
    ...     compare_float32=False,
    ...     add_float32=False,
    ... )
    >>> X = np.array([[0.5], [0.6], [np.nan]])
    >>> stump.sum(X, base=np.array([1.0])).ravel()
    array([11., 21., 11.])
    >>> stump.leaves(X).ravel()
    array([1, 2, 1], dtype=int32)
    """

    def __init__(self, **arrays: Any) -> None:
        self._n_outputs: int = arrays["n_outputs"]
        self._n_trees: int = len(arrays["roots"])
        self._packed = _core.PackedForest(**arrays)

    def sum(
        self,
        X: NDArray[Any],
        *,
        base: NDArray[np.float64],
        n_jobs: SupportsIndex | None = 1,
    ) -> NDArray[np.float64]:
        """Add up the values of the leaves that each row reaches, tree by tree, from ``base`` on.

        Parameters
        ----------
        X
            float32 or float64, rows by columns in either memory order; NaN is missing.
        base
            What each output starts from.
        n_jobs
            Number of threads; the result does not depend on it.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
        """
        out = np.empty((len(X), self._n_outputs))
        self._packed.sum(X, base, out, threads(n_jobs))
        return out

    def leaves(self, X: NDArray[Any], *, n_jobs: SupportsIndex | None = 1) -> NDArray[np.int32]:
        """Return the leaf that each row reaches, for every tree.

        Returns
        -------
        ndarray of shape (n_rows, n_trees)
        """
        out = np.empty((len(X), self._n_trees), np.int32)
        self._packed.leaves(X, out, threads(n_jobs))
        return out
