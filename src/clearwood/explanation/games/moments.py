"""Variances of components over a background, those of sampled ones without the sample's noise.

The sampled component at x is the mean of numbers g(x, b) over drawn rows b. The variance over x of
these means holds the variance of the component and, on top, the noise that the draw of b leaves in
each mean: the part of the spread of g(x, b) over b that differs from x to x, divided by the number
of rows b. That part is estimated and taken away, as in an analysis of variance of two crossed
factors. What is left is unbiased but for negative values, which become zero; leaving out a tenth of
either kind of rows at a time shows how far it can be off.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.game import BoundGame, Players
from clearwood.explanation.rows.rows import EncodedRows

__all__ = [
    "ComponentMoments",
    "ComponentSums",
    "Cross",
    "crossed",
    "sums_of",
    "target_of",
    "variances",
]

#: Parts into which either kind of rows is divided; each is left out once.
GROUPS = 10


@dataclass(frozen=True, eq=False)
class ComponentMoments:
    """Variances over the background.

    Parameters
    ----------
    variance
        Of each component: (components, outputs).
    remainder
        Of what no component holds: (outputs,).
    prediction
        Of all components together, the remainder included: (outputs,).
    replicates
        Where they are estimated: the variances of the components and, last, of the remainder, with
        groups of rows left out; of shape (groups, components + 1, outputs).
    """

    variance: Floats
    remainder: Floats
    prediction: Floats
    replicates: Floats | None = None


@dataclass(frozen=True, eq=False)
class Cross:
    """Rows at which components are measured, and rows that stand in for other columns.

    Parameters
    ----------
    at, over
        Positions among the drawn rows.
    at_weights, over_weights
        Their weights; each sum to one.
    left
        The share of the user's rows that is not among those averaged over: 0 means no noise.
    n_rows
        How many rows the user has.
    """

    at: NDArray[np.intp]
    over: NDArray[np.intp]
    at_weights: Floats
    over_weights: Floats
    left: float
    n_rows: int

    @property
    def is_whole(self) -> bool:
        """Whether all of the user's rows are in both places, so that nothing is estimated."""
        return len(self.at) == len(self.over) == self.n_rows

    def thinned(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """List which rows stay when each group is left out: first of ``over``, then of ``at``."""
        all_at, all_over = np.ones(len(self.at), bool), np.ones(len(self.over), bool)
        for group in range(GROUPS):
            yield all_at, np.arange(len(self.over)) % GROUPS != group
        for group in range(GROUPS):
            yield np.arange(len(self.at)) % GROUPS != group, all_over


def crossed(weights: Floats, n_at: int, n_over: int, n_rows: int, seed: int) -> Cross:
    """Divide drawn rows into those at which components are measured and those that stand in.

    They are different rows, since a row that stands in for itself changes nothing; unless all of
    the user's rows are wanted in both places, which is then no estimate.
    """
    n_drawn = len(weights)
    if n_at == n_over == n_drawn:
        everyone = np.arange(n_drawn)
        share = weights / weights.sum()
        return Cross(everyone, everyone, share, share, 1 - n_drawn / n_rows, n_rows)
    order = np.random.default_rng(seed).permutation(n_drawn)
    over, at = np.sort(order[:n_over]), np.sort(order[n_over : n_over + n_at])
    return Cross(
        at,
        over,
        weights[at] / weights[at].sum(),
        weights[over] / weights[over].sum(),
        1 - n_over / n_rows,
        n_rows,
    )


def variances(each: Sequence[Callable[[], Floats]], cross: Cross) -> tuple[Floats, Floats | None]:
    """Compute the variance of every component, and the same with each group of rows left out.

    ``each`` gives g(x, b) of every component, of shape (rows at, rows over, outputs). The result
    has the shape (components, outputs); its replicates (2 · GROUPS, components, outputs), or None
    where all of the user's rows were used and nothing is estimated.
    """
    result, again = [], []
    kept = [] if cross.is_whole else list(cross.thinned())
    for give in each:
        numbers = give()
        result.append(_variance(numbers, cross.at_weights, cross.over_weights, cross))
        again.append(
            [
                _variance(
                    numbers[at][:, over],
                    cross.at_weights[at],
                    cross.over_weights[over],
                    cross,
                )
                for at, over in kept
            ]
        )
    if not kept:
        return np.array(result), None
    return np.array(result), np.array(again).transpose(1, 0, 2)


def _variance(numbers: Floats, at: Floats, over: Floats, cross: Cross) -> Floats:
    at, over = at / at.sum(), over / over.sum()
    mean = np.einsum("b,abo->ao", over, numbers)
    overall = at @ mean
    spread = at @ (mean - overall) ** 2
    if cross.left > 0 and len(over) > 1:
        own = numbers - mean[:, None] - np.einsum("a,abo->bo", at, numbers) + overall
        few = len(over) / (len(over) - 1)
        spread = spread - cross.left * few * np.einsum("a,b,abo->o", at, over**2, own**2)
    if len(at) < cross.n_rows and len(at) > 1:
        # of a sample to that of all rows
        spread = spread / (1 - (at**2).sum()) * (1 - 1 / cross.n_rows)
    return np.asarray(np.maximum(spread, 0.0))


@dataclass(frozen=True, eq=False)
class ComponentSums:
    """Weighted sums over rows; those of parts can be added.

    Parameters
    ----------
    first, second
        Of the values and of their squares, (components + 2, outputs): the components, then the
        remainder, then all together. They have mean zero or nearly, so squares lose nothing.
    weight
        The sum of the weights.
    """

    first: Floats
    second: Floats
    weight: float

    @classmethod
    def nothing(cls, n_sets: int, n_outputs: int) -> "ComponentSums":
        """Return the sums over no rows."""
        return cls(np.zeros((n_sets + 2, n_outputs)), np.zeros((n_sets + 2, n_outputs)), 0.0)

    def __add__(self, other: "ComponentSums") -> "ComponentSums":
        return ComponentSums(
            self.first + other.first, self.second + other.second, self.weight + other.weight
        )

    def moments(self) -> ComponentMoments:
        """Return the variances."""
        mean = self.first / self.weight
        variance = np.maximum(self.second / self.weight - mean**2, 0.0)
        return ComponentMoments(variance[:-2], variance[-2], variance[-1])


def target_of(bound: BoundGame, rows: EncodedRows, kept: Players | None) -> Floats:
    """Compute what all components of any order add up to: the prediction, or what is left.

    With some players removed, ``kept`` are the others, and it is the partial dependence on them.
    """
    if kept is None:
        return bound.game.predict(rows, n_jobs=bound.n_jobs)
    return bound.dependence(rows, kept).values


def sums_of(
    bound: BoundGame,
    rows: EncodedRows,
    weights: Floats | None,
    sets: Sequence[Players],
    *,
    is_complete: bool,
    kept: Players | None = None,
    step: Step = silent,
) -> ComponentSums:
    """Add up components over rows, few at a time.

    Parameters
    ----------
    bound
        The model with its background.
    rows, weights
        The rows; None for a weight of one each.
    sets
        The players of each component.
    is_complete
        Whether the components leave no remainder.
    kept
        The players that were not removed; None for all of them.
    step
        Called as rows are done.
    """
    n_sets = len(sets)
    total = ComponentSums.nothing(n_sets, len(bound.baseline))
    weight = np.ones(len(rows)) if weights is None else weights
    block = bound.rows_at_once(sets)
    for start in range(0, len(rows), block):
        part = rows.with_codes(rows.codes[start : start + block])
        share = weight[start : start + block]
        parts = bound.components(part, sets, step=step).values
        centred = target_of(bound, part, kept) - bound.baseline
        rest = np.zeros_like(centred) if is_complete else centred - parts.sum(axis=1)
        for at, values in ((slice(0, n_sets), parts), (-2, rest), (-1, centred)):
            total.first[at] += np.tensordot(share, values, 1)
            total.second[at] += np.tensordot(share, values**2, 1)
    return ComponentSums(total.first, total.second, float(weight.sum()))
