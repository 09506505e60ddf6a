"""Nearest neighbours."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.shared import ANY, one_of
from clearwood.models.spaces import Choice, Whole

__all__ = ["ENTRIES"]


def _knn(job: Job) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import Pipeline

    from clearwood.models.estimators.capped import Capped
    from clearwood.models.estimators.membership import Membership

    metric = one_of(job, "metric", ["euclidean", "cosine", "jaccard"])
    kind = KNeighborsClassifier if job.task.is_classification else KNeighborsRegressor
    model = kind(
        job.settings["n_neighbors"],
        weights=one_of(job, "weights", ["uniform", "distance"]),
        metric=metric,
        n_jobs=job.n_jobs,
    )
    if metric != "jaccard":
        return Capped(model, {"n_neighbors": "rows"})
    steps = [("membership", Membership()), ("knn", model)]
    return Capped(Pipeline(steps), {"knn__n_neighbors": "rows"})


ENTRIES = (
    Entry(
        name="knn",
        title="k nearest neighbours, by Euclidean, cosine or Jaccard distance",
        family="neighbours",
        tasks=ANY,
        reading="black box",
        source="scikit-learn KNeighborsRegressor, KNeighborsClassifier",
        section="Hiabu 4.1; Rosso 1; course notes 3",
        loss="squared error or 0-1 loss, averaged over the neighbourhood",
        estimates="mean; probability (share of the neighbours)",
        build=_knn,
        defaults={"n_neighbors": 15, "weights": "uniform", "metric": "euclidean"},
        space={
            "n_neighbors": Whole(1, 100, log=True),
            "weights": Choice("uniform", "distance"),
            "metric": Choice("euclidean", "cosine"),
        },
        scale=True,
        complexity=4,
    ),
)
