"""Sums over rows of components and of their squares, from which variances follow."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.game import BoundGame, Players
from clearwood.explanation.games.moments import Moments
from clearwood.explanation.rows.rows import Rows

__all__ = ["Sums", "sums_of", "target_of"]


@dataclass(frozen=True, eq=False)
class Sums:
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
    def nothing(cls, n_sets: int, n_outputs: int) -> "Sums":
        """Return the sums over no rows."""
        return cls(np.zeros((n_sets + 2, n_outputs)), np.zeros((n_sets + 2, n_outputs)), 0.0)

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.first + other.first, self.second + other.second, self.weight + other.weight
        )

    def moments(self) -> Moments:
        """Return the variances."""
        mean = self.first / self.weight
        variance = np.maximum(self.second / self.weight - mean**2, 0.0)
        return Moments(variance[:-2], variance[-2], variance[-1])


def target_of(bound: BoundGame, rows: Rows, kept: Players | None) -> Floats:
    """Compute what all components of any order add up to: the prediction, or what is left.

    With some players removed, ``kept`` are the others, and it is the partial dependence on them.
    """
    if kept is None:
        return bound.game.predict(rows, n_jobs=bound.n_jobs)
    return bound.dependence(rows, kept).values


def sums_of(
    bound: BoundGame,
    rows: Rows,
    weights: Floats | None,
    sets: Sequence[Players],
    *,
    is_complete: bool,
    kept: Players | None = None,
    step: Step = silent,
) -> Sums:
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
    total = Sums.nothing(n_sets, len(bound.baseline))
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
    return Sums(total.first, total.second, float(weight.sum()))
