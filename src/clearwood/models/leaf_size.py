"""Forests of counts and amounts: how many rows a leaf needs, chosen on held-out rows.

The mean of a leaf is as noisy as its targets, and the noise of counts and amounts differs by orders
of magnitude: between the prices of diamonds and the cost of claims it is the difference between
leaves of one row and leaves of fifty.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood.models.entries.stages import Rows, useful_folds
from clearwood.models.shared.response import FAMILIES, FamilyName

if TYPE_CHECKING:
    from clearwood.models.entries.entry import Entry, Job

__all__ = ["with_best_leaves"]

#: Targets above zero that a leaf has on average; the least loss decides among them.
_EVENTS = (1, 5, 15, 40)
#: Trees of a forest whose loss is compared. Fewer would ask for larger leaves.
_TREES = 30
#: The choice is made on so many rows at most.
_MOST_ROWS = 20_000
#: A mean of rows without events is taken for so much of the overall mean.
_LEAST_MEAN = 1e-6


def with_best_leaves(entry: "Entry", job: "Job", rows: Rows, groups: NDArray[Any] | None) -> "Job":
    """Return the job with the least number of rows of a leaf that is best on held-out rows.

    Rows of one group are held out together. Where nothing can be held out, the job stays as it is.
    """
    assert entry.leaf_rows is not None
    if len(rows.y) > _MOST_ROWS:
        chosen = np.random.default_rng(job.seed).permutation(len(rows.y))[:_MOST_ROWS]
        rows, groups = rows.take(chosen), None if groups is None else groups[chosen]
    share = float(np.mean(rows.y > 0))
    folds = list(useful_folds(rows, groups, job))
    if not folds:
        return job
    largest = min(len(train) for train, _ in folds) // 4
    losses: dict[int, float] = {}

    def loss(events: int) -> float:
        size = min(math.ceil(events / share), largest)
        if size not in losses:
            one = _with(entry, job, size, n_estimators=_TREES)
            parts = ((rows.take(train), rows.take(test)) for train, test in folds)
            losses[size] = sum(_held_out_loss(entry, one, *pair) for pair in parts)
        return losses[size]

    # the loss falls and then rises with the size: one of the ends need not be tried
    fewest, few, more, most = _EVENTS
    loss(most if loss(more) < loss(few) else fewest)
    return _with(entry, job, min(losses, key=losses.__getitem__))


def _with(entry: "Entry", job: "Job", size: int, **settings: Any) -> "Job":
    """Return the job with leaves of at least so many rows."""
    assert entry.leaf_rows is not None
    return replace(job, settings={**job.settings, entry.leaf_rows: size, **settings})


def _held_out_loss(entry: "Entry", job: "Job", rows: Rows, held_out: Rows) -> float:
    """Return the sum of the deviance of held-out rows."""
    options = {} if rows.weight is None else {"sample_weight": rows.weight}
    model = entry.build(job).fit(rows.X, rows.y, **options)
    weight = np.ones(len(held_out.y)) if held_out.weight is None else held_out.weight
    least = _LEAST_MEAN * float(np.average(rows.y, weights=rows.weight))
    score = np.log(np.maximum(model.predict(held_out.X), least))
    family: FamilyName = "poisson" if job.task == "count" else "tweedie" if job.zeros else "gamma"
    return float(weight @ FAMILIES[family].deviance(held_out.y, score))
