"""Peeling and pasting: a box shrinks slowly towards rows with a high mean, then grows back."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.models.shared.conditions import Among, Between, Rule

__all__ = ["Hunt", "mean_and_error"]


def mean_and_error(y: Floats, weight: Floats, variance: float | None = None) -> tuple[float, float]:
    """Return the weighted mean of some rows and its standard error; infinite for a single row.

    Parameters
    ----------
    y, weight
        The rows.
    variance
        What counts where all rows are the same: in a few rows of counts or classes that is luck,
        not certainty. The error is infinite where it is not known.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 3.0]), np.ones(2))
    (2.0, 1.0)
    >>> mean_and_error(np.ones(16), np.ones(16), variance=0.25)
    (1.0, 0.125)
    """
    total = float(weight.sum())
    if total <= 0:
        return float("nan"), float("inf")
    mean = float(weight @ y / total)
    if len(y) < 2 or total <= 1:
        return mean, float("inf")
    own = float(weight @ (y - mean) ** 2) / (total - 1) or variance
    return mean, float(np.sqrt(own / total)) if own else float("inf")


@dataclass(frozen=True, eq=False)
class Hunt:
    """Rows among which a box is sought, with a target whose mean should be high in it.

    Parameters
    ----------
    X, y, weight
        Rows, targets and weights.
    levels
        The number of levels of each column of codes; 0 for columns of numbers.
    alpha
        The share of a box that is peeled off at a time.
    least
        The smallest weight of a box.
    """

    X: Floats
    y: Floats
    weight: Floats
    levels: NDArray[np.int32]
    alpha: float
    least: float

    def peel(self, start: Rule) -> list[Rule]:
        """Shrink a box until it is as small as allowed; return every box on the way."""
        boxes = [start]
        inside = start(self.X)
        while True:
            best = self._best_peel(boxes[-1], inside)
            if best is None:
                return boxes
            boxes.append(best)
            inside = best(self.X)

    def paste(self, box: Rule) -> Rule:
        """Enlarge a box at one of its sides as long as its mean rises."""
        while True:
            inside = box(self.X)
            mean = self._mean(inside)
            best, chosen = mean, None
            for larger in self._pasted(box, inside):
                held = larger(self.X)
                if held.sum() > inside.sum() and self._mean(held) > best:
                    best, chosen = self._mean(held), larger
            if chosen is None:
                return box
            box = chosen

    def _mean(self, inside: Bools) -> float:
        return float(np.average(self.y[inside], weights=self.weight[inside]))

    def _best_peel(self, box: Rule, inside: Bools) -> Rule | None:
        """Return the box, a little smaller, whose mean rises most for the rows that it loses.

        By the mean alone a level or a tied value with many rows would win over a patient step.
        None if no smaller box is large enough.
        """
        best, chosen = -np.inf, None
        total, now = float(self.weight[inside].sum()), self._mean(inside)
        for column, condition in self._peels(inside):
            kept = inside & condition(self.X[:, column])
            size = float(self.weight[kept].sum())
            if size < self.least or size >= total:
                continue
            gain = self._mean(kept) - now
            rate = gain / (total - size) if gain > 0 else gain
            if rate > best:
                best, chosen = rate, box.joined(column, condition)
        return chosen

    def _peels(self, inside: Bools) -> Iterator[tuple[int, Between | Among]]:
        """List the conditions that would leave out a small share of the rows of a box."""
        for column in range(self.X.shape[1]):
            values, weight = self.X[inside, column], self.weight[inside]
            missing = np.isnan(values)
            if self.levels[column]:
                codes = np.where(missing, self.levels[column], values).astype(np.intp)
                for code in np.unique(codes):
                    member = np.ones(self.levels[column] + 1, bool)
                    member[code] = False
                    yield column, Among(member)
                continue
            if missing.any() and not missing.all():
                yield column, Between(-np.inf, np.inf, missing=False)
            known = values[~missing]
            if len(known) < 2:
                continue
            order = np.argsort(known, kind="stable")
            ranked, share = known[order], np.cumsum(weight[~missing][order])
            cut = self.alpha * share[-1]
            low = ranked[min(np.searchsorted(share, cut), len(ranked) - 1)]
            if low < ranked[-1]:
                yield column, Between(float(low), np.inf, missing=True)
            high = ranked[max(np.searchsorted(share, share[-1] - cut), 0)]
            below = ranked[ranked < high]
            if len(below):
                yield column, Between(-np.inf, float(below[-1]), missing=True)

    def _pasted(self, box: Rule, inside: Bools) -> Iterator[Rule]:
        """List boxes that are larger at one side, by a small share of the rows."""
        room = self.alpha * float(self.weight[inside].sum())
        for column, condition in box.conditions.items():
            rest = Rule({k: v for k, v in box.conditions.items() if k != column})
            beside = rest(self.X) & ~inside
            values, weight = self.X[beside, column], self.weight[beside]
            if isinstance(condition, Among):
                for code in np.flatnonzero(~condition.member):
                    member = condition.member.copy()
                    member[code] = True
                    yield self._with(rest, column, Among(member))
                continue
            if not condition.missing and np.isnan(values).any():
                yield self._with(rest, column, Between(condition.low, condition.high, missing=True))
            for is_low in (True, False):
                outside = values <= condition.low if is_low else values > condition.high
                if not outside.any():
                    continue
                sign = -1.0 if is_low else 1.0
                order = np.argsort(sign * values[outside], kind="stable")
                reached = int(np.searchsorted(np.cumsum(weight[outside][order]), room))
                last = float(values[outside][order][min(reached, len(order) - 1)])
                low, high = condition.low, condition.high
                if is_low:
                    smaller = self.X[self.X[:, column] < last, column]
                    low = float(smaller.max()) if len(smaller) else -np.inf
                else:
                    high = last
                yield self._with(rest, column, Between(low, high, missing=condition.missing))

    def _with(self, rest: Rule, column: int, condition: Between | Among) -> Rule:
        """Add a condition to a box, unless it allows every value."""
        if isinstance(condition, Between):
            free = np.isinf(condition.low) and np.isinf(condition.high) and condition.missing
            if not free and condition.high >= np.nanmax(self.X[:, column]):
                condition = Between(condition.low, np.inf, missing=condition.missing)
                free = np.isinf(condition.low) and condition.missing
        else:
            free = bool(condition.member.all())
        return rest if free else Rule({**rest.conditions, column: condition})
