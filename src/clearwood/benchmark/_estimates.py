"""From losses of rows to risks with intervals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from clearwood.benchmark._local import Interval, naive_interval, nested_interval
from clearwood.benchmark._work import Array, Context, Outcome, Rows, Unit

__all__ = ["LossesOf", "interval_of", "losses_of"]


@dataclass(frozen=True)
class LossesOf:
    """The losses of one learner, or the differences of two, split by split.

    Parameters
    ----------
    outer
        (repeat, fold) → losses of the rows of that fold, under the fit without it.
    pairs
        (repeat, j, k) → losses of the rows of fold j, under the fit without j and k.
    rows
        (repeat, fold) → which rows these are.
    """

    outer: Mapping[tuple[int, int], Array] = field(default_factory=dict)
    pairs: Mapping[tuple[int, int, int], Array] = field(default_factory=dict)
    rows: Mapping[tuple[int, int], Rows] = field(default_factory=dict)

    def __sub__(self, other: "LossesOf") -> "LossesOf":
        """Row by row; rows that are hard for both cancel."""
        return LossesOf(
            {key: self.outer[key] - other.outer[key] for key in self.outer if key in other.outer},
            {key: self.pairs[key] - other.pairs[key] for key in self.pairs if key in other.pairs},
            {key: self.rows[key] for key in self.outer if key in other.outer},
        )


def losses_of(found: Iterable[tuple[Unit, Outcome]]) -> LossesOf:
    """Sort the outcomes of one learner's units by split; failures leave gaps."""
    outer: dict[tuple[int, int], Array] = {}
    pairs: dict[tuple[int, int, int], Array] = {}
    rows: dict[tuple[int, int], Rows] = {}
    for unit, outcome in found:
        if outcome.losses is None:
            continue
        if unit.purpose == "outer":
            outer[unit.repeat, unit.fold] = outcome.losses
            rows[unit.repeat, unit.fold] = unit.test
        elif unit.purpose == "pair":
            first, second = outcome.losses[: unit.first], outcome.losses[unit.first :]
            pairs[unit.repeat, unit.fold, unit.other] = first
            pairs[unit.repeat, unit.other, unit.fold] = second
    order = sorted(outer)
    return LossesOf({key: outer[key] for key in order}, pairs, {key: rows[key] for key in order})


def interval_of(
    losses: LossesOf,
    *,
    kind: str,
    confidence: float,
    context: Context,
) -> Interval | None:
    """The risk with its interval; None where no fold succeeded."""
    if not losses.outer:
        return None
    together = np.concatenate(list(losses.outer.values()))
    rows = np.concatenate(list(losses.rows.values()))
    weights = context.table.weights
    of_rows = None if weights is None else weights[rows]
    repeats = sorted({repeat for repeat, _ in losses.outer})
    if kind == "nested":
        outer = [
            [loss for (r, _), loss in losses.outer.items() if r == repeat] for repeat in repeats
        ]
        pairs = [
            {(j, k): loss for (r, j, k), loss in losses.pairs.items() if r == repeat}
            for repeat in repeats
        ]
        folds = len(outer[0])
        if all(
            len(o) == folds and len(p) == folds * (folds - 1)
            for o, p in zip(outer, pairs, strict=True)
        ):
            return nested_interval(outer, pairs, confidence=confidence)
    return naive_interval(together, of_rows, confidence)
