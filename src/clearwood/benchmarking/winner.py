"""A learner of a benchmark, ready to be tuned and fitted."""

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.numbers import interval, number
from clearwood._shared.progress import progress
from clearwood.benchmarking.fitting.target import checked_table, target_codes
from clearwood.benchmarking.fitting.work import Context, Unit, seed_of
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.benchmarking.over_parts.fitting import SAMPLE, classes_of, fit_to_parts
from clearwood.benchmarking.tuning.tune import tune
from clearwood.models import Learner
from clearwood.table import Parts, Table

if TYPE_CHECKING:
    from clearwood.benchmarking.over_parts.held_out import HeldOutParts
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
    in_parts
        What was held out, if the benchmark was of a table in parts.
    """

    name: str
    standing: "Standing"
    context: Context
    in_parts: "HeldOutParts | None" = None

    def fit(self, data: Any, *, n_jobs: int = 1) -> Any:
        """Tune and fit on all rows, as was done in each outer fold.

        Of a table in parts, a learner that needs its rows in memory is fitted to a sample of them,
        as in the benchmark.

        Parameters
        ----------
        data
            A table with a target, or one in parts: the benchmark's, or one like it.
        n_jobs
            Cores to use for the trials.

        Returns
        -------
        Learner
            Fitted; for a scikit-learn estimator, a wrapper that predicts for tables.
        """
        if isinstance(data, Parts):
            return self._fit_parts(data, n_jobs)
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

    def _fit_parts(self, parts: Parts, n_jobs: int) -> Any:
        checked_table(parts.empty)
        context = replace(self.context, classes=classes_of(parts))
        n_drawn = SAMPLE if self.in_parts is None else self.in_parts.sample

        @cache
        def draw() -> Table:
            return parts.sample(n_drawn, seed=context.seed)

        with progress(f"fitting {self.name}"):
            return fit_to_parts(
                context,
                self.name,
                parts,
                draw,
                split="final/0/0",
                workers=Workers(n_jobs),
            ).model

    def __repr__(self) -> str:
        one = self.standing
        return (
            f"Winner: {self.name}, {one.loss} risk {number(one.risk, 4)} "
            f"({interval(one.low, one.high, 4)}); fit(data) tunes and fits it on all rows"
        )
