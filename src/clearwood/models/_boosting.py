"""Gradient boosting, scikit-learn's own and the three libraries for it, and additive boosting."""

from typing import Any

from clearwood._errors import InputError
from clearwood.models._entry import Entry, Job
from clearwood.models._space import Real, Whole
from clearwood.models._tasks import ANY, one_of
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _gbm(job: Job) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    settings = dict(job.settings)
    loss, quantile = settings.pop("loss"), settings.pop("quantile")
    shared = {**settings, "categorical_features": list(job.categorical) or None}
    if job.task.is_classification:
        one_of(job, "loss", [None, "log_loss"])
        return HistGradientBoostingClassifier(random_state=job.seed, **shared)
    one_of(job, "loss", [None, *_NUMBER_LOSSES])
    if loss == "quantile" and quantile is None:
        raise InputError("loss='quantile' needs a quantile", hint="pass quantile=0.9, say.")
    return HistGradientBoostingRegressor(
        loss=loss or ("poisson" if job.task is Task.COUNT else "squared_error"),
        quantile=quantile if loss == "quantile" else None,
        random_state=job.seed,
        **shared,
    )


_NUMBER_LOSSES = ("squared_error", "absolute_error", "poisson", "gamma", "quantile")

ENTRIES = (
    Entry(
        name="gbm",
        title="Gradient boosted trees on binned features",
        family="boosting",
        tasks=ANY,
        reading="tree",
        source="scikit-learn HistGradientBoostingRegressor, HistGradientBoostingClassifier",
        section="Hiabu 5.4; Rosso 6; course notes 26",
        loss="squared error, Poisson deviance for counts, log loss for classes; or as set",
        estimates="mean; probability; the median or a quantile with that loss",
        build=_gbm,
        defaults={
            "loss": None,
            "quantile": None,
            "learning_rate": 0.1,
            "max_iter": 150,
            "max_leaf_nodes": 31,
            "max_depth": None,
            "min_samples_leaf": 20,
            "l2_regularization": 0.0,
            "max_features": 1.0,
            "interaction_cst": None,
            "early_stopping": False,
        },
        space={
            "learning_rate": Real(0.01, 0.3, log=True),
            "max_iter": Whole(50, 600, log=True),
            "max_leaf_nodes": Whole(3, 63, log=True),
            "min_samples_leaf": Whole(3, 60, log=True),
            "l2_regularization": Real(1e-3, 30.0, log=True),
            "max_features": Real(0.3, 1.0),
        },
        categories="native",
        native_levels=254,
        missing="native",
        complexity=8,
    ),
)
