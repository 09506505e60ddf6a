"""Boosted models tree by tree: early stopping, and predictions with fewer trees."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index

if TYPE_CHECKING:
    from clearwood.models.entry import Entry, Job

__all__ = ["CATBOOST", "GBM", "LIGHTGBM", "XGBOOST", "Stages", "fit_boosting", "stopped_early"]

Options = Mapping[str, Any]

#: Trees without any gain on the validation rows after which growing ends.
PATIENCE = 50
#: The share of the training rows that early stopping holds out, and the fewest of them.
_SHARE = 0.1
_LEAST_ROWS = 10


@dataclass(frozen=True)
class Stages:
    """How a library's boosted models are stopped early and predict with fewer trees.

    Parameters
    ----------
    setting
        What it calls the number of trees.
    validating
        From validation rows, their target and a patience: parameters of the estimator, and options
        of its ``fit``.
    trees
        How many trees (rounds, with several classes) a fitted estimator has.
    best
        With how many of them it had the smallest loss on the validation rows.
    at
        Predictions of an estimator with its first so many trees, for each of some rising numbers:
        of rows, as probabilities or as numbers.
    """

    setting: str
    validating: Callable[[Any, Floats, NDArray[Any], int], tuple[Options, Options]]
    trees: Callable[[Any], int]
    best: Callable[[Any], int]
    at: Callable[[Any, Floats, Sequence[int], bool], Iterator[Floats]]


def fit_boosting(
    entry: "Entry",
    job: "Job",
    rows: tuple[Floats, NDArray[Any], Floats | None],
    validation: tuple[Floats, NDArray[Any]],
    *,
    patience: int = PATIENCE,
) -> Any:
    """Fit a boosted model until more trees no longer help on validation rows."""
    assert entry.stages is not None
    X, y, weight = rows
    estimator = entry.build(job)
    options = dict(entry.fit_options(job)) if entry.fit_options else {}
    if len(validation[0]):
        params, more = entry.stages.validating(estimator, *validation, patience)
        estimator.set_params(**params)
        options.update(more)
    return estimator.fit(X, y, **options, **({} if weight is None else {"sample_weight": weight}))


def stopped_early(
    entry: "Entry", job: "Job", X: Floats, y: NDArray[Any], weight: Floats | None
) -> "Job":
    """Return the job with the number of trees that was best on a tenth of the rows.

    The caller fits all rows with it, so that no row is lost and the model is an ordinary one.
    """
    assert entry.stages is not None
    train, test = _split(y, job)
    if len(test) < _LEAST_ROWS:
        return job
    rows = (X[train], y[train], None if weight is None else weight[train])
    grown = fit_boosting(entry, job, rows, (X[test], y[test]))
    best = max(1, entry.stages.best(grown))
    return replace(job, settings={**job.settings, entry.stages.setting: best})


def _split(y: NDArray[Any], job: "Job") -> tuple[Index, Index]:
    """Return rows to fit and validation rows; every class stays among those that are fitted."""
    order = np.random.default_rng(job.seed).permutation(len(y))
    count = round(_SHARE * len(y))
    validation = order[:count]
    if job.task.is_classification:
        first = np.unique(y[order], return_index=True)[1]
        validation = np.setdiff1d(validation, order[first])
    return np.setdiff1d(np.arange(len(y)), validation), np.sort(validation)


# how each library does it --------------------------------------------------------------------


def _gbm_validating(_: Any, X: Floats, y: NDArray[Any], patience: int) -> tuple[Options, Options]:
    # no tolerance: it would count from the first tree on, where the loss is largest
    params = {"early_stopping": True, "n_iter_no_change": patience, "tol": 0.0}
    return params, {"X_val": X, "y_val": y}


def _gbm_at(model: Any, X: Floats, counts: Sequence[int], classes: bool) -> Iterator[Floats]:  # noqa: FBT001 - an internal table of functions
    wanted = set(counts)
    stages = model.staged_predict_proba(X) if classes else model.staged_predict(X)
    for number, predicted in enumerate(stages, start=1):
        if number in wanted:
            yield predicted


def _lightgbm_validating(
    model: Any, X: Floats, y: NDArray[Any], patience: int
) -> tuple[Options, Options]:
    options: dict[str, Any] = {"callbacks": [_LightgbmPatience(patience)]}
    if "eval_X" in inspect.signature(model.fit).parameters:
        return {}, {**options, "eval_X": (X,), "eval_y": (y,)}
    return {}, {**options, "eval_set": [(X, y)]}


class _LightgbmPatience:
    """Stop like LightGBM's own callback, but keep the trees after the best."""

    order = 30

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best = (np.inf, 0)

    def __call__(self, env: Any) -> None:
        from lightgbm.callback import EarlyStopException

        _, _, value, higher_is_better, *_ = env.evaluation_result_list[0]
        loss = -value if higher_is_better else value
        if loss < self.best[0]:
            self.best = (loss, env.iteration)
        if env.iteration - self.best[1] >= self.patience:
            raise EarlyStopException(env.iteration, env.evaluation_result_list)


def _lightgbm_best(model: Any) -> int:
    (by_metric,) = model.evals_result_.values()
    return int(np.argmin(next(iter(by_metric.values())))) + 1


def _xgboost_validating(
    _: Any, X: Floats, y: NDArray[Any], patience: int
) -> tuple[Options, Options]:
    return {"early_stopping_rounds": patience}, {"eval_set": [(X, y)], "verbose": False}


def _catboost_validating(
    _: Any, X: Floats, y: NDArray[Any], patience: int
) -> tuple[Options, Options]:
    # all trees are kept: the caller chooses the best stage
    params = {"early_stopping_rounds": patience, "use_best_model": False}
    return params, {"eval_set": (X, y)}


def _predicting(options: Callable[[int], Options]) -> Callable[..., Iterator[Floats]]:
    """Predict with the first trees, by the options that limit a library to so many."""

    def at(model: Any, X: Floats, counts: Sequence[int], classes: bool) -> Iterator[Floats]:  # noqa: FBT001
        predict = model.predict_proba if classes else model.predict
        for count in counts:
            yield predict(X, **options(count))

    return at


GBM = Stages(
    "max_iter",
    _gbm_validating,
    lambda model: int(model.n_iter_),
    # scores, the first of them before any tree
    lambda model: int(np.argmax(model.validation_score_)),
    _gbm_at,
)
LIGHTGBM = Stages(
    "n_estimators",
    _lightgbm_validating,
    lambda model: int(model.booster_.current_iteration()),
    _lightgbm_best,
    _predicting(lambda count: {"num_iteration": count}),
)
XGBOOST = Stages(
    "n_estimators",
    _xgboost_validating,
    lambda model: int(model.get_booster().num_boosted_rounds()),
    lambda model: int(model.best_iteration) + 1,
    _predicting(lambda count: {"iteration_range": (0, count)}),
)
CATBOOST = Stages(
    "iterations",
    _catboost_validating,
    lambda model: int(model.tree_count_),
    lambda model: int(model.get_best_iteration()) + 1,
    _predicting(lambda count: {"ntree_end": count}),
)
