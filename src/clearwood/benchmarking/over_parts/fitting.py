"""Fitting a learner to a table in parts: to all rows where it can, else to a sample of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.benchmarking.fitting.contenders import Contender
from clearwood.benchmarking.fitting.work import Context, Trial, Unit, seed_of
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.benchmarking.tuning.tune import tune
from clearwood.models import Learner
from clearwood.table import Parts, Table

__all__ = ["SAMPLE", "Fitted", "classes_of", "codes_of", "fit_to_parts", "is_of_rows", "may_stream"]

#: Rows that are drawn for learners that need them in memory, for tuning, and for measures.
SAMPLE = 200_000


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that was fitted to a table in parts.

    Parameters
    ----------
    model
        The model.
    settings, trials
        What tuning chose, and every configuration that it tried.
    n_drawn
        How many rows it was fitted to, if these are a sample; None where it was fitted to all.
    """

    model: Any
    settings: Mapping[str, Any]
    trials: tuple[Trial, ...]
    n_drawn: int | None


def may_stream(contender: Contender) -> bool:
    """Return whether a learner can be fitted without all rows in memory, with usual settings."""
    one = contender.template
    return isinstance(one, Learner) and one.entry.streams is not None and one.select is None


def classes_of(parts: Parts) -> NDArray[Any] | None:
    """Return the sorted labels of the target; None where it is a number."""
    assert parts.task is not None
    if not parts.task.is_classification:
        return None
    labels: NDArray[Any] = np.unique(parts.empty.target_column.typed_levels())
    return labels


def codes_of(table: Table, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return the target as losses need it: numbers, or positions in the labels."""
    if classes is None:
        return np.asarray(table.y, dtype=np.float64)
    return np.searchsorted(classes, table.y)


def fit_to_parts(
    context: Context,
    name: str,
    rows: Parts,
    draw: Callable[[], Table],
    *,
    split: str,
    workers: Workers,
) -> Fitted:
    """Tune a learner on drawn rows, and fit it: to all rows where it can, else to those drawn.

    Parameters
    ----------
    context
        Loss, learners and tuning; its table is not used.
    name
        The learner.
    rows, draw
        The rows to fit to, and what draws a sample of them, where it is needed.
    split
        What the random choices belong to.
    workers
        Where trials run; the fit itself has as many threads.
    """
    contender = context.contenders[name]
    in_parts = may_stream(contender)
    settings: dict[str, Any] = {}
    trials: tuple[Trial, ...] = ()
    if context.tuning is not None and contender.space:
        drawn = draw()
        codes = codes_of(drawn, context.classes)
        every = np.arange(drawn.n_rows, dtype=np.int64)
        unit = Unit(name, "final", 0, 0, every, every)
        with workers.spread() as spread:
            settings, trials = tune(replace(context, table=drawn, codes=codes), unit, spread=spread)
        if in_parts and contender.template.entry.stages is not None:
            # more rows allow more trees: their number is chosen on all of them
            settings.pop(contender.template.entry.stages.setting, None)
    model = contender.build(settings, seed=seed_of(context.seed, name, split))
    if isinstance(model, Learner):
        model.set_params(n_jobs=workers.count if workers.shares_files else 1)
    if in_parts:
        try:
            return Fitted(model.fit(rows), settings, trials, None)
        except InputError as error:
            if is_of_rows(error):
                raise
            # settings, or a task, for which it needs the rows in memory
    drawn = draw()
    n_drawn = drawn.n_rows if drawn.n_rows < rows.n_rows else None
    return Fitted(model.fit(drawn), settings, trials, n_drawn)


def is_of_rows(error: InputError) -> bool:
    """Return whether rows could not be read, or a disk is full: that is not a learner's failure."""
    return error.parameter in ("data", "source", "function", "store", "workers")
