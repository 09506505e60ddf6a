"""Risk against the number of training rows, and calibration of a learner on unseen rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood._shared.results import Result
from clearwood.benchmarking.diagnostics.calibration import CalibrationCurve, calibration_of_target
from clearwood.benchmarking.intervals.intervals import (
    Interval,
    corrected_interval,
    holdout_interval,
    naive_interval,
    origin_interval,
)
from clearwood.benchmarking.running.fits import Candidate, Judged, candidate, judge_all
from clearwood.resampling import Plan, Split, default_plan, splits_of
from clearwood.table import Table

__all__ = ["LearningCurve", "calibration_curve", "learning_curve"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
_SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """Risk against the number of training rows.

    Parameters
    ----------
    learner, loss
        What was judged, and by what.
    sizes
        Training rows.
    risk, se, low, high
        On rows not trained on: the estimate, its standard error and its interval.
    training
        Mean loss on the training rows themselves; far below the risk where there is too little to
        learn from.
    interval
        Which interval it is, see `Interval`.
    confidence
        The level.
    fits
        How many fits each size rests on.
    """

    learner: str
    loss: str
    sizes: NDArray[np.int64]
    risk: Array
    se: Array
    low: Array
    high: Array
    training: Array
    interval: str
    confidence: float
    fits: int

    def _columns(self) -> dict[str, list[Any]]:
        names = ("sizes", "risk", "se", "low", "high", "training")
        return {name: getattr(self, name).tolist() for name in names}

    def plot(self) -> Any:
        """Draw risk and training loss against the number of rows (Altair)."""
        from clearwood.plot.curves import plot_learning

        return plot_learning(self)

    def __repr__(self) -> str:
        level = f"{100 * self.confidence:g} % interval ({self.interval})"
        lines = [
            f"Learning curve of {self.learner!r}: {self.loss} loss, {self.fits} fits a size",
            f"{'rows':>8} {'risk':>10}  {level:26} {'training':>10}",
        ]
        for size, risk, low, high, training in zip(
            self.sizes, self.risk, self.low, self.high, self.training, strict=True
        ):
            span = f"{low:.4g} to {high:.4g}"
            lines.append(f"{size:8d} {risk:10.4g}  {span:26} {training:10.4g}")
        return "\n".join(lines)


def learning_curve(
    data: Any,
    learner: Any,
    *,
    sizes: Any = None,
    outer: int | str | Plan = 5,
    loss: str | None = None,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> LearningCurve:
    """Risk of a learner fitted to fewer rows than there are.

    In every outer split the learner is fitted to growing parts of the training rows (with every
    class in them, whole groups, or the most recent rows) and judged on the test rows. A curve that
    still falls at its end says that more rows would help.

    Parameters
    ----------
    data
        A table with a target.
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; with its settings as they
        are.
    sizes
        Training rows: whole numbers, or shares of the rows of a training side.
    outer
        How many folds, or a plan; see `default_plan`.
    loss
        What predictions are judged by; by default the one that goes with the task.
    confidence
        The level of the intervals.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> curve = learning_curve(cw.datasets.load("diabetes"), "ols", sizes=[20, 50, 350])
    >>> curve.sizes.tolist(), bool(curve.risk[0] > curve.risk[2])
    ([20, 50, 350], True)
    """
    one = candidate(data, learner, loss=loss, seed=seed)
    plan = default_plan(one.table, outer)
    splits = splits_of(one.table, plan, seed=seed)
    counts = _checked_sizes(sizes, min(len(split.train) for split in splits), one)
    work = []
    for number, split in enumerate(splits):
        order = _order(one, split, np.random.default_rng([seed, number]))
        for count in counts:
            part = _first(order, count, one.table)
            work.append((part, [split.test, part]))
    found = judge_all(one, work, title="learning curve", n_jobs=n_jobs)
    risks, training = [], []
    for position in range(len(counts)):
        own = found[position :: len(counts)]
        risks.append(_interval(plan, splits, [tested for tested, _ in own], one.table, confidence))
        # the fits are of the same size, so each counts the same
        training.append(float(np.mean([trained.losses.mean() for _, trained in own])))
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
    )


def calibration_curve(
    data: Any,
    learner: Any,
    *,
    outer: int | str | Plan = 5,
    bins: int = 10,
    label: str | None = None,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> CalibrationCurve:
    """What is observed where a learner predicts about the same, on rows it was not fitted to.

    Parameters
    ----------
    data
        A table with a target.
    learner
        A name of the catalogue, a `Learner` or a scikit-learn estimator; with its settings as they
        are.
    outer
        How many folds, or a plan; see `default_plan`.
    bins
        How many bins of about equally many rows.
    label
        Whose probability to look at; by default the last class of two, and of several the class
        that is predicted, row by row.
    confidence
        The level of the intervals.
    seed
        Fixes every draw.
    n_jobs
        Processes to use.

    Examples
    --------
    >>> import clearwood as cw
    >>> curve = calibration_curve(cw.datasets.load("diabetes"), "ols", bins=4)
    >>> curve.rows.tolist()
    [110, 111, 110, 111]
    """
    one = candidate(data, learner, seed=seed)
    splits = splits_of(one.table, default_plan(one.table, outer), seed=seed)
    work = [(split.train, [split.test]) for split in splits]
    found = judge_all(one, work, title="calibration", n_jobs=n_jobs)
    rows = np.concatenate([split.test for split in splits])
    told = np.concatenate([judged.predictions for (judged,) in found])
    return calibration_of_target(
        one.codes[rows],
        told,
        one.classes,
        target=str(one.table.target),
        label=label,
        bins=bins,
        confidence=confidence,
        learner=one.contender.name,
    )


def _checked_sizes(sizes: Any, most: int, one: Candidate) -> list[int]:
    asked = list(_SHARES if sizes is None else np.atleast_1d(sizes).tolist())
    least = max(2, 0 if one.classes is None else len(one.classes))
    counts = []
    for size in asked:
        count = round(size * most) if isinstance(size, float) and size <= 1 else size
        if not isinstance(count, int) or not (0 < count <= most):
            raise InputError(
                f"a learning curve at {size!r} rows cannot be had",
                hint=f"sizes are whole numbers up to {most}, or shares above 0 and up to 1.0.",
            )
        counts.append(max(count, least))
    if not counts:
        raise InputError("no sizes are given", hint=f"such as {list(_SHARES)}.")
    return sorted(set(counts))


def _order(one: Candidate, split: Split, rng: np.random.Generator) -> Rows:
    """Training rows in the order in which they are added."""
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
    # every class in every part, and about in its share: members are spread evenly over the order
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


def _interval(
    plan: Plan,
    splits: tuple[Split, ...],
    judged: list[Judged],
    table: Table,
    confidence: float,
) -> Interval:
    losses = [one.losses for one in judged]
    rows = np.concatenate([split.test for split in splits])
    together = np.concatenate(losses)
    weights = None if table.weights is None else table.weights[rows]
    groups = None if table.groups is None else table.groups[rows]
    kind = plan.intervals[0]
    if kind == "per-origin" and len(splits) > 1:
        return origin_interval(losses, confidence)
    if kind == "corrected" and len(splits) > 1 and weights is None:
        return corrected_interval(losses, [len(split.train) for split in splits], confidence)
    if kind == "hold-out" or len(splits) == 1:
        return holdout_interval(together, weights, confidence, groups=groups)
    if groups is None and len(np.unique(rows)) < len(rows):
        groups = rows  # rows tested more than once are still one observation each
    return naive_interval(together, weights, confidence, groups=groups)
