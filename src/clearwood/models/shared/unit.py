"""The units of exposure and amounts: a fit in days or pence is that in years or pounds.

Penalties, least sums of second derivatives and tolerances are numbers without a unit. The losses of
models with a log link have one: half a Poisson deviance is in the unit of the target. So exposures
are divided by their mean, amounts by theirs, and the predictions of the fitted model are multiplied
again, which with a log link is a shift of its constant. Other models have weights without a unit.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.table import Task

__all__ = ["TargetUnit", "multiplies", "multiply", "unit_of", "unit_of_means"]


@dataclass(frozen=True)
class TargetUnit:
    """What exposures and targets are divided by for a fit.

    Parameters
    ----------
    exposure
        What is taken for one unit of exposure, 1 where rows have none. Weights are divided by it.
    target
        Of the target; predictions are multiplied by it.
    """

    exposure: float = 1.0
    target: float = 1.0

    def weights(self, weights: Floats | None) -> Floats | None:
        """Return weights, or exposures, that do not depend on the unit of the exposure."""
        return weights if weights is None or self.exposure == 1 else weights / self.exposure

    def targets(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Return targets for the fit."""
        return targets if self.target == 1 else np.asarray(targets / self.target)


def unit_of(
    task: Task, estimator: Any, target: NDArray[Any], weight: Floats | None, exposure: Floats | None
) -> TargetUnit:
    """Return the unit of a fit to rows.

    Parameters
    ----------
    task
        What is predicted.
    estimator
        Not fitted.
    target
        The target: a rate where rows have an exposure.
    weight
        How many times each row counts, times its exposure; None where all count the same.
    exposure
        The part of the weights that is exposure, if there is one.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> days = np.array([365.0, 730.0])
    >>> model = HistGradientBoostingRegressor(loss="poisson")
    >>> unit_of(Task.COUNT, model, np.array([1, 3]) / days, days, days).exposure
    547.5
    """
    if task.is_classification or (exposure is None and task is not Task.AMOUNT):
        return TargetUnit()
    shares = np.ones(len(target)) if weight is None else weight
    if not shares.any():
        return TargetUnit()
    used = shares > 0
    each = None
    if exposure is not None:
        each = float(shares[used].sum() / (shares[used] / exposure[used]).sum())
    return unit_of_means(task, estimator, each, float(np.average(target, weights=shares)))


def unit_of_means(task: Task, estimator: Any, exposure: float | None, target: float) -> TargetUnit:
    """Return the unit of a fit to rows with a mean exposure, if any, and a mean target."""
    if getattr(estimator, "takes_any_unit", False):
        return TargetUnit()
    each = 1.0 if exposure is None else exposure
    if multiplies(estimator):
        if task is Task.COUNT:  # counts stay counts, which have no unit
            return TargetUnit(each, 1 / each)
        return TargetUnit(each, target if task is Task.AMOUNT and target > 0 else 1.0)
    if task is Task.COUNT and exposure is not None and target > 0:
        # the weights add up to the number of events, however many rows a policy is cut into
        return TargetUnit(1 / target)
    return TargetUnit(each)


def multiplies(estimator: Any) -> bool:
    """Whether `multiply` can multiply the predictions of a fitted estimator."""
    if hasattr(estimator, "multiply"):
        return bool(estimator.has_log_link)
    library = _library(estimator)
    if library is None:
        return False
    setting, objectives, _ = library
    if setting is None:
        return True
    return str(estimator.get_params()[setting]).partition(":variance")[0] in objectives


def multiply(estimator: Any, factor: float) -> None:
    """Multiply the predictions of a fitted estimator with a log link by a factor.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> rows = np.arange(40.0)[:, None]
    >>> model = HistGradientBoostingRegressor(loss="poisson").fit(rows, rows[:, 0])
    >>> before = model.predict(rows)
    >>> multiply(model, 3.0)
    >>> bool(np.allclose(model.predict(rows), 3 * before))
    True
    """
    if factor == 1:
        return
    if hasattr(estimator, "multiply"):
        estimator.multiply(factor)
        return
    library = _library(estimator)
    assert library is not None
    library[2](estimator, factor)


def _library(
    estimator: Any,
) -> tuple[str | None, frozenset[str], Callable[[Any, float], None]] | None:
    names = (base.__name__ for base in type(estimator).__mro__)
    return next((_LIBRARIES[name] for name in names if name in _LIBRARIES), None)


def _shift_gbm(model: Any, factor: float) -> None:
    model._baseline_prediction = model._baseline_prediction + np.log(factor)  # noqa: SLF001


def _shift_lightgbm(model: Any, factor: float) -> None:
    # the constant is part of the first tree
    booster = model.booster_
    first = booster.dump_model(num_iteration=1)["tree_info"][0]
    for leaf in range(first["num_leaves"]):
        booster.set_leaf_output(0, leaf, booster.get_leaf_output(0, leaf) + np.log(factor))


def _shift_xgboost(model: Any, factor: float) -> None:
    booster = model.get_booster()
    held = json.loads(booster.save_raw("json"))
    facts = held["learner"]["learner_model_param"]
    # a number, in brackets since version 3.1
    base = np.atleast_1d(json.loads(facts["base_score"])) * factor
    facts["base_score"] = json.dumps(base.tolist() if "[" in facts["base_score"] else base[0])
    booster.load_model(bytearray(json.dumps(held), "utf-8"))


def _shift_catboost(model: Any, factor: float) -> None:
    scale, bias = model.get_scale_and_bias()
    model.set_scale_and_bias(scale, bias + np.log(factor))


def _shift_ebm(model: Any, factor: float) -> None:
    model.intercept_ = model.intercept_ + np.log(factor)
    model.bagged_intercept_ = model.bagged_intercept_ + np.log(factor)


def _multiply_stack(model: Any, factor: float) -> None:
    model.final_estimator_.factor_ *= factor


#: For each library's estimator: the setting that names its loss, if that matters, the losses with a
#: log link, and how its predictions are multiplied.
_LIBRARIES: dict[str, tuple[str | None, frozenset[str], Callable[[Any, float], None]]] = {
    "HistGradientBoostingRegressor": ("loss", frozenset({"poisson", "gamma"}), _shift_gbm),
    "LGBMRegressor": ("objective", frozenset({"poisson", "gamma", "tweedie"}), _shift_lightgbm),
    "XGBRegressor": (
        "objective",
        frozenset({"count:poisson", "reg:gamma", "reg:tweedie"}),
        _shift_xgboost,
    ),
    "CatBoostRegressor": ("loss_function", frozenset({"Poisson", "Tweedie"}), _shift_catboost),
    "ExplainableBoostingRegressor": (
        "objective",
        frozenset({"poisson_deviance", "gamma_deviance", "tweedie_deviance"}),
        _shift_ebm,
    ),
    "StackingRegressor": (None, frozenset(), _multiply_stack),
}
