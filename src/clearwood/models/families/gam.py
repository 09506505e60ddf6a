"""Generalised additive models with automatic smoothness."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.shared import ANY, one_of
from clearwood.models.spaces import Choice, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _gam(job: Job) -> Any:
    from clearwood.models.glassbox.gam.estimators import GamClassifier, GamRegressor

    settings = dict(job.settings)
    family = settings.pop("family")
    if job.task.is_classification:
        one_of(job, "family", [None, "binomial"])
        return GamClassifier(categorical=job.categorical, **settings)
    one_of(job, "family", [None, "gaussian", "poisson", "gamma"])
    usual: Any = "poisson" if job.task is Task.COUNT else "gaussian"
    return GamRegressor(family=family or usual, categorical=job.categorical, **settings)


ENTRIES = (
    Entry(
        name="gam",
        title="Generalised additive model: smooth curves, their smoothness chosen by REML",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood GamRegressor, GamClassifier",
        section="Hiabu 4.3; Rosso 8",
        loss="deviance of the family + λ · curvature of each curve, λ by fREML",
        estimates="mean; probability",
        build=_gam,
        defaults={
            "family": None,
            "n_splines": 20,
            "select": True,
            "extrapolate": "constant",
        },
        space={"n_splines": Whole(5, 40, log=True), "select": Choice(True, False)},  # noqa: FBT003
        categories="native",
        missing="native",
        complexity=3,
    ),
)
