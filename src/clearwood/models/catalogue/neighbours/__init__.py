"""Nearest neighbours and local regression: the rows near a point predict it."""

from typing import Any

from clearwood.models.entries.builders import ANY, NUMBERS, one_of, types_in
from clearwood.models.entries.entry import Choice, Entry, Job, Whole

__all__ = ["ENTRIES"]


def _knn(job: Job) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import Pipeline

    from clearwood.models.catalogue.neighbours.local import Membership
    from clearwood.models.shared.wrappers import Capped

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


def _local(job: Job) -> Any:
    from clearwood.models.catalogue.neighbours.local import LocalRegressor

    # whether a value is missing is one of two levels, and no place that rows are near
    gaps = [place for place, one in enumerate(job.encoded) if one.part == "missing"]
    return LocalRegressor(categorical=(*job.categorical, *gaps), **job.settings)


ENTRIES = (
    Entry(
        name="knn",
        title="k nearest neighbours, by Euclidean, cosine or Jaccard distance",
        family="neighbours",
        tasks=ANY,
        reading="black box",
        source="scikit-learn KNeighborsRegressor, KNeighborsClassifier",
        described_in="Cover and Hart (1967); Hastie, Tibshirani and Friedman (2009), 13.3",
        loss="squared error or 0-1 loss, averaged over the neighbourhood",
        estimates="mean; probability (share of the neighbours)",
        build=_knn,
        saved_types=types_in(__name__, local="Membership"),
        defaults={"n_neighbors": 15, "weights": "uniform", "metric": "euclidean"},
        space={
            "n_neighbors": Whole(1, 100, log=True),
            "weights": Choice("uniform", "distance"),
            "metric": Choice("euclidean", "cosine"),
        },
        scale=True,
        complexity=4,
    ),
    Entry(
        name="local",
        title="Local regression: the mean of the rows near a point, or the line through them",
        family="neighbours",
        tasks=NUMBERS,
        reading="black box",
        source="clearwood LocalRegressor",
        described_in="Cleveland (1979); Hastie, Tibshirani and Friedman (2009), 6.1",
        loss="squared error, weighted by a normal kernel",
        estimates="mean",
        build=_local,
        saved_types=types_in(__name__, local="LocalRegressor"),
        defaults={"degree": 1, "bandwidth": None, "criterion": "cv", "across": None},
        space={"degree": Choice(0, 1)},
        categories="native",
        complexity=4,
        advice="Take it for one to about four columns of numbers whose joint effect may have any "
        "smooth shape; categories change the curve as far as the rows show it. Bandwidths are "
        "chosen in the fit, a large one for a column that does not matter. With more columns no "
        "rows are near: 'gam' or 'gbm' do better.",
        reads="Look at cw.effect for one or two columns: the curve is the model. The bandwidths "
        "(bandwidth_ of its estimator) say which columns matter: a large one averages over all "
        "values of its column.",
        page="local",
    ),
)
