"""How each library of boosted trees stops early and predicts with fewer trees."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.models.entries.stages import Options, Rows, Stages

__all__ = ["CATBOOST", "GBM", "LIGHTGBM", "XGBOOST", "LightgbmPatience", "of_first_metric"]


def _gbm_trees(model: Any) -> int:
    return int(model.n_iter_)


def _lightgbm_trees(model: Any) -> int:
    return int(model.booster_.current_iteration())


def _xgboost_trees(model: Any) -> int:
    return int(model.get_booster().num_boosted_rounds())


def _catboost_trees(model: Any) -> int:
    return int(model.tree_count_)


def _gbm_validating(_: Any, rows: Rows, patience: int) -> tuple[Options, Options]:
    # no tolerance: it would count from the first tree on, where the loss is largest
    params = {"early_stopping": True, "n_iter_no_change": patience, "tol": 0.0}
    options = {"X_val": rows.X, "y_val": rows.y, "sample_weight_val": rows.weight}
    return params, options


def _gbm_continuing(new: Any, grown: Any) -> tuple[Any, Options]:
    count = _gbm_trees(grown) + new.max_iter
    return grown.set_params(warm_start=True, max_iter=count), {}


def _gbm_at(model: Any, X: Floats, counts: Sequence[int], classes: bool) -> Iterator[Floats]:  # noqa: FBT001 - an internal table of functions
    wanted = set(counts)
    stages = model.staged_predict_proba(X) if classes else model.staged_predict(X)
    for number, predicted in enumerate(stages, start=1):
        if number in wanted:
            yield predicted


def _lightgbm_validating(model: Any, rows: Rows, patience: int) -> tuple[Options, Options]:
    options: dict[str, Any] = {"callbacks": [LightgbmPatience(patience)]}
    if rows.weight is not None:
        options["eval_sample_weight"] = [rows.weight]
    if "eval_X" in inspect.signature(model.fit).parameters:
        return {}, {**options, "eval_X": (rows.X,), "eval_y": (rows.y,)}
    return {}, {**options, "eval_set": [(rows.X, rows.y)]}


class LightgbmPatience:
    """Stop like LightGBM's own callback, but keep the trees after the best."""

    order = 30

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.best = (np.inf, 0)

    def __call__(self, env: Any) -> None:
        """Stop where the loss has not fallen for so many trees."""
        from lightgbm.callback import EarlyStopException

        _, _, value, higher_is_better, *_ = env.evaluation_result_list[0]
        loss = -value if higher_is_better else value
        if loss < self.best[0]:
            self.best = (loss, env.iteration)
        if env.iteration - self.best[1] >= self.patience:
            raise EarlyStopException(env.iteration, env.evaluation_result_list)


def _xgboost_validating(_: Any, rows: Rows, patience: int) -> tuple[Options, Options]:
    options: dict[str, Any] = {"eval_set": [(rows.X, rows.y)], "verbose": False}
    if rows.weight is not None:
        options["sample_weight_eval_set"] = [rows.weight]
    return {"early_stopping_rounds": patience}, options


def _catboost_validating(_: Any, rows: Rows, patience: int) -> tuple[Options, Options]:
    from catboost import Pool

    # all trees are kept: the caller chooses the best stage
    params = {"early_stopping_rounds": patience, "use_best_model": False}
    return params, {"eval_set": Pool(rows.X, rows.y, weight=rows.weight)}


def of_first_metric(by_metric: Mapping[str, Sequence[float]]) -> Floats:
    """Return the losses of the first metric; a root of a mean is squared, so that means add up."""
    name, values = next(iter(by_metric.items()))
    losses = np.asarray(values, dtype=np.float64)
    return losses**2 if name.lower() in ("rmse", "rmsle") else losses


def _reseeded(setting: str, option: str, trees: Callable[[Any], int]) -> Callable[..., Any]:
    """Continue a model that is passed to ``fit``, with other random numbers than it began with."""

    def continuing(new: Any, grown: Any) -> tuple[Any, Options]:
        seed = new.get_params()[setting] + trees(grown)
        return new.set_params(**{setting: seed}), {option: grown}

    return continuing


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
    _gbm_trees,
    # scores, the first of them before any tree
    lambda model: -np.asarray(model.validation_score_[1:]),
    _gbm_continuing,
    _gbm_at,
)
LIGHTGBM = Stages(
    "n_estimators",
    _lightgbm_validating,
    _lightgbm_trees,
    lambda model: of_first_metric(next(iter(model.evals_result_.values()))),
    _reseeded("random_state", "init_model", _lightgbm_trees),
    _predicting(lambda count: {"num_iteration": count}),
)
XGBOOST = Stages(
    "n_estimators",
    _xgboost_validating,
    _xgboost_trees,
    lambda model: of_first_metric(next(iter(model.evals_result().values()))),
    _reseeded("random_state", "xgb_model", _xgboost_trees),
    _predicting(lambda count: {"iteration_range": (0, count)}),
)
CATBOOST = Stages(
    "iterations",
    _catboost_validating,
    _catboost_trees,
    lambda model: of_first_metric(model.get_evals_result()["validation"]),
    _reseeded("random_seed", "init_model", _catboost_trees),
    _predicting(lambda count: {"ntree_end": count}),
)
