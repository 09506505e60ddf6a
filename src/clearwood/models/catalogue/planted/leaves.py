"""Planted leaves as curves of one column and as trees of several."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.kernels import PlantedLeaves
from clearwood.models.shared.binning import Binned
from clearwood.models.shared.chains import chains
from clearwood.models.shared.conditions import Among, Between, Condition, Rule
from clearwood.models.shared.score import Link, ProductTerm, ScoreParts, SumOfProducts

__all__ = ["Steps", "parts_of_leaves"]

# Training rows that tell how much weight a node has.
_ROWS_COUNTED = 500


@dataclass(frozen=True, eq=False)
class Steps:
    """Step functions of a column, one for each output.

    Parameters
    ----------
    edges
        Thresholds between bins: a value up to ``edges[b]`` is in bin b or below. Empty for codes.
    table
        Of shape (bins or codes, outputs), and last what missing values and unseen levels have.
    has_codes
        Whether the column holds category codes.

    Examples
    --------
    >>> steps = Steps(np.array([2.0]), np.array([[1.0], [5.0], [0.0]]), has_codes=False)
    >>> steps(np.array([2.0, 3.0, np.nan])).ravel()
    array([1., 5., 0.])
    """

    edges: Floats
    table: Floats
    has_codes: bool

    def __call__(self, values: Floats) -> Floats:
        """Look up the step of each value, of shape (rows, outputs)."""
        last = len(self.table) - 1
        if self.has_codes:
            known = (values >= 0) & (values < last)  # False where missing
            place = np.where(known, values, last).astype(np.intp)
        else:
            place = np.searchsorted(self.edges, values, side="left")
            place = np.where(np.isnan(values), last, place)
        return np.asarray(self.table[place])


def parts_of_leaves(
    leaves: PlantedLeaves,
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
    *,
    n_families: int,
    link: Link,
    X: Floats,
    weight: Floats,
) -> ScoreParts:
    """Describe the mean of all families as a constant, curves of one column, and trees.

    Parameters
    ----------
    leaves, binned
        The leaves, and the bins they are made of.
    ranks
        For each column of categories, the place of each code in the order of the bins, from 1 on;
        None for columns of numbers.
    n_families
        How many families the leaves are of.
    link
        Turns the score into the prediction.
    X, weight
        Training rows, some of which count the weight of nodes.
    """
    n_sides = (leaves.column >= 0).sum(axis=1)
    value = leaves.value / n_families
    constant = value[n_sides == 0].sum(axis=0)
    terms = _curves(leaves, value, n_sides == 1, binned, ranks)
    rules, coefficients = _rules(leaves, value, n_sides > 1, binned, ranks)
    some = np.linspace(0, len(X) - 1, min(len(X), _ROWS_COUNTED)).round().astype(np.intp)
    share = weight[some] * (weight.sum() / max(weight[some].sum(), 1e-300))
    trees = chains(rules, coefficients, X[some], share)
    return ScoreParts(SumOfProducts(constant, terms), trees, link)


def _curves(
    leaves: PlantedLeaves,
    value: Floats,
    chosen: Bools,
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
) -> tuple[ProductTerm, ...]:
    """Add up the leaves of single columns as one step function each."""
    n_outputs = value.shape[1]
    terms = []
    for column in np.unique(leaves.column[chosen, 0]):
        mine = np.flatnonzero(chosen & (leaves.column[:, 0] == column))
        n_bins = int(binned.n_bins[column])
        jumps = np.zeros((n_bins + 1, n_outputs))
        np.add.at(jumps, leaves.low[mine, 0], value[mine])
        np.add.at(jumps, leaves.high[mine, 0], -value[mine])
        steps = np.cumsum(jumps, axis=0)[:n_bins]
        order = ranks[column]
        if order is not None:
            steps = steps[order - 1]
        missing = value[mine][leaves.missing[mine, 0]].sum(axis=0)
        basis = Steps(binned.edges[column], np.vstack([steps, missing]), order is not None)
        terms.append(ProductTerm((int(column),), (basis,), np.eye(n_outputs)))
    return tuple(terms)


def _rules(
    leaves: PlantedLeaves,
    value: Floats,
    chosen: Bools,
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
) -> tuple[list[Rule], Floats]:
    """Return the leaves of several columns as rules; equal ones are added up."""
    order = np.argsort(np.where(leaves.column < 0, len(binned.n_bins), leaves.column), axis=1)
    sides = [
        np.take_along_axis(part, order, axis=1)[chosen].astype(np.int32)
        for part in (leaves.column, leaves.low, leaves.high, leaves.missing)
    ]
    if not chosen.any():
        return [], np.zeros((0, value.shape[1]))
    distinct, place = np.unique(np.hstack(sides), axis=0, return_inverse=True)
    coefficients = np.zeros((len(distinct), value.shape[1]))
    np.add.at(coefficients, place.ravel(), value[chosen])
    rules = []
    for row in distinct.reshape(len(distinct), 4, -1):
        conditions = {
            int(column): _condition(binned, ranks, int(column), int(low), int(high), bool(missing))
            for column, low, high, missing in row.T
            if column >= 0
        }
        rules.append(Rule(conditions))
    return rules, coefficients


def _condition(
    binned: Binned,
    ranks: Sequence[NDArray[np.intp] | None],
    column: int,
    low: int,
    high: int,
    missing: bool,  # noqa: FBT001 - one of four bounds, in their order
) -> Condition:
    """Write a side of a leaf on the column's own scale."""
    order = ranks[column]
    if order is not None:
        return Among(np.append((order > low) & (order <= high), missing))
    n_bins, edges = int(binned.n_bins[column]), binned.edges[column]
    below = -np.inf if low == 0 else np.inf if low >= n_bins else float(edges[low - 1])
    above = np.inf if high >= n_bins else float(edges[high - 1])
    return Between(below, above, missing=missing)
