"""What a learner gains over the baseline, with rows of identical features kept together or not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import count, percent
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.contenders import contenders
from clearwood.benchmarking.fitting.fits import Candidate, judge_all
from clearwood.benchmarking.fitting.work import Context
from clearwood.checks import Twins
from clearwood.evaluation import naive_interval
from clearwood.resampling import KFold, splits_of

__all__ = ["IdenticalRows", "gain_of_identical_rows"]

#: A gain that falls by less than this, or by a smaller share of itself, is nearly the same.
_LEAST_FALL, _LEAST_SHARE = 0.02, 0.1
#: So many standard errors are more than chance.
_CLEAR = 2.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class IdenticalRows(Result):
    """The risk of a learner with identical rows spread over folds, and kept in one fold.

    Parameters
    ----------
    twins
        The rows with identical features.
    learner, settings
        The learner and its settings, the same in all folds.
    risk, risk_together
        Its risk by cross-validation that spreads identical rows, and that keeps them together.
    baseline, baseline_together
        The same for the baseline.
    se
        The standard error of ``risk_together - risk``, from the differences of the rows' losses.
    """

    twins: Twins
    learner: str
    settings: Mapping[str, Any]
    risk: float
    risk_together: float
    baseline: float
    baseline_together: float
    se: float
    _derived: ClassVar[tuple[str, ...]] = ("gain", "gain_together", "matters")

    @property
    def gain(self) -> float:
        """The share of the baseline's risk that the learner removes, identical rows spread."""
        return _gain(self.risk, self.baseline)

    @property
    def gain_together(self) -> float:
        """The same with identical rows kept together: what to expect for new people or things."""
        return _gain(self.risk_together, self.baseline_together)

    @property
    def matters(self) -> bool:
        """Whether the gain falls materially, and by more than chance."""
        fall = self.gain - self.gain_together
        is_clear = self.risk_together - self.risk > _CLEAR * self.se
        return is_clear and fall > max(_LEAST_FALL, _LEAST_SHARE * self.gain)

    def __repr__(self) -> str:
        return (
            f"{self.twins.n_twins:,} of {count(self.twins.n_rows, 'row')} have the same features "
            f"as another row. With them spread over folds, {self.learner} reduces the baseline's "
            f"risk by {percent(self.gain)}; with identical rows in one fold, by "
            f"{percent(self.gain_together)}"
        )


def _gain(risk: float, baseline: float) -> float:
    return 1 - risk / baseline if baseline > 0 else np.nan


def gain_of_identical_rows(
    context: Context,
    learner: str,
    settings: Mapping[str, Any],
    twins: Twins,
    *,
    folds: int,
    n_jobs: int,
) -> IdenticalRows:
    """Cross-validate a learner and the baseline twice, with the same settings in all folds."""
    (baseline,) = contenders("baseline", context.table, context.loss, seed=context.seed)
    own = Candidate(
        **vars(context) | {"contenders": {learner: context.contenders[learner]}, "tuning": None},
        settings=settings,
    )
    constant = replace(own, contenders={baseline.name: baseline}, settings={})
    together = replace(context.table, keeps_identical=True)
    losses: dict[tuple[bool, bool], Floats] = {}
    for is_together, table in ((False, context.table), (True, together)):
        splits = splits_of(table, KFold(folds), seed=context.seed)
        rows = np.concatenate([split.test for split in splits])
        work = [(split.train, [split.test]) for split in splits]
        for is_own, one in ((True, own), (False, constant)):
            fits = judge_all(one, work, title="identical rows", n_jobs=n_jobs)
            in_order = np.empty(len(rows))
            in_order[rows] = np.concatenate([tested.losses for (tested,) in fits])
            losses[is_own, is_together] = in_order
    weights = context.table.weights
    more = naive_interval(
        losses[True, True] - losses[True, False], weights, 0.9, groups=together.groups
    )
    risk, risk_together, flat, flat_together = (
        float(np.average(losses[key], weights=weights))
        for key in ((True, False), (True, True), (False, False), (False, True))
    )
    return IdenticalRows(
        twins=twins,
        learner=learner,
        settings=dict(settings),
        risk=risk,
        risk_together=risk_together,
        baseline=flat,
        baseline_together=flat_together,
        se=more.se,
    )
