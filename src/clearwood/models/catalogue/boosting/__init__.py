"""Gradient boosting, scikit-learn's own and the three libraries for it, and additive boosting."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from clearwood._shared.errors import InputError, Option, Setting, words
from clearwood.models.catalogue.boosting.stages import CATBOOST, GBM, LIGHTGBM, XGBOOST
from clearwood.models.catalogue.boosting.streams import LIGHTGBM_STREAMS, XGBOOST_STREAMS
from clearwood.models.entries.builders import ANY, TWEEDIE_POWER, one_of, types_in
from clearwood.models.entries.entry import Entry, Job, Real, Whole
from clearwood.models.entries.stages import MANY_ROWS
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _gbm(job: Job) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    settings = dict(job.settings)
    loss, quantile = settings.pop("loss"), settings.pop("quantile")
    shared = {
        **settings,
        "categorical_features": list(job.categorical) or None,
        "monotonic_cst": list(job.monotone) or None,
        "early_stopping": False,
    }
    if job.task.is_classification:
        one_of(job, "loss", [None, "log_loss"])
        return HistGradientBoostingClassifier(random_state=job.seed, **shared)
    one_of(job, "loss", [None, *_NUMBER_LOSSES])
    _require_monotone(job, "loss", ("absolute_error", "quantile"))
    if loss == "quantile" and quantile is None:
        raise InputError(
            words(Setting("loss", "quantile"), " needs a quantile"),
            parameter="quantile",
            hint=words("set ", Setting("quantile", 0.9), ", for example."),
        )
    return HistGradientBoostingRegressor(
        # scikit-learn has no Tweedie deviance; that of Poisson has its minimum at the mean too
        loss=loss or _by_task(job, "squared_error", "poisson", "gamma", "poisson"),
        quantile=quantile if loss == "quantile" else None,
        random_state=job.seed,
        **shared,
    )


def _lightgbm(job: Job) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    settings = {
        **job.settings,
        "random_state": job.seed,
        "n_jobs": job.n_jobs,
        "subsample_freq": 1,  # without it the share of rows would be ignored
        "verbose": -1,
        # the same trees whatever the number of threads, and no timing run to choose a layout
        "deterministic": True,
        "force_col_wise": True,
        # levels with fewer rows would not be split off
        "min_data_per_group": job.settings["min_child_samples"],
    }
    if job.monotone:
        settings["monotone_constraints"] = list(job.monotone)
        _require_monotone(job, "objective", ("l1", "mae", "mape", "quantile"))
    if job.task.is_classification:
        return LGBMClassifier(**settings)
    if settings["objective"] is None:
        settings["objective"] = _by_task(job, None, "poisson", "gamma", "tweedie")
    return LGBMRegressor(**settings)


def _lightgbm_fit_options(job: Job) -> dict[str, Any]:
    return {"categorical_feature": list(job.categorical)} if job.categorical else {}


def _xgboost(job: Job) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    settings = {
        **job.settings,
        "random_state": job.seed,
        "n_jobs": job.n_jobs,
        "tree_method": "hist",
        "verbosity": 0,
    }
    if job.monotone:
        settings["monotone_constraints"] = job.monotone
        _require_monotone(job, "objective", ("reg:absoluteerror", "reg:quantileerror"))
    if job.categorical:
        settings["enable_categorical"] = True
        settings["feature_types"] = _types(job, category="c", number="q")
    if settings["objective"] is None:
        del settings["objective"]
        objective = _by_task(job, None, "count:poisson", "reg:gamma", "reg:tweedie")
        settings |= {} if objective is None else {"objective": objective}
    return XGBClassifier(**settings) if job.task.is_classification else XGBRegressor(**settings)


def _catboost(job: Job) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    settings = {
        **job.settings,
        "random_seed": job.seed,
        "thread_count": job.n_jobs,
        "verbose": False,
        "allow_writing_files": False,
    }
    if job.monotone:
        settings["monotone_constraints"] = list(job.monotone)
        # its default with constraints; while trees are counted it cannot be used, with a message
        settings["model_shrink_rate"] = 0.0
    if settings["loss_function"] is None:
        del settings["loss_function"]
        # without a gamma deviance that predicts on the scale of the target
        tweedie = f"Tweedie:variance_power={TWEEDIE_POWER}"
        loss = _by_task(job, None, "Poisson", tweedie, tweedie)
        # a single step from a mean of 1 overflows where counts are in the thousands
        steps = {"loss_function": loss, "leaf_estimation_iterations": 10}
        settings |= {} if loss is None else steps
    if job.task.is_classification:
        return CatBoostClassifier(**settings)
    return CatBoostRegressor(**settings)


def _ebm(job: Job) -> Any:
    from clearwood.models.catalogue.boosting.quiet_ebm import QuietEBMClassifier, QuietEBMRegressor

    settings = {**job.settings, "random_state": job.seed, "n_jobs": job.n_jobs}
    if job.monotone:
        settings["monotone_constraints"] = list(job.monotone)
    if job.n_columns:
        settings["feature_types"] = _types(job, category="nominal", number="continuous")
    if job.task.is_classification:
        if job.task is Task.MULTICLASS:
            settings["interactions"] = 0  # interpret has them for two classes and numbers only
        return QuietEBMClassifier(**settings)
    tweedie = f"tweedie_deviance:variance_power={TWEEDIE_POWER}"
    objective = _by_task(job, "rmse", "poisson_deviance", "gamma_deviance", tweedie)
    return QuietEBMRegressor(objective=objective, **settings)


def _by_task(job: Job, number: Any, counts: str, positive: str, amounts: str) -> Any:
    """Return the loss for numbers, counts, positive amounts or amounts that can be zero."""
    if job.task in (Task.COUNT, Task.AMOUNT) and job.zeros == 1:
        raise InputError(
            "every target is zero", parameter="target", hint="there is nothing to learn."
        )
    if job.task is Task.COUNT:
        return counts
    if job.task is Task.AMOUNT:
        return amounts if job.zeros else positive
    return number


def _by_rows(job: Job, *, size: str, few: int, many: int, trees: str) -> dict[str, Any]:
    """Return smaller trees and steps for few rows, and a number of trees where none is chosen."""
    if job.n_rows < MANY_ROWS:
        return {"learning_rate": 0.05, size: few, trees: 200}
    return {"learning_rate": 0.1, size: many, trees: 200}


def _require_monotone(job: Job, setting: str, breaking: Iterable[str]) -> None:
    """Raise where columns are constrained and the loss recomputes the leaves after each tree."""
    if job.monotone and job.settings[setting] in breaking:
        chosen = Setting(setting, job.settings[setting])
        raise InputError(
            words(Option("monotone"), " cannot be kept with ", chosen),
            parameter="monotone",
            hint=words("leave one of them out, or use the learner 'catboost'."),
        )


def _types(job: Job, *, category: str, number: str) -> list[str]:
    """Return for each column whether it holds category codes, by a library's names."""
    return [category if i in job.categorical else number for i in range(job.n_columns)]


