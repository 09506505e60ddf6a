"""Settings that a fit chooses on held-out rows: trees of boosting, rows of a leaf of a forest."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import Setting, bad_value

if TYPE_CHECKING:
    from clearwood.models.entries.entry import Entry, Job

__all__ = [
    "MANY_ROWS",
    "MORE",
    "QUICK_RATE",
    "Options",
    "Rows",
    "Stages",
    "best_stage",
    "checked_rate",
    "fit_boosting",
    "useful_folds",
    "with_best_leaves",
    "with_best_trees",
]


Options = Mapping[str, Any]

#: What all of these libraries call the learning rate.
_RATE = "learning_rate"

#: Trees without any gain on held-out rows after which growing ends, and the most that are grown
#: while their number is chosen.
PATIENCE = 50
_MOST_TREES = 1_000
#: From so many rows on, a tenth of them held out shows the best number of trees; with fewer rows
#: that is too noisy, and they are held out in turn.
MANY_ROWS = 10_000
_SHARE = 0.1
_FOLDS = 5
_LEAST_ROWS = 20
#: All rows bear somewhat more trees than those that were left after holding some out.
MORE = 1.1
#: Trees are grown at this learning rate at least while their number is chosen. What counts is the
#: number times the rate, so that few trees at a high rate show how many it takes at a low one.
QUICK_RATE = 0.15
#: Trees grown before the first look at the held-out loss, and then between two looks; and those
#: without any gain after which growing ends, here.
_FIRST_LOOK = 50
_NEXT_LOOK = 25
_SHORT_PATIENCE = 25
#: A loss that is larger by this share is as good, and takes fewer trees.
_TOLERANCE = 0.0005


@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded rows with their target, and weights if they have any."""

    X: Floats
    y: NDArray[Any]
    weight: Floats | None = None

    def take(self, rows: Index) -> "Rows":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Rows(self.X[rows], self.y[rows], weight)

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(len(self.y) if self.weight is None else self.weight.sum())


@dataclass(frozen=True)
class Stages:
    """How a library's boosted models grow, stop early and predict with fewer trees.

    Parameters
    ----------
    setting
        What it calls the number of trees.
    validating
        From an estimator, validation rows and a patience: parameters of the estimator, and options
        of its ``fit``.
    trees
        How many trees (rounds, with several classes) a fitted estimator has.
    losses
        The loss of a fitted estimator on the validation rows after each of the last trees grown.
    continuing
        From a new estimator and one that is fitted to the same rows: the estimator whose ``fit``,
        with the options, adds the trees of the new one to the fitted one.
    at
        Predictions of an estimator with its first so many trees, for each of some rising numbers:
        of rows, as probabilities or as numbers.
    """

    setting: str
    validating: Callable[[Any, Rows, int], tuple[Options, Options]]
    trees: Callable[[Any], int]
    losses: Callable[[Any], Floats]
    continuing: Callable[[Any, Any], tuple[Any, Options]]
    at: Callable[[Any, Floats, Sequence[int], bool], Iterator[Floats]]


def fit_boosting(
    entry: "Entry",
    job: "Job",
    rows: Rows,
    validation: Rows,
    *,
    patience: int = PATIENCE,
    grown: Any = None,
) -> Any:
    """Fit a boosted model until more trees no longer help on validation rows.

    With ``grown``, an estimator that was fitted to the same rows, more trees are added to it.
    """
    assert entry.stages is not None
    estimator = entry.build(job)
    options = dict(entry.fit_options(job)) if entry.fit_options else {}
    if grown is not None:
        estimator, more = entry.stages.continuing(estimator, grown)
        options.update(more)
    if len(validation.y):
        params, more = entry.stages.validating(estimator, validation, patience)
        estimator.set_params(**params)
        options.update(more)
    if rows.weight is not None:
        options["sample_weight"] = rows.weight
    return estimator.fit(rows.X, rows.y, **options)


