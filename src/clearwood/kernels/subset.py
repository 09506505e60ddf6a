"""The best subset of each size for least squares."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core

__all__ = ["MOST_GROUPS", "Subsets", "best_subsets"]

#: Groups of columns, at most: a subset is kept as the bits of one number.
MOST_GROUPS = 64


@dataclass(frozen=True, eq=False)
class Subsets:
    """The best subset of each size from 0 on.

    Parameters
    ----------
    members
        Of shape (sizes, groups): which groups are in.
    rss
        Residual sum of squares of each.
    n_nodes
        Subsets whose inner products were inverted.
    is_complete
        Whether the search ended: no subset has a smaller sum. Otherwise they are the best seen.
    """

    members: NDArray[np.bool_]
    rss: NDArray[np.float64]
    n_nodes: int
    is_complete: bool


def best_subsets(
    products: NDArray[np.float64],
    moments: NDArray[np.float64],
    total: float,
    groups: NDArray[np.int32],
    *,
    largest: int,
    candidates: tuple[NDArray[np.bool_], NDArray[np.float64]],
    max_nodes: int,
) -> Subsets:
    """Find the groups of columns with the least residual sum of squares, for each number of groups.

    Parameters
    ----------
    products
        Inner products of the columns, which have to be independent.
    moments
        Inner products of the columns and the target.
    total
        Sum of squares of the target.
    groups
        Of each column, from 0 on; columns of one group stand side by side and enter together.
    largest
        The greatest number of groups.
    candidates
        Subsets of 0 to ``largest`` groups to start from and their sums of squares: the better they
        are, the shorter the search.
    max_nodes
        Where the search ends at the latest.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> y = np.array([2.0, 4.0, -4.0, -2.0])
    >>> empty = np.zeros((2, 2), bool), np.array([y @ y, np.inf])
    >>> found = best_subsets(
    ...     x.T @ x, x.T @ y, y @ y, np.arange(2, dtype=np.int32), largest=1, candidates=empty,
    ...     max_nodes=100,
    ... )
    >>> found.members.tolist(), found.rss.tolist()
    ([[False, False], [True, False]], [40.0, 4.0])
    """
    n_groups = int(groups.max(initial=-1)) + 1
    inverse = np.linalg.inv(products)
    coefficients = inverse @ moments
    bit = np.left_shift(np.uint64(1), np.arange(n_groups, dtype=np.uint64))
    members, rss = candidates
    sets = (members * bit).sum(axis=1, dtype=np.uint64)
    best = rss.astype(np.float64)
    n_nodes = _core.best_subsets(
        inverse=np.ascontiguousarray((inverse + inverse.T) / 2),
        coefficients=coefficients,
        rss=float(total - coefficients @ moments),
        group=groups,
        n_groups=n_groups,
        largest=largest,
        max_nodes=max_nodes,
        best=best,
        sets=sets,
    )
    found = (sets[:, None] & bit) > 0
    return Subsets(found, best, min(n_nodes, max_nodes), n_nodes <= max_nodes)
