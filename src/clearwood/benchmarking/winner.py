"""A learner of a benchmark, ready to be tuned and fitted."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import interval, number
from clearwood._shared.progress import progress
from clearwood.benchmarking.running.work import Context, Unit, seed_of
from clearwood.benchmarking.running.workers import Workers
from clearwood.benchmarking.target import checked_table, target_codes
from clearwood.models import Learner

if TYPE_CHECKING:
    from clearwood.benchmarking.standings import Standing

__all__ = ["Winner"]


@dataclass(frozen=True, repr=False)
class Winner:
    """A learner with the tuning that was used in the benchmark.

    Parameters
    ----------
    name
        The learner.
    standing
        Its result.
    context
        That of the benchmark, so that ``fit`` is the procedure whose risk was estimated.
    """

    name: str
    standing: "Standing"
    context: Context

    def fit(self, data: Any, *, n_jobs: int = 1) -> Any:
        """Tune and fit on all rows, as was done in each outer fold.

        Parameters
        ----------
        data
            A table with a target: the benchmark's, or one like it.
        n_jobs
            Cores to use for the trials.

        Returns
        -------
        Learner
            Fitted; for a scikit-learn estimator, a wrapper that predicts for tables.
        """
        from clearwood.benchmarking.tuning.tune import tune

        table = checked_table(data)
        codes, classes = target_codes(table)
        context = replace(self.context, table=table, codes=codes, classes=classes)
        contender = context.contenders[self.name]
        every = np.arange(table.n_rows, dtype=np.int64)
        unit = Unit(self.name, "final", 0, 0, every, every)
        settings: dict[str, Any] = {}
        workers = Workers(n_jobs)
        with progress(f"tuning and fitting {self.name}"):
            if context.tuning is not None and contender.space:
                with workers.spread() as spread:
                    settings, _ = tune(context, unit, spread=spread)
            model = contender.build(settings, seed=seed_of(context.seed, self.name, unit.split))
            if isinstance(model, Learner):
                model.set_params(n_jobs=workers.count)
            return model.fit(table)

    def __repr__(self) -> str:
        one = self.standing
        return (
            f"Winner: {self.name}, {one.loss} risk {number(one.risk, 4)} "
            f"({interval(one.low, one.high, 4)}); fit(data) tunes and fits it on all rows"
        )
