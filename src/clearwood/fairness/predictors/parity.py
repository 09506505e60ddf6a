"""Predictions that have the same distribution in every group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats, Index

__all__ = ["Barycentre", "barycentre_of"]


@dataclass(frozen=True, eq=False)
class Barycentre:
    """The distribution between those of the groups: the mean of their quantiles.

    A prediction that exceeds a share ``u`` of those of its own group becomes the mean over groups
    of the prediction that exceeds the share ``u`` there. Of all ways to give every group the same
    distribution, this one changes predictions least in the mean square (Chzhen and others 2020).
    Equal predictions stay equal, so where many are, the distributions agree up to these steps only.

    Parameters
    ----------
    values
        The predictions of each group, without repetition, in increasing order.
    ranks
        The share of the group that each of them exceeds, half of its equals included.
    shares
        The share of each group.

    Examples
    --------
    >>> groups = barycentre_of(np.array([1.0, 2.0, 3.0, 5.0]), np.array([0, 0, 1, 1]), np.ones(4))
    >>> groups.apply(np.array([1.0, 3.0, 5.0]), np.array([0, 1, 1]))
    array([2. , 2. , 3.5])
    """

    values: tuple[Floats, ...]
    ranks: tuple[Floats, ...]
    shares: Floats

    def apply(self, predicted: Floats, groups: Index) -> Floats:
        """Return predictions of rows of the groups as they are in the common distribution."""
        result = np.empty(len(predicted))
        for group, (values, ranks) in enumerate(zip(self.values, self.ranks, strict=True)):
            rows = groups == group
            rank = np.interp(predicted[rows], values, ranks)
            each = [np.interp(rank, r, v) for v, r in zip(self.values, self.ranks, strict=True)]
            result[rows] = np.average(each, axis=0, weights=self.shares)
        return result


def barycentre_of(
    predicted: Floats, groups: Index, weights: Floats, shares: Sequence[float] | None = None
) -> Barycentre:
    """Return the distribution between those of the groups.

    Parameters
    ----------
    predicted
        Of the rows.
    groups
        The group of each row, from 0 on; every group has a row that counts.
    weights
        How much each row counts.
    shares
        How much each group counts in the mean of quantiles; by default its share of the weight.
    """
    all_values, all_ranks, totals = [], [], []
    for group in range(int(groups.max()) + 1):
        rows = (groups == group) & (weights > 0)
        values, which = np.unique(predicted[rows], return_inverse=True)
        mass = np.bincount(which, weights[rows])
        totals.append(mass.sum())
        all_values.append(values)
        all_ranks.append((np.cumsum(mass) - mass / 2) / mass.sum())
    counts = np.asarray(totals if shares is None else shares, dtype=np.float64)
    return Barycentre(tuple(all_values), tuple(all_ranks), counts / counts.sum())
