"""Subsets of columns for least squares, one of each size: the best, or found step by step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from clearwood._shared.arrays import Floats, Index
from clearwood.kernels import Subsets, best_subsets
from clearwood.models.shared.independent import independent_columns

__all__ = ["LeastSquares", "backward", "best", "forward"]


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Inner products of independent columns, each of unit size, and the target.

    Parameters
    ----------
    products, moments, total
        Of columns and columns, columns and target, target and target.
    columns
        Their positions among all columns.
    groups
        Of each column, from 0 on, in increasing order.
    names
        Of each group: the number that its columns had.
    """

    products: Floats
    moments: Floats
    total: float
    columns: Index
    groups: NDArray[np.int32]
    names: Index

    @classmethod
    def of(cls, X: Floats, y: Floats, weight: Floats, groups: Index) -> "LeastSquares":
        """Centre and scale rows; columns that depend on others are left out."""
        root = np.sqrt(weight)
        kept = independent_columns(X[weight > 0])
        kept = kept[np.argsort(groups[kept], kind="stable")]
        centred = X[:, kept] - np.average(X[:, kept], axis=0, weights=weight)
        scaled = root[:, None] * centred
        scaled /= np.linalg.norm(scaled, axis=0)
        target = root * (y - np.average(y, weights=weight))
        names, codes = np.unique(groups[kept], return_inverse=True)
        return cls(
            products=scaled.T @ scaled,
            moments=scaled.T @ target,
            total=float(target @ target),
            columns=kept,
            groups=codes.astype(np.int32),
            names=names,
        )

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.names)

    def rss(self, members: NDArray[np.bool_]) -> float:
        """Compute the residual sum of squares of some groups."""
        inside = members[self.groups]
        if not inside.any():
            return self.total
        factor = cho_factor(self.products[np.ix_(inside, inside)])
        moments = self.moments[inside]
        return max(0.0, self.total - float(moments @ cho_solve(factor, moments)))


def forward(problem: LeastSquares, largest: int) -> Subsets:
    """Add, one at a time, the group that lowers the residual sum of squares most."""
    products, moments = problem.products.copy(), problem.moments.copy()
    members = np.zeros((largest + 1, problem.n_groups), dtype=bool)
    rss = np.full(largest + 1, problem.total)
    blocks = [np.flatnonzero(problem.groups == g) for g in range(problem.n_groups)]
    for size in range(1, largest + 1):
        outside = np.flatnonzero(~members[size - 1])
        gains = [_gain(products, moments, blocks[g]) for g in outside]
        entering = int(outside[np.argmax(gains)])
        members[size] = members[size - 1]
        members[size, entering] = True
        rss[size] = max(0.0, rss[size - 1] - max(gains))
        # what is left of the others once the entering columns are partialled out
        block = blocks[entering]
        across = np.linalg.solve(products[np.ix_(block, block)], products[block])
        moments = moments - across.T @ moments[block]
        products = products - products[:, block] @ across
    return Subsets(members, rss, largest, is_complete=True)


def backward(problem: LeastSquares, largest: int) -> Subsets:
    """Start with all groups and leave out, one at a time, the one that costs least."""
    n_groups = problem.n_groups
    members = np.ones((n_groups + 1, n_groups), dtype=bool)
    rss = np.empty(n_groups + 1)
    rss[n_groups] = problem.rss(members[n_groups])
    for size in range(n_groups - 1, -1, -1):
        inside = members[size + 1][problem.groups]
        inverse = np.asarray(np.linalg.inv(problem.products[np.ix_(inside, inside)]), np.float64)
        coefficients = inverse @ problem.moments[inside]
        held = np.flatnonzero(members[size + 1])
        groups = problem.groups[inside]
        costs = [_gain(inverse, coefficients, np.flatnonzero(groups == g)) for g in held]
        members[size] = members[size + 1]
        members[size, held[np.argmin(costs)]] = False
        rss[size] = rss[size + 1] + min(costs)
    rss[0] = problem.total
    return Subsets(members[: largest + 1], rss[: largest + 1], n_groups, is_complete=True)


def best(problem: LeastSquares, largest: int, *, max_nodes: int) -> Subsets:
    """Search all subsets of each size by leaps and bounds."""
    first, second = forward(problem, largest), backward(problem, largest)
    is_first = first.rss <= second.rss
    members = np.where(is_first[:, None], first.members, second.members)
    # rounding of the stepwise sums must not hide a subset that is as good
    rss = np.array([problem.rss(one) for one in members]) * (1 + 1e-10)
    return best_subsets(
        problem.products,
        problem.moments,
        problem.total,
        problem.groups,
        largest=largest,
        candidates=(members, rss),
        max_nodes=max_nodes,
    )


def _gain(products: Floats, moments: Floats, block: Index) -> float:
    """Compute m' P⁻¹ m for a block of columns: what entering lowers, or leaving raises, the sum."""
    if len(block) == 1:
        size = float(products[block[0], block[0]])
        return float(moments[block[0]]) ** 2 / size if size > 0 else 0.0
    part = moments[block]
    solved, *_ = np.linalg.lstsq(products[np.ix_(block, block)], part, rcond=None)
    return float(part @ solved)
