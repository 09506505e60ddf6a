"""One unit of a benchmark: tuned, fitted and judged."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.benchmarking.fitting.work import (
    LOSSES_FOR_FEW_TREES,
    Context,
    Outcome,
    Spread,
    Trial,
    Unit,
    collected,
    in_turn,
    in_words,
    judge,
    seed_of,
)
from clearwood.benchmarking.tuning.tune import TrialStore, tune
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["run_unit", "selected_of"]

#: Trees of a bagged ensemble in fits that leave two folds out. They show how much two folds less
#: change the losses, beside a model with as many trees.
TREES_OF_PAIRS = 20

#: Tables with more rows keep no predictions of fits that leave two folds out: there, intervals of
#: measures take the inflation of the risk, and two folds less hardly change a measure.
MOST_ROWS_OF_PAIRS = 50_000


def run_unit(
    context: Context, unit: Unit, store: TrialStore | None = None, spread: Spread = in_turn
) -> Outcome:
    """Tune, fit and judge; an error is recorded in the outcome, not raised.

    Nothing outside the training rows is used before the model is judged: encoding, imputation,
    selection and tuning all happen here, on ``unit.train``.
    """
    start = time.perf_counter()
    with collected() as notes:
        try:
            outcome = _tune_fit_judge(context, unit, store, spread)
        except Exception as error:  # one learner's failure is a result, not the end
            outcome = Outcome(None, failure=in_words(error))
    return replace(outcome, seconds=time.perf_counter() - start, notes=tuple(notes))


def _tune_fit_judge(
    context: Context, unit: Unit, store: TrialStore | None, spread: Spread
) -> Outcome:
    contender = context.contenders[unit.learner]
    train = context.table.take(unit.train)
    settings = unit.settings
    trials: tuple[Trial, ...] = ()
    if settings is None:
        chosen: Mapping[str, Any] = {}
        if context.tuning is not None and contender.space:
            chosen, trials = tune(context, unit, store=store, spread=spread)
        settings = (chosen,)
    start = time.perf_counter()
    try:
        outcome = _fit_and_judge(context, unit, train, settings)
    except Exception as error:  # as above; the trials are kept
        outcome = Outcome(None, failure=in_words(error))
    return replace(
        outcome,
        settings=dict(settings[0]),
        fit_seconds=time.perf_counter() - start,
        archive=trials,
    )


def _fit_and_judge(
    context: Context, unit: Unit, train: Table, settings: tuple[Mapping[str, Any], ...]
) -> Outcome:
    contender = context.contenders[unit.learner]
    seed = seed_of(context.seed, unit.learner, unit.split)
    most = TREES_OF_PAIRS if context.loss.name in LOSSES_FOR_FEW_TREES else None
    parts = [unit.test] if len(settings) == 1 else np.split(unit.test, [unit.first])
    losses, predictions = [], []
    model = reference = None
    for rows, chosen, before in zip(parts, settings, (None, *settings), strict=False):
        of_pair = chosen if most is None else contender.with_trees(chosen, most)
        if model is None or chosen != before:
            final = of_pair if unit.purpose == "pair" else chosen
            model = contender.build(final, seed=seed).fit(train)
        test, codes = context.table.take(rows), context.codes[rows]
        loss, predicted = judge(model, test, codes, context.loss, context.classes)
        losses.append(loss)
        predictions.append(predicted)
        if most is not None and unit.purpose == "outer" and of_pair != chosen:
            small = contender.first_trees(model, most)
            reference = judge(small, test, codes, context.loss, context.classes)[0]
    return Outcome(
        np.concatenate(losses),
        np.concatenate(predictions) if _keeps_predictions(context, unit) else None,
        reference=reference,
        selected=selected_of(model),
    )


def selected_of(model: Any) -> tuple[str, ...] | None:
    """Return the columns that a fitted learner has chosen, if it chooses."""
    is_choosing = isinstance(model, Learner) and model.select is not None
    return model.selected_ if is_choosing else None


def _keeps_predictions(context: Context, unit: Unit) -> bool:
    """Return whether predictions are kept: those of pairs correct measures of small tables."""
    return unit.purpose == "outer" or context.table.n_rows <= MOST_ROWS_OF_PAIRS
