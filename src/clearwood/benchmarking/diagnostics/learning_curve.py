"""Risk against the number of training rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import bad_value
from clearwood._shared.numbers import interval, number, percent
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.fits import Candidate, candidate, judge_all
from clearwood.benchmarking.fitting.work import Rows
from clearwood.benchmarking.intervals.estimates import LossesOf, interval_of
from clearwood.evaluation import Interval
from clearwood.resampling import Plan, Split, default_plan, splits_of
from clearwood.table import Table

__all__ = ["LearningCurve", "learning_curve"]

_SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """Risk against the number of training rows.

    Parameters
    ----------
    learner, loss
        The learner, and the loss it is judged by.
    sizes
        Training rows.
    risk, se, low, high
        On test rows: the estimate, its standard error and its interval.
    training
        Mean loss on the training rows themselves; far below the risk where the learner overfits.
    interval
        The kind of the interval, see `Interval`.
    confidence
        Its level.
    fits
        How many fits each size is based on.
    is_weighted
        Whether rows count by their weight in the means.
    last_step
        By how much the risk falls from the last size but one to the last, with the interval of the
        paired difference; None with a single size.
    """

    learner: str
    loss: str
    sizes: NDArray[np.int64]
    risk: Floats
    se: Floats
    low: Floats
    high: Floats
    training: Floats
    interval: str
    confidence: float
    fits: int
    is_weighted: bool = False
    last_step: Interval | None = None

    def _columns(self) -> dict[str, list[Any]]:
        names = ("sizes", "risk", "se", "low", "high", "training")
        return {name: getattr(self, name).tolist() for name in names}

    def plot(self) -> Any:
        """Draw risk and training loss against the number of rows (Altair)."""
        from clearwood.plot import plot_learning

        return plot_learning(self)

    def __repr__(self) -> str:
        level = f"{percent(self.confidence)} interval ({self.interval})"
        loss = f"{'weighted ' if self.is_weighted else ''}{self.loss} loss"
        lines = [
            f"Learning curve of {self.learner!r}: {loss}, {self.fits} fits per size",
            f"{'rows':>8} {'risk':>10}  {level:26} {'training':>10}",
        ]
        for size, risk, low, high, training in zip(
            self.sizes, self.risk, self.low, self.high, self.training, strict=True
        ):
            lines.append(
                f"{size:8d} {number(risk, 4):>10}  {interval(low, high, 4):26} "
                f"{number(training, 4):>10}"
            )
        return "\n".join(lines)


def learning_curve(
    learner: Any,
    data: Any,
    *,
    sizes: Any = None,
    outer: int | str | Plan = 5,
    loss: str | None = None,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> LearningCurve:
    """Estimate the risk of a learner for growing numbers of training rows.

    In every outer split the learner is fitted to growing parts of the training rows (with every
    class in them, whole groups, or the most recent rows) and judged on the test rows. If the curve
    still falls at its end, more rows would help.

    Parameters
    ----------
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; it is not tuned.
    data
        A table with a target.
    sizes
        Training rows: whole numbers, or shares of the training rows of a split.
    outer
        How many folds, or a plan; see `default_plan`.
    loss
        The loss to judge by; by default that of the task.
    confidence
        The level of the intervals.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> curve = learning_curve("ols", cw.datasets.load("diabetes"), sizes=[20, 50, 350])
    >>> curve.sizes.tolist(), bool(curve.risk[0] > curve.risk[2])
    ([20, 50, 350], True)
    """
    one = candidate(learner, data, loss=loss, seed=seed)
    plan = default_plan(one.table, outer)
    splits = splits_of(one.table, plan, seed=seed)
    counts = _checked_sizes(sizes, min(len(split.train) for split in splits), one)
    work = []
    for position, split in enumerate(splits):
        order = _order(one, split, np.random.default_rng([seed, position]))
        for count in counts:
            part = _first(order, count, one.table)
            work.append((part, [split.test, part]))
    fits = judge_all(one, work, title="learning curve", n_jobs=n_jobs)
    weights = one.table.weights
    keys = [(split.repeat, split.fold) for split in splits]
    risks, training, several = [], [], []
    for position in range(len(counts)):
        own = fits[position :: len(counts)]
        losses = LossesOf(
            {key: tested.losses for key, (tested, _) in zip(keys, own, strict=True)},
            rows={key: split.test for key, split in zip(keys, splits, strict=True)},
            trained={key: len(split.train) for key, split in zip(keys, splits, strict=True)},
        )
        several.append(losses)
        kind = plan.intervals[0]
        risk = interval_of(losses, kind=kind, confidence=confidence, folds=0, table=one.table)
        assert risk is not None
        risks.append(risk)
        # the fits have the same number of training rows, so each counts the same
        parts = [part for part, _ in work[position :: len(counts)]]
        means = [
            np.average(trained.losses, weights=None if weights is None else weights[part])
            for part, (_, trained) in zip(parts, own, strict=True)
        ]
        training.append(float(np.mean(means)))
    last_step = None
    if len(several) > 1:
        last_step = interval_of(
            several[-2] - several[-1],
            kind=plan.intervals[0],
            confidence=confidence,
            folds=0,
            table=one.table,
        )
    estimate, se, low, high = np.transpose([(r.estimate, r.se, r.low, r.high) for r in risks])
    return LearningCurve(
        learner=one.contender.name,
        loss=one.loss.name,
        sizes=np.array(counts, dtype=np.int64),
        risk=estimate,
        se=se,
        low=low,
        high=high,
        training=np.array(training),
        interval=risks[0].kind,
        confidence=confidence,
        fits=len(splits),
        is_weighted=weights is not None,
        last_step=last_step,
    )


def _checked_sizes(sizes: Any, most: int, one: Candidate) -> list[int]:
    listed = list(_SHARES if sizes is None else np.atleast_1d(sizes).tolist())
    least = max(2, 0 if one.classes is None else len(one.classes))
    counts = []
    for size in listed:
        count = round(size * most) if isinstance(size, float) and size <= 1 else size
        if not isinstance(count, int) or not (0 < count <= most):
            raise bad_value(
                "sizes",
                size,
                f"sizes are whole numbers up to {most}, or shares above 0 and up to 1.0",
            )
        counts.append(max(count, least))
    if not counts:
        raise bad_value("sizes", sizes, f"it has no size; the default is {list(_SHARES)}")
    return sorted(set(counts))


def _order(one: Candidate, split: Split, rng: np.random.Generator) -> Rows:
    """Return training rows in the order in which they are added."""
    table, train = one.table, split.train
    if table.times is not None:
        # the most recent first
        return train[np.argsort(table.times[train], kind="stable")[::-1]]
    train = rng.permutation(train)
    if table.groups is not None:
        labels, codes = np.unique(table.groups[train], return_inverse=True)
        return train[np.argsort(rng.permutation(len(labels))[codes], kind="stable")]
    if one.classes is None:
        return train
    # members of a class are spread evenly, so that every part has each class in about its share
    place = np.empty(len(train))
    codes = one.codes[train]
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        place[members] = np.arange(len(members)) / len(members)
    return train[np.argsort(place, kind="stable")]


def _first(order: Rows, count: int, table: Table) -> Rows:
    part = order[:count]
    if table.groups is not None and table.times is None:
        # the last group is taken whole
        groups = table.groups[order]
        part = order[np.isin(groups, groups[:count])]
    return np.sort(part)
