"""Risks and their differences from losses that are read part by part."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.benchmarking.intervals.estimates import possible, without_rounding
from clearwood.evaluation import Interval, make_interval, summed_by_unit

__all__ = ["Block", "HeldOutRisks", "by_group", "risks_of"]


@dataclass(frozen=True, eq=False)
class Block:
    """Some independent units, rows or groups of them, that were held out.

    Parameters
    ----------
    losses
        Each unit's total of weight × loss, by learner.
    weights
        Each unit's total weight.
    """

    losses: Mapping[str, Floats]
    weights: Floats


@dataclass(frozen=True)
class _Mean:
    """A mean over held-out units, with its standard error."""

    mean: float
    se: float
    has_negative: bool


@dataclass(frozen=True, eq=False)
class HeldOutRisks:
    """Risks of learners, and the differences of every two, from losses of held-out rows.

    Parameters
    ----------
    n_units
        How many independent observations there are: rows of positive weight, or groups.
    is_grouped
        Whether they are groups.
    means
        Of the losses of each learner, and of the differences of every two.
    """

    n_units: int
    is_grouped: bool
    means: Mapping[tuple[str, ...], _Mean]

    def risk(self, learner: str, confidence: float) -> Interval | None:
        """Return the risk of a learner with its interval; None if it failed."""
        mean = self.means.get((learner,))
        if mean is None:
            return None
        return possible(self._interval(mean, confidence), has_negative=mean.has_negative)

    def gap(self, first: str, second: str, confidence: float) -> Interval | None:
        """Return the risk of one learner minus that of another, with its interval."""
        if first == second and (first,) in self.means:
            return self._interval(_Mean(0.0, 0.0, has_negative=False), confidence)
        if (first, second) in self.means:
            return self._interval(self.means[first, second], confidence)
        mean = self.means.get((second, first))
        if mean is None:
            return None
        return self._interval(replace(mean, mean=-mean.mean), confidence)

    def _interval(self, mean: _Mean, confidence: float) -> Interval:
        # as for rows in memory: Student's quantile for groups
        degrees = max(self.n_units - 1, 1) if self.is_grouped else None
        return make_interval(
            mean.mean, mean.se, "hold-out", self.n_units, confidence, degrees=degrees
        )


def risks_of(
    blocks: Callable[[], Iterable[Block]], names: Sequence[str], *, is_grouped: bool
) -> HeldOutRisks:
    """Average losses, and differences of losses, in two passes over the blocks.

    Parameters
    ----------
    blocks
        Reads the held-out units, some at a time; called twice, so that the variance is that of
        deviations from the mean, not a difference of large sums.
    names
        The learners.
    is_grouped
        Whether units are groups.
    """
    asked: list[tuple[str, ...]] = [(name,) for name in names]
    asked += combinations(names, 2)
    total = dict.fromkeys(asked, 0.0)
    lowest = dict.fromkeys(asked, np.inf)
    weight, n_units = 0.0, 0
    for block in blocks():
        weight += float(block.weights.sum())
        n_units += int(np.count_nonzero(block.weights))
        for key in asked:
            losses = _totals(block, key)
            total[key] += float(losses.sum())
            lowest[key] = min(lowest[key], float(losses.min(initial=np.inf)))
    squares = dict.fromkeys(asked, 0.0)
    for block in blocks():
        for key in asked:
            rest = _totals(block, key) - total[key] / weight * block.weights
            squares[key] += float(rest @ rest)
    scale = n_units / (n_units - 1) / weight**2 if n_units > 1 else np.nan
    means = {
        key: _Mean(total[key] / weight, float(np.sqrt(scale * squares[key])), lowest[key] < 0)
        for key in asked
    }
    return HeldOutRisks(n_units, is_grouped, means)


def _totals(block: Block, key: tuple[str, ...]) -> Floats:
    first = block.losses[key[0]]
    return first if len(key) == 1 else without_rounding(first, block.losses[key[1]])


def by_group(parts: Iterable[tuple[NDArray[np.uint64], Block]], names: Sequence[str]) -> Block:
    """Add up the losses of rows by their group, which may be in several parts."""
    pieces = (
        (units, np.column_stack([*(block.losses[name] for name in names), block.weights]))
        for units, block in parts
    )
    sums = summed_by_unit(pieces, len(names) + 1)
    return Block({name: sums[:, k] for k, name in enumerate(names)}, sums[:, -1])