_NUMBER_LOSSES = ("squared_error", "absolute_error", "poisson", "gamma", "quantile")

_boosting = partial(
    Entry,
    family="boosting",
    tasks=ANY,
    reading="tree",
    described_in="Friedman (2001); Hastie, Tibshirani and Friedman (2009), 10.10",
    loss="squared error, Poisson deviance for counts, gamma or Tweedie deviance for amounts, log "
    "loss for classes; or the loss set",
    estimates="mean; probability",
    categories="native",
    missing="native",
    monotone=True,
    complexity=8,
)

ENTRIES = (
    _boosting(
        name="gbm",
        title="Gradient boosted trees on binned features",
        source="scikit-learn HistGradientBoostingRegressor, HistGradientBoostingClassifier",
        estimates="mean; probability; the median or a quantile with that loss",
        build=_gbm,
        defaults={
            "loss": None,
            "quantile": None,
            "learning_rate": None,
            "max_iter": None,
            "max_leaf_nodes": None,
            "max_depth": None,
            "min_samples_leaf": 10,
            "l2_regularization": 1.0,
            "max_features": 0.5,
            "interaction_cst": None,
        },
        space={
            "learning_rate": Real(0.01, 0.3, log=True),
            "max_iter": Whole(10, 600, log=True),
            "max_leaf_nodes": Whole(3, 63, log=True),
            "min_samples_leaf": Whole(3, 60, log=True),
            "l2_regularization": Real(1e-3, 30.0, log=True),
            "max_features": Real(0.3, 1.0),
        },
        native_levels=254,
        stages=GBM,
        resolve=partial(_by_rows, size="max_leaf_nodes", few=8, many=31, trees="max_iter"),
        quick={"max_iter": 40, "min_samples_leaf": 5},
    ),
    _boosting(
        name="lightgbm",
        title="LightGBM: gradient boosted trees grown leaf by leaf",
        source="LightGBM LGBMRegressor, LGBMClassifier",
        described_in="Ke and others (2017)",
        build=_lightgbm,
        fit_options=_lightgbm_fit_options,
        defaults={
            "objective": None,
            "n_estimators": None,
            "learning_rate": None,
            "num_leaves": None,
            "max_depth": -1,
            "min_child_samples": 10,
            "reg_alpha": 0.0,
            "reg_lambda": 1.0,
            "subsample": 1.0,
            "colsample_bytree": 1.0,
            "colsample_bynode": 0.5,
        },
        space={
            "n_estimators": Whole(10, 600, log=True),
            "learning_rate": Real(0.01, 0.3, log=True),
            "num_leaves": Whole(3, 63, log=True),
            "min_child_samples": Whole(3, 60, log=True),
            "reg_lambda": Real(1e-3, 30.0, log=True),
            "colsample_bynode": Real(0.3, 1.0),
        },
        stages=LIGHTGBM,
        streams=LIGHTGBM_STREAMS,
        resolve=partial(_by_rows, size="num_leaves", few=8, many=31, trees="n_estimators"),
        module="lightgbm",
        extra="lightgbm",
        quick={"n_estimators": 40, "min_child_samples": 5},
        distributions=("lightgbm",),
        setting_errors=("lightgbm.basic.LightGBMError",),
    ),
    _boosting(
        name="xgboost",
        title="XGBoost: gradient boosted trees with second derivatives and penalised leaves",
        source="XGBoost XGBRegressor, XGBClassifier",
        described_in="Chen and Guestrin (2016)",
        build=_xgboost,
        defaults={
            "objective": None,
            "n_estimators": None,
            "learning_rate": None,
            "max_depth": None,
            "min_child_weight": 1.0,
            "gamma": 0.0,
            "reg_alpha": 0.0,
            "reg_lambda": 1.0,
            "subsample": 1.0,
            "colsample_bytree": 1.0,
            "colsample_bynode": 0.5,
        },
        space={
            "n_estimators": Whole(10, 600, log=True),
            "learning_rate": Real(0.01, 0.3, log=True),
            "max_depth": Whole(1, 8),
            "min_child_weight": Real(0.5, 30.0, log=True),
            "reg_lambda": Real(1e-2, 30.0, log=True),
            "subsample": Real(0.5, 1.0),
            "colsample_bynode": Real(0.3, 1.0),
        },
        stages=XGBOOST,
        streams=XGBOOST_STREAMS,
        resolve=partial(_by_rows, size="max_depth", few=3, many=6, trees="n_estimators"),
        module="xgboost",
        extra="xgboost",
        quick={"n_estimators": 40},
        distributions=("xgboost", "xgboost-cpu"),
        setting_errors=("xgboost.core.XGBoostError",),
    ),
    _boosting(
        name="catboost",
        title="CatBoost: gradient boosting with symmetric trees",
        source="CatBoost CatBoostRegressor, CatBoostClassifier",
        described_in="Prokhorenkova and others (2018)",
        build=_catboost,
        defaults={
            "loss_function": None,
            "iterations": None,
            "learning_rate": 0.1,
            "depth": None,
            "l2_leaf_reg": 3.0,
            "random_strength": 1.0,
        },
        space={
            "iterations": Whole(10, 600, log=True),
            "learning_rate": Real(0.01, 0.3, log=True),
            "depth": Whole(2, 8),
            "l2_leaf_reg": Real(0.3, 30.0, log=True),
        },
        # its own treatment of categories needs text or integers, and a matrix holds neither
        categories="onehot",
        stages=CATBOOST,
        resolve=partial(_by_rows, size="depth", few=4, many=6, trees="iterations"),
        module="catboost",
        extra="catboost",
        quick={"iterations": 40},
        distributions=("catboost",),
        setting_errors=("_catboost.CatBoostError",),
    ),
    Entry(
        name="ebm",
        title="Explainable boosting machine: an additive model of boosted curves and pairs",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="interpret ExplainableBoostingRegressor, ExplainableBoostingClassifier",
        described_in="Lou, Caruana, Gehrke and Hooker (2013); Nori and others (2019)",
        loss="squared error, Poisson deviance for counts, gamma or Tweedie deviance for amounts, "
        "log loss for classes",
        estimates="mean; probability",
        build=_ebm,
        saved_types=types_in(__name__, quiet_ebm="QuietEBMClassifier QuietEBMRegressor"),
        defaults={
            "interactions": 5,
            "outer_bags": 4,
            "learning_rate": 0.04,
            "max_bins": 256,
            "max_interaction_bins": 16,
            "max_leaves": 2,
            "min_samples_leaf": 4,
            "max_rounds": 10_000,
            "early_stopping_rounds": 50,
        },
        space={
            "interactions": Whole(0, 20),
            "learning_rate": Real(0.01, 0.1, log=True),
            "max_leaves": Whole(2, 4),
            "min_samples_leaf": Whole(2, 30, log=True),
        },
        categories="native",
        missing="native",
        monotone=True,
        complexity=5,
        module="interpret",
        extra="ebm",
        quick={"outer_bags": 1, "interactions": 1, "max_rounds": 300},
        distributions=("interpret-core", "interpret"),
    ),
)