def with_best_trees(entry: "Entry", job: "Job", rows: Rows, groups: NDArray[Any] | None) -> "Job":
    """Return the job with the number of trees that is best on held-out rows.

    Below `MANY_ROWS` the rows are held out in turn, in five folds that grow in step: the number is
    where the loss on the held-out rows of all folds together is smallest. From there on, one tenth
    of the rows is held out. The caller fits all rows with that number, and a tenth more as there
    are more rows to learn from: so no row is lost, and the model is an ordinary one.

    Rows of one group are held out together.
    """
    stages = entry.stages
    assert stages is not None
    rate = checked_rate(job.settings[_RATE])
    folds = list(useful_folds(rows, groups, job))
    if not folds:
        return job
    quick_rate = max(rate, QUICK_RATE)
    quick = replace(job, settings={**job.settings, _RATE: quick_rate})
    growing = [_Growing(entry, quick, rows.take(train), rows.take(test)) for train, test in folds]
    total = sum(one.held_out.total for one in growing)
    count = step = _FIRST_LOOK
    while True:
        for one in growing:
            one.grow(step)
        pooled = sum(one.losses * (one.held_out.total / total) for one in growing)
        best = best_stage(np.asarray(pooled))
        if best + _SHORT_PATIENCE <= count or count >= _MOST_TREES:
            break
        step = min(max(_NEXT_LOOK, count // 4), _MOST_TREES - count)
        count += step
    number = math.ceil(MORE * best * quick_rate / rate)
    return replace(job, settings={**job.settings, stages.setting: number})


def best_stage(losses: Floats) -> int:
    """Return after how many trees the loss is as good as at its best.

    Examples
    --------
    >>> best_stage(np.array([3.0, 2.0, 1.0, 1.5])), best_stage(np.array([3.0, 2.0, 1.99999]))
    (3, 2)
    """
    return int(np.argmax(losses <= _nearly(float(np.min(losses))))) + 1


def checked_rate(rate: Any) -> float:
    """Return the learning rate, by which the number of trees is divided."""
    is_number = isinstance(rate, int | float | np.integer | np.floating)
    if not is_number or isinstance(rate, bool) or not 0 < rate < math.inf:
        raise bad_value(_RATE, rate, "it must be a number above 0", kind=Setting)
    return float(rate)


def _nearly(loss: float) -> float:
    """Return a loss that is as good; those without a constant, such as Poisson's, may be negative.

    Where there is little noise the loss falls for ever by less and less, and the model would grow
    without becoming any better.
    """
    return loss + _TOLERANCE * max(loss, 0.0)


class _Growing:
    """A boosted model that grows on the rows of one fold, with its loss on those held out."""

    def __init__(self, entry: "Entry", job: "Job", rows: Rows, held_out: Rows) -> None:
        self.entry, self.job, self.rows, self.held_out = entry, job, rows, held_out
        self.model: Any = None
        self.losses: Floats = np.zeros(0)

    def grow(self, count: int) -> None:
        """Add trees; where no more can be added, the loss stays as it is."""
        stages = self.entry.stages
        assert stages is not None
        job = replace(self.job, settings={**self.job.settings, stages.setting: count})
        self.model = fit_boosting(
            self.entry, job, self.rows, self.held_out, patience=_MOST_TREES, grown=self.model
        )
        new = stages.losses(self.model)[-count:]
        self.losses = np.concatenate([self.losses, new, np.full(count - len(new), new[-1])])


def useful_folds(
    rows: Rows, groups: NDArray[Any] | None, job: "Job"
) -> Iterator[tuple[Index, Index]]:
    """Yield folds of rows that count, without those that show nothing.

    Where every target that is left to fit is the same, such as no event at all, there is nothing to
    learn, and some libraries refuse; likewise where no event is held out. Where every row held out
    is of one class, more trees always seem better.
    """
    counts = np.ones(len(rows.y), bool) if rows.weight is None else rows.weight > 0
    if np.count_nonzero(counts) < _LEAST_ROWS:
        return
    folds = [(train, test[counts[test]]) for train, test in _folds(rows.y, groups, job)]
    held_out = np.concatenate([test for _, test in folds] or [np.zeros(0, np.intp)])
    if job.task.is_classification and len(np.unique(rows.y[held_out])) < 2:
        return
    needs_events = job.task in ("count", "amount")
    for train, test in folds:
        shows_any = rows.y[test].any() if needs_events else len(test) > 0
        if shows_any and len(np.unique(rows.y[train[counts[train]]])) > 1:
            yield train, test


def _folds(
    y: NDArray[Any], groups: NDArray[Any] | None, job: "Job"
) -> Iterator[tuple[Index, Index]]:
    """Return rows to fit and rows to hold out; every class stays among those that are fitted."""
    n = len(y)
    rng = np.random.default_rng(job.seed)
    order = rng.permutation(n)
    if job.task.is_classification and groups is None:
        order = order[np.argsort(y[order], kind="stable")]  # equal shares of a class in each fold
    # a group counts where it is first met
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    first = np.unique(unit[order], return_index=True)[1]
    ranks = np.empty(len(first), dtype=np.intp)
    ranks[np.argsort(first)] = np.arange(len(first))
    kept = np.zeros(n, dtype=bool)
    if job.task.is_classification:
        kept[order[np.unique(y[order], return_index=True)[1]]] = True
    count = _FOLDS if n < MANY_ROWS else round(1 / _SHARE)
    for fold in range(count if n < MANY_ROWS else 1):
        held_out = (ranks[unit] % count == fold) & ~kept
        if n < _LEAST_ROWS or not held_out.any() or held_out.all():
            continue
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


# Leaves of forests of counts and amounts
#
# The mean of a leaf is as noisy as its targets, and the noise of counts and amounts differs by
# orders of magnitude: between the prices of diamonds and the cost of claims it is the difference
# between leaves of one row and leaves of fifty.


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
    from clearwood.models.shared.response import FAMILIES, FamilyName

    options = {} if rows.weight is None else {"sample_weight": rows.weight}
    model = entry.build(job).fit(rows.X, rows.y, **options)
    weight = np.ones(len(held_out.y)) if held_out.weight is None else held_out.weight
    least = _LEAST_MEAN * float(np.average(rows.y, weights=rows.weight))
    score = np.log(np.maximum(model.predict(held_out.X), least))
    family: FamilyName = "poisson" if job.task == "count" else "tweedie" if job.zeros else "gamma"
    return float(weight @ FAMILIES[family].deviance(held_out.y, score))
