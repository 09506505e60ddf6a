"""Predictions that use no feature."""

from typing import Any

from clearwood.models.entries.builders import ANY, one_of
from clearwood.models.entries.entry import Entry, Job
from clearwood.models.entries.streams import Moments

__all__ = ["ENTRIES"]


def _build(job: Job) -> Any:
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if job.task.is_classification:
        one_of(job, "statistic", [None, "majority"])
        # "prior" predicts the majority, and the shares of the classes as probabilities
        return DummyClassifier(strategy="prior")
    return DummyRegressor(strategy=one_of(job, "statistic", [None, "mean", "median"]) or "mean")


ENTRIES = (
    Entry(
        name="baseline",
        title="Baseline: the mean, the median or the majority class of the training rows",
        family="baseline",
        tasks=ANY,
        reading="glass box",
        source="scikit-learn DummyRegressor, DummyClassifier",
        described_in="Hastie, Tibshirani and Friedman (2009), 2.4",
        loss="squared error (mean), absolute error (median), log loss (class shares)",
        estimates="mean or median of all rows; share of each class",
        build=_build,
        defaults={"statistic": None},
        streams=Moments({"statistic": (None, "mean", "majority")}),
        monotone=True,
        complexity=1,
    ),
)
