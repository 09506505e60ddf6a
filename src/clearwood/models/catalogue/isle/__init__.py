"""Importance-sampled learning ensembles."""

from typing import Any

from clearwood.models.entries.builders import ANY, types_in
from clearwood.models.entries.entry import Entry, Job, Real, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _isle(job: Job) -> Any:
    from clearwood.models.catalogue.isle.estimators import (
        IsleClassifier,
        IslePoisson,
        IsleRegressor,
    )

    settings = {**job.settings, "random_state": job.seed, "n_jobs": job.n_jobs}
    if job.task.is_classification:
        return IsleClassifier(**settings)
    # a log link keeps amounts positive
    return (IslePoisson if job.task in (Task.COUNT, Task.AMOUNT) else IsleRegressor)(**settings)


ENTRIES = (
    Entry(
        name="isle",
        title="Importance-sampled learning ensemble: trees that the lasso re-weighs",
        family="ensemble",
        tasks=ANY,
        reading="tree",
        source="clearwood IsleRegressor, IslePoisson, IsleClassifier (trees of scikit-learn)",
        described_in="Friedman and Popescu (2003); Hastie, Tibshirani and Friedman (2009), 16.3.1",
        loss="squared error, log loss or Poisson deviance + penalty · Σ |weight of a tree|",
        estimates="mean; probability",
        advice="Take it for a small ensemble: of a few hundred small trees it keeps those that "
        "matter, so that the model is small, quick to predict and explained exactly. The setting "
        "choose one-se keeps fewer still. For rules that can be read one by one take 'rules', for "
        "the best predictions compare 'gbm' and 'forest'.",
        reads="It is a weighted sum of few trees: effects, interactions and Shapley values are "
        "exact. The attribute tree_weights_ of its estimator has the weights of the trees kept.",
        build=_isle,
        saved_types=types_in(__name__, estimators="IsleClassifier IslePoisson IsleRegressor"),
        defaults={
            "n_trees": 200,
            "max_leaves": 8,
            "share": 0.5,
            "memory": 0.1,
            "min_leaf": 5,
            "max_features": 0.5,
            "folds": 5,
            "n_penalties": 50,
            "choose": "best",
        },
        space={
            "max_leaves": Whole(2, 32, log=True),
            "share": Real(0.2, 0.9),
            "memory": Real(0.01, 0.5, log=True),
        },
        categories="ordinal",
        missing="native",
        complexity=6,
        page="isle",
        quick={"n_trees": 25, "folds": 2},
    ),
)
