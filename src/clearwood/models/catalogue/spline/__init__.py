"""Additive models of smooth curves."""

from typing import Any

from clearwood.models.entries.builders import ANY, types_in
from clearwood.models.entries.entry import Entry, Job, Real, Whole

__all__ = ["ENTRIES"]


def _spline(job: Job) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.preprocessing import StandardScaler

    from clearwood.models.catalogue.spline.natural_spline import NaturalSpline, SplinePipeline

    alpha = job.settings["alpha"]
    if job.task.is_classification:
        # the same weight of the penalty against the sum over rows as in ridge regression
        model = LogisticRegression(C=1 / alpha, max_iter=5_000)
    else:
        model = Ridge(alpha)
    basis = NaturalSpline(n_knots=job.settings["n_knots"])
    return SplinePipeline([("basis", basis), ("scale", StandardScaler()), ("model", model)])


ENTRIES = (
    Entry(
        name="spline",
        title="Additive natural cubic splines with a ridge penalty",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="scipy CubicSpline, scikit-learn Ridge, LogisticRegression",
        described_in="Hastie, Tibshirani and Friedman (2009), 5.2",
        loss="squared error or log loss + alpha · Σ β²",
        estimates="mean; probability",
        advice="Take gam instead, which chooses the smoothness of every curve by itself, shrinks "
        "levels and has bands. This is the textbook's model: the same knots and one ridge penalty "
        "for all curves.",
        build=_spline,
        saved_types=types_in(__name__, natural_spline="NaturalSpline SplinePipeline"),
        defaults={"n_knots": 6, "alpha": 1.0},
        space={"n_knots": Whole(3, 12), "alpha": Real(1e-3, 1e3, log=True)},
        scale=True,
        complexity=3,
    ),
)
