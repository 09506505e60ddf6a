"""Curves and shallow boosted trees that can be read like an additive model."""

from typing import Any

from clearwood.models.entries.builders import ANY, one_of, positions, types_in
from clearwood.models.entries.entry import Entry, Job
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _glass(job: Job) -> Any:
    from clearwood.models.catalogue.glass.estimators import GlassClassifier, GlassRegressor

    settings: dict[str, Any] = {
        **job.settings,
        "parametric": positions(job, "parametric"),
        "categorical": job.categorical,
        "monotone": job.monotone,
        "names": job.columns,
        "random_state": job.seed,
        "n_jobs": job.n_jobs,
    }
    family = settings.pop("family")
    if job.task.is_classification:
        one_of(job, "family", [None, "binomial"])
        return GlassClassifier(**settings)
    one_of(job, "family", [None, "gaussian", "poisson", "gamma"])
    return GlassRegressor(family=family or _family(job), **settings)


def _family(job: Job) -> Any:
    """Return the family of the task; that of counts also suits amounts that can be zero."""
    if job.task is Task.AMOUNT:
        return "poisson" if job.zeros else "gamma"
    return "poisson" if job.task is Task.COUNT else "gaussian"


ENTRIES = (
    Entry(
        name="glass",
        title="Smooth curves and shallow boosted trees, averaged over folds",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood GlassRegressor, GlassClassifier",
        described_in="docs/models/glass.md; after Lou, Caruana, Gehrke and Hooker (2013)",
        loss="squared error, Poisson or gamma deviance, log loss for classes",
        estimates="mean; probability",
        advice="Take it first when a model must be read: it usually predicts as well as boosted "
        "trees, every prediction is a sum of curves and pairs of columns with bands, and it needs "
        "no tuning. Take 'gam' for fewer and smoother terms with p-values, and 'gbm' where "
        "accuracy on many rows matters more than reading.",
        build=_glass,
        saved_types=types_in(__name__, estimators="GlassClassifier GlassRegressor"),
        defaults={
            "family": None,
            "order": 2,
            "pairs": None,
            "learning_rate": None,
            "folds": None,
            "max_trees": 3_000,
            "l2": 1.0,
            "min_rows": 5,
            "n_splines": 20,
            "parametric": (),
        },
        # nothing to tune: the number of trees and the smoothness are chosen inside the fit
        categories="native",
        missing="native",
        native_levels=254,
        monotone=True,
        complexity=5,
        page="glass",
    ),
)
